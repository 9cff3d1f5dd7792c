#include "tools/lab/summary/earlier_results.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

namespace outrider::lab {
namespace {

using nlohmann::json;

/// @return nothing if the text is no summary.json
std::optional<ResultsScope> scope_of(const json& summary) {
  try {
    ResultsScope scope{.experiment = summary.at("experiment").get<std::string>(),
                       .runtime = summary.at("runtime").get<std::string>(),
                       .seeds = {},
                       .cases = summary.at("cases").size()};
    for (const auto& one : summary.at("cases"))
      scope.seeds.insert(one.at("seed").get<std::uint64_t>());
    return scope;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string seeds_text(const std::vector<std::uint64_t>& seeds) {
  if (seeds.size() == 1) return "seed " + std::to_string(seeds.front());
  const bool row = seeds.back() - seeds.front() + 1 == seeds.size();
  return (row ? "seeds " : std::to_string(seeds.size()) + " seeds from ") +
         std::to_string(seeds.front()) + " to " + std::to_string(seeds.back());
}

}  // namespace

std::optional<std::string> lost_results(const std::filesystem::path& directory,
                                        const ResultsScope& next) {
  std::ifstream in(directory / "summary.json", std::ios::binary);
  if (!in) return std::nullopt;
  const auto earlier = scope_of(json::parse(in, nullptr, false));
  if (!earlier) return "has a summary.json that is not of outrider-lab";
  if (earlier->experiment != next.experiment)
    return "has results of the experiment \"" + earlier->experiment + "\"";
  if (earlier->runtime != next.runtime) return "has results of the runtime " + earlier->runtime;
  std::vector<std::uint64_t> lost;
  std::ranges::set_difference(earlier->seeds, next.seeds, std::back_inserter(lost));
  if (!lost.empty()) return "has " + seeds_text(lost) + ", which this run does not make";
  if (earlier->cases > next.cases)
    return "has " + std::to_string(earlier->cases) + " cases, and this run makes " +
           std::to_string(next.cases);
  return std::nullopt;
}

}  // namespace outrider::lab
