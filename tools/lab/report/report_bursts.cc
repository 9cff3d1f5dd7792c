#include "tools/lab/report/report_bursts.h"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace outrider::lab {

namespace {

using Instant = std::optional<std::int64_t>;

struct BurstColumns {
  explicit BurstColumns(const CsvReader& csv)
      : index(csv.column("case")),
        run(csv.column("run")),
        job(csv.column("job")),
        worker(csv.column("worker")),
        iteration(csv.column("iteration")),
        direction(csv.column("direction")),
        due(csv.column("due_ns")),
        start(csv.column("start_sent_ns")),
        ack(csv.column("ack_received_ns")),
        first_sent(csv.column("first_sent_ns")),
        delivered(csv.column("delivered_ns")),
        rtos(csv.column("rtos")),
        queue_first(csv.column("queue_first_at_ns")) {
    for (std::size_t i = 0; i < kBurstTimes; ++i)
      times[i] = csv.column("time_" + std::string(kBurstTimeNames[i]) + "_ns");
  }

  std::size_t index, run, job, worker, iteration, direction, due, start, ack, first_sent, delivered,
      rtos, queue_first;
  std::array<std::size_t, kBurstTimes> times{};
};

Instant earlier(Instant a, Instant b) {
  if (!a) return b;
  return b ? std::min(*a, *b) : a;
}

void derive(ReportIteration& it, std::size_t workers) {
  bool all = it.bursts.size() == workers;
  for (const auto& b : it.bursts) {
    it.due_ns = earlier(it.due_ns, b.due_ns);
    it.start_ns = earlier(it.start_ns, b.start_ns);
    all = all && b.first_sent_ns && b.delivered_ns;
    if (b.delivered_ns) it.delivered_ns = std::max(it.delivered_ns.value_or(0), *b.delivered_ns);
  }
  if (!it.start_ns) it.start_ns = it.due_ns;
  if (!all) it.delivered_ns.reset();
}

using Iterations = std::map<std::pair<std::int64_t, std::int64_t>, ReportIteration>;
using WorkersOfJobs = std::map<std::int64_t, std::size_t>;

/// @param seen  workers of which there is a burst, for jobs that the settings do not name
std::vector<ReportIteration> derived(Iterations& by_key, const ReportRun& run,
                                     const WorkersOfJobs& seen) {
  std::vector<ReportIteration> all;
  for (auto& [key, it] : by_key) {
    if (it.bursts.empty()) continue;  // the records of its pushes had no room
    for (auto* bursts : {&it.bursts, &it.pulls})
      std::ranges::sort(*bursts, {}, &ReportBurst::worker);
    const auto job = static_cast<std::size_t>(it.job);
    derive(it, job < run.workers.size() ? run.workers[job] : seen.at(it.job));
    all.push_back(std::move(it));
  }
  return all;
}

struct RunRecords {
  Iterations measured;
  Iterations alone;
  WorkersOfJobs workers;
  std::vector<std::int64_t> ahead_ns;  ///< first arrival minus first byte sent
};

std::optional<BurstTimes> times_of(const CsvReader& csv, const BurstColumns& at) {
  BurstTimes times;
  for (std::size_t i = 0; i < kBurstTimes; ++i) {
    const Instant ns = csv.whole(at.times[i]);
    if (!ns) return std::nullopt;
    times.ns[i] = *ns;
  }
  return times;
}

ReportBurst burst_of(const CsvReader& csv, const BurstColumns& at) {
  return {.worker = csv.whole(at.worker).value_or(0),
          .rtos = csv.whole(at.rtos).value_or(0),
          .due_ns = csv.whole(at.due),
          .start_ns = csv.whole(at.start),
          .ack_ns = csv.whole(at.ack),
          .first_sent_ns = csv.whole(at.first_sent),
          .delivered_ns = csv.whole(at.delivered),
          .queue_first_ns = csv.whole(at.queue_first),
          .times = times_of(csv, at)};
}

void add_record(const CsvReader& csv, const BurstColumns& at, const ReportRun& run,
                RunRecords& records) {
  const ReportBurst burst = burst_of(csv, at);
  const bool measured = csv.text(at.run) == "measured";
  if (measured && burst.queue_first_ns && burst.first_sent_ns)
    records.ahead_ns.push_back(*burst.queue_first_ns - *burst.first_sent_ns);
  const std::int64_t iteration = csv.whole(at.iteration).value_or(0);
  const std::int64_t job = csv.whole(at.job).value_or(0);
  auto& workers = records.workers[job];
  workers = std::max(workers, static_cast<std::size_t>(burst.worker) + 1);
  // A burst that only the switch has seen has no due time.
  if (!burst.due_ns || iteration < run.skip_iterations) return;
  auto& it = (measured ? records.measured : records.alone)[{job, iteration}];
  it.job = job;
  it.iteration = iteration;
  (csv.text(at.direction) == "push" ? it.bursts : it.pulls).push_back(burst);
}

/// Returns the median; of two middle values the lower one.
std::int64_t middle(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, at);
  return *at;
}

}  // namespace

void read_bursts(CsvReader& csv, bool one_clock, std::vector<ReportRun>& runs) {
  const BurstColumns at(csv);
  std::vector<RunRecords> records(runs.size());
  while (csv.next()) {
    const auto index = static_cast<std::size_t>(csv.whole(at.index).value_or(-1));
    if (index >= runs.size())
      throw std::runtime_error("bursts.csv has case \"" + csv.text(at.index) +
                               "\", which summary.json does not have");
    add_record(csv, at, runs[index], records[index]);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].iterations = derived(records[i].measured, runs[i], records[i].workers);
    for (const auto& it : derived(records[i].alone, runs[i], records[i].workers))
      if (it.due_ns && it.delivered_ns)
        runs[i].alone_communication_seconds.add(
            static_cast<std::uint16_t>(it.job),
            static_cast<double>(*it.delivered_ns - *it.due_ns) * 1e-9);
    runs[i].switch_ahead_ns = one_clock ? 0 : middle(std::move(records[i].ahead_ns));
  }
}

std::vector<double> communication_seconds(const std::vector<ReportIteration>& iterations) {
  std::vector<double> seconds;
  for (const auto& it : iterations)
    if (it.due_ns && it.delivered_ns)
      seconds.push_back(static_cast<double>(*it.delivered_ns - *it.due_ns) * 1e-9);
  return seconds;
}

}  // namespace outrider::lab
