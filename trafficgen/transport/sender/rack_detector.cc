#include "trafficgen/transport/sender/rack_detector.h"

namespace outrider::tg {

bool RackDetector::detect(Scoreboard& scoreboard, RetransmissionTimer& timer, bool recovering,
                          Time now) noexcept {
  Flight& flight = *scoreboard.flight();
  const Duration reordering = window(scoreboard, recovering, timer.srtt());
  const Scoreboard::TimedLosses found = scoreboard.detect_losses_by_time(now, reordering);
  // One timer serves all waiting segments: the newest has the latest deadline.
  if (found.waiting)
    timer.arm_aux(flight, Flight::Aux::kReorder, flight.rack.last_lost_at(reordering));
  else if (flight.aux == Flight::Aux::kReorder) timer.arm_aux(flight, Flight::Aux::kNone, kNever);
  return found.resent_ns >= flight.reduced_ns;
}

void RackDetector::on_timeout(Scoreboard& scoreboard, RetransmissionTimer& timer, bool recovering,
                              Time now) noexcept {
  Flight& flight = *scoreboard.flight();
  const Duration reordering = window(scoreboard, recovering, timer.srtt());
  scoreboard.mark_lost_by_age(now, flight.rack.rtt() + reordering);
  timer.arm_aux(flight, Flight::Aux::kNone, kNever);
}

}  // namespace outrider::tg
