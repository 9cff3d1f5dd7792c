// Goal: any bad input is counted by name, no buffer is kept, and the switch continues to
// forward. Method: storms of each kind among good packets, through the whole switch.
#include <gtest/gtest.h>
#include <rte_mbuf.h>

#include <array>
#include <utility>
#include <vector>

#include "common/core/random.h"
#include "tests/support/ipv6_frames.h"
#include "tests/unit/switch/switch_bench.h"

namespace outrider::bad_input_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using B = SwitchBench;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t kRounds = 300;

Bytes changed(std::size_t at, std::uint8_t value, bool reseal = true) {
  Bytes frame = bytes_of(B::background());
  frame[at] = value;
  if (reseal) reseal_ipv4(frame);
  return frame;
}
Bytes cut(Bytes frame, std::size_t length) {
  frame.resize(length);
  return frame;
}

struct Kind {
  const char* what;
  Bytes frame;
  DropReason reason;
};

std::vector<Kind> kinds() {
  const Bytes good = bytes_of(B::background());
  return {
      {"truncated in Ethernet", cut(good, 9), DropReason::kMalformed},
      {"truncated in IPv4", cut(good, 30), DropReason::kMalformed},
      {"truncated in TCP", cut(good, 45), DropReason::kMalformed},
      {"empty", {}, DropReason::kMalformed},
      {"longer than its frame", changed(16, 0xFF), DropReason::kMalformed},
      {"version 5", changed(14, 0x55), DropReason::kNotIpv4},
      {"header of 16 bytes", changed(14, 0x44), DropReason::kMalformed},
      {"checksum", changed(24, good[24] ^ 0x10, false), DropReason::kBadChecksum},
      {"TTL of one", changed(22, 1), DropReason::kTtlExpired},
      {"three tags", tagged(tagged(tagged(good, 1), 2), 3), DropReason::kVlanDepth},
      {"tags to its end", tagged(cut(good, 14), 1), DropReason::kMalformed},
      {"IPv6, truncated", cut(ipv6_bytes_of({}), 40), DropReason::kMalformed},
      {"IPv6, nine extensions", ipv6_bytes_of({.extensions = Bytes(9, 60)}),
       DropReason::kIpv6Extensions},
      {"another protocol", changed(12, 0x88, false), DropReason::kNotIpv4},
  };
}

/// Returns a packet of two segments; the second begins at byte `first`.
Packet* segmented(rte_mempool& pool, const Bytes& frame, std::size_t first) {
  Packet* head = packet_of(pool, frame);
  Packet* tail = packet_of(pool, frame);
  head->data_len = static_cast<std::uint16_t>(first);
  head->pkt_len = static_cast<std::uint32_t>(first);
  EXPECT_EQ(rte_pktmbuf_chain(head, tail), 0);
  meta(*head).frame_bytes = static_cast<std::uint32_t>(frame.size());
  return head;
}

TEST(BadInputStorm, EachKindIsCountedByNameAndForwardingGoesOn) {
  B bench;
  const auto bad = kinds();
  std::array<std::uint64_t, kDropReasons> expected{};
  Time now{};
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    for (const auto& kind : bad) {
      bench.receive(round % 3, packet_of(bench.pool.get(), kind.frame), now += 10us);
      ++expected[static_cast<std::size_t>(kind.reason)];
    }
    const Bytes good = bytes_of(B::background());
    bench.receive(B::kWest, segmented(bench.pool.get(), good, 20), now += 10us);
    ++expected[static_cast<std::size_t>(DropReason::kMalformed)];
    bench.receive(B::kWest, segmented(bench.pool.get(), good, 60), now += 10us);
    bench.send(B::background(), now += 10us);
  }
  bench.run();
  EXPECT_EQ(bench.out[B::kEast].size(), 2 * kRounds) << "the good ones, in one segment or two";
  EXPECT_EQ(bench.out[B::kEast].count([](const Arrival& a) { return a.checksum_valid; }),
            2 * kRounds);
  const SwitchReport r = bench.report(now);
  for (std::size_t i = 0; i < kDropReasons; ++i)
    EXPECT_EQ(r.drops[TrafficClass::kBackground][i], expected[i]) << kDropReasonNames[i];
  EXPECT_TRUE(r.ledger_balanced);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

// Frames have random damage anywhere. The test expects no particular reason, only that counters
// balance.
TEST(BadInputStorm, RandomDamageIsAlwaysBooked) {
  auto config = B::config();
  config.signals.accept_udp = true;
  config.signals.token_burst = 1e6;
  B bench(config);
  RandomStream random(3, 0, RandomPurpose::kTest);
  const std::array<Bytes, 5> seeds = {bytes_of(B::background()), bytes_of(B::data(0, 1)),
                                      bytes_of(B::start(0, 1, 10)), ipv6_bytes_of({}),
                                      tagged(bytes_of(B::background()), 7)};
  Time now{};
  for (int i = 0; i < 20'000; ++i) {
    Bytes frame = seeds[random.next_u32() % seeds.size()];
    for (std::uint32_t n = random.next_u32() % 6; n > 0; --n)
      frame[random.next_u32() % std::min<std::size_t>(frame.size(), 74)] =
          static_cast<std::uint8_t>(random.next_u32());
    const bool holds_header = frame.size() >= sizeof(EthernetHeader) + (frame[14] & 0xFU) * 4;
    if (random.next_u32() % 2 == 0 && holds_header) reseal_ipv4(frame);
    if (random.next_u32() % 4 == 0) frame.resize(random.next_u32() % (frame.size() + 1));
    bench.receive(random.next_u32() % 3, packet_of(bench.pool.get(), frame), now += 10us);
  }
  bench.run();
  const SwitchReport r = bench.report(now);
  EXPECT_TRUE(r.ledger_balanced);
  EXPECT_EQ(r.received, 20'000U);
  EXPECT_GT(r.transmitted, 2'000U);
  EXPECT_EQ(bench.pool.in_use(), 0U);
  bench.send(B::background(), now + 1s);
  bench.run();
  EXPECT_EQ(bench.report(now).transmitted, r.transmitted + 1) << "goes on";
}

// The table of stations fills up. Stations that talk are still found.
TEST(BadInputStorm, OfUnknownStationsLeavesForwardingAlone) {
  auto config = B::config();
  config.routes.clear();
  config.l2.learning = true;
  config.l2.max_entries = 64;
  for (auto& port : config.ports) port.queue.limit_packets = 1000;
  B bench(config);
  RandomStream random(5, 0, RandomPurpose::kTest);
  const auto station = [&](std::uint32_t from, std::uint32_t to) {
    return bytes_of({.flow = {from, to, 1000, 2000}, .payload_bytes = 100});
  };
  const std::uint32_t near = ip("10.0.1.1"), far = ip("10.0.3.1");
  Time now{};
  std::uint64_t good = 0, flooded = 0;
  for (int i = 0; i < 5'000; ++i) {
    const Bytes unknown = station(random.next_u32(), random.next_u32());
    bench.receive(B::kSouth, packet_of(bench.pool.get(), unknown), now += 50us);
    flooded += 1;
    if (i % 10 != 0) continue;
    bench.receive(B::kEast, packet_of(bench.pool.get(), station(far, near)), now += 50us);
    bench.receive(B::kWest, packet_of(bench.pool.get(), station(near, far)), now += 50us);
    ++good;
  }
  bench.run();
  const auto to = [](std::uint32_t address) {
    return [address](const Arrival& a) { return a.flow.destination_address == address; };
  };
  EXPECT_EQ(bench.out[B::kEast].count(to(far)), good);
  EXPECT_EQ(bench.out[B::kWest].count(to(near)), good);
  const SwitchReport r = bench.report(now);
  EXPECT_GE(r.copied, flooded) << "unknown ones go everywhere";
  EXPECT_TRUE(r.ledger_balanced);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

Bytes announcement(std::uint32_t worker, const udp_signal::Signal& signal) {
  Bytes message(udp_signal::kBytes);
  udp_signal::encode(signal, std::span(message).first<udp_signal::kBytes>());
  FrameSpec spec{.flow = {ip("10.0.1.1") + worker, ip("10.0.3.1"), 5900, 5900},
                 .protocol = kIpProtocolUdp};
  spec.payload_bytes = static_cast<std::uint16_t>(8 + message.size() - 20);
  Bytes frame = bytes_of(spec);
  frame[38] = 0, frame[39] = static_cast<std::uint8_t>(8 + message.size());
  frame[40] = frame[41] = 0;
  std::ranges::copy(message, frame.begin() + 42);
  return frame;
}

// Every source stays within its token bucket, so only the table of entries limits them.
TEST(BadInputStorm, OfSignalsArmsWhatFitsAndEnds) {
  auto config = B::config();
  for (auto& port : config.ports) {
    port.regulation.max_entries = 16;
    port.regulation.budget_share = 1;
    port.regulation.expiry = 10ms;
  }
  config.signals.accept_udp = true;
  config.signals.token_burst = 4;
  config.signals.tokens_per_second = 1;
  B bench(config);
  Time now{};
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const std::uint32_t w = round % 50;
    bench.send(B::start(w, 1000 * round, 10), now += 10us);
    bench.send(B::start(w, 1000 * round, 0), now += 10us);
    udp_signal::Signal signal{.threshold_packets = 10,
                              .source_port = 40'000,
                              .destination_port = 5000,
                              .sequence = round};
    signal.due_in = 365 * 24h;
    bench.receive(B::kWest, packet_of(bench.pool.get(), announcement(w, signal)), now += 10us);
    bench.send(B::background(), now += 10us);
  }
  const SwitchReport during = bench.report(now);
  const QueueReport& queue = during.queues[B::kEast];
  EXPECT_GT(during.signals_bad_code, 0U) << "threshold of zero";
  EXPECT_EQ(during.signals_bad_code + during.signals_over_rate + queue.starts_armed +
                queue.starts_refused_table,
            2 * kRounds)
      << "each has its reason";
  EXPECT_EQ(during.signals_bad_udp[udp_signal::Fault::kDueTooFar], kRounds);
  EXPECT_GT(during.signals_over_rate, 0U);
  EXPECT_GT(queue.starts_refused_table, 0U);
  EXPECT_GE(queue.starts_armed, 16U);
  EXPECT_LE(queue.entries_left, 16U);
  now += 20ms;
  bench.send(B::background(), now);
  bench.run();
  const auto background = bench.report(now).queues[B::kEast].transmitted[TrafficClass::kBackground];
  EXPECT_GE(background, kRounds + 1) << "and bad signals pass as any packet";
  EXPECT_EQ(bench.sw.port(B::kEast).queues()[0].regulation().live_entries(), 0U)
      << "all have expired";
  EXPECT_TRUE(bench.report(now).ledger_balanced);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

}  // namespace
}  // namespace outrider::bad_input_test
