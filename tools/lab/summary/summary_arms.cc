#include "tools/lab/summary/summary_arms.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <span>
#include <string_view>

namespace outrider {

namespace {

/// Cases of one arm, some repeated: a resample of its seeds.
using Resample = std::span<const CaseSummary* const>;

struct Measure {
  std::string_view name;
  double (*value)(Resample);
  bool compared = true;  ///< a ratio to the off arm means something
};

std::vector<double> pooled(Resample cases, std::vector<double> Samples::*samples) {
  std::vector<double> all;
  for (const CaseSummary* c : cases) {
    const auto& own = c->metrics.samples.*samples;
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

template <std::vector<double> Samples::*kSamples>
double pooled_mean(Resample cases) {
  return mean(pooled(cases, kSamples));
}

template <std::vector<double> Samples::*kSamples>
double pooled_median(Resample cases) {
  return median(pooled(cases, kSamples));
}

template <std::vector<double> Samples::*kSamples>
double pooled_p99(Resample cases) {
  return quantile(pooled(cases, kSamples), 0.99);
}

/// Mean over the cases for which `value_of` is defined.
template <class ValueOf>
double mean_over(Resample cases, ValueOf value_of) {
  std::vector<double> values;
  for (const CaseSummary* c : cases)
    if (const double v = value_of(*c); !std::isnan(v)) values.push_back(v);
  return mean(values);
}

/// Sum of one over sum of the other, over the cases for which both are defined.
template <class Numerator, class Denominator>
double ratio_of_sums(Resample cases, Numerator numerator, Denominator denominator) {
  double above = 0, below = 0;
  for (const CaseSummary* c : cases) {
    const double n = numerator(*c), d = denominator(*c);
    if (std::isnan(n) || std::isnan(d)) continue;
    above += n;
    below += d;
  }
  return below > 0 ? above / below : kNotDefined;
}

double mean_burst_sojourn(Resample cases) {
  return ratio_of_sums(
      cases,
      [](const CaseSummary& c) {
        const auto& s = c.metrics.burst_sojourn_seconds;
        return s.mean * static_cast<double>(s.count);
      },
      [](const CaseSummary& c) {
        return static_cast<double>(c.metrics.burst_sojourn_seconds.count);
      });
}

double background_goodput(Resample cases) {
  return mean_over(
      cases, [](const CaseSummary& c) { return c.metrics.background_goodput_bits_per_second; });
}

double rtos_per_burst(Resample cases) {
  return ratio_of_sums(
      cases, [](const CaseSummary& c) { return static_cast<double>(c.metrics.push_rtos); },
      [](const CaseSummary& c) { return static_cast<double>(c.metrics.push_bursts); });
}

double lost_fraction(Resample cases) {
  return ratio_of_sums(
      cases, [](const CaseSummary& c) { return c.background_cost.lost_bytes; },
      [](const CaseSummary& c) { return c.background_cost.reference_bytes; });
}

/// Per iteration, on a fixed schedule.
template <double BackgroundCost::*kBytes>
double per_window(Resample cases) {
  return ratio_of_sums(
      cases, [](const CaseSummary& c) { return c.background_cost.*kBytes; },
      [](const CaseSummary& c) { return static_cast<double>(c.background_cost.windows); });
}

double gained_per_lost(Resample cases) {
  return mean_over(cases, [](const CaseSummary& c) {
    return c.background_cost.ddl_bytes_gained_per_background_byte_lost;
  });
}

double lowest_share(Resample cases) {
  return mean_over(cases,
                   [](const CaseSummary& c) { return c.metrics.background_dip.lowest_share.mean; });
}

double recovery_seconds(Resample cases) {
  return mean_over(
      cases, [](const CaseSummary& c) { return c.metrics.background_dip.recovery_seconds.median; });
}

double regulated_share(Resample cases) {
  return mean_over(cases, [](const CaseSummary& c) { return c.metrics.queue.regulated_share; });
}

double path_imbalance(Resample cases) {
  return mean_over(cases, [](const CaseSummary& c) { return c.metrics.path_imbalance; });
}

/// Of each run of an arm, then the mean of the runs; all of them must have it.
template <double LearningMetrics::*kFigure>
double mean_of_runs(Resample cases) {
  std::vector<double> values;
  for (const CaseSummary* c : cases) values.push_back(c->metrics.learning.*kFigure);
  return mean(values);
}

template <std::vector<double> LearningMetrics::*kValues>
double mean_of_values(Resample cases) {
  std::vector<double> all;
  for (const CaseSummary* c : cases) {
    const auto& own = c->metrics.learning.*kValues;
    all.insert(all.end(), own.begin(), own.end());
  }
  return mean(all);
}

/// Share of a part in the communication time of all pushes that have it split.
template <BurstTime kPart>
double time_share(Resample cases) {
  return ratio_of_sums(
      cases,
      [](const CaseSummary& c) {
        return c.metrics.attribution.seconds_sum[static_cast<std::size_t>(kPart)];
      },
      [](const CaseSummary& c) {
        const auto& sums = c.metrics.attribution.seconds_sum;
        return std::accumulate(sums.begin(), sums.end(), 0.0);
      });
}

/// Only where some case has them. In the order of BurstTime.
constexpr Measure kTimeShares[] = {
    {"time_signal_share", time_share<BurstTime::kSignal>, false},
    {"time_opening_share", time_share<BurstTime::kOpening>, false},
    {"time_serialisation_share", time_share<BurstTime::kSerialisation>, false},
    {"time_behind_background_share", time_share<BurstTime::kBehindBackground>, false},
    {"time_behind_ddl_share", time_share<BurstTime::kBehindDdl>, false},
    {"time_window_share", time_share<BurstTime::kWindow>, false},
    {"time_recovery_share", time_share<BurstTime::kRecovery>, false},
    {"time_rto_share", time_share<BurstTime::kRto>, false},
    {"time_compute_share", time_share<BurstTime::kCompute>, false},
    {"time_others_share", time_share<BurstTime::kOthers>, false},
    {"time_held_share", time_share<BurstTime::kHeld>, false},
};
static_assert(std::size(kTimeShares) == kBurstTimes);

/// Only where some case learns.
constexpr Measure kLearning[] = {
    {"time_to_loss_seconds", mean_of_runs<&LearningMetrics::time_to_loss_seconds>},
    {"gradients_to_loss", mean_of_runs<&LearningMetrics::gradients_to_loss>},
    {"last_loss", mean_of_runs<&LearningMetrics::last_loss>},
};

/// Of several jobs, over which `value` is taken in each case.
template <double (*kValue)(const JobsMetrics&)>
double over_jobs(Resample cases) {
  return mean_over(cases, [](const CaseSummary& c) { return kValue(c.metrics.jobs); });
}

std::vector<double> completions(const JobsMetrics& jobs) {
  std::vector<double> values;
  values.reserve(jobs.each.size());
  for (const auto& job : jobs.each) values.push_back(job.completion_seconds);
  return values;
}

/// Not defined if a job did not end.
double mean_completion(const JobsMetrics& jobs) { return mean(completions(jobs)); }

double completion_range(const JobsMetrics& jobs) {
  const auto values = completions(jobs);
  if (std::isnan(mean(values))) return kNotDefined;
  return std::ranges::max(values) - std::ranges::min(values);
}

double mean_worker_spread(const JobsMetrics& jobs) { return mean(jobs.worker_spread_seconds); }
double server_sending(const JobsMetrics& jobs) { return jobs.server_hosts.sending; }
double server_receiving(const JobsMetrics& jobs) { return jobs.server_hosts.receiving; }

/// Only where some case has several jobs.
constexpr Measure kJobMeasures[] = {
    {"jobs_completion_seconds_mean", over_jobs<mean_completion>},
    {"jobs_completion_seconds_range", over_jobs<completion_range>},
    {"worker_spread_seconds_mean", over_jobs<mean_worker_spread>},
    {"server_nic_sending_share", over_jobs<server_sending>},
    {"server_nic_receiving_share", over_jobs<server_receiving>},
};

constexpr Measure kMeasures[] = {
    {"start_queue_packets_mean", pooled_mean<&Samples::start_queue_packets>},
    {"max_queue_packets_mean", pooled_mean<&Samples::max_queue_packets>},
    {"burst_completion_seconds_median", pooled_median<&Samples::burst_completion_seconds>},
    {"burst_completion_seconds_mean", pooled_mean<&Samples::burst_completion_seconds>},
    {"burst_completion_seconds_p99", pooled_p99<&Samples::burst_completion_seconds>},
    {"communication_seconds_median", pooled_median<&Samples::communication_seconds>},
    {"communication_seconds_mean", pooled_mean<&Samples::communication_seconds>},
    {"communication_seconds_p99", pooled_p99<&Samples::communication_seconds>},
    {"iteration_seconds_median", pooled_median<&Samples::iteration_seconds>},
    {"worker_iteration_seconds_mean", mean_of_values<&LearningMetrics::worker_iteration_seconds>},
    {"wait_seconds_mean", mean_of_values<&LearningMetrics::wait_seconds>},
    {"wait_spread_seconds", mean_of_runs<&LearningMetrics::wait_spread_seconds>},
    {"update_gap_variation", mean_of_runs<&LearningMetrics::update_gap_variation>},
    {"staleness_mean", mean_of_runs<&LearningMetrics::staleness_mean>, false},
    {"first_layer_seconds_median", pooled_median<&Samples::first_layer_seconds>},
    {"nic_send_idle_share_median", pooled_median<&Samples::nic_send_idle_share>},
    {"pull_completion_seconds_median", pooled_median<&Samples::pull_completion_seconds>},
    {"ddl_throughput_bits_per_second_mean",
     pooled_mean<&Samples::burst_throughput_bits_per_second>},
    {"burst_sojourn_seconds_mean", mean_burst_sojourn},
    {"background_goodput_bits_per_second", background_goodput},
    {"rtos_per_burst", rtos_per_burst},
    {"background_lost_fraction", lost_fraction, false},
    {"background_lost_bytes_per_iteration", per_window<&BackgroundCost::lost_bytes>, false},
    {"background_transfer_bytes_per_iteration", per_window<&BackgroundCost::transfer_bytes>, false},
    {"background_waste_bytes_per_iteration", per_window<&BackgroundCost::waste_bytes>, false},
    {"background_unexplained_bytes_per_iteration", per_window<&BackgroundCost::unexplained_bytes>,
     false},
    {"ddl_bytes_gained_per_background_byte_lost", gained_per_lost, false},
    {"background_lowest_share", lowest_share},
    {"background_recovery_seconds", recovery_seconds},
    {"regulated_share", regulated_share, false},
    {"path_imbalance", path_imbalance, false},
};

std::vector<const CaseSummary*> chosen(const std::vector<const CaseSummary*>& cases,
                                       std::span<const std::size_t> seeds) {
  std::vector<const CaseSummary*> out;
  out.reserve(seeds.size());
  for (const std::size_t i : seeds) out.push_back(cases[i]);
  return out;
}

/// An arm's cases beside the off cases of the same seeds.
struct Pairs {
  std::vector<const CaseSummary*> own;
  std::vector<const CaseSummary*> off;
};

ArmMetric estimate(const Measure& measure, const std::vector<const CaseSummary*>& own,
                   const Pairs& pairs) {
  ArmMetric m{.name = std::string(measure.name), .value = {}, .change = {}};
  m.value = bootstrap(own.size(), [&](std::span<const std::size_t> seeds) {
    return measure.value(chosen(own, seeds));
  });
  if (!measure.compared) return m;
  m.change = bootstrap(pairs.own.size(), [&](std::span<const std::size_t> seeds) {
    const double reference = measure.value(chosen(pairs.off, seeds));
    return reference > 0 ? measure.value(chosen(pairs.own, seeds)) / reference - 1 : kNotDefined;
  });
  return m;
}

void estimate_all(const std::vector<CaseSummary>& cases, ArmSummary& arm) {
  std::vector<const CaseSummary*> own;
  Pairs pairs;
  for (const std::size_t i : arm.cases) {
    own.push_back(&cases[i]);
    if (!cases[i].off_case) continue;
    pairs.own.push_back(&cases[i]);
    pairs.off.push_back(&cases[*cases[i].off_case]);
  }
  for (const auto& measure : kMeasures) arm.metrics.push_back(estimate(measure, own, pairs));
  const auto add_if = [&](auto there, std::span<const Measure> measures) {
    if (std::ranges::any_of(own, [&](const CaseSummary* c) { return there(c->metrics); }))
      for (const auto& m : measures) arm.metrics.push_back(estimate(m, own, pairs));
  };
  add_if([](const CaseMetrics& m) { return m.learning.learns; }, kLearning);
  add_if([](const CaseMetrics& m) { return m.attribution.bursts != 0; }, kTimeShares);
  add_if([](const CaseMetrics& m) { return !m.jobs.each.empty(); }, kJobMeasures);
}

}  // namespace

ArmMetric ArmSummary::metric(const std::string& name) const {
  const auto it = std::ranges::find(metrics, name, &ArmMetric::name);
  return it == metrics.end() ? ArmMetric{.name = name, .value = {}, .change = {}} : *it;
}

std::vector<ArmSummary> summarise_arms(const std::vector<CaseSummary>& cases) {
  const auto all = [](std::string_view) { return true; };
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  std::vector<ArmSummary> arms;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const CaseSummary& c = cases[i];
    const auto [it, added] =
        index.try_emplace({c.label, parameters_key(c.parameters, all)}, arms.size());
    if (added)
      arms.push_back({.label = c.label,
                      .parameters = c.parameters,
                      .point = c.point,
                      .off = c.off_case == i,
                      .cases = {},
                      .metrics = {}});
    arms[it->second].cases.push_back(i);
  }
  std::ranges::stable_sort(arms, {}, &ArmSummary::point);
  for (auto& arm : arms) estimate_all(cases, arm);
  return arms;
}

}  // namespace outrider
