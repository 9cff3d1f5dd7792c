#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/core/burst_ledger.h"
#include "trafficgen/frames/frame.h"
#include "trafficgen/frames/payload.h"
#include "trafficgen/hosts/acceptor.h"
#include "trafficgen/hosts/connection_table.h"
#include "trafficgen/hosts/ephemeral_ports.h"
#include "trafficgen/hosts/host_parts.h"
#include "trafficgen/transport/connection/connection.h"
#include "trafficgen/transport/memory/transport_memory.h"

namespace outrider::tg {

/// Drives the connections of a host: opens and accepts them, hands them what arrives, gives them
/// turns at the NIC and wakes them. A connection that has ended is removed once it has nothing more
/// to send. Not thread-safe: the host owns it. Opening a connection may allocate; packets do not.
class HostConnections {
 public:
  using Slot = ConnectionTable::Slot;

  /// @param parts,memory must outlive this object
  HostConnections(HostParts& parts, TransportMemory& memory);

  // -- for applications on the host
  /// Opens a connection as client, which the owner of this object then tells the NIC. If the flow
  /// is in TIME-WAIT here, that ends. @param owner owner id for attribution
  TcpConnection& open(const FlowKey& flow, const TcpConfig& config, std::uint8_t option_bytes,
                      ConnectionListener& listener, Time now, std::uint32_t owner);
  void listen(std::uint16_t port, Acceptor& acceptor);
  /// Takes the next of the host's ports from which no connection to that peer is open or in
  /// TIME-WAIT. @return nothing if there is none
  [[nodiscard]] std::optional<std::uint16_t> free_port(EphemeralPorts& ports,
                                                       std::uint32_t to_address,
                                                       std::uint16_t to_port,
                                                       Time now) const noexcept;
  /// Returns the first sequence number of a connection with this flow, open or not.
  /// @param flow its source must be this host
  [[nodiscard]] std::uint32_t initial_sequence(const FlowKey& flow) const noexcept;
  /// See HostAttribution::begin_burst(). Nothing happens without attribution.
  void begin_burst(TcpConnection& connection, const BurstLedger& ledger, BurstTime idle,
                   Time now) noexcept;
  /// Returns, within on_delivered(), the ledger of the data being delivered; not valid() without
  /// attribution.
  [[nodiscard]] const BurstLedger& arriving() const noexcept {
    static constexpr BurstLedger kNone{};
    return host_.attribution ? host_.attribution->arriving() : kNone;
  }
  /// The application has written to the connection, or closed it.
  void changed(TcpConnection& connection, Time now) noexcept {
    refresh(ConnectionTable::slot_of(connection), now);
  }

  // -- for the host
  [[nodiscard]] ConnectionTable& table() noexcept { return table_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return table_.size(); }
  /// Takes a segment.
  [[gnu::always_inline]] void take(const ReceivedFrame& frame, Time now) noexcept {
    const auto index = table_.find(frame.flow.reversed());
    if (!index) return take_unknown(frame, now);
    Slot& slot = table_[*index];
    ++host_.counters.to_connections;
    if (host_.attribution) host_.attribution->on_arrival(*index);
    if (slot.handshake().answers_another_syn(frame.segment, slot.stream())) [[unlikely]]
      host_.strays.reset(frame);
    slot.on_segment(frame.segment, now);
    if (slot.half_open && slot.state() == ConnectionState::kEstablished) [[unlikely]]
      table_.end_half_open(*index);
    refresh(slot, now);
    retire_if_closed(slot, now);
  }
  /// Checks every payload byte that belongs to a stream, also if it is resent.
  [[gnu::noinline]] void verify(Packet& packet, const ReceivedFrame& frame) noexcept;
  /// Writes the next segment of the connection whose turn it is.
  /// @return false if it had nothing to send after all
  [[gnu::always_inline]] bool write(Slot& slot, Packet& packet, Time now, Time start) noexcept {
    slot.queued = false;
    TcpSegment segment;
    const bool sends = slot.take_segment(segment, now);
    if (sends) {
      write_frame(packet, slot.flow(), static_cast<std::uint8_t>(segment.ecn), segment,
                  host_.setup.full_payload);
      host_.turns.queue().on_sent(slot.nic_class, meta(packet).frame_bytes, now);
      // Segmentation offload hands the NIC one large buffer, whose segments leave back to back. The
      // turn does not wait for segments that the window does not allow yet.
      if (host_.turns.offloads() && host_.turns.goes_on(segment.payload_bytes) &&
          slot.has_segment(now)) {
        host_.turns.keep(slot.index);
        slot.queued = true;
      }
      if (host_.setup.payload == Payload::kPattern && segment.payload_bytes != 0)
        write_pattern(packet, segment.sequence - slot.stream().numbers().first());
      if (host_.attribution)
        host_.attribution->on_departure(slot.index, slot, segment, packet, start);
    }
    refresh(slot, now);  // also if the connection lacks memory: it has set a deadline
    retire_if_closed(slot, now);
    return sends;
  }
  /// Wakes the connections whose timers are due.
  void fire_due(Time now) noexcept;
  [[nodiscard]] Time next_timer() const noexcept { return table_.next_timer(); }

 private:
  std::uint32_t add(const FlowKey& flow, const TcpConfig& config, std::uint8_t option_bytes,
                    TcpConnection::Role role, ConnectionListener& listener, std::uint32_t owner);
  [[gnu::noinline]] void take_unknown(const ReceivedFrame& frame, Time now) noexcept;
  [[nodiscard]] bool make_room_for_half_open(Time now) noexcept;
  /// Queues a connection for the NIC if it has something to send, and notes its deadline. Call it
  /// after anything that may have changed either.
  [[gnu::always_inline]] void refresh(Slot& slot, Time now) noexcept {
    if (!slot.queued && slot.has_segment(now)) {
      slot.queued = true;
      host_.turns.push(slot.nic_class, slot.index);
    }
    if (slot.next_timer() < slot.timer_at) [[unlikely]]
      note_timer(slot);
    if (host_.attribution) [[unlikely]]
      host_.attribution->on_change(slot.index, slot, now);
  }
  [[gnu::noinline]] void note_timer(Slot& slot) noexcept;
  void retire_if_closed(Slot& slot, Time now) noexcept {
    if (is_over(slot.state()) && !slot.queued) [[unlikely]]
      retire(slot, now);
  }
  [[gnu::noinline]] void retire(Slot& slot, Time now) noexcept;

  HostParts& host_;
  ConnectionTable table_;
  std::vector<std::pair<std::uint16_t, Acceptor*>> listeners_;
};

}  // namespace outrider::tg
