#pragma once

#include <cstdint>
#include <optional>

#include "common/core/flow_key.h"
#include "common/core/flow_table.h"
#include "trafficgen/core/fifo.h"
#include "trafficgen/transport/base/tcp_counters.h"
#include "trafficgen/transport/connection/time_wait.h"

namespace outrider::tg {

/// Holds the connections of a host in TIME-WAIT, each in 40 bytes and a place in a queue.
///
/// It uses no timers: an expired entry is no longer found, and is removed when others are added. At
/// the limit the oldest one is removed early. A new peak of waiting connections allocates. Not
/// thread-safe.
class TimeWaitTable {
 public:
  /// Largest number of connections, as in Linux (tcp_max_tw_buckets).
  static constexpr std::uint32_t kLimit = 1U << 18;

  /// @param events counts what happens, must outlive the table
  explicit TimeWaitTable(TcpEvents& events, std::uint32_t limit = kLimit)
      : events_(events), limit_(limit) {}

  /// @param flow in this host's direction
  void add(const FlowKey& flow, const TimeWait& state, Duration wait, Time now);
  /// @return nullptr if the flow is not waiting, or no longer
  [[nodiscard]] const TimeWait* find(const FlowKey& flow, Time now) const noexcept {
    const Entry* entry = entries_.find(flow);
    return entry == nullptr || entry->until <= now ? nullptr : &entry->state;
  }
  /// Restarts the wait with the same length. @pre find(flow, now) != nullptr
  void restart(const FlowKey& flow, Time now) noexcept;
  void erase(const FlowKey& flow) noexcept { entries_.erase(flow); }

  [[nodiscard]] bool empty() const noexcept { return entries_.size() == 0; }
  /// Returns the number of entries, including expired ones that are not removed yet.
  [[nodiscard]] std::uint32_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    TimeWait state;
    Duration wait{};
    Time until{};
  };
  struct Queued {
    FlowKey flow;
    Time until{};
  };
  void expire_first(Time now);

  TcpEvents& events_;
  std::uint32_t limit_;
  FlowTable<Entry> entries_{16};
  /// In the order of adding; may contain flows that were erased or added again since.
  Fifo<Queued> queue_{16};
};

}  // namespace outrider::tg
