// Goal: a message takes the time of the worker's and of the server's thread, one after the other,
// and a blocking one keeps the worker from computing. Schedules are worked out by hand.
// Method: parameter servers over an exchange that only notes what is handed over when.
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <vector>

#include "tests/support/pool.h"
#include "tests/support/source_path.h"
#include "tests/virtual/job_scene.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/exchange/job_records.h"
#include "trafficgen/workload/job/make_collective.h"

namespace outrider::message_cost_test {
using namespace tg;
namespace {

using std::chrono::microseconds;

constexpr BurstDirection kPush = BurstDirection::kPush, kPull = BurstDirection::kPull;

Time at(std::int64_t us) { return Time{microseconds(us)}; }
std::int64_t microseconds_of(Time t) {
  return std::chrono::duration_cast<microseconds>(t.time_since_epoch()).count();
}

struct Handed {
  std::int64_t at_us = 0;
  std::uint32_t worker = 0, part = 0;
  bool operator==(const Handed&) const = default;
};
void PrintTo(const Handed& h, std::ostream* out) {  // NOLINT(*-naming): GoogleTest's name
  *out << "{" << h.at_us << " us, worker " << h.worker << ", part " << h.part << "}";
}

class Notes final : public Exchange {
 public:
  void start() override {}
  void open(std::uint32_t, Time) noexcept override {}
  void begin_iteration(std::uint32_t, std::uint32_t) noexcept override {}
  void end_iteration(std::uint32_t) noexcept override {}
  BurstPlace next_place(const Lane&) noexcept override { return {}; }
  FlowKey flow(const Lane&) const noexcept override { return {}; }
  void begin_push(const BurstLedger&, BurstTime, Time) noexcept override {}
  void begin_pull(const BurstLedger&, std::uint32_t, Time) noexcept override {}
  void hand_over(const Lane& lane, std::uint32_t part, std::uint64_t, Time now) noexcept override {
    (lane.direction == kPush ? pushed : answered)
        .push_back({microseconds_of(now), lane.worker, part});
  }
  void hand_over_all(const Lane&, Time) noexcept override {}
  void end(const Lane&, Time) noexcept override {}
  bool idle(const Lane&) const noexcept override { return true; }
  bool connected(const Lane&) const noexcept override { return true; }
  std::optional<Time> first_sent_at(const Lane&) const noexcept override { return {}; }
  FlowReport report(const Lane&) const override { return {}; }
  void note_last() noexcept override {}

  std::vector<Handed> pushed, answered;
};

struct Blocked {
  std::int64_t from_us = 0, to_us = 0;
  bool operator==(const Blocked&) const = default;
};

class Owner final : public CollectiveOperation::Owner {
 public:
  void on_pushed(const Lane&, std::uint32_t, const BurstArrival&, Time) noexcept override {}
  void on_pulled(const Lane&, std::uint32_t, const BurstArrival&, Time) noexcept override {}
  void on_parameters(std::uint32_t, std::uint32_t, Time) noexcept override {}
  void on_answered(const Lane&) noexcept override {}
  void on_cleared(std::uint32_t, std::uint32_t, Time) noexcept override {}
  void on_staleness(std::uint32_t, std::uint32_t, std::uint64_t) noexcept override {}
  void on_blocked(std::uint32_t, Time from, Time to) noexcept override {
    blocked.push_back({microseconds_of(from), microseconds_of(to)});
  }
  void on_done(std::uint32_t, std::uint32_t, Time) noexcept override {}
  void on_lost(Time) noexcept override {}

  std::vector<Blocked> blocked;
};

/// Two workers and a server; tensors 2, 1 and 0 of 1000 B are parts 0, 1 and 2.
struct Scene {
  explicit Scene(SendPolicyKind kind, const MessageConfig& message, PolicyConfig policy = {}) {
    for (std::uint32_t i = 0; i < 3; ++i)
      hosts.push_back(std::make_unique<Host>(
          Host::Setup{.name = "h", .address = i + 1, .rate = BitRate{1'000'000'000}, .index = i},
          loop, pool.get(), memory));
    CollectiveSetup setup;
    setup.workers = {hosts[0].get(), hosts[1].get()};
    setup.servers = {hosts[2].get()};
    setup.shard_bytes = {3'000};
    setup.burst_bytes = 3'000;
    setup.pieces = pieces;
    setup.send_policy = kind;
    policy.granularity = Granularity::kTensor;
    setup.policy = setup.push_policy = policy;
    setup.message = message;
    setup.by_tensor = true;
    setup.gate = StalenessGate(2, 0U);
    collective = make_collective(JobConfig{}, setup, records, owner);
    ExchangeSetup lanes{.workers = setup.workers};
    collective->plan(lanes);
    collective->attach(exchange);
    for (std::uint32_t w = 0; w < 2; ++w) collective->begin(w, 0, at(0));
  }
  void ready(std::uint32_t worker, std::uint32_t piece, std::int64_t us) {
    loop.run_until(at(us));
    collective->on_ready(worker, pieces[piece], piece == 2, at(us));
    if (piece == 0) collective->on_released(worker, at(us));
    else collective->more(worker, at(us));
  }
  void arrive(std::uint32_t worker, std::uint32_t part, std::int64_t us) {
    loop.run_until(at(us));
    collective->on_part({worker, 0, kPush}, part, at(us));
  }

  TestPool pool;
  EventLoop loop;
  TransportMemory memory{TransportMemory::Setup{}};
  std::vector<std::unique_ptr<Host>> hosts;
  GoodputSeries goodput{std::chrono::milliseconds(1), 1000};
  JobRecords records{{.iterations = 1,
                      .workers = 2,
                      .targets = 1,
                      .flow_names = std::vector<std::string>(4, "flow")},
                     goodput};
  Notes exchange;
  Owner owner;
  std::vector<GradientPiece> pieces{{2, 0, 1'000, 0}, {1, 0, 1'000, 1}, {0, 0, 1'000, 2}};
  std::unique_ptr<CollectiveOperation> collective;
};

TEST(MessageCost, WithoutOneAMessageLeavesAtOnce) {
  Scene s(SendPolicyKind::kWfbp, {});
  s.ready(0, 0, 0);
  s.ready(0, 1, 4);
  EXPECT_EQ(s.exchange.pushed, (std::vector<Handed>{{0, 0, 0}, {4, 0, 1}}));
  EXPECT_TRUE(s.owner.blocked.empty());
}

// ready at 0, 4 and 50; the thread works from 0 to 10, 10 to 20 and 50 to 60.
TEST(MessageCost, MessagesWaitForTheWorkersThread) {
  Scene s(SendPolicyKind::kWfbp, {.worker_time = microseconds(10)});
  s.ready(0, 0, 0);
  s.ready(0, 1, 4);
  s.ready(0, 2, 50);
  s.loop.run_until(at(100));
  EXPECT_EQ(s.exchange.pushed, (std::vector<Handed>{{10, 0, 0}, {20, 0, 1}, {60, 0, 2}}));
  EXPECT_TRUE(s.owner.blocked.empty());
}

// While tensor 2 is prepared, 1 and 0 become ready: 0 is more urgent when the thread is free.
TEST(MessageCost, TheThreadTakesWhatIsMostUrgentWhenItIsFree) {
  Scene s(SendPolicyKind::kCredit, {.worker_time = microseconds(10), .blocks = true},
          {.partition_bytes = 1'000, .credit_bytes = 3'000});
  s.ready(0, 0, 0);
  s.ready(0, 1, 4);
  s.ready(0, 2, 5);
  s.loop.run_until(at(100));
  EXPECT_EQ(s.exchange.pushed, (std::vector<Handed>{{10, 0, 0}, {20, 0, 2}, {30, 0, 1}}));
  EXPECT_EQ(s.owner.blocked, (std::vector<Blocked>{{0, 10}, {10, 20}, {20, 30}}));
}

// The buffer of the cycle at 100 us holds two tensors, and the next one the third.
TEST(MessageCost, ABufferOfFusionIsOneMessage) {
  Scene s(SendPolicyKind::kFusion, {.worker_time = microseconds(10)},
          {.fusion_bytes = 2'000, .cycle = microseconds(100)});
  for (std::uint32_t p = 0; p < 3; ++p) s.ready(0, p, 0);
  s.loop.run_until(at(150));
  EXPECT_EQ(s.exchange.pushed, (std::vector<Handed>{{110, 0, 0}, {110, 0, 1}}));
  s.collective->on_acknowledged({0, 0, kPush}, 2'000, at(150));
  s.loop.run_until(at(300));
  EXPECT_EQ(s.exchange.pushed.back(), (Handed{160, 0, 2}));
}

// Arrivals at 0 (worker 0), 0 (worker 1), 50 and 500: worked on until 100, 200, 300 and 600.
// A piece is answered when both workers' gradients of it have been worked on.
TEST(MessageCost, MessagesWaitForTheServersThread) {
  Scene s(SendPolicyKind::kWfbp, {.server_time = microseconds(100)});
  for (std::uint32_t w = 0; w < 2; ++w)
    for (std::uint32_t p = 0; p < 2; ++p) s.ready(w, p, 0);
  s.arrive(0, 0, 0);
  s.arrive(1, 0, 0);
  s.arrive(0, 1, 50);
  s.arrive(1, 1, 500);
  s.loop.run_until(at(1'000));
  EXPECT_EQ(s.exchange.answered,
            (std::vector<Handed>{{200, 0, 0}, {200, 1, 0}, {600, 0, 1}, {600, 1, 1}}));
}

// Both workers push a buffer of two tensors: two messages of 100 us, and the second tensor of a
// message is there with the first.
TEST(MessageCost, AServerWorksOnAJoinedMessageOnce) {
  Scene s(SendPolicyKind::kFusion, {.server_time = microseconds(100)},
          {.fusion_bytes = 2'000, .cycle = microseconds(10)});
  for (std::uint32_t w = 0; w < 2; ++w)
    for (std::uint32_t p = 0; p < 2; ++p) s.ready(w, p, 0);
  s.loop.run_until(at(10));
  ASSERT_EQ(s.exchange.pushed.size(), 4U);
  for (std::uint32_t w = 0; w < 2; ++w)
    for (std::uint32_t p = 0; p < 2; ++p) s.arrive(w, p, 20);
  s.loop.run_until(at(1'000));
  EXPECT_EQ(s.exchange.answered,
            (std::vector<Handed>{{220, 0, 0}, {220, 1, 0}, {220, 0, 1}, {220, 1, 1}}));
}

// 95 tensors are ready every 40 ms / 95 = 0.42 ms. One of them lies on both servers, so there are
// 96 messages, and each blocks the backward pass for 0.1 ms but the last, after which there is
// none: 60 ms + 95 x 0.1 ms.
TEST(MessageCost, ABlockingMessageKeepsTheWorkerFromComputing) {
  const Mempool pool = make_test_pool(20'000);
  for (const bool blocks : {false, true}) {
    Dumbbell d = closed_loop();
    d.bottleneck = BitRate{10'000'000'000};
    d.workers = 1;
    d.job.burst_bytes.reset();
    d.job.model = source_path("conf/models/resnet32-cifar.toml");
    d.job.compute = std::chrono::milliseconds(60);
    d.job.announce.lead_source = LeadSource::kNone;
    d.job.send_policy = SendPolicyKind::kWfbp;
    d.job.policy.granularity = Granularity::kTensor;
    d.job.message = {.worker_time = microseconds(100), .blocks = blocks};
    d.ddl_tcp.reuse = ConnectionReuse::kKeep;
    const lab::RunResult r = outrider::run(outrider::Scene(d), *pool);
    EXPECT_TRUE(r.traffic.jobs_finished);
    const IterationRecord& first = r.traffic.iterations.at(0);
    EXPECT_NEAR(static_cast<double>(first.ready_ns - first.begin_ns), blocks ? 69.5e6 : 60e6, 200);
  }
}

}  // namespace
}  // namespace outrider::message_cost_test
