#include "trafficgen/transport/receiver/out_of_order.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace outrider::tg {

bool OutOfOrder::borrow(TransportMemory& memory) noexcept {
  if (disorder_ != nullptr) return true;
  disorder_ = memory.disorders.take();
  if (disorder_ == nullptr) ++memory.counters.disorders_exhausted;
  return disorder_ != nullptr;
}

void OutOfOrder::give_back(TransportMemory& memory) noexcept {
  if (disorder_ == nullptr) return;
  memory.disorders.give_back(disorder_);
  disorder_ = nullptr;
}

void OutOfOrder::give_back_if_unused(TransportMemory& memory) noexcept {
  if (disorder_ == nullptr || disorder_->unused()) give_back(memory);
}

Reassembly::Result OutOfOrder::insert(std::uint64_t begin, std::uint64_t end,
                                      TransportMemory& memory) noexcept {
  if (!borrow(memory)) return Reassembly::Result::kRefused;
  return disorder_->reassembly.insert(begin, end);
}

std::uint64_t OutOfOrder::take_in_order(std::uint64_t next, TransportMemory& memory) noexcept {
  const std::uint64_t in_order = disorder_->reassembly.take_in_order(next);
  give_back_if_unused(memory);
  return in_order;
}

void OutOfOrder::note_duplicate(std::uint64_t begin, std::uint64_t end,
                                TransportMemory& memory) noexcept {
  if (!borrow(memory)) return;
  if (disorder_->duplicate.begin == disorder_->duplicate.end) disorder_->duplicate = {begin, end};
}

void OutOfOrder::report(TcpSegment& s, const ReceiveWindow& window, std::size_t limit) noexcept {
  std::size_t blocks = 0;
  const auto add = [&](std::uint64_t begin, std::uint64_t end) {
    s.sack[blocks++] = {window.numbers().wire(begin), window.numbers().wire(end)};
  };
  Disorder::Duplicate& duplicate = disorder_->duplicate;
  if (duplicate.begin != duplicate.end) add(duplicate.begin, duplicate.end);
  duplicate = {};
  std::array<Reassembly::Interval, 4> recent{};
  const std::size_t holes = disorder_->reassembly.most_recent(recent);
  for (std::size_t i = 0; i < holes && blocks < limit; ++i) add(recent[i].begin, recent[i].end);
  s.sack_blocks = static_cast<std::uint8_t>(blocks);
}

void OutOfOrder::keep_ack(EarlierAck ack, std::uint64_t last_told,
                          TransportMemory& memory) noexcept {
  const bool none = disorder_ == nullptr || disorder_->earlier_used == 0;
  const std::uint64_t told =
      none ? last_told : disorder_->earlier[disorder_->earlier_used - 1].next;
  if (ack.next == told || !borrow(memory)) return;
  std::size_t& used = disorder_->earlier_used;
  if (used == Disorder::kEarlierAcks) --used;
  disorder_->earlier[used++] = ack;
}

EarlierAck OutOfOrder::take_ack(TransportMemory& memory) noexcept {
  auto& earlier = disorder_->earlier;
  const EarlierAck oldest = earlier[0];
  std::copy(earlier.begin() + 1,
            earlier.begin() + static_cast<std::ptrdiff_t>(disorder_->earlier_used),
            earlier.begin());
  --disorder_->earlier_used;
  give_back_if_unused(memory);
  return oldest;
}

}  // namespace outrider::tg
