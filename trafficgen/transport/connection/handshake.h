#pragma once

#include <cstdint>

#include "common/core/clock.h"
#include "common/net/tcp_segment.h"
#include "trafficgen/transport/receiver/receiver.h"
#include "trafficgen/transport/sender/sender.h"

namespace outrider::tg {

/// Opens a connection: SYN, SYN-ACK, ACK. It tells the sender and the receiver what the peer offers
/// and accepts, and the connection acts on the returned Outcome. The time-out uses the sender's
/// timer, which is otherwise unused before the connection is established. Not thread-safe.
///
/// Sources: RFC 9293, 3.5 and 3.10.7.2 to 3.10.7.4, RFC 2018, RFC 7323, RFC 6691 (options),
/// RFC 3168, 6.1.1 (ECN), RFC 6298 (time-out).
class Handshake {
 public:
  enum class Role : std::uint8_t { kClient, kServer };
  enum class Outcome : std::uint8_t {
    kOngoing,
    kUnexpected,  ///< this state does not expect the segment
    kRefused,     ///< the peer reset the connection before it was established
    kReset,       ///< RST in answer to our SYN-ACK; check it as in a connection
    kEstablished,
    kEstablishedByData,  ///< this segment is the first of the established connection
  };

  /// The least segment that a peer can ask for. Every IPv4 host receives datagrams of 576 bytes
  /// (RFC 1122, 3.3.2), and this is the default without the option (RFC 9293, 3.7.1). Linux has 48
  /// (tcp_min_snd_mss).
  static constexpr std::uint16_t kLeastPeerMss_bytes = 536;

  /// @param option_bytes room kept in every segment
  Handshake(Role role, std::uint8_t option_bytes) noexcept
      : role_(role), option_bytes_(option_bytes) {}

  /// @pre a client that was not opened before
  void open() noexcept;
  /// Returns true if a SYN or SYN-ACK is due; fill() notes that it leaves.
  [[nodiscard]] bool segment_due() const noexcept { return due_; }
  void fill(TcpSegment& s, TcpSender& sender, const TcpReceiver& receiver, Time now) noexcept;
  [[nodiscard]] Outcome on_segment(const TcpSegment& s, TcpSender& sender, TcpReceiver& receiver,
                                   Time now) noexcept;
  /// @return false if the peer has been silent for Persistence::kMaxTimeouts time-outs
  [[nodiscard]] bool on_timer(TcpSender& sender) noexcept;
  /// Ends the handshake: the connection is established or over.
  void end() noexcept {
    phase_ = Phase::kDone;
    due_ = false;
  }

  /// Returns true if this is a server that has the peer's SYN and waits for its ACK.
  [[nodiscard]] bool has_syn() const noexcept { return phase_ == Phase::kSynReceived; }
  /// Returns true for an answer to a SYN that was not ours (RFC 9293, 3.10.7.3). The host resets
  /// it.
  [[nodiscard]] bool answers_another_syn(const TcpSegment& s,
                                         const SendStream& sent) const noexcept {
    return phase_ == Phase::kSynSent && s.has(kTcpAck) && !s.has(kTcpRst) &&
           !acknowledges_syn(s, sent);
  }

 private:
  enum class Phase : std::uint8_t {
    kIdle,  ///< client before open(), server before its SYN
    kSynSent,
    kSynReceived,
    kDone,  ///< established, or over
  };

  [[nodiscard]] static bool acknowledges_syn(const TcpSegment& s, const SendStream& sent) noexcept {
    return s.acknowledgment == sent.numbers().first();
  }
  void learn_peer(const TcpSegment& s, bool ecn, TcpSender& sender, TcpReceiver& receiver) noexcept;
  [[nodiscard]] Outcome on_syn_ack(const TcpSegment& s, TcpSender& sender, TcpReceiver& receiver,
                                   Time now) noexcept;
  [[nodiscard]] Outcome in_syn_received(const TcpSegment& s, TcpSender& sender,
                                        const TcpReceiver& receiver, Time now) noexcept;
  void establish(TcpSender& sender, Time now) noexcept;
  /// Returns the RTO, doubled by each time-out (RFC 6298, 5.5).
  [[nodiscard]] Duration rto(const TcpConfig& config) const noexcept;

  Phase phase_ : 2 = Phase::kIdle;
  Role role_ : 1;
  bool due_ : 1 = false;
  bool ecn_ : 1 = false;          ///< negotiated
  bool peer_scales_ : 1 = false;  ///< its SYN had the window scale option
  bool peer_sack_ : 1 = false;    ///< its SYN permitted SACK
  std::uint8_t option_bytes_;
  std::uint8_t timeouts_ = 0;
};

}  // namespace outrider::tg
