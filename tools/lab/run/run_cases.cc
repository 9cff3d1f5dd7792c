#include "tools/lab/run/run_cases.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>

#include "common/dpdk/packet/packet_slot.h"
#include "switch/config/config_toml.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/run/case_worker.h"
#include "tools/lab/run/cpus.h"
#include "tools/lab/run/processor_time.h"
#include "tools/lab/run/run_pool.h"
#include "tools/lab/run/text_parts.h"
#include "tools/lab/simulation/job_iterations.h"
#include "tools/lab/simulation/port_recorder.h"
#include "tools/lab/simulation/run_virtual.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::lab {
namespace {

/// Memory per buffer, including its share of the pool's own structures.
constexpr std::uint64_t kBytesPerBuffer = 1024;
constexpr std::uint64_t kBytesPerAttributedBuffer = kBytesPerBuffer + sizeof(PacketSlot);
constexpr std::uint32_t kOtherMemory_mb = 32;

std::uint32_t memory_mb(std::uint32_t buffers, bool attribution) {
  const auto each = attribution ? kBytesPerAttributedBuffer : kBytesPerBuffer;
  return static_cast<std::uint32_t>(buffers * each >> 20) + kOtherMemory_mb;
}

CaseRun run_with_reference(const Case& c, rte_mempool& pool, const StopCheck& stop,
                           std::uint32_t tiles, ReferenceRuns references) {
  CaseRun run{.definition = &c, .result = run_virtual(c, pool, stop, tiles)};
  if (needs_reference(references, c) && !run.result.interrupted) {
    const Case alone = without_background(c);
    run.alone = is_its_own_reference(c, alone) ? run.result : run_virtual(alone, pool, stop, tiles);
    for (std::size_t j = 0; j < jobs_to_run_alone(c); ++j) {
      const Case one = with_job_alone(c, j);
      run.jobs_alone.push_back(
          iteration_seconds_of(one, run_virtual(one, pool, stop, tiles).traffic, 0));
    }
  }
  trim(run);
  return run;
}

}  // namespace

std::uint64_t process_memory_bytes(const Case& c) {
  const std::uint64_t packets_mb = memory_mb(buffers_needed(c), c.traffic.attribution);
  return (packets_mb << 20) + capture_memory_bytes(c.observed);
}

VirtualWorker::VirtualWorker(std::uint32_t cpu, std::uint32_t buffers, bool attribution)
    : eal({.program = "outrider-lab",
           .cpus = {cpu},
           .memory_mb = memory_mb(buffers, attribution),
           .use_hugepages = false}),
      pool(make_packet_pool({.name = "lab",
                             .mbufs = buffers,
                             .frame_room_bytes = kHeaderRoomBytes,
                             .slots = attribution})) {}

// A closed loop has no first due time.
bool is_its_own_reference(const Case& c, Case alone) {
  if (!c.changes.empty()) return false;
  for (std::size_t j = 0; j < alone.traffic.jobs.size(); ++j)
    if (c.traffic.jobs[j].schedule == tg::Schedule::kClosedLoop)
      alone.traffic.jobs[j].first_due = c.traffic.jobs[j].first_due;
  return to_toml(alone.traffic) == to_toml(c.traffic);
}

std::size_t jobs_to_run_alone(const Case& c) {
  constexpr std::size_t kMostJobs = 8;  // each is a run
  const std::size_t jobs = c.traffic.jobs.size();
  return jobs < 2 || jobs > kMostJobs ? 0 : jobs;
}

std::vector<std::size_t> seed_major(const std::vector<Case>& cases,
                                    const std::vector<std::size_t>& wanted) {
  std::vector<std::size_t> order = wanted;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return cases[i].seed; });
  return order;
}

PoolNeed need_of(const RunOrder& order) {
  PoolNeed need;
  for (const std::size_t i : order.wanted) {
    need.buffers = std::max(need.buffers, buffers_needed(order.cases[i]));
    need.attribution |= order.cases[i].traffic.attribution;
  }
  return need;
}

RunOutcome outcome_of(const PoolResult& pool, const RunOrder& order) {
  RunOutcome outcome{.failures = {}, .not_kept = {}, .interrupted = pool.interrupted};
  for (const auto& failure : pool.failures)
    outcome.failures.push_back({order.names[failure.item], failure.cause});
  return outcome;
}

std::string serialize(const CaseRun& run) {
  std::string out;
  append_result(out, run.result);
  append_part(out, run.alone ? "alone" : "");
  if (run.alone) append_result(out, *run.alone);
  for (const auto& job : run.jobs_alone) append_part(out, text_of_numbers(job));
  return out;
}

CaseRun deserialize(const Case& definition, const std::string& text) {
  PartReader parts(text);
  CaseRun run{.definition = &definition, .result = parts.next_result()};
  if (!parts.next().empty()) run.alone = parts.next_result();
  while (!parts.at_end()) run.jobs_alone.push_back(numbers_of(parts.next()));
  run.switch_toml = to_toml(definition.switches);
  run.traffic_toml = to_toml(definition.traffic);
  return run;
}

std::optional<VirtualTrial> try_virtual(const Case& c, double processor_seconds) {
  std::optional<VirtualTrial> trial;
  PoolOptions options;
  options.order = {0};
  options.make_worker = [&](std::size_t) -> PoolWork {
    const auto cpus = usable_cpus();
    auto worker =
        std::make_shared<VirtualWorker>(cpus.front(), buffers_needed(c), c.traffic.attribution);
    bind_to(cpus);
    return [&c, worker, processor_seconds](std::size_t, const StopCheck& stop) {
      const ProcessorTime worked;
      const RunResult result = run_virtual(
          c, *worker->pool, [&] { return stop() || worked.seconds() >= processor_seconds; });
      return std::to_string(result.switches.end_ns) + ' ' + std::to_string(worked.seconds());
    };
  };
  options.on_result = [&trial](std::size_t, const std::string& text) {
    char* rest = nullptr;
    const double virtual_ns = std::strtod(text.c_str(), &rest);
    trial = {virtual_ns * 1e-9, std::strtod(rest, nullptr)};
  };
  run_pool(options);
  return trial;
}

bool needs_reference(ReferenceRuns references, const Case& c) {
  if (!c.has_job) return false;  // nothing would run
  return references == ReferenceRuns::kOfAll ||
         (references == ReferenceRuns::kOfOff && c.label == c.off);
}

RunOutcome run_cases_virtual(const RunOrder& order, std::size_t jobs, std::uint32_t tiles) {
  const std::vector<Case>& cases = order.cases;
  const PoolNeed need = need_of(order);
  const auto cpus = usable_cpus();

  PoolOptions options;
  options.jobs = jobs;
  options.order = seed_major(cases, order.wanted);
  options.make_worker = [&](std::size_t index) -> PoolWork {
    auto worker =
        std::make_shared<VirtualWorker>(cpus[index % cpus.size()], need.buffers, need.attribution);
    // DPDK has bound this process to one CPU. Sessions that leave CPUs to each other would all be
    // on the first ones.
    if (jobs < cpus.size()) bind_to(cpus);
    return [&order, worker, tiles](std::size_t item, const StopCheck& stop) {
      return serialize(
          run_with_reference(order.cases[item], *worker->pool, stop, tiles, order.references));
    };
  };
  options.on_result = [&](std::size_t item, const std::string& text) {
    order.on_run(item, deserialize(cases[item], text), text);
  };
  options.on_progress = order.progress;
  return outcome_of(run_pool(options), order);
}

}  // namespace outrider::lab
