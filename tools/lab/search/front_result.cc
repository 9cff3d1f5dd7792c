#include "tools/lab/search/front_result.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "common/telemetry/csv_text.h"

namespace outrider::lab {

namespace {

/// A front has one point, whatever its settings change: all are compared with the baseline of
/// their seed. points_of() would find another point, or none, for a setting of hosts.
CasePoints one_point(const std::vector<const Case*>& cases, const std::string& baseline) {
  std::map<std::uint64_t, std::size_t> off;  // by seed
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (cases[i]->label == baseline) off.emplace(cases[i]->seed, i);
  CasePoints points{.baseline = {}, .off = {}, .point = std::vector<std::size_t>(cases.size())};
  for (const Case* c : cases) {
    const auto it = off.find(c->seed);
    points.baseline.push_back(it == off.end() ? cases.size() : it->second);
  }
  points.off = points.baseline;
  return points;
}

/// Returns the seeds that a candidate's estimate stands on: those of the result if it was picked,
/// else those of the search that it ran.
SeedRange seeds_of(const FrontResult& r, std::size_t candidate) {
  const std::size_t ran = r.candidates[candidate].samples.size();
  const std::size_t searched = std::min<std::size_t>(ran, r.settings.searched_seeds());
  return ran > searched ? SeedRange{searched, ran - searched} : SeedRange{0, searched};
}

}  // namespace

std::vector<FrontCandidate> candidates_of(const SearchFile& file) {
  const std::string& baseline = file.settings.baseline;
  std::set<std::string> of_systems;
  for (const auto& family : file.settings.families)
    of_systems.insert(family.arms.begin(), family.arms.end());
  std::vector<FrontCandidate> candidates{{.family = baseline, .label = baseline}};
  for (const auto& arm : file.experiment.arms)
    if (arm.label != baseline && !of_systems.contains(arm.label))
      candidates.push_back({.family = arm.label, .label = arm.label});
  for (const auto& family : file.settings.families)
    for (const auto& label : family.arms)
      candidates.push_back({.family = family.label, .label = label, .ours = family.ours});
  return candidates;
}

void take_samples(std::span<const RunDigest* const> runs, FrontResult& result) {
  std::vector<const Case*> cases;
  std::vector<const CostObservation*> observations;
  for (const RunDigest* run : runs) {
    cases.push_back(run->definition);
    observations.push_back(&run->cost);
  }
  const auto costs = background_costs(observations, one_point(cases, result.settings.baseline));
  result.alone.clear();
  for (auto& candidate : result.candidates) candidate.samples.clear();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Case& c = *cases[i];
    const CaseSummary& own = runs[i]->own;
    const auto candidate = std::ranges::find(result.candidates, c.label, &FrontCandidate::label);
    if (candidate == result.candidates.end()) continue;
    candidate->samples.push_back(
        {.communication_seconds = own.metrics.samples.communication_seconds.values(),
         .incomplete = own.metrics.incomplete,
         .lost_bytes = costs[i].lost_bytes,
         .reference_bytes = costs[i].reference_bytes});
    if (c.label == result.settings.baseline && runs[i]->ran_alone)
      result.alone.push_back({.communication_seconds = own.alone.communication_seconds.values(),
                              .incomplete = own.alone.incomplete});
  }
}

void estimate_search(FrontResult& result) {
  for (std::size_t o = 0; o < kFrontObjectives.size(); ++o) {
    auto& estimates = result.verdicts[o].estimates;
    estimates.clear();
    for (std::size_t i = 0; i < result.candidates.size(); ++i)
      estimates.push_back(estimate_of(kFrontObjectives[o].objective, result.candidates[i],
                                      result.alone, seeds_of(result, i)));
  }
}

std::vector<std::size_t> survivors_of(const FrontResult& result) {
  std::set<std::size_t> kept;
  for (const auto& verdict : result.verdicts)
    for (const std::size_t i : survivors(result.candidates, verdict.estimates)) kept.insert(i);
  return {kept.begin(), kept.end()};
}

void pick(FrontResult& result) {
  for (std::size_t o = 0; o < kFrontObjectives.size(); ++o)
    result.verdicts[o].families = pick_fronts(kFrontObjectives[o].objective, result.candidates,
                                              result.alone, result.settings.searched_seeds());
}

void report(FrontResult& result) {
  estimate_search(result);
  const SearchSettings& s = result.settings;
  const std::uint32_t searched = s.searched_seeds();
  result.verified_seeds = static_cast<std::uint32_t>(result.alone.size()) - searched;
  for (std::size_t o = 0; o < kFrontObjectives.size(); ++o)
    estimate_areas(kFrontObjectives[o].objective, result.candidates, result.alone,
                   {searched, result.verified_seeds}, s.reference, result.verdicts[o].families);
}

bool on_front(const FrontResult::Verdict& verdict, std::size_t candidate) {
  return std::ranges::any_of(verdict.families, [candidate](const FamilyFront& s) {
    return std::ranges::find(s.front, candidate) != s.front.end();
  });
}

bool on_any_front(const FrontResult& result, std::size_t candidate) {
  return std::ranges::any_of(result.verdicts, [candidate](const FrontResult::Verdict& v) {
    return on_front(v, candidate);
  });
}

void write_front_csv(std::ostream& out, const FrontResult& result) {
  out << "objective,family,candidate,ours,seeds,on_front,communication_over_alone,"
         "communication_low,communication_high,background_lost_fraction,lost_low,lost_high\n";
  for (std::size_t o = 0; o < kFrontObjectives.size(); ++o) {
    const FrontResult::Verdict& verdict = result.verdicts[o];
    for (std::size_t i = 0; i < result.candidates.size(); ++i) {
      const FrontCandidate& c = result.candidates[i];
      out << kFrontObjectives[o].name << ',' << csv_text(c.family) << ',' << csv_text(c.label)
          << ',' << c.ours << ',' << seeds_of(result, i).count << ',' << on_front(verdict, i);
      for (const Estimate& e : {verdict.estimates[i].time, verdict.estimates[i].cost})
        for (const double v : {e.value, e.low, e.high})
          out << ',' << (std::isnan(v) ? std::string() : text_of(v));
      out << '\n';
    }
  }
}

}  // namespace outrider::lab
