// Goal: which sources' signals are accepted, what a signal may do to other traffic, and what
// happens to the signal itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/unit/switch/switch_bench.h"

namespace outrider::signals_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using B = SwitchBench;

std::uint32_t live(const B& bench, std::uint32_t port = B::kEast) {
  return bench.sw.port(port).queues()[0].regulation().live_entries();
}

TEST(Signals, AreServedFirstAndNeverMarked) {
  B bench;
  bench.fill(51, Time{});  // one in service, 50 wait
  bench.send(B::start(0, 1000, 10, Ecn::kEct0), Time{1us});
  FrameSpec answer = B::start(1, 1000, 10);
  answer.tos = ack_tos(10, Ecn::kEct1);
  bench.send(answer, Time{2us});
  bench.run();
  const auto& seen = bench.out[B::kEast].arrivals;
  ASSERT_EQ(seen.size(), 53U);
  EXPECT_EQ(seen[1].tos, start_tos(10, Ecn::kEct0)) << "next on the wire, ECT(0) left alone";
  EXPECT_EQ(seen[1].at, Time{B::kFrameTime + 480ns}) << "what is in service is not interrupted";
  EXPECT_EQ(seen[2].tos, ack_tos(10, Ecn::kEct1)) << "the answer too";
  EXPECT_EQ(seen[1].ttl, 63) << "still routed like any packet";
  EXPECT_TRUE(seen[1].checksum_valid);
  const auto r = bench.report({}).queues[B::kEast];
  EXPECT_EQ(r.transmitted[TrafficClass::kSignal], 2U);
  EXPECT_EQ(r.starts_armed, 1U) << "an answer arms nothing";
}

struct Doubtful {
  FrameSpec spec;
  std::uint64_t SwitchReport::*counter;  ///< nullptr: not even counted
  bool first;                            ///< served before the queue
  const char* why;
};

// Each START comes behind 50 waiting packets and is wrong in one way. All of them must be
// forwarded, and none may regulate.
TEST(Signals, WhatIsNotBelievedRegulatesNothing) {
  FrameSpec elsewhere = B::start(0, 1000, 10, Ecn::kEct0);
  elsewhere.flow.source_address = ip("10.0.2.1");
  FrameSpec with_payload = B::start(0, 1000, 10, Ecn::kEct0);
  with_payload.payload_bytes = 1;
  FrameSpec both_bits = B::start(0, 1000, 10, Ecn::kEct0);
  both_bits.tos |= 0x40;
  FrameSpec udp = B::start(0, 1000, 10, Ecn::kEct0);
  udp.protocol = kIpProtocolUdp;
  std::array<FrameSpec, 4> handshakes;
  handshakes.fill(B::start(0, 1000, 10, Ecn::kEct0));
  handshakes[0].tcp_flags = kTcpSyn;
  handshakes[1].tcp_flags = kTcpFin | kTcpAck;
  handshakes[2].tcp_flags = kTcpRst;
  handshakes[3].tcp_flags = kTcpAck;
  const Doubtful rows[] = {
      {handshakes[0], nullptr, false, "a SYN whose DSCP looks like START"},
      {handshakes[1], nullptr, false, "a FIN"},
      {handshakes[2], nullptr, false, "a RST"},
      {handshakes[3], nullptr, false, "an acknowledgment of a host that marks its ACKs"},
      {B::start(0, 1000, 0, Ecn::kEct0), &SwitchReport::signals_bad_code, true,
       "threshold code zero: forwarded first, marked nothing, arms nothing"},
      {elsewhere, &SwitchReport::signals_not_accepted, false, "a source that nobody listed"},
      {with_payload, nullptr, false, "DSCP of a data packet that happens to look like START"},
      {both_bits, nullptr, false, "both flags: not of the format"},
      {udp, nullptr, false, "the form is TCP"},
  };
  for (const auto& row : rows) {
    B bench;
    bench.fill(51, Time{});
    bench.send(row.spec, Time{1us});
    EXPECT_EQ(live(bench), 0U) << row.why;
    const SwitchReport r = bench.report({});
    for (const auto counter : {&SwitchReport::signals_bad_code, &SwitchReport::signals_not_accepted,
                               &SwitchReport::signals_over_rate})
      EXPECT_EQ(r.*counter, counter == row.counter ? 1U : 0U) << row.why;
    bench.run();
    const auto& seen = bench.out[B::kEast].arrivals;
    ASSERT_EQ(seen.size(), 52U) << row.why;
    const auto& it = seen[row.first ? 1 : 51];
    EXPECT_EQ(it.flow.source_address, row.spec.flow.source_address) << row.why;
    EXPECT_EQ(it.tos, row.first ? row.spec.tos : row.spec.tos | 3)
        << row.why << ": in the queue it is marked like any ECT packet";
  }
}

TEST(Signals, AreOrdinaryPacketsWhereTheFormIsOff) {
  auto config = B::config();
  config.signals.accept_tos = false;
  B bench(config);
  bench.fill(51, Time{});
  bench.send(B::start(0, 1000, 10, Ecn::kEct0), Time{1us});
  bench.run();
  EXPECT_EQ(bench.out[B::kEast].arrivals[51].tos, start_tos(10, Ecn::kCe));
  const SwitchReport r = bench.report({});
  EXPECT_EQ(r.queues[B::kEast].starts_armed, 0U);
  EXPECT_EQ(r.signals_not_accepted, 0U) << "nobody is refused: the DSCP has its own meaning here";
}

TEST(Signals, RegulationOffStillServesThemFirst) {
  auto config = B::config();
  config.ports[B::kEast].regulation.mode = RegulationMode::kOff;
  B bench(config);
  bench.fill(51, Time{});
  bench.send(B::start(0, 1000, 10), Time{1us});
  EXPECT_EQ(live(bench), 0U);
  bench.run();
  EXPECT_EQ(bench.out[B::kEast].arrivals[1].tos, start_tos(10));
}

// Each source has two tokens at once and one more per millisecond.
TEST(Signals, BeyondTheBucketAreForwardedLikeAnyPacketAndNotArmed) {
  auto config = B::config();
  config.signals.tokens_per_second = 1000;
  config.signals.token_burst = 2;
  B bench(config);
  bench.fill(51, Time{});
  for (std::uint32_t i = 0; i < 4; ++i)
    bench.send(B::start(0, 1000 * (i + 1), 10, Ecn::kEct0), Time{1us});
  EXPECT_EQ(bench.report({}).signals_over_rate, 2U);
  EXPECT_EQ(bench.report({}).queues[B::kEast].starts_armed, 2U);
  bench.send(B::start(1, 1000, 10), Time{1us});
  EXPECT_EQ(bench.report({}).queues[B::kEast].starts_armed, 3U)
      << "another source has its own bucket";
  bench.run();
  const auto& seen = bench.out[B::kEast].arrivals;
  ASSERT_EQ(seen.size(), 56U);
  for (const std::size_t i : {1U, 2U, 3U}) EXPECT_TRUE(tos_signal::decode(seen[i].tos)) << i;
  for (const std::size_t i : {54U, 55U})
    EXPECT_EQ(seen[i].tos, start_tos(10, Ecn::kCe)) << "at its turn, and marked";
  bench.send(B::start(0, 9000, 10), Time{2ms});
  EXPECT_EQ(bench.report({}).signals_over_rate, 2U) << "the bucket fills again";
  EXPECT_EQ(bench.report({}).queues[B::kEast].starts_armed, 4U);
}

TEST(Signals, RepeatedStartCountsOnceInTheSwitch) {
  B bench;
  for (int i = 0; i < 3; ++i) bench.send(B::start(0, 1000, 10), Time{i * 1us});
  EXPECT_EQ(live(bench), 1U);
  bench.send(B::data(0, 1000), Time{10us});
  EXPECT_EQ(live(bench), 0U);
  bench.send(B::start(0, 1000, 10), Time{20us});
  EXPECT_EQ(live(bench), 0U) << "overtaken by its own burst";
  const auto r = bench.report({}).queues[B::kEast];
  EXPECT_EQ(r.starts_armed, 1U);
  EXPECT_EQ(r.starts_repeated, 3U);
  EXPECT_EQ(r.recovered_arrival, 1U);
}

TEST(Signals, HaveAQueueOfTheirOwnWithALimitOfItsOwn) {
  auto config = B::config();
  config.signals.token_burst = 1000;
  config.ports[B::kEast].regulation.max_entries = 512;
  B bench(config);
  bench.fill(61, Time{});  // the data queue is full
  for (std::uint32_t w = 0; w < 200; ++w) bench.send(B::start(w, 1, 10), Time{});
  EXPECT_EQ(bench.drops(TrafficClass::kSignal, DropReason::kSignalQueue), 0U)
      << "a full data queue does not drop signals";
  for (std::uint32_t w = 0; w < 60; ++w) bench.send(B::start(w, 2, 10), Time{});
  EXPECT_EQ(bench.drops(TrafficClass::kSignal, DropReason::kSignalQueue), 4U) << "256 wait";
  bench.run();
  EXPECT_EQ(bench.out[B::kEast].size(), 61U + 256U);
}

TEST(Signals, AStartThatCannotBeForwardedRegulatesNothing) {
  B bench;
  FrameSpec last_hop = B::start(0, 1000, 10);
  last_hop.ttl = 1;
  bench.send(last_hop, Time{});
  FrameSpec nowhere = B::start(0, 1000, 10);
  nowhere.flow.destination_address = ip("192.168.0.1");
  bench.send(nowhere, Time{});
  for (std::uint32_t p = 0; p < 3; ++p) EXPECT_EQ(live(bench, p), 0U);
}

// Predictions from traffic learn from the job's hosts alone: SwitchBench accepts 10.0.1.0/24.
TEST(Signals, PredictionsLearnFromAcceptedSourcesAlone) {
  SwitchConfig config = B::config();
  RegulationPolicy& policy = config.ports[B::kEast].regulation;
  policy.lead = 1ms;
  policy.predict.from = PredictFrom::kTraffic;
  B bench(config);
  for (int i = 0; i < 10; ++i) {
    const Time now{i * 1s};
    bench.send(B::data(0, 1000), now);
    FrameSpec stranger = B::data(0, 1000);
    stranger.flow.source_address = ip("10.0.2.7");
    stranger.flow.destination_address = ip("10.0.3.2");
    bench.send(stranger, now + 1us);
  }
  SwitchReport report;
  bench.sw.fill(report, Time{10s});
  const auto east = std::ranges::find(report.queues, "east", &QueueReport::port_name);
  ASSERT_NE(east, report.queues.end());
  const PredictionCounters& n = east->predictor;
  EXPECT_EQ(n.onsets, 10U);
  EXPECT_EQ(n.locked, 1U) << "the job's";
  EXPECT_EQ(n.not_accepted, 10U);
}

SwitchConfig gated(double tokens_per_second, double token_burst) {
  SwitchConfig config;
  config.signals.accept_tos = true;
  config.signals.accept_from = {"10.0.0.0/8"};
  config.signals.tokens_per_second = tokens_per_second;
  config.signals.token_burst = token_burst;
  return config;
}

/// Returns how many of `signals` that the source sends at once are admitted.
std::uint32_t admitted(SignalGate& gate, std::uint32_t source, std::uint32_t signals, Time now) {
  tos_signal::Signal signal;
  std::uint32_t n = 0;
  for (std::uint32_t i = 0; i < signals; ++i)
    n += gate.judge(start_tos(10), {ip("10.1.0.0") + source, 0}, now, signal) ==
         SignalGate::Verdict::kAdmitted;
  return n;
}

// The gate's memory for sources is bounded. A further one takes the place of the least recently
// used.
TEST(Signals, SourcesBeyondTheGatesMemoryTakeThePlaceOfTheLeastRecentlyUsed) {
  SignalGate gate(gated(10, 4));
  for (std::uint32_t s = 0; s < 5000; ++s)
    EXPECT_EQ(admitted(gate, s, 1, Time{1s}), 1U) << "source " << s;
  EXPECT_EQ(admitted(gate, 4000, 5, Time{1s}), 3U) << "a source that is remembered goes on";
  EXPECT_EQ(admitted(gate, 100'000, 5, Time{1s}), 1U) << "new while the table is busy";
  EXPECT_EQ(admitted(gate, 100'001, 5, Time{1400ms}), 4U) << "new after a refill's time";
}

// A source that is evicted and returns gains at most a token.
TEST(Signals, EvictionGainsAtMostAToken) {
  SignalGate gate(gated(10, 4));
  EXPECT_EQ(admitted(gate, 0, 9, Time{1s}), 4U);
  std::uint32_t gained = 0, other = 1;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 4096; ++i) admitted(gate, other++, 1, Time{1s});
    gained += admitted(gate, 0, 9, Time{1s});
  }
  EXPECT_EQ(gained, 5U) << "one for every 4,096 others";
  for (int i = 0; i < 4096; ++i) admitted(gate, other++, 1, Time{1399ms});
  EXPECT_EQ(admitted(gate, 0, 9, Time{1399ms}), 1U);
}

}  // namespace
}  // namespace outrider::signals_test
