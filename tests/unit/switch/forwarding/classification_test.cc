// Goal: rule, announced flow, port, DSCP and PCP decide class and queue of a packet, in the
// documented order. Method: one packet per row; rules are compared with a naive search.
#include <gtest/gtest.h>

#include <map>

#include "common/core/random.h"
#include "switch/forwarding/classifier.h"
#include "tests/support/ipv6_frames.h"
#include "tests/unit/switch/switch_bench.h"

namespace outrider::classification_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using B = SwitchBench;
using Bytes = std::vector<std::uint8_t>;

struct Classified {
  TrafficClass traffic_class;
  std::uint8_t queue;
  bool operator==(const Classified&) const = default;
};
constexpr auto kBackground = TrafficClass::kBackground;
constexpr auto kDdl = TrafficClass::kDdl;

Classified classify(const Classifier& classifier, const Bytes& frame) {
  HeaderFields fields;
  const auto summary = parse_headers(frame, static_cast<std::uint32_t>(frame.size()), fields);
  EXPECT_NE(summary.kind, FrameKind::kRefused);
  const auto r = classifier.classify(summary, fields, classifier.make_lane());
  return {r.traffic_class, r.queue};
}

FrameSpec packet(std::uint16_t to_port, std::uint8_t dscp = 0,
                 std::uint8_t protocol = kIpProtocolTcp) {
  return {.flow = {ip("10.0.1.1"), ip("10.0.3.1"), 33'000, to_port},
          .tos = static_cast<std::uint8_t>(dscp << 2 | 2),
          .protocol = protocol,
          .payload_bytes = 30};
}

SwitchConfig marked() {
  auto config = B::config();
  config.classes.background_queue = 7;
  config.classes.ddl_queue = 6;
  config.classes.dscp["46"] = ConfigValue(std::int64_t{1});
  config.classes.pcp["5"] = ConfigValue(std::int64_t{2});
  config.classes.pcp["0"] = ConfigValue(std::int64_t{3});
  config.classes.dscp_ddl = {10};
  config.classes.pcp_ddl = {4};
  return config;
}

TEST(Classifier, MapsDscpThenPcpThenClass) {
  const Classifier classifier(marked());
  struct Row {
    Bytes frame;
    Classified expected;
    const char* why;
  };
  const auto tag = [](std::uint8_t pcp) { return static_cast<std::uint16_t>(pcp << 13 | 9); };
  const Row rows[] = {
      {bytes_of(packet(80)), {kBackground, 7}, "the class's queue"},
      {bytes_of(packet(5000)), {kDdl, 6}, "a DDL port"},
      {bytes_of(packet(5000, 0, kIpProtocolUdp)), {kBackground, 7}, "of TCP alone"},
      {bytes_of(packet(80, 46)), {kBackground, 1}, "by DSCP"},
      {bytes_of(packet(5000, 46)), {kDdl, 1}, "DSCP says the queue, the port the class"},
      {bytes_of(packet(80, 10)), {kDdl, 6}, "a DSCP of DDL data"},
      {tagged(bytes_of(packet(80)), tag(5)), {kBackground, 2}, "by PCP"},
      {tagged(bytes_of(packet(80)), tag(0)), {kBackground, 3}, "PCP 0 of a tag is one"},
      {tagged(bytes_of(packet(80)), tag(4)), {kDdl, 6}, "a PCP of DDL data"},
      {tagged(bytes_of(packet(80, 46)), tag(5)), {kBackground, 1}, "DSCP comes before PCP"},
      {ipv6_bytes_of({.traffic_class = 46 << 2, .destination_port = 80}),
       {kBackground, 1},
       "IPv6's traffic class"},
      {arp_request(1, 2), {kBackground, 7}, "ARP has no DSCP"},
  };
  for (const auto& row : rows) EXPECT_EQ(classify(classifier, row.frame), row.expected) << row.why;
}

TEST(Classifier, TheFirstRuleWins) {
  auto config = marked();
  config.rules = {
      {.source = "10.0.1.0/24", .destination_ports = PortRange{80, 90}, .queue = 4},
      {.destination = "10.0.3.0/24",
       .protocol = kIpProtocolTcp,
       .traffic_class = RuleClass::kDdl,
       .queue = 5},
      {.protocol = kIpProtocolUdp, .traffic_class = RuleClass::kDdl},
      {.source_ports = PortRange{33'000, 33'000}, .traffic_class = RuleClass::kBackground},
  };
  const Classifier classifier(config);
  FrameSpec elsewhere = packet(5001);
  elsewhere.flow.destination_address = ip("10.0.4.1");
  FrameSpec foreign = packet(100);
  foreign.flow.source_address = ip("11.0.0.1"), foreign.protocol = 1;
  EXPECT_EQ(classify(classifier, bytes_of(packet(85))), (Classified{kBackground, 4}))
      << "the first of two that match";
  EXPECT_EQ(classify(classifier, bytes_of(packet(5000))), (Classified{kDdl, 5}));
  EXPECT_EQ(classify(classifier, bytes_of(packet(91, 46))), (Classified{kDdl, 5}))
      << "before the DSCP";
  EXPECT_EQ(classify(classifier, bytes_of(packet(91, 46, kIpProtocolUdp))), (Classified{kDdl, 1}))
      << "leaves the queue to the DSCP";
  EXPECT_EQ(classify(classifier, bytes_of(elsewhere)), (Classified{kBackground, 7}))
      << "a rule may take the class of a DDL port away";
  EXPECT_EQ(classify(classifier, bytes_of(foreign)), (Classified{kBackground, 7})) << "no rule";
  EXPECT_EQ(classify(classifier, ipv6_bytes_of({.source_port = 1, .destination_port = 85})),
            (Classified{kBackground, 7}))
      << "rules with an IPv4 prefix are not for IPv6";
  EXPECT_EQ(classify(classifier,
                     ipv6_bytes_of(
                         {.protocol = kIpProtocolUdp, .source_port = 1, .destination_port = 85})),
            (Classified{kDdl, 6}))
      << "those without one are";
}

TEST(AclTables, AgreeWithANaiveSearch) {
  RandomStream random(2, 0, RandomPurpose::kTest);
  std::vector<AclTable::Rule> rules;
  for (int i = 0; i < 300; ++i) {
    AclTable::Rule r;
    const auto prefix = [&](std::uint32_t& address, std::uint32_t& length) {
      if (random.next_u32() % 3 == 0) return;
      length = random.next_u32() % 33;
      address = length == 0 ? 0
                            : (0x0A000000 | (random.next_u32() & 0x0303)) &
                                  (~std::uint32_t{0} << (32 - length));
      r.ipv4_only = true;
    };
    const auto range = [&](std::uint16_t& first, std::uint16_t& last) {
      if (random.next_u32() % 2 == 0) return;
      first = static_cast<std::uint16_t>(random.next_u32() % 100);
      last = static_cast<std::uint16_t>(first + random.next_u32() % 20);
    };
    prefix(r.source, r.source_length);
    prefix(r.destination, r.destination_length);
    range(r.source_port_first, r.source_port_last);
    range(r.destination_port_first, r.destination_port_last);
    r.any_protocol = random.next_u32() % 2 == 0;
    r.protocol = random.next_u32() % 2 == 0 ? 6 : 17;
    if (i > 250 || (r.source_length > 20 && r.destination_length > 20)) rules.push_back(r);
  }
  const AclTable table("test-rules", rules);
  const auto within = [](std::uint32_t a, std::uint32_t prefix, std::uint32_t length) {
    return length == 0 || ((a ^ prefix) >> (32 - length)) == 0;
  };
  std::map<std::uint32_t, int> seen;
  for (int i = 0; i < 20'000; ++i) {
    const FlowKey f{0x0A000000 | (random.next_u32() & 0x0307),
                    0x0A000000 | (random.next_u32() & 0x0307),
                    static_cast<std::uint16_t>(random.next_u32() % 130),
                    static_cast<std::uint16_t>(random.next_u32() % 130)};
    const std::uint8_t protocol = random.next_u32() % 2 == 0 ? 6 : 17;
    const bool ipv4 = random.next_u32() % 4 != 0;
    std::uint32_t expected = 0;
    for (std::uint32_t n = 0; n < rules.size() && expected == 0; ++n) {
      const auto& r = rules[n];
      if ((!r.ipv4_only || ipv4) && (r.any_protocol || r.protocol == protocol) &&
          within(f.source_address, r.source, r.source_length) &&
          within(f.destination_address, r.destination, r.destination_length) &&
          f.source_port >= r.source_port_first && f.source_port <= r.source_port_last &&
          f.destination_port >= r.destination_port_first &&
          f.destination_port <= r.destination_port_last)
        expected = n + 1;
    }
    ASSERT_EQ(table.classify(AclTable::key_of(f, protocol, ipv4)), expected) << i;
    ++seen[expected];
  }
  EXPECT_GT(seen.size(), 20U);
  EXPECT_GT(seen[0], 10) << "some match none";
}

TEST(Classifier, AnnouncedFlowsAreDdlInBothDirections) {
  auto config = B::config();
  config.ddl_ports = {1, 1};
  config.classes.learned_flows = 64;
  B bench(config);
  const auto ddl = [&bench] { return bench.report({}).queues[B::kEast].arrived[kDdl]; };
  bench.send(B::data(0, 100), Time{0s});
  EXPECT_EQ(ddl(), 0U) << "not announced, and no DDL port";
  bench.send(B::start(0, 1000, 20), Time{1ms});
  bench.send(B::data(0, 1000), Time{2ms});
  EXPECT_EQ(ddl(), 1U);
  bench.send({.flow = B::ddl_flow(0).reversed(), .payload_bytes = 10}, Time{3ms}, B::kEast);
  EXPECT_EQ(bench.report({}).queues[B::kWest].arrived[kDdl], 1U) << "its answers";
  bench.send(B::data(1, 1000), Time{4ms});
  EXPECT_EQ(ddl(), 1U) << "another flow";
  FrameSpec forged = B::start(2, 1000, 20);
  forged.flow.source_address = ip("10.0.4.9");  // not an accepted source
  bench.send(forged, Time{5ms}, B::kSouth);
  forged.tos = 0, forged.payload_bytes = 100;
  bench.send(forged, Time{6ms}, B::kSouth);
  EXPECT_EQ(ddl(), 1U);
  bench.run();
  EXPECT_TRUE(bench.report({}).ledger_balanced);
}

TEST(Classifier, PacketsWaitInTheQueueOfTheirMark) {
  auto config = marked();
  config.signals = {};
  for (auto& port : config.ports) {
    port.regulation.mode = RegulationMode::kOff;
    port.queues.assign(8, PortQueueConfig{.queue = port.queue, .marker = port.marker});
  }
  B bench(config);
  bench.send(packet(80), Time{0s});  // in service
  bench.send(packet(80), Time{0s});
  bench.send(packet(80, 46), Time{0s});
  bench.run();
  ASSERT_EQ(bench.out[B::kEast].size(), 3U);
  EXPECT_EQ(bench.out[B::kEast].arrivals[1].tos >> 2, 46) << "queue 1 before queue 7";
  EXPECT_TRUE(bench.report({}).ledger_balanced);
}

}  // namespace
}  // namespace outrider::classification_test
