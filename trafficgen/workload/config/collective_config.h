#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/config/checks.h"
#include "common/config/config_binding.h"

namespace outrider::tg {

/// Who sends what to whom in an iteration. All but the first are among the workers alone.
enum class Collective : std::uint8_t {
  kPs,               ///< parameter servers
  kRing,             ///< all-reduce in a ring
  kHalvingDoubling,  ///< all-reduce by recursive halving and doubling
  kTree,             ///< all-reduce on a binomial tree
  kAllToAll,         ///< everybody to everybody, as a mixture of experts
  kPipeline,         ///< activations and gradients between the stages of a pipeline
  kSteps,            ///< computations and collectives of a list, job.steps
};

/// [job.all_to_all]
struct AllToAllConfig {
  double skew = 0;  ///< exponent of Zipf's law of the experts' loads, >= 0
  bool operator==(const AllToAllConfig&) const = default;
};

/// [job.pipeline]
struct PipelineConfig {
  std::optional<std::uint32_t> micro_batches{};  ///< > 0; absent: 4 for each stage
  bool operator==(const PipelineConfig&) const = default;
};

[[nodiscard]] constexpr bool has_servers(Collective c) noexcept { return c == Collective::kPs; }
/// Returns true if every worker ends with the sum of all gradients.
[[nodiscard]] constexpr bool is_all_reduce(Collective c) noexcept {
  return c == Collective::kRing || c == Collective::kHalvingDoubling || c == Collective::kTree;
}
/// Returns how many pairs of workers send to each other, each direction counted, at most.
/// @pre no servers
[[nodiscard]] constexpr std::uint64_t lanes_among(Collective c, std::uint64_t workers) noexcept {
  if (workers < 2) return 0;
  const std::uint64_t core = std::bit_floor(workers);
  switch (c) {
    case Collective::kHalvingDoubling:
      return core * static_cast<std::uint64_t>(std::countr_zero(core)) + 2 * (workers - core);
    case Collective::kTree:
    case Collective::kPipeline:
      return 2 * (workers - 1);
    case Collective::kAllToAll:
    case Collective::kSteps:  // the list may have all of them
      return workers * (workers - 1);
    case Collective::kPs:
    case Collective::kRing:
      break;
  }
  return workers;
}

inline constexpr auto kCollectives =
    choices<Collective>({{"ps", Collective::kPs},
                         {"ring", Collective::kRing},
                         {"halving_doubling", Collective::kHalvingDoubling},
                         {"tree", Collective::kTree},
                         {"all_to_all", Collective::kAllToAll},
                         {"pipeline", Collective::kPipeline},
                         {"steps", Collective::kSteps}});

/// Returns the name of a collective in configurations.
[[nodiscard]] constexpr std::string_view name_of(Collective c) noexcept {
  for (const auto& choice : kCollectives)
    if (choice.value == c) return choice.name;
  return {};
}

void describe(Settings& v, AllToAllConfig& c);
void describe(Settings& v, PipelineConfig& c);

}  // namespace outrider::tg
