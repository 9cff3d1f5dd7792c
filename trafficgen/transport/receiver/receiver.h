#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/base/timestamps.h"
#include "trafficgen/transport/memory/tcp_context.h"
#include "trafficgen/transport/receiver/ecn_echo.h"
#include "trafficgen/transport/receiver/out_of_order.h"
#include "trafficgen/transport/receiver/receive_window.h"

namespace outrider::tg {

/// The receiving half of a connection. It decides what is accepted, when to acknowledge, and what
/// the acknowledgment contains. ReceiveWindow owns numbers and window, OutOfOrder what cannot be
/// delivered or reported yet, EcnEcho the echo of marks. Offsets count from the first data byte;
/// the FIN takes one. Not thread-safe. Nothing allocates: data out of order is recorded in memory
/// borrowed from the context's pools, which is given back when the data is delivered.
///
/// Sources: RFC 9293, 3.10.7.4 (acceptance); RFC 5681, 4.2 (delayed ACK: at once for the n-th
/// segment, data out of order and data that fills a hole; quick ACKs at the begin, as in Linux);
/// RFC 2018 (SACK); RFC 3168 and RFC 8257, 3.2 (ECN); RFC 7323, 3 to 5 (timestamps, PAWS).
/// Deviations: every data segment counts towards the n-th, not only full ones. SACK blocks travel
/// on pure ACKs only, so that data segments keep their size. TS.Recent does not expire (RFC
/// 7323, 5.5), because no connection here is idle for 24 days. A segment that reaches beyond the
/// window is refused as a whole (3.10.7.4 would take what fits).
class TcpReceiver {
 public:
  /// @pre config: receive_buffer_bytes in (0, 2^30], delayed_ack > 0, ack_every_segments > 0
  /// @param context must outlive the receiver
  TcpReceiver(TcpContext& context, bool per_packet_echo) noexcept;
  ~TcpReceiver() { out_of_order_.give_back(context_.memory); }
  TcpReceiver(const TcpReceiver&) = delete;
  TcpReceiver& operator=(const TcpReceiver&) = delete;

  /// What the handshake has agreed on.
  struct Peer {
    std::uint32_t initial_sequence = 0;
    bool ecn = false;
    bool sack = false;
    bool window_scale = true;                  ///< its SYN had the option (RFC 7323, 2.2)
    std::optional<std::uint32_t> timestamp{};  ///< TSval of its SYN, if both SYNs had one
  };
  /// Begins the stream after the peer's SYN was accepted.
  void start(const Peer& peer) noexcept;
  [[nodiscard]] const ReceiveWindow& window() const noexcept { return window_; }

  /// Returns TS.Recent of RFC 7323, 4.3; nothing if there are no timestamps.
  [[nodiscard]] std::optional<std::uint32_t> ts_recent() const noexcept {
    return timestamps_ ? std::optional(ts_recent_) : std::nullopt;
  }
  /// Checks PAWS (RFC 7323, 5.3, R1). Returns false for an old duplicate, which must be
  /// acknowledged and dropped, and for a segment without the option (3.2). RSTs always pass.
  [[nodiscard]] bool timely(const TcpSegment& s) noexcept {
    if (!timestamps_ || s.has(kTcpRst)) return true;
    const bool late = TimestampClock::before(s.ts_value, ts_recent_);
    if (s.has_timestamps && !late) [[likely]]
      return true;
    TcpEvents& events = context_.memory.events;
    ++(s.has_timestamps ? events.paws_rejected : events.without_timestamp);
    if (s.has_timestamps) acknowledge_now();
    return false;
  }
  /// Updates TS.Recent if the segment begins at or below the last ACK (RFC 7323, 4.3, (2)).
  /// @pre window().acceptable(s), timely(s), and the acknowledgment of `s` is possible: the RFC
  /// does not ask for the last, but one forged segment could have all that follows refused. Linux
  /// judges so too (tcp_ack() before tcp_replace_ts_recent()).
  void note_timestamp(const TcpSegment& s) noexcept {
    if (!timestamps_ || !s.has_timestamps) return;
    if (window_.offset(s.sequence) <= static_cast<std::int64_t>(window_.last_told()))
      ts_recent_ = s.ts_value;
  }
  /// Writes the option into a segment that leaves now.
  void stamp(TcpSegment& s, Time now) const noexcept {
    if (!timestamps_) return;
    s.has_timestamps = true;
    s.ts_value = TimestampClock::at(now);
    s.ts_echo = ts_recent_;
  }

  /// Takes the data of a segment that continues the stream while nothing is missing, as most do
  /// (header prediction of Van Jacobson). on_segment() would do the same and ask more.
  /// @return false if it is not such a segment: then nothing has changed
  [[nodiscard]] bool take_next(const TcpSegment& s, Time now) noexcept {
    const bool next = s.sequence == window_.next_sequence() && s.payload_bytes != 0 &&
                      !s.has(kTcpFin) && fin_ == kNoFin && out_of_order_.no_holes() &&
                      !window_.read_at_a_rate();
    if (!next) [[unlikely]]
      return false;
    echo(s);
    accept_next(window_.next() + s.payload_bytes, now);
    return true;
  }
  /// Takes data and FIN of an acceptable segment. @return true if the stream advanced
  bool on_segment(const TcpSegment& s, Time now) noexcept;
  void on_timer(Time now) noexcept {
    if (now >= deadline_) acknowledge_now();
  }
  void acknowledge_now() noexcept {
    due_ = true;
    deadline_ = kNever;
  }

  [[nodiscard]] bool ack_due() const noexcept { return due_; }
  [[nodiscard]] Time ack_deadline() const noexcept { return deadline_; }
  /// Returns true if the due ACK must be a pure ACK, because it reports SACK or an earlier ECE
  /// state.
  [[nodiscard]] bool ack_due_alone() const noexcept { return due_ && out_of_order_.any(); }
  /// Writes acknowledgment, window, ECE and SACK into a pure ACK, which leaves now.
  void fill_pure_ack(TcpSegment& s, Time now) noexcept;
  void fill_piggyback(TcpSegment& s, Time now) noexcept {
    assert(!ack_due_alone());
    tell(s, window_.next(), echo_.ece(), now);
    acknowledged(now);
  }

  /// Returns how much has arrived in order.
  [[nodiscard]] std::uint64_t delivered_bytes() const noexcept {
    return window_.next() - (fin_received() ? 1 : 0);
  }
  /// Returns true if the peer has closed its direction and all of its stream has been delivered.
  [[nodiscard]] bool fin_received() const noexcept { return window_.next() > fin_; }

 private:
  static constexpr std::uint64_t kNoFin = UINT64_MAX;

  bool accept(std::uint64_t begin, std::uint64_t end, Time now) noexcept;
  /// Takes data that ends at `end` and continues the stream.
  void accept_next(std::uint64_t end, Time now) noexcept {
    window_.advance(end);
    if (++unacknowledged_ >= context_.config.ack_every_segments) acknowledge_now();
    else if (!due_) deadline_ = std::min(deadline_, now + context_.config.delayed_ack);
  }
  void echo(const TcpSegment& s) noexcept {
    ++context_.memory.events.data_received;
    const bool ce = s.ecn == Ecn::kCe;
    if (ce) ++context_.counters.ce_received;
    if (echo_.changes(ce)) [[unlikely]] {
      // Keeps an acknowledgment of what came before the mark changed.
      out_of_order_.keep_ack({window_.next(), echo_.ece()}, window_.last_told(), context_.memory);
      acknowledge_now();
    }
    echo_.on_data(ce, s.has(kTcpCwr));
  }
  /// Notes that everything due has been acknowledged.
  void acknowledged(Time now) noexcept {
    unacknowledged_ = 0;
    if (quick_acks_left_ != 0) [[unlikely]]
      take_quick_ack();
    due_ = false;
    deadline_ = kNever;
    if (window_.read_at_a_rate() && !fin_received()) [[unlikely]]
      deadline_ = window_.update_at(context_.config, now);
  }
  /// Makes the next segment one that is acknowledged at once.
  void take_quick_ack() noexcept {
    --quick_acks_left_;
    unacknowledged_ = static_cast<std::uint8_t>(context_.config.ack_every_segments - 1);
  }
  /// Writes acknowledgment, window and ECE.
  void tell(TcpSegment& s, std::uint64_t next, bool ece, Time now) noexcept {
    s.flags |= kTcpAck;
    s.acknowledgment = window_.numbers().wire(next);
    window_.tell(next, context_.config, now);
    s.window = window_.field();
    if (ece) s.flags |= kTcpEce;
  }

  // A member with [[no_unique_address]] lends its tail padding to the members that follow it.
  TcpContext& context_;
  [[no_unique_address]] ReceiveWindow window_;
  std::uint8_t unacknowledged_ = 0;       ///< in-order data segments since the last ACK
  std::uint8_t quick_acks_left_ : 5 = 0;  ///< without the next segment's
  bool due_ : 1 = false;
  bool sack_ : 1 = false;
  bool timestamps_ : 1 = false;
  EcnEcho echo_;
  std::uint32_t ts_recent_ = 0;  ///< TS.Recent of RFC 7323, 4.3
  Time deadline_ = kNever;       ///< of the delayed ACK, or of a window update
  OutOfOrder out_of_order_;
  std::uint64_t fin_ = kNoFin;  ///< offset of the FIN, once any segment carried it
};

}  // namespace outrider::tg
