#include "common/runtime/event_loop.h"

#include <bit>
#include <cassert>
#include <numeric>

namespace outrider {

SourceId EventLoop::add(EventSource& source) {
  const auto id = static_cast<SourceId>(sources_.size());
  sources_.push_back(&source);
  keys_.resize(id);  // drops the padding, keeps what is scheduled
  keys_.push_back(kNever);
  rebuild();
  return id;
}

void EventLoop::rebuild() {
  leaves_ = std::max(2U, std::bit_ceil(static_cast<std::uint32_t>(sources_.size())));
  keys_.resize(leaves_, kNever);
  winners_.resize(std::size_t{2} * leaves_);
  std::iota(winners_.begin() + leaves_, winners_.end(), 0U);
  for (std::uint32_t node = leaves_ - 1; node >= 1; --node) {
    const auto left = winners_[std::size_t{2} * node];
    const auto right = winners_[std::size_t{2} * node + 1];
    winners_[node] = keys_[right] < keys_[left] ? right : left;
  }
}

void EventLoop::update(SourceId id) noexcept {
  for (std::uint32_t node = (leaves_ + id) >> 1; node >= 1; node >>= 1) {
    const auto left = winners_[std::size_t{2} * node];
    const auto right = winners_[std::size_t{2} * node + 1];
    const auto winner = keys_[right] < keys_[left] ? right : left;  // a tie goes to the lower id
    // Another leaf wins here as before: nothing above can change.
    if (winner == winners_[node] && winner != id) return;
    winners_[node] = winner;
  }
}

std::uint64_t EventLoop::run_until(Time end) noexcept {
  std::uint64_t fired = 0;
  while (true) {
    const auto id = winners_.empty() ? 0 : winners_[1];
    if (winners_.empty() || keys_[id] > end || keys_[id] == kNever) return fired;
    const Time now = keys_[id];
    const Time again = sources_[id]->fire(now);
    assert(again >= now);
    schedule(id, again);
    ++fired;
  }
}

}  // namespace outrider
