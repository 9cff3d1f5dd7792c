#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/flow_table.h"
#include "trafficgen/hosts/datagram_endpoint.h"

namespace outrider::tg {

/// Holds the datagram endpoints of one host, by number and by key, with the host's state for each.
/// They stay. Not thread-safe.
class DatagramTable {
 public:
  struct Slot {
    DatagramEndpoint* endpoint = nullptr;
    Time timer_at = kNever;   ///< when the host asks the endpoint again
    std::uint32_t apart = 0;  ///< number of DatagramEndpoint::apart(); 0: nothing leaves apart
    std::uint8_t nic_class = 0;
    std::uint8_t priority = 0;  ///< in pause frames, or kNoPriority
    bool queued = false;        ///< waits for the NIC
  };

  DatagramTable() : by_key_(kExpected) {}

  /// Adds an endpoint, and behind it what leaves apart from it. Returns its number. Allocates. @pre
  /// no other endpoint has its key
  std::uint32_t add(DatagramEndpoint& endpoint, std::uint8_t nic_class, std::uint8_t priority) {
    assert(!find(endpoint.key()));
    const auto number = static_cast<std::uint32_t>(slots_.size());
    slots_.push_back({.endpoint = &endpoint, .nic_class = nic_class, .priority = priority});
    if (by_key_.full()) by_key_.grow();
    by_key_.insert(endpoint.key(), number);
    if (const auto apart = endpoint.apart(); apart.endpoint != nullptr) {
      slots_[number].apart = number + 1;
      slots_.push_back(
          {.endpoint = apart.endpoint, .nic_class = nic_class, .priority = apart.priority});
    }
    return number;
  }
  [[nodiscard]] Slot& operator[](std::uint32_t number) noexcept { return slots_[number]; }
  /// @param key as DatagramEndpoint::key() returns it
  [[nodiscard]] std::optional<std::uint32_t> find(const FlowKey& key) const noexcept {
    const std::uint32_t* number = by_key_.find(key);
    return number == nullptr ? std::nullopt : std::optional(*number);
  }
  /// Calls `f` with each endpoint, in the order in which they were added.
  template <class F>
  void for_each(F&& f) const {
    for (const Slot& slot : slots_) f(*slot.endpoint);
  }
  [[nodiscard]] bool empty() const noexcept { return slots_.empty(); }
  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(slots_.size());
  }

 private:
  static constexpr std::uint32_t kExpected = 16;
  std::vector<Slot> slots_;
  FlowTable<std::uint32_t> by_key_;
};

}  // namespace outrider::tg
