#pragma once

#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/drop_reason.h"
#include "common/core/flow_key.h"
#include "trafficgen/frames/datagram.h"

namespace outrider::tg {

struct ConnectionSample;

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
  /// The NIC is busy until `free_at`, and asks at that instant whoever has_datagram(free_at): what
  /// may leave by then needs no timer.
  virtual void look_ahead(Time /*free_at*/) noexcept {}
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
