#include "trafficgen/transport/sender/send_shaping.h"

#include <algorithm>

#include "trafficgen/transport/sender/segment_bursts.h"

namespace outrider::tg {

bool SendShaping::departs(SendState& state, bool recovering, bool may, Time now) noexcept {
  if (may && state.joins && state.scoreboard.lost_pending() == 0)
    may = may_join(state, recovering, now);
  return pacing_.paced() ? pacing_.allows(may, now) : may;
}

/// Returns true if a segment may leave: with the last one, or as the first of further ones.
bool SendShaping::may_join(SendState& state, bool recovering, Time now) const noexcept {
  const SendStream& stream = state.stream;
  const Scoreboard& scoreboard = state.scoreboard;
  if (scoreboard.empty() || scoreboard.flight()->burst_left != 0) return true;
  const std::uint64_t peer_bytes = stream.peer_edge() - stream.una();
  const std::uint64_t peer_left_bytes = stream.peer_edge() - stream.nxt();
  const std::uint32_t left_bytes = state.window.bytes() - scoreboard.pipe_bytes();
  const auto smaller = [](std::uint32_t a, std::uint64_t b) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(a, b));
  };
  const Time oldest_left{Duration{scoreboard.segments().oldest().sent_ns}};
  Flight& flight = *state.scoreboard.flight();
  flight.burst_left = SegmentBursts::segments(
      {.mss_bytes = stream.mss_bytes(),
       .window_bytes = smaller(state.window.bytes(), peer_bytes),
       .room_bytes = smaller(left_bytes, peer_left_bytes),
       .unsent_bytes = stream.all_left() ? 0 : stream.written_bytes() - stream.nxt(),
       .pace = SendPacing::rate(state.window, state.timer.srtt()),
       .srtt = state.timer.srtt(),
       .since_last_sent = idle(now),
       .oldest_age = now - oldest_left,
       .recovering = recovering});
  if (flight.burst_left != 0) return true;
  if (left_bytes < peer_left_bytes) state.window.note_use(true, stream, flight, true, now);
  return false;
}

void SendShaping::note_departure(SendState& state, std::uint32_t payload_bytes, Time now) noexcept {
  if (Flight& flight = *state.scoreboard.flight(); flight.burst_left != 0) --flight.burst_left;
  if (pacing_.paced()) pacing_.on_sent(payload_bytes, state.window, state.timer.srtt(), now);
}

}  // namespace outrider::tg
