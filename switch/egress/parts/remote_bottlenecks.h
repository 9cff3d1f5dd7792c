#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "common/core/units.h"
#include "common/dpdk/packet/packet.h"
#include "switch/egress/parts/queue_window.h"
#include "switch/egress/queue_part.h"
#include "switch/forwarding/prefix_table.h"
#include "switch/regulation/policy/regulation_policy.h"
#include "switch/regulation/regulator/regulator.h"
#include "switch/report/remote_counts.h"

namespace outrider::sw {

/// A queue further on, where nothing regulates: background that passes the port on its way there
/// is held for the bursts that go there. It has a regulator of its own, so that lead, recovery,
/// expiry and budget hold for it as for a queue of this switch.
///
/// Time does not decrease. Not thread-safe: the lcore of the egress port owns it.
class RemoteBottleneck {
 public:
  /// @param policy  of the port's queue, with what follows from other settings
  RemoteBottleneck(const RemotePolicy& remote, const RegulationPolicy& policy, RateLayer layer);

  void on_start(const StartSignal& start, Time now) noexcept;
  /// Shows it a packet that is about to enter the port's queue on its way there. @pre parsed and
  /// classified
  WindowTreatment on_arrival(Packet& packet, Time now) noexcept;
  /// Shows it a packet that has come back from there, and may rewrite its window field.
  void on_return(Packet& packet, Time now) noexcept;
  void change_policy(const RegulationPolicy& policy, Time now) noexcept {
    regulator_.change_policy(policy, now);
  }
  void settle(Time now) noexcept { static_cast<void>(regulator_.threshold(now)); }

  void add_to(RemoteCounts& sums) const noexcept;
  [[nodiscard]] RemoteReport report(Time now) const;

 private:
  [[nodiscard]] std::optional<std::uint16_t> threshold(Time now) noexcept;

  std::string name_;
  Regulator regulator_;
  QueueWindow window_;
};

/// The bottlenecks that an egress port leads to, each with the destinations beyond it. What goes
/// to none of them belongs to the port's own queue.
///
/// A flow that passes several is held by all: each lowers the window that the one before left, as
/// switches in a row do. Lookups are O(1); nothing allocates after construction.
class RemoteBottlenecks final : public QueuePart {
 public:
  static constexpr std::size_t kMost = kMostRemote;  ///< a set is the value of a PrefixTable

  /// @param config  of the queue. @pre it names at most kMost, and all destinations parse
  RemoteBottlenecks(const PortQueueConfig& config, RateLayer layer, const SignerShares& signers);

  [[nodiscard]] Steps steps() const noexcept override {
    return {Step::kAdmit, Step::kStart, Step::kReturn};
  }
  // Each handles what goes to, or comes from, a destination beyond one of them, and returns whether
  // that is so: then it is no concern of the queue's own regulation.
  [[nodiscard]] bool takes_start(const StartSignal& start, Time now) noexcept override;
  bool on_admission(Packet& packet, Time now) noexcept override;
  bool takes_elsewhere(Packet& packet, Time now) noexcept override;
  bool on_return(Packet& packet, Time now) noexcept override;

  void settle(Time now) noexcept override;
  void count(QueueCounts& to, std::size_t queue, Time now) const override;
  void report(QueueReport& to, Time now) const override;
  [[nodiscard]] std::unique_ptr<PartChange> prepare(const PartReload& reload) const override;
  void apply(PartChange* change, const PortQueueConfig& to, Time now) noexcept override;

 private:
  using Set = std::uint16_t;  ///< bit i: all_[i]
  static_assert((1U << kMost) - 1 <= PrefixTable::kMaxValue);

  [[nodiscard]] Set remote_of(std::uint32_t address) const noexcept {
    return sets_.lookup(address).value_or(0);
  }
  [[nodiscard]] std::optional<WindowTreatment> treat(Packet& packet, Time now) noexcept;

  PrefixTable sets_;  ///< destination -> those that it lies beyond
  std::deque<RemoteBottleneck> all_;
};

}  // namespace outrider::sw
