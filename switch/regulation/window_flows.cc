#include "switch/regulation/window_flows.h"

namespace outrider {
namespace {

/// Returns whether the flow has ended, has not completed its handshake, or has been silent.
bool is_evictable(const WindowFlow& f, Time now) noexcept {
  using Handshake = WindowFlow::Handshake;
  const bool opening = f.handshake == Handshake::kSyn || f.handshake == Handshake::kBothSyns;
  const bool ended = f.closing && f.passed_unacknowledged() == 0;
  return opening || ended || now - f.active_at > WindowFlow::kSilence;
}

}  // namespace

WindowFlow* WindowFlows::insert(const FlowKey& data_flow, Time now,
                                WindowCounters& counters) noexcept {
  if (flows_.size() < index_.max_entries()) {
    index_.insert(data_flow, size());
    ++counters.flows_added;
    return &flows_.emplace_back(data_flow);
  }
  for (std::size_t i = 0; i < kVictimProbes; ++i) {
    const std::size_t at = next_victim_;
    next_victim_ = (next_victim_ + 1) % flows_.size();
    if (!is_evictable(flows_[at], now)) continue;
    index_.erase(flows_[at].key);
    index_.insert(data_flow, static_cast<std::uint32_t>(at));
    flows_[at] = WindowFlow(data_flow);
    ++counters.flows_added;
    ++counters.flows_evicted;
    return &flows_[at];
  }
  ++counters.flows_refused;
  return nullptr;
}

}  // namespace outrider
