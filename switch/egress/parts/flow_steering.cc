#include "switch/egress/parts/flow_steering.h"

namespace outrider::sw {

bool FlowSteering::moves(const FlowKey& flow, bool of_burst, const Queue& own,
                         const Queue& target) noexcept {
  Flow* f = flows_.find(flow);
  if (f == nullptr) return false;
  if (of_burst && !f->in_target && own.waits_up_to(f->last_own)) {
    ++counters_.stayed;
    f->last_own = own.next_number();
    return false;
  }
  if (of_burst) {
    counters_.moves += !f->in_target;
    ++counters_.packets;
    *f = {.last_target = target.next_number(),
          .left_after_end = target.occupancy_packets() + 1,
          .in_target = true};
    return true;
  }
  if (waits_in_target(*f, target) && f->left_after_end > 0) {
    ++counters_.after_end;
    --f->left_after_end;
    f->last_target = target.next_number();
    return true;
  }
  f->in_target = false;
  f->last_own = own.next_number();
  return false;
}

}  // namespace outrider::sw
