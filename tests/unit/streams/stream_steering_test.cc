// Goal: an operator's orders take effect at once, and nothing is made up for. Method: schedules and
// engines in virtual time; a thread in the place of an lcore for what is handed over.
#include "trafficgen/streams/run/stream_steering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "tests/support/pool.h"
#include "tests/unit/streams/stream_fixture.h"

namespace outrider::stream_steering_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Kind = StreamOrder::Kind;
using Outcome = StreamOrder::Outcome;
using Unit = StreamRate::Unit;

StreamSchedule schedule(const StreamConfig& s) { return StreamSchedule({.stream = s}); }

StreamConfig at_rate(std::uint64_t pps) {
  StreamConfig s = stream();
  s.rate = StreamRate{Unit::kPackets, pps};
  return s;
}

TEST(SteeredSchedule, NothingIsDueWhileStoppedAndNothingIsMadeUpFor) {
  StreamSchedule made = schedule(stream());
  for (int i = 0; i < 10; ++i) made.take();
  made.stop();
  std::array<Departure, 32> out;
  EXPECT_EQ(made.next(), kNever);
  EXPECT_EQ(made.take_due(Time{1s}, out), 0U);
  EXPECT_FALSE(made.over(Time{1s}));
  made.begin(Time{2s});
  ASSERT_EQ(made.take_due(Time{2s}, out), 1U) << "not two million";
  EXPECT_EQ(out[0].due, Time{2s});
  EXPECT_EQ(out[0].sequence, 10U) << "numbers go on";
  EXPECT_EQ(made.next(), Time{2s + 1us});
}

TEST(SteeredSchedule, ABurstBeginsAnew) {
  StreamConfig s = stream();
  s.pattern = StreamPattern::kOnOff;
  s.burst_packets = 3;
  s.gap = 10us;
  StreamSchedule made = schedule(s);
  made.take();
  made.take();
  made.stop();
  made.begin(Time{1ms});
  for (const Duration due : {0us, 1us, 2us, 13us}) EXPECT_EQ(made.take().due, Time{1ms + due});
}

TEST(SteeredSchedule, ANewRateHoldsFromNowOn) {
  StreamSchedule made = schedule(at_rate(3));
  StreamSchedule other = schedule(at_rate(2'000'000));
  made.take();  // the next one would be due after 333 ms
  made.exchange_rate(other, Time{100us});
  EXPECT_EQ(made.packets_per_second(), 2e6);
  EXPECT_EQ(other.packets_per_second(), 3);
  for (const auto due : {100'000, 100'500, 101'000})
    EXPECT_EQ(made.take().due, Time{Duration{due}});
  made.exchange_rate(other, Time{1s});
  std::array<Departure, 32> out;
  EXPECT_EQ(made.take_due(Time{1s}, out), 1U) << "what was late at the old rate is not made up for";
  EXPECT_EQ(made.next(), Time{1s + Duration{333'333'333}});
}

TEST(SteeredSchedule, ANewRateDoesNotBeginAStream) {
  StreamConfig s = stream();
  s.start = 5ms;
  StreamSchedule later = schedule(s);
  StreamSchedule other = schedule(at_rate(2'000'000));
  later.exchange_rate(other, Time{1ms});
  EXPECT_EQ(later.take().due, Time{5ms});
  EXPECT_EQ(later.take().due, Time{5ms + 500ns});
  later.stop();
  StreamSchedule third = schedule(at_rate(4'000'000));
  later.exchange_rate(third, Time{6ms});
  EXPECT_EQ(later.next(), kNever) << "it is stopped";
  later.begin(Time{7ms});
  later.take();
  EXPECT_EQ(later.take().due, Time{7ms + 250ns});
}

TEST(SteeredSchedule, TheRandomPatternKeepsTheNewMean) {
  StreamConfig s = stream();
  s.pattern = StreamPattern::kPoisson;
  StreamSchedule made = schedule(s);
  s.rate = StreamRate{Unit::kPackets, 10'000'000};
  StreamSchedule other = schedule(s);
  made.exchange_rate(other, Time{});
  constexpr int kPackets = 100'000;
  for (int i = 0; i < kPackets; ++i) made.take();
  EXPECT_NEAR(static_cast<double>(made.next().time_since_epoch().count()) / kPackets, 100, 2);
}

TEST(SteeredSchedule, EndsWhereItWasToEnd) {
  StreamConfig s = stream();
  s.duration = 10ms;
  StreamSchedule timed = schedule(s);
  timed.take();
  timed.stop();
  EXPECT_FALSE(timed.over(Time{10ms - 1ns}));
  EXPECT_TRUE(timed.over(Time{10ms}));
  timed.begin(Time{10ms - 1ns});
  EXPECT_EQ(timed.take().due, Time{10ms - 1ns});
  EXPECT_EQ(timed.next(), kNever);
  s = stream();
  s.packets = 3;
  StreamSchedule counted = schedule(s);
  counted.take();
  counted.stop();
  counted.begin(Time{1s});
  counted.take();
  counted.take();
  EXPECT_TRUE(counted.over(Time{1s})) << "stopped or not, three packets";
}

struct Devices {
  FakeDevice device{};
  [[nodiscard]] const FakeDevice& port(std::size_t) const { return device; }
};

class StreamSteeringOrders : public testing::Test {
 protected:
  StreamEngine::Setup setup() const {
    StreamConfig other = stream("other", "10.0.0.2");
    other.rate = StreamRate{Unit::kBits, 300'000'000};
    StreamConfig received = stream("received", "10.0.0.3");
    received.device = "";
    received.receive_device = "d";
    received.rate.reset();
    return {.streams = {stream(), other, received}, .devices = {{"d", {1'000'000'000}}}};
  }
  TestPool pool_{1024, 2048};
  Devices devices_;
};

TEST_F(StreamSteeringOrders, TheEngineObeysAndCounts) {
  StreamEngine engine(setup(), pool_.get());
  const auto send_until = [&](Time from, Time to) {
    std::uint32_t sent = 0;
    for (Time now = from; now < to; now += 1us) sent += engine.send(devices_, {now, 0});
    return sent;
  };
  const auto obey = [&](Kind kind, Time now) {
    StreamOrder order{.stream = 0, .kind = kind};
    if (kind == Kind::kRate) order.schedule.emplace(schedule(at_rate(500'000)));
    engine.obey(order, now);
    return order.outcome;
  };
  send_until(Time{}, Time{1ms});
  EXPECT_EQ(obey(Kind::kStart, Time{1ms}), Outcome::kAlready);
  EXPECT_EQ(obey(Kind::kStop, Time{1ms}), Outcome::kDone);
  EXPECT_EQ(obey(Kind::kStop, Time{1ms}), Outcome::kAlready);
  const auto stopped = engine.snapshot(0, Time{1ms});
  EXPECT_EQ(stopped.sent.sent, 1000U);
  EXPECT_EQ(stopped.sender, StreamSnapshot::Sender::kStopped);
  send_until(Time{1ms}, Time{2ms});
  EXPECT_EQ(engine.snapshot(0, Time{2ms}).sent.sent, 1000U) << "none while it is stopped";
  EXPECT_FALSE(engine.done(Time{2ms}));
  EXPECT_EQ(obey(Kind::kRate, Time{2ms}), Outcome::kDone);
  EXPECT_EQ(obey(Kind::kStart, Time{2ms}), Outcome::kDone);
  send_until(Time{2ms}, Time{3ms});
  const auto on = engine.snapshot(0, Time{3ms});
  EXPECT_EQ(on.sent.sent, 1500U) << "half the rate for a millisecond, and no more";
  EXPECT_EQ(on.sent.slips, 0U);
  engine.finish();
  EXPECT_EQ(obey(Kind::kStop, Time{3ms}), Outcome::kEnded);
  const StreamReport r = engine.report().streams.at(0);
  EXPECT_EQ(r.sent, 1500U);
  EXPECT_EQ(r.stops, 1U);
  EXPECT_EQ(r.starts, 1U);
  EXPECT_EQ(r.rate_changes, 1U);
  EXPECT_EQ(r.requested_packets_per_second, 500'000);
  EXPECT_EQ(engine.report().streams.at(1).stops, 0U);
}

TEST_F(StreamSteeringOrders, RefusesInWords) {
  StreamSteering steering(setup(), {0, 0, 0}, 1);
  const auto refusal = [](const auto& order) -> std::string {
    try {
      order();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "obeyed";
  };
  const auto rate = [&](const char* name, const char* value) {
    return refusal([&] { steering.set_rate(name, value); });
  };
  EXPECT_THAT(refusal([&] { steering.stop("nobody"); }), HasSubstr("no such stream: \"nobody\""));
  EXPECT_THAT(refusal([&] { steering.start("received"); }), HasSubstr("only received here"));
  EXPECT_THAT(rate("nobody", "1mpps"), HasSubstr("no such stream"));
  EXPECT_THAT(rate("s", "fast"), HasSubstr("rate \"fast\" must be a rate such as"));
  EXPECT_THAT(rate("s", "0pps"), HasSubstr("more than zero"));
  EXPECT_THAT(rate("s", "101%"), HasSubstr("at most 100%"));
  EXPECT_THAT(rate("s", "2mpps"), HasSubstr("beyond the line rate of device \"d\""));
  EXPECT_THAT(rate("s", "800mbit"), HasSubstr("together with"));
  EXPECT_EQ(steering.read().at(0).rate, *stream().rate) << "nothing was changed";
  steering.detach();
  EXPECT_THAT(rate("s", "50%"), HasSubstr("the program ends"));
  EXPECT_EQ(steering.read().at(0).rate, *stream().rate);
}

TEST_F(StreamSteeringOrders, HandsOrdersToTheLcoreOfTheStream) {
  StreamSteering steering(setup(), {0, 1, 1}, 2);
  StreamEngine::Setup first = setup();
  first.own = {0};
  StreamEngine::Setup second = setup();
  second.own = {1, 2};
  std::atomic<bool> ends{false};
  const auto lcore = [&](std::uint32_t number, const StreamEngine::Setup& own) {
    StreamEngine engine(own, pool_.get());
    const Devices devices;
    for (Time now{}; !ends; now += 1us) {
      engine.send(devices, {now, 0});
      steering.look(number, engine, now);
      std::this_thread::yield();
    }
    engine.finish();
  };
  std::jthread one([&] { lcore(0, first); });
  std::jthread two([&] { lcore(1, second); });
  steering.stop("other");
  EXPECT_THROW(steering.stop("other"), std::invalid_argument);
  steering.set_rate("other", "20%");
  steering.set_rate("s", "100kpps");
  const auto stopped = steering.read().at(1);
  EXPECT_EQ(format_stream_rate(stopped.rate), "20%");
  steering.start("other");
  const auto streams = [&] {
    for (auto now = steering.read();; now = steering.read())
      if (now[0].counts.sent.rate_changes == 1 && now[1].counts.sent.starts == 1) return now;
  }();
  ends = true;
  one.join();
  two.join();
  steering.detach();
  EXPECT_EQ(streams[0].counts.sent.stops, 0U);
  EXPECT_EQ(streams[1].counts.sent.stops, 1U);
  EXPECT_EQ(streams[1].counts.sent.rate_changes, 1U);
  EXPECT_EQ(streams[1].counts.sender, StreamSnapshot::Sender::kSending);
  EXPECT_TRUE(streams[2].receives);
  EXPECT_FALSE(streams[2].sends);
}

}  // namespace
}  // namespace outrider::stream_steering_test
