#include "tools/hostagent/flow_numbers.h"

#include <algorithm>

namespace outrider::agent {
namespace {

bool same(const AgentFlowKey& a, const AgentFlowKey& b) {
  return a.source_address == b.source_address && a.source_port == b.source_port &&
         a.destination_address == b.destination_address && a.destination_port == b.destination_port;
}

}  // namespace

FlowNumbers::Numbered FlowNumbers::number_of(const AgentFlowKey& flow) {
  ++questions_;
  const auto known =
      std::ranges::find_if(entries_, [&](const Entry& e) { return same(e.flow, flow); });
  if (known != entries_.end()) {
    known->asked = questions_;
    return {.number = known->number};
  }
  const Entry entry{.flow = flow, .number = given_++, .asked = questions_};
  if (entries_.size() < limit_) {
    entries_.push_back(entry);
    return {.number = entry.number};
  }
  Entry& oldest = *std::ranges::min_element(entries_, {}, &Entry::asked);
  const std::size_t forgotten = oldest.number;
  oldest = entry;
  return {.number = entry.number, .forgotten = forgotten};
}

std::optional<AgentFlowKey> FlowNumbers::key(std::size_t number) const {
  const auto known = std::ranges::find(entries_, number, &Entry::number);
  return known == entries_.end() ? std::nullopt : std::optional(known->flow);
}

}  // namespace outrider::agent
