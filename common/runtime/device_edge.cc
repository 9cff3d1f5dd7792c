#include "common/runtime/device_edge.h"

namespace outrider {

DeviceEdge::~DeviceEdge() {
  for (std::uint16_t i = 0; i < size_; ++i) release(batch_[i]);
}

void DeviceEdge::flush() noexcept {
  if (size_ == 0) return;
  const std::uint16_t taken = port_.tx(batch_.data(), size_);
  transmitted_ += taken;
  for (std::uint16_t i = taken; i < size_; ++i) {
    ++dropped_[meta(*batch_[i]).traffic_class];
    release(batch_[i]);
  }
  size_ = 0;
}

}  // namespace outrider
