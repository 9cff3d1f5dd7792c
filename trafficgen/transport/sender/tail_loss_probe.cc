#include "trafficgen/transport/sender/tail_loss_probe.h"

#include <algorithm>

namespace outrider::tg {
namespace {

constexpr Duration kFirstProbe = std::chrono::seconds(1);  ///< before any sample, 7.2

}  // namespace

void TailLossProbe::arm(const Scoreboard& scoreboard, Flight& flight, RetransmissionTimer& timer,
                        bool recovering, const Slack& slack, Time now) const noexcept {
  if (flight.aux == Flight::Aux::kReorder) return;
  const bool may = !recovering && scoreboard.sacked() == 0 && flight.probe_end == 0 && !spent_ &&
                   scoreboard.lost_pending() == 0;
  if (!may) return timer.arm_aux(flight, Flight::Aux::kNone, kNever);
  const Duration srtt = timer.srtt();
  Duration wait = srtt == Duration::zero() ? kFirstProbe : 2 * srtt;
  wait += scoreboard.segments().size() == 1 ? slack.of_one : slack.of_several;
  timer.arm_aux(flight, Flight::Aux::kProbe, std::min(now + wait, flight.rto_at));
}

bool TailLossProbe::take_answer(const TcpSegment& s, std::int64_t ack, bool advances,
                                bool duplicate, const SendStream& stream, Flight* flight) noexcept {
  const std::uint64_t end = flight != nullptr ? flight->probe_end : ended_here_ ? stream.una() : 0;
  if (end == 0 || ack < static_cast<std::int64_t>(end)) return false;
  const bool resent = flight == nullptr || flight->probe_resent;
  const bool seen_twice = duplicate && s.sack[0].end == stream.numbers().wire(end);
  const bool plain_duplicate = !advances && s.sack_blocks == 0 && s.payload_bytes == 0 &&
                               !s.has(kTcpFin) && ack == static_cast<std::int64_t>(end);
  const bool repaired = resent && !seen_twice && ack > static_cast<std::int64_t>(end);
  if (repaired || !resent || seen_twice || plain_duplicate) forget(flight);
  return repaired;
}

}  // namespace outrider::tg
