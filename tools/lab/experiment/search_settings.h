#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/config_binding.h"
#include "tools/lab/experiment/front_point.h"

namespace outrider::lab {

/// What a search seeks.
enum class SearchPick : std::uint8_t {
  kFront,  ///< of each family the settings that no other betters in time and cost
  kBest,   ///< of each family the quickest arm, and the quickest that costs background little
};
inline constexpr auto kSearchPicks =
    choices<SearchPick>({{"front", SearchPick::kFront}, {"best", SearchPick::kBest}});

/// One [[search.family]]: a remedy whose settings are searched.
struct SearchFamily {
  std::string label;
  bool ours = false;                ///< false: a baseline
  bool listed = false;              ///< it names arms of the file; else its settings make them
  std::vector<std::string> arms{};  ///< labels of its candidates
};

/// When pick = "best" calls an arm cheap, and when it calls short flows spared.
struct BestRule {
  double cheap = 0.1;   ///< at most so many background bytes are lost per byte of bursts
  double spared = 1.1;  ///< p99 of short flows is at most so many times that of the baseline
};

/// The table [search] of an experiment.
struct SearchSettings {
  /// Label of the arm that gains and costs are against: the first baseline that no family makes.
  std::string baseline{};
  SearchPick pick = SearchPick::kBest;
  std::uint32_t screening_seeds = 3;   ///< seeds that every candidate runs
  std::uint32_t narrowing_seeds = 0;   ///< seeds of those that may still win; 0: no more
  std::uint32_t verifying_seeds = 30;  ///< further seeds, which give the result of those picked
  double narrow_enough = 0;            ///< SearchSeeds::narrow_enough
  std::string objective = "communication_over_alone_median";  ///< metric; less is better
  BestRule rule{};
  /// Corner up to which areas of fronts are taken.
  FrontPoint reference{.time = 8, .cost = 0.3};
  std::vector<SearchFamily> families{};

  /// Returns the seeds of a candidate that the screening keeps to its end.
  [[nodiscard]] std::uint32_t searched_seeds() const {
    return narrowing_seeds == 0 ? screening_seeds : narrowing_seeds;
  }
};

void describe(Settings& v, SearchSettings& s);

}  // namespace outrider::lab
