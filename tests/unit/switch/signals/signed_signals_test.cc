// Goal: a signed signal is accepted exactly if its key's signer may send it, each refusal has the
// verdict of the first rule that it breaks, and a reload forgets no message.
// Method: a gate alone, and a switch for what its counters say.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "common/net/signal_tag.h"
#include "tests/unit/switch/switch_bench.h"

namespace outrider::signed_signals_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using V = SignalGate::Verdict;
using udp_signal::Signal;

constexpr SignalKey kKey{7, {1, 2, 3}};
constexpr SignalKey kOther{8, {4, 5, 6}};
constexpr std::uint32_t kHere = SwitchBench::kWest, kElsewhere = SwitchBench::kSouth;

/// A signer at the workers' port who may do little, and nobody else.
SwitchConfig config() {
  SwitchConfig c = SwitchBench::config();
  c.signals = {.accept_udp = true,
               .signers = {{.name = "training",
                            .keys = {"a"},
                            .accept_from = {"10.0.1.0/24"},
                            .ports = {"west"},
                            .destinations = {"10.0.3.0/24"},
                            .destination_ports = PortRange{5000, 5001},
                            .min_threshold_packets = 5,
                            .max_threshold_packets = 20,
                            .max_burst_bytes = 1'000'000,
                            .due_limit = 1s,
                            .read_keys = {{kKey, 0}}}}};
  return c;
}

struct Message {
  Signal signal{.threshold_packets = 10,
                .burst_bytes = 1000,
                .due_in = 10ms,
                .source_port = 40'000,
                .destination_port = 5000,
                .sequence = 1,
                .counter = 1};
  FlowKey datagram{ip("10.0.1.1"), ip("10.0.3.1"), 5900, 5900};
  std::uint32_t port = kHere;
  SignalKey key = kKey;
  std::function<void(Signal&)> afterwards = [](Signal&) {};  ///< once it is signed

  [[nodiscard]] std::vector<std::uint8_t> bytes() const {
    Signal s = signal;
    udp_signal::sign(s, key, datagram);
    afterwards(s);
    std::vector<std::uint8_t> out(udp_signal::kBytes);
    udp_signal::encode(s, std::span(out).first<udp_signal::kBytes>());
    return out;
  }
};

V judge(SignalGate& gate, const Message& m, Time now = Time{1s}) {
  return gate.judge(m.bytes(), m.datagram, m.port, now).verdict;
}

struct Row {
  std::function<void(Message&)> change;
  V verdict;
  const char* why;
};

// Each row breaks one rule more than the one below it, so the first one broken decides.
TEST(SignedSignals, TheFirstRuleThatIsBrokenDecides) {
  const auto forge = [](Message& m) { m.key.secret[0] ^= 1; };
  const Row rows[] = {
      {[](Message& m) { m.datagram.source_address = ip("10.0.9.1"); }, V::kNotAccepted, "address"},
      {[](Message& m) { m.key.id = 9; }, V::kUnknownKey, "no signer has it"},
      {[](Message& m) { m.port = kElsewhere; }, V::kNotAccepted, "port"},
      {forge, V::kBadTag, "another secret"},
      {[&](Message& m) {
         m.signal.counter = 0;
         forge(m);
       },
       V::kBadTag, "an old one that is forged as well"},
      {[](Message& m) { m.afterwards = [](Signal& s) { ++s.threshold_packets; }; }, V::kBadTag,
       "altered"},
      {[](Message& m) { m.signal.counter = 0; }, V::kReplayed, "not above the floor"},
      {[](Message& m) { m.datagram.destination_address = ip("10.0.4.1"); }, V::kNotAuthorised,
       "destination"},
      {[](Message& m) { m.signal.destination_port = 5002; }, V::kNotAuthorised, "port of the flow"},
      {[](Message& m) { m.signal.threshold_packets = 4; }, V::kNotAuthorised, "h too small"},
      {[](Message& m) { m.signal.threshold_packets = 21; }, V::kNotAuthorised, "h too great"},
      {[](Message& m) { m.signal.burst_bytes = 1'000'001; }, V::kNotAuthorised, "too large"},
      {[](Message& m) { m.signal.burst_bytes = 0; }, V::kNotAuthorised, "of no known size"},
      {[](Message& m) { m.signal.due_in = 1s + 1ns; }, V::kNotAuthorised, "too early"},
      {[](Message&) {}, V::kAdmitted, "nothing is wrong"},
  };
  for (const auto& row : rows) {
    SignalGate gate(config());
    Message m;
    row.change(m);
    EXPECT_EQ(judge(gate, m), row.verdict) << row.why;
  }
}

TEST(SignedSignals, AMessageIsNewOnce) {
  SignalGate gate(config());
  Message m;
  EXPECT_EQ(judge(gate, m), V::kAdmitted);
  EXPECT_EQ(judge(gate, m), V::kReplayed);
  m.signal.counter = 2;
  EXPECT_EQ(judge(gate, m), V::kAdmitted);
  m.datagram.source_address += 1;
  EXPECT_EQ(judge(gate, m), V::kAdmitted) << "another source counts for itself";
}

// A server has no key and repeats the tag; its address and port need not be the signer's.
TEST(SignedSignals, AnAnswerIsBelievedForItsStart) {
  SignalGate gate(config());
  Message m;
  Signal ack = m.signal;
  udp_signal::sign(ack, kKey, m.datagram);
  ack.kind = udp_signal::Kind::kAck;
  std::array<std::uint8_t, udp_signal::kBytes> bytes{};
  udp_signal::encode(ack, bytes);
  const auto verdict = [&](const FlowKey& datagram) {
    return gate.judge(bytes, datagram, SwitchBench::kEast, Time{1s}).verdict;
  };
  EXPECT_EQ(verdict(m.datagram.reversed()), V::kAdmitted);
  EXPECT_EQ(verdict({ip("10.0.3.2"), m.datagram.source_address, 5900, 5900}), V::kBadTag);
  EXPECT_EQ(verdict({ip("10.0.3.1"), ip("10.0.4.1"), 5900, 5900}), V::kNotAccepted);
  EXPECT_EQ(judge(gate, m), V::kAdmitted) << "an answer uses up no counter";
}

TEST(SignedSignals, ChecksAreRationedPerPortSourceAndKey) {
  SwitchConfig c = config();
  c.signals.token_burst = 3;
  c.signals.accept_from = {"10.0.1.0/24"};
  c.signals.signers[0].ports.clear();
  c.signals.signers[0].keys.emplace_back("b");
  c.signals.signers[0].read_keys.push_back({kOther, 0});
  SignalGate gate(c);
  Message forged;
  forged.key.secret[0] ^= 1;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(judge(gate, forged), V::kBadTag);
  EXPECT_EQ(judge(gate, forged), V::kOverRate) << "costs no check of a tag";
  Message m;
  EXPECT_EQ(judge(gate, m), V::kOverRate) << "who has the same port, address and key id";
  m.port = kElsewhere;
  EXPECT_EQ(judge(gate, m), V::kAdmitted) << "another port";
  m.port = kHere;
  m.key = kOther;
  m.signal.counter = 2;
  EXPECT_EQ(judge(gate, m), V::kAdmitted) << "another key";
  m.afterwards = [](Signal& s) { s.proof.reset(); };
  EXPECT_EQ(judge(gate, m), V::kAdmitted) << "unsigned";
  Message next;
  next.datagram.source_address += 1;
  EXPECT_EQ(judge(gate, next), V::kAdmitted) << "another address";
}

TEST(SignedSignals, ASignerHasARate) {
  SwitchConfig c = config();
  c.signals.signers[0].tokens_per_second = 1;
  c.signals.signers[0].token_burst = 2;
  SignalGate gate(c);
  Message m;
  m.signal.threshold_packets = 21;
  EXPECT_EQ(judge(gate, m), V::kNotAuthorised);
  m.signal = Message{}.signal;
  EXPECT_EQ(judge(gate, m), V::kReplayed) << "a message that was refused is used up";
  m.signal.counter = 2;
  m.datagram.source_address += 1;
  EXPECT_EQ(judge(gate, m), V::kAdmitted);
  EXPECT_EQ(judge(gate, m), V::kReplayed) << "takes no token";
  m.signal.counter = 3;
  m.signal.threshold_packets = 21;
  EXPECT_EQ(judge(gate, m), V::kOverKeyRate) << "whatever the source, and before what it asks for";
  m.signal.counter = 4;
  m.signal.threshold_packets = 10;
  EXPECT_EQ(judge(gate, m, Time{2s}), V::kAdmitted);
}

TEST(SignedSignals, AKeyGrantsNothingToUnsignedMessages) {
  Message plain;
  plain.afterwards = [](Signal& s) { s.proof.reset(); };
  SwitchConfig c = config();
  SignalGate none(c);
  EXPECT_EQ(judge(none, plain), V::kNotAccepted);
  c.signals.accept_from = {"10.0.1.0/24"};
  SignalGate some(c);
  EXPECT_EQ(judge(some, plain), V::kAdmitted);
  c.signals.require_signed = true;
  SignalGate all(c);
  EXPECT_EQ(judge(all, plain), V::kUnsigned);
  plain.port = kElsewhere;
  plain.datagram.source_address = ip("10.0.9.1");
  EXPECT_EQ(judge(all, plain), V::kNotAccepted) << "first";
}

// -- where unsigned signals come from

TEST(TrustedPorts, BindSourcesToIngressPortsInBothForms) {
  SwitchConfig c = config();
  c.signals = {.accept_tos = true,
               .accept_udp = true,
               .accept_from = {"10.0.4.0/24"},
               .trusted = {{{"west"}, {"10.0.1.0/24"}}, {{"south", "east"}, {"10.0.1.1/32"}}}};
  SignalGate gate(c);
  const auto by_tos = [&](const std::string& source, std::uint32_t port) {
    tos_signal::Signal signal;
    return gate.judge(start_tos(10), {ip(source), port}, Time{}, signal);
  };
  const auto by_udp = [&](const std::string& source, std::uint32_t port) {
    Message plain;
    plain.afterwards = [](Signal& s) { s.proof.reset(); };
    plain.datagram.source_address = ip(source);
    plain.port = port;
    return judge(gate, plain);
  };
  const struct {
    const char* source;
    std::uint32_t port;
    bool trusted;
  } rows[] = {{"10.0.1.2", kHere, true},      {"10.0.1.2", kElsewhere, false},
              {"10.0.1.1", kElsewhere, true}, {"10.0.1.1", SwitchBench::kEast, true},
              {"10.0.1.1", kHere, true},      {"10.0.4.1", kHere, true},
              {"10.0.4.1", kElsewhere, true}, {"10.0.9.1", kHere, false}};
  for (const auto& row : rows) {
    EXPECT_EQ(by_tos(row.source, row.port), row.trusted ? V::kAdmitted : V::kNotAccepted)
        << row.source << ' ' << row.port;
    EXPECT_EQ(by_udp(row.source, row.port), row.trusted ? V::kAdmitted : V::kNotAccepted)
        << row.source << ' ' << row.port;
  }
}

TEST(TrustedPorts, TheSwitchKnowsWhereAPacketEntered) {
  SwitchConfig c = SwitchBench::config();
  c.signals.accept_from.clear();
  c.signals.trusted = {{{"west"}, {"10.0.1.0/24"}}};
  SwitchBench bench(c);
  bench.send(SwitchBench::start(0, 1000, 10), Time{}, SwitchBench::kSouth);
  EXPECT_EQ(bench.report({}).signals_not_accepted, 1U) << "a forged address";
  EXPECT_EQ(bench.report({}).queues[SwitchBench::kEast].starts_armed, 0U);
  bench.send(SwitchBench::start(0, 1000, 10), Time{}, SwitchBench::kWest);
  EXPECT_EQ(bench.report({}).queues[SwitchBench::kEast].starts_armed, 1U);
}

// -- reload

TEST(SignedSignals, AReloadForgetsNoMessageOfAKeyThatStays) {
  SwitchConfig c = config();
  SignalGate gate(c);
  Message m;
  EXPECT_EQ(judge(gate, m), V::kAdmitted);
  c.signals.signers[0].name = "renamed";
  c.signals.signers[0].keys = {"b", "a"};
  c.signals.signers[0].read_keys = {{kOther, 5}, {kKey, 5}};
  SignalGate next(c);
  next.inherit(gate);
  EXPECT_EQ(judge(next, m), V::kReplayed);
  m.signal.counter = 2;
  EXPECT_EQ(judge(next, m), V::kAdmitted) << "the floor is that of the first reading";
  m.key = kOther;
  m.signal.counter = 5;
  EXPECT_EQ(judge(next, m), V::kReplayed) << "the floor of a key that is new";
  m.signal.counter = 6;
  EXPECT_EQ(judge(next, m), V::kAdmitted);

  c.signals.signers[0].read_keys = {{kOther, 9}};
  SignalGate last(c);
  last.inherit(next);
  EXPECT_EQ(judge(last, m), V::kReplayed);
  m.key = kKey;
  m.signal.counter = 10;
  EXPECT_EQ(judge(last, m), V::kUnknownKey) << "it was taken away";
}

TEST(SignedSignals, AnotherSecretUnderTheSameIdBeginsAnew) {
  SwitchConfig c = config();
  SignalGate gate(c);
  Message m;
  m.signal.counter = 100;
  EXPECT_EQ(judge(gate, m), V::kAdmitted);
  c.signals.signers[0].read_keys[0].key.secret[0] ^= 1;
  SignalGate next(c);
  next.inherit(gate);
  EXPECT_EQ(judge(next, m), V::kBadTag);
  m.key = c.signals.signers[0].read_keys[0].key;
  EXPECT_EQ(judge(next, m), V::kAdmitted);
}

// -- the switch counts each verdict, by its name

std::vector<std::uint8_t> frame_of(const Message& m) {
  FrameSpec spec{.flow = m.datagram, .protocol = kIpProtocolUdp};
  const auto payload = m.bytes();
  spec.payload_bytes = static_cast<std::uint16_t>(8 + payload.size() - 20);
  auto frame = bytes_of(spec);
  frame[38] = 0;
  frame[39] = static_cast<std::uint8_t>(8 + payload.size());
  frame[40] = frame[41] = 0;
  std::ranges::copy(payload, frame.begin() + 42);
  return frame;
}

struct Bench : SwitchBench {
  using SwitchBench::SwitchBench;
  void send(const Message& m, Time now) {
    receive(m.port, packet_of(pool.get(), frame_of(m)), now);
  }
};

TEST(SignedSignals, EachRefusalHasACounter) {
  SwitchConfig c = config();
  c.signals.accept_from = {"10.0.1.0/24"};
  c.signals.require_signed = true;
  c.signals.signers[0].token_burst = 2;
  c.signals.signers[0].tokens_per_second = 0.001;
  Bench bench(c);
  Message m;
  bench.send(m, Time{});
  bench.send(m, Time{});
  m.signal.counter = 2;
  m.signal.threshold_packets = 21;
  bench.send(m, Time{});
  m.signal.counter = 3;
  bench.send(m, Time{});
  m.key.secret[0] ^= 1;
  bench.send(m, Time{});
  m.key.id = 99;
  bench.send(m, Time{});
  m.afterwards = [](Signal& s) { s.proof.reset(); };
  bench.send(m, Time{});
  const SwitchReport r = bench.report({});
  EXPECT_EQ(r.signals_signed, 1U);
  EXPECT_EQ(r.signals_replayed, 1U);
  EXPECT_EQ(r.signals_not_authorised, 1U);
  EXPECT_EQ(r.signals_over_key_rate, 1U);
  EXPECT_EQ(r.signals_bad_tag, 1U);
  EXPECT_EQ(r.signals_unknown_key, 1U);
  EXPECT_EQ(r.signals_unsigned, 1U);
  EXPECT_EQ(r.queues[SwitchBench::kEast].starts_armed, 1U);
  EXPECT_EQ(r.queues[SwitchBench::kEast].arrived[TrafficClass::kSignal], 1U) << "served first";
  EXPECT_TRUE(r.ledger_balanced);
}

TEST(SignedSignals, AReloadOfTheSwitchKeepsItsMemory) {
  SwitchConfig c = config();
  Bench bench(c);
  Message m;
  bench.send(m, Time{1us});
  SwitchConfig wanted = c;
  wanted.signals.signers[0].keys.emplace_back("b");
  wanted.signals.signers[0].read_keys.push_back({kOther, 0});
  SwitchChange change = bench.sw.prepare(c, wanted);
  bench.sw.apply(change, Time{2us});
  bench.sw.retire(change);
  bench.send(m, Time{3us});
  EXPECT_EQ(bench.report({}).signals_replayed, 1U);
  m.key = kOther;
  bench.send(m, Time{4us});
  EXPECT_EQ(bench.report({}).signals_signed, 2U);

  // A file with another content under the same name.
  c = wanted;
  wanted.signals.signers[0].read_keys[1].key.secret[0] ^= 1;
  change = bench.sw.prepare(c, wanted);
  bench.sw.apply(change, Time{5us});
  bench.sw.retire(change);
  m.signal.counter = 2;
  bench.send(m, Time{6us});
  EXPECT_EQ(bench.report({}).signals_bad_tag, 1U);
}

/// The signer has a fifth of the time and 4 places of 16; anybody in 10.0.0.0/8 may announce
/// unsigned.
SwitchConfig shared() {
  SwitchConfig c = config();
  c.signals.accept_from = {"10.0.0.0/8"};
  c.signals.signers[0].budget_share = 0.2;
  c.signals.signers[0].max_entries = 4;
  for (auto& port : c.ports) {
    port.regulation.budget_share = 0.7;
    port.regulation.budget_window = 1s;
    port.regulation.recovery = Recovery::kTimer;
    port.regulation.hold = 900ms;
    port.regulation.expiry = 2s;
    port.regulation.max_entries = 16;
    port.regulation.max_entries_per_sender = 16;
  }
  return c;
}

/// Announces unsigned bursts of 60 senders, and ten of the signer's flow.
void flood(Bench& bench, Time now) {
  Message m;
  m.afterwards = [](Signal& s) { s.proof.reset(); };
  for (std::uint32_t i = 0; i < 60; ++i) {
    m.datagram.source_address = ip("10.0.2.1") + i;
    bench.send(m, now);
  }
  m.datagram = Message{}.datagram;
  for (m.signal.sequence = 1; m.signal.sequence < 1'000'000; m.signal.sequence += 100'000)
    bench.send(m, now);
}

TEST(SignedSignals, AFloodOfUnsignedOnesRefusesNoSignerWithAShare) {
  for (const bool shares : {true, false}) {
    SwitchConfig c = shared();
    if (!shares) {
      c.signals.signers[0].budget_share.reset();
      c.signals.signers[0].max_entries.reset();
    }
    Bench bench(c);
    const auto east = [&](Time now) { return bench.report(now).queues[SwitchBench::kEast]; };
    flood(bench, Time{1ms});
    const auto before = east(Time{1ms});
    EXPECT_GT(before.starts_refused_table, 0U);
    Message m;
    for (std::uint16_t i = 0; i < 6; ++i) {
      m.signal.source_port = static_cast<std::uint16_t>(40'000 + i);
      m.signal.counter = i + 1U;
      bench.send(m, Time{2ms});
    }
    EXPECT_EQ(bench.report({}).signals_signed, 6U);
    const auto after = east(Time{2ms});
    EXPECT_EQ(after.starts_armed - before.starts_armed, shares ? 4U : 0U);
    EXPECT_EQ(after.starts_refused_sender, shares ? 2U : 0U) << "it has no more than its places";
    flood(bench, Time{3ms});
    if (!shares) continue;
    EXPECT_EQ(east(Time{3ms}).replaced, after.replaced) << "nobody ends its bursts";
    flood(bench, Time{600ms});
    EXPECT_EQ(east(Time{900ms}).regulated_ns, 550ms / 1ns) << "0.75 less 0.2 of 1 s: all of others";
    flood(bench, Time{1001ms});
    flood(bench, Time{1600ms});
    const auto armed = east(Time{1600ms}).starts_armed;
    m.signal.counter = 99;
    m.signal.sequence = 2;
    bench.send(m, Time{1600ms});
    EXPECT_EQ(east(Time{1600ms}).starts_armed, armed + 1);
    EXPECT_EQ(east(Time{1999ms}).regulated_ns, (550ms + 550ms + 200ms) / 1ns);
  }
}

TEST(SignedSignals, AReloadGivesASignerAShare) {
  SwitchConfig c = shared();
  c.signals.signers[0].budget_share.reset();
  c.signals.signers[0].max_entries.reset();
  Bench bench(c);
  flood(bench, Time{1ms});
  Message m;
  bench.send(m, Time{2ms});
  const auto east = [&] { return bench.report({}).queues[SwitchBench::kEast]; };
  EXPECT_EQ(east().starts_armed, 16U);
  const SwitchConfig wanted = shared();
  SwitchChange change = bench.sw.prepare(c, wanted);
  bench.sw.apply(change, Time{3ms});
  bench.sw.retire(change);
  flood(bench, Time{760ms});  // the budget has ended the entries of others
  EXPECT_EQ(east().starts_armed, 16U);
  m.signal.counter = 2;
  bench.send(m, Time{761ms});
  EXPECT_EQ(east().starts_armed, 17U);
}

// Two switches in a row, each with the key: both arm, and neither believes a copy.
TEST(SignedSignals, RegulateAtEachSwitchOnTheWayOnce) {
  SwitchConfig c = config();
  Bench second(c);
  Switch first(c, second.loop, {});
  Collector unused;
  Link link(second.loop, 10us, second.sw, kHere);
  first.port(SwitchBench::kEast).transmitter().output().connect(link);
  const auto send = [&](const Message& m, Time now) {
    second.loop.run_until(now);
    first.receive(kHere, packet_of(second.pool.get(), frame_of(m)), now);
    second.loop.run_until(now + 1ms);
  };
  const auto counts = [&](std::uint64_t SwitchReport::*counter) {
    SwitchReport report;
    first.fill(report, {});
    return std::pair(report.*counter, second.report({}).*counter);
  };
  const auto armed = [&] {
    SwitchReport report;
    first.fill(report, {});
    return std::pair(report.queues[SwitchBench::kEast].starts_armed,
                     second.report({}).queues[SwitchBench::kEast].starts_armed);
  };
  using Both = std::pair<std::uint64_t, std::uint64_t>;
  Message m;
  send(m, Time{1ms});
  EXPECT_EQ(armed(), Both(1, 1));
  EXPECT_EQ(counts(&SwitchReport::signals_signed), Both(1, 1));
  send(m, Time{20s});  // the entry has long expired
  EXPECT_EQ(armed(), Both(1, 1));
  EXPECT_EQ(counts(&SwitchReport::signals_replayed), Both(1, 1));
  m.signal.counter = 2;
  m.signal.sequence = 9000;
  m.afterwards = [](Signal& s) { s.sequence = 1; };
  send(m, Time{21s});
  EXPECT_EQ(armed(), Both(1, 1));
  EXPECT_EQ(counts(&SwitchReport::signals_bad_tag), Both(1, 1));
  m.afterwards = [](Signal&) {};
  send(m, Time{22s});
  EXPECT_EQ(armed(), Both(2, 2));
  first.flush();
  link.flush();
}

}  // namespace
}  // namespace outrider::signed_signals_test
