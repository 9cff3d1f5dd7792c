#pragma once

#include <rte_eal.h>
#include <sched.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace outrider {

/// The EAL of a test or benchmark process. It has no huge pages, devices or telemetry socket,
/// its own memory, and two lcores that share all CPUs the process may use. Pinned lcores would
/// make the tests of `ctest -j` wait for the same CPU.
///
/// One per process; needs no privileges. Files go to a directory that is removed at the end.
class TestEal {
 public:
  /// @param megabytes  of the EAL, for pools of packets
  /// @throws std::runtime_error if the EAL does not start
  explicit TestEal(std::uint32_t megabytes = 256) {
    std::string directory = std::filesystem::temp_directory_path() / "outrider-test-XXXXXX";
    if (mkdtemp(directory.data()) == nullptr) throw std::runtime_error("mkdtemp " + directory);
    directory_ = directory;
    setenv("XDG_RUNTIME_DIR", directory.c_str(), 1);

    std::vector<std::string> arguments{"outrider-test",
                                       "--no-huge",
                                       "--no-shconf",
                                       "--no-pci",
                                       "--no-telemetry",
                                       "-m",
                                       std::to_string(megabytes),
                                       "--log-level=error",
                                       "--lcores",
                                       lcores(),
                                       "--file-prefix",
                                       "outrider-test-" + std::to_string(getpid())};
    std::vector<char*> argv;
    argv.reserve(arguments.size());
    for (auto& argument : arguments) argv.push_back(argument.data());
    if (rte_eal_init(static_cast<int>(argv.size()), argv.data()) < 0) {
      remove_directory();
      throw std::runtime_error("rte_eal_init failed; its reason stands above");
    }
  }

  ~TestEal() {
    // Root's runtime directory is not below directory_.
    const std::filesystem::path runtime = rte_eal_get_runtime_dir();
    rte_eal_cleanup();
    std::error_code ignored;
    std::filesystem::remove_all(runtime, ignored);
    remove_directory();
  }

  TestEal(const TestEal&) = delete;
  TestEal& operator=(const TestEal&) = delete;

 private:
  static std::string lcores() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof(allowed), &allowed);
    std::ostringstream text;
    text << "(0,1)@(";
    const char* separator = "";
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &allowed)) continue;
      text << separator << cpu;
      separator = ",";
    }
    text << ')';
    return text.str();
  }

  void remove_directory() noexcept {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  std::filesystem::path directory_;
};

}  // namespace outrider
