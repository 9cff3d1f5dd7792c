#pragma once

#include <cstdint>
#include <string>

#include "common/config/choices.h"
#include "trafficgen/mlt/mlt_config.h"
#include "trafficgen/roce/roce_config.h"
#include "trafficgen/transport/base/tcp_config.h"

namespace outrider::tg {

/// The protocol that carries a job's bursts, or background.
enum class TransportProtocol : std::uint8_t {
  kTcp,
  kMlt,   ///< bounded loss, over UDP (trafficgen/mlt)
  kRoce,  ///< RDMA WRITEs or SENDs of RoCEv2 (trafficgen/roce)
};

/// Returns whether it has channels: whether it delivers every byte in order, as background needs
/// it.
[[nodiscard]] constexpr bool has_channels(TransportProtocol protocol) noexcept {
  return protocol != TransportProtocol::kMlt;
}

/// Returns whether its ends are queue pairs: nobody listens at a port, and data are no segments.
[[nodiscard]] constexpr bool has_queue_pairs(TransportProtocol protocol) noexcept {
  return protocol == TransportProtocol::kRoce;
}

struct TransportConfig {
  std::string name;
  TcpConfig tcp;  ///< of which kMlt uses only controller, ecn and obey_ece, and kRoce nothing
  TransportProtocol protocol = TransportProtocol::kTcp;
  MltConfig mlt{};
  RoceConfig roce{};
};

/// Returns whether the data of a transport are carried by queue pairs. @param transport  nullptr:
/// there is none of its name
[[nodiscard]] constexpr bool uses_queue_pairs(const TransportConfig* transport) noexcept {
  return transport != nullptr && has_queue_pairs(transport->protocol);
}

}  // namespace outrider::tg
