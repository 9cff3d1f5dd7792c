#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "common/dpdk/packet/packet.h"
#include "switch/forwarding/identify.h"
#include "switch/regulation/regulator/regulator.h"
#include "switch/report/report.h"

namespace outrider::sw {

/// The regulated threshold of one queue: its regulator, and what the queue's mode makes of the
/// threshold. A queue whose mode has never acted on bursts has no regulator. Decides; of a packet
/// it writes only what identify() notes. Not thread-safe: owned with the queue.
class QueueRegulation {
 public:
  /// @param stretches  of regulated time that are kept
  QueueRegulation(const RegulationPolicy& policy, std::size_t stretches) {
    if (acts_on_bursts(policy.mode)) regulator_ = std::make_unique<Regulator>(policy, stretches);
    follow(policy);
  }

  /// Returns whether there is a regulator. It is there while the mode is off, too, if a reload has
  /// changed that.
  [[nodiscard]] bool exists() const noexcept { return regulator_ != nullptr; }
  /// Returns whether STARTs arm it: its mode acts on bursts.
  [[nodiscard]] bool listens() const noexcept { return listens_; }
  /// Returns whether its threshold marks packets.
  [[nodiscard]] bool marks() const noexcept { return marks_; }
  /// @pre exists()
  [[nodiscard]] Regulator& regulator() noexcept { return *regulator_; }
  [[nodiscard]] const Regulator& regulator() const noexcept { return *regulator_; }

  /// Follows a packet that reaches the queue. @pre exists(); parsed and classified
  [[gnu::always_inline]] void on_packet(Packet& packet, Time now) noexcept {
    const PacketMeta& m = meta(packet);
    if (m.traffic_class != TrafficClass::kDdl) return;
    locate(packet);
    if (m.payload_bytes > 0 && regulator_->concerns(m.flow, now)) [[unlikely]]
      on_payload(m, now);
  }
  [[gnu::noinline]] void on_payload(const PacketMeta& m, Time now) noexcept {
    regulator_->on_payload(m.flow, m.sequence, m.payload_bytes, ends_stream(m), now,
                           m.notes.source_accepted);
  }

  /// Returns the threshold that is in force, h; nothing: the queue is not regulated. @pre exists()
  [[nodiscard]] const std::optional<std::uint16_t>& threshold(Time now) noexcept {
    return regulator_->threshold(now);
  }
  /// Returns whether a packet that finds `met` packets is to be marked, where the marker's own
  /// threshold for its class is `own`. @pre marks()
  [[nodiscard]] bool reaches(TrafficClass c, std::uint32_t met, std::uint32_t own,
                             Time now) noexcept {
    if (spare_ddl_ && c == TrafficClass::kDdl) [[unlikely]]
      return false;
    const auto& h = regulator_->threshold(now);
    return h && met >= *h && *h < own;
  }
  /// Returns the occupancy that marks background, given the marker's own.
  [[nodiscard]] std::uint32_t background_threshold(std::uint32_t own, Time now) noexcept {
    return lowers_ ? lower(regulator_->threshold(now), own) : own;
  }

  [[nodiscard]] std::uint32_t live_entries() const noexcept {
    return exists() ? regulator_->live_entries() : 0;
  }
  /// Returns Regulator::steps(), 0 without a regulator: for tests of what a packet costs.
  [[nodiscard]] std::uint64_t steps() const noexcept { return exists() ? regulator_->steps() : 0; }
  void settle(Time now) noexcept {
    if (exists()) static_cast<void>(regulator_->threshold(now));
  }
  /// Adds its counters. @pre QueueMarking::count() was called
  void count(QueueCounts& n, Time now) const {
    if (!exists()) return;
    base_of<RegulatorCounters>(n) = regulator_->counters();
    n.predictor = regulator_->prediction_counters();
    n.entries_left = regulator_->live_entries();
    n.regulated_ns = regulator_->regulated(now).count();
    if (lowers_)
      n.background_threshold_packets =
          lower(regulator_->threshold_at(now), n.background_threshold_packets);
  }

  /// Applies a policy. @param made  the first regulator, if there was none; it is taken
  void change(const RegulationPolicy& policy, std::unique_ptr<Regulator>& made, Time now) noexcept {
    if (made) std::swap(regulator_, made);
    else if (exists() && !acts_on_bursts(policy.mode)) regulator_->withdraw_all(now);
    else if (exists()) regulator_->change_policy(policy, now);
    follow(policy);
  }

 private:
  [[nodiscard]] static std::uint32_t lower(const std::optional<std::uint16_t>& h,
                                           std::uint32_t own) noexcept {
    return h ? std::min<std::uint32_t>(*h, own) : own;
  }
  void follow(const RegulationPolicy& policy) noexcept {
    listens_ = acts_on_bursts(policy.mode);
    marks_ = outrider::marks(policy.mode);
    lowers_ = exists() && !steers(policy.mode);
    spare_ddl_ = policy.spare_ddl;
  }

  std::unique_ptr<Regulator> regulator_;  ///< nullptr if the mode has never acted on bursts
  bool listens_ = false;
  bool marks_ = false;
  bool lowers_ = false;  ///< background that meets it is marked or kept: the mode does not steer
  bool spare_ddl_ = false;
};

}  // namespace outrider::sw
