#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace outrider::tg {

class CongestionControl;
struct ControllerConfig;

/// Makes a controller in `space`, which has ControllerSlot::kBytes bytes.
/// @param config must outlive the controller @param mss_bytes payload of the connection's full
/// segments, > 0
using MakeController = CongestionControl*(std::byte* space, const ControllerConfig& config,
                                          std::uint16_t mss_bytes) noexcept;

// The list of congestion controllers. To add one, write its class, whose .cc defines the maker with
// put_controller() of controller_slot.h, and add its kind, maker and row here. The configuration,
// its checks and the ends of a connection read the row.

enum class Controller : std::uint8_t { kReno, kCubic, kDctcp, kUnresponsive, kPrague, kTimely };

MakeController make_reno, make_cubic, make_dctcp, make_unresponsive, make_prague, make_timely;

/// Describes a controller for code that does not make one.
struct ControllerRow {
  Controller kind;
  std::string_view name;  ///< in the configuration
  MakeController* make;
  /// The peer echoes each packet's mark (RFC 8257) instead of setting ECE until CWR (RFC 3168). The
  /// controller needs ECN.
  bool accurate_ecn_echo = false;
  /// The bounded-loss transport may use it: a loss does not halve the window.
  bool tolerates_loss = false;
  bool mltcp = false;  ///< MLTCP may scale its growth: it has note_share()
};

/// The rows, in the order of their kinds.
inline constexpr std::array kControllerRows{
    ControllerRow{Controller::kReno, "reno", make_reno, false, false, true},
    ControllerRow{Controller::kCubic, "cubic", make_cubic, false, false, true},
    ControllerRow{Controller::kDctcp, "dctcp", make_dctcp, true, true},
    ControllerRow{Controller::kUnresponsive, "unresponsive", make_unresponsive},
    ControllerRow{Controller::kPrague, "prague", make_prague, true},
    ControllerRow{Controller::kTimely, "timely", make_timely, false, true},
};

[[nodiscard]] constexpr const ControllerRow& row_of(Controller kind) noexcept {
  return kControllerRows[static_cast<std::size_t>(kind)];
}

static_assert(
    [] {
      for (std::size_t i = 0; i < kControllerRows.size(); ++i)
        if (static_cast<std::size_t>(kControllerRows[i].kind) != i) return false;
      return true;
    }(),
    "row_of() finds a row by its kind");

}  // namespace outrider::tg
