#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "common/core/flow_table.h"
#include "common/core/timing_wheel.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::tg {

/// That a host's connection of this flow gets.
[[nodiscard]] inline std::uint32_t initial_sequence_of(const FlowKey& flow) noexcept {
  return static_cast<std::uint32_t>(hash_of(flow));
}

/// The connections of one host, found by slot or by flow, with their timers.
///
/// Slots stay where they are, so a connection may be referred to for its life.
/// Opening one allocates when there were never as many open before; nothing else
/// does. A timer is lazy: a deadline that moved later is not searched for, its
/// owner is asked again when the old one is due. Not thread-safe.
class ConnectionTable {
 public:
  /// A connection and what the table and the host know of it beside.
  struct Slot final : TcpConnection {
    Slot(std::uint32_t i, const TcpConfig& config, const Setup& setup, TransportMemory& memory,
         ConnectionListener& listener)
        : TcpConnection(config, setup, memory, listener), index(i) {}
    Time timer_at = kNever;  ///< when the table asks the connection again
    std::uint32_t index;     ///< of this slot
    bool queued = false;     ///< the host's, waits for the NIC
    std::uint8_t nic_class = 0;
  };

  /// @param max_connections beyond which full() holds
  /// @param expected connections for which the index and the timers have room at once.
  ///        Growing them copies them: with a million connections for 100 ms
  /// @param memory of all connections, must outlive the table
  ConnectionTable(std::uint32_t max_connections, std::uint32_t expected, TransportMemory& memory);
  ~ConnectionTable();
  ConnectionTable(const ConnectionTable&) = delete;
  ConnectionTable& operator=(const ConnectionTable&) = delete;

  /// @pre !full(), no connection of that flow
  /// @return its slot
  std::uint32_t add(const TcpConfig& config, const TcpConnection::Setup& setup,
                    ConnectionListener& listener);
  void remove(std::uint32_t slot) noexcept;

  /// @pre the slot is in use
  [[nodiscard]] Slot& operator[](std::uint32_t slot) noexcept {
    return *std::launder(reinterpret_cast<Slot*>(place(slot)));
  }
  /// Of a connection of this table.
  [[nodiscard]] static Slot& slot_of(TcpConnection& connection) noexcept {
    return static_cast<Slot&>(connection);
  }
  /// @param flow as this host sends it. @return nothing if there is none
  [[nodiscard]] std::optional<std::uint32_t> find(const FlowKey& flow) const noexcept {
    const std::uint32_t* slot = by_flow_.find(flow);
    return slot == nullptr ? std::nullopt : std::optional(*slot);
  }
  /// Start to fetch what find(flow) reads; once that is there the connection; and
  /// then what it has in flight.
  void prefetch_lookup(const FlowKey& flow) const noexcept { by_flow_.prefetch(flow); }
  [[nodiscard]] Slot* prefetch(const FlowKey& flow) noexcept {
    const std::uint32_t* index = by_flow_.find(flow);
    if (index == nullptr) return nullptr;
    Slot& slot = (*this)[*index];
    slot.prefetch();
    return &slot;
  }
  [[nodiscard]] bool full() const noexcept { return by_flow_.size() == max_connections_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return by_flow_.size(); }

  /// Takes note of the connection's next timer.
  void refresh_timer(std::uint32_t slot) noexcept {
    Slot& s = (*this)[slot];
    const Time at = s.next_timer();
    if (at >= s.timer_at) return;
    s.timer_at = at;
    timers_.schedule(slot, at);
  }
  /// Not after the first instant at which a slot is to be asked; after `now` if
  /// take_due(now) found nothing and nothing was noted since, before it otherwise.
  [[nodiscard]] Time next_timer() const noexcept { return timers_.next_bound(); }
  /// Takes the first slot that is to be asked at or before `now`.
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
  TransportMemory& memory_;
  std::vector<std::unique_ptr<Place[]>> chunks_;
  std::vector<std::uint32_t> free_;
  FlowTable<std::uint32_t> by_flow_;
  // Deadlines lie some 100 us to seconds ahead: slots of 8 us, coarse levels.
  TimingWheel<13, 6> timers_;
};

}  // namespace outrider::tg
