#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "common/core/burst_identity.h"
#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/tcp_config.h"

namespace outrider {

class TcpConnection;

/// What a connection tells the application above it.
class ConnectionListener {
 public:
  virtual void on_established(TcpConnection& c, Time now) noexcept = 0;
  /// More of the peer's stream is there in order; `c.delivered_bytes()` is the total.
  virtual void on_delivered(TcpConnection& c, Time now) noexcept = 0;
  /// Both directions are closed, or the connection was reset.
  virtual void on_closed(TcpConnection& c, Time now) noexcept = 0;

 protected:
  ~ConnectionListener() = default;
};

/// Counters of one connection [packets unless named otherwise].
struct TcpCounters {
  std::uint64_t segments_sent = 0;          ///< all, pure ACKs too
  std::uint64_t segments_received = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t rtos_data = 0;              ///< retransmission time-outs of data or FIN
  std::uint64_t rtos_handshake = 0;         ///< of SYN or SYN-ACK
  std::uint64_t fast_recoveries = 0;
  std::uint64_t ece_reductions = 0;
  std::uint64_t ce_received = 0;
  std::uint64_t duplicates_received = 0;    ///< segments with no new byte
  std::uint64_t out_of_order_received = 0;
  std::uint64_t reassembly_refused = 0;     ///< no room to remember another hole; never SACKed
  std::uint64_t invalid_received = 0;       ///< ACK of data never sent, SACK out of window, out of state
};

/// One end of a TCP connection over a byte stream that is only counted:
/// RFC 9293 state machine in the parts that two emulated hosts need, SACK
/// recovery (RFC 6675), RTO (RFC 6298), delayed ACK, idle restart (RFC 5681),
/// ECN (RFC 3168) and DCTCP's echo (RFC 8257).
///
/// It decides; the host acts: the host asks has_segment()/next_segment() when
/// its NIC is free, hands in what arrives, and calls on_timer() when
/// next_timer() is reached. Not thread-safe. Nothing allocates after construction.
class TcpConnection {
 public:
  enum class Role : std::uint8_t { kClient, kServer };
  struct Setup {
    FlowKey flow;                 ///< as this end sends: source is us
    Role role = Role::kClient;
    std::uint32_t initial_sequence = 0;
    std::uint32_t option_bytes = 0;  ///< room kept in every segment, e.g. kBurstOptionBytes
  };

  /// @param config,listener must outlive the connection
  TcpConnection(const TcpConfig& config, const Setup& setup, ConnectionListener& listener);
  ~TcpConnection();
  TcpConnection(const TcpConnection&) = delete;
  TcpConnection& operator=(const TcpConnection&) = delete;

  // -- the application's side
  void open(Time now) noexcept;                          ///< client: the SYN may leave
  void send(std::uint64_t bytes, Time now) noexcept;     ///< appends to the stream
  void close(Time now) noexcept;                         ///< FIN after the last byte
  /// Marks every data segment sent from now on.
  void set_identity(std::optional<BurstIdentity> identity) noexcept;
  /// Remembers when the byte at stream offset `offset` (0-based) first leaves.
  void watch_offset(std::uint64_t offset) noexcept;
  [[nodiscard]] std::optional<Time> watched_sent_at() const noexcept;

  // -- the host's side
  [[nodiscard]] bool has_segment(Time now) const noexcept;
  /// @pre has_segment(now). Takes note that it leaves now.
  [[nodiscard]] TcpSegment next_segment(Time now) noexcept;
  void on_segment(const TcpSegment& segment, Time now) noexcept;
  [[nodiscard]] Time next_timer() const noexcept;
  void on_timer(Time now) noexcept;

  // -- what is known
  [[nodiscard]] const FlowKey& flow() const noexcept;
  [[nodiscard]] bool established() const noexcept;
  [[nodiscard]] bool closed() const noexcept;
  [[nodiscard]] std::uint64_t written_bytes() const noexcept;    ///< by the application
  [[nodiscard]] std::uint64_t acked_bytes() const noexcept;      ///< cumulative
  [[nodiscard]] std::uint64_t delivered_bytes() const noexcept;  ///< received in order
  /// Sequence number that the next new data byte will have (32-bit, on the wire).
  [[nodiscard]] std::uint32_t next_sequence() const noexcept;
  [[nodiscard]] std::uint32_t cwnd_bytes() const noexcept;
  [[nodiscard]] std::uint32_t in_flight_bytes() const noexcept;
  [[nodiscard]] Duration srtt() const noexcept;
  [[nodiscard]] const TcpCounters& counters() const noexcept;

 private:
  struct State;                   // sender, receiver and timers
  std::unique_ptr<State> state_;
};

}  // namespace outrider
