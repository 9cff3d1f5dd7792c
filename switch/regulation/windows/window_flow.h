#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/core/sequence.h"
#include "switch/regulation/windows/flight_marks.h"
#include "switch/regulation/windows/floor_line.h"
#include "switch/regulation/windows/recent_minimum.h"
#include "switch/regulation/windows/tcp_view.h"
#include "switch/regulation/windows/window_probe.h"

namespace outrider {

/// Tracks one TCP connection as seen by a switch between its ends: what its handshake said,
/// what its sender has in flight, and how long a round trip takes without queueing.
/// *Data* segments pass the egress queue, *answers* come back through the port.
///
/// The flight is the sender's, not what is between this switch and the receiver. An answer
/// takes `up` to reach the sender and bring its data here. So data that arrive `up` after an
/// answer left were sent with that answer known. Few answers on their way are remembered
/// (`FlightMarks`), so the flight is overestimated by what a third of `up` acknowledges.
///
/// Anybody can send a segment with the addresses and ports of somebody else's connection.
/// Therefore a header changes nothing here unless a receiver would accept it (RFC 9293,
/// 3.10.7.4; RFC 5961): a SYN-ACK counts once, and only if it acknowledges the SYN that was
/// seen; data, FIN and RST count only within the window that the receiver has offered; an
/// acknowledgment counts only for what has passed. A SYN on an open connection counts once
/// that has been silent for kSilence. Who sees the segments, or guesses a number within the
/// window, is not kept out.
///
/// The round trip is the sum of two halves. Both begin with the handshake's and are the minima of
/// the latest samples from then on, so they follow a path that becomes longer or shorter:
/// * `down`: from a segment's departure to its acknowledgment. A later segment has to be on its way
///   too, because a receiver may keep the acknowledgment of a single one.
/// * `up`: from an answer with a new timestamp to the first data that echo it (`WindowProbe`).
///   Without timestamps the handshake's stays.
class WindowFlow {
 public:
  enum class Handshake : std::uint8_t {
    kNone,      ///< the first segment seen was data: the window scale is unknown
    kSyn,       ///< one SYN was seen
    kBothSyns,  ///< SYN and SYN-ACK were seen, the ACK that completes them was not
    kDone,
    kBarred,  ///< its segments are authenticated: rewriting would break them
  };

  /// A flow that was not heard of for so long may have ended unseen.
  static constexpr Duration kSilence = std::chrono::seconds(1);

  /// What a flow is taken to send until it has sent something.
  static constexpr std::uint32_t kDefaultSegment_bytes = 1448;
  static constexpr std::uint32_t kDefaultFrame_bytes = 1514;

  explicit WindowFlow(const FlowKey& data_flow = {}) noexcept : key(data_flow) {}

  /// Handles a segment of the data direction. @param departs when the queue will have sent it
  /// @return false if it lies outside what the receiver has offered: nothing has changed
  bool on_data(const TcpView& s, Time now, Time departs) noexcept;
  /// Handles a segment of the other direction, as it was before any rewriting.
  /// @return false if it acknowledges what has not passed here, or less than an answer
  /// before it, which the sender ignores as well: nothing has changed
  bool on_answer(const TcpView& s, Time now) noexcept;
  /// Notes that the answer's window reaches the sender as it is. @pre on_answer() took it
  void leave_alone(const TcpView& s) noexcept {
    const std::uint32_t told = edge_of(s.acknowledgment, s.window);
    edge = has_edge ? later_sequence(edge, told) : told;
    has_edge = true;
    told_window = s.window;
  }
  /// Returns true once if its sender has data to send although the SYN-ACK has not been seen here:
  /// then answers take another path. @pre a segment with payload passes
  bool note_unanswered() noexcept {
    if (handshake != Handshake::kSyn || answered_first || unanswered) return false;
    unanswered = true;
    return true;
  }
  /// Begins a new epoch of the largest flight if the current one is over.
  void roll(Time now, Duration epoch) noexcept {
    if (now - epoch_began_ < epoch) return;
    epoch_began_ = now;
    largest_before = largest_now;
    largest_now = 0;
    limited = false;
  }

  /// Returns whether its handshake was seen, and so both halves of its round trip.
  [[nodiscard]] bool known() const noexcept { return handshake == Handshake::kDone; }
  /// Returns the largest flight of this epoch and the last [bytes].
  [[nodiscard]] std::uint32_t largest_flight() const noexcept {
    return std::max(largest_now, largest_before);
  }
  /// Returns the payload that has passed and is not acknowledged [bytes].
  [[nodiscard]] std::uint32_t passed_unacknowledged() const noexcept {
    return static_cast<std::uint32_t>(std::max(sequence_distance(end, acknowledged), 0));
  }
  [[nodiscard]] bool recovering() const noexcept { return in_recovery; }
  /// Returns whether it has sent less so far. @pre sent_bytes < 2^63: a conversion of signed
  /// numbers is one instruction
  [[nodiscard]] bool sent_less_than(double bytes) const noexcept {
    return static_cast<double>(static_cast<std::int64_t>(sent_bytes)) < bytes;
  }
  /// Returns the payload bytes per byte that a queue sends.
  /// @param overhead_bytes of each frame, beyond its own bytes
  [[nodiscard]] double payload_share(std::uint32_t overhead_bytes) const noexcept {
    const bool has_sent = segment_bytes != 0;
    const std::uint32_t payload = has_sent ? segment_bytes : kDefaultSegment_bytes;
    const std::uint32_t frame = has_sent ? segment_frame_bytes : kDefaultFrame_bytes;
    return static_cast<double>(payload) / (frame + overhead_bytes);
  }
  /// Returns whether the sender has used its advertised window to the last segment.
  [[nodiscard]] bool at_edge() const noexcept {
    return has_edge && sequence_distance(edge, end) < static_cast<std::int32_t>(segment_bytes);
  }
  [[nodiscard]] std::optional<Duration> base_rtt() const noexcept {
    if (!up || !down) return std::nullopt;
    return *up + *down;
  }
  /// Returns the shift of the answers' window fields.
  [[nodiscard]] std::uint8_t scale() const noexcept { return scale_; }
  /// Returns the right edge that an answer advertises.
  [[nodiscard]] std::uint32_t edge_of(std::uint32_t acknowledgment,
                                      std::uint16_t window) const noexcept {
    return acknowledgment + (std::uint32_t{window} << scale_);
  }

  FlowKey key;
  Handshake handshake = Handshake::kNone;
  bool closing = false;            ///< FIN or RST in the data direction
  bool answered_first = false;     ///< its first SYN came from the receiver of the data
  bool unanswered = false;         ///< its answers take another path
  bool limited = false;            ///< this epoch its data reached the edge of a standing window
  bool duplicate = false;          ///< the last answer repeated the one before
  bool window_moved = false;       ///< the true window of the last answer differs from that before
  std::uint32_t end = 0;           ///< one past the highest data byte that has passed
  std::uint32_t acknowledged = 0;  ///< highest acknowledgment seen
  std::uint32_t edge = 0;          ///< furthest right edge that was advertised to the sender
  std::uint32_t recovery_end = 0;  ///< recovery ends when this sequence number is acknowledged
  bool has_edge = false;
  bool in_recovery = false;
  std::uint16_t true_window = 0;          ///< window field of the last answer, as received
  std::uint16_t told_window = 0;          ///< window field of the last answer, as forwarded
  std::uint16_t segment_bytes = 0;        ///< largest payload of a segment so far
  std::uint32_t segment_frame_bytes = 0;  ///< frame of that segment
  std::uint64_t sent_bytes = 0;           ///< new payload since the handshake
  std::uint32_t largest_now = 0, largest_before = 0;
  std::uint32_t held_bytes = 0;    ///< window at the last answer while regulated; 0: not held
  std::uint32_t summed_round = 0;  ///< last round in which its weight was added
  std::optional<Duration> up, down;
  Duration down_sample{};  ///< latest time from a segment's departure to its acknowledgment
  Time sampled_at{};       ///< when that came
  FloorLine floor;         ///< kept while it is held
  Time active_at{};
  Time held_at{};  ///< its last answer with a held window

 private:
  /// Offered by a SYN at most, whose window is never scaled (RFC 7323, 2.2).
  static constexpr std::uint32_t kUnscaledWindow = 65'535;

  // This gets a copy: a segment whose address is handed on would have to be in memory, and nearly
  // all segments have no SYN.
  void take_syn(TcpView s, bool data_direction, Time now) noexcept;
  void take_syn_ack(const TcpView& s, bool data_direction, Time now) noexcept;
  [[nodiscard]] bool may_begin_anew(Time now) const noexcept;
  [[nodiscard]] bool within_offer(const TcpView& s) const noexcept;
  void take_end(std::uint32_t sequence) noexcept;
  void take_payload(const TcpView& s, Time now, Time departs) noexcept;
  void take_up(Duration sample, Time now) noexcept {
    up_samples_.add(sample, now);
    up = up_samples_.value();
  }
  [[gnu::always_inline]] void take_down(Duration sample, Time now) noexcept {
    down_samples_.add(sample, now);
    down = down_samples_.value();
  }

  std::int8_t data_scale_ = -1;  ///< of a SYN; -1: it had none
  std::int8_t answer_scale_ = -1;
  std::uint8_t scale_ = 0;       ///< the receiver's, if both have one (RFC 7323, 2.2)
  std::uint32_t syn_next_ = 0;   ///< the number that acknowledges the SYN
  std::uint32_t true_edge_ = 0;  ///< furthest right edge that the receiver has offered
  Time epoch_began_{};
  Time syn_at_{};   ///< the latest SYN of either direction
  Time departs_{};  ///< when the timed segment leaves the queue
  FlightMarks marks_;
  std::uint32_t timed_end_ = 0;
  bool timed_ = false;
  WindowProbe probe_;
  RecentMinimum up_samples_, down_samples_;
};

// -- What each packet needs: inline, so that its header is not written to memory to be read there.

/// Between what the receiver has acknowledged and what it has offered. Without a handshake
/// nobody knows the window's scale, and the flow is left alone anyway.
inline bool WindowFlow::within_offer(const TcpView& s) const noexcept {
  if (handshake == Handshake::kNone || handshake == Handshake::kBarred) [[unlikely]]
    return true;
  return handshake != Handshake::kSyn &&
         sequence_distance(s.sequence + s.payload_bytes, acknowledged) >= 0 &&
         sequence_distance(s.sequence + s.payload_bytes, true_edge_) <= 0;
}

[[gnu::always_inline]] inline bool WindowFlow::on_data(const TcpView& s, Time now,
                                                       Time departs) noexcept {
  if (s.syn) [[unlikely]] {
    take_syn(s, true, now);
    return true;
  }
  if (!within_offer(s)) return false;
  if (handshake == Handshake::kBothSyns && !answered_first) [[unlikely]] {
    take_up(now - syn_at_, now);
    handshake = Handshake::kDone;
  }
  active_at = now;
  if (probe_.waits() && s.timestamps && s.payload_bytes != 0)
    if (const auto sample = probe_.take_echo(s, up, now)) take_up(*sample, now);
  if (s.payload_bytes != 0) take_payload(s, now, departs);
  if (s.fin || s.rst) [[unlikely]]
    take_end(s.sequence);
  return true;
}

[[gnu::always_inline]] inline void WindowFlow::take_payload(const TcpView& s, Time now,
                                                            Time departs) noexcept {
  if (s.payload_bytes > segment_bytes) [[unlikely]] {
    segment_bytes = s.payload_bytes;
    segment_frame_bytes = s.frame_bytes;
  }
  const std::uint32_t segment_end = s.sequence + s.payload_bytes;
  if (handshake == Handshake::kNone && sent_bytes == 0) [[unlikely]]
    end = acknowledged = s.sequence;
  probe_.on_data(now);
  const std::int32_t fresh = sequence_distance(segment_end, end);
  if (fresh <= 0) [[unlikely]] {  // a retransmission
    if (sequence_distance(segment_end, acknowledged) <= 0) return;
    in_recovery = true;
    recovery_end = end;
    timed_ = false;  // Karn's rule
    return;
  }
  closing = false;
  sent_bytes += static_cast<std::uint32_t>(fresh);
  end = segment_end;
  if (!timed_) {
    timed_ = true;
    timed_end_ = segment_end;
    departs_ = departs;
  }
  if (!up) return;
  marks_.pass(*up, now);
  if (!marks_.has_known()) return;
  const std::int32_t flight = sequence_distance(end, marks_.known());
  if (flight > 0) largest_now = std::max(largest_now, static_cast<std::uint32_t>(flight));
}

[[gnu::always_inline]] inline bool WindowFlow::on_answer(const TcpView& s, Time now) noexcept {
  if (s.syn) [[unlikely]] {
    take_syn(s, false, now);
    return true;
  }
  if (!s.ack) [[unlikely]]
    return true;
  const std::int32_t advance = sequence_distance(s.acknowledgment, acknowledged);
  const bool of_what_passed = advance >= 0 && sequence_distance(s.acknowledgment, end) <= 0;
  if (!of_what_passed && handshake != Handshake::kNone) return false;
  if (handshake == Handshake::kBothSyns && answered_first) [[unlikely]] {
    take_down(now - syn_at_, now);
    handshake = Handshake::kDone;
  }
  active_at = now;
  window_moved = s.window != true_window;
  true_window = s.window;
  true_edge_ = later_sequence(edge_of(s.acknowledgment, s.window), true_edge_);
  duplicate = advance == 0 && s.payload_bytes == 0 && passed_unacknowledged() > 0;
  if (!of_what_passed) return true;
  if (advance > 0) acknowledged = s.acknowledgment;
  assert(sequence_distance(acknowledged, end) <= 0);
  if (timed_ && sequence_distance(acknowledged, timed_end_) >= 0) {
    timed_ = false;
    down_sample = now - departs_;
    sampled_at = now;
    const bool delayed_perhaps = sequence_distance(end, timed_end_) == 0;
    if (down_sample > Duration::zero() && (!delayed_perhaps || !down || down_sample < *down))
      take_down(down_sample, now);
  }
  if (in_recovery && sequence_distance(acknowledged, recovery_end) >= 0) in_recovery = false;
  if (s.sack_blocks && passed_unacknowledged() > 0) [[unlikely]] {
    if (!in_recovery) recovery_end = end;
    in_recovery = true;
    timed_ = false;
  }
  if (s.timestamps && probe_.on_answer(s, advance > 0, kSilence, now)) probe_.begin(at_edge(), now);
  if (advance > 0) marks_.add(acknowledged, up, now);
  return true;
}

}  // namespace outrider
