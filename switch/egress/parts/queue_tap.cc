#include "switch/egress/parts/queue_tap.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>

#include "common/core/sequence.h"

namespace outrider::sw {

namespace {
constexpr std::uint32_t kMaxOpenBursts = 4096;      // (job, worker, direction) triples per queue
constexpr std::size_t kMaxGroups = kMaxOpenBursts;  // (job, direction) pairs: never too few alone

/// Iterations further apart than this belong to another run of the job, or are invented.
constexpr std::int32_t kFarIterations = 1024;
/// As many packets in a row from far iterations show that the job has begun anew.
constexpr std::uint32_t kStrangePackets = 32;

FlowKey key_of(const BurstIdentity& id) noexcept {
  return {id.job, id.worker, static_cast<std::uint16_t>(id.direction), 0};
}

bool is_far(std::uint32_t a, std::uint32_t b) noexcept {
  return std::abs(std::int64_t{sequence_distance(a, b)}) > kFarIterations;
}
}  // namespace

QueueTap::QueueTap(Limits limits)
    : limits_(limits), open_(kMaxOpenBursts), bin_end_(Time{} + limits.bin) {
  assert(limits.bin > Duration::zero());
  bursts_.reserve(limits.bursts);
  groups_.reserve(kMaxGroups);
  pending_.reserve(kMaxGroups);
  bins_.reserve(limits.bins);
}

/// Remembers what it found last: begins() and on_arrival() ask for the same burst.
QueueTap::Open* QueueTap::find_open(const BurstIdentity& id) noexcept {
  const FlowKey key = key_of(id);
  if (latest_ != nullptr && key == latest_key_) return latest_;
  Open* open = open_.find(key);
  if (open != nullptr) {
    latest_key_ = key;
    latest_ = open;
  }
  return open;
}

QueueBurstRecord* QueueTap::record_of(const Open* open, std::uint32_t iteration) noexcept {
  if (open == nullptr || open->iteration != iteration || open->record == kNoRecord) return nullptr;
  return &bursts_[open->record];
}

std::uint32_t QueueTap::group_of(const Open* open, const BurstIdentity& id) noexcept {
  if (open != nullptr) return open->group;
  const auto it = std::ranges::find_if(
      groups_, [&id](const Group& g) { return g.job == id.job && g.direction == id.direction; });
  if (it != groups_.end()) return static_cast<std::uint32_t>(it - groups_.begin());
  if (groups_.size() == kMaxGroups) return kNoGroup;
  groups_.push_back({.job = id.job, .direction = id.direction});
  pending_.push_back(0);
  return static_cast<std::uint32_t>(groups_.size() - 1);
}

void QueueTap::hand_out_peak() noexcept {
  for (auto& pending : pending_) pending = std::max(pending, peak_);
  peak_ = occupancy_;
}

void QueueTap::begin_iteration(std::uint32_t group, const BurstIdentity& id) noexcept {
  hand_out_peak();
  interval_sojourn_.discard();
  groups_[group] = {
      .job = id.job, .direction = id.direction, .iteration = id.iteration, .begun = true};
  pending_[group] = occupancy_;
}

/// Begins the iteration of `id` if it comes after the group's. One packet that names an iteration
/// far away does not move the group, otherwise it would end the records of all iterations
/// between.
void QueueTap::follow(std::uint32_t group, const BurstIdentity& id) noexcept {
  Group& g = groups_[group];
  if (!g.begun) return begin_iteration(group, id);
  if (is_far(id.iteration, g.iteration)) {
    if (++g.strange == kStrangePackets) begin_iteration(group, id);
    return;
  }
  g.strange = 0;
  if (sequence_distance(id.iteration, g.iteration) > 0) begin_iteration(group, id);
}

/// Adds the peak since the group's previous packet to its maximum, because another packet of
/// the group shows that the burst has lasted until now. @return the maximum so far
std::uint32_t QueueTap::confirm(std::uint32_t group) noexcept {
  hand_out_peak();
  Group& g = groups_[group];
  g.max_packets = std::max(g.max_packets, pending_[group]);
  pending_[group] = 0;
  interval_sojourn_.confirm();
  return g.max_packets;
}

/// @return the open burst of `id`'s worker, or nullptr if there is no room for it
QueueTap::Open* QueueTap::open_record(Open* open, std::uint32_t group, const BurstIdentity& id,
                                      const QueueState& found, Time now) noexcept {
  if (open != nullptr && !is_far(id.iteration, open->iteration) &&
      sequence_distance(id.iteration, open->iteration) <= 0)
    return open;  // a late copy, or not recorded
  if (open == nullptr) {
    open = open_.insert(key_of(id), {});
    latest_ = nullptr;  // an insertion moves what is in the table
  }
  if (open != nullptr) *open = {.iteration = id.iteration, .group = group};
  if (open == nullptr || bursts_.size() == limits_.bursts) {
    ++bursts_not_recorded_;
    return open;
  }
  open->record = static_cast<std::uint32_t>(bursts_.size());
  bursts_.push_back({.identity = id,
                     .first_at_ns = now.time_since_epoch().count(),
                     .last_at_ns = now.time_since_epoch().count(),
                     .start_packets = found.packets,
                     .start_bytes = found.bytes});
  return open;
}

void QueueTap::on_arrival(const BurstIdentity* identity, const QueueState& found,
                          Time now) noexcept {
  if (identity == nullptr) return;
  Open* open = find_open(*identity);
  const std::uint32_t group = group_of(open, *identity);
  if (group != kNoGroup) {
    follow(group, *identity);
    if (is_far(identity->iteration, groups_[group].iteration)) return;
  }
  if (record_of(open, identity->iteration) == nullptr)
    open = open_record(open, group, *identity, found, now);
  QueueBurstRecord* record = record_of(open, identity->iteration);
  if (record != nullptr && in_progress(group, *identity)) record->max_packets = confirm(group);
}

void QueueTap::on_occupancy(std::uint32_t occupancy, std::uint32_t threshold, Time now) noexcept {
  occupancy_ = occupancy;
  peak_ = std::max(peak_, occupancy);
  if (QueueBin* bin = bin_at(now)) {
    bin->max_packets = std::max(bin->max_packets, occupancy);
    if (bin->min_threshold_packets == 0 || threshold < bin->min_threshold_packets)
      bin->min_threshold_packets = threshold;
  }
}

void QueueTap::on_departure(const Departure& d) noexcept {
  occupancy_ = d.left_packets;
  const auto sojourn_ns = static_cast<std::uint64_t>(d.sojourn.count());
  interval_sojourn_.add(sojourn_ns);
  if (d.identity != nullptr) {
    burst_sojourn_.record(sojourn_ns);
    const Open* open = find_open(*d.identity);
    QueueBurstRecord* record = record_of(open, d.identity->iteration);
    if (record != nullptr && in_progress(open->group, *d.identity)) {
      record->max_packets = confirm(open->group);
      record->last_at_ns = d.start.time_since_epoch().count();
      ++record->packets;
      record->sojourn_ns += sojourn_ns;
    }
  }
  if (QueueBin* bin = bin_at(d.start)) {
    bin->bytes[d.traffic_class] += d.frame_bytes;
    bin->busy_ns += static_cast<std::uint64_t>((d.finish - d.start).count());
    bin->sojourn_ns += sojourn_ns;
  }
}

/// Returns the bin of `now`, or nullptr if there is no room for it. Bins are appended in order,
/// empty ones included, so that the index gives the time.
QueueBin* QueueTap::bin_at(Time now) noexcept {
  while (now >= bin_end_ || bins_.empty()) {
    if (bins_.size() == limits_.bins) return nullptr;
    bins_.emplace_back();
    bin_end_ = Time{} + limits_.bin * static_cast<std::int64_t>(bins_.size());
  }
  return &bins_.back();
}

void QueueTap::fill(QueueReport& report) const {
  report.burst_sojourn_ns = burst_sojourn_;
  report.interval_sojourn_ns = interval_sojourn_.confirmed();
  report.bursts = bursts_;
  report.bursts_not_recorded = bursts_not_recorded_;
  report.bins = bins_;
}

}  // namespace outrider::sw
