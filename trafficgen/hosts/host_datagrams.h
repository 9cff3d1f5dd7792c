#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "common/core/drop_reason.h"
#include "common/core/indexed_heap.h"
#include "common/dpdk/packet/packet.h"
#include "trafficgen/hosts/datagram_table.h"
#include "trafficgen/hosts/host_timers.h"
#include "trafficgen/hosts/nic_queue.h"

namespace outrider::tg {

/// Drives the datagram endpoints of a host: turns at the NIC, arrivals and timers, as for
/// connections. An endpoint has one timer, which moves: a queue pair that is paced sets one for
/// each packet, and its time-out lies far behind. Not thread-safe: the host owns it. add()
/// allocates.
class HostDatagrams {
 public:
  /// Set in the NIC's queue in an endpoint's number, to distinguish it from a connection's slot.
  static constexpr std::uint32_t kBit = 1U << 31;

  /// @param queue,timers of the host, must outlive this
  HostDatagrams(NicQueue& queue, HostTimers& timers, bool full_payload)
      : queue_(queue), timers_(timers), full_payload_(full_payload) {}

  void add(DatagramEndpoint& endpoint, std::uint8_t nic_class, std::uint8_t priority);
  /// @param number without kBit
  [[nodiscard]] const DatagramTable::Slot& operator[](std::uint32_t number) noexcept {
    return table_[number];
  }
  /// @param key as DatagramEndpoint::key() returns it
  [[nodiscard]] bool has(const FlowKey& key) const noexcept { return table_.find(key).has_value(); }
  /// See DatagramTable::for_each().
  template <class F>
  void for_each(F&& f) const {
    table_.for_each(f);
  }
  [[nodiscard]] bool empty() const noexcept { return table_.empty(); }
  [[nodiscard]] std::uint32_t size() const noexcept { return table_.size(); }
  /// The endpoint may have something to send.
  void changed(const DatagramEndpoint& endpoint, Time now) noexcept {
    if (const auto number = table_.find(endpoint.key())) refresh(*number, now);
  }
  /// @return the reason for which the packet is dropped; nothing if an endpoint took it
  [[nodiscard]] std::optional<DropReason> take(Packet& packet, Time now) noexcept;
  /// Call sent() after it. @return false if the endpoint had nothing to send after all
  [[nodiscard]] bool write(std::uint32_t number, Packet& packet, Time now) noexcept;
  /// Lets the endpoint that write() has served, if there is one, wait for its next turn.
  /// @param free_at when the NIC has sent what was written
  void sent(Time free_at) noexcept {
    if (served_ == kNobody) return;
    table_[served_].endpoint->look_ahead(free_at);
    refresh(std::exchange(served_, kNobody), free_at);
  }

  /// Wakes the endpoints whose timers are due.
  void fire_due(Time now) noexcept;
  [[nodiscard]] Time next_timer() const noexcept {
    return due_ == nullptr || due_->empty() ? kNever : due_->top_key();
  }

 private:
  using Due = IndexedHeap<Time>;
  static constexpr std::uint32_t kNobody = ~0U;

  void offer(DatagramTable::Slot& slot, std::uint32_t number, Time now) noexcept;
  void offer_apart(std::uint32_t number, Time now) noexcept {
    if (const std::uint32_t apart = table_[number].apart; apart != 0) [[unlikely]]
      offer(table_[apart], apart, now);
  }
  /// Queues the endpoint if it has something to send at the instant, and keeps its timer.
  void refresh(std::uint32_t number, Time at) noexcept;

  std::unique_ptr<Due> due_;  ///< numbers of endpoints by timer_at, where there is one
  NicQueue& queue_;
  HostTimers& timers_;
  bool full_payload_;
  std::uint32_t served_ = kNobody;
  DatagramTable table_;
};

}  // namespace outrider::tg
