#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/ecn_echo.h"
#include "trafficgen/transport/reassembly.h"
#include "trafficgen/transport/sequence_space.h"
#include "trafficgen/transport/tcp_config.h"
#include "trafficgen/transport/tcp_counters.h"

namespace outrider {

/// The receiving half of a connection: reassembly, when to acknowledge, what
/// the acknowledgment says. The application reads at once, so the window is
/// always the whole buffer. Offsets count from the first data byte; the FIN
/// takes one. Not thread-safe, nothing allocates.
///
/// Sources: RFC 9293, 3.10.7.4 (acceptance); RFC 5681, 4.2 (delayed ACK: at once
/// for the n-th segment, data out of order and data that fills a hole); RFC 2018
/// (SACK); RFC 3168 and RFC 8257, 3.2 (ECN). Deviations: every data segment
/// counts towards the n-th, not only full ones; SACK blocks travel on pure ACKs
/// only, so that data segments keep their size.
class TcpReceiver {
 public:
  /// @pre config: receive_buffer_bytes in (0, 2^30], delayed_ack > 0, ack_every_segments > 0
  TcpReceiver(const TcpConfig& config, bool per_packet_echo, TcpCounters& counters) noexcept;

  /// The peer's SYN was accepted.
  void start(std::uint32_t peer_initial_sequence, bool ecn, bool sack) noexcept;

  /// Is its sequence number one that this connection can see now? (old ones too)
  [[nodiscard]] bool acceptable(const TcpSegment& s) const noexcept;
  /// Takes data and FIN of an acceptable segment.
  /// @return did the stream advance?
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
  /// Must the ACK that is due travel alone? (SACK, or an earlier ECE state to tell)
  [[nodiscard]] bool ack_due_alone() const noexcept {
    return due_ && (earlier_used_ != 0 || !reassembly_.empty());
  }
  /// Writes acknowledgment, window, ECE and, in a pure ACK, SACK; it leaves now.
  void fill_pure_ack(TcpSegment& s) noexcept;
  void fill_piggyback(TcpSegment& s) noexcept;
  /// Window field, scaled (not for SYN segments).
  [[nodiscard]] std::uint16_t window() const noexcept {
    return static_cast<std::uint16_t>(buffer_bytes_ >> window_scale_);
  }
  [[nodiscard]] std::uint16_t syn_window() const noexcept;
  [[nodiscard]] std::int8_t window_scale() const noexcept { return window_scale_; }
  /// The peer did not offer window scaling: use none (RFC 7323, section 2.2).
  void disable_window_scale() noexcept;

  [[nodiscard]] std::uint32_t next_sequence() const noexcept { return space_.wire(next_); }
  [[nodiscard]] std::uint64_t delivered_bytes() const noexcept {
    return next_ - (fin_received() ? 1 : 0);
  }
  [[nodiscard]] bool fin_received() const noexcept { return fin_ && next_ > *fin_; }

 private:
  /// An acknowledgment that the per-packet echo owes for an earlier ECE state.
  struct EarlierAck {
    std::uint64_t next = 0;
    bool ece = false;
  };
  static constexpr std::size_t kEarlierAcks = 16;

  bool fin_possible(std::uint64_t begin, std::uint64_t end, bool fin) noexcept;
  bool accept(std::uint64_t begin, std::uint64_t end, Time now) noexcept;
  bool accept_rare(std::uint64_t begin, std::uint64_t end) noexcept;
  void echo(const TcpSegment& s) noexcept;
  void keep_earlier_ack() noexcept;
  void acknowledged(std::uint64_t next) noexcept;
  void fill_sack(TcpSegment& s) const noexcept;

  const TcpConfig& config_;
  TcpCounters& counters_;
  SequenceSpace space_;
  std::uint64_t next_ = 0;            ///< first offset that is missing
  std::uint64_t last_told_ = 0;       ///< acknowledgment that left last
  Time deadline_ = kNever;            ///< of the delayed ACK
  std::uint32_t unacknowledged_ = 0;  ///< in-order data segments since the last ACK
  std::uint32_t buffer_bytes_;
  std::int8_t window_scale_;
  bool due_ = false;
  bool sack_ = false;
  EcnEcho echo_;
  std::optional<std::uint64_t> fin_;  ///< its offset, once any segment told it
  std::array<EarlierAck, kEarlierAcks> earlier_{};
  std::size_t earlier_used_ = 0;
  Reassembly reassembly_;
};

}  // namespace outrider
