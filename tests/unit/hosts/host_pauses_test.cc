// Goal: a host that is paused puts every flow of the priority aside, lets all of them go in order,
// and allocates nothing for it. Method: flows by hand, and what the heap has in use.
#include "trafficgen/hosts/host_pauses.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <deque>

#include "tests/support/frames.h"
#include "tests/support/pool.h"
#include "trafficgen/frames/datagram_frame.h"
#include "trafficgen/hosts/host.h"

namespace outrider::host_pauses_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr std::uint8_t kPriority = 3;
constexpr std::uint16_t kQuanta = 2000;  // 1.024 ms at 1 Gbit/s
constexpr std::uint32_t kFlows = 200;

PauseFrame pause(std::uint16_t quanta) {
  PauseFrame frame;
  frame.set(kPriority, quanta);
  return frame;
}

TEST(HostPauses, LetGoInOrderWhatTheyPutAside) {
  NicTurns turns(0);
  HostCounters counters;
  HostPauses pauses(BitRate{1'000'000'000}, turns, counters);
  for (std::uint32_t n = 1; n <= kFlows; ++n) pauses.make_room(kPriority, n);
  const std::size_t room = pauses.room(kPriority);
  EXPECT_GE(room, kFlows);
  EXPECT_LT(room, 2 * kFlows);
  EXPECT_EQ(pauses.room(4), 0U) << "no flow has it";
  pauses.on_frame(pause(kQuanta), Time{});
  for (std::uint32_t n = 0; n < kFlows; ++n) EXPECT_TRUE(pauses.puts_aside(kPriority, 0, n));
  EXPECT_TRUE(turns.empty());
  pauses.on_frame(pause(0), Time{10us});
  for (std::uint32_t n = 0; n < kFlows; ++n) ASSERT_EQ(turns.take(Time{10us}), n);
  EXPECT_TRUE(turns.empty());
  EXPECT_EQ(pauses.room(kPriority), room);
  EXPECT_EQ(counters.paused_ns, 10'000U);
}

/// Has one datagram to send whenever it is told so.
class Endpoint final : public DatagramEndpoint {
 public:
  explicit Endpoint(std::uint16_t port) : flow_{0x0A000101, 0x0A000301, port, 5000} {}
  [[nodiscard]] bool has_datagram(Time) const noexcept override { return wants; }
  void next_datagram(OutgoingDatagram& d, Time) noexcept override {
    d.head.fill(0);
    d.head_bytes = 40;
    wants = false;
    ++sent;
  }
  /// What it sends apart has something to send then, and at its timer.
  std::optional<DropReason> on_datagram(const ReceivedDatagram&, Time) noexcept override {
    if (answers.endpoint != nullptr) static_cast<Endpoint*>(answers.endpoint)->wants = true;
    return std::nullopt;
  }
  [[nodiscard]] Time next_timer() const noexcept override { return timer; }
  void on_timer(Time now) noexcept override {
    timer = kNever;
    (void)on_datagram({}, now);
  }
  [[nodiscard]] const FlowKey& flow() const noexcept override { return flow_; }
  [[nodiscard]] Apart apart() noexcept override { return answers; }

  bool wants = false;
  std::uint32_t sent = 0;
  Time timer = kNever;
  Apart answers{};

 private:
  FlowKey flow_;
};

/// Takes what comes and forgets it.
struct Sink final : Node {
  void receive(std::uint32_t, Packet* packet, Time) noexcept override { release(packet); }
};

struct PausedHost {
  PausedHost() {
    host.nic().connect(link);
    for (std::uint32_t n = 0; n < kFlows; ++n) {
      endpoints.emplace_back(static_cast<std::uint16_t>(20'000 + n));
      host.add_endpoint(endpoints.back(), 0, kPriority);
    }
  }
  void hear(std::uint16_t quanta, Time now) {
    std::vector<std::uint8_t> bytes(kPauseFrameBytes);
    encode(pause(quanta), MacAddress{2, 0, 0, 0, 0, 9}, bytes);
    host.receive(0, packet_of(pool.get(), bytes), now);
  }
  void ask(Time now) {
    for (auto& endpoint : endpoints) {
      endpoint.wants = true;
      host.changed(endpoint, now);
    }
  }
  [[nodiscard]] bool all_sent(std::uint32_t datagrams) const {
    return std::ranges::all_of(endpoints, [&](const auto& e) { return e.sent == datagrams; });
  }

  TestPool pool{512};
  EventLoop loop;
  TransportMemory memory{{}};
  Sink sink;
  Host host{{.name = "a", .address = 0x0A000101, .rate = BitRate{1'000'000'000}},
            loop,
            pool.get(),
            memory};
  Link link{loop, 10us, sink, 0};
  std::deque<Endpoint> endpoints;
};

TEST(HostPauses, AllocateNothingWhileAllFlowsArePutAside) {
  PausedHost h;
  h.ask(Time{});  // the NIC's queue has held all of them once
  h.loop.run_until(Time{1ms});
  ASSERT_TRUE(h.all_sent(1));
  const std::size_t before = mallinfo2().uordblks;
  h.hear(kQuanta, Time{1ms});
  h.ask(Time{1ms});
  h.loop.run_until(Time{2ms});
  EXPECT_EQ(mallinfo2().uordblks, before);
  EXPECT_TRUE(h.all_sent(1)) << "stopped";
  h.loop.run_until(Time{3ms});
  EXPECT_TRUE(h.all_sent(2)) << "the pause is over at 2.024 ms";
}

// An endpoint that sends apart gets turns of its own, also when the timer of its owner is due.
TEST(HostPauses, DoNotStopWhatLeavesApart) {
  constexpr std::uint8_t kOther = 6;
  PausedHost h;
  Endpoint answers(30'000), data(30'000);
  data.answers = {.endpoint = &answers, .priority = kOther};
  h.host.add_endpoint(data, 0, kPriority);
  h.hear(kQuanta, Time{});
  data.wants = true;
  h.host.changed(data, Time{});
  Packet* packet = rte_pktmbuf_alloc(&h.pool.get());
  OutgoingDatagram d{};
  d.head_bytes = 40;
  write_datagram_frame(*packet, data.flow().reversed(), d, false);
  h.host.receive(0, packet, Time{1us});
  h.loop.run_until(Time{100us});
  EXPECT_EQ(data.sent, 0U) << "stopped";
  EXPECT_EQ(answers.sent, 1U);
  data.timer = Time{200us};
  h.host.changed(data, Time{150us});
  h.loop.run_until(Time{300us});
  EXPECT_EQ(answers.sent, 2U);
  PauseFrame frame;
  frame.set(kOther, kQuanta);
  std::vector<std::uint8_t> bytes(kPauseFrameBytes);
  encode(frame, MacAddress{2, 0, 0, 0, 0, 9}, bytes);
  h.host.receive(0, packet_of(h.pool.get(), bytes), Time{400us});
  data.timer = Time{500us};
  h.host.changed(data, Time{450us});
  h.loop.run_until(Time{1ms});
  EXPECT_EQ(answers.sent, 2U) << "stopped by its own priority";
  h.loop.run_until(Time{2ms});
  EXPECT_EQ(answers.sent, 3U);
  EXPECT_EQ(data.sent, 1U);
}

/// Keeps the instants at which pause frames of the priority come.
struct PauseLog final : Node {
  void receive(std::uint32_t, Packet* packet, Time now) noexcept override {
    PauseFrame longest;
    longest.set(kPriority, 65535);
    if (decode_pause_frame(buffer(*packet)) == longest) at.push_back(now);
    release(packet);
  }
  std::vector<Time> at;
};

// The longest pause is 33.55 ms at 1 Gbit/s. A frame takes 0.672 us and the link 10 us.
TEST(PauseStorm, RenewsThePauseWhenHalfOfItIsOverUntilItsEnd) {
  for (const Duration end : {Duration{30ms}, Duration{100ms}}) {
    TestPool pool{64};
    EventLoop loop;
    TransportMemory memory{{}};
    PauseLog log;
    Host host{{.name = "a",
               .address = 0x0A000101,
               .rate = BitRate{1'000'000'000},
               .pause_storm = {.begin = 1ms, .end = end, .priority = kPriority}},
              loop,
              pool.get(),
              memory};
    Link link{loop, 10us, log, 0};
    host.nic().connect(link);
    loop.run_until(Time{200ms});
    ASSERT_EQ(log.at.size(), end == 30ms ? 2U : 6U);
    EXPECT_EQ(log.at[0], Time{1ms + 10us + 672ns});
    EXPECT_EQ((log.at[1] - log.at[0]) / 1us, 16'776);
    EXPECT_EQ(host.counters().sent, log.at.size());
  }
}

}  // namespace
}  // namespace outrider::host_pauses_test
