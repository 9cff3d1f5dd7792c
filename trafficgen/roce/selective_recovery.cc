#include "trafficgen/roce/selective_recovery.h"

#include <algorithm>
#include <utility>

namespace outrider::tg {

void SelectiveRecovery::find() noexcept {
  next_ = kNone;
  if (cursor_ >= lost_end_) return;
  const std::uint64_t lost = arrived_.first_clear(cursor_, lost_end_);
  if (lost < lost_end_) next_ = lost;
}

bool SelectiveRecovery::on_arrived(std::uint64_t packet, std::uint64_t acknowledged,
                                   std::uint64_t highest) noexcept {
  if (!arrived_.has(packet)) {
    arrived_.set(packet);
    ++marked_;
  }
  lost_end_ = std::max(lost_end_, packet);
  const bool begins = !std::exchange(recovering_, true);
  if (begins) {
    cursor_ = acknowledged;
    end_ = highest;
  }
  find();
  return begins;
}

void SelectiveRecovery::resend(std::uint64_t acknowledged, std::uint64_t highest) noexcept {
  recovering_ = true;
  cursor_ = acknowledged;
  lost_end_ = end_ = highest;
  find();
}

void SelectiveRecovery::resend_dropped(std::uint64_t acknowledged, std::uint64_t highest) noexcept {
  forget(acknowledged, highest);
  resend(acknowledged, highest);
}

void SelectiveRecovery::forget(std::uint64_t from, std::uint64_t to) noexcept {
  for (; marked_ > 0 && from < to; ++from) {
    if (!arrived_.has(from)) continue;
    arrived_.clear(from);
    --marked_;
  }
}

void SelectiveRecovery::on_acknowledged(std::uint64_t from, std::uint64_t to,
                                        std::uint64_t highest) noexcept {
  forget(from, to);
  if (!recovering_) return;
  cursor_ = std::max(cursor_, to);
  find();
  if (to < end_) return;
  recovering_ = next_ != kNone;
  end_ = highest;
}

}  // namespace outrider::tg
