#include "tools/hostagent/burst_announcer.h"

#include <algorithm>
#include <utility>

namespace outrider::agent {

BurstAnnouncer::BurstAnnouncer(const Params& params)
    : params_(params), lead_(params.lead), predictor_(params.predictor) {}

std::optional<BurstAnnouncer::Announcement> BurstAnnouncer::on_onset(std::uint64_t flow, Time at,
                                                                     Time now) {
  Flow& known = flows_[flow];
  ++counters_.onsets;
  predictor_.on_payload(flow, std::min(at, now));
  if (std::exchange(known.expected, false)) {
    ++counters_.met;
    return std::nullopt;
  }
  ++counters_.at_first_byte;
  return Announcement{.flow = flow, .iteration = known.announcements++};
}

std::optional<BurstAnnouncer::Announcement> BurstAnnouncer::take(Time now) {
  if (lead_ == Duration::zero()) return std::nullopt;
  while (const auto prediction = predictor_.take(now, lead_)) {
    const auto known = flows_.find(prediction->key);
    if (known == flows_.end()) continue;  // forgotten here; the predictor drops it by itself later
    known->second.expected = true;
    ++counters_.ahead;
    return Announcement{.flow = prediction->key,
                        .iteration = known->second.announcements++,
                        .due_in = std::max(prediction->due - now, Duration::zero()),
                        .predicted = true};
  }
  return std::nullopt;
}

bool BurstAnnouncer::take_lead(Duration told) noexcept {
  if (!params_.lead_limit) return false;
  lead_ = std::clamp(told, params_.lead, *params_.lead_limit);
  return true;
}

void BurstAnnouncer::forget(std::uint64_t flow) { flows_.erase(flow); }

}  // namespace outrider::agent
