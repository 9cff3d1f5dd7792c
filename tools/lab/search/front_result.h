#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "tools/lab/experiment/search_file.h"
#include "tools/lab/search/front_search.h"
#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// The result of a search with pick = "front".
struct FrontResult {
  struct Round {
    std::uint32_t seeds = 0;     ///< total number of seeds per candidate
    std::size_t candidates = 0;  ///< candidates that ran them
  };
  /// What one objective says.
  struct Verdict {
    std::vector<FrontEstimate> estimates{};  ///< [candidates]
    std::vector<FamilyFront> families{};     ///< empty before the search has ended
  };
  std::string experiment;
  std::string question;
  SearchSettings settings;
  std::vector<Round> rounds{};       ///< of the screening
  std::uint32_t verified_seeds = 0;  ///< other seeds, which give the result
  std::vector<FrontCandidate> candidates{};
  std::array<Verdict, kFrontObjectives.size()> verdicts{};  ///< in the order of kFrontObjectives
  std::vector<FrontSample> alone{};                         ///< [seeds], off without background
};

/// Returns all candidates: "off", every other [[arm]] as a baseline of its own, and the families'
/// arms, in this order.
std::vector<FrontCandidate> candidates_of(const SearchFile& file);

/// Fills the samples of `result` from runs, and `alone` from the runs of off. Pure.
/// @param runs in the order of the plan; each candidate has its first seeds
void take_samples(std::span<const RunDigest* const> runs, FrontResult& result);

/// Estimates every candidate from the seeds that it has run so far. Pure.
void estimate_search(FrontResult& result);
/// Returns the candidates that may be on a front of any objective, by rising index, after
/// estimate_search(). Pure.
[[nodiscard]] std::vector<std::size_t> survivors_of(const FrontResult& result);
/// Picks the fronts from the seeds of the screening. Pure.
void pick(FrontResult& result);
/// Estimates the picked fronts from the seeds that the screening did not see. Pure.
void report(FrontResult& result);

/// Returns a table of the fronts and their areas, for a terminal.
std::string front_table(const FrontResult& result);
/// Returns search.json of fronts. Deterministic, like to_json(Summary).
std::string to_json(const FrontResult& result);
/// Writes search.csv of fronts with a line for each candidate.
void write_front_csv(std::ostream& out, const FrontResult& result);

/// Says whether a candidate is on the front of its family.
[[nodiscard]] bool on_front(const FrontResult::Verdict& verdict, std::size_t candidate);
/// Says whether a candidate is on a front of any objective.
[[nodiscard]] bool on_any_front(const FrontResult& result, std::size_t candidate);

}  // namespace outrider::lab
