#pragma once

#include <cstdint>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"

namespace outrider::tg {

/// The source of a packet's rank by magnitude within its tensor.
enum class Magnitudes : std::uint8_t {
  kDrawn,     ///< uniform, drawn for each burst: nothing is learnt
  kGradient,  ///< the job's learner: mean |g| of the packet's gradients
};

inline constexpr auto kMagnitudes =
    choices<Magnitudes>({{"drawn", Magnitudes::kDrawn}, {"gradient", Magnitudes::kGradient}});

/// The order in which the packets of a tensor leave for the first time.
enum class PacketOrder : std::uint8_t {
  kSequential,
  kRandom,  ///< a permutation that is drawn for each burst: what STOP leaves is a random sample
};

inline constexpr auto kPacketOrders = choices<PacketOrder>(
    {{"sequential", PacketOrder::kSequential}, {"random", PacketOrder::kRandom}});

/// [transport.mlt]: settings of the bounded-loss transport besides a controller's.
struct MltConfig {
  /// Share of each tensor that a receiver may do without, in [0, 1); 0: nothing. `tolerance_push`
  /// is for pushed gradients, `tolerance_pull`, which must not be larger, for pulled parameters.
  double tolerance_push = 0.01;
  double tolerance_pull = 0;
  Duration probe_timeout = std::chrono::milliseconds(10);  ///< shortest silence that causes a probe
  std::uint32_t probe_limit = 10;      ///< unanswered probes before the sender gives up, > 0
  std::uint32_t feedback_packets = 2;  ///< DATA packets from one FEEDBACK to the next, > 0
  /// DSCPs of the classes of layers, the most urgent (front) class first. Layers are divided evenly
  /// among the classes. Empty: one class with DSCP 0.
  std::vector<std::uint32_t> class_dscps{};
  double front_share = 0;  ///< share of layers, from the front, whose packets are Not-ECT
  double small_share = 0;  ///< share of a tensor's packets, smallest first, that are Not-ECT
  PacketOrder order = PacketOrder::kSequential;
  Magnitudes magnitudes = Magnitudes::kDrawn;  ///< of gradients; parameters' are always drawn

  bool operator==(const MltConfig&) const = default;
};

void check(const Checks& at, const MltConfig& mlt);

void describe(Settings& v, MltConfig& c);

}  // namespace outrider::tg
