#include "tools/lab/front/front_search.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace outrider::lab {

namespace {

using SeedChoice = std::span<const std::size_t>;

double median_communication(std::span<const FrontSample> samples, SeedChoice choice) {
  std::vector<double> all;
  for (const std::size_t i : choice) {
    const auto& own = samples[i].communication_seconds;
    all.insert(all.end(), own.begin(), own.end());
  }
  return median(std::move(all));
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

/// The candidates of one system that have all seeds.
struct Members {
  std::string name;
  bool ours = false;
  std::vector<std::size_t> candidates{};
};

std::vector<Members> members_of(std::span<const FrontCandidate> candidates, std::size_t seeds) {
  std::vector<Members> systems;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto& c = candidates[i];
    auto it = std::ranges::find(systems, c.system, &Members::name);
    if (it == systems.end()) it = systems.insert(it, {.name = c.system, .ours = c.ours});
    if (c.samples.size() == seeds) it->candidates.push_back(i);
  }
  return systems;
}

/// Computes the areas of all systems for a choice of seeds.
class Areas {
 public:
  Areas(std::span<const FrontCandidate> candidates, std::span<const FrontSample> alone,
        const FrontPoint& reference, const std::vector<Members>& systems)
      : candidates_(candidates), alone_(alone), reference_(reference), systems_(systems) {}

  [[nodiscard]] std::vector<FrontPoint> points(std::size_t system, SeedChoice choice) const {
    std::vector<FrontPoint> points;
    for (const std::size_t i : systems_[system].candidates)
      points.push_back(point_of(candidates_[i], alone_, choice));
    return points;
  }
  [[nodiscard]] double of(std::size_t system, SeedChoice choice) const {
    return dominated_area(points(system, choice), reference_);
  }
  [[nodiscard]] double best_baseline(SeedChoice choice) const {
    double best = 0;
    for (std::size_t s = 0; s < systems_.size(); ++s)
      if (!systems_[s].ours) best = std::max(best, of(s, choice));
    return best;
  }

 private:
  std::span<const FrontCandidate> candidates_;
  std::span<const FrontSample> alone_;
  FrontPoint reference_;
  const std::vector<Members>& systems_;
};

}  // namespace

FrontPoint point_of(const FrontCandidate& candidate, std::span<const FrontSample> alone,
                    SeedChoice choice) {
  return {median_communication(candidate.samples, choice) / median_communication(alone, choice),
          lost_share(candidate.samples, choice)};
}

FrontEstimate estimate_of(const FrontCandidate& candidate, std::span<const FrontSample> alone) {
  const std::size_t seeds = candidate.samples.size();
  assert(alone.size() >= seeds);
  return {bootstrap(seeds, [&](SeedChoice c) { return point_of(candidate, alone, c).time; }),
          bootstrap(seeds, [&](SeedChoice c) { return point_of(candidate, alone, c).cost; })};
}

bool clearly_dominates(const FrontEstimate& by, const FrontEstimate& other) noexcept {
  return dominates({by.time.high, by.cost.high}, {other.time.low, other.cost.low});
}

std::vector<std::size_t> survivors(std::span<const FrontCandidate> candidates,
                                   std::span<const FrontEstimate> estimates) {
  assert(candidates.size() == estimates.size());
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    // With one seed there is no interval, so no candidate can be dropped yet.
    const bool measured =
        !std::isnan(estimates[i].time.value) && !std::isnan(estimates[i].cost.value);
    bool beaten = false;
    for (std::size_t j = 0; j < candidates.size() && !beaten; ++j)
      beaten = candidates[j].system == candidates[i].system && known(estimates[j].time) &&
               clearly_dominates(estimates[j], estimates[i]);
    if (measured && !beaten) kept.push_back(i);
  }
  return kept;
}

std::vector<std::uint32_t> rounds_of(std::uint32_t screening, std::uint32_t seeds) {
  assert(screening >= 1 && screening <= seeds);
  std::vector<std::uint32_t> rounds;
  for (std::uint64_t n = screening; n < seeds; n *= 2)
    rounds.push_back(static_cast<std::uint32_t>(n));
  rounds.push_back(seeds);
  return rounds;
}

std::vector<SystemFront> fronts_of(std::span<const FrontCandidate> candidates,
                                   std::span<const FrontSample> alone, std::size_t seeds,
                                   const FrontPoint& reference) {
  const std::vector<Members> systems = members_of(candidates, seeds);
  const Areas areas(candidates, alone, reference, systems);
  std::vector<std::size_t> all(seeds);
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<SystemFront> fronts;
  for (std::size_t s = 0; s < systems.size(); ++s) {
    SystemFront front{.name = systems[s].name, .ours = systems[s].ours, .front = {}};
    for (const std::size_t i : pareto_front(areas.points(s, all)))
      front.front.push_back(systems[s].candidates[i]);
    front.area = bootstrap(seeds, [&](SeedChoice c) { return areas.of(s, c); });
    if (front.ours)
      front.gain =
          bootstrap(seeds, [&](SeedChoice c) { return areas.of(s, c) - areas.best_baseline(c); });
    fronts.push_back(std::move(front));
  }
  return fronts;
}

}  // namespace outrider::lab
