#include "tools/lab/run/run_benchmark.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/config/checks.h"
#include "common/config/quantities.h"
#include "common/dpdk/eal/eal_check.h"
#include "common/dpdk/eal/error.h"
#include "common/runtime/poll_stop.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "switch/config/config_toml.h"
#include "tools/lab/run/case_worker.h"
#include "tools/lab/run/cpus.h"
#include "tools/lab/run/run_loopback.h"
#include "tools/lab/run/run_pool.h"
#include "tools/lab/run/run_site.h"
#include "tools/lab/simulation/virtual_trials.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/streams/benchmark/benchmark.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr Duration kLongestVirtualTrial = milliseconds(5);
constexpr milliseconds kLook{50};
constexpr milliseconds kPatienceAtEnd{10'000};  ///< for a program to end when asked

/// Returns an order for each frame size, or the order itself if it has no list of them.
std::vector<BenchmarkOrder> by_frame_size(const BenchmarkOrder& order) {
  const auto& sizes = order.traffic.benchmark.frame_bytes;
  if (sizes.empty()) return {order};
  std::vector<BenchmarkOrder> parts(sizes.size(), order);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    parts[i].traffic.benchmark.frame_bytes = {sizes[i]};
  return parts;
}

/// Joins results of parts, in their order.
tg::BenchmarkResult joined(std::vector<std::optional<tg::BenchmarkResult>> parts) {
  tg::BenchmarkResult all{.finished = true};
  for (auto& part : parts) {
    all.finished &= part.has_value() && part->finished;
    if (!part) continue;
    all.kind = part->kind;
    for (auto& point : part->points) all.points.push_back(std::move(point));
    for (auto& note : part->notes)
      if (std::ranges::find(all.notes, note) == all.notes.end())
        all.notes.push_back(std::move(note));
  }
  return all;
}

/// Returns the case that stands for an order where devices are assigned.
Case as_case(const BenchmarkOrder& order) {
  Case c;
  c.switches = order.switches;
  c.traffic = order.traffic;
  return c;
}

/// The generator, and the switch unless the device under test is not ours.
class BenchmarkPrograms {
 public:
  BenchmarkPrograms(const BenchmarkOrder& order, const fs::path& directory, const Testbed& testbed)
      : generator_(testbed.trafficgen, testbed.remote_shell, "outrider-trafficgen", "trafficgen",
                   directory) {
    fs::create_directories(directory);
    Case c = on_testbed(testbed, as_case(order));
    for (auto& device : c.traffic.devices)
      if (is_pci_address(device.device)) device.line_rate.reset();  // the link's
    if (has_switch(testbed)) {
      write_whole_file(directory / "switch.toml", to_toml(c.switches));
      switch_.emplace(testbed.sw, testbed.remote_shell, "outrider-switch", "switch", directory);
      switch_->start();
    }
    write_whole_file(directory / "trafficgen.toml", to_toml(c.traffic));
    generator_.start({}, "benchmark");
  }

  tg::BenchmarkResult run() {
    while (!generator_.process().status() && !stop_requested()) {
      if (switch_ && switch_->process().status()) break;
      std::this_thread::sleep_for(kLook);
    }
    const bool switch_died = switch_ && switch_->process().status() && !stop_requested() &&
                             !generator_.process().status();
    const int generator = generator_.process().finish(kPatienceAtEnd);
    if (switch_) switch_->process().finish(kPatienceAtEnd);
    if (switch_died) fail(switch_->process());
    if (generator != kExitOk && generator != kExitInterrupted) fail(generator_.process());
    if (generator == kExitInterrupted) return {};
    return tg::benchmark_result_from_json(generator_.report());
  }

 private:
  [[noreturn]] static void fail(const ChildProcess& process) {
    throw std::runtime_error(process.name() + " failed; its last lines:" + process.last_words());
  }

  std::optional<SiteProgram> switch_{};
  SiteProgram generator_;
};

}  // namespace

ConfigIssues mismatches(const BenchmarkOrder& order) {
  ConfigIssues issues = tg::benchmark_faults(order.traffic);
  for (std::size_t i = 0; i < order.traffic.devices.size(); ++i) {
    const std::string& name = order.traffic.devices[i].name;
    if (std::ranges::find(order.switches.devices, name, &sw::DeviceConfig::name) ==
        order.switches.devices.end())
      issues.push_back({join_key("", "device", i) + ".name",
                        Checks::quoted(name) + ": the switch has no device of this name"});
  }
  return issues;
}

BenchmarkOrder for_virtual_time(BenchmarkOrder order) {
  tg::BenchmarkConfig& benchmark = order.traffic.benchmark;
  const bool counts_packets = benchmark.kind == tg::BenchmarkKind::kBackToBack ||
                              benchmark.kind == tg::BenchmarkKind::kEcnMarking;
  if (!counts_packets)  // else they have to fit
    benchmark.trial = std::min(benchmark.trial, kLongestVirtualTrial);
  benchmark.warm_up = Duration::zero();
  return order;
}

tg::BenchmarkResult run_benchmark_virtual(const BenchmarkOrder& order, std::size_t jobs) {
  const std::vector<BenchmarkOrder> parts = by_frame_size(for_virtual_time(order));
  std::vector<std::optional<tg::BenchmarkResult>> results(parts.size());
  PoolOptions options;
  options.jobs = jobs;
  for (std::size_t i = 0; i < parts.size(); ++i) options.order.push_back(i);
  options.make_worker = [&](std::size_t w) -> PoolWork {
    const auto cpus = usable_cpus();
    auto worker = std::make_shared<VirtualWorker>(
        cpus[w % cpus.size()], VirtualTrials::buffers_for(order.switches, order.traffic), false);
    return [&parts, worker](std::size_t item, const StopCheck& stop) {
      const BenchmarkOrder& part = parts[item];
      VirtualTrials trials(part.switches, part.traffic, *worker->pool, stop);
      return to_json(tg::run_benchmark(part.traffic, trials, [](const std::string&) {}));
    };
  };
  options.on_result = [&](std::size_t item, const std::string& text) {
    results[item] = tg::benchmark_result_from_json(text);
  };
  const PoolResult ended = run_pool(options);
  if (!ended.failures.empty()) throw std::runtime_error(ended.failures.front().cause);
  tg::BenchmarkResult all = joined(std::move(results));
  if (parts.front().traffic.benchmark.trial != order.traffic.benchmark.trial)
    all.notes.push_back("Trials last " + format_duration(parts.front().traffic.benchmark.trial) +
                        " of virtual time, and not " +
                        format_duration(order.traffic.benchmark.trial) + ".");
  return all;
}

tg::BenchmarkResult run_benchmark_loopback(const BenchmarkOrder& order, const fs::path& directory) {
  LoopbackTestbeds testbeds;
  return BenchmarkPrograms(order, directory, testbeds.next(order.switches)).run();
}

tg::BenchmarkResult run_benchmark_testbed(const BenchmarkOrder& order, const fs::path& directory,
                                          const Testbed& testbed) {
  return BenchmarkPrograms(order, directory, testbed).run();
}

}  // namespace outrider::lab
