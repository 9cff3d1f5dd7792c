#pragma once

#include <cstdint>

#include "common/core/clock.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/receiver/ecn_echo.h"
#include "trafficgen/transport/sequence_space.h"
#include "trafficgen/transport/tcp_context.h"
#include "trafficgen/transport/timestamps.h"

namespace outrider::tg {

/// The receiving half of a connection: reassembly, when to acknowledge, what
/// the acknowledgment says. The application reads at once, and the window is always
/// the whole buffer; or at a rate (receiver_window.cc). Offsets count from the first data byte; the
/// FIN takes one. Not thread-safe, nothing allocates: what is out of order is kept in memory
/// borrowed from the context's pools, and given back when it is delivered.
///
/// Sources: RFC 9293, 3.10.7.4 (acceptance); RFC 5681, 4.2 (delayed ACK: at once
/// for the n-th segment, data out of order and data that fills a hole); RFC 2018
/// (SACK); RFC 3168 and RFC 8257, 3.2 (ECN); RFC 7323, 3 to 5 (timestamps, PAWS). Deviations: every
/// data segment counts towards the n-th, not only full ones; SACK blocks travel on pure ACKs only,
/// so that data segments keep their size; TS.Recent does not expire (RFC 7323, 5.5): no connection
/// here is idle for 24 days; a segment that reaches beyond the window
/// is refused whole (3.10.7.4 would take what fits).
class TcpReceiver {
 public:
  /// @pre config: receive_buffer_bytes in (0, 2^30], delayed_ack > 0, ack_every_segments > 0
  /// @param context must outlive the receiver
  TcpReceiver(TcpContext& context, bool per_packet_echo) noexcept;
  ~TcpReceiver() { give_back(); }
  TcpReceiver(const TcpReceiver&) = delete;
  TcpReceiver& operator=(const TcpReceiver&) = delete;

  /// Both SYNs had timestamps. @param value TSval of the peer's SYN
  void enable_timestamps(std::uint32_t value) noexcept {
    timestamps_ = true;
    ts_recent_ = value;
  }
  [[nodiscard]] bool timestamps() const noexcept { return timestamps_; }
  [[nodiscard]] std::uint32_t ts_recent() const noexcept { return ts_recent_; }
  /// PAWS (RFC 7323, 5.3, R1): false for an old duplicate, which is to be
  /// acknowledged and dropped, and for a segment without the option (3.2). RSTs
  /// always pass.
  [[nodiscard]] bool timely(const TcpSegment& s) noexcept;
  /// TS.Recent follows what the last acknowledgment covered (RFC 7323, 4.3, (2)).
  /// @pre acceptable(s), timely(s)
  void note_timestamp(const TcpSegment& s) noexcept;
  /// The option of a segment that leaves now.
  void stamp(TcpSegment& s, Time now) const noexcept;

  /// The peer's SYN was accepted.
  void start(std::uint32_t peer_initial_sequence, bool ecn, bool sack) noexcept;

  /// Is its sequence number one that this connection can see now? (old ones too)
  [[nodiscard]] bool acceptable(const TcpSegment& s) const noexcept;
  /// RCV.NXT =< sequence < RCV.NXT+RCV.WND
  [[nodiscard]] bool in_window(std::uint32_t sequence) const noexcept {
    return static_cast<std::int32_t>(sequence - next_sequence()) >= 0 &&
           space_.offset(sequence, next_) < static_cast<std::int64_t>(told_edge());
  }
  /// Not below what has arrived: its window may be smaller than the last one told.
  [[nodiscard]] bool is_current(const TcpSegment& s) const noexcept {
    return static_cast<std::int32_t>(s.sequence - next_sequence()) >= 0;
  }
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
  [[nodiscard]] bool ack_due_alone() const noexcept { return due_ && disorder_ != nullptr; }
  /// Writes acknowledgment, window, ECE and, in a pure ACK, SACK; it leaves now.
  void fill_pure_ack(TcpSegment& s, Time now) noexcept;
  void fill_piggyback(TcpSegment& s, Time now) noexcept;
  /// Window field as it was told last, scaled (not for SYN segments).
  [[nodiscard]] std::uint16_t window() const noexcept {
    return static_cast<std::uint16_t>(told_window_ >> window_scale_);
  }
  [[nodiscard]] std::uint16_t syn_window() const noexcept;
  [[nodiscard]] std::int8_t window_scale() const noexcept { return window_scale_; }
  /// The peer did not offer window scaling: use none (RFC 7323, section 2.2).
  void disable_window_scale() noexcept;

  [[nodiscard]] std::uint32_t initial_sequence() const noexcept { return space_.wire(0) - 1; }
  /// Sequence number of the first data byte.
  [[nodiscard]] std::uint32_t first_sequence() const noexcept { return space_.wire(0); }
  [[nodiscard]] std::uint32_t next_sequence() const noexcept { return space_.wire(next_); }
  [[nodiscard]] std::uint64_t delivered_bytes() const noexcept {
    return next_ - (fin_received() ? 1 : 0);
  }
  [[nodiscard]] bool fin_received() const noexcept { return next_ > fin_; }

 private:
  static constexpr std::uint64_t kNoFin = UINT64_MAX;

  bool fin_possible(std::uint64_t begin, std::uint64_t end, bool fin) noexcept;
  bool accept(std::uint64_t begin, std::uint64_t end, Time now) noexcept;
  /// @return false if there is no memory for it
  bool borrow() noexcept;
  void give_back() noexcept;
  void give_back_if_unused() noexcept;
  [[nodiscard]] bool in_order() const noexcept {
    return disorder_ == nullptr || disorder_->reassembly.empty();
  }
  bool accept_rare(std::uint64_t begin, std::uint64_t end) noexcept;
  void echo(const TcpSegment& s) noexcept;
  void keep_earlier_ack() noexcept;
  void acknowledged(Time now) noexcept;
  void fill_earlier(TcpSegment& s, Time now) noexcept;
  void tell(TcpSegment& s, std::uint64_t next, Time now) noexcept;
  [[nodiscard]] std::uint64_t told_edge() const noexcept { return last_told_ + told_window_; }

  // An application that reads at a rate: receiver_window.cc
  [[nodiscard]] std::uint32_t buffer_bytes() const noexcept;
  [[nodiscard]] std::uint64_t unread_bytes(Time now) const noexcept;
  [[nodiscard]] std::uint32_t least_update_bytes() const noexcept;
  [[nodiscard]] std::uint32_t window_to_tell(std::uint64_t next, Time now) const noexcept;
  void note_arrival(std::uint64_t bytes, Time now) noexcept;
  void arm_window_update(Time now) noexcept;
  void fill_sack(TcpSegment& s) noexcept;
  void note_duplicate(std::uint64_t begin, std::uint64_t end) noexcept;

  TcpContext& context_;
  std::uint64_t next_ = 0;       ///< first offset that is missing
  std::uint64_t last_told_ = 0;  ///< acknowledgment that left last
  Time deadline_ = kNever;       ///< of the delayed ACK, or of a window update
  Time read_by_{};               ///< when the application has read all that is there
  Disorder* disorder_ = nullptr;
  std::uint64_t fin_ = kNoFin;  ///< its offset, once any segment told it
  SequenceSpace space_;
  std::uint32_t told_window_;        ///< beyond last_told_; the whole buffer if it is read at once
  std::uint32_t ts_recent_ = 0;      ///< TS.Recent of RFC 7323, 4.3
  std::uint8_t unacknowledged_ = 0;  ///< in-order data segments since the last ACK
  std::int8_t window_scale_;
  bool due_ : 1 = false;
  bool sack_ : 1 = false;
  bool timestamps_ : 1 = false;
  bool reads_at_a_rate_ : 1;
  EcnEcho echo_;
};

}  // namespace outrider::tg
