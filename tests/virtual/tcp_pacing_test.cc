// Goal: paced senders send at even gaps at the bottleneck's rate, and unresponsive ones keep
// their rate exactly in any network.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/simulation.h"

namespace outrider::tcp_pacing_test {
using namespace sw;
using namespace tg;
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint32_t kMss = 1460;  ///< long flows fill the MTU

/// Returns one long flow and no burst before its end.
Dumbbell one_flow(const TcpConfig& tcp) {
  Dumbbell d;
  d.background_flows = 1;
  d.background_tcp = tcp;
  d.job.iterations = 1;
  d.job.burst_bytes = 1000;
  d.job.first_due = seconds(1000);
  d.job.announce.lead_source = LeadSource::kNone;
  return d;
}

/// Returns the departures of full segments from the sender's NIC within [from, to).
std::vector<Time> departures(ImpairedSimulation& simulation, Duration from, Duration to) {
  std::vector<Time> at;
  simulation.from("b0").set_rule([&](const SeenPacket& p) {
    if (p.payload_bytes == kMss && p.at >= Time{from}) at.push_back(p.at);
    return Fate{};
  });
  simulation.run_until(Time{to});
  simulation.from("b0").set_rule({});
  return at;
}

std::vector<double> gaps_us(const std::vector<Time>& at) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < at.size(); ++i)
    gaps.push_back(std::chrono::duration<double, std::micro>(at[i] - at[i - 1]).count());
  return gaps;
}

/// Returns the rate of payload [bit/s].
double rate_of(const std::vector<Time>& at) {
  return static_cast<double>(at.size() - 1) * kMss * 8 / outrider::seconds(at.back() - at.front());
}

TEST(TcpPacing, UnresponsiveKeepsItsRateWithEvenGaps) {
  const Mempool pool = make_test_pool();
  for (const std::uint64_t megabits : {5U, 80U, 170U}) {
    SCOPED_TRACE(megabits);
    TcpConfig tcp;
    tcp.control.controller = Controller::kUnresponsive;
    tcp.control.rate = BitRate{megabits * 1'000'000};
    tcp.ecn = false;
    ImpairedSimulation simulation(one_flow(tcp), *pool);
    const auto at = departures(simulation, seconds(1), seconds(11));
    const double rate = rate_of(at);
    EXPECT_NEAR(rate, static_cast<double>(megabits) * 1e6, 0.0005 * rate);
    auto gaps = gaps_us(at);
    const double gap = kMss * 8.0 / static_cast<double>(megabits);
    const auto [low, high] = std::ranges::minmax(gaps);
    // An idle NIC starts up to an MTU's time late (send_jitter): 12 us here.
    EXPECT_GT(low, gap - 12.5);
    EXPECT_LT(high, gap + 12.5);
  }
}

// The sender exceeds the bottleneck's rate: a fifth of its packets is lost and sent again at the
// same rate. The RTO stays active and sometimes backs off, so the sender is never faster.
TEST(TcpPacing, UnresponsiveDoesNotYieldToLossesAndMarks) {
  const Mempool pool = make_test_pool();
  TcpConfig tcp;
  tcp.control.controller = Controller::kUnresponsive;
  tcp.control.rate = BitRate{150'000'000};
  tcp.loss_detection = LossDetection::kRackTlp;
  ImpairedSimulation simulation(one_flow(tcp), *pool);
  RandomStream fate(3, 0, RandomPurpose::kTest);
  simulation.to("c0").set_rule([&fate](const SeenPacket& p) {
    const double u = fate.uniform();
    return Fate{.drop = p.payload_bytes != 0 && u < 0.02, .set_ce = u < 0.2};
  });
  std::vector<Time> at = departures(simulation, seconds(1), seconds(6));
  const double rate = rate_of(at);
  EXPECT_NEAR(rate, 150e6, 0.005 * 150e6);
  EXPECT_GT(simulation.to("c0").dropped(), 1000U);
  EXPECT_GT(simulation.result().traffic.flows.back().ece_reductions, 0U);
}

/// Returns the share of departures that follow the previous one back to back at 1 Gbit/s.
double back_to_back(bool pacing, Controller controller, rte_mempool& pool) {
  TcpConfig tcp;
  tcp.control.controller = controller;
  tcp.pacing = pacing;
  Dumbbell d = one_flow(tcp);
  d.bottleneck_port.queue.limit_packets = 500;
  ImpairedSimulation simulation(d, pool);
  const auto at = departures(simulation, seconds(2), seconds(4));
  const auto gaps = gaps_us(at);
  const auto together = std::ranges::count_if(gaps, [](double gap) { return gap < 13; });
  EXPECT_GT(gaps.size(), 25'000U) << "the bottleneck is busy";
  return static_cast<double>(together) / static_cast<double>(gaps.size());
}

// An ACK for two segments lets two leave at once, unless they are paced.
TEST(TcpPacing, SpreadsWhatAnAckReleases) {
  const Mempool pool = make_test_pool();
  for (const auto controller : {Controller::kReno, Controller::kCubic, Controller::kDctcp}) {
    EXPECT_GT(back_to_back(false, controller, *pool), 0.4);
    EXPECT_LT(back_to_back(true, controller, *pool), 0.01);
  }
}

// The first window after the handshake leaves at twice the window per round trip.
TEST(TcpPacing, SlowStartPacesAtTwiceTheWindow) {
  const Mempool pool = make_test_pool();
  TcpConfig tcp;
  tcp.control.controller = Controller::kReno;
  tcp.pacing = true;
  ImpairedSimulation simulation(one_flow(tcp), *pool);
  auto at = departures(simulation, {}, milliseconds(110));  // it starts within 100 ms
  ASSERT_GT(at.size(), 10U);
  at.resize(10);
  const double gap = 3'550.0 / 20;  // a round trip of 3.5 ms and some serialisation
  for (const double g : gaps_us(at)) EXPECT_NEAR(g, gap, 0.05 * gap + 12.5);
}

}  // namespace
}  // namespace outrider::tcp_pacing_test
