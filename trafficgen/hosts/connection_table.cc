#include "trafficgen/hosts/connection_table.h"

#include <algorithm>

namespace outrider::tg {

ConnectionTable::ConnectionTable(std::uint32_t max_connections, std::uint32_t expected,
                                 TransportMemory& memory)
    : max_connections_(max_connections),
      memory_(memory),
      by_flow_(std::clamp(expected, kFirstTableEntries, max_connections)) {
  const std::uint32_t chunks = (expected + kChunkSlots - 1) / kChunkSlots;
  chunks_.reserve(chunks);
  free_.reserve(std::size_t{chunks} * kChunkSlots);
  timers_.reserve(chunks * kChunkSlots);
  half_open_links_.grow(chunks * kChunkSlots);
}

std::uint32_t ConnectionTable::add(const TcpConfig& config, const TcpConnection::Setup& setup,
                                   ConnectionListener& listener) {
  assert(!full() && !find(setup.flow));
  if (free_.empty()) {
    const auto first = static_cast<std::uint32_t>(chunks_.size()) * kChunkSlots;
    chunks_.push_back(std::make_unique_for_overwrite<Place[]>(kChunkSlots));
    for (std::uint32_t i = kChunkSlots; i > 0; --i) free_.push_back(first + i - 1);
    for (std::uint32_t i = 0; i < kChunkSlots; ++i) timers_.add();
    half_open_links_.grow(first + kChunkSlots);
  }
  if (by_flow_.full()) by_flow_.grow();
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  new (place(slot)) Slot(slot, config, setup, memory_, listener);
  by_flow_.insert(setup.flow, slot);
  return slot;
}

ConnectionTable::~ConnectionTable() {
  by_flow_.for_each([this](const FlowKey&, std::uint32_t slot) { (*this)[slot].~Slot(); });
}

void ConnectionTable::add_half_open(std::uint32_t slot) noexcept {
  half_open_links_.add(half_open_list_, slot);
  (*this)[slot].half_open = true;
  ++half_open_;
}

void ConnectionTable::end_half_open(std::uint32_t slot) noexcept {
  Slot& s = (*this)[slot];
  if (!s.half_open) return;
  half_open_links_.remove(half_open_list_, slot);
  s.half_open = false;
  --half_open_;
}

void ConnectionTable::remove(std::uint32_t slot) noexcept {
  Slot& s = (*this)[slot];
  assert(!s.queued);
  end_half_open(slot);
  by_flow_.erase(s.flow());
  s.~Slot();
  timers_.schedule(slot, kNever);
  free_.push_back(slot);
}

std::optional<std::uint32_t> ConnectionTable::take_due(Time now) noexcept {
  const auto due = timers_.take_next(now);
  if (due.id == timers_.kNobody) return std::nullopt;
  if (const std::uint32_t then = timers_.first_due(); then != timers_.kNobody)
    tg::prefetch((*this)[then]);
  (*this)[due.id].timer_at = kNever;
  return due.id;
}

}  // namespace outrider::tg
