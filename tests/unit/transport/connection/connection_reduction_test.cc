// Goal: with PRR, a sender goes on sending while its window falls, by loss and by ECE, with SACK
// and without; its window ends at the controller's; and whatever is lost is delivered. Method:
// literal timelines against a scripted peer; then random losses between two ends.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/transport/connection/two_ends.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::connection_reduction_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using two_ends::Application;
using two_ends::datacentre;
using two_ends::expect_done;
using two_ends::transfer;
using two_ends::TwoEnds;

constexpr std::uint32_t kMss = 1448;
constexpr std::uint16_t kWindow = 60'000;  ///< scaled by 4, more than all data

/// A Reno client, established at 1 ms with much to send, in congestion avoidance: segments 41 to 60
/// are in flight, in a window of 20. Segments count from the 41st.
struct Client {
  explicit Client(WindowReduction reduction, bool sack = true) : config(settings(reduction)) {
    c.open(Time{});
    (void)next_segment(c, Time{});
    c.on_segment({.sequence = 2000,
                  .acknowledgment = 1001,
                  .flags = kTcpSyn | kTcpAck | kTcpEce,  // ECN is negotiated
                  .window = 65535,
                  .window_scale = 2,
                  .sack_permitted = sack},
                 Time{1ms});
    c.stream().write(100 * kMss);
    c.on_segment(ack_of(0U - kBase), Time{1ms});  // carries the scaled window
    EXPECT_EQ(departures(), 40);
    for (std::uint32_t n = 1; n <= 40; ++n) marked(n - kBase);
    take(ack_of(0));
    EXPECT_EQ(c.sender().state().scoreboard.pipe_bytes(), 20 * kMss);
    EXPECT_EQ(window(), 20U);
  }
  static constexpr std::uint32_t kBase = 41;
  static TcpConfig settings(WindowReduction reduction) {
    TcpConfig config = datacentre(Controller::kReno);
    config.control.initial_window_segments = 40;
    config.reduction = reduction;
    return config;
  }
  static TcpSegment ack_of(std::uint32_t segments) {
    return {.sequence = 2001,
            .acknowledgment = 1001 + (kBase + segments) * kMss,
            .flags = kTcpAck,
            .window = kWindow};
  }
  /// Returns the number of data segments that leave now.
  int departures() {
    int n = 0;
    while (c.has_segment(Time{2ms})) n += next_segment(c, Time{2ms}).payload_bytes != 0 ? 1 : 0;
    return n;
  }
  int take(const TcpSegment& s) {
    c.on_segment(s, Time{2ms});
    return departures();
  }
  /// Acknowledges with ECE. @return the number of segments that leave
  int marked(std::uint32_t segments) {
    TcpSegment s = ack_of(segments);
    s.flags |= kTcpEce;
    return take(s);
  }
  /// SACKs [begin, end) above a hole at `una`.
  int sacked(std::uint32_t una, std::uint32_t begin, std::uint32_t end) {
    TcpSegment s = ack_of(una);
    s.sack_blocks = 1;
    s.sack[0] = {.begin = 1001 + (kBase + begin) * kMss, .end = 1001 + (kBase + end) * kMss};
    return take(s);
  }
  [[nodiscard]] std::uint32_t window() const { return c.sender().state().window.bytes() / kMss; }

  TcpConfig config;
  TransportMemory memory{{.flights = 1, .segments = 1024, .disorders = 1}};
  Application application;
  TcpConnection c{config, {.flow = {}, .initial_sequence = 1000}, memory, application};
};

using Departures = std::vector<int>;

TEST(ConnectionReduction, AMarkLetsEverySecondSegmentLeave) {
  Client prr(WindowReduction::kPrr), at_once(WindowReduction::kAtOnce);
  Departures by_prr, by_at_once;
  for (std::uint32_t n = 1; n <= 20; ++n) {
    by_prr.push_back(prr.marked(n));
    by_at_once.push_back(at_once.marked(n));
  }
  // The pipe falls by one every second ACK: ceil(n / 2) - sent. At the 19th it fits the window.
  EXPECT_EQ(by_prr, (Departures{1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1}));
  // Nothing leaves until 10 of 20 are acknowledged.
  EXPECT_EQ(by_at_once, (Departures{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
  for (Client* t : {&prr, &at_once}) {
    EXPECT_EQ(t->c.counters().ece_reductions, 2U);
    EXPECT_EQ(t->window(), 10U);
    EXPECT_EQ(t->c.sender().state().scoreboard.pipe_bytes(), 10 * kMss);
  }
  EXPECT_EQ(prr.take(Client::ack_of(21)), 1) << "the window is the controller's again";
}

TEST(ConnectionReduction, ALossLetsEverySecondSegmentLeave) {
  Client t(WindowReduction::kPrr);
  EXPECT_EQ(t.sacked(0, 1, 2) + t.sacked(0, 1, 3), 2) << "limited transmit";
  Departures sent;
  for (std::uint32_t end = 4; end <= 20; ++end) sent.push_back(t.sacked(0, 1, end));
  EXPECT_EQ(sent, (Departures{1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(t.c.counters().retransmitted, 1U);
  EXPECT_EQ(t.take(Client::ack_of(22)), 3) << "recovery ends, the window is ssthresh";
  EXPECT_EQ(t.window(), 10U);
  EXPECT_EQ(t.c.sender().state().scoreboard.pipe_bytes(), 10 * kMss);
}

// Without SACK each duplicate stands for a segment that has arrived.
TEST(ConnectionReduction, DuplicatesCountAsArrivedWithoutSack) {
  Client t(WindowReduction::kPrr, false);
  EXPECT_EQ(t.take(Client::ack_of(0)) + t.take(Client::ack_of(0)), 2) << "limited transmit";
  Departures sent;
  for (int n = 3; n <= 19; ++n) sent.push_back(t.take(Client::ack_of(0)));
  EXPECT_EQ(sent, (Departures{1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(t.c.counters().retransmitted, 1U);
  t.take(Client::ack_of(22));
  EXPECT_EQ(t.window(), 10U);
}

// A burst of losses takes the pipe below ssthresh: no burst of retransmissions follows.
TEST(ConnectionReduction, ManyLossesAreResentOneForOne) {
  Client prr(WindowReduction::kPrr), at_once(WindowReduction::kAtOnce);
  for (Client* t : {&prr, &at_once}) EXPECT_EQ(t->sacked(0, 15, 16) + t->sacked(0, 15, 17), 2);
  EXPECT_EQ(at_once.sacked(0, 15, 18), 6) << "4 in flight, a window of 10";
  EXPECT_EQ(prr.sacked(0, 15, 18), 1);
  EXPECT_EQ(prr.sacked(0, 15, 19), 1);
  EXPECT_EQ(prr.sacked(0, 15, 20), 1);
  EXPECT_EQ(prr.sacked(1, 15, 20), 2) << "progress: slow start up to ssthresh";
}

TEST(ConnectionReduction, ATimeoutEndsIt) {
  Client t(WindowReduction::kPrr);
  t.marked(1);
  const Time rto = t.c.next_timer();
  t.c.on_timer(rto);
  EXPECT_EQ(t.c.counters().rtos_data, 1U);
  EXPECT_EQ(t.window(), 1U);
  t.c.on_segment(Client::ack_of(3), rto);
  EXPECT_EQ(t.window(), 2U) << "slow start";
}

/// Transfers a megabyte with losses and marks. @return the client's counters
TcpCounters impaired_transfer(std::uint64_t seed, bool sack, LossDetection detection) {
  TwoEnds::Options o{.config = datacentre(static_cast<Controller>(seed % 3)), .seed = seed};
  o.config.reduction = WindowReduction::kPrr;
  o.config.sack = sack;
  o.config.loss_detection = detection;
  o.wires[0].loss = 0.01 * static_cast<double>(seed % 4);
  o.wires[1].loss = o.wires[0].loss / 4;
  o.wires[0].reorder = seed % 2 == 0 ? 0.01 : 0;
  o.wires[0].drop = [seed](TcpSegment& s, std::uint64_t n) {
    if (n % (20 + seed) == 0 && s.ecn == Ecn::kEct0) s.ecn = Ecn::kCe;
    return false;
  };
  TwoEnds t(std::move(o));
  transfer(t, 1'000'000, 50'000);
  expect_done(t, 1'000'000, 50'000);
  EXPECT_EQ(t.client().sender().state().window.bytes(),
            t.client().sender().state().window.control().cwnd_bytes());
  EXPECT_EQ(t.memory(0).flights.lent(), 0U);
  return t.client().counters();
}

TEST(ConnectionReduction, DeliversWhateverIsLostOrMarked) {
  std::uint64_t recoveries = 0, reductions = 0, rtos = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const auto detection = seed % 3 == 0 ? LossDetection::kRackTlp : LossDetection::kRfc6675;
    const TcpCounters n = impaired_transfer(seed, seed % 3 != 1, detection);
    recoveries += n.fast_recoveries;
    reductions += n.ece_reductions;
    rtos += n.rtos_data;
  }
  EXPECT_GT(recoveries, 200U);
  EXPECT_GT(reductions, 200U);
  EXPECT_GT(rtos, 5U);
}

}  // namespace
}  // namespace outrider::connection_reduction_test
