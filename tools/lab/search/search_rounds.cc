#include "tools/lab/search/search_rounds.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace outrider::lab {

std::vector<std::uint32_t> rounds_of(std::uint32_t first, std::uint32_t last) {
  assert(first >= 1 && first <= last);
  std::vector<std::uint32_t> rounds;
  for (std::uint64_t n = first; n < last; n *= 2) rounds.push_back(static_cast<std::uint32_t>(n));
  rounds.push_back(last);
  return rounds;
}

SearchRounds::SearchRounds(const SearchSeeds& seeds, std::size_t arms)
    : narrow_enough_(seeds.narrow_enough),
      screening_(rounds_of(seeds.screening, seeds.narrowing)),
      verifying_(looks(seeds.verifying)),
      alive_(arms) {
  assert(arms > 0 && seeds.verifying >= 1);
  std::iota(alive_.begin(), alive_.end(), std::size_t{0});
}

std::optional<SearchRound> SearchRounds::next(const SearchGoal& goal) {
  if (phase_ == SearchPhase::kScreening) {
    if (at_ > 0 && at_ < screening_.size()) keep(goal.may_win());
    if (at_ < screening_.size()) {
      const SearchRound next = round(phase_, screening_);
      ++at_;
      return next;
    }
    keep(goal.worth_verifying());
    phase_ = SearchPhase::kVerifying;
    at_ = 0;
  }
  if (at_ == verifying_.size()) return std::nullopt;
  if (at_ > 0) {
    const SearchArms wide = goal.not_narrow(narrow_enough_);
    if (wide.empty()) return std::nullopt;
    keep(wide);
  }
  const SearchRound next = round(phase_, verifying_);
  ++at_;
  return next;
}

void SearchRounds::verify_with(std::uint32_t seeds) {
  assert(seeds >= 1);
  if (phase_ == SearchPhase::kScreening) verifying_ = looks(seeds);
}

/// Returns the seeds in all after which intervals are looked at.
std::vector<std::uint32_t> SearchRounds::looks(std::uint32_t seeds) const {
  if (!(narrow_enough_ > 0)) return {seeds};
  return rounds_of(std::min(kSeedsOfFirstLook, seeds), seeds);
}

SearchRound SearchRounds::round(SearchPhase phase, const std::vector<std::uint32_t>& totals) const {
  return {
      .phase = phase, .first = at_ == 0 ? 0 : totals[at_ - 1], .end = totals[at_], .arms = alive_};
}

void SearchRounds::keep(const SearchArms& kept) {
  std::erase_if(alive_, [&kept](std::size_t arm) {
    return arm != 0 && std::ranges::find(kept, arm) == kept.end();
  });
}

}  // namespace outrider::lab
