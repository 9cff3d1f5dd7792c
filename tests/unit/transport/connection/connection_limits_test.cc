// Goal: wrap-around, forged segments, resets and silence leave a valid state.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/unit/transport/connection/two_ends.h"
#include "trafficgen/transport/base/tcp_stack.h"
#include "trafficgen/transport/base/timestamps.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::connection_limits_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using two_ends::datacentre;
using two_ends::expect_done;
using two_ends::transfer;
using two_ends::TwoEnds;

TEST(ConnectionLimits, SequenceNumbersWrap) {
  for (std::uint32_t before = 0; before < 3000; before += 149) {
    TwoEnds::Options o{.config = datacentre(), .initial_sequence = {0U - before, 0xFFFFFFFFU}};
    o.wires[0].loss = 0.02;
    TwoEnds t(std::move(o));
    transfer(t, 200'000, 20'000);
    expect_done(t, 200'000, 20'000);
    EXPECT_EQ(t.memory(0).events.invalid(), 0U);
  }
}

TEST(ConnectionLimits, MoreThan4GibibytesWrapTheStreamOffset) {
  TcpConfig config = datacentre();
  config.mss_bytes = 60'000;
  config.receive_buffer_bytes = 64U << 20;
  TwoEnds t({.config = config});
  transfer(t, 5'000'000'000);
  expect_done(t, 5'000'000'000);
}

// A peer that asks for tiny segments would have each byte sent in a packet of its own.
TEST(ConnectionLimits, SegmentsAreNeverCutBelowTheLeastMss) {
  for (const int asked : {0, 1, 12, 47, 535, 536, 600}) {
    const auto mss = static_cast<std::uint16_t>(asked);
    TransportMemory memory{TransportMemory::Setup{}};
    two_ends::Application app;
    const TcpConfig config = datacentre();
    TcpConnection client(config, {{}, TcpConnection::Role::kClient, 1000}, memory, app);
    client.open(Time{});
    (void)next_segment(client, Time{});
    client.on_segment({.sequence = 2000,
                       .acknowledgment = 1001,
                       .flags = kTcpSyn | kTcpAck,
                       .window = 65535,
                       .mss = mss},
                      Time{1ms});
    ASSERT_TRUE(app.established);
    client.stream().write(100'000);
    (void)next_segment(client, Time{1ms});  // the last ACK of the handshake
    ASSERT_TRUE(client.has_segment(Time{1ms}));
    const std::uint32_t payload = next_segment(client, Time{1ms}).payload_bytes;
    EXPECT_EQ(payload, mss == 0 ? config.mss_bytes : std::max<std::uint32_t>(mss, 536)) << mss;
  }
}

/// Returns the segments of the first flight of a connection whose peer asks for `peer_mss`.
std::vector<std::uint32_t> first_flight(const TcpConfig& config, std::uint16_t peer_mss) {
  TransportMemory memory{TransportMemory::Setup{}};
  two_ends::Application app;
  TcpConnection client(config, {{}, TcpConnection::Role::kClient, 1000}, memory, app);
  client.open(Time{});
  (void)next_segment(client, Time{});
  client.on_segment({.sequence = 2000,
                     .acknowledgment = 1001,
                     .flags = kTcpSyn | kTcpAck,
                     .window = 65535,
                     .mss = peer_mss,
                     .window_scale = 8,
                     .sack_permitted = true,
                     .has_timestamps = config.timestamps,
                     .ts_value = 7},
                    Time{1ms});
  client.stream().write(2'000'000);
  std::vector<std::uint32_t> payloads;
  while (client.has_segment(Time{1ms})) {
    const std::uint32_t payload = next_segment(client, Time{1ms}).payload_bytes;
    if (payload != 0) payloads.push_back(payload);
  }
  return payloads;
}

// The window counts the segments that the ends have agreed on, not those of the settings.
TEST(ConnectionLimits, TheFirstFlightHasSegmentsOfTheConnection) {
  struct Row {
    std::uint32_t own;
    std::uint16_t peer;
    std::size_t rfc, as_linux;  ///< segments
  };
  // The last receiver offers 65,535 bytes: seven segments.
  constexpr Row kRows[] = {
      {8948, 1448, 10, 10}, {1448, 1448, 10, 10}, {1448, 536, 10, 10}, {8948, 8948, 2, 7}};
  for (const Row& row : kRows) {
    for (const TcpStack stack : {TcpStack::kRfc, TcpStack::kLinux}) {
      for (const Controller controller : {Controller::kReno, Controller::kCubic, Controller::kDctcp,
                                          Controller::kPrague, Controller::kTimely}) {
        TcpConfig config = datacentre(controller);
        use_stack(config, stack);
        config.mss_bytes = row.own;
        const bool linux_stack = stack == TcpStack::kLinux;
        const std::uint32_t payload = std::min<std::uint32_t>(row.own, row.peer) -
                                      (linux_stack ? TimestampClock::kOptionBytes : 0);
        EXPECT_EQ(first_flight(config, row.peer),
                  std::vector<std::uint32_t>(linux_stack ? row.as_linux : row.rfc, payload))
            << row.own << ' ' << row.peer << ' ' << row_of(controller).name;
      }
    }
  }
}

// Shifting all instants must not change any decision.
TEST(ConnectionLimits, DecisionsDoNotDependOnTheEpoch) {
  std::vector<std::pair<std::uint64_t, Duration>> results;
  for (const Duration shift : {Duration{0}, Duration{1}, Duration{1h}, Duration{24h * 365}}) {
    TwoEnds::Options o{.config = datacentre(), .seed = 7};
    o.start = Time{shift};
    o.wires[0].loss = 0.03;
    o.wires[0].reorder = 0.03;
    TwoEnds t(std::move(o));
    transfer(t, 400'000);
    expect_done(t, 400'000);
    results.emplace_back(t.client().counters().segments_sent, t.now() - Time{shift});
  }
  for (const auto& r : results) EXPECT_EQ(r, results.front());
}

TEST(ConnectionLimits, ResetClosesAndStaysClosed) {
  TwoEnds t({.config = datacentre()});
  t.client().open(t.now());
  t.client().stream().write(10'000);
  t.run_for(10ms);
  TcpSegment rst{.sequence = 2001 + (1U << 29), .flags = kTcpRst};
  t.client().on_segment(rst, t.now());
  EXPECT_FALSE(is_over(t.client().state())) << "out of window";
  rst.sequence = 2001;
  t.client().on_segment(rst, t.now());
  EXPECT_EQ(t.client().state(), ConnectionState::kReset);
  EXPECT_EQ(t.application(0).closed, 1);
  EXPECT_FALSE(t.client().has_segment(t.now()));
  EXPECT_EQ(t.client().next_timer(), kNever);
}

TEST(ConnectionLimits, GivesUpOnASilentPeer) {
  for (const std::uint64_t from : {0ULL, 2ULL}) {
    TwoEnds::Options o{.config = datacentre()};
    o.wires[0].drop = [from](TcpSegment&, std::uint64_t n) { return n >= from; };
    TwoEnds t(std::move(o));
    t.client().open(t.now());
    t.client().stream().write(10'000);
    t.run();
    EXPECT_EQ(t.client().state(), ConnectionState::kReset);
    EXPECT_EQ(t.application(0).closed, 1);
    EXPECT_EQ(t.client().counters().rtos_data + t.client().counters().rtos_handshake, 15U);
    EXPECT_GT(t.now(), Time{100s}) << "each wait is twice the last one, up to 60 s";
  }
}

// Any segment may arrive. Impossible ones are counted and change no state.
TEST(ConnectionLimits, SurvivesForgedSegments) {
  std::uint64_t invalid = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream random(seed, 2, RandomPurpose::kTest);
    TwoEnds t({.config = datacentre(static_cast<Controller>(seed % 3))});
    t.client().open(t.now());
    t.client().stream().write(200'000);
    for (int i = 0; i < 2000; ++i) {
      t.run_for(1us);
      TcpSegment s;
      const std::uint32_t draw = random.next_u32();
      s.sequence = 2001 + ((draw & 1) != 0 ? random.next_u32() : random.next_u32() % 3000);
      s.acknowledgment = (draw & 2) != 0 ? random.next_u32()
                                         : t.client().stream().next_sequence() + 1 + draw % 5000;
      s.flags = static_cast<std::uint8_t>(random.next_u32() & ~std::uint32_t{kTcpRst});
      s.window = static_cast<std::uint16_t>(random.next_u32());
      s.payload_bytes = static_cast<std::uint16_t>(random.next_u32() % 2000);
      s.ecn = static_cast<Ecn>(random.next_u32() % 4);
      s.sack_blocks = static_cast<std::uint8_t>(random.next_u32() % 5);
      for (auto& block : s.sack) block = {random.next_u32(), 1001 + random.next_u32() % 300'000};
      t.client().on_segment(s, t.now());
      ASSERT_LE(t.client().stream().acked_bytes(), 200'000U);
    }
    invalid += t.memory(0).events.invalid();
  }
  EXPECT_GT(invalid, 1000U);
}

TEST(ConnectionLimits, ImpossibleAckMovesNothing) {
  TwoEnds t({.config = datacentre()});
  t.client().open(t.now());
  t.client().stream().write(1'000'000);
  t.run_for(300us);
  const std::uint64_t acked = t.client().stream().acked_bytes();
  const std::uint32_t in_flight = t.client().sender().state().scoreboard.pipe_bytes();
  ASSERT_GT(in_flight, 0U);
  TcpSegment s{.sequence = 2001,
               .acknowledgment = t.client().stream().next_sequence() + 1,
               .flags = kTcpAck,
               .window = 65535};
  t.client().on_segment(s, t.now());
  EXPECT_EQ(t.memory(0).events.invalid(), 1U);
  s.acknowledgment = 1001;
  s.sack_blocks = 2;
  s.sack[0] = {t.client().stream().next_sequence() - 10, t.client().stream().next_sequence() + 10};
  s.sack[1] = {t.client().stream().next_sequence() - 10, t.client().stream().next_sequence() - 20};
  t.client().on_segment(s, t.now());
  EXPECT_EQ(t.memory(0).events.invalid(), 3U);
  EXPECT_EQ(t.client().stream().acked_bytes(), acked);
  EXPECT_EQ(t.client().sender().state().scoreboard.pipe_bytes(), in_flight);
}

}  // namespace
}  // namespace outrider::connection_limits_test
