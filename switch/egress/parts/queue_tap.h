#pragma once

#include <cstdint>
#include <vector>

#include "common/core/burst_identity.h"
#include "common/core/clock.h"
#include "common/core/flow_table.h"
#include "common/core/histogram.h"
#include "common/core/traffic_class.h"
#include "switch/report/report.h"

namespace outrider::sw {

/// The packets that wait in a queue, or in several, at one instant.
struct QueueState {
  PerClass<std::uint32_t> packets{};
  std::uint32_t total_packets = 0;
  std::uint64_t bytes = 0;
};

/// Collects the sojourn of all packets that leave between a burst's first and last packet. A
/// value is pending until a later packet of the burst proves that the burst was still in
/// progress. Values after the last packet are discarded.
class IntervalSojourn {
 public:
  IntervalSojourn() { recent_.reserve(kRecent); }

  void add(std::uint64_t sojourn_ns) noexcept {
    if (recent_.size() == kRecent) {
      for (const auto v : recent_) older_.record(v);
      recent_.clear();
    }
    recent_.push_back(sojourn_ns);
  }
  void confirm() noexcept {
    for (const auto v : recent_) confirmed_.record(v);
    recent_.clear();
    if (older_.count() > 0) {  // rare: a burst that paused for longer than kRecent packets
      confirmed_.merge(older_);
      older_.clear();
    }
  }
  void discard() noexcept {
    recent_.clear();
    if (older_.count() > 0) older_.clear();
  }
  [[nodiscard]] const Histogram& confirmed() const noexcept { return confirmed_; }

 private:
  static constexpr std::size_t kRecent = 1024;
  std::vector<std::uint64_t> recent_;
  Histogram older_;
  Histogram confirmed_;
};

/// Records how bursts fared in one egress queue: the occupancy they found, its maximum, their
/// sojourn, and a binned time series. Reads burst identities; decides nothing.
///
/// All memory is taken at construction. Bursts that no longer fit are counted, not recorded.
/// Time does not decrease. Not thread-safe: owned by the lcore of the egress port.
class QueueTap {
 public:
  struct Limits {
    std::uint32_t bursts = 0;  ///< most records kept
    std::uint32_t bins = 0;    ///< most bins kept
    Duration bin{};            ///< width of a bin, > 0
  };
  explicit QueueTap(Limits limits);
  QueueTap(const QueueTap&) = delete;  // latest_ points into open_
  QueueTap& operator=(const QueueTap&) = delete;

  /// Returns whether on_arrival() would begin a record: no other call reads the whole of `found`.
  [[nodiscard]] bool begins(const BurstIdentity* identity) noexcept {
    return identity != nullptr && record_of(find_open(*identity), identity->iteration) == nullptr;
  }

  /// Records the arrival of a packet.
  /// @param identity of its burst, or nullptr
  /// @param found  what leaves before the packet if nothing else arrives
  void on_arrival(const BurstIdentity* identity, const QueueState& found, Time now) noexcept;

  /// Records that the queue holds `occupancy` packets after an arrival at `now`.
  /// @param threshold  effective threshold for background at that time
  void on_occupancy(std::uint32_t occupancy, std::uint32_t threshold, Time now) noexcept;

  struct Departure {
    const BurstIdentity* identity = nullptr;
    TrafficClass traffic_class{};
    std::uint32_t frame_bytes = 0;
    Duration sojourn{};
    Time start{};                    ///< when it leaves the queue
    Time finish{};                   ///< when it leaves the port
    std::uint32_t left_packets = 0;  ///< occupancy that it leaves behind
  };
  void on_departure(const Departure& d) noexcept;

  void fill(QueueReport& report) const;

 private:
  /// The bursts of one job in one direction, which share the interval "in progress".
  struct Group {
    std::uint16_t job = 0;
    BurstDirection direction{};
    std::uint32_t iteration = 0;
    bool begun = false;
    std::uint32_t strange = 0;      ///< packets in a row whose iteration is far from this one
    std::uint32_t max_packets = 0;  ///< from the first to the latest packet of the iteration
  };
  static constexpr std::uint32_t kNoGroup = ~0U;

  static constexpr std::uint32_t kNoRecord = ~0U;
  /// The latest burst of one (job, worker, direction).
  struct Open {
    std::uint32_t iteration = 0;
    std::uint32_t record = kNoRecord;  ///< index in bursts_
    std::uint32_t group = kNoGroup;    ///< index in groups_
  };

  Open* find_open(const BurstIdentity& id) noexcept;
  QueueBurstRecord* record_of(const Open* open, std::uint32_t iteration) noexcept;
  Open* open_record(Open* open, std::uint32_t group, const BurstIdentity& id,
                    const QueueState& found, Time now) noexcept;
  std::uint32_t group_of(const Open* open, const BurstIdentity& id) noexcept;
  /// Returns whether `id` belongs to the iteration that its group is in.
  [[nodiscard]] bool in_progress(std::uint32_t group, const BurstIdentity& id) const noexcept {
    return group != kNoGroup && groups_[group].iteration == id.iteration;
  }
  void hand_out_peak() noexcept;
  void begin_iteration(std::uint32_t group, const BurstIdentity& id) noexcept;
  void follow(std::uint32_t group, const BurstIdentity& id) noexcept;
  std::uint32_t confirm(std::uint32_t group) noexcept;
  QueueBin* bin_at(Time now) noexcept;

  Limits limits_;
  std::vector<QueueBurstRecord> bursts_;
  std::uint64_t bursts_not_recorded_ = 0;
  FlowTable<Open> open_;  ///< by (job, worker, direction)
  FlowKey latest_key_{};  ///< of what find_open() found last
  Open* latest_ = nullptr;
  std::vector<Group> groups_;
  /// The largest occupancy since the latest packet of each group. Apart from the groups, because
  /// every packet of a burst raises all of them.
  std::vector<std::uint32_t> pending_;
  std::uint32_t peak_ = 0;       ///< largest occupancy since hand_out_peak()
  std::uint32_t occupancy_ = 0;  ///< latest known occupancy [packets]
  std::vector<QueueBin> bins_;
  Time bin_end_;
  Histogram burst_sojourn_;
  IntervalSojourn interval_sojourn_;
};

}  // namespace outrider::sw
