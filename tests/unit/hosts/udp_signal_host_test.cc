// Goal: a START as a UDP message leaves as its layout and RFC 768 say, is answered, and
// what only looks like one is counted by name. Method: frames read byte by byte, two
// hosts with a wire, damage.
#include <gtest/gtest.h>

#include <algorithm>

#include "common/net/signal_tag.h"
#include "tests/support/frames.h"
#include "tests/support/pool.h"
#include "trafficgen/hosts/host.h"

namespace outrider::udp_signal_host_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;

constexpr Duration kDelay = 10us;
constexpr std::size_t kUdp = 34, kMessage = 42;
constexpr FlowKey kFlow{0x0A000101, 0x0A000301, 40'000, 5000};
constexpr FlowKey kDatagram{0x0A000101, 0x0A000301, 5900, 5900};
constexpr std::array<std::uint16_t, 2> kPorts{7000, 5900};

constexpr udp_signal::Signal kSignal{.kind = udp_signal::Kind::kStart,
                                     .threshold_packets = 10,
                                     .identity = {1, 2, 3, BurstDirection::kPush},
                                     .burst_bytes = 1'000'000,
                                     .due_in = 3500us,
                                     .source_port = 40'000,
                                     .destination_port = 5000,
                                     .sequence = 123'456,
                                     .counter = 7};

// Pseudo header and UDP, by other code than the one that wrote it.
bool udp_checksum_valid(const Bytes& frame) {
  Bytes summed(frame.begin() + 26, frame.begin() + 34);
  for (const std::size_t word : {std::size_t{17}, frame.size() - kUdp}) {
    summed.push_back(static_cast<std::uint8_t>(word >> 8));
    summed.push_back(static_cast<std::uint8_t>(word));
  }
  summed.insert(summed.end(), frame.begin() + kUdp, frame.end());
  return internet_checksum(summed) == 0;
}

Bytes written(const udp_signal::Signal& signal, TestPool& pool) {
  Packet* packet = rte_pktmbuf_alloc(&pool.get());
  write_signal_frame(*packet, kDatagram, signal);
  const auto bytes = buffer(*packet);
  EXPECT_EQ(meta(*packet).frame_bytes, bytes.size());
  EXPECT_EQ(rte_pktmbuf_pkt_len(packet), bytes.size());
  Bytes frame(bytes.begin(), bytes.end());
  release(packet);
  return frame;
}

TEST(UdpSignalFrame, IsAWholeUdpDatagram) {
  TestPool pool(4);
  for (std::uint64_t counter = 0; counter < 70'000; ++counter) {
    udp_signal::Signal signal = kSignal;
    signal.counter = counter;
    const Bytes f = written(signal, pool);
    ASSERT_EQ(f.size(), 14U + 20 + 8 + udp_signal::kBytes);
    ASSERT_TRUE(udp_checksum_valid(f)) << counter;
    ASSERT_FALSE(f[kUdp + 6] == 0 && f[kUdp + 7] == 0) << "zero would say: no checksum";
    if (counter != 0) continue;
    EXPECT_EQ(internet_checksum({f.data() + 14, 20}), 0);
    EXPECT_EQ(f[12] << 8 | f[13], 0x0800);
    EXPECT_EQ(f[15], 0) << "Not-ECT: nobody may mark it";
    EXPECT_EQ(f[16] << 8 | f[17], 92);
    EXPECT_EQ(f[23], 17);
    EXPECT_EQ(f[kUdp] << 8 | f[kUdp + 1], 5900);
    EXPECT_EQ(f[kUdp + 2] << 8 | f[kUdp + 3], 5900);
    EXPECT_EQ(f[kUdp + 4] << 8 | f[kUdp + 5], 72);
  }
}

std::optional<DropReason> read(TestPool& pool, const Bytes& frame, ReceivedSignal& received) {
  Packet* packet = packet_of(pool.get(), frame);
  ReceivedFrame tcp;
  auto dropped = read_frame(*packet, tcp);
  EXPECT_TRUE(dropped) << "no TCP";
  if (dropped == DropReason::kNoConnection) dropped = read_signal_frame(*packet, kPorts, received);
  release(packet);
  return dropped;
}

TEST(UdpSignalFrame, DamageIsRefusedByName) {
  TestPool pool(4);
  const Bytes good = written(kSignal, pool);
  ReceivedSignal received;
  ASSERT_EQ(read(pool, good, received), std::nullopt);
  EXPECT_EQ(received.signal, kSignal);
  EXPECT_EQ(received.datagram, kDatagram);

  struct Row {
    std::size_t byte;
    std::uint8_t value;
    bool reseal;
    std::optional<DropReason> reason;
    const char* why;
  };
  for (const Row& row : {
           Row{kMessage + 7, 11, false, DropReason::kBadChecksum, "another threshold"},
           Row{kUdp + 7, static_cast<std::uint8_t>(good[kUdp + 7] ^ 1), false,
               DropReason::kBadChecksum, "another checksum"},
           Row{kUdp + 3, 13, false, DropReason::kNoConnection, "another port: not ours"},
           Row{kUdp + 5, 73, false, DropReason::kMalformed, "longer than IP says"},
           Row{kUdp + 5, 71, false, DropReason::kMalformed, "shorter"},
           Row{kUdp + 5, 7, false, DropReason::kMalformed, "not even a header"},
           Row{20, 0x20, true, DropReason::kNoConnection, "the first of several fragments"},
           Row{23, 1, true, DropReason::kNoConnection, "ICMP"},
       }) {
    Bytes bad = good;
    bad[row.byte] = row.value;
    if (row.reseal) reseal_ipv4(bad);
    EXPECT_EQ(read(pool, bad, received), row.reason) << row.why;
  }
  Bytes unsummed = good;
  unsummed[kUdp + 6] = unsummed[kUdp + 7] = 0;
  EXPECT_EQ(read(pool, unsummed, received), std::nullopt) << "RFC 768: the sender left it out";
  unsummed[kMessage] = 'X';
  EXPECT_EQ(read(pool, unsummed, received), DropReason::kMalformed) << "no signal of ours";
}

TEST(UdpSignalFrame, SurvivesEveryTruncation) {
  TestPool pool(4);
  const Bytes good = written(kSignal, pool);
  for (std::size_t length = 14 + 20 + 20; length < good.size(); ++length) {
    ReceivedSignal received;
    Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_EQ(read(pool, cut, received), DropReason::kMalformed) << length;
    cut[16] = 0;  // an IP length that agrees
    cut[17] = static_cast<std::uint8_t>(length - 14);
    reseal_ipv4(cut);
    EXPECT_EQ(read(pool, cut, received), DropReason::kMalformed) << length;
  }
}

// In virtual time a buffer may hold less than the wire carried: what is not there is not
// read.
TEST(UdpSignalFrame, AMessageThatTheBufferDoesNotHoldIsMalformed) {
  TestPool pool(4);
  const Bytes good = written(kSignal, pool);
  for (std::size_t missing = 1; missing < good.size() - 54; ++missing) {
    Packet* packet = packet_of(pool.get(), good);
    ASSERT_EQ(rte_pktmbuf_trim(packet, static_cast<std::uint16_t>(missing)), 0);
    ReceivedFrame tcp;
    ASSERT_EQ(read_frame(*packet, tcp), DropReason::kNoConnection);
    ReceivedSignal received;
    EXPECT_EQ(read_signal_frame(*packet, kPorts, received), DropReason::kMalformed) << missing;
    release(packet);
  }
}

// A buffer that held a message and then holds a segment carries nothing of the message.
TEST(UdpSignalFrame, LeavesNothingBehindInTheBuffer) {
  TestPool pool(1, 2048);
  for (const bool with_options : {false, true}) {
    udp_signal::Signal signal = kSignal;
    signal.counter = ~0ULL;
    signal.proof.emplace();
    signal.proof->tag.fill(0xFF);
    (void)written(signal, pool);
    Packet* packet = rte_pktmbuf_alloc(&pool.get());
    TcpSegment segment;
    segment.payload_bytes = 500;
    segment.has_identity = with_options;
    write_frame(*packet, kFlow, 0, segment, true);
    const auto bytes = buffer(*packet);
    const std::size_t headers = kUdp + (with_options ? 32U : 20U);
    EXPECT_TRUE(std::ranges::all_of(bytes.subspan(headers), [](auto b) { return b == 0; }));
    release(packet);
  }
}

// Notes a packet and passes it on.
class Noting final : public Node {
 public:
  explicit Noting(Node& to) : to_(to) {}
  void receive(std::uint32_t port, Packet* packet, Time now) noexcept override {
    seen.push_back(arrival_of(*packet, port, now));
    to_.receive(port, packet, now);
  }
  [[nodiscard]] udp_signal::Signal signal(std::size_t n) const {
    udp_signal::Signal s;
    EXPECT_EQ(udp_signal::decode(std::span(seen[n].bytes).subspan(kMessage), 1h, s), std::nullopt);
    return s;
  }
  std::vector<Arrival> seen;

 private:
  Node& to_;
};

class Listener final : public SignalListener {
 public:
  void on_signal_ack(const FlowKey& flow, std::optional<Duration> told_lead,
                     Time now) noexcept override {
    acks.emplace_back(flow, now);
    told = told_lead;
  }
  std::optional<Duration> told;
  std::vector<std::pair<FlowKey, Time>> acks;
};

struct Pair {
  static Host::Setup setup(const char* name, std::uint32_t address) {
    return {.name = name, .address = address, .rate = BitRate{1'000'000'000}};
  }
  Pair()
      : a(setup("a", kFlow.source_address), loop, pool.get(), memory),
        b(setup("b", kFlow.destination_address), loop, pool.get(), memory) {
    a.nic().connect(wire_to_b);
    b.nic().connect(wire_to_a);
  }
  ~Pair() {
    wire_to_a.flush();
    wire_to_b.flush();
  }
  static void expect_balanced(const Host& host) {
    const HostCounters& c = host.counters();
    std::uint64_t dropped = 0;
    for (const auto n : c.drops) dropped += n;
    EXPECT_EQ(c.received, c.to_connections + c.signals_taken + dropped) << host.setup().name;
  }

  TestPool pool;
  EventLoop loop;
  TransportMemory memory{TransportMemory::Setup{}};
  Host a, b;
  Noting to_a{a}, to_b{b};
  Link wire_to_b{loop, kDelay, to_b, 0}, wire_to_a{loop, kDelay, to_a, 0};
};

constexpr UdpStart kStart{.flow = kFlow,
                          .port = 5900,
                          .sequence = 123'456,
                          .threshold_packets = 10,
                          .identity = {1, 2, 3, BurstDirection::kPush},
                          .burst_bytes = 1'000'000,
                          .due_at = Time{105us}};

TEST(HostUdpSignals, AStartIsAnsweredAndHeardByTheAnnouncedFlow) {
  Pair p;
  Listener listener;
  p.a.signals().take_at(5900);
  p.b.signals().take_at(5900);
  p.a.signals().hear_acks(kFlow, listener);
  p.a.send_start(kStart, Time{5us});
  p.loop.run_until(Time{1ms});

  ASSERT_EQ(p.to_b.seen.size(), 1U);
  EXPECT_EQ(p.to_b.seen[0].at, Time{5us + 1040ns + kDelay}) << "130 bytes at 1 Gbit/s, the wire";
  const udp_signal::Signal start = p.to_b.signal(0);
  EXPECT_EQ(start.kind, udp_signal::Kind::kStart);
  EXPECT_EQ(start.due_in, 100us) << "from the start of the transmission";
  EXPECT_EQ(start.sequence, 123'456U);
  EXPECT_EQ(start.burst_bytes, 1'000'000U);
  EXPECT_EQ(start.identity, kStart.identity);
  EXPECT_EQ(start.source_port, 40'000);
  EXPECT_EQ(start.destination_port, 5000);

  ASSERT_EQ(p.to_a.seen.size(), 1U);
  EXPECT_EQ(p.to_a.seen[0].flow.source_address, kFlow.destination_address);
  udp_signal::Signal answer = p.to_a.signal(0);
  EXPECT_EQ(answer.kind, udp_signal::Kind::kAck);
  answer.kind = udp_signal::Kind::kStart;
  EXPECT_EQ(answer, start) << "repeats the START but for the kind";
  ASSERT_EQ(listener.acks.size(), 1U);
  EXPECT_EQ(listener.acks[0].first, kFlow);
  EXPECT_EQ(p.a.counters().starts_sent, 1U);
  EXPECT_EQ(p.b.counters().acks_sent, 1U);
  EXPECT_EQ(p.a.counters().acks_received, 1U);
  Pair::expect_balanced(p.a);
  Pair::expect_balanced(p.b);
}

TEST(HostUdpSignals, AStartHasTheDscpOfItsBurstAndItsAnswerNone) {
  Pair p;
  p.a.signals().take_at(5900);
  p.b.signals().take_at(5900);
  UdpStart start = kStart;
  start.dscp = 26;
  p.a.send_start(start, Time{5us});
  p.loop.run_until(Time{1ms});
  ASSERT_EQ(p.to_b.seen.size(), 1U);
  EXPECT_EQ(p.to_b.seen[0].bytes[15], 26 << 2) << "Not-ECT";
  ASSERT_EQ(p.to_a.seen.size(), 1U) << "its IPv4 checksum is right";
  EXPECT_EQ(p.to_a.seen[0].bytes[15], 0);
}

TEST(HostUdpSignals, DueInCountsFromTheTransmissionAndIsNeverNegative) {
  Pair p;
  p.b.signals().take_at(5900);
  for (int i = 0; i < 3; ++i) p.a.send_start(kStart, Time{104us});
  p.loop.run_until(Time{1ms});
  ASSERT_EQ(p.to_b.seen.size(), 3U);
  EXPECT_EQ(p.to_b.signal(0).due_in, 1us);
  EXPECT_EQ(p.to_b.signal(1).due_in, 0ns) << "1.04 us later";
  EXPECT_EQ(p.to_b.signal(2).due_in, 0ns);
  EXPECT_EQ(p.to_b.signal(0).counter + 1, p.to_b.signal(1).counter);
  EXPECT_EQ(p.to_b.signal(1).counter + 1, p.to_b.signal(2).counter);
}

TEST(HostUdpSignals, AHostThatTakesNoneOrHearsAnotherCountsThem) {
  Pair p;
  p.a.send_start(kStart, Time{});
  p.loop.run_until(Time{1ms});
  EXPECT_EQ(p.b.counters().drops[DropReason::kNoConnection], 1U);
  EXPECT_EQ(p.b.counters().acks_sent, 0U);
  p.b.signals().take_at(5901);
  p.a.send_start(kStart, Time{1ms});
  p.loop.run_until(Time{2ms});
  EXPECT_EQ(p.b.counters().drops[DropReason::kNoConnection], 2U);
  p.b.signals().take_at(5900);
  p.a.signals().take_at(5900);
  p.a.send_start(kStart, Time{2ms});
  p.loop.run_until(Time{3ms});
  EXPECT_EQ(p.b.counters().acks_sent, 1U);
  EXPECT_EQ(p.a.counters().acks_received, 1U) << "nobody listens: counted all the same";
  Pair::expect_balanced(p.a);
  Pair::expect_balanced(p.b);
}

// -- signed

constexpr SignalKey kKey{.id = 9, .secret = {1, 2, 3}};
constexpr SignalKey kOtherKey{.id = 9, .secret = {1, 2, 4}};

UdpStart signed_start() {
  UdpStart start = kStart;
  start.key = &kKey;
  return start;
}

TEST(SignedSignals, AreSignedWhenTheyLeaveAndNumberedByTheClock) {
  constexpr std::uint64_t kZero_ns = 1'800'000'000'000'000'000;
  Pair p;
  p.a.signals().set_clock(kZero_ns);
  p.b.signals().take_at(5900);
  for (int i = 0; i < 2; ++i) p.a.send_start(signed_start(), Time{5us});
  p.a.send_start(kStart, Time{5us});
  p.a.send_start(signed_start(), Time{5us});
  p.loop.run_until(Time{1ms});
  ASSERT_EQ(p.to_b.seen.size(), 4U);
  for (const std::size_t n : {0U, 1U, 3U}) {
    const udp_signal::Signal start = p.to_b.signal(n);
    const auto left_at = p.to_b.seen[n].at - kDelay - 1040ns;  // 130 bytes at 1 Gbit/s
    ASSERT_TRUE(start.proof) << n;
    EXPECT_TRUE(udp_signal::is_signed_by(start, kKey, kDatagram)) << n;
    EXPECT_EQ(start.counter,
              kZero_ns + static_cast<std::uint64_t>(Duration(left_at.time_since_epoch()).count()));
    EXPECT_EQ(start.due_in, kStart.due_at - left_at) << "the tag covers what is left";
  }
  EXPECT_FALSE(p.to_b.signal(2).proof);
  EXPECT_EQ(p.to_b.signal(2).counter, 3U) << "unsigned: the number of STARTs, as ever";
}

TEST(SignedSignals, AreNumberedUpwardsWhileTheClockStands) {
  TestPool pool(4);
  HostCounters counters;
  StartSignals signals(counters);
  std::uint64_t last = 0;
  for (const Time at : {Time{}, Time{}, Time{1us}, Time{1us}}) {
    Packet* packet = rte_pktmbuf_alloc(&pool.get());
    signals.push(signed_start());
    signals.write(*packet, at, false);
    udp_signal::Signal start;
    ASSERT_FALSE(udp_signal::decode(buffer(*packet).subspan(kMessage), 1h, start));
    EXPECT_GT(start.counter, last);
    last = start.counter;
    release(packet);
  }
}

TEST(SignedSignals, AnAnswerKeepsTheTagAndIsHeardOnceForEachAnnouncement) {
  Pair p;
  Listener listener;
  p.a.signals().take_at(5900);
  p.b.signals().take_at(5900);
  p.a.signals().hear_acks(kFlow, listener, &kKey);
  p.a.send_start(signed_start(), Time{5us});
  p.loop.run_until(Time{1ms});
  ASSERT_EQ(p.to_a.seen.size(), 1U);
  const udp_signal::Signal start = p.to_b.signal(0), answer = p.to_a.signal(0);
  EXPECT_EQ(answer.kind, udp_signal::Kind::kAck);
  EXPECT_EQ(answer.proof, start.proof);
  EXPECT_EQ(answer.counter, start.counter);
  EXPECT_EQ(answer.due_in, start.due_in);
  EXPECT_EQ(listener.acks.size(), 1U);
  EXPECT_EQ(p.a.counters().acks_not_ours, 0U);
}

// Who cannot see the START cannot answer for the server.
TEST(SignedSignals, AnAnswerWithoutTheTagOfTheStartIsNotBelieved) {
  Pair p;
  Listener listener;
  p.a.signals().take_at(5900);
  p.a.signals().hear_acks(kFlow, listener, &kKey);
  p.a.send_start(signed_start(), Time{5us});
  p.loop.run_until(Time{1ms});
  const udp_signal::Signal old = p.to_b.signal(0);
  p.a.signals().hear_acks(kFlow, listener, &kKey);
  p.a.send_start(signed_start(), Time{2ms});
  p.loop.run_until(Time{3ms});
  const udp_signal::Signal good = p.to_b.signal(1);
  udp_signal::Signal bare = good, altered = good, strange = good;
  bare.proof.reset();
  ++altered.sequence;
  udp_signal::sign(strange, kOtherKey, kDatagram);
  const auto answer_with = [&p](udp_signal::Signal signal) {
    signal.kind = udp_signal::Kind::kAck;
    Packet* packet = rte_pktmbuf_alloc(&p.pool.get());
    write_signal_frame(*packet, kDatagram.reversed(), signal);
    p.a.receive(0, packet, Time{4ms});
  };
  std::uint64_t refused = 0;
  for (const auto& signal : {bare, altered, strange, old}) {
    answer_with(signal);
    EXPECT_EQ(p.a.counters().acks_not_ours, ++refused);
  }
  p.a.signals().take_tos();
  Packet* tos = rte_pktmbuf_alloc(&p.pool.get());
  write_frame(*tos, kFlow.reversed(), tos_signal::encode({tos_signal::Kind::kAck, 10}, 0), {},
              false);
  p.a.receive(0, tos, Time{4ms});
  EXPECT_EQ(p.a.counters().acks_not_ours, ++refused) << "the TOS byte has no tag";
  EXPECT_TRUE(listener.acks.empty());
  EXPECT_EQ(p.a.counters().acks_received, 0U);
  answer_with(good);
  EXPECT_EQ(listener.acks.size(), 1U);

  p.a.signals().hear_acks(kFlow, listener);
  answer_with(good);
  EXPECT_EQ(p.a.counters().acks_not_ours, ++refused) << "a tag that no START had";
  answer_with(bare);
  EXPECT_EQ(listener.acks.size(), 2U);
  Pair::expect_balanced(p.a);
}

TEST(SignedSignals, AReplayIsTheLastRecordedStartByteForByte) {
  Pair p;
  p.b.signals().take_at(5900);
  EXPECT_FALSE(p.a.replay_start(Time{1us})) << "nothing to record yet";
  using Turn = std::pair<const SignalKey*, Time>;
  for (const auto& [key, now] : {Turn{&kKey, Time{5us}}, Turn{nullptr, Time{10ms}}}) {
    p.to_b.seen.clear();
    UdpStart start = kStart, forged = kStart;
    start.key = key;
    forged.recorded = false;
    p.a.send_start(start, now);
    p.a.send_start(forged, now);
    p.loop.run_until(now + 1ms);
    EXPECT_TRUE(p.a.replay_start(now + 2ms));
    p.loop.run_until(now + 3ms);
    ASSERT_EQ(p.to_b.seen.size(), 3U);
    EXPECT_EQ(p.to_b.seen[2].bytes, p.to_b.seen[0].bytes);
  }
  EXPECT_EQ(p.a.counters().starts_sent, 6U);
}

class DataApp final : public Acceptor, public ConnectionListener {
 public:
  Offer accept(const FlowKey&) noexcept override { return {&config, this, 0}; }
  void on_accepted(TcpConnection&) noexcept override {}
  void on_established(TcpConnection&, Time) noexcept override {}
  void on_delivered(TcpConnection&, Time) noexcept override {}
  void on_closed(TcpConnection&, Time) noexcept override {}
  TcpConfig config;
};

// Answers wait for the NIC in a queue of fixed size; the oldest makes room for the newest.
TEST(HostUdpSignals, AFloodOfStartsHasABoundedNumberOfAnswers) {
  constexpr std::uint64_t kFlood = 100'000;
  Pair p;
  p.b.signals().take_at(5900);
  const Bytes start = written(kSignal, p.pool);
  for (std::uint64_t i = 0; i < kFlood; ++i) {
    p.b.receive(0, packet_of(p.pool.get(), start), Time{1us});
    ASSERT_LE(p.b.signals().waiting_answers(), StartSignals::kMaxAnswers);
  }
  EXPECT_LE(p.b.counters().acks_sent, 1U) << "the others wait";
  p.loop.run_until(Time{1s});
  EXPECT_EQ(p.b.counters().signals_taken, kFlood);
  EXPECT_LE(p.to_a.seen.size(), StartSignals::kMaxAnswers + 1);
  EXPECT_EQ(p.b.counters().acks_sent + p.b.counters().answers_dropped, kFlood);
  EXPECT_EQ(p.to_a.seen.size(), p.b.counters().acks_sent);
  Pair::expect_balanced(p.b);
}

// STARTs that fill the wire towards a host leave its data a part of the wire back.
TEST(HostUdpSignals, AFloodOfStartsLeavesDataTheirTurn) {
  Pair p;
  DataApp app;
  p.b.signals().take_at(5900);
  p.a.connections().listen(5000, app);
  const FlowKey flow{kFlow.destination_address, kFlow.source_address, 40'000, 5000};
  TcpConnection& c = p.b.open(flow, app.config, 0, app, Time{});
  p.b.send(c, 10'000'000, Time{});
  p.loop.run_until(Time{1ms});
  const std::uint64_t before = c.stream().acked_bytes();
  const Bytes start = written(kSignal, p.pool);
  for (Time now{1ms}; now < Time{51ms}; now += 1us) {  // one takes 1.04 us on the wire
    p.loop.run_until(now);
    p.b.receive(0, packet_of(p.pool.get(), start), now);
  }
  EXPECT_GT(c.stream().acked_bytes() - before, 600'000U) << "a tenth of 50 ms at 1 Gbit/s";
  EXPECT_GT(p.b.counters().acks_sent, 20'000U) << "and the answers still have most of it";
}

}  // namespace
}  // namespace outrider::udp_signal_host_test
