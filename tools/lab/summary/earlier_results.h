#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

namespace outrider::lab {

/// What a summary.json has, or will have.
struct ResultsScope {
  std::string experiment;
  std::string runtime;
  std::set<std::uint64_t> seeds;
  std::size_t cases = 0;
};

/// Returns what would be lost if results of this scope took the place of those in `directory`:
/// another experiment's or runtime's, seeds that the new ones lack, or more cases than they have.
/// Nothing would be if there is no summary.json, or the new results are as many of the same.
/// @return a clause for a message, such as "has seeds 4 to 30, which this run does not make"
std::optional<std::string> lost_results(const std::filesystem::path& directory,
                                        const ResultsScope& next);

}  // namespace outrider::lab
