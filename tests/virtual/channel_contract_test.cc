// Goal: whatever carries them, channels keep the promises of trafficgen/channel/channel.h, so that
// background is written once over them. Method: two hosts and two wires that lose, delay and
// repeat, by seed, with nothing of a transport in the tests but its row.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/fake_channels.h"
#include "tests/support/frames.h"
#include "tests/support/impairment.h"
#include "tests/support/pool.h"
#include "trafficgen/background/flow_group.h"
#include "trafficgen/channel/make_channels.h"

namespace outrider::channel_contract_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

/// Two hosts, between which packets can be lost. Channels lead from the first to the second; those
/// that are lent also back.
struct Wires {
  static constexpr Duration kDelay = 10us;

  Wires() {
    a.nic().connect(wire_to_b);
    b.nic().connect(wire_to_a);
  }
  ~Wires() {
    wire_to_a.flush();
    wire_to_b.flush();
  }
  void set_rules(const Impairment::Rule& at_a, const Impairment::Rule& at_b) {
    to_a.set_rule(at_a);
    to_b.set_rule(at_b);
  }
  static Host::Setup setup(const char* name, const char* address, std::uint32_t index) {
    return {.name = name,
            .address = ip(address),
            .rate = BitRate{1'000'000'000},
            .mtu_bytes = 1088,
            .index = index};
  }

  TestPool pool;
  EventLoop loop;
  TransportMemory memory{TransportMemory::Setup{}};
  Host a{setup("a", "10.0.1.1", 0), loop, pool.get(), memory};
  Host b{setup("b", "10.0.3.1", 1), loop, pool.get(), memory};
  Impairment to_a{loop, pool.get(), [this](Packet* p, Time now) { a.receive(0, p, now); }};
  Impairment to_b{loop, pool.get(), [this](Packet* p, Time now) { b.receive(0, p, now); }};
  Link wire_to_a{loop, kDelay, to_a, 0};
  Link wire_to_b{loop, kDelay, to_b, 0};
};

/// Notes what it hears, and does what a test wants at once.
struct Notes final : Channel::User {
  void on_open(Channel&, Time now) noexcept override {
    ++opened;
    if (at_open) at_open(now);
  }
  void on_delivered(Channel&, ChannelSide at, std::uint64_t fresh_bytes,
                    Time now) noexcept override {
    EXPECT_GT(opened, ended) << "not open";
    EXPECT_GT(fresh_bytes, 0U);
    bytes[static_cast<std::size_t>(at)] += fresh_bytes;
    if (at_delivery) at_delivery(at, fresh_bytes, now);
  }
  void on_idle(Channel&, ChannelSide from, Time) noexcept override {
    ++idle[static_cast<std::size_t>(from)];
  }
  void on_ended(Channel& channel, Time) noexcept override {
    ++ended;
    counts = channel.counts(ChannelSide::kNear);
  }
  void on_free(Channel&, Time) noexcept override {
    EXPECT_EQ(++freed, ended) << "it ends before";
    if (at_free) at_free();
  }

  std::function<void(Time)> at_open{};
  std::function<void(ChannelSide, std::uint64_t, Time)> at_delivery{};
  std::function<void()> at_free{};
  int opened = 0, ended = 0, freed = 0;
  FlowCounts counts{};                   ///< at the last end
  std::array<std::uint64_t, 2> bytes{};  ///< delivered, [side]
  std::array<int, 2> idle{};             ///< [side]
};

constexpr std::size_t kNear = 0, kFar = 1;

struct Row {
  const char* name;
  std::optional<TransportProtocol> protocol;  ///< nothing: the fake
};

class ChannelContract : public ::testing::TestWithParam<Row> {
 protected:
  ChannelContract() {
    TransportConfig transport;
    transport.tcp.initial_rto = transport.tcp.min_rto = transport.tcp.max_rto = 20ms;
    transport.tcp.delayed_ack = 10ms;
    transport.roce.timeout = 2ms;
    if (GetParam().protocol) {
      transport.protocol = *GetParam().protocol;
      channels_ =
          make_channels(transport, {.hosts = hosts(), .first_port = 7000, .ports = 2, .seed = 1});
    } else {
      auto made = std::make_unique<FakeChannels>(wires_.loop, 1);
      fake_ = made.get();
      channels_ = std::move(made);
    }
  }
  Channel& make(Notes& notes) {
    Channel& channel = channels_->make(notes);
    channel.tell_idle();
    channel.keep_counts();
    return channel;
  }
  ChannelHosts hosts() { return {{&wires_.a, &wires_.b}, {&wires_.b, &wires_.a}}; }
  static constexpr HostPair kThere{0, 0}, kBack{1, 1};
  /// A flow of a channel that is lent.
  void begin(Channel& channel, std::uint64_t bytes) {
    ASSERT_TRUE(channel.open(now_));
    channel.send_last(bytes, now_);
  }
  [[nodiscard]] std::uint32_t connections() {
    return wires_.a.connections().size() + wires_.b.connections().size();
  }
  void run(Duration time) { wires_.loop.run_until(now_ += time); }
  /// Nothing arrives any more, until heal().
  void cut() {
    const auto rule = [](const SeenPacket&) { return Fate{.drop = true}; };
    wires_.set_rules(rule, rule);
    if (fake_ != nullptr) fake_->die(now_);
  }
  void heal() {
    wires_.set_rules({}, {});
    if (fake_ != nullptr) fake_->heal();
  }

  Time now_{};
  Wires wires_;
  FakeChannels* fake_ = nullptr;
  std::unique_ptr<Channels> channels_;
};

TEST_P(ChannelContract, EveryByteArrivesOnceInBothDirections) {
  Notes notes;
  Channel& channel = make(notes);
  channels_->listen();
  EXPECT_EQ(notes.opened, 0);
  ASSERT_TRUE(channel.open(now_));
  channel.send(ChannelSide::kNear, 1'000'000, now_);
  channel.send(ChannelSide::kNear, 1, now_);
  run(100ms);
  EXPECT_EQ(notes.opened, 1);
  channel.send(ChannelSide::kFar, 300'000, now_);
  channel.send(ChannelSide::kNear, 5'000, now_);
  run(100ms);
  EXPECT_EQ(notes.bytes[kFar], 1'005'001U);
  EXPECT_EQ(notes.bytes[kNear], 300'000U);
  EXPECT_EQ(channel.counts(ChannelSide::kNear).delivered_bytes, 1'005'001U);
  EXPECT_EQ(channel.counts(ChannelSide::kFar).delivered_bytes, 300'000U);
  EXPECT_GE(notes.idle[kNear], 2) << "once for what was sent at first, once for the rest";
  EXPECT_GE(notes.idle[kFar], 1);
  EXPECT_EQ(notes.ended, 0);
}

// A wire loses one packet in fifty, repeats some, and has others overtaken.
TEST_P(ChannelContract, EveryByteArrivesOnceOverABadWire) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const RandomImpairment bad{.loss = 0.02, .duplicate = 0.01, .reorder = 0.01, .late = 50us};
    wires_.set_rules(random_rule(bad, seed, 0), random_rule(bad, seed, 1));
    Notes notes;
    Channel& channel = make(notes);
    if (seed == 1) channels_->listen();
    ASSERT_TRUE(channel.open(now_));
    channel.send(ChannelSide::kNear, 2'000'000, now_);
    run(3s);
    ASSERT_EQ(notes.bytes[kFar], 2'000'000U) << seed;
    EXPECT_EQ(notes.idle[kNear], 1) << seed;
    if (fake_ == nullptr) {
      EXPECT_GT(channel.counts(ChannelSide::kNear).retransmitted, 20U) << seed;
    }
    EXPECT_EQ(channel.counts(ChannelSide::kFar).retransmitted, 0U) << "it sends no data";
  }
}

// Answers are handed over within the event in which their request arrives.
TEST_P(ChannelContract, AUserMaySendWithinAnEvent) {
  Notes notes;
  Channel& channel = make(notes);
  channels_->listen();
  notes.at_open = [&](Time now) { channel.send(ChannelSide::kNear, 700, now); };
  notes.at_delivery = [&](ChannelSide at, std::uint64_t fresh_bytes, Time now) {
    const bool enough = at == ChannelSide::kNear && notes.bytes[kNear] >= 70'000;
    if (!enough) channel.send(at, fresh_bytes, now);
  };
  ASSERT_TRUE(channel.open(now_));
  run(1s);
  EXPECT_GE(notes.bytes[kNear], 70'000U) << "what arrived was sent back, a hundred times";
  EXPECT_EQ(notes.bytes[kNear], notes.bytes[kFar]);
}

TEST_P(ChannelContract, OnADeadPathItEndsAndIsOpenedAgain) {
  Notes notes;
  Channel& channel = make(notes);
  channels_->listen();
  ASSERT_TRUE(channel.open(now_));
  channel.send(ChannelSide::kNear, std::uint64_t{1} << 50, now_);  // more than will ever arrive
  run(50ms);
  const std::uint64_t before = notes.bytes[kFar];
  EXPECT_GT(before, 100'000U);
  cut();
  run(10s);
  ASSERT_EQ(notes.ended, 1);
  const std::uint64_t delivered = notes.bytes[kFar];
  heal();
  run(1s);
  EXPECT_EQ(notes.bytes[kFar], delivered) << "what was abandoned does not arrive later";
  ASSERT_TRUE(channel.open(now_));
  channel.send(ChannelSide::kNear, 12'345, now_);
  run(1s);
  EXPECT_EQ(notes.opened, 2);
  EXPECT_EQ(notes.ended, 1);
  EXPECT_EQ(notes.bytes[kFar], delivered + 12'345);
  EXPECT_EQ(channel.counts(ChannelSide::kNear).delivered_bytes, delivered + 12'345)
      << "totals go on";
}

// Packets are on their way for longer than the near side has patience, and no answer comes back.
TEST_P(ChannelContract, WhatArrivesLateOfAnEndedChannelIsNotDelivered) {
  Notes notes;
  Channel& channel = make(notes);
  channels_->listen();
  ASSERT_TRUE(channel.open(now_));
  channel.send(ChannelSide::kNear, std::uint64_t{1} << 50, now_);
  run(50ms);
  cut();
  wires_.to_b.set_rule([](const SeenPacket&) { return Fate{.delay = 12s}; });
  run(11s);
  ASSERT_EQ(notes.ended, 1);
  const std::uint64_t delivered = notes.bytes[kFar];
  heal();
  ASSERT_TRUE(channel.open(now_));
  channel.send(ChannelSide::kNear, 12'345, now_);
  run(5s);
  EXPECT_EQ(notes.bytes[kFar], delivered + 12'345);
}

TEST_P(ChannelContract, SaysWhenTheFirstByteLeft) {
  Notes notes;
  Channel& channel = make(notes);
  channels_->listen();
  ASSERT_TRUE(channel.open(now_));
  for (int i = 0; i < 3; ++i) {
    const Time handed_over = now_;
    channel.send(ChannelSide::kNear, 100'000, now_);
    run(100ms);
    ASSERT_EQ(notes.bytes[kFar], 100'000U * (i + 1));
    const auto left = channel.first_sent_at(ChannelSide::kNear);
    ASSERT_TRUE(left.has_value());
    EXPECT_GE(*left, handed_over);
    EXPECT_LT(*left, handed_over + 6ms) << "long before the last byte was handed over";
    EXPECT_FALSE(channel.first_sent_at(ChannelSide::kFar).has_value());
  }
}

// Each has its own bytes, and shares the wire.
TEST_P(ChannelContract, SeveralDoNotDisturbEachOther) {
  constexpr std::size_t kChannels = 8;
  std::array<Notes, kChannels> notes;
  std::vector<Channel*> all;
  for (Notes& n : notes) all.push_back(&make(n));
  channels_->listen();
  for (std::size_t i = 0; i < kChannels; ++i) {
    ASSERT_TRUE(all[i]->open(now_));
    all[i]->send(ChannelSide::kNear, 10'000 * (i + 1), now_);
  }
  run(200ms);
  for (std::size_t i = 0; i < kChannels; ++i) {
    EXPECT_EQ(notes[i].bytes[kFar], 10'000 * (i + 1));
    EXPECT_EQ(notes[i].idle[kNear], 1);
  }
}

// One flow after another; each has counts of its own, and leaves nothing behind.
TEST_P(ChannelContract, ALentChannelEndsWithItsLastByteAndServesAgain) {
  Notes notes;
  notes.at_free = [this] { EXPECT_LE(connections(), 1U) << "the one that says so"; };
  channels_->stock(1);
  channels_->listen();
  const RandomImpairment bad{.loss = 0.02, .duplicate = 0.01, .reorder = 0.01, .late = 50us};
  wires_.set_rules(random_rule(bad, 1, 0), random_rule(bad, 1, 1));
  for (int flow = 1; flow <= 8; ++flow) {
    Channel* const channel = channels_->lend(notes, kThere);
    ASSERT_NE(channel, nullptr);
    if (flow == 8) wires_.set_rules({}, {});
    begin(*channel, 400'000);
    EXPECT_EQ(notes.ended, flow - 1);
    run(4s);
    ASSERT_EQ(notes.ended, flow);
    ASSERT_EQ(notes.freed, flow);
    EXPECT_EQ(notes.bytes[kFar], 400'000U * flow);
    EXPECT_EQ(notes.counts.delivered_bytes, 400'000U) << "of this flow";
    EXPECT_EQ(connections(), 0U);
    if (fake_ == nullptr) {
      EXPECT_EQ(notes.counts.retransmitted != 0, flow != 8) << "of this flow: " << flow;
    }
    channels_->give_back(*channel);
  }
}

TEST_P(ChannelContract, ChannelsAreLentBetweenAnyTwoHosts) {
  std::array<Notes, 6> notes;
  channels_->stock(2);
  channels_->listen();
  const auto sent_bytes = [this] {
    return std::array{wires_.a.counters().sent_bytes, wires_.b.counters().sent_bytes};
  };
  for (std::uint32_t round = 0; round < 4; ++round) {
    const auto before = sent_bytes();
    std::array<Channel*, 6> lent{};
    for (std::size_t i = 0; i < lent.size(); ++i) {
      const bool there = (i % 3 == 0) == (round % 2 == 0);  // two one way, four the other
      lent[i] = channels_->lend(notes[i], there ? kThere : kBack);
      ASSERT_NE(lent[i], nullptr);
      begin(*lent[i], 100'000);
    }
    run(1s);
    for (std::size_t i = 0; i < lent.size(); ++i) {
      EXPECT_EQ(notes[i].bytes[kFar], 100'000U * (round + 1)) << i;
      ASSERT_EQ(notes[i].freed, static_cast<int>(round) + 1) << i;
      channels_->give_back(*lent[i]);
    }
    if (fake_ != nullptr) continue;
    const std::size_t two = round % 2, four = 1 - two;
    EXPECT_NEAR(static_cast<double>(sent_bytes()[two] - before[two]), 220'000, 40'000) << round;
    EXPECT_NEAR(static_cast<double>(sent_bytes()[four] - before[four]), 430'000, 40'000) << round;
  }
}

// The near side gives up while packets of it are on their way: they arrive before or after the far
// side has given up too.
TEST_P(ChannelContract, ALentChannelThatGaveUpDeliversNothingLaterAndIsFree) {
  Notes notes;
  channels_->stock(1);
  channels_->listen();
  Channel* const channel = channels_->lend(notes, kThere);
  ASSERT_NE(channel, nullptr);
  int flows = 0;
  for (const Duration late : {Duration{400ms}, Duration{12s}}) {
    const std::uint64_t before = notes.bytes[kFar];
    begin(*channel, std::uint64_t{1} << 40);
    run(50ms);
    cut();
    wires_.to_b.set_rule([late](const SeenPacket&) { return Fate{.delay = late}; });
    run(11s);
    ASSERT_EQ(notes.ended, ++flows);
    EXPECT_GT(notes.counts.delivered_bytes, 100'000U);
    const std::uint64_t after = before + notes.counts.delivered_bytes;
    EXPECT_EQ(notes.bytes[kFar], after) << "nothing more than at its end";
    heal();
    run(30s);
    EXPECT_EQ(notes.bytes[kFar], after);
    EXPECT_EQ(notes.freed, flows);
    EXPECT_EQ(connections(), 0U) << "the far end is closed as well";
    begin(*channel, 12'345);
    run(5s);
    EXPECT_EQ(notes.bytes[kFar], after + 12'345);
    ASSERT_EQ(notes.freed, ++flows);
  }
}

// A group of flows knows nothing of what carries it. Some flows complete, and on a dead path fail.
TEST_P(ChannelContract, AGroupOfFlowsRunsOverIt) {
  constexpr std::uint32_t kFlows = 300;
  std::vector<ListedFlow> list;
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < kFlows; ++i) {
    list.push_back({.at = i * 500us, .from = i % 2, .to = i % 2, .bytes = 1 + 97ULL * i});
    bytes += list.back().bytes;
  }
  GoodputSeries goodput(1s, 1);
  FlowGroup group({.name = "flows",
                   .hosts = hosts(),
                   .channels = std::move(channels_),
                   .max_open = 20,
                   .records = kFlows,
                   .arrivals = std::make_unique<ListedArrivals>(list, Time{}, kNever, kFlows)},
                  goodput);
  group.schedule();
  run(60ms);
  cut();
  run(30s);
  const FlowGroupReport dead = group.report();
  EXPECT_GT(dead.completed, 80U);
  EXPECT_GT(dead.failed, 10U);
  if (fake_ == nullptr) {
    EXPECT_GT(dead.refused, 0U) << "as many as may wait for answers";
  }
  EXPECT_EQ(dead.open, 0U);
  EXPECT_EQ(dead.arrivals, kFlows);
  EXPECT_EQ(dead.arrived_bytes, bytes);
  EXPECT_EQ(dead.arrivals, dead.refused + dead.completed + dead.failed);
  ASSERT_EQ(dead.records.size(), dead.completed + dead.failed);
  std::uint64_t delivered = 0;
  for (const FlowRecord& r : dead.records) {
    EXPECT_EQ(r.slowdown_milli != 0, r.delivered_ns >= 0);
    if (r.delivered_ns < 0) continue;
    EXPECT_GE(r.slowdown_milli, 1000U);
    delivered += r.bytes;
  }
  EXPECT_LE(delivered, dead.delivered_bytes);
  EXPECT_EQ(goodput.totals()[TrafficClass::kBackground], dead.delivered_bytes);
  if (fake_ == nullptr) {
    std::uint64_t again = 0, timeouts = 0;
    for (const FlowRecord& r : dead.records) {
      again += r.retransmitted;
      timeouts += r.rtos;
    }
    EXPECT_GT(timeouts, 10U);
    EXPECT_EQ(again, dead.retransmitted);
    EXPECT_EQ(timeouts, dead.rtos_data + dead.rtos_handshake);
  }
}

INSTANTIATE_TEST_SUITE_P(Transports, ChannelContract,
                         ::testing::Values(Row{"tcp", TransportProtocol::kTcp},
                                           Row{"roce", TransportProtocol::kRoce},
                                           Row{"fake", std::nullopt}),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace outrider::channel_contract_test
