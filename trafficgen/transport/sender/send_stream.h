#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/base/sequence_space.h"
#include "trafficgen/transport/base/tcp_counters.h"
#include "trafficgen/transport/memory/segment_arena.h"
#include "trafficgen/transport/sender/scoreboard.h"

namespace outrider::tg {

/// The stream that a sender sends, in stream offsets: what the application has written, what has
/// left, what is acknowledged, and what the peer's window allows. It numbers segments; TcpSender
/// decides when one leaves. Not thread-safe.
///
/// Sources: RFC 9293, 3.4 (numbers), 3.8.6.2.1 (silly windows), 3.10.7.4 (window updates),
/// RFC 5961, 5.2 (impossible acknowledgments).
class SendStream {
 public:
  SendStream(std::uint32_t initial_sequence, std::uint16_t mss_bytes) noexcept
      : space_(initial_sequence), mss_(mss_bytes) {}

  // -- the application
  void write(std::uint64_t bytes) noexcept {
    assert(!closing_);
    written_ += bytes;
  }
  void finish() noexcept { closing_ = true; }
  /// Makes the stream remember when the byte at `offset` first leaves.
  void watch(std::uint64_t offset) noexcept {
    watched_ = offset;
    watched_sent_ = false;
    watches_ = true;
  }
  [[nodiscard]] std::optional<Time> watched_sent_at() const noexcept {
    if (!watched_sent_) return std::nullopt;
    return Time{Duration{static_cast<std::int64_t>(watched_)}};
  }

  /// Begins the stream after the handshake. @param mss_bytes payload of a full segment
  void start(std::uint16_t mss_bytes, std::uint32_t window_bytes,
             std::uint8_t window_scale) noexcept {
    assert(window_scale <= 14);
    mss_ = mss_bytes;
    peer_window_scale_ = window_scale & 0xF;
    peer_edge_ = window_bytes;
  }

  // -- state
  [[nodiscard]] std::uint64_t una() const noexcept { return una_; }
  [[nodiscard]] std::uint64_t nxt() const noexcept { return nxt_; }
  [[nodiscard]] std::uint16_t mss_bytes() const noexcept { return mss_; }
  [[nodiscard]] const SequenceSpace& numbers() const noexcept { return space_; }
  [[nodiscard]] std::uint32_t next_sequence() const noexcept { return space_.wire(nxt_); }
  [[nodiscard]] std::uint64_t written_bytes() const noexcept { return written_; }
  [[nodiscard]] std::uint64_t acked_bytes() const noexcept {
    return una_ < written_ ? una_ : written_;
  }
  [[nodiscard]] bool fin_acked() const noexcept { return una_ > written_; }

  // -- sending
  /// Returns the payload of the next new segment: a full segment, the rest of the written data, or,
  /// if nothing else is in flight, what the peer's window leaves.
  [[nodiscard]] std::uint32_t new_payload(const Scoreboard& in_flight) const noexcept {
    if (nxt_ >= written_) return 0;
    const auto wanted = static_cast<std::uint32_t>(std::min<std::uint64_t>(mss_, written_ - nxt_));
    const std::uint64_t room = peer_edge_ > nxt_ ? peer_edge_ - nxt_ : 0;
    if (room >= wanted) [[likely]]
      return wanted;
    return in_flight.empty() ? static_cast<std::uint32_t>(room) : 0;
  }
  /// Returns true if all written data has left.
  [[nodiscard]] bool all_left() const noexcept { return nxt_ >= written_; }
  /// Returns true if all written data has left, but not the FIN.
  [[nodiscard]] bool fin_is_next() const noexcept { return closing_ && nxt_ == written_; }
  /// Returns true if there is something to send and the peer's window allows none of it.
  [[nodiscard]] bool window_closed() const noexcept {
    return nxt_ < written_ && peer_edge_ <= nxt_;
  }
  /// Writes number, length and flags of a segment of new data, which leaves now.
  /// @return its length in sequence space, which a FIN lengthens by one
  std::uint32_t take_new(TcpSegment& s, std::uint32_t payload, Time now) noexcept {
    const std::uint64_t end = nxt_ + payload;
    const bool fin = closing_ && end == written_;
    s.sequence = space_.wire(nxt_);
    s.payload_bytes = static_cast<std::uint16_t>(payload);
    if (fin) s.flags |= kTcpFin;
    if (end == written_) s.flags |= kTcpPsh;
    if (watches_ && watched_ >= nxt_ && watched_ < end) {
      watched_ = static_cast<std::uint64_t>(now.time_since_epoch().count());
      watches_ = false;
      watched_sent_ = true;
    }
    nxt_ = end + (fin ? 1 : 0);
    return payload + (fin ? 1 : 0);
  }
  /// Writes the same for a segment that has left before.
  void take_again(const SentSegment& sent, TcpSegment& s) const noexcept {
    const std::uint64_t end = sent.offset + sent.length;
    const bool fin = end > written_;
    s.sequence = space_.wire(sent.offset);
    s.payload_bytes = static_cast<std::uint16_t>(sent.length - (fin ? 1 : 0));
    if (fin) s.flags |= kTcpFin;
    if (end >= written_) s.flags |= kTcpPsh;
  }

  // -- acknowledgments
  /// Returns true if the ACK is neither ahead of what was sent nor older than a window (RFC 5961,
  /// 5.2). Deviation: MAX.SND.WND is the largest window that can be advertised, not the largest
  /// that was.
  [[nodiscard]] bool plausible(std::int64_t ack, TcpEvents& events) const noexcept {
    const auto una = static_cast<std::int64_t>(una_);
    if (ack > static_cast<std::int64_t>(nxt_)) ++events.acks_of_unsent;
    else if (ack < una - (std::int64_t{UINT16_MAX} << peer_window_scale_)) ++events.acks_too_old;
    else {
      if (ack < una) ++events.old_acks;
      return true;
    }
    return false;
  }
  /// Returns the first offset beyond the window that a segment advertises together with `una`.
  [[nodiscard]] std::uint64_t window_edge(std::uint64_t una, std::uint16_t window) const noexcept {
    return una + (std::uint64_t{window} << peer_window_scale_);
  }
  [[nodiscard]] std::uint64_t peer_edge() const noexcept { return peer_edge_; }
  /// @param newest the window counts even if it takes back what was offered
  void take_window(std::uint64_t edge, bool newest) noexcept {
    if (edge > peer_edge_ || newest) peer_edge_ = edge;
  }
  void advance(std::uint64_t una) noexcept { una_ = una; }

 private:
  std::uint64_t una_ = 0;  ///< oldest offset without cumulative ACK
  std::uint64_t nxt_ = 0;  ///< next offset that was never sent; written_ + 1 after the FIN
  std::uint64_t written_ = 0;
  std::uint64_t peer_edge_ = 0;  ///< first offset beyond the peer's window
  std::uint64_t watched_ = 0;    ///< stream offset; after the byte has left, the time [ns]
  SequenceSpace space_;
  std::uint16_t mss_;  ///< of this connection, <= the controller's
  std::uint8_t peer_window_scale_ : 4 = 0;
  bool closing_ : 1 = false;
  bool watches_ : 1 = false;       ///< watched_ is an offset that has not left yet
  bool watched_sent_ : 1 = false;  ///< watched_ is a time
};

}  // namespace outrider::tg
