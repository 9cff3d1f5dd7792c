#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/lab/search/best_arms.h"
#include "tools/lab/summary/results.h"

namespace outrider::lab {

using SearchJson = nlohmann::ordered_json;

/// Arms at a point, and by what rule they are judged.
struct BestPoint {
  std::string name;       ///< of the result, and of the point if it has several
  std::string objective;  ///< name of a metric
  BestRule rule{};
  BestArms arms{};  ///< the baseline first
};

/// Metrics by which arms are judged beside the objective.
inline constexpr const char* kP99OfBest = "communication_p99_over_alone_median";
inline constexpr const char* kLostOfBest = "background_bytes_lost_per_burst_byte";
inline constexpr const char* kShortOfBest = "small_flow_completion_seconds_p99";

/// Returns the points of a result.
/// @param name  of the result  @param search  search.json of a search
/// for the best, which has families and rule; null: arms have no families, and the rule is `rule`
/// @param arms  labels, of which one that ends with "*" stands for all that begin so; the baseline
/// is taken in any case; empty: all
/// @throws std::out_of_range if a point has no arm `off`
std::vector<BestPoint> points_of(const std::string& name, const Results& results,
                                 const SearchJson& search, const BestRule& rule,
                                 const std::vector<std::string>& arms);

/// Returns what is best at each point, for a terminal.
std::string best_text(const std::vector<BestPoint>& points);
/// Returns the same as tables for a page: what is best at each point, and the best of each family
/// if there are families.
std::string best_markdown(const std::vector<BestPoint>& points);

}  // namespace outrider::lab
