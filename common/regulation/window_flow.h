#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/core/tcp_view.h"
#include "common/regulation/floor_line.h"

namespace outrider {

/// Tracks one TCP connection as seen by a switch between its ends: what its handshake said,
/// what its sender has in flight, and how long a round trip takes without queueing.
/// *Data* segments pass the egress queue, *answers* come back through the port.
///
/// The flight is the sender's, not what is between this switch and the receiver. An answer
/// takes `up` to reach the sender and bring its data here. So data that arrive `up` after an
/// answer left were sent with that answer known. A few answers on their way are remembered,
/// a third of `up` apart, so the flight is overestimated by what a third of `up`
/// acknowledges.
///
/// Anybody can send a segment with the addresses and ports of somebody else's connection.
/// Therefore a header changes nothing here unless a receiver would accept it (RFC 9293,
/// 3.10.7.4; RFC 5961): a SYN-ACK counts once, and only if it acknowledges the SYN that was
/// seen; data, FIN and RST count only within the window that the receiver has offered; an
/// acknowledgment counts only for what has passed. A SYN on an open connection counts once
/// that has been silent for kSilence. Who sees the segments, or guesses a number within the
/// window, is not kept out.
///
/// The round trip is the sum of two halves: `up`, from the handshake, and `down`, the
/// shortest time from a segment's departure to its acknowledgment. Both are minima: if the
/// path becomes longer, the measured round trip stays too short.
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

  explicit WindowFlow(const FlowKey& data_flow = {}) noexcept : key(data_flow) {}

  /// Handles a segment of the data direction. @param departs when the queue will have sent it
  /// @return false if it lies outside what the receiver has offered: nothing has changed
  bool on_data(const TcpView& s, Time now, Time departs) noexcept;
  /// Handles a segment of the other direction, as it was before any rewriting.
  /// @return false if it acknowledges what has not passed here, or less than an answer
  /// before it, which the sender ignores as well: nothing has changed
  bool on_answer(const TcpView& s, Time now) noexcept;
  /// Notes that the answer's window reaches the sender as it is. @pre on_answer() took it
  void leave_alone(const TcpView& s) noexcept;
  /// Begins a new epoch of the largest flight if the current one is over.
  void roll(Time now, Duration epoch) noexcept;

  [[nodiscard]] bool known() const noexcept { return handshake == Handshake::kDone; }
  /// Returns the largest flight of this epoch and the last [bytes].
  [[nodiscard]] std::uint32_t largest_flight() const noexcept {
    return std::max(largest_now, largest_before);
  }
  /// Returns the payload that has passed and is not acknowledged [bytes].
  [[nodiscard]] std::uint32_t passed_unacknowledged() const noexcept;
  [[nodiscard]] bool recovering() const noexcept { return in_recovery; }
  /// Returns whether the sender has used its advertised window to the last segment.
  [[nodiscard]] bool at_edge() const noexcept;
  [[nodiscard]] std::optional<Duration> base_rtt() const noexcept {
    if (!up || !down) return std::nullopt;
    return *up + *down;
  }
  [[nodiscard]] std::uint8_t scale() const noexcept {
    return data_scale >= 0 && answer_scale >= 0 ? static_cast<std::uint8_t>(answer_scale) : 0;
  }

  FlowKey key;
  Handshake handshake = Handshake::kNone;
  bool closing = false;         ///< FIN or RST in the data direction
  bool answered_first = false;  ///< its first SYN came from the receiver of the data
  bool limited = false;         ///< this epoch its data reached the edge of a standing window
  bool duplicate = false;       ///< the last answer repeated the one before
  bool window_moved = false;    ///< the true window of the last answer differs from that before
  std::int8_t data_scale = -1;
  std::int8_t answer_scale = -1;
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
  FloorLine floor;  ///< kept while it is held
  Time active_at{};

 private:
  /// Offered by a SYN at most, whose window is never scaled (RFC 7323, 2.2).
  static constexpr std::uint32_t kUnscaledWindow = 65'535;

  void take_syn(const TcpView& s, bool data_direction, Time now) noexcept;
  void take_syn_ack(const TcpView& s, bool data_direction, Time now) noexcept;
  [[nodiscard]] bool may_begin_anew(Time now) const noexcept;
  [[nodiscard]] bool within_offer(const TcpView& s) const noexcept;
  void take_end(const TcpView& s) noexcept;
  void take_payload(const TcpView& s, Time now, Time departs) noexcept;
  struct Mark {
    Time at{};
    std::uint32_t acknowledged = 0;
  };
  static constexpr std::uint32_t kMarks = 4;  ///< the latest, and older ones a third of `up` apart

  void sample_flight(Time now) noexcept;
  void note_answer(Time now) noexcept;

  std::uint32_t syn_next_ = 0;   ///< the number that acknowledges the SYN
  std::uint32_t true_edge_ = 0;  ///< furthest right edge that the receiver has offered
  Time epoch_began_{};
  Time syn_at_{};                         ///< the latest SYN of either direction
  Time departs_{};                        ///< when the timed segment leaves the queue
  std::array<Mark, kMarks> marks_{};      ///< answers on their way to the sender, oldest first
  std::uint32_t known_acknowledged_ = 0;  ///< acknowledgment that the sender of arriving data knew
  std::uint32_t timed_end_ = 0;
  std::uint8_t marks_used_ = 0;
  bool has_known_ = false;
  bool timed_ = false;
};

}  // namespace outrider
