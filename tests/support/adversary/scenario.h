#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/dumbbell.h"

namespace outrider {

/// What an adversary or bad luck does to the small network of an AdversarySimulation.
enum class Harm : std::uint8_t {
  kForge,            ///< STARTs in a worker's name; choice 0: of its flow, else of random ports
  kReplay,           ///< STARTs that were seen are sent again; signed ones are altered as well
  kFlood,            ///< the same START from an address of its own
  kRotatePorts,      ///< STARTs from an address of its own, of ever new flows
  kRotateAddresses,  ///< STARTs from 1 + choice addresses
  kSpoof,            ///< DDL payload in a worker's name that the worker never sent
  kInject,           ///< TCP segments into others' flows, see Aim
  kCheat,            ///< announces bursts and sends other ones, or none
  kLoss,             ///< `count` of 1,000 packets are lost on hosts' wires for `gap_us`
  kDuplicate,        ///< likewise
  kReorder,          ///< likewise
  kKill,             ///< a worker is silent from now on
  kDrainPool,        ///< only `count` buffers are left for `gap_us`
  kLinkDown,         ///< the trunk, or a host's wire, carries nothing for `gap_us`
  kRestart,          ///< a switch loses all that it knows and holds
  kReload,           ///< the regulation policy changes
  kClump,            ///< 32 x `count` bursts that are due at one instant, from many addresses
};
inline constexpr std::size_t kHarms = 17;

/// Which numbers a forged TCP segment has: `choice` of kInject, modulo three.
enum class Aim : std::uint8_t {
  kBlind,     ///< random ones
  kNearMiss,  ///< just below the window, or a window's length above it
  kInsider,   ///< within the window: nobody is kept out who sees the segments
};

/// One act. Its random draws depend on `draw` alone, so that it does the same whatever other
/// acts there are.
struct HarmfulAct {
  Harm kind = Harm::kForge;
  std::uint32_t at_us = 0;   ///< when it begins
  std::uint32_t count = 1;   ///< packets, or what the kind says
  std::uint32_t gap_us = 0;  ///< from packet to packet, or what the kind says
  std::uint32_t choice = 0;
  std::uint32_t draw = 0;
  bool operator==(const HarmfulAct&) const = default;
};

/// A whole run: the seed draws the network, the acts are what is done to it.
struct Scenario {
  std::uint64_t seed = 0;
  std::vector<HarmfulAct> acts;
  bool operator==(const Scenario&) const = default;
};

/// From the beginning of a kClump to the instant at which its bursts are due.
inline constexpr std::uint32_t kClumpDueAfter_us = 30'000;

inline constexpr std::uint32_t kAttackEnd_us = 320'000;  ///< no act begins later

/// Draws the acts of a seed.
[[nodiscard]] Scenario draw_scenario(std::uint64_t seed);

/// The network of a seed: configurations that are valid.
struct DrawnNetwork {
  sw::SwitchProcessConfig switches;  ///< "left.trunk" regulates; ports "x" and "y" are strangers'
  tg::GeneratorConfig traffic;
  std::map<std::string, SignalKey> keys{};  ///< by the name in a job's signal_key
};
[[nodiscard]] DrawnNetwork draw_network(std::uint64_t seed);
/// Draws another policy that a reload may bring about.
[[nodiscard]] RegulationPolicy other_policy(const RegulationPolicy& now, std::uint32_t draw);

/// Writes a scenario in one line, such as "seed 7; forge 12000 40 500 1 99".
[[nodiscard]] std::string to_text(const Scenario& scenario);
/// Reads what to_text() wrote. @throws std::invalid_argument
[[nodiscard]] Scenario scenario_from(std::string_view text);

}  // namespace outrider
