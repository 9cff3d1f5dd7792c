#pragma once

#include <cstdint>
#include <optional>

#include "common/core/fifo.h"
#include "common/core/flow_key.h"
#include "common/core/flow_table.h"
#include "trafficgen/transport/base/tcp_counters.h"
#include "trafficgen/transport/connection/time_wait.h"

namespace outrider::tg {

/// Connections of a host that wait in TIME-WAIT, 40 bytes and a place in a queue each.
///
/// Nothing is timed: what has waited long enough is no longer found, and goes when
/// others come. Beyond the limit the oldest one goes early. A new peak of waiting
/// connections allocates. Not thread-safe.
class TimeWaitTable {
 public:
  /// Connections; Linux has as many (tcp_max_tw_buckets).
  static constexpr std::uint32_t kLimit = 1U << 18;

  /// @param events counts what happens, must outlive the table
  explicit TimeWaitTable(TcpEvents& events, std::uint32_t limit = kLimit)
      : events_(events), limit_(limit) {}

  /// @param flow as this host sends it
  void add(const FlowKey& flow, const TimeWait& state, Duration wait, Time now);
  /// @return nullptr if it does not wait, or no longer
  [[nodiscard]] const TimeWait* find(const FlowKey& flow, Time now) const noexcept {
    const Entry* entry = entries_.find(flow);
    return entry == nullptr || entry->until <= now ? nullptr : &entry->state;
  }
  /// It waits as long again. @pre find(flow, now) != nullptr
  void restart(const FlowKey& flow, Time now) noexcept;
  void erase(const FlowKey& flow) noexcept { entries_.erase(flow); }

  [[nodiscard]] bool empty() const noexcept { return entries_.size() == 0; }
  /// Those that are over and not gone yet as well.
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
  /// In the order of adding, with what was erased or added again meanwhile.
  Fifo<Queued> queue_{16};
};

}  // namespace outrider::tg
