#include "trafficgen/apps/lane_handover.h"

namespace outrider::tg {

LaneHandover::~LaneHandover() {
  for (; held_ != 0; --held_) {
    Packet* next = meta(*first_).next;
    release(first_);
    first_ = next;
  }
  while (ring_.size() != 0) take([](std::uint32_t, Packet* packet) { release(packet); });
}

void LaneHandover::receive(std::uint32_t device, Packet* packet, Time /*now*/) noexcept {
  if (held_ == kHandoverPackets) [[unlikely]] {
    ++dropped_;
    return release(packet);
  }
  meta(*packet).egress_port = static_cast<std::uint8_t>(device);
  meta(*packet).next = nullptr;
  (held_ == 0 ? first_ : meta(*last_).next) = packet;
  last_ = packet;
  ++held_;
}

void LaneHandover::flush() noexcept {
  std::uint32_t taken = 0;
  std::uint32_t offered = 0;
  while (held_ != 0 && taken == offered) {
    std::array<Packet*, kBatchPackets> batch;
    offered = 0;
    for (Packet* p = first_; p != nullptr && offered < kBatchPackets; p = meta(*p).next)
      batch[offered++] = p;
    // What is taken belongs to the other lane at once, so the next one is read before.
    std::array<Packet*, kBatchPackets> after;
    for (std::uint32_t i = 0; i < offered; ++i) after[i] = meta(*batch[i]).next;
    taken = ring_.put({batch.data(), offered});
    if (taken != 0) first_ = after[taken - 1];
    held_ -= taken;
  }
  backpressure_.full = held_ != 0;
}

}  // namespace outrider::tg
