#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace outrider::lab {

/// Arms of a search, by their numbers, rising. Number 0 is the baseline, which every round has:
/// gains and costs are against it, seed by seed.
using SearchArms = std::vector<std::size_t>;

/// How many seeds a search spends on an arm.
struct SearchSeeds {
  std::uint32_t screening = 0;  ///< every arm
  std::uint32_t narrowing = 0;  ///< in all, the arms that may still win after fewer; >= screening
  std::uint32_t verifying = 0;  ///< other seeds, the arms that are worth it
  /// An arm whose 95 % interval is at most this wide to either side, as a share of its value, gets
  /// no further seeds to verify it. 0: all get `verifying`.
  double narrow_enough = 0;
};

enum class SearchPhase : std::uint8_t { kScreening, kVerifying };

/// What is to be run next: seeds of some arms.
struct SearchRound {
  SearchPhase phase = SearchPhase::kScreening;
  std::uint32_t first = 0;  ///< first seed of the phase that is to be run, from 0
  std::uint32_t end = 0;    ///< one beyond the last
  SearchArms arms{};

  friend bool operator==(const SearchRound&, const SearchRound&) = default;
};

/// What a search seeks. It has seen the runs of all rounds before it is asked.
class SearchGoal {
 public:
  SearchGoal() = default;
  SearchGoal(const SearchGoal&) = delete;
  SearchGoal& operator=(const SearchGoal&) = delete;
  virtual ~SearchGoal() = default;

  /// Returns the arms that further seeds of the screening may show to be worth verifying.
  [[nodiscard]] virtual SearchArms may_win() const = 0;
  /// Returns the arms that other seeds are to verify, after the screening.
  [[nodiscard]] virtual SearchArms worth_verifying() const = 0;
  /// Returns the arms, of those that are verified, that need more seeds: their interval is wider
  /// than SearchSeeds::narrow_enough.
  [[nodiscard]] virtual SearchArms not_narrow(double narrow_enough) const = 0;
};

/// Says round after round what a search runs: every arm with few seeds, those that may win with
/// twice as many and so on; then those worth it with other seeds, until their intervals are narrow
/// enough. It knows no experiment and keeps no results: with equal answers of the goal, a search
/// that is begun again asks for equal rounds, whose finished runs its caller may have kept.
class SearchRounds {
 public:
  /// @param arms  how many there are, > 0  @pre 1 <= screening <= narrowing, 1 <= verifying
  SearchRounds(const SearchSeeds& seeds, std::size_t arms);

  /// Returns the next round, after the runs of the one before; nothing: the search has ended.
  std::optional<SearchRound> next(const SearchGoal& goal);

  /// Verifies with another number of seeds, > 0. It is for a caller whose time is bounded, and who
  /// knows how many fit into it only after the screening. Has no effect once verifying has begun.
  void verify_with(std::uint32_t seeds);

 private:
  [[nodiscard]] std::vector<std::uint32_t> looks(std::uint32_t seeds) const;
  [[nodiscard]] SearchRound round(SearchPhase phase,
                                  const std::vector<std::uint32_t>& totals) const;
  void keep(const SearchArms& kept);

  double narrow_enough_;
  std::vector<std::uint32_t> screening_;  ///< number of seeds in all after each round
  std::vector<std::uint32_t> verifying_;
  SearchPhase phase_ = SearchPhase::kScreening;
  std::size_t at_ = 0;  ///< next round of the phase
  SearchArms alive_{};
};

/// The first look at intervals, see SearchSeeds::narrow_enough: an interval of fewer seeds is too
/// narrow as often as not.
inline constexpr std::uint32_t kSeedsOfFirstLook = 5;

/// The seeds that verify begin so far behind those that screen.
inline constexpr std::uint32_t kSeedsBetweenPhases = 1000;

/// Returns the total number of seeds in each round: `first`, then twice as many in each round, and
/// finally `last`. @pre 1 <= first <= last
[[nodiscard]] std::vector<std::uint32_t> rounds_of(std::uint32_t first, std::uint32_t last);

}  // namespace outrider::lab
