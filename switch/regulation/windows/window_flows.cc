#include "switch/regulation/windows/window_flows.h"

#include <algorithm>
#include <cassert>

#include "common/core/sequence.h"

namespace outrider {
namespace {

/// Returns whether the flow has ended, has not completed its handshake, or has been silent.
bool is_evictable(const WindowFlow& f, Time now) noexcept {
  using Handshake = WindowFlow::Handshake;
  const bool opening = f.handshake == Handshake::kSyn || f.handshake == Handshake::kBothSyns;
  const bool ended = f.closing && f.passed_unacknowledged() == 0;
  return opening || ended || now - f.active_at > WindowFlow::kSilence;
}

bool is_barred(const WindowFlow& f) noexcept {
  return f.handshake == WindowFlow::Handshake::kBarred;
}

/// Returns the window field of an old answer, which acknowledges less than one before it, if it is
/// to be lowered: the furthest edge that was told stands. A sender ignores such an answer, unless
/// the one before was forged, together with the data that it acknowledges. Then the true answers
/// look old until they have caught up with it. The field is rounded up to the scale's unit and not
/// remembered, because anybody can send old answers, and each would open the window by a part of a
/// unit.
std::optional<std::uint16_t> field_of_old_answer(const WindowFlow& f, std::uint32_t acknowledgment,
                                                 std::uint16_t window) noexcept {
  const auto room = static_cast<std::uint32_t>(sequence_distance(f.edge, acknowledgment));
  const std::uint32_t unit = 1U << f.scale();
  const std::uint32_t field = (room + unit - 1) / unit;
  if (field >= window) return std::nullopt;
  return static_cast<std::uint16_t>(field);
}

}  // namespace

WindowFlow* WindowFlows::insert(const FlowKey& data_flow, Time now) noexcept {
  if (flows_.size() < index_.max_entries()) {
    index_.insert(data_flow, size());
    ++counters_.flows_added;
    return &flows_.emplace_back(data_flow);
  }
  for (std::size_t i = 0; i < kVictimProbes; ++i) {
    const std::size_t at = next_victim_;
    next_victim_ = (next_victim_ + 1) % flows_.size();
    if (!is_evictable(flows_[at], now)) continue;
    index_.erase(flows_[at].key);
    assert(index_.size() + 1 == flows_.size());
    index_.insert(data_flow, static_cast<std::uint32_t>(at));
    flows_[at] = WindowFlow(data_flow);
    ++counters_.flows_added;
    ++counters_.flows_evicted;
    return &flows_[at];
  }
  ++counters_.flows_refused;
  return nullptr;
}

WindowFlows::Passed WindowFlows::take_data(const TcpView& s, Time now, Time departs) noexcept {
  WindowFlow* f = find(s.flow);
  if (f == nullptr) {
    if (!s.syn && s.payload_bytes == 0) return {};
    f = insert(s.flow, now);
    if (f == nullptr) return {};
    counters_.flows_without_handshake += !s.syn;
  }
  const bool was_barred = is_barred(*f);
  const std::uint64_t sent_before = f->sent_bytes;
  if (s.payload_bytes > 0 && f->note_unanswered()) ++counters_.flows_without_answers;
  if (!f->on_data(s, now, departs)) {
    ++counters_.segments_out_of_window;
    return {};
  }
  counters_.flows_authenticated += !was_barred && is_barred(*f);
  return {f, f->sent_bytes - sent_before};
}

WindowFlows::Answered WindowFlows::take_answer(const TcpView& s, Time now) noexcept {
  WindowFlow* f = find(s.flow.reversed());
  if (f == nullptr && s.syn && !s.ack) f = insert(s.flow.reversed(), now);
  if (f == nullptr) {
    count(WindowReason::kUnknown);
    return {};
  }
  const bool was_barred = is_barred(*f);
  if (!f->on_answer(s, now))
    return {nullptr, refuse(*f, WindowAnswer(s), s.ack && !s.syn && !s.rst)};
  counters_.flows_authenticated += !was_barred && is_barred(*f);
  if (s.syn || !s.ack) {
    count(WindowReason::kHandshake);
    return {};
  }
  if (!s.rst && !f->closing && f->known()) return {f, std::nullopt};
  f->leave_alone(s);
  if (s.rst) count(WindowReason::kHandshake);
  else count(f->known() ? WindowReason::kClosing : WindowReason::kUnknown);
  return {};
}

std::optional<std::uint16_t> WindowFlows::refuse(const WindowFlow& f, WindowAnswer s,
                                                 bool acknowledges) noexcept {
  ++counters_.segments_out_of_window;
  const bool old = acknowledges && f.known() && f.has_edge &&
                   sequence_distance(s.acknowledgment, f.acknowledged) < 0;
  count(old ? WindowReason::kOld : WindowReason::kUnknown);
  if (!old) return std::nullopt;
  const auto field = field_of_old_answer(f, s.acknowledgment, s.window);
  counters_.rewritten += field.has_value();
  return field;
}

/// The window is rounded up to the scale's unit: rounded down, two segments would become one.
std::optional<std::uint16_t> WindowFlows::tell(WindowFlow& f, WindowAnswer s,
                                               WindowTarget t) noexcept {
  assert(f.known() && !f.closing);
  const std::uint32_t unit = 1U << f.scale();
  const std::uint32_t true_edge = f.edge_of(s.acknowledgment, s.window);
  constexpr double kLargest = 1U << 30;
  std::uint32_t edge = s.acknowledgment + static_cast<std::uint32_t>(std::min(t.bytes, kLargest));
  if (f.has_edge) edge = later_sequence(edge, f.edge);
  const auto units =
      (static_cast<std::uint32_t>(sequence_distance(edge, s.acknowledgment)) + unit - 1) / unit;
  std::uint32_t field = units;
  if (f.duplicate && !f.window_moved && !s.sack_blocks) field = f.told_window;
  else if (f.duplicate && f.window_moved && field == f.told_window) ++field;
  if (field >= s.window) {
    if (sequence_distance(true_edge, edge) <= 0) t.reason = WindowReason::kReceiver;
    field = s.window;
  }
  const std::uint32_t told = s.acknowledgment + (field << f.scale());
  assert(field <= s.window);
  assert(f.duplicate || field == s.window || !f.has_edge || sequence_distance(told, f.edge) >= 0);
  f.edge = f.has_edge ? later_sequence(f.edge, told) : told;
  f.has_edge = true;
  f.told_window = static_cast<std::uint16_t>(field);
  count(t.reason);
  if (field == s.window) return std::nullopt;
  ++counters_.rewritten;
  return f.told_window;
}

}  // namespace outrider
