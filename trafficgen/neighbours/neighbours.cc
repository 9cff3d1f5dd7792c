#include "trafficgen/neighbours/neighbours.h"

#include <algorithm>
#include <cassert>

namespace outrider::tg {

namespace {
constexpr Duration kFirstInterval = std::chrono::seconds(1);  // RFC 1122, 2.3.2.1
constexpr Duration kSilence = std::chrono::seconds(8);
}  // namespace

NeighbourTable::NeighbourTable(const Setup& setup)
    : setup_(setup), index_(kMaxLearned + static_cast<std::uint32_t>(setup.fixed.size())) {
  entries_.reserve(index_.max_entries());
  for (const Fixed& fixed : setup.fixed) {
    [[maybe_unused]] const auto index =
        add({.address = fixed.address, .state = State::kFixed, .mac = fixed.mac});
    assert(index.has_value());
  }
}

std::optional<std::uint32_t> NeighbourTable::add(const Entry& entry) noexcept {
  const auto index = static_cast<std::uint32_t>(entries_.size());
  if (index_.insert(FlowKey{.destination_address = entry.address}, index) == nullptr) {
    ++table_full_;
    return std::nullopt;
  }
  entries_.push_back(entry);
  return index;
}

void NeighbourTable::note_request(Entry& entry, Time now) noexcept {
  entry.next_request = now + kFirstInterval * (1U << std::min(entry.unanswered, 3U));
  ++entry.unanswered;
  ++entry.requests;
}

NeighbourTable::Decision NeighbourTable::resolve(std::uint32_t destination, Time now) noexcept {
  const std::uint32_t hop = next_hop(destination);
  const std::uint32_t* known = find(hop);
  if (known == nullptr) {
    if (!setup_.ask) return {Verdict::kImplied, kNoEntry};
    const auto added = add({.address = hop});
    if (!added) return {Verdict::kUnreachable, kNoEntry};
    ++asking_;
    note_request(entries_[*added], now);
    return {Verdict::kAskAndHold, *added};
  }
  Entry& entry = entries_[*known];
  switch (entry.state) {
    case State::kFixed:
    case State::kLearned:
      return {Verdict::kSend, *known};
    case State::kAsking:
      return {Verdict::kHold, *known};
    case State::kSilent:
      break;
  }
  if (now < entry.next_request) return {Verdict::kUnreachable, *known};
  entry.state = State::kAsking;
  ++asking_;
  note_request(entry, now);
  return {Verdict::kAskAndHold, *known};
}

std::optional<std::uint32_t> NeighbourTable::learn(std::uint32_t address, const MacAddress& mac,
                                                   bool may_add) noexcept {
  std::uint32_t* known = find(address);
  if (known == nullptr) {
    if (may_add) add({.address = address, .state = State::kLearned, .mac = mac});
    return std::nullopt;
  }
  Entry& entry = entries_[*known];
  if (entry.state == State::kFixed) return std::nullopt;
  const bool fresh = entry.state != State::kLearned;
  if (entry.state == State::kAsking) --asking_;
  entry.state = State::kLearned;
  entry.mac = mac;
  entry.unanswered = 0;
  return fresh ? std::optional(*known) : std::nullopt;
}

Time NeighbourTable::next_timer() const noexcept {
  Time next = kNever;
  if (asking_ == 0) return next;
  for (const Entry& entry : entries_)
    if (entry.state == State::kAsking) next = std::min(next, entry.next_request);
  return next;
}

std::optional<NeighbourTable::Due> NeighbourTable::next_due(Time now) noexcept {
  if (asking_ == 0) return std::nullopt;
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if (entry.state != State::kAsking || entry.next_request > now) continue;
    if (entry.unanswered < kRequests) {
      note_request(entry, now);
      return Due{i, false};
    }
    entry.state = State::kSilent;
    entry.next_request = now + kSilence;
    --asking_;
    return Due{i, true};
  }
  return std::nullopt;
}

}  // namespace outrider::tg
