#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/core/burst_ledger.h"
#include "common/core/service_clock.h"
#include "common/dpdk/packet/packet_slot.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::tg {

/// Keeps the ledgers of what a host's DDL connections send and receive.
///
/// Departing data carries the ledger of the last event that it waited for: the release of its
/// burst, the handshake, the acknowledgment that opened the window, or its predecessor's turn at
/// the NIC. A resent segment continues from its own earlier departure. An acknowledgment carries
/// the ledger of the data that arrived last; its whole way counts as silence of the window.
///
/// It only observes: the host reports what happens, and nothing depends on it. An acknowledgment
/// that travels on data of the other direction carries the data's ledger; if it opens a window, the
/// whole silence counts as window. Only attribute() allocates. Not thread-safe: the host owns it.
class HostAttribution {
 public:
  /// @param owners the highest owner id of the process
  explicit HostAttribution(std::uint32_t owners);
  ~HostAttribution();

  // -- connections, by the host's slot
  /// @param owner 0: a connection without attribution
  void attribute(std::uint32_t slot, const TcpConfig& config, std::uint32_t owner);
  void forget(std::uint32_t slot) noexcept;
  /// Assigns what the connection is given to send from now on to the ledger's burst.
  /// @param idle the account for time in which the connection has nothing more to send
  void begin_burst(std::uint32_t slot, TcpConnection& connection, const BurstLedger& ledger,
                   BurstTime idle, Time now) noexcept;

  // -- what happens
  /// A packet has arrived; changes until end_event() are its effects.
  void on_packet(const Packet& packet, std::uint32_t payload_bytes, Time now) noexcept;
  /// The packet belongs to that connection, which has not processed it yet.
  void on_arrival(std::uint32_t slot) noexcept;
  void on_timer() noexcept { timer_ = true; }
  void end_event() noexcept {
    arriving_ = BurstLedger{};
    timer_ = false;
  }
  /// The data that the connection has or may send can have changed.
  void on_change(std::uint32_t slot, TcpConnection& connection, Time now) noexcept;
  /// A segment of the connection, in the packet, starts to leave.
  void on_departure(std::uint32_t slot, const TcpConnection& connection, const TcpSegment& segment,
                    Packet& packet, Time start) noexcept;
  /// The NIC is occupied by a packet. @param signal the packet is a START or its answer
  void on_service(const Packet& packet, bool signal, Time start, Time finish) noexcept {
    const auto c = signal ? TrafficClass::kSignal : TrafficClass::kBackground;
    service_.on_service(c, owner_of(packet), start, finish);
  }

  /// Returns the ledger of the data segment that is arriving; not valid() if there is none.
  [[nodiscard]] const BurstLedger& arriving() const noexcept { return arriving_; }

 private:
  /// The reason for which the sender sends no new data.
  enum class State : std::uint8_t { kReady, kOpening, kWindow, kIdle };
  struct Sent {
    std::uint64_t offset;
    BurstLedger ledger;  ///< at its last departure
  };
  struct Flow;

  [[nodiscard]] Flow* flow_of(std::uint32_t slot) const noexcept {
    return slot < flows_.size() ? flows_[slot].get() : nullptr;
  }
  void leave_state(Flow& flow, Time now) noexcept;
  void open_window(Flow& flow, Time now) noexcept;

  ServiceClock service_;
  std::vector<std::unique_ptr<Flow>> flows_;  ///< [slots] or null
  BurstLedger arriving_{};
  bool arrived_data_ = false;
  bool timer_ = false;
};

}  // namespace outrider::tg
