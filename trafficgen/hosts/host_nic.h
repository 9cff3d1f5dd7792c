#pragma once

#include <cstdint>

#include "common/runtime/backpressure.h"
#include "common/runtime/link.h"
#include "trafficgen/hosts/host_connections.h"
#include "trafficgen/hosts/host_parts.h"
#include "trafficgen/hosts/nic_wire.h"

namespace outrider::tg {

/// The sending side of a host. The NIC pulls: when the wire is free it takes a signal, or a reply
/// to a segment of no connection, or the next segment of the connection, or datagram of the
/// endpoint, whose turn it is (round robin). After 64 answers to others in a row, data that wait
/// have a turn. Nothing is therefore queued or dropped inside the host; a busy NIC makes
/// connections wait. With segmentation offload a connection keeps its turn for `tso_bytes` of
/// payload. Not thread-safe: the host owns it.
class HostNic {
 public:
  /// @param parts,connections what waits for the NIC; they and `pool` must outlive this object
  HostNic(HostParts& parts, HostConnections& connections, rte_mempool& pool);

  /// @param backpressure the NIC waits while it is full. It and `out` must outlive the host
  void connect(Link& out, const Backpressure* backpressure = nullptr) noexcept {
    wire_.connect(out, backpressure);
  }
  /// Returns the NIC's queue, whose classes must be made before any connection is opened.
  [[nodiscard]] NicQueue& queue() noexcept { return host_.turns.queue(); }
  /// Begins a new attempt to send. @return false if there is nothing to send
  [[nodiscard]] bool begin() noexcept {
    wire_.begin();
    return has_work();
  }
  /// Sends while the wire is free and there is something to send. @pre begin()
  /// @return when the NIC must be asked again
  Time send(Time now) noexcept;

 private:
  enum class Wrote : std::uint8_t { kNothing, kSignal, kOther };

  /// Returns true if signals, answers to others or a pause frame wait, which go before data.
  [[nodiscard]] bool has_replies() const noexcept {
    return !host_.signals.empty() || !host_.strays.empty() || host_.storm.waits();
  }
  [[nodiscard]] bool has_work() const noexcept { return !host_.turns.empty() || has_replies(); }
  // The steps of sending a packet have one caller each. Inlined, they save no registers for each
  // other.
  [[nodiscard, gnu::always_inline]] bool send_next(Time now) noexcept;
  [[gnu::always_inline]] Wrote write_next(Packet& packet, Time now, Time start) noexcept;
  [[gnu::noinline]] Wrote write_first(Packet& packet, Time start) noexcept;
  [[gnu::always_inline]] bool write_ready(Packet& packet, Time now, Time start) noexcept;
  void prefetch_waiting() noexcept;

  HostParts& host_;
  HostConnections& connections_;
  NicWire wire_;
  std::uint32_t replies_in_a_row_ = 0;  ///< while data waited
};

}  // namespace outrider::tg
