#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "common/core/flow_table.h"
#include "common/core/recency_list.h"
#include "common/core/timing_wheel.h"
#include "trafficgen/hosts/host_pauses.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::tg {

/// Holds the connections of one host with their timers, and finds them by slot or by flow.
///
/// Slots never move, so a connection may be referred to during its life. Opening a connection
/// allocates if there were never as many open before; nothing else allocates. Timers are lazy: when
/// a deadline moves later, the table asks the connection again at the old deadline. Not
/// thread-safe.
class ConnectionTable {
 public:
  /// A connection, with what the table and the host additionally keep for it.
  struct Slot final : TcpConnection {
    Slot(std::uint32_t i, const TcpConfig& config, const Setup& setup, TransportMemory& memory,
         ConnectionListener& listener)
        : TcpConnection(config, setup, memory, listener),
          index(i),
          priority(config.priority.value_or(kNoPriority)) {}
    Time timer_at = kNever;  ///< when the table asks the connection again
    std::uint32_t index;     ///< of this slot
    bool queued = false;     ///< used by the host: waits for the NIC
    std::uint8_t nic_class = 0;
    bool half_open = false;  ///< see add_half_open()
    std::uint8_t priority;   ///< in pause frames
  };

  /// @param max_connections number at which full() becomes true
  /// @param expected connections for which the index and the timers have room from the start.
  ///   Growing copies both, which takes 100 ms with a million connections
  /// @param memory for all connections, must outlive the table
  ConnectionTable(std::uint32_t max_connections, std::uint32_t expected, TransportMemory& memory);
  ~ConnectionTable();
  ConnectionTable(const ConnectionTable&) = delete;
  ConnectionTable& operator=(const ConnectionTable&) = delete;

  /// Adds a connection and returns its slot. @pre !full(), no connection with that flow
  std::uint32_t add(const TcpConfig& config, const TcpConnection::Setup& setup,
                    ConnectionListener& listener);
  void remove(std::uint32_t slot) noexcept;

  /// @pre the slot is in use
  [[nodiscard]] Slot& operator[](std::uint32_t slot) noexcept {
    return *std::launder(reinterpret_cast<Slot*>(place(slot)));
  }
  /// Returns the slot of a connection of this table.
  [[nodiscard]] static Slot& slot_of(TcpConnection& connection) noexcept {
    return static_cast<Slot&>(connection);
  }
  /// @param flow in this host's direction. @return nothing if there is no such connection
  [[nodiscard]] std::optional<std::uint32_t> find(const FlowKey& flow) const noexcept {
    const std::uint32_t* slot = by_flow_.find(flow);
    return slot == nullptr ? std::nullopt : std::optional(*slot);
  }
  /// Starts to fetch what find(flow) reads. Once that is there, prefetch() fetches the connection,
  /// and later its flight.
  void prefetch_lookup(const FlowKey& flow) const noexcept { by_flow_.prefetch(flow); }
  [[nodiscard]] Slot* prefetch(const FlowKey& flow) noexcept {
    const std::uint32_t* index = by_flow_.find(flow);
    if (index == nullptr) return nullptr;
    Slot& slot = (*this)[*index];
    tg::prefetch(slot);
    return &slot;
  }
  /// Calls f(const TcpConnection&) for every connection, in no particular order.
  template <class F>
  void for_each(F&& f) {
    by_flow_.for_each([&](const FlowKey&, std::uint32_t slot) { f((*this)[slot]); });
  }
  [[nodiscard]] bool full() const noexcept { return by_flow_.size() == max_connections_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return by_flow_.size(); }

  // -- half-open connections, which wait for the peer's answer to our SYN-ACK, in order of age
  void add_half_open(std::uint32_t slot) noexcept;
  /// Says that the connection is established or over. It need not be half-open.
  void end_half_open(std::uint32_t slot) noexcept;
  [[nodiscard]] std::uint32_t half_open() const noexcept { return half_open_; }
  /// Returns the slot of the oldest one. @pre half_open() > 0
  [[nodiscard]] std::uint32_t oldest_half_open() const noexcept { return half_open_list_.oldest; }

  /// Notes the connection's next timer.
  /// @return true if it is earlier than when the table would have asked the connection
  [[nodiscard]] bool refresh_timer(Slot& s) noexcept {
    const Time at = s.next_timer();
    if (at >= s.timer_at) [[likely]]
      return false;
    s.timer_at = at;
    timers_.schedule(s.index, at);
    return true;
  }
  /// Returns a lower bound of the first instant at which a slot must be asked. It is after `now`
  /// if take_due(now) found nothing and no timer was noted since; otherwise it may be earlier.
  [[nodiscard]] Time next_timer() const noexcept { return timers_.next_bound(); }
  /// Takes the first slot that must be asked at or before `now`.
  [[nodiscard]] std::optional<std::uint32_t> take_due(Time now) noexcept;

 private:
  static constexpr std::uint32_t kChunkSlots = 16;
  static constexpr std::uint32_t kFirstTableEntries = 64;

  struct alignas(Slot) Place {
    std::byte bytes[sizeof(Slot)];
  };
  [[nodiscard]] std::byte* place(std::uint32_t slot) noexcept {
    return chunks_[slot / kChunkSlots][slot % kChunkSlots].bytes;
  }

  std::uint32_t max_connections_;
  std::uint32_t half_open_ = 0;
  SlotLinks half_open_links_{kChunkSlots};
  SlotLinks::List half_open_list_{};
  TransportMemory& memory_;
  std::vector<std::unique_ptr<Place[]>> chunks_;
  std::vector<std::uint32_t> free_;
  FlowTable<std::uint32_t> by_flow_;
  // Deadlines are about 100 us to seconds ahead, so slots of 8 us and coarse levels suit them.
  TimingWheel<13, 6> timers_;
};

}  // namespace outrider::tg
