#pragma once

#include <cstdint>

#include "common/core/flow_key.h"
#include "trafficgen/transport/base/tcp_config.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::tg {

/// Decides whether a SYN to a listening port is accepted.
class Acceptor {
 public:
  struct Offer {
    const TcpConfig* config = nullptr;
    ConnectionListener* listener = nullptr;  ///< nullptr: refused with RST
    std::uint8_t option_bytes = 0;
    std::uint32_t owner = 0;  ///< owner id for attribution; 0: none
    std::uint8_t nic_class = 0;
  };
  /// @param flow in the client's direction
  virtual Offer accept(const FlowKey& flow) noexcept = 0;
  virtual void on_accepted(TcpConnection& connection) noexcept = 0;

 protected:
  ~Acceptor() = default;
};

}  // namespace outrider::tg
