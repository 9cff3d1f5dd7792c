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

/// The columns that are read, in this order; those of attributed times follow.
struct BurstColumn {
  enum : std::uint8_t {
    kCase,
    kMeasured,
    kPush,
    kJob,
    kIteration,
    kWorker,
    kRtos,
    kDue,
    kStart,
    kAck,
    kFirstSent,
    kDelivered,
    kQueueFirst,
    kAttributed
  };
};

std::string burst_query() {
  std::string sql =
      "SELECT case_index, run = 'measured', direction = 'push', job, iteration, worker, rtos, "
      "due_ns, start_sent_ns, ack_received_ns, first_sent_ns, delivered_ns, queue_first_at_ns";
  for (const auto name : kBurstTimeNames) sql += ", time_" + std::string(name) + "_ns";
  return sql + " FROM bursts ORDER BY rowid";
}

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
};

std::optional<BurstTimes> times_of(const Query& row) {
  BurstTimes times;
  for (std::size_t i = 0; i < kBurstTimes; ++i) {
    const Instant ns = row.whole(BurstColumn::kAttributed + i);
    if (!ns) return std::nullopt;
    times.ns[i] = *ns;
  }
  return times;
}

ReportBurst burst_of(const Query& row) {
  return {.worker = row.whole(BurstColumn::kWorker).value_or(0),
          .rtos = row.whole(BurstColumn::kRtos).value_or(0),
          .due_ns = row.whole(BurstColumn::kDue),
          .start_ns = row.whole(BurstColumn::kStart),
          .ack_ns = row.whole(BurstColumn::kAck),
          .first_sent_ns = row.whole(BurstColumn::kFirstSent),
          .delivered_ns = row.whole(BurstColumn::kDelivered),
          .queue_first_ns = row.whole(BurstColumn::kQueueFirst),
          .times = times_of(row)};
}

void add_record(const Query& row, const ReportRun& run, RunRecords& records) {
  const ReportBurst burst = burst_of(row);
  const bool measured = row.whole(BurstColumn::kMeasured) == 1;
  const std::int64_t iteration = row.whole(BurstColumn::kIteration).value_or(0);
  const std::int64_t job = row.whole(BurstColumn::kJob).value_or(0);
  auto& workers = records.workers[job];
  workers = std::max(workers, static_cast<std::size_t>(burst.worker) + 1);
  // A burst that only the switch has seen has no due time.
  if (!burst.due_ns || iteration < run.skip_iterations) return;
  auto& it = (measured ? records.measured : records.alone)[{job, iteration}];
  it.job = job;
  it.iteration = iteration;
  (row.whole(BurstColumn::kPush) == 1 ? it.bursts : it.pulls).push_back(burst);
}

}  // namespace

void read_bursts(const ResultsReader& results, std::vector<ReportRun>& runs) {
  std::vector<RunRecords> records(runs.size());
  for (Query row = results.query(burst_query()); row.next();) {
    const auto index = static_cast<std::size_t>(row.whole(BurstColumn::kCase).value_or(-1));
    if (index >= runs.size())
      throw std::runtime_error("bursts have case " + row.text(BurstColumn::kCase) +
                               ", which the table cases does not have");
    add_record(row, runs[index], records[index]);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].iterations = derived(records[i].measured, runs[i], records[i].workers);
    for (const auto& it : derived(records[i].alone, runs[i], records[i].workers))
      if (it.due_ns && it.delivered_ns)
        runs[i].alone_communication_seconds.add(
            static_cast<std::uint16_t>(it.job),
            static_cast<double>(*it.delivered_ns - *it.due_ns) * 1e-9);
  }
  Query ahead =
      results.query("SELECT case_index, switch_ahead_ns FROM runs WHERE run = 'measured'");
  while (ahead.next())
    runs.at(static_cast<std::size_t>(*ahead.whole(0))).switch_ahead_ns = *ahead.whole(1);
}

std::vector<double> communication_seconds(const std::vector<ReportIteration>& iterations) {
  std::vector<double> seconds;
  for (const auto& it : iterations)
    if (it.due_ns && it.delivered_ns)
      seconds.push_back(static_cast<double>(*it.delivered_ns - *it.due_ns) * 1e-9);
  return seconds;
}

}  // namespace outrider::lab
