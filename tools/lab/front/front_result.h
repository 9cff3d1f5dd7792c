#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "tools/lab/experiment/front_file.h"
#include "tools/lab/front/front_search.h"
#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// What `outrider-lab front` has found.
struct FrontResult {
  struct Round {
    std::uint32_t seeds = 0;     ///< of each candidate, in all
    std::size_t candidates = 0;  ///< that had them
  };
  std::string experiment;
  std::string question;
  FrontSettings settings;
  std::vector<Round> rounds{};
  std::vector<FrontCandidate> candidates{};
  std::vector<FrontEstimate> estimates{};  ///< [candidates]
  std::vector<SystemFront> systems{};
  std::vector<FrontSample> alone{};  ///< [seeds], of off
};

/// "off", every other [[arm]] as a baseline of its own, and the systems' arms, in this order.
std::vector<FrontCandidate> candidates_of(const FrontFile& file);

/// Fills the samples of `result` from runs: their costs, and alone from off's. Pure.
/// @param runs in the order of the plan; of every seed they have the first ones
void take_samples(const std::vector<CaseRun>& runs, FrontResult& result);

/// Estimates from the samples, and fronts of those that have all seeds. Pure.
void evaluate(FrontResult& result);

/// For a terminal: what is on a front, and the areas.
std::string front_table(const FrontResult& result);
/// front.json. Deterministic, as to_json(Summary).
std::string to_json(const FrontResult& result);
/// front.csv: a line for each candidate.
void write_front_csv(std::ostream& out, const FrontResult& result);

/// Of the candidate, among the systems' fronts.
[[nodiscard]] bool on_front(const FrontResult& result, std::size_t candidate);

}  // namespace outrider::lab
