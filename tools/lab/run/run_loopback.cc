#include "tools/lab/run/run_loopback.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "common/dpdk/eal/error.h"
#include "tools/lab/plan/plan_switches.h"
#include "tools/lab/run/cpus.h"
#include "tools/lab/run/run_programs.h"

namespace outrider::lab {

namespace fs = std::filesystem;

LoopbackTestbeds::LoopbackTestbeds() : cpus_(usable_cpus()) {
  if (cpus_.size() < 2)
    throw EnvironmentError(
        "the loopback runtime needs two CPUs, one for each program; this process may use " +
        std::to_string(cpus_.size()) + ". Use --runtime virtual.");
  std::string made = fs::temp_directory_path() / "outrider-lab-XXXXXX";
  if (mkdtemp(made.data()) == nullptr) throw DpdkError("mkdtemp", made, errno);
  sockets_ = made;
}

LoopbackTestbeds::~LoopbackTestbeds() {
  std::error_code ignored;
  fs::remove_all(sockets_, ignored);
}

Testbed LoopbackTestbeds::next(const sw::SwitchProcessConfig& switches) {
  Testbed testbed;
  testbed.sw.lcore = cpus_[0];
  testbed.trafficgen.lcore = cpus_[1];
  for (std::size_t i = 0; i < switches.devices.size(); ++i) {
    const std::string socket =
        sockets_ / (std::to_string(runs_) + '.' + std::to_string(i) + ".sock");
    testbed.devices.push_back({.name = switches.devices[i].name,
                               .sw = vhost_device(i, socket),
                               .trafficgen = virtio_user_device(i, socket)});
  }
  ++runs_;
  return testbed;
}

RunOutcome run_cases_loopback(const RunOrder& order, const fs::path& directory) {
  LoopbackTestbeds testbeds;
  return run_cases_between(order, directory / "loopback",
                           [&](const Case& c) { return testbeds.next(c.switches); });
}

}  // namespace outrider::lab
