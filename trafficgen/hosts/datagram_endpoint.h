#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "common/core/clock.h"
#include "common/core/drop_reason.h"
#include "common/core/ecn.h"
#include "common/core/flow_key.h"

namespace outrider::tg {

struct ConnectionSample;

/// A UDP datagram to be sent: its first bytes, and the number of zeros that follow them.
struct OutgoingDatagram {
  static constexpr std::uint32_t kMaxHeadBytes = 52;
  std::array<std::uint8_t, kMaxHeadBytes> head{};
  std::uint32_t head_bytes = 0;   ///< used bytes of `head`
  std::uint32_t value_bytes = 0;  ///< zeros after them
  std::uint8_t tos = 0;           ///< the whole byte
  bool icrc = false;  ///< RoCEv2: an ICRC follows the zeros, and there is no UDP checksum
};

/// A datagram that arrived, with correct addresses and checksum.
struct ReceivedDatagram {
  FlowKey flow;                           ///< in the sender's direction
  std::span<const std::uint8_t> present;  ///< the part of the payload that the buffer holds
  std::uint32_t payload_bytes = 0;        ///< of the datagram, >= present.size()
  Ecn ecn = Ecn::kNotEct;
  std::span<const std::uint8_t> ip;  ///< the part of the IP packet that the buffer holds
  std::uint32_t trailer = 0;  ///< last four bytes of a datagram to RoCEv2's port; 0: not there
  bool icrc_known = false;    ///< a host of this process wrote the datagram, so it is right
};

/// One end of a flow of datagrams, which a host drives like a TcpConnection. The endpoint decides;
/// the host asks has_datagram() / next_datagram() when its NIC is free, hands in what arrives, and
/// calls on_timer() when next_timer() is reached. `now` never decreases.
class DatagramEndpoint {
 public:
  [[nodiscard]] virtual bool has_datagram(Time now) const noexcept = 0;
  /// Writes the datagram, which leaves now. @pre has_datagram(now)
  virtual void next_datagram(OutgoingDatagram& out, Time now) noexcept = 0;
  /// @return the reason for which the datagram is dropped; nothing if it was taken
  virtual std::optional<DropReason> on_datagram(const ReceivedDatagram& datagram,
                                                Time now) noexcept = 0;
  [[nodiscard]] virtual Time next_timer() const noexcept = 0;
  virtual void on_timer(Time now) noexcept = 0;
  /// Returns the flow in this end's direction: source is this end.
  [[nodiscard]] virtual const FlowKey& flow() const noexcept = 0;
  /// Returns what the host finds the endpoint by: the flow, or for a queue pair of RoCEv2 what
  /// roce_key() says.
  [[nodiscard]] virtual FlowKey key() const noexcept { return flow(); }
  /// What leaves at turns of its own, beside this endpoint's datagrams, and is stopped by a
  /// priority of its own. It receives nothing and has no timer: it is asked when this endpoint is.
  struct Apart {
    DatagramEndpoint* endpoint = nullptr;  ///< nullptr: nothing does
    std::uint8_t priority = 0;             ///< in pause frames
  };
  [[nodiscard]] virtual Apart apart() noexcept { return {}; }
  /// Writes the state of what this end sends, without instant and ends. It changes nothing.
  /// @return false if it has had nothing to send
  [[nodiscard]] virtual bool sample(ConnectionSample& /*out*/, Time /*now*/) const noexcept {
    return false;
  }

 protected:
  ~DatagramEndpoint() = default;
};

}  // namespace outrider::tg
