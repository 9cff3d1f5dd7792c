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

/// One TCP connection as a switch between its ends sees it: what its handshake said,
/// what its sender has in flight, and how long a round trip takes without queueing.
/// *Data* segments pass the egress queue, *answers* come back through the port.
///
/// Flight is the sender's, not what is between here and the receiver: an answer takes
/// `up` to reach the sender and have its data here, so what arrives `up` after an answer
/// left with that answer known. A few answers on their way are remembered, a third of
/// `up` apart, so that it is measured too large by what a third of `up` acknowledges.
///
/// The round trip is the sum of two halves: `up`, from the handshake, and `down`, the
/// shortest time from a segment's departure to its acknowledgment. Both are minima: a
/// path that becomes longer is measured too short.
class WindowFlow {
 public:
  enum class Handshake : std::uint8_t {
    kNone,      ///< the first that was seen is data: the scale is unknown
    kSyn,       ///< one SYN
    kBothSyns,  ///< SYN and its answer; the ACK that completes it is missing
    kDone,
    kBarred,  ///< authenticated: rewriting would break it
  };

  explicit WindowFlow(const FlowKey& data_flow = {}) noexcept : key(data_flow) {}

  /// A segment of the data direction. @param departs when the queue will be through with it
  void on_data(const TcpView& s, Time now, Time departs) noexcept;
  /// A segment of the other direction. @pre the state is that before any rewriting
  void on_answer(const TcpView& s, Time now) noexcept;
  /// Begins a new epoch of the largest flight if the last one is over.
  void roll(Time now, Duration epoch) noexcept;

  [[nodiscard]] bool known() const noexcept { return handshake == Handshake::kDone; }
  /// Largest of this epoch and the last [bytes].
  [[nodiscard]] std::uint32_t largest_flight() const noexcept {
    return std::max(largest_now, largest_before);
  }
  /// Payload that has passed and is not acknowledged.
  [[nodiscard]] std::uint32_t passed_unacknowledged() const noexcept;
  [[nodiscard]] bool recovering() const noexcept { return in_recovery; }
  /// The sender has used what it was told to the last segment.
  [[nodiscard]] bool at_edge() const noexcept;
  /// Data without any answer: it comes back another way.
  [[nodiscard]] bool unanswered() const noexcept {
    return answers == 0 && sent_bytes > kUnansweredBytes;
  }
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
  bool answered_first = false;  ///< its first SYN came from the receiver
  bool limited = false;         ///< this epoch its data came up to the edge of a standing window
  bool duplicate = false;       ///< the last answer repeated the one before
  bool window_moved = false;    ///< the last answer told another true window than the one before
  std::int8_t data_scale = -1;
  std::int8_t answer_scale = -1;
  std::uint32_t end = 0;           ///< one past the highest data byte that has passed
  std::uint32_t acknowledged = 0;  ///< highest
  std::uint32_t edge = 0;          ///< furthest right edge that the sender was told
  std::uint32_t recovery_end = 0;  ///< in recovery until this is acknowledged
  bool has_edge = false;
  bool in_recovery = false;
  std::uint16_t true_window = 0;          ///< field of the last answer, as it came
  std::uint16_t told_window = 0;          ///< as it went on
  std::uint16_t segment_bytes = 0;        ///< largest payload of a segment
  std::uint32_t segment_frame_bytes = 0;  ///< frame of that segment
  std::uint32_t answers = 0;
  std::uint64_t sent_bytes = 0;  ///< new payload since the flow was last idle
  std::uint32_t largest_now = 0, largest_before = 0;
  std::uint32_t held_bytes = 0;    ///< window at the last answer while regulated; 0: was not held
  std::uint32_t summed_round = 0;  ///< last round in which its weight was added
  std::optional<Duration> up, down;
  FloorLine floor;  ///< kept while it is held
  Time active_at{};

 private:
  static constexpr std::uint64_t kUnansweredBytes = 1U << 17;

  void take_syn(const TcpView& s, bool data_direction, Time now) noexcept;
  struct Mark {
    Time at{};
    std::uint32_t acknowledged = 0;
  };
  static constexpr std::uint32_t kMarks = 4;  ///< a third of `up` apart, and the latest

  void sample_flight(Time now) noexcept;
  void note_answer(Time now) noexcept;

  Time epoch_began_{};
  Time syn_at_{};                         ///< the latest SYN of either direction
  Time departs_{};                        ///< the timed segment leaves the queue
  std::array<Mark, kMarks> marks_{};      ///< answers on their way to the sender, oldest first
  std::uint32_t known_acknowledged_ = 0;  ///< what the sender of arriving data knows
  std::uint32_t timed_end_ = 0;
  std::uint8_t marks_used_ = 0;
  bool has_known_ = false;
  bool timed_ = false;
};

}  // namespace outrider
