#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "common/core/ecn.h"
#include "common/core/flow_key.h"

namespace outrider::tg {

/// A UDP datagram to be sent: its first bytes, and the number of zeros that follow them.
struct OutgoingDatagram {
  /// A WRITE in one packet with immediate and telemetry.
  static constexpr std::uint32_t kMaxHeadBytes = 76;
  std::array<std::uint8_t, kMaxHeadBytes> head;  ///< not initialised
  std::uint32_t head_bytes = 0;                  ///< used bytes of `head`
  std::uint32_t value_bytes = 0;                 ///< zeros after them
  std::uint8_t tos = 0;                          ///< the whole byte
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

}  // namespace outrider::tg
