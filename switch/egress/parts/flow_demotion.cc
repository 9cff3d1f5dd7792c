#include "switch/egress/parts/flow_demotion.h"

#include <cassert>

namespace outrider::sw {

FlowDemotion::FlowDemotion(const DemotionConfig& config)
    : after_bytes_(config.after_bytes.value()),
      idle_(config.idle),
      flows_(config.max_flows),
      slots_(config.max_flows) {}

bool FlowDemotion::goes_early(const FlowKey& flow, std::uint32_t payload_bytes, const Queue& own,
                              Time now) noexcept {
  if (payload_bytes == 0) {
    ++counters_.empty;
    return true;
  }
  Flow* f = flows_.find(flow);
  if (f == nullptr) {
    f = place_for(flow, own, now);
    if (f == nullptr) {
      ++counters_.no_room;
      last_no_room_ = own.next_number();
      return false;
    }
  } else if (is_idle(*f, own, now)) {
    ++counters_.flows;
    *f = {};
  }
  f->last = now;
  f->sent_bytes += payload_bytes;
  if (!f->demoted && f->sent_bytes <= after_bytes_) {
    ++counters_.early;
    return true;
  }
  counters_.demoted += !f->demoted;
  f->demoted = true;
  f->last_own = own.next_number();
  return false;
}

FlowDemotion::Flow* FlowDemotion::place_for(const FlowKey& flow, const Queue& own,
                                            Time now) noexcept {
  std::uint32_t slot = used_;
  if (used_ < slots_.size()) {
    ++used_;
  } else {
    for (std::uint32_t looked = 0;; ++looked) {
      if (looked == kLookedAt) return nullptr;
      slot = hand_;
      hand_ = hand_ + 1 == slots_.size() ? 0 : hand_ + 1;
      if (is_idle(*flows_.find(slots_[slot]), own, now)) break;
    }
    flows_.erase(slots_[slot]);
  }
  slots_[slot] = flow;
  ++counters_.flows;
  assert(flows_.size() < slots_.size());
  const bool may_wait_here = counters_.no_room != 0 && own.waits_up_to(last_no_room_);
  counters_.demoted += may_wait_here;
  return flows_.insert(flow, {.last_own = last_no_room_, .demoted = may_wait_here});
}

}  // namespace outrider::sw
