#include "tools/lab/advise/advice_plan.h"

#include <algorithm>
#include <cmath>

namespace outrider::lab {
namespace {

/// The largest shares of the time that is left.
constexpr double kScreenShare = 1.0 / 3, kVerifyShare = 2.0 / 3;
/// Paired by seed, four give the narrowest interval that says anything.
constexpr std::uint32_t kLeastToVerify = 4, kMostToVerify = 20;
constexpr std::size_t kFewestVerified = 3;  ///< `off`, what is advised, and one to compare it with
constexpr std::size_t kFewestAsked = 2;
constexpr std::uint32_t kMostOfWhatIf = 4;

/// Returns how many whole things of a size fit into a room, at most `most`.
std::size_t fitting(double room, double size, std::size_t most) {
  if (!(size > 0) || room / size >= static_cast<double>(most)) return most;
  return static_cast<std::size_t>(std::max(std::floor(room / size), 0.0));
}

}  // namespace

double seconds_of(const RoundSize& round, double case_seconds) {
  return static_cast<double>(round.arms * round.seeds) * case_seconds *
         (round.brief ? kBriefShare : 1);
}

RoundSize screen_size(std::size_t arms, double case_seconds, double seconds) {
  const double room = kScreenShare * seconds;
  RoundSize round{.arms = arms, .seeds = 2};
  if (seconds_of(round, case_seconds) > room) round.seeds = 1;
  round.brief = seconds_of(round, case_seconds) > room;
  return round;
}

RoundSize verify_size(std::size_t arms, double case_seconds, double seconds) {
  const double room = kVerifyShare * seconds;
  RoundSize round{.arms = arms};
  const double of_seed = static_cast<double>(arms) * case_seconds;
  const std::size_t seeds = fitting(room, of_seed, kMostToVerify);
  if (seeds < kLeastToVerify)
    round.arms = std::clamp(fitting(room, kLeastToVerify * case_seconds, arms),
                            std::min(kFewestVerified, arms), arms);
  round.seeds = std::max(static_cast<std::uint32_t>(seeds), kLeastToVerify);
  return round;
}

RoundSize least_to_verify() { return {.arms = kFewestVerified, .seeds = kLeastToVerify}; }

double least_seconds(std::size_t arms, double case_seconds, double seconds) {
  return seconds_of(screen_size(arms, case_seconds, seconds), case_seconds) +
         seconds_of(least_to_verify(), case_seconds);
}

double longest_seconds(double wanted) {
  constexpr double kMuchLonger = 1.5;
  return kMuchLonger * wanted;
}

Tried scale_down(std::size_t all, std::size_t kinds, double case_seconds, double wanted,
                 double seconds) {
  if (least_seconds(all, case_seconds, seconds) <= wanted) return Tried::kAll;
  const double least = least_seconds(kinds, case_seconds, seconds);
  return least > longest_seconds(wanted) ? Tried::kNothing : Tried::kOneOfEachKind;
}

unsigned smaller_to_fit(std::size_t arms, unsigned most, double most_seconds, double seconds) {
  constexpr std::size_t kVerified = 8;
  constexpr double kShare = 0.8;  // the rest is for what-ifs, and for cases that take longer
  const RoundSize search{.arms = arms, .seeds = 1, .brief = true};
  const RoundSize verification{.arms = std::min(arms, kVerified), .seeds = kLeastToVerify};
  unsigned smaller = 1;
  for (; smaller < most; smaller *= 2) {
    const double each = seconds_when(smaller, most, most_seconds);
    if (seconds_of(search, each) + seconds_of(verification, each) <= kShare * seconds) break;
  }
  return smaller;
}

double seconds_when(unsigned smaller, unsigned most, double most_seconds) {
  return most_seconds * most / smaller;
}

RoundSize what_if_size(std::size_t arms, std::size_t questions, double case_seconds,
                       double seconds) {
  const double room = seconds / static_cast<double>(std::max<std::size_t>(questions, 1));
  RoundSize round{.arms = arms, .seeds = 1};
  if (seconds_of(round, case_seconds) > room) round.arms = std::min(kFewestAsked, arms);
  round.brief = seconds_of(round, case_seconds) > room;
  const double of_seed = seconds_of(round, case_seconds);
  round.seeds =
      static_cast<std::uint32_t>(std::max<std::size_t>(fitting(room, of_seed, kMostOfWhatIf), 1));
  return round;
}

}  // namespace outrider::lab
