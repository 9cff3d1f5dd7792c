#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "switch/config/config.h"
#include "tools/lab/plan/testbed.h"
#include "tools/lab/run/run_cases.h"

namespace outrider::lab {

/// Two processes of this machine that stand for a testbed, joined by sockets that no other user
/// finds. The testbeds are valid as long as this is.
class LoopbackTestbeds {
 public:
  /// @throws EnvironmentError if there are fewer than two CPUs, DpdkError
  LoopbackTestbeds();
  ~LoopbackTestbeds();
  LoopbackTestbeds(const LoopbackTestbeds&) = delete;
  LoopbackTestbeds& operator=(const LoopbackTestbeds&) = delete;

  /// Returns places and devices for the next run of these switches.
  Testbed next(const sw::SwitchProcessConfig& switches);

 private:
  std::vector<unsigned> cpus_;
  std::filesystem::path sockets_;  ///< a socket's path must be short
  std::size_t runs_ = 0;
};

/// Runs the wanted cases one after another between two real processes, outrider-switch
/// and outrider-trafficgen from the directory of this program. Leaves configurations,
/// reports and logs of the two in `directory`/loopback.
/// A case cut short by a stop signal is kept, marked as interrupted.
/// @throws EnvironmentError if a program is missing or there are fewer than two CPUs
RunOutcome run_cases_loopback(const RunOrder& order, const std::filesystem::path& directory);

}  // namespace outrider::lab
