// Goal: for the UDP form of the signal, which sources are accepted, what a signal arms and when,
// and what happens to signals that are not accepted.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/unit/switch/switch_bench.h"

namespace outrider::udp_signals_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using B = SwitchBench;
using udp_signal::Fault;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kUdp = 34;  // offset of the UDP header
constexpr std::size_t kMessage = 42;

SwitchConfig udp_config() {
  SwitchConfig c = B::config();
  c.signals.accept_tos = false;
  c.signals.accept_udp = true;
  return c;
}

/// Returns a worker's START for the flow of B::data().
udp_signal::Signal announce(std::uint32_t worker, std::uint32_t sequence,
                            std::uint16_t threshold = 10) {
  const FlowKey flow = B::ddl_flow(worker);
  return {.threshold_packets = threshold,
          .source_port = flow.source_port,
          .destination_port = flow.destination_port,
          .sequence = sequence};
}

Bytes message_of(const udp_signal::Signal& signal) {
  Bytes bytes(udp_signal::kBytes);
  udp_signal::encode(signal, std::span(bytes).first<udp_signal::kBytes>());
  return bytes;
}

/// Returns any bytes in Ethernet, IPv4 and UDP without a checksum.
/// @param payload at least 12 bytes
Bytes datagram(std::uint32_t worker, const Bytes& payload,
               std::uint16_t port = udp_signal::kDefaultPort) {
  FrameSpec spec{.flow = {B::ddl_flow(worker).source_address, ip("10.0.3.1"), port, port},
                 .protocol = kIpProtocolUdp};
  spec.payload_bytes = static_cast<std::uint16_t>(8 + payload.size() - 20);
  Bytes frame = bytes_of(spec);
  const std::size_t length = 8 + payload.size();
  frame[kUdp + 4] = 0;
  frame[kUdp + 5] = static_cast<std::uint8_t>(length);
  frame[kUdp + 6] = frame[kUdp + 7] = 0;
  std::ranges::copy(payload, frame.begin() + kMessage);
  return frame;
}

Bytes start(std::uint32_t worker, const udp_signal::Signal& signal) {
  return datagram(worker, message_of(signal));
}
Bytes start(std::uint32_t worker, std::uint32_t sequence) {
  return start(worker, announce(worker, sequence));
}

struct Bench : B {
  explicit Bench(const SwitchConfig& c = udp_config()) : B(c) {}
  using B::send;
  void send(const Bytes& frame, Time now) { receive(kWest, packet_of(pool.get(), frame), now); }
  QueueReport east(Time now = {}) const { return report(now).queues[kEast]; }
};

bool is_message(const Arrival& a) { return a.bytes.size() > 23 && a.bytes[23] == kIpProtocolUdp; }

TEST(UdpSignals, AreServedFirstAndArmTheFlowThatTheyName) {
  Bench bench;
  bench.fill(51, Time{});  // one in service, 50 wait
  bench.send(start(0, 1000), Time{1us});
  auto answer = announce(1, 1000);
  answer.kind = udp_signal::Kind::kAck;
  bench.send(start(1, answer), Time{2us});
  EXPECT_EQ(bench.east().entries_left, 1U) << "an answer arms nothing";
  bench.run();
  const auto& seen = bench.out[B::kEast].arrivals;
  ASSERT_EQ(seen.size(), 53U);
  EXPECT_TRUE(is_message(seen[1]) && is_message(seen[2])) << "next on the wire";
  EXPECT_EQ(seen[1].ttl, 63) << "still routed like any packet";
  EXPECT_TRUE(seen[1].checksum_valid);
  EXPECT_EQ(bench.east().transmitted[TrafficClass::kSignal], 2U);
  bench.send(B::data(1, 1000), Time{1ms});
  EXPECT_EQ(bench.east().entries_left, 1U) << "of another flow";
  bench.send(B::data(0, 999 - B::kPayload), Time{1ms});
  EXPECT_EQ(bench.east().entries_left, 1U) << "before the burst";
  bench.send(B::data(0, 1000), Time{1ms});
  EXPECT_EQ(bench.east().recovered_arrival, 1U);
  EXPECT_EQ(bench.east().entries_left, 0U);
}

struct Doubtful {
  Bytes frame;
  std::optional<Fault> fault{};                    ///< fault by which it is counted
  std::uint64_t SwitchReport::*counter = nullptr;  ///< counts it; both absent: not counted
  const char* why;
};

// Each START comes behind 50 waiting packets and is wrong in one way. All of them must be
// forwarded in their turn, and none may regulate.
TEST(UdpSignals, WhatIsNotBelievedRegulatesNothing) {
  const Bytes good = message_of(announce(0, 1000));
  const auto changed = [&good](std::size_t at, std::uint8_t value) {
    Bytes message = good;
    message[at] = value;
    return datagram(0, message);
  };
  const auto due_in = [](Duration d) {
    auto signal = announce(0, 1000);
    signal.due_in = d;
    return start(0, signal);
  };
  const auto in_ip = [&good](std::size_t at, std::uint8_t value) {
    Bytes frame = datagram(0, good);
    frame[14 + at] = value;
    reseal_ipv4(frame);
    return frame;
  };
  const auto resized = [&good](std::size_t bytes) {
    Bytes message = good;
    message.resize(bytes);
    return datagram(0, message);
  };
  Bytes wrong_length = datagram(0, good);
  wrong_length[kUdp + 5] = 71;
  Bytes tcp = in_ip(9, kIpProtocolTcp);
  tcp[kUdp + 12] = 5 << 4;  // a valid TCP header
  Bytes stranger = datagram(0, good);
  stranger[14 + 14] = 2;  // 10.0.2.1
  reseal_ipv4(stranger);
  Bytes no_port = good;
  no_port[32] = no_port[33] = 0;
  const Bytes zero_port = datagram(0, no_port);
  const Doubtful rows[] = {
      {datagram(0, good), std::nullopt, nullptr, "(nothing is wrong: the table can tell)"},
      {due_in(10s), std::nullopt, nullptr, "(due as far as is believed)"},
      {resized(63), Fault::kBadLength, nullptr, "one byte short"},
      {resized(65), Fault::kBadLength, nullptr, "one byte long"},
      {wrong_length, Fault::kBadLength, nullptr, "UDP and IPv4 disagree"},
      {in_ip(6, 0x20), Fault::kBadLength, nullptr, "first fragment of more"},
      {changed(0, 'o'), Fault::kBadMagic, nullptr, "other magic"},
      {changed(4, 3), Fault::kBadVersion, nullptr, "a version to come"},
      {changed(4, 2), std::nullopt, &SwitchReport::signals_unknown_key, "signed, by no known key"},
      {changed(5, 3), Fault::kBadKind, nullptr, "neither START nor ACK"},
      {changed(7, 0), Fault::kZeroTarget, nullptr, "target of no packets"},
      {zero_port, Fault::kZeroPort, nullptr, "of no flow"},
      {due_in(10s + 1ns), Fault::kDueTooFar, nullptr, "due later than anyone plans"},
      {changed(63, 1), Fault::kReserved, nullptr, "a tag"},
      {stranger, std::nullopt, &SwitchReport::signals_not_accepted, "from where nobody is listed"},
      {datagram(0, good, 5901), std::nullopt, nullptr, "another port"},
      {tcp, std::nullopt, nullptr, "the form is UDP"},
  };
  for (const auto& row : rows) {
    Bench bench;
    bench.fill(51, Time{});
    bench.send(row.frame, Time{1us});
    const SwitchReport r = bench.report({});
    const bool sound = std::string_view(row.why).starts_with('(');
    EXPECT_EQ(r.queues[B::kEast].starts_armed, sound ? 1U : 0U) << row.why;
    for (std::size_t f = 0; f < udp_signal::kFaults; ++f)
      EXPECT_EQ(r.signals_bad_udp[f], row.fault == static_cast<Fault>(f) ? 1U : 0U)
          << row.why << ": " << udp_signal::kFaultNames[f];
    for (const auto counter :
         {&SwitchReport::signals_bad_code, &SwitchReport::signals_not_accepted,
          &SwitchReport::signals_over_rate, &SwitchReport::signals_unknown_key})
      EXPECT_EQ(r.*counter, counter == row.counter ? 1U : 0U) << row.why;
    bench.run();
    const auto& seen = bench.out[B::kEast].arrivals;
    ASSERT_EQ(seen.size(), 52U) << row.why;
    EXPECT_EQ(seen[sound ? 1 : 51].frame_bytes, row.frame.size()) << row.why << ": at its turn";
    EXPECT_TRUE(bench.report({}).ledger_balanced) << row.why;
  }
}

TEST(UdpSignals, AreOrdinaryPacketsWhereTheFormIsOff) {
  Bench bench(B::config());
  bench.fill(51, Time{});
  bench.send(start(0, 1000), Time{1us});
  bench.run();
  EXPECT_TRUE(is_message(bench.out[B::kEast].arrivals[51]));
  const SwitchReport r = bench.report({});
  EXPECT_EQ(r.queues[B::kEast].starts_armed, 0U);
  EXPECT_EQ(r.signals_not_accepted, 0U);
  EXPECT_EQ(r.queues[B::kEast].transmitted[TrafficClass::kSignal], 0U);
}

TEST(UdpSignals, ShareFlowsAndTokensWithTheOtherForm) {
  SwitchConfig config = udp_config();
  config.signals.accept_tos = true;
  config.signals.tokens_per_second = 1000;
  config.signals.token_burst = 3;
  Bench bench(config);
  bench.send(start(0, 1000), Time{});
  bench.send(B::start(0, 1000, 10), Time{});
  EXPECT_EQ(bench.east().starts_repeated, 1U) << "the same burst";
  bench.send(datagram(0, Bytes(64)), Time{});
  bench.send(B::start(0, 2000, 10), Time{});
  EXPECT_EQ(bench.report({}).signals_over_rate, 0U) << "what is no signal takes no token";
  bench.send(start(0, 3000), Time{});
  EXPECT_EQ(bench.report({}).signals_over_rate, 1U) << "three of either form at once";
  EXPECT_EQ(bench.east().starts_armed, 2U);
  bench.send(start(0, 3000), Time{1ms});
  EXPECT_EQ(bench.east().starts_armed, 3U) << "the bucket fills again";
}

TEST(UdpSignals, RegulateFromALeadBeforeTheBurstIsDue) {
  SwitchConfig config = udp_config();
  config.ports[B::kEast].regulation.lead = 4ms;
  Bench bench(config);
  auto signal = announce(0, 1000);
  signal.due_in = 10ms;
  bench.send(start(0, signal), Time{});
  const auto regulated_marks = [&bench] {
    return bench.marks(B::kEast, TrafficClass::kBackground, MarkReason::kRegulatedThreshold);
  };
  bench.fill(16, Time{5'999'999ns});  // above h = 10, below K = 40
  bench.send(B::background(), Time{5'999'999ns});
  EXPECT_EQ(regulated_marks(), 0U);
  bench.send(B::background(), Time{6ms});
  EXPECT_EQ(regulated_marks(), 1U);
  bench.send(B::data(0, 1000), Time{9ms});
  EXPECT_EQ(bench.east(Time{20ms}).regulated_ns, Duration{3ms}.count());
}

/// A switch whose port to the servers holds windows, and a START that has passed it.
struct LeadBench : Bench {
  static SwitchConfig config() {
    SwitchConfig c = udp_config();
    auto& regulation = c.ports[kEast].regulation;
    regulation.mode = RegulationMode::kWindow;
    regulation.recovery = Recovery::kBurstEnd;
    regulation.lead = OrAuto<Duration>{};
    return c;
  }
  LeadBench() : Bench(config()) { send(udp_signals_test::start(0, 1000), Time{}); }
  /// Sends an answer from the server's side. @return how it arrives at the workers' side
  Arrival answered(const udp_signal::Signal& signal, Time now, std::uint16_t checksum = 0) {
    Bytes frame = udp_signals_test::start(0, signal);
    for (std::size_t i = 0; i < 4; ++i) std::swap(frame[26 + i], frame[30 + i]);
    frame[kUdp + 6] = static_cast<std::uint8_t>(checksum >> 8);
    frame[kUdp + 7] = static_cast<std::uint8_t>(checksum);
    receive(kEast, packet_of(pool.get(), frame), now);
    run();
    return out[kWest].arrivals.back();
  }
  static udp_signal::Signal answer() {
    udp_signal::Signal a = announce(0, 1000);
    a.kind = udp_signal::Kind::kAck;
    a.counter = 7;
    return a;
  }
  static udp_signal::Signal read(const Arrival& arrival) {
    udp_signal::Signal signal;
    const auto payload = std::span(arrival.bytes).subspan(kMessage, udp_signal::kBytes);
    EXPECT_EQ(udp_signal::decode(payload, Duration::max(), signal), std::nullopt);
    return signal;
  }
  /// Returns the one's complement sum of UDP header, message and pseudo header.
  static std::uint32_t udp_sum(const Arrival& arrival) {
    std::uint32_t sum = kIpProtocolUdp + 8 + udp_signal::kBytes;
    const auto& b = arrival.bytes;
    for (std::size_t i = 26; i < kMessage + udp_signal::kBytes; i += 2)
      sum += static_cast<std::uint32_t>(b[i] << 8 | b[i + 1]);
    while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
    return sum;
  }
};

// No background flow is known here, so nothing has to drain: the lead is zero.
TEST(UdpSignals, TellTheLeadInTheAnswerToAStart) {
  LeadBench bench;
  const Arrival told = bench.answered(LeadBench::answer(), Time{1us});
  EXPECT_EQ(LeadBench::read(told).told_lead, 0ns);
  EXPECT_EQ(told.bytes[kUdp + 6] << 8 | told.bytes[kUdp + 7], 0) << "it had no checksum";
  EXPECT_EQ(bench.east().window.leads_told, 1U);
}

TEST(UdpSignals, TheToldLeadKeepsARightChecksumRightAndAWrongOneWrong) {
  LeadBench bench;
  const Arrival without = bench.answered(LeadBench::answer(), Time{1us});
  ASSERT_TRUE(without.checksum_valid);
  // The sum of the answer as it was sent, whose counter was 7.
  Arrival sent = without;
  std::fill_n(sent.bytes.begin() + kMessage + 40, 8, std::uint8_t{0});
  sent.bytes[kMessage + 47] = 7;
  const auto right = static_cast<std::uint16_t>(~LeadBench::udp_sum(sent));
  EXPECT_EQ(LeadBench::udp_sum(bench.answered(LeadBench::answer(), Time{2us}, right)), 0xFFFFU);
  const auto wrong = static_cast<std::uint16_t>(right ^ 0x10);
  EXPECT_NE(LeadBench::udp_sum(bench.answered(LeadBench::answer(), Time{3us}, wrong)), 0xFFFFU);
}

TEST(UdpSignals, TellNoLeadWhereItIsNotTheirs) {
  LeadBench bench;
  auto other = LeadBench::answer();
  ++other.source_port;
  EXPECT_EQ(LeadBench::read(bench.answered(other, Time{1us})), other) << "of a flow without START";
  auto is_signed = LeadBench::answer();
  is_signed.proof.emplace();
  EXPECT_EQ(LeadBench::read(bench.answered(is_signed, Time{2us})), is_signed);
  auto longer = LeadBench::answer();
  longer.counter = 0;
  longer.told_lead = 5ms;
  EXPECT_EQ(LeadBench::read(bench.answered(longer, Time{3us})), longer)
      << "of another switch, which needs more";
  SwitchConfig fixed = LeadBench::config();
  fixed.ports[B::kEast].regulation.lead = 4ms;
  Bench without(fixed);
  without.send(start(0, 1000), Time{});
  EXPECT_EQ(without.sw.port(B::kEast).returns().lead_for(B::ddl_flow(0), Time{1us}), std::nullopt);
}

TEST(UdpSignals, AnnouncedBytesEndTheBurst) {
  SwitchConfig config = udp_config();
  config.ports[B::kEast].regulation.recovery = Recovery::kBurstEnd;
  Bench bench(config);
  auto signal = announce(0, 1000);
  signal.burst_bytes = B::kPayload + 1;
  bench.send(start(0, signal), Time{});
  bench.send(B::data(0, 1000), Time{1ms});
  EXPECT_EQ(bench.east().recovered_burst_end, 0U);
  bench.send(B::data(0, 1000 + B::kPayload), Time{2ms});
  EXPECT_EQ(bench.east().recovered_burst_end, 1U);
}

// The message itself is background and uses another queue than the burst it announces. A START
// by TOS belongs to the announced flow, but may be the first packet to show that it is DDL data.
TEST(UdpSignals, RegulateTheQueueThatTheBurstWillTake) {
  SwitchConfig config = udp_config();
  config.signals.accept_tos = true;
  for (const bool learned : {false, true}) {
    config.ports[B::kEast].queues.assign(2, {{}, {}, config.ports[B::kEast].regulation});
    config.classes.ddl_queue = 1;
    config.classes.background_queue = 0;
    config.classes.learned_flows = learned ? 64 : 0;
    if (learned) config.ddl_ports = {1, 1};
    for (const bool by_tos : {false, true}) {
      Bench bench(config);
      if (by_tos) bench.send(B::start(0, 1000, 10), Time{});
      else bench.send(start(0, 1000), Time{});
      const auto& queues = bench.sw.port(B::kEast).queues();
      EXPECT_EQ(queues[0].regulation().live_entries(), 0U) << by_tos;
      EXPECT_EQ(queues[1].regulation().live_entries(), 1U) << by_tos;
      bench.send(B::data(0, 1000), Time{1ms});
      EXPECT_EQ(queues[1].regulation().live_entries(), 0U) << "where the burst comes";
    }
  }
}

// RoCEv2 is UDP, and its switches often choose the queue by DSCP alone: a START has that of its
// burst.
TEST(UdpSignals, RegulateTheQueueThatABurstOfRoceWillTake) {
  SwitchConfig config = udp_config();
  config.ports[B::kEast].queues.assign(2, {{}, {}, config.ports[B::kEast].regulation});
  config.classes.ddl_queue = config.classes.background_queue = 0;
  SwitchConfig by_rule = config, by_dscp = config;
  by_rule.rules = {
      {.protocol = kIpProtocolUdp, .destination_ports = PortRange{4791, 4791}, .queue = 1}};
  by_dscp.classes.dscp_ddl = {26};
  by_dscp.classes.ddl_queue = 1;
  auto signal = announce(0, 1000);
  signal.destination_port = 4791;
  Bytes marked = start(0, signal);
  marked[15] = 26 << 2;
  reseal_ipv4(marked);
  const auto armed = [](const SwitchConfig& c, const Bytes& frame) {
    Bench bench(c);
    bench.send(frame, Time{});
    const auto& queues = bench.sw.port(B::kEast).queues();
    return std::pair(queues[0].regulation().live_entries(), queues[1].regulation().live_entries());
  };
  EXPECT_EQ(armed(by_rule, start(0, signal)), std::pair(0U, 1U));
  EXPECT_EQ(armed(by_rule, start(0, announce(0, 1000))), std::pair(1U, 0U)) << "TCP";
  EXPECT_EQ(armed(by_dscp, marked), std::pair(0U, 1U));
  EXPECT_EQ(armed(by_dscp, start(0, signal)), std::pair(1U, 0U));
}

}  // namespace
}  // namespace outrider::udp_signals_test
