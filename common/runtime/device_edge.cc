#include "common/runtime/device_edge.h"

#include <algorithm>

namespace outrider {

DeviceEdge::~DeviceEdge() {
  do drop_from(0);
  while (size_ != 0);
}

void DeviceEdge::flush() noexcept {
  bool stuck = false;
  while (size_ != 0 && !stuck) {
    const std::uint16_t taken = port_.tx(batch_.data(), size_);
    transmitted_ += taken;
    stuck = taken < size_ && hold_;
    if (hold_) keep_from(taken);
    else drop_from(taken);
  }
  backpressure_.full = stuck;
}

void DeviceEdge::wait(Packet* packet) noexcept {
  meta(*packet).next = nullptr;
  (first_waiting_ == nullptr ? first_waiting_ : meta(*last_waiting_).next) = packet;
  last_waiting_ = packet;
  ++waiting_;
}

/// Moves up what is left of the batch, then fills it with packets that wait.
void DeviceEdge::keep_from(std::uint16_t taken) noexcept {
  std::move(batch_.begin() + taken, batch_.begin() + size_, batch_.begin());
  size_ = static_cast<std::uint16_t>(size_ - taken);
  while (size_ < kBatchPackets && first_waiting_ != nullptr) {
    batch_[size_++] = first_waiting_;
    first_waiting_ = meta(*first_waiting_).next;
    --waiting_;
  }
}

void DeviceEdge::drop_from(std::uint16_t taken) noexcept {
  for (std::uint16_t i = taken; i < size_; ++i) {
    ++dropped_[meta(*batch_[i]).traffic_class];
    release(batch_[i]);
  }
  keep_from(size_);
}

}  // namespace outrider
