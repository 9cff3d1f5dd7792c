// Goal: a job that announces by UDP messages arms the switches on its path, and they return to
// idle. The switch uses the values that the TOS form does not have: when a burst is due and how
// long it is. Method: the scene of the fault tests, with both forms.
#include <gtest/gtest.h>

#include <utility>

#include "tests/virtual/regulation_faults.h"

namespace outrider::udp_regulation_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

class UdpRegulation : public RegulationFaults {
 protected:
  static Dumbbell announced_by(SignalForm form) {
    Dumbbell d = regulated();
    d.job.announce.signal_form = form;
    return d;
  }
  RunResult run_of(const Dumbbell& d) {
    ImpairedSimulation simulation(d, *pool_);
    return settle(simulation);
  }
  static double milliseconds_of(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }
};

TEST_F(UdpRegulation, ArmsAndRecoversAsTheTosFormDoes) {
  const RunResult udp = run_of(announced_by(SignalForm::kUdp));
  const RunResult tos = run_of(announced_by(SignalForm::kTos));
  for (const RunResult* r : {&udp, &tos}) {
    const QueueReport& q = bottleneck_of(*r);
    EXPECT_EQ(q.starts_armed, kFaultIterations);
    EXPECT_EQ(q.recovered_arrival, kFaultIterations);
    EXPECT_EQ(q.transmitted[TrafficClass::kSignal], kFaultIterations);
    EXPECT_EQ(r->traffic.acks_received, kFaultIterations);
    EXPECT_EQ(r->traffic.ack_timeouts, 0U);
    EXPECT_GT(q.marks[TrafficClass::kBackground][MarkReason::kRegulatedThreshold], 0U);
  }
  EXPECT_NEAR(milliseconds_of(bottleneck_of(udp).regulated_ns),
              milliseconds_of(bottleneck_of(tos).regulated_ns), 0.1);
  for (const std::uint64_t bad : udp.switches.signals_bad_udp) EXPECT_EQ(bad, 0U);
}

// START arrives kFaultLead early. The switch waits until 4 ms before the burst is due there.
TEST_F(UdpRegulation, BeginsALeadBeforeTheBurstIsDue) {
  Dumbbell d = announced_by(SignalForm::kUdp);
  const auto regulated_ms = [this](const Dumbbell& scene) {
    return milliseconds_of(bottleneck_of(run_of(scene)).regulated_ns) / kFaultIterations;
  };
  const double at_once = regulated_ms(d);
  d.bottleneck_port.regulation.lead = milliseconds(4);
  const double in_time = regulated_ms(d);
  EXPECT_NEAR(at_once, milliseconds_of(kFaultLead.count()), 1);
  EXPECT_NEAR(in_time, 4, 1);
}

// With the TOS form the switch waits for idle_end after the burst, much longer than the path's
// delay. The UDP message says where the burst ends.
TEST_F(UdpRegulation, EndsWithTheLastByte) {
  const auto regulated_to_announced = [this](SignalForm form) {
    Dumbbell d = announced_by(form);
    d.bottleneck_port.regulation.recovery = Recovery::kBurstEnd;
    const RunResult r = run_of(d);
    EXPECT_EQ(bottleneck_of(r).recovered_burst_end, kFaultIterations);
    std::int64_t start_to_delivery = 0;
    for (const auto& b : r.traffic.bursts) start_to_delivery += b.delivered_ns - b.start_sent_ns;
    return std::pair(bottleneck_of(r).regulated_ns, start_to_delivery);
  };
  const auto [by_bytes, with_message] = regulated_to_announced(SignalForm::kUdp);
  const auto [by_idleness, with_tos] = regulated_to_announced(SignalForm::kTos);
  EXPECT_LT(by_bytes, with_message);
  EXPECT_GT(by_bytes, kFaultIterations * kFaultLead.count()) << "through the burst";
  EXPECT_GT(by_idleness, with_tos);
}

}  // namespace
}  // namespace outrider::udp_regulation_test
