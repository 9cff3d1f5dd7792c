#pragma once

#include <filesystem>

#include "common/core/config_issue.h"
#include "switch/config/config.h"
#include "tools/lab/plan/testbed.h"
#include "trafficgen/config/config.h"
#include "trafficgen/streams/benchmark/benchmark_result.h"

namespace outrider::lab {

/// A benchmark and what it is run through.
struct BenchmarkOrder {
  sw::SwitchProcessConfig switches{};  ///< the device under test
  tg::GeneratorConfig traffic{};       ///< with [benchmark]; its devices have names of `switches`
};

/// Returns what the two files do not agree about: a device that the switch does not have.
ConfigIssues mismatches(const BenchmarkOrder& order);

/// Returns the order as virtual time runs it: trials are no longer than 5 ms, because nothing
/// there differs from one moment to the next, and nothing has to warm up.
[[nodiscard]] BenchmarkOrder for_virtual_time(BenchmarkOrder order);

/// Runs it in virtual time, each frame size by itself on one of `jobs` worker processes.
/// @throws EnvironmentError, std::runtime_error naming what failed
tg::BenchmarkResult run_benchmark_virtual(const BenchmarkOrder& order, std::size_t jobs);

/// Runs it between outrider-switch and outrider-trafficgen, joined by vhost. Leaves their
/// configurations, reports and logs in `directory`.
/// @throws as run_benchmark_virtual()
tg::BenchmarkResult run_benchmark_loopback(const BenchmarkOrder& order,
                                           const std::filesystem::path& directory);

/// Does the same on the devices of a testbed. Where these have no `switch`, the device under test
/// is not ours, and outrider-trafficgen runs alone. @pre the testbed has all devices
tg::BenchmarkResult run_benchmark_testbed(const BenchmarkOrder& order,
                                          const std::filesystem::path& directory,
                                          const Testbed& testbed);

}  // namespace outrider::lab
