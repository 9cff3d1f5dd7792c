#include "common/runtime/event_loop.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace outrider {

SourceId EventLoop::add(EventSource& source) {
  const auto id = static_cast<SourceId>(sources_.size());
  sources_.push_back(&source);
  std::vector<Time> at(id, kNever);
  for (SourceId i = 0; i < id; ++i) at[i] = scheduled(i);
  leaves_ = std::max<std::size_t>(2, std::bit_ceil(sources_.size()));
  tree_.assign(2 * leaves_, {});
  for (std::size_t i = 0; i < leaves_; ++i) tree_[leaves_ + i].id = static_cast<SourceId>(i);
  for (std::size_t node = leaves_ - 1; node >= 1; --node) tree_[node] = tree_[2 * node];
  for (SourceId i = 0; i < id; ++i) schedule(i, at[i]);
  return id;
}

std::uint64_t EventLoop::run_until(Time end) noexcept {
  std::uint64_t fired = 0;
  for (Entry first = tree_[1]; first.at <= end && first.at != kNever; first = tree_[1]) {
    const Time again = sources_[first.id]->fire(first.at);
    assert(again >= first.at);
    schedule(first.id, again);
    ++fired;
  }
  return fired;
}

}  // namespace outrider
