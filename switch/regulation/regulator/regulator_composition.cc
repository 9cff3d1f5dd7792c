#include "switch/regulation/regulator/regulator_composition.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace outrider {
namespace {

constexpr int kFraction_bits = 64;

/// Far above the error of the sums, and far below what a threshold can tell.
constexpr double kHalfWay = 1e-12;

std::uint16_t rounded(double packets) noexcept {
  return static_cast<std::uint16_t>(std::max(1.0, packets + 0.5 + packets * kHalfWay));
}

}  // namespace

/// Under kMin all entries are of one job, as it does not matter whose the lowest threshold is.
JobWishes::JobWishes(Composition composition, std::uint32_t max_entries)
    : composition_(composition),
      index_(composition == Composition::kMin ? 1 : max_entries),
      jobs_(index_.max_entries()),
      wishes_(max_entries),
      thresholds_(max_entries) {
  assert(max_entries > 0 && max_entries <= kMaxEntries);
  for (std::uint32_t i = index_.max_entries(); i-- > 0;) free_jobs_.push_back(i);
}

/// Finds or opens a job.
std::uint32_t JobWishes::open(const FlowKey& job) noexcept {
  if (composition_ == Composition::kMin) return 0;
  if (const std::uint32_t* known = index_.find(job)) return *known;
  const std::uint32_t at = free_jobs_.back();
  free_jobs_.pop_back();
  jobs_[at].key = job;
  index_.insert(job, at);
  return at;
}

void JobWishes::take_out(const Job& job) noexcept {
  if (job.entries == 0) return;
  Sum& sum = weighs(job) ? known_ : silent_;
  --sum.jobs;
  sum.weight -= weight_of(job);
  sum.quotients -= job.quotient;
}

void JobWishes::put_in(Job& job) noexcept {
  if (job.entries == 0) return;
  Sum& sum = weighs(job) ? known_ : silent_;
  ++sum.jobs;
  sum.weight += weight_of(job);
  if (composition_ == Composition::kMin) return;
  job.quotient = (Fixed{weight_of(job)} << kFraction_bits) / thresholds_.least(job.thresholds);
  sum.quotients += job.quotient;
}

void JobWishes::add(std::uint32_t slot, const FlowKey& job, std::uint16_t threshold_packets,
                    std::optional<std::uint64_t> bytes) noexcept {
  assert(threshold_packets > 0);
  const std::uint32_t at = open(job);
  Job& owner = jobs_[at];
  take_out(owner);
  wishes_[slot] = {.job = at, .bytes = std::min(bytes.value_or(0), kMostBytes)};
  thresholds_.add(owner.thresholds, slot, threshold_packets);
  ++owner.entries;
  owner.silent += wishes_[slot].bytes == 0;
  owner.bytes += wishes_[slot].bytes;
  put_in(owner);
  ++entries_;
}

void JobWishes::remove(std::uint32_t slot) noexcept {
  const Wish& wish = wishes_[slot];
  Job& owner = jobs_[wish.job];
  assert(entries_ > 0 && owner.entries > 0);
  take_out(owner);
  thresholds_.remove(owner.thresholds, slot);
  --owner.entries;
  owner.silent -= wish.bytes == 0;
  owner.bytes -= wish.bytes;
  put_in(owner);
  --entries_;
  assert(entries_ > 0 ||
         (known_.jobs + silent_.jobs == 0 && known_.quotients == 0 && silent_.quotients == 0));
  if (owner.entries > 0 || composition_ == Composition::kMin) return;
  index_.erase(owner.key);
  free_jobs_.push_back(wish.job);
}

std::uint16_t JobWishes::composed() const noexcept {
  assert(!empty());
  if (composition_ == Composition::kMin) return thresholds_.least(jobs_[0].thresholds);
  const auto number = [](Fixed f) { return std::ldexp(static_cast<double>(f), -kFraction_bits); };
  const auto silent = static_cast<double>(silent_.jobs);
  if (composition_ == Composition::kHarmonic) return rounded(1 / number(silent_.quotients));
  const auto known_bytes = static_cast<double>(known_.weight);
  const double mean = known_.jobs == 0 ? 1 : known_bytes / static_cast<double>(known_.jobs);
  return rounded((known_bytes + silent * mean) /
                 (number(known_.quotients) + mean * number(silent_.quotients)));
}

std::size_t JobWishes::bytes_per_entry() noexcept {
  return sizeof(Wish) + sizeof(Job) + sizeof(std::uint32_t) +
         MergeableHeaps<std::uint16_t>::bytes_per_slot() +
         2 * (sizeof(FlowKey) + 2 * sizeof(std::uint32_t));
}

}  // namespace outrider
