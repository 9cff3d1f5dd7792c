#include "tools/lab/run/run_loopback.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "common/dpdk/eal/error.h"
#include "tools/lab/plan/plan_switches.h"
#include "tools/lab/run/cpus.h"
#include "tools/lab/run/run_programs.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

/// A private directory below the system's temporary directory. A socket's path must be
/// short, and no other user may find it.
class SocketDirectory {
 public:
  SocketDirectory() {
    std::string made = fs::temp_directory_path() / "outrider-lab-XXXXXX";
    if (mkdtemp(made.data()) == nullptr) throw DpdkError("mkdtemp", made, errno);
    path_ = made;
  }
  ~SocketDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  SocketDirectory(const SocketDirectory&) = delete;
  SocketDirectory& operator=(const SocketDirectory&) = delete;
  [[nodiscard]] std::string socket(std::size_t run, std::size_t device) const {
    return path_ / (std::to_string(run) + '.' + std::to_string(device) + ".sock");
  }

 private:
  fs::path path_;
};

}  // namespace

RunOutcome run_cases_loopback(const RunOrder& order, const fs::path& directory) {
  const auto cpus = usable_cpus();
  if (cpus.size() < 2)
    throw EnvironmentError(
        "the loopback runtime needs two CPUs, one for each program; this process may use " +
        std::to_string(cpus.size()) + ". Use --runtime virtual.");
  const SocketDirectory sockets;
  const auto joined = [&, run = std::size_t{0}](const Case& c) mutable {
    Testbed testbed;
    testbed.sw.lcore = cpus[0];
    testbed.trafficgen.lcore = cpus[1];
    for (std::size_t i = 0; i < c.switches.devices.size(); ++i) {
      const std::string socket = sockets.socket(run, i);
      testbed.devices.push_back({.name = c.switches.devices[i].name,
                                 .sw = vhost_device(i, socket),
                                 .trafficgen = virtio_user_device(i, socket)});
    }
    ++run;
    return testbed;
  };
  return run_cases_between(order, directory / "loopback", joined);
}

}  // namespace outrider::lab
