#include "trafficgen/streams/benchmark/benchmark.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/config/checks.h"
#include "common/dpdk/eal/eal_check.h"
#include "trafficgen/streams/benchmark/ecn_law.h"
#include "trafficgen/streams/search/rate_search_loop.h"

namespace outrider::tg {
namespace {

constexpr double kNotDefined = std::numeric_limits<double>::quiet_NaN();
constexpr double kNsInSecond = 1e9;
/// From the pause to the first packet, and from the last one to its end.
constexpr Duration kSettle = std::chrono::milliseconds(10);
constexpr std::uint32_t kSpoiltTrials = 3;  ///< that are made good, and a tenth of the repeats

/// Runs the trials of one benchmark and collects what they give. Each member returns false if a
/// trial was interrupted.
class BenchmarkRun {
 public:
  BenchmarkRun(const GeneratorConfig& config, Trials& trials, const TrialProgress& say)
      : config_(config), plan_(config.benchmark), trials_(trials), say_(say) {}

  /// Measures with the streams as they are.
  bool measure(std::vector<std::pair<std::string, double>> at);
  BenchmarkResult take() { return std::move(result_); }
  void use(GeneratorConfig config) { config_ = std::move(config); }

 private:
  /// Runs a trial at each of the plan's shares. @param of  what they are shares of, of the rates
  /// @param name  of the share, at the points that `add` gets with the trial's report
  template <class Add>
  bool for_shares(std::vector<std::pair<std::string, double>> at, const char* name, double of,
                  const Add& add);
  bool accuracy(std::vector<std::pair<std::string, double>> at);
  bool throughput(BenchmarkPoint& point);
  bool latency(std::vector<std::pair<std::string, double>> at);
  bool loss_rate(std::vector<std::pair<std::string, double>> at);
  bool back_to_back(BenchmarkPoint& point);
  bool ecn_marking(BenchmarkPoint& point);

  bool search(RateSearch& search);
  std::optional<TrialResult> trial_at(double share);
  std::optional<TrialResult> burst_of(std::uint64_t packets);
  /// Measures one repetition of the marks: [positions] whether marked; empty if it failed.
  std::optional<std::vector<bool>> marks();
  bool mark_counts(std::vector<std::uint32_t>& marked, std::uint32_t& repetitions);
  void note(std::string text);
  BenchmarkPoint& point_at(const std::vector<std::pair<std::string, double>>& at);

  GeneratorConfig config_;
  const BenchmarkConfig plan_;
  Trials& trials_;
  const TrialProgress& say_;
  std::uint32_t number_ = 0;
  BenchmarkResult result_{};
};

double seconds_of(std::uint64_t ns) { return static_cast<double>(ns) / kNsInSecond; }

/// Returns a quantile [s]; not defined if nothing was recorded.
double quantile_of(const Histogram& of, double q) {
  return of.count() == 0 ? kNotDefined : seconds_of(of.quantile(q));
}

double achieved_share_of(const RateTrial& trial) {
  return trial.achieved_packets_per_second / trial.requested_packets_per_second;
}

/// Returns the latencies of all streams together.
Histogram latencies_of(const StreamsReport& report) {
  Histogram all;
  for (const StreamReport& s : report.streams) all.merge(s.latency_ns);
  return all;
}

void BenchmarkRun::note(std::string text) {
  if (std::ranges::find(result_.notes, text) == result_.notes.end())
    result_.notes.push_back(std::move(text));
}

BenchmarkPoint& BenchmarkRun::point_at(const std::vector<std::pair<std::string, double>>& at) {
  const auto found = std::ranges::find(result_.points, at, &BenchmarkPoint::at);
  return found != result_.points.end() ? *found : result_.points.emplace_back(BenchmarkPoint{at});
}

std::optional<TrialResult> BenchmarkRun::trial_at(double share) {
  return trials_.run(
      {trial_streams(config_.streams, share, number_++, plan_.trial), {}, plan_.trial});
}

bool BenchmarkRun::search(RateSearch& search) {
  return run_rate_search(search, {.trial = plan_.trial, .warm_up = plan_.warm_up}, config_, trials_,
                         number_, say_);
}

template <class Add>
bool BenchmarkRun::for_shares(std::vector<std::pair<std::string, double>> at, const char* name,
                              double of, const Add& add) {
  at.emplace_back(name, 0);
  for (const double share : plan_.shares) {
    at.back().second = share;
    const auto result = trial_at(share * of);
    if (!result) return false;
    add(point_at(at), result->report);
  }
  return true;
}

bool BenchmarkRun::accuracy(std::vector<std::pair<std::string, double>> at) {
  return for_shares(std::move(at), "rate_share", 1, [](BenchmarkPoint& point, const auto& report) {
    Histogram gaps, lateness;
    for (const StreamReport& s : report.streams) {
      gaps.merge(s.gap_error_ns);
      lateness.merge(s.lateness_ns);
    }
    point.add("requested_packets_per_second", trial_of(report, 1).requested_packets_per_second);
    point.add("achieved_over_requested", achieved_share_of(trial_of(report, 1)));
    point.add("gap_error_seconds_median", quantile_of(gaps, 0.5));
    point.add("gap_error_seconds_p99", quantile_of(gaps, 0.99));
    point.add("lateness_seconds_p99", quantile_of(lateness, 0.99));
  });
}

bool BenchmarkRun::throughput(BenchmarkPoint& point) {
  RateSearch made({.width = plan_.width});
  if (!search(made)) return false;
  if (made.limit() == RateLimit::kGenerator)
    note("The generator could not send faster, so that the path may carry more than was found.");
  if (made.limit() == RateLimit::kUnfound)
    note("Even the lowest rate that was tried lost packets.");
  const RateTrial* found = nullptr;
  for (const RateTrial& t : made.trials())
    if (t.share == made.found() && made.passes(t)) found = &t;
  point.add("throughput_share", made.found());
  point.add("throughput_packets_per_second",
            found == nullptr ? kNotDefined : found->achieved_packets_per_second);
  point.add("throughput_bits_per_second",
            found == nullptr ? kNotDefined : found->achieved_bits_per_second);
  return true;
}

bool BenchmarkRun::latency(std::vector<std::pair<std::string, double>> at) {
  RateSearch made({.width = plan_.width});
  if (!search(made)) return false;
  if (made.found() == 0) {
    note(
        "Even the lowest rate that was tried lost packets, so that there is no load to measure "
        "at.");
    return true;
  }
  return for_shares(std::move(at), "load_share", made.found(),
                    [](BenchmarkPoint& point, const auto& report) {
                      const Histogram all = latencies_of(report);
                      point.add("latency_seconds_median", quantile_of(all, 0.5));
                      point.add("latency_seconds_p95", quantile_of(all, 0.95));
                      point.add("latency_seconds_p99", quantile_of(all, 0.99));
                      point.add("latency_seconds_p999", quantile_of(all, 0.999));
                      point.add("latency_seconds_max", quantile_of(all, 1));
                      if (!point.latency_ns) point.latency_ns.emplace();
                      point.latency_ns->merge(all);
                    });
}

bool BenchmarkRun::loss_rate(std::vector<std::pair<std::string, double>> at) {
  return for_shares(std::move(at), "rate_share", 1, [](BenchmarkPoint& point, const auto& report) {
    point.add("loss_share", trial_of(report, 1).loss());
    point.add("achieved_over_requested", achieved_share_of(trial_of(report, 1)));
  });
}

std::optional<TrialResult> BenchmarkRun::burst_of(std::uint64_t packets) {
  std::vector<StreamConfig> streams = trial_streams(config_.streams, 1, number_++, plan_.trial);
  for (StreamConfig& s : streams) {
    s.start = Duration::zero();  // all at once
    s.packets = packets;
  }
  return trials_.run({std::move(streams), {}, plan_.trial});
}

bool BenchmarkRun::back_to_back(BenchmarkPoint& point) {
  const double most = plan_.max_packets;
  RateSearch made({.width = 1 / most, .min_achieved = 0});
  std::uint64_t found = 0, found_bytes = 0;
  double sent_at = kNotDefined;  // a burst that leaves more slowly is not one at the rate
  while (const auto share = made.next()) {
    const auto packets = static_cast<std::uint64_t>(std::floor(*share * most));
    const auto result = burst_of(std::max<std::uint64_t>(packets, 1));
    if (!result) return false;
    const RateTrial trial = trial_of(result->report, *share);
    if (trial.sent < packets * config_.streams.size())
      note("The longest bursts do not fit a trial: `trial` should be longer.");
    if (made.passes(trial) && packets > found) {
      found = packets;
      found_bytes = 0;
      sent_at = achieved_share_of(trial);
      for (const StreamReport& s : result->report.streams) found_bytes += s.sent_frame_bytes;
    }
    made.on_trial(trial);
  }
  if (made.limit() == RateLimit::kMaximum)
    note("No burst was too long: `max_packets` bounds them.");
  point.add("burst_packets", static_cast<double>(found));
  point.add("burst_bytes", static_cast<double>(found_bytes));
  point.add("achieved_over_requested", sent_at);
  if (sent_at < RateSearch::Config{}.min_achieved)
    note(
        "The generator sent bursts more slowly than asked, so that they may be longer than the "
        "path "
        "takes at the rate.");
  say_("  bursts of " + std::to_string(found) + " packets a stream pass");
  return true;
}

/// Says what is wrong with a trial that should tell the marks of a queue that stood still.
std::string spoilt(const StreamReport& r, const EcnLawConfig& law) {
  if (r.sent != law.packets) return "The generator did not send all packets in time.";
  if (r.received != law.packets || r.reordered != 0)
    return "Packets of a stopped queue were lost or reordered, so that their positions are not "
           "known.";
  if (r.latency_ns.min() < static_cast<std::uint64_t>(kSettle.count()))
    return "The device under test did not obey the pause of priority " +
           std::to_string(law.priority) + ", so that its queue did not fill.";
  return "";
}

std::optional<std::vector<bool>> BenchmarkRun::marks() {
  const EcnLawConfig& law = plan_.ecn;
  StreamConfig probe = trial_streams({config_.streams.front()}, 1, number_++, plan_.trial).front();
  probe.start = kSettle;
  probe.packets = probe.latency_samples = law.packets;
  probe.flows = 1;
  probe.ecn = Ecn::kEct0;
  const StreamSchedule schedule({.stream = probe, .line_rate = trials_.line_rate(probe.device)});
  const Duration held = 2 * kSettle + from_seconds(law.packets / schedule.packets_per_second());
  probe.duration = held;
  const auto result =
      trials_.run({{probe},
                   {{.device = probe.receive_device, .priority = law.priority, .duration = held}},
                   held});
  if (!result) return std::nullopt;
  if (const std::string why = spoilt(result->report.streams.front(), law); !why.empty()) {
    note(why);
    return std::vector<bool>{};
  }
  std::vector<bool> marked;
  for (const StreamSample& sample : result->samples) marked.push_back(sample.ce != 0);
  return marked;
}

bool BenchmarkRun::mark_counts(std::vector<std::uint32_t>& marked, std::uint32_t& repetitions) {
  const std::uint32_t most = plan_.repeats + plan_.repeats / 10 + kSpoiltTrials;
  for (std::uint32_t i = 0; i < most && repetitions < plan_.repeats; ++i) {
    const auto one = marks();
    if (!one) return false;
    if (one->empty()) continue;
    ++repetitions;
    for (std::size_t at = 0; at < one->size(); ++at) marked[at] += (*one)[at] ? 1 : 0;
  }
  return true;
}

bool BenchmarkRun::ecn_marking(BenchmarkPoint& point) {
  std::vector<std::uint32_t> marked(plan_.ecn.packets);
  std::uint32_t repetitions = 0;
  if (!mark_counts(marked, repetitions)) return false;
  const EcnFit fit = fit_marks(marked, expected_marks(plan_.ecn), repetitions);
  const auto share = [&](std::size_t from, std::size_t to) {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += marked[i];
    return sum / (static_cast<double>(to - from) * repetitions);
  };
  const auto known = [&](double value) { return repetitions == 0 ? kNotDefined : value; };
  const bool tested = fit.p_value.has_value();  // a step has no place where the law is uncertain
  point.add("repetitions", repetitions);
  point.add("chi_square", tested ? fit.chi_square : kNotDefined);
  point.add("chi_square_degrees", known(fit.groups));
  point.add("chi_square_p_value", fit.p_value.value_or(kNotDefined));
  point.add("marked_below_kmin", known(static_cast<double>(fit.marked_below)));
  point.add("unmarked_above_kmax", known(static_cast<double>(fit.unmarked_above)));
  point.add("largest_marking_difference", tested ? fit.largest_difference : kNotDefined);
  point.add("marked_share", known(share(0, marked.size())));
  point.add("marked_share_first_half", known(share(0, marked.size() / 2)));
  point.add("marked_share_last_half", known(share(marked.size() / 2, marked.size())));
  return true;
}

bool BenchmarkRun::measure(std::vector<std::pair<std::string, double>> at) {
  switch (plan_.kind) {
    case BenchmarkKind::kAccuracy:
      return accuracy(std::move(at));
    case BenchmarkKind::kThroughput:
      return throughput(point_at(at));
    case BenchmarkKind::kLatency:
      return latency(std::move(at));
    case BenchmarkKind::kLossRate:
      return loss_rate(std::move(at));
    case BenchmarkKind::kBackToBack:
      return back_to_back(point_at(at));
    case BenchmarkKind::kEcnMarking:
      return ecn_marking(point_at(at));
    case BenchmarkKind::kNone:
      break;
  }
  return true;
}

}  // namespace

ConfigIssues benchmark_faults(const GeneratorConfig& config) {
  ConfigIssues issues;
  const Checks root(issues);
  if (config.benchmark.kind == BenchmarkKind::kNone)
    root.fault("benchmark.kind", "is required: what is to be measured");
  if (config.streams.empty()) root.fault("stream", "there must be at least one [[stream]]");
  if (!config.hosts.empty()) root.fault("host", "a benchmark has streams alone");
  if (!config.more_lcores.empty())
    root.fault("more_lcores", "a benchmark sends from one lcore: leave it out");
  for (std::size_t i = 0; i < config.streams.size(); ++i) {
    const auto at = root.below("stream", i);
    if (config.streams[i].device.empty()) at.fault("device", "is required by a benchmark");
    if (config.streams[i].receive_device.empty())
      at.fault("receive_device", "is required by a benchmark: it counts what arrives");
  }
  if (config.benchmark.kind == BenchmarkKind::kEcnMarking)
    for (std::size_t i = 0; i < config.devices.size(); ++i)
      if (!config.devices[i].line_rate && !is_pci_address(config.devices[i].device))
        root.below("device", i).fault("line_rate", "is required by ecn_marking");
  return issues;
}

BenchmarkResult run_benchmark(const GeneratorConfig& config, Trials& trials,
                              const TrialProgress& say) {
  BenchmarkRun run(config, trials, say);
  const BenchmarkConfig& plan = config.benchmark;
  const bool once = plan.kind == BenchmarkKind::kEcnMarking;  // its repeats make one figure
  bool finished = true;
  for (std::uint32_t i = 0; i < (once ? 1 : plan.repeats) && finished; ++i) {
    if (plan.frame_bytes.empty()) finished = run.measure({});
    for (const std::uint32_t bytes : plan.frame_bytes) {
      if (!finished) break;
      say("frames of " + std::to_string(bytes) + " bytes");
      run.use(with_frame_bytes(config, bytes));
      finished = run.measure({{"frame_bytes", bytes}});
    }
  }
  BenchmarkResult result = run.take();
  for (const auto& name : kBenchmarkKinds)
    if (name.value == plan.kind) result.kind = name.name;
  result.finished = finished;
  return result;
}

}  // namespace outrider::tg
