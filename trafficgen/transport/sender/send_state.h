#pragma once

#include <cstdint>

#include "trafficgen/transport/memory/tcp_context.h"
#include "trafficgen/transport/sender/congestion_window.h"
#include "trafficgen/transport/sender/retransmission_timer.h"
#include "trafficgen/transport/sender/scoreboard.h"
#include "trafficgen/transport/sender/send_stream.h"
#include "trafficgen/transport/sender/tail_loss_probe.h"

namespace outrider::tg {

/// What each step of a sender asks. Each part of it has one owner, which decides.
///
/// Members are in the order of use: those that every segment touches share cache lines. A member
/// with [[no_unique_address]] lends its tail padding to the members that follow it.
struct SendState {
  SendState(const TcpContext& c, std::uint32_t initial_sequence) noexcept
      : context(c),
        stream(initial_sequence, static_cast<std::uint16_t>(c.config.mss_bytes)),
        timer(c.config),
        window(c.config) {}

  /// See CongestionWindow::past_reduction().
  [[nodiscard]] int past_reduction() const noexcept {
    return window.past_reduction(scoreboard.flight(), stream.una());
  }

  /// Returns true if no further segment fits into the window.
  [[nodiscard]] bool window_filled() const noexcept {
    return scoreboard.pipe_bytes() + stream.mss_bytes() > window.bytes();
  }

  TcpContext context;  ///< shared by both halves of the connection
  [[no_unique_address]] SendStream stream;
  bool sack : 1 = false;  ///< negotiated
  bool timestamps : 1 = false;
  bool by_time : 1 = false;  ///< RACK-TLP is in use
  bool joins : 1 = false;    ///< segments are joined to bursts
  bool shaped : 1 = false;   ///< they are, or paced
  Scoreboard scoreboard;
  RetransmissionTimer timer;
  [[no_unique_address]] CongestionWindow window;
  TailLossProbe tail_probe;
};

}  // namespace outrider::tg
