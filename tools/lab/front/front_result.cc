#include "tools/lab/front/front_result.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "common/telemetry/csv_text.h"

namespace outrider::lab {

namespace {

constexpr std::string_view kOff = "off";

FrontSample sample_of(const CaseMetrics& metrics, const BackgroundCost& cost) {
  return {.communication_seconds = metrics.samples.communication_seconds,
          .lost_bytes = cost.lost_bytes,
          .reference_bytes = cost.reference_bytes};
}

}  // namespace

std::vector<FrontCandidate> candidates_of(const FrontFile& file) {
  std::set<std::string> of_systems;
  for (const auto& system : file.settings.systems)
    of_systems.insert(system.arms.begin(), system.arms.end());
  std::vector<FrontCandidate> candidates{{.system = std::string(kOff), .label = std::string(kOff)}};
  for (const auto& arm : file.experiment.arms)
    if (arm.label != kOff && !of_systems.contains(arm.label))
      candidates.push_back({.system = arm.label, .label = arm.label});
  for (const auto& system : file.settings.systems)
    for (const auto& label : system.arms)
      candidates.push_back({.system = system.label, .label = label, .ours = system.ours});
  return candidates;
}

void take_samples(const std::vector<CaseRun>& runs, FrontResult& result) {
  std::vector<const Case*> cases;
  std::vector<CostInput> inputs;
  for (const auto& run : runs) {
    cases.push_back(run.definition);
    inputs.push_back({run.definition, Runtime::kVirtual, &run.result});
  }
  const auto costs = background_costs(inputs, points_of(cases));
  result.alone.clear();
  for (auto& candidate : result.candidates) candidate.samples.clear();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Case& c = *runs[i].definition;
    const auto candidate = std::ranges::find(result.candidates, c.label, &FrontCandidate::label);
    if (candidate == result.candidates.end()) continue;
    candidate->samples.push_back(
        sample_of(measure(c, Runtime::kVirtual, runs[i].result), costs[i]));
    if (c.label == kOff && runs[i].alone)
      result.alone.push_back(sample_of(measure(c, Runtime::kVirtual, *runs[i].alone), {}));
  }
}

void evaluate(FrontResult& result) {
  result.estimates.clear();
  for (const auto& candidate : result.candidates)
    result.estimates.push_back(estimate_of(candidate, result.alone));
  result.systems =
      fronts_of(result.candidates, result.alone, result.settings.seeds, result.settings.reference);
}

bool on_front(const FrontResult& result, std::size_t candidate) {
  return std::ranges::any_of(result.systems, [candidate](const SystemFront& s) {
    return std::ranges::find(s.front, candidate) != s.front.end();
  });
}

void write_front_csv(std::ostream& out, const FrontResult& result) {
  out << "system,candidate,ours,seeds,on_front,communication_over_alone,communication_low,"
         "communication_high,background_lost_fraction,lost_low,lost_high\n";
  for (std::size_t i = 0; i < result.candidates.size(); ++i) {
    const FrontCandidate& c = result.candidates[i];
    out << csv_text(c.system) << ',' << csv_text(c.label) << ',' << c.ours << ','
        << c.samples.size() << ',' << on_front(result, i);
    for (const Estimate& e : {result.estimates[i].time, result.estimates[i].cost})
      for (const double v : {e.value, e.low, e.high})
        out << ',' << (std::isnan(v) ? std::string() : text_of(v));
    out << '\n';
  }
}

}  // namespace outrider::lab
