#pragma once

#include <cstddef>
#include <cstdint>

namespace outrider::lab {

/// The cases of one round: every arm with every seed.
struct RoundSize {
  std::size_t arms = 0;
  std::uint32_t seeds = 0;
  bool brief = false;  ///< fewer iterations, see AdvisedQuestion::brief
  bool operator==(const RoundSize&) const = default;
};

/// A brief case takes this share of a whole one's time.
constexpr double kBriefShare = 2.0 / 3;

/// Returns how long a round takes [s].
/// @param case_seconds  what a whole case adds to the wall time, with all processors at work
[[nodiscard]] double seconds_of(const RoundSize& round, double case_seconds);

/// Sizes of rounds that fit into the time that a user gives. A round gets a share of what is left,
/// but never less than its least size: a remedy that is never verified is no advice. Pure.
///
/// @param seconds  that the user still wants to wait
/// @return one round's size, whose arms are as many as wanted or fewer
[[nodiscard]] RoundSize screen_size(std::size_t arms, double case_seconds, double seconds);
[[nodiscard]] RoundSize verify_size(std::size_t arms, double case_seconds, double seconds);
/// Returns the smallest size of a round that verifies.
[[nodiscard]] RoundSize least_to_verify();
/// Returns how long the search and the least verification take [s].
[[nodiscard]] double least_seconds(std::size_t arms, double case_seconds, double seconds);

/// What a search tries: a question that would take too long is scaled down, or not begun.
enum class Tried : std::uint8_t { kAll, kOneOfEachKind, kNothing };
/// Returns how long all may take of which a user wants to wait so long, as estimates are rough [s].
[[nodiscard]] double longest_seconds(double wanted);
/// A search that takes longer is not begun.
/// @param all,kinds  how many arms there are, and how many with one of each kind
/// @param wanted  how long the user wants to wait in all [s]; `seconds` of them are left
[[nodiscard]] Tried scale_down(std::size_t all, std::size_t kinds, double case_seconds,
                               double wanted, double seconds);

/// Returns by how much bursts are made smaller, so that all arms are searched and eight of them
/// verified in time: the least power of two that does, at most `most`.
/// @param most_seconds  what a case adds whose bursts are `most` times smaller
[[nodiscard]] unsigned smaller_to_fit(std::size_t arms, unsigned most, double most_seconds,
                                      double seconds);
/// Returns what a case adds whose bursts are `smaller` times smaller, at most.
[[nodiscard]] double seconds_when(unsigned smaller, unsigned most, double most_seconds);

/// @param questions  that are asked, each with a round of the size that is returned
[[nodiscard]] RoundSize what_if_size(std::size_t arms, std::size_t questions, double case_seconds,
                                     double seconds);

}  // namespace outrider::lab
