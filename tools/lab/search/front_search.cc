#include "tools/lab/search/front_search.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace outrider::lab {

namespace {

using SeedChoice = std::span<const std::size_t>;

double quantile_of(FrontObjective objective) {
  return std::ranges::find(kFrontObjectives, objective, &FrontObjectiveRow::objective)->quantile;
}

/// Returns a quantile of the communication times, in which an iteration that did not end is
/// infinitely long.
double communication(std::span<const FrontSample> samples, SeedChoice choice, double q) {
  std::vector<double> all;
  for (const std::size_t i : choice) {
    const auto& own = samples[i].communication_seconds;
    all.insert(all.end(), own.begin(), own.end());
    all.insert(all.end(), samples[i].incomplete, std::numeric_limits<double>::infinity());
  }
  return quantile(std::move(all), q);
}

double lost_share(std::span<const FrontSample> samples, SeedChoice choice) {
  double lost = 0, reference = 0;
  for (const std::size_t i : choice) {
    if (std::isnan(samples[i].lost_bytes) || std::isnan(samples[i].reference_bytes)) continue;
    lost += samples[i].lost_bytes;
    reference += samples[i].reference_bytes;
  }
  return reference > 0 ? lost / reference : kNotDefined;
}

bool known(const Estimate& e) { return !std::isnan(e.low) && !std::isnan(e.high); }

/// Estimates a statistic by resampling the seeds of a range.
/// @param statistic  of some seeds, given by their own indices
template <class Statistic>
Estimate estimate_over(SeedRange seeds, Statistic statistic) {
  return bootstrap(seeds.count, [&](SeedChoice choice) {
    std::vector<std::size_t> shifted(choice.begin(), choice.end());
    for (auto& i : shifted) i += seeds.first;
    return statistic(SeedChoice(shifted));
  });
}

/// Computes the areas of picked fronts for a choice of seeds.
class Areas {
 public:
  Areas(FrontObjective objective, std::span<const FrontCandidate> candidates,
        std::span<const FrontSample> alone, const FrontPoint& reference,
        const std::vector<FamilyFront>& fronts)
      : objective_(objective),
        candidates_(candidates),
        alone_(alone),
        reference_(reference),
        fronts_(fronts) {}

  [[nodiscard]] double of(const FamilyFront& front, SeedChoice choice) const {
    std::vector<FrontPoint> points;
    for (const std::size_t i : front.front)
      points.push_back(point_of(objective_, candidates_[i], alone_, choice));
    return dominated_area(points, reference_);
  }
  [[nodiscard]] double best_baseline(SeedChoice choice) const {
    double best = 0;
    for (const auto& front : fronts_)
      if (!front.ours) best = std::max(best, of(front, choice));
    return best;
  }

 private:
  FrontObjective objective_;
  std::span<const FrontCandidate> candidates_;
  std::span<const FrontSample> alone_;
  FrontPoint reference_;
  const std::vector<FamilyFront>& fronts_;
};

}  // namespace

FrontPoint point_of(FrontObjective objective, const FrontCandidate& candidate,
                    std::span<const FrontSample> alone, SeedChoice choice) {
  return {communication(candidate.samples, choice, quantile_of(objective)) /
              communication(alone, choice, quantile_of(FrontObjective::kMedian)),
          lost_share(candidate.samples, choice)};
}

FrontEstimate estimate_of(FrontObjective objective, const FrontCandidate& candidate,
                          std::span<const FrontSample> alone, SeedRange seeds) {
  assert(std::min(alone.size(), candidate.samples.size()) >= seeds.first + seeds.count);
  const auto point = [&](SeedChoice c) { return point_of(objective, candidate, alone, c); };
  return {estimate_over(seeds, [&](SeedChoice c) { return point(c).time; }),
          estimate_over(seeds, [&](SeedChoice c) { return point(c).cost; })};
}

bool clearly_dominates(const FrontEstimate& by, const FrontEstimate& other) noexcept {
  return dominates({by.time.high, by.cost.high}, {other.time.low, other.cost.low});
}

std::vector<std::size_t> survivors(std::span<const FrontCandidate> candidates,
                                   std::span<const FrontEstimate> estimates) {
  assert(candidates.size() == estimates.size());
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    // With one or two seeds there is no interval, so no candidate can be dropped yet.
    const bool measured =
        !std::isnan(estimates[i].time.value) && !std::isnan(estimates[i].cost.value);
    bool beaten = false;
    for (std::size_t j = 0; j < candidates.size() && !beaten; ++j)
      beaten = candidates[j].family == candidates[i].family && known(estimates[j].time) &&
               clearly_dominates(estimates[j], estimates[i]);
    if (measured && !beaten) kept.push_back(i);
  }
  return kept;
}

std::vector<FamilyFront> pick_fronts(FrontObjective objective,
                                     std::span<const FrontCandidate> candidates,
                                     std::span<const FrontSample> alone, std::size_t seeds) {
  std::vector<std::size_t> all(seeds);
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<FamilyFront> fronts;
  std::vector<std::vector<std::size_t>> members;  // [fronts] candidates with all seeds
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto& c = candidates[i];
    auto it = std::ranges::find(fronts, c.family, &FamilyFront::name);
    if (it == fronts.end()) {
      it = fronts.insert(it, {.name = c.family, .ours = c.ours, .front = {}});
      members.emplace_back();
    }
    ++it->settings;
    if (c.samples.size() >= seeds)
      members[static_cast<std::size_t>(it - fronts.begin())].push_back(i);
  }
  for (std::size_t s = 0; s < fronts.size(); ++s) {
    std::vector<FrontPoint> points;
    for (const std::size_t i : members[s])
      points.push_back(point_of(objective, candidates[i], alone, all));
    for (const std::size_t p : pareto_front(points)) fronts[s].front.push_back(members[s][p]);
  }
  return fronts;
}

void estimate_areas(FrontObjective objective, std::span<const FrontCandidate> candidates,
                    std::span<const FrontSample> alone, SeedRange seeds,
                    const FrontPoint& reference, std::vector<FamilyFront>& fronts) {
  const Areas areas(objective, candidates, alone, reference, fronts);
  for (auto& front : fronts) {
    front.area = estimate_over(seeds, [&](SeedChoice c) { return areas.of(front, c); });
    if (front.ours)
      front.gain = estimate_over(
          seeds, [&](SeedChoice c) { return areas.of(front, c) - areas.best_baseline(c); });
  }
}

}  // namespace outrider::lab
