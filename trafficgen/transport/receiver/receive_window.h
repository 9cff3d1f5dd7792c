#pragma once

#include <algorithm>
#include <cstdint>

#include "common/core/clock.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/base/sequence_space.h"
#include "trafficgen/transport/base/tcp_config.h"

namespace outrider::tg {

/// Decides which of the peer's sequence numbers may arrive now, and which window acknowledgments
/// advertise. If the application reads at once, the window is always the whole buffer. An
/// application that reads at a rate takes bytes steadily while there are any. Then silly windows
/// are avoided (RFC 9293, 3.8.6.2.2), the window's right edge never moves back, and an edge that
/// stands still is moved by an ACK of its own as soon as that is allowed. A kept window is
/// advertised rounded up to its scale, as in Linux. Offsets count from the first data byte. Not
/// thread-safe.
///
/// Sources: RFC 9293, 3.10.7.4 (acceptance), RFC 7323, 2 (scale).
class ReceiveWindow {
 public:
  /// @pre config.receive_buffer_bytes in (0, 2^30]
  explicit ReceiveWindow(const TcpConfig& config) noexcept;

  /// Begins the stream after the peer's SYN was accepted.
  void start(std::uint32_t peer_initial_sequence) noexcept {
    space_ = SequenceSpace(peer_initial_sequence);
  }
  /// Stops scaling because the peer did not offer it (RFC 7323, section 2.2).
  void disable_scale() noexcept;

  // -- numbers
  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }
  void advance(std::uint64_t next) noexcept { next_ = next; }
  [[nodiscard]] std::int64_t offset(std::uint32_t sequence) const noexcept {
    return space_.offset(sequence, next_);
  }
  [[nodiscard]] const SequenceSpace& numbers() const noexcept { return space_; }
  [[nodiscard]] std::uint32_t next_sequence() const noexcept { return space_.wire(next_); }
  /// Returns true if this connection can receive the segment's sequence number now; old ones count.
  [[nodiscard]] bool acceptable(const TcpSegment& s) const noexcept {
    const std::int64_t begin = offset(s.sequence);
    const std::int64_t payload_end = begin + s.payload_bytes;  // the FIN may lie on the edge
    return payload_end <= static_cast<std::int64_t>(told_edge()) &&
           begin >= static_cast<std::int64_t>(next_) - kMaxWindowBytes;
  }
  /// Returns true if RCV.NXT =< sequence < RCV.NXT+RCV.WND.
  [[nodiscard]] bool contains(std::uint32_t sequence) const noexcept {
    return static_cast<std::int32_t>(sequence - next_sequence()) >= 0 &&
           offset(sequence) < static_cast<std::int64_t>(told_edge());
  }
  /// Returns true if the segment is not below what has arrived, so that its window, which may be
  /// smaller than the last one, is valid.
  [[nodiscard]] bool is_current(const TcpSegment& s) const noexcept {
    return static_cast<std::int32_t>(s.sequence - next_sequence()) >= 0;
  }

  // -- what acknowledgments advertise
  /// Returns the window field as it was advertised last, scaled (not for SYN segments).
  [[nodiscard]] std::uint16_t field() const noexcept {
    return static_cast<std::uint16_t>(told_window_ >> scale_);
  }
  [[nodiscard]] std::uint16_t syn_field() const noexcept {
    return static_cast<std::uint16_t>(std::min<std::uint32_t>(told_window_, UINT16_MAX));
  }
  [[nodiscard]] std::int8_t scale() const noexcept { return static_cast<std::int8_t>(scale_); }
  /// Returns the acknowledgment number that left last.
  [[nodiscard]] std::uint64_t last_told() const noexcept { return last_told_; }
  /// Notes that an ACK of what is below `next` leaves, and sets field() for it.
  void tell(std::uint64_t next, const TcpConfig& config, Time now) noexcept {
    if (read_at_a_rate_) [[unlikely]]
      told_window_ = window_to_tell(next, config, now);
    last_told_ = next;
  }

  // -- an application that reads at a rate
  [[nodiscard]] bool read_at_a_rate() const noexcept { return read_at_a_rate_; }
  void note_arrival(std::uint64_t bytes, const TcpConfig& config, Time now) noexcept;
  /// Returns when an ACK must open the window, after tell(); kNever if it moves with other ACKs.
  [[nodiscard]] Time update_at(const TcpConfig& config, Time now) const noexcept;

 private:
  [[nodiscard]] std::uint64_t told_edge() const noexcept { return last_told_ + told_window_; }
  [[nodiscard]] std::uint32_t buffer_bytes(const TcpConfig& config) const noexcept;
  [[nodiscard]] std::uint64_t unread_bytes(const TcpConfig& config, Time now) const noexcept;
  [[nodiscard]] std::uint32_t least_update_bytes(const TcpConfig& config) const noexcept;
  [[nodiscard]] std::uint32_t window_to_tell(std::uint64_t next, const TcpConfig& config,
                                             Time now) const noexcept;

  std::uint64_t next_ = 0;  ///< first offset that is missing
  std::uint64_t last_told_ = 0;
  Time read_by_{};  ///< when the application will have read all that has arrived
  SequenceSpace space_;
  std::uint32_t told_window_;  ///< relative to last_told_; the whole buffer if read at once
  std::uint8_t scale_ : 4;
  bool read_at_a_rate_ : 1;
};

}  // namespace outrider::tg
