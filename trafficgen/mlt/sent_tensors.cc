#include "trafficgen/mlt/sent_tensors.h"

#include <algorithm>
#include <cassert>

namespace outrider::tg {

SentTensors::SentTensors(const std::vector<MltTensor>& tensors, std::uint32_t packet_bytes)
    : probes_(tensors.size()) {
  tensors_.reserve(tensors.size());
  std::size_t classes = 1;
  for (const MltTensor& t : tensors) {
    const MltLayout layout(t.bytes, packet_bytes);
    tensors_.push_back(
        {.what = t, .layout = layout, .sequence = bytes_, .resend = PacketSet(layout.packets())});
    bytes_ += static_cast<std::uint32_t>(t.bytes);
    classes = std::max<std::size_t>(classes, std::size_t{t.urgency} + 1);
  }
  for (std::size_t c = 0; c < classes; ++c) pending_.emplace_back(tensors.size());
  counts_[0] = size();
}

void SentTensors::begin() noexcept {
  for (auto& queue : pending_)
    while (!queue.empty()) (void)queue.pop();
  while (!probes_.empty()) (void)probes_.pop();
  for (SentTensor& t : tensors_) {
    t.resend.clear();
    t.fresh = 0;
    t.phase = Phase::kIdle;
  }
  counts_ = {size()};
}

void SentTensors::enter(std::uint32_t tensor, Phase phase) noexcept {
  SentTensor& t = tensors_[tensor];
  --counts_[static_cast<std::size_t>(t.phase)];
  ++counts_[static_cast<std::size_t>(phase)];
  t.phase = phase;
  if (phase == Phase::kPending) pending_[t.what.urgency].push(tensor);
  if (phase == Phase::kWaits) probes_.push(tensor);
}

void SentTensors::all_left(std::uint32_t tensor) noexcept {
  (void)pending_[tensors_[tensor].what.urgency].pop();
  enter(tensor, Phase::kWaits);
}

std::uint32_t SentTensors::first() noexcept {
  for (auto& queue : pending_) {
    for (; !queue.empty(); (void)queue.pop())
      if (tensors_[queue.peek()].phase == Phase::kPending) return queue.peek();
  }
  assert(false);
  return 0;
}

std::uint32_t SentTensors::next_to_probe() noexcept {
  std::uint32_t tensor = probes_.pop();
  while (tensors_[tensor].phase != Phase::kWaits) tensor = probes_.pop();
  return tensor;
}

void SentTensors::probe_again() noexcept {
  for (std::uint32_t i = 0; i < size() && count(Phase::kProbed) != 0; ++i)
    if (tensors_[i].phase == Phase::kProbed) enter(i, Phase::kWaits);
}

}  // namespace outrider::tg
