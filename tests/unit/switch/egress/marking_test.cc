// Goal: a whole switch marks by RFC 3168, to the byte, and judges each packet by the
// right threshold.
#include <gtest/gtest.h>

#include <cstring>

#include "common/core/random.h"
#include "tests/unit/switch/switch_bench.h"

namespace outrider::marking_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using B = SwitchBench;

// Packet k of a train that arrives at once finds k - 1 waiting, because one is in service.
std::uint32_t found_by(std::uint32_t k) { return k == 0 ? 0 : k - 1; }

TEST(Marking, EveryCodepointAtEveryOccupancy) {
  constexpr std::uint32_t kK = 40, kTrain = 61;
  for (const Ecn ecn : {Ecn::kNotEct, Ecn::kEct1, Ecn::kEct0, Ecn::kCe}) {
    B bench;
    bench.fill(kTrain, Time{}, "10.0.3.9", ecn);
    bench.run();
    const auto& seen = bench.out[B::kEast].arrivals;
    ASSERT_EQ(seen.size(), kTrain);
    std::uint64_t marked = 0;
    for (std::uint32_t k = 0; k < kTrain; ++k) {
      const bool ect = ecn == Ecn::kEct0 || ecn == Ecn::kEct1;
      const Ecn expected = ect && found_by(k) >= kK ? Ecn::kCe : ecn;
      ASSERT_EQ(seen[k].ecn(), expected) << "packet " << k;
      ASSERT_TRUE(seen[k].checksum_valid) << "packet " << k;
      ASSERT_EQ(seen[k].ttl, 63);
      ASSERT_EQ(seen[k].at, Time{(k + 1) * B::kFrameTime}) << "drained at exactly its rate";
      marked += ect && expected == Ecn::kCe;
    }
    EXPECT_EQ(bench.marks(B::kEast, TrafficClass::kBackground, MarkReason::kMarker), marked)
        << "CE that was set elsewhere is not counted";
    EXPECT_EQ(sum(bench.report({}).queues[B::kEast].marks_not_ect),
              ecn == Ecn::kNotEct ? kTrain - 1 - kK : 0)
        << "packets that the threshold cannot slow are counted apart";
  }
}

// With random headers only the ECN field, the TTL and the checksum may differ after the
// switch, and they must have the right values.
TEST(Marking, NothingButEcnTtlAndChecksumChanges) {
  auto config = B::config();
  config.ports[B::kEast].queue.limit_packets = 200;
  std::uint64_t marked = 0, passed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    B bench(config);
    std::vector<std::vector<std::uint8_t>> sent;
    for (std::uint32_t k = 0; k < 150; ++k) {
      FrameSpec spec = B::background();
      spec.flow.source_address = ip("10.0.2.0") + random.next_u32() % 200;
      spec.tos = static_cast<std::uint8_t>(random.next_u32());  // 10.0.2.x may not signal
      spec.ttl = static_cast<std::uint8_t>(2 + random.next_u32() % 254);
      spec.sequence = random.next_u32();
      spec.ip_options.assign(4 * (random.next_u32() % 4), 1);
      spec.tcp_options.assign(4 * (random.next_u32() % 5), 1);
      spec.payload_bytes = static_cast<std::uint16_t>(random.next_u32() % 1200);
      sent.push_back(bytes_of(spec));
      bench.receive(B::kWest, packet_of(bench.pool.get(), sent.back()), Time{});
    }
    bench.run();
    const auto& seen = bench.out[B::kEast].arrivals;
    ASSERT_EQ(seen.size(), sent.size());
    for (std::uint32_t k = 0; k < sent.size(); ++k) {
      auto expected = sent[k];
      const bool mark = found_by(k) >= 40 && is_ect(ecn_of(expected[15]));
      if (mark) expected[15] |= 3;
      --expected[22];
      reseal_ipv4(expected);
      expected.resize(seen[k].bytes.size());  // longer frames are cut to the buffer
      ASSERT_EQ(seen[k].bytes, expected) << "seed " << seed << " packet " << k;
      ++(mark ? marked : passed);
    }
  }
  EXPECT_GT(marked, 500U);
  EXPECT_GT(passed, 500U);
}

// Tail drop alone does not mark. A START asks for marks from its threshold on.
TEST(Marking, TailDropMarksOnlyWhileRegulated) {
  for (const bool announced : {false, true}) {
    auto config = B::config();
    config.ports[B::kEast].marker.kind = MarkerKind::kTailDrop;
    B bench(config);
    if (announced) bench.send(B::start(0, 1000, 5), Time{});
    bench.fill(61, Time{}, "10.0.3.9", Ecn::kEct0);
    bench.run();
    const auto& seen = bench.out[B::kEast].arrivals;
    const std::uint32_t signals = announced ? 1 : 0;
    ASSERT_GE(seen.size(), 60U);
    for (std::uint32_t k = signals; k < seen.size(); ++k)
      EXPECT_EQ(seen[k].ecn() == Ecn::kCe, announced && k > 5) << "packet " << k;
  }
}

// The static pair has two thresholds by class and uses no signals.
TEST(Marking, ClassesMayHaveThresholdsOfTheirOwn) {
  auto config = B::config();
  config.ports[B::kEast].marker.threshold_packets = 30;
  config.ports[B::kEast].marker.background_threshold_packets = 10;
  B bench(config);
  for (std::uint32_t k = 0; k < 50; ++k)
    bench.send(k % 2 == 0 ? B::background() : B::data(0, k * 1000), Time{});
  bench.run();
  const auto& seen = bench.out[B::kEast].arrivals;
  ASSERT_EQ(seen.size(), 50U);
  for (std::uint32_t k = 0; k < 50; ++k)
    EXPECT_EQ(seen[k].ecn() == Ecn::kCe, found_by(k) >= (k % 2 == 0 ? 10U : 30U)) << "packet " << k;
}

TEST(Marking, DdlIsToldByEitherPort) {
  auto config = B::config();
  config.ddl_ports = {6000, 6001};
  B bench(config);
  for (const auto& [source, destination] :
       {std::pair{6000, 80}, {80, 6001}, {5999, 6002}, {6001, 6000}}) {
    FrameSpec spec = B::background();
    spec.flow.source_port = static_cast<std::uint16_t>(source);
    spec.flow.destination_port = static_cast<std::uint16_t>(destination);
    bench.send(spec, Time{});
  }
  const auto arrived = bench.report({}).queues[B::kEast].arrived;
  EXPECT_EQ(arrived[TrafficClass::kDdl], 3U);
  EXPECT_EQ(arrived[TrafficClass::kBackground], 1U) << "one beside each end of the range";
}

// At departure the occupancy left behind decides, not that found on arrival.
TEST(Marking, AtDequeueTheOccupancyLeftBehindDecides) {
  auto config = B::config();
  config.ports[B::kEast].marker.threshold_packets = 2;
  const auto marks_of = [&](MarkAt at) {
    config.ports[B::kEast].marker.at = at;
    B bench(config);
    bench.fill(5, Time{}, "10.0.3.9", Ecn::kEct0);
    bench.run();
    std::vector<bool> marked;
    for (const auto& a : bench.out[B::kEast].arrivals) {
      marked.push_back(a.ecn() == Ecn::kCe);
      EXPECT_TRUE(a.checksum_valid);
    }
    return marked;
  };
  EXPECT_EQ(marks_of(MarkAt::kEnqueue), (std::vector<bool>{false, false, false, true, true}))
      << "found 0, 0, 1, 2, 3";
  EXPECT_EQ(marks_of(MarkAt::kDequeue), (std::vector<bool>{false, true, true, false, false}))
      << "left behind 0, 3, 2, 1, 0";
}

// -- regulated

struct Regulated {
  bool spare_ddl;
  TrafficClass of;
  std::uint32_t expect_from;
  const char* why;
};

TEST(Marking, RegulationLowersTheThresholdAndSparesDdlIfToldTo) {
  constexpr Regulated kRows[] = {
      {false, TrafficClass::kBackground, 10, "background makes room"},
      {false, TrafficClass::kDdl, 10, "as the paper has it: one threshold a queue"},
      {true, TrafficClass::kBackground, 10, "sparing concerns DDL alone"},
      {true, TrafficClass::kDdl, 40, "DDL keeps its initial threshold"},
  };
  for (const auto& row : kRows) {
    auto config = B::config();
    config.ports[B::kEast].regulation.spare_ddl = row.spare_ddl;
    B bench(config);
    bench.send(B::start(0, 1000, 10), Time{});
    for (std::uint32_t k = 0; k < 55; ++k)
      bench.send(row.of == TrafficClass::kDdl ? B::data(1, k * 1000) : B::background(), Time{});
    bench.run();
    const auto& seen = bench.out[B::kEast].arrivals;
    ASSERT_EQ(seen.size(), 56U);
    for (std::uint32_t k = 0; k < 55; ++k)  // START is in service, so packet k finds k waiting
      EXPECT_EQ(seen[k + 1].ecn() == Ecn::kCe, k >= row.expect_from) << row.why << ", packet " << k;
    EXPECT_EQ(bench.marks(B::kEast, row.of, MarkReason::kMarker), 15U)
        << "from 40 on it would have been marked anyway";
    EXPECT_EQ(bench.marks(B::kEast, row.of, MarkReason::kRegulatedThreshold), 40 - row.expect_from)
        << row.why;
  }
}

TEST(Marking, RegulationNeverRaisesTheThreshold) {
  B bench;
  bench.send(B::start(0, 1000, 75), Time{});
  bench.fill(55, Time{}, "10.0.3.9", Ecn::kEct0);
  bench.run();
  const auto& seen = bench.out[B::kEast].arrivals;
  for (std::uint32_t k = 0; k < 55; ++k) EXPECT_EQ(seen[k + 1].ecn() == Ecn::kCe, k >= 40) << k;
  EXPECT_EQ(bench.marks(B::kEast, TrafficClass::kBackground, MarkReason::kRegulatedThreshold), 0U);
}

// Regulation belongs to the queue in which the burst will wait. The other two
// interpretations (by ingress port, by switch) fail this test.
TEST(Marking, RegulationIsKeptByEgressPort) {
  B bench;
  const auto marked_from = [&bench](const std::string& destination, std::uint32_t out,
                                    std::uint32_t ingress, Time now) {
    bench.run();
    bench.out[out].arrivals.clear();
    for (std::uint32_t k = 0; k < 55; ++k) bench.send(B::background(destination), now, ingress);
    bench.loop.run_until(now + 1ms);
    for (std::uint32_t k = 0; k < 55; ++k)
      if (bench.out[out].arrivals[k].ecn() == Ecn::kCe) return found_by(k);
    return ~0U;
  };
  bench.send(B::start(0, 1000, 10), Time{0ms}, B::kWest);
  EXPECT_EQ(marked_from("10.0.3.9", B::kEast, B::kSouth, Time{1ms}), 10U)
      << "packets from another ingress share the queue, so they make room too";
  EXPECT_EQ(marked_from("10.0.4.9", B::kSouth, B::kWest, Time{3ms}), 40U)
      << "packets of the START's ingress to another port do not";
  bench.send(B::data(0, 1000), Time{5ms}, B::kSouth);
  EXPECT_EQ(marked_from("10.0.3.9", B::kEast, B::kWest, Time{6ms}), 40U)
      << "the burst ends it wherever it comes in";
}

TEST(Marking, PureAckDoesNotEndRegulation) {
  B bench;
  const auto regulated = [&] {
    return bench.sw.port(B::kEast).queues()[0].regulation().live_entries();
  };
  bench.send(B::start(0, 1000, 10), Time{});
  EXPECT_EQ(regulated(), 1U);
  FrameSpec ack = B::data(0, 5000);
  ack.payload_bytes = 0;
  bench.send(ack, Time{1us});
  EXPECT_EQ(regulated(), 1U) << "a pure ACK carries no byte of the burst";
  bench.send(B::data(0, 0), Time{2us});
  EXPECT_EQ(regulated(), 1U) << "946 bytes from 0 are data sent before";
  FrameSpec reverse = B::data(0, 1000);
  reverse.flow = reverse.flow.reversed();
  bench.send(reverse, Time{3us});
  EXPECT_EQ(regulated(), 1U) << "nor does the other direction";
  bench.send(B::data(0, 100), Time{4us});
  EXPECT_EQ(regulated(), 0U) << "100 + 946 passes the announced byte";
}

// Payload that finds the queue full still counts as the arrival of the burst.
TEST(Marking, ADroppedBurstPacketEndsRegulationToo) {
  B bench;
  bench.send(B::start(0, 1000, 10), Time{});
  bench.fill(70, Time{});
  bench.send(B::data(0, 1000), Time{});
  EXPECT_EQ(bench.drops(TrafficClass::kDdl, DropReason::kTailPackets), 1U);
  EXPECT_EQ(bench.sw.port(B::kEast).queues()[0].regulation().live_entries(), 0U);
}

}  // namespace
}  // namespace outrider::marking_test
