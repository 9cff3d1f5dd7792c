// Goal: every collective keeps the contract of CollectiveOperation: each part leaves once and
// not before the release, every target's push and every answer is reported once, and a worker
// is done once, when it has everything.
// Method: three workers over an exchange that only records what it gets and delivers it in any
// order; parameter servers by shard and by tensor, and all collectives without servers.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/pool.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/exchange/job_records.h"
#include "trafficgen/workload/job/make_collective.h"

namespace outrider::collective_contract_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kWorkers = 3, kServers = 2, kIterations = 3;
constexpr BurstDirection kPush = BurstDirection::kPush, kPull = BurstDirection::kPull;

struct Way {
  const char* name;
  Collective kind;
  bool by_tensor = false;
};

using Key = std::pair<std::uint64_t, std::uint32_t>;  // lane, part or iteration

std::uint64_t key(const Lane& lane) {
  return std::uint64_t{lane.worker} << 32 | std::uint64_t{lane.target} << 8 |
         (lane.direction == kPull ? 1U : 0U);
}

/// Delivers what it was given when the test asks for it.
class FakeExchange final : public Exchange {
 public:
  explicit FakeExchange(const ExchangeSetup& s) : setup(s) {}
  void start() override {}
  void open(std::uint32_t, Time) noexcept override {}
  void begin_iteration(std::uint32_t, std::uint32_t) noexcept override {}
  void end_iteration(std::uint32_t) noexcept override {}
  BurstPlace next_place(const Lane&) noexcept override { return {}; }
  FlowKey flow(const Lane&) const noexcept override { return {}; }
  void begin_push(const BurstLedger& b, BurstTime, Time) noexcept override {
    for (std::uint32_t t = 0; t < setup.targets_of(b.burst().worker); ++t)
      begin({b.burst().worker, t, kPush});
  }
  void begin_pull(const BurstLedger& b, std::uint32_t target, Time) noexcept override {
    begin({b.burst().worker, target, kPull});
  }
  void hand_over(const Lane& lane, std::uint32_t part, std::uint64_t bytes,
                 Time) noexcept override {
    EXPECT_TRUE(open_.contains(key(lane))) << "begun";
    under_way.push_back({lane, part, bytes});
  }
  void hand_over_all(const Lane& lane, Time now) noexcept override {
    for (std::uint32_t p = 0; p < parts(lane).size(); ++p)
      hand_over(lane, p, parts(lane)[p].bytes, now);
  }
  void end(const Lane&, Time) noexcept override {}
  bool idle(const Lane&) const noexcept override { return true; }
  bool connected(const Lane& lane) const noexcept override { return lane.worker != gone; }
  std::optional<Time> first_sent_at(const Lane&) const noexcept override { return {}; }
  FlowReport report(const Lane&) const override { return {}; }
  void note_last() noexcept override {}

  /// Delivers the first or the last item that is under way. @return whether there was one
  bool bring(Listener& to, bool last, Time now) {
    if (under_way.empty()) return false;
    const Handed h = last ? under_way.back() : under_way.front();
    last ? under_way.pop_back() : under_way.pop_front();
    if (h.lane.worker == gone) return true;
    handed_bytes[key(h.lane)] += h.bytes;
    if (setup.parts_told) {
      EXPECT_TRUE(parts_[key(h.lane)].insert(h.part).second) << "each part once";
      EXPECT_EQ(h.bytes, parts(h.lane)[h.part].bytes);
      to.on_part(h.lane, h.part, now);
    }
    if ((missing_[key(h.lane)] -= h.bytes) > 0) return true;
    open_.erase(key(h.lane));
    to.on_burst(h.lane, {.bytes = bytes_of(parts(h.lane))}, now);
    return true;
  }

  struct Handed {
    Lane lane;
    std::uint32_t part;
    std::uint64_t bytes;
  };
  ExchangeSetup setup;
  std::deque<Handed> under_way;
  std::map<std::uint64_t, std::uint64_t> handed_bytes;
  std::uint32_t gone = kWorkers;  ///< worker that is gone; kWorkers: none

 private:
  const std::vector<BurstPart>& parts(const Lane& lane) const {
    return (lane.direction == kPush ? setup.pushes
                                    : setup.pulls)[lane.worker * setup.targets + lane.target];
  }
  void begin(const Lane& lane) {
    EXPECT_TRUE(open_.insert(key(lane)).second) << "one burst of a lane at a time";
    missing_[key(lane)] = static_cast<std::int64_t>(bytes_of(parts(lane)));
    parts_[key(lane)].clear();
  }
  std::set<std::uint64_t> open_;
  std::map<std::uint64_t, std::int64_t> missing_;
  std::map<std::uint64_t, std::set<std::uint32_t>> parts_;
};

class Notebook final : public CollectiveOperation::Owner {
 public:
  void on_pushed(const Lane& lane, std::uint32_t iteration, const BurstArrival&,
                 Time) noexcept override {
    ++pushed[{key(lane), iteration}];
  }
  void on_pulled(const Lane& lane, std::uint32_t iteration, const BurstArrival&,
                 Time) noexcept override {
    ++pulled[{key(lane), iteration}];
  }
  void on_parameters(std::uint32_t, std::uint32_t, Time) noexcept override { ++parameters; }
  void on_answered(const Lane&) noexcept override { ++answered; }
  void on_cleared(std::uint32_t, std::uint32_t, Time) noexcept override {}
  void on_staleness(std::uint32_t, std::uint32_t, std::uint64_t) noexcept override {}
  void on_blocked(std::uint32_t, Time, Time) noexcept override {}
  void on_done(std::uint32_t worker, std::uint32_t iteration, Time) noexcept override {
    ++done[{worker, iteration}];
  }
  void on_lost(Time) noexcept override { ++lost; }

  std::map<Key, int> pushed, pulled, done;
  int parameters = 0, answered = 0, lost = 0;
};

struct Scene {
  explicit Scene(const Way& way) {
    for (std::uint32_t i = 0; i < kWorkers + kServers; ++i)
      hosts.push_back(std::make_unique<Host>(
          Host::Setup{.name = "h", .address = i + 1, .rate = BitRate{1'000'000'000}, .index = i},
          loop, pool.get(), memory));
    CollectiveSetup setup;
    for (std::uint32_t i = 0; i < kWorkers; ++i) setup.workers.push_back(hosts[i].get());
    setup.burst_bytes = 12'000;
    setup.by_tensor = way.by_tensor;
    setup.policy.granularity = way.by_tensor ? Granularity::kTensor : Granularity::kShard;
    setup.push_policy = setup.policy;
    setup.aggregate = 1us;
    setup.gate = StalenessGate(kWorkers, 0U);
    if (way.kind == Collective::kPs) {
      setup.servers = {hosts[kWorkers].get(), hosts[kWorkers + 1].get()};
      setup.shard_bytes = {7'000, 5'000};
      setup.pieces = {{1, 0, 4'000, 0}, {1, 1, 5'000, 1}, {0, 0, 3'000, 2}};
    } else {
      setup.pieces = {{0, 0, 12'000, 0}};
    }
    pieces = setup.pieces;
    JobConfig job;
    job.workers.resize(kWorkers);
    job.collective = way.kind;
    job.all_to_all.skew = 1;
    collective = make_collective(job, setup, records, notes);
    ExchangeSetup lanes{.workers = setup.workers};
    collective->plan(lanes);
    exchange = std::make_unique<FakeExchange>(lanes);
    collective->attach(*exchange);
  }
  void begin(std::uint32_t worker, std::uint32_t iteration) {
    records.burst(worker, iteration, kPush).identity = {0, static_cast<std::uint16_t>(worker),
                                                        iteration, kPush};
    records.burst(worker, iteration, kPush).due_ns = at.time_since_epoch().count();
    collective->begin(worker, iteration, at);
    for (std::size_t i = 0; i < pieces.size(); ++i)
      collective->on_ready(worker, pieces[i], i + 1 == pieces.size(), at);
  }
  void bring_all(bool last) {
    for (int idle = 0; idle < 3;) {
      idle = exchange->bring(*collective, last, at) ? 0 : idle + 1;
      if (idle == 0) continue;
      at += 1ms;
      loop.run_until(at);
    }
  }
  /// Says whether servers send no answers to workers, because there are none.
  [[nodiscard]] bool serverless() const { return !collective->answers(); }

  TestPool pool;
  EventLoop loop;
  TransportMemory memory{TransportMemory::Setup{}};
  std::vector<std::unique_ptr<Host>> hosts;
  GoodputSeries goodput{1ms, 1000};
  JobRecords records{{.iterations = kIterations,
                      .workers = kWorkers,
                      .targets = kServers,
                      .flow_names = std::vector<std::string>(kWorkers * kServers * 2, "flow")},
                     goodput};
  Notebook notes;
  std::vector<GradientPiece> pieces;
  std::unique_ptr<CollectiveOperation> collective;
  std::unique_ptr<FakeExchange> exchange;
  Time at{};
};

class CollectiveContract : public testing::TestWithParam<Way> {};

TEST_P(CollectiveContract, EveryIterationIsDoneOnceByEveryWorker) {
  for (const bool last : {false, true}) {
    Scene s(GetParam());
    if (last && !s.exchange->setup.parts_told) continue;  // a stream keeps order
    for (std::uint32_t i = 0; i < kIterations; ++i) {
      for (std::uint32_t w = 0; w < kWorkers; ++w) s.begin(w, i);
      for (std::uint32_t w = 0; w < kWorkers; ++w) s.collective->on_released(w, s.at);
      s.bring_all(last);
      for (std::uint32_t w = 0; w < kWorkers; ++w) {
        EXPECT_EQ((s.notes.done[{w, i}]), 1);
        for (std::uint32_t t = 0; t < s.exchange->setup.targets_of(w); ++t) {
          EXPECT_EQ((s.notes.pushed[{key({w, t, kPush}), i}]), 1);
          if (s.serverless()) continue;
          EXPECT_EQ((s.notes.pulled[{key({w, t, kPull}), i}]), 1);
        }
      }
    }
    EXPECT_EQ(s.notes.done.size(), kWorkers * kIterations);
    for (std::uint32_t w = 0; w < kWorkers; ++w)
      for (std::uint32_t t = 0; t < s.exchange->setup.targets_of(w); ++t)
        EXPECT_EQ(s.exchange->handed_bytes[key({w, t, kPush})],
                  kIterations * s.collective->push_bytes(w, t));
  }
}

TEST_P(CollectiveContract, NothingLeavesBeforeTheRelease) {
  std::size_t left = 0;
  for (std::uint32_t w = 0; w < kWorkers; ++w) {
    Scene s(GetParam());
    s.begin(w, 0);
    EXPECT_TRUE(s.exchange->under_way.empty());
    s.collective->on_released(w, s.at);
    for (const auto& h : s.exchange->under_way) EXPECT_EQ(h.lane.worker, w) << "of nobody else";
    left += s.exchange->under_way.size();
  }
  EXPECT_GT(left, 0U) << "somebody does not wait for others";
}

TEST_P(CollectiveContract, NobodyIsDoneWhileOneIsMissing) {
  Scene s(GetParam());
  for (std::uint32_t w = 0; w < kWorkers; ++w) s.begin(w, 0);
  for (std::uint32_t w = 0; w + 1 < kWorkers; ++w) s.collective->on_released(w, s.at);
  s.bring_all(false);
  EXPECT_TRUE(s.notes.done.empty());
  EXPECT_EQ(s.notes.parameters, 0);
  s.collective->on_released(kWorkers - 1, s.at);
  s.bring_all(false);
  EXPECT_EQ(s.notes.done.size(), kWorkers);
}

TEST_P(CollectiveContract, ABurstThatIsLostIsTold) {
  Scene s(GetParam());
  s.collective->on_gave_up(s.at);
  EXPECT_EQ(s.notes.lost, 1);
}

// A worker vanishes after its push has arrived. The others still get their answers.
TEST_P(CollectiveContract, NobodyStopsForAWorkerThatIsGone) {
  Scene s(GetParam());
  if (s.serverless()) GTEST_SKIP() << "workers alone stop with any of them";
  for (std::uint32_t w = 0; w < kWorkers; ++w) s.begin(w, 0);
  for (std::uint32_t w = 0; w < kWorkers; ++w) s.collective->on_released(w, s.at);
  const std::size_t pushes = s.exchange->under_way.size();
  for (std::size_t i = 0; i < pushes; ++i)
    ASSERT_TRUE(s.exchange->bring(*s.collective, false, s.at));
  s.exchange->gone = 1;
  s.bring_all(false);
  EXPECT_EQ((s.notes.done[{0, 0}]), 1);
  EXPECT_EQ((s.notes.done[{1, 0}]), 0);
  EXPECT_EQ((s.notes.done[{2, 0}]), 1);
}

INSTANTIATE_TEST_SUITE_P(Ways, CollectiveContract,
                         testing::Values(Way{"ParameterServer", Collective::kPs, false},
                                         Way{"ParameterServerByTensor", Collective::kPs, true},
                                         Way{"Ring", Collective::kRing, false},
                                         Way{"HalvingDoubling", Collective::kHalvingDoubling},
                                         Way{"Tree", Collective::kTree},
                                         Way{"AllToAll", Collective::kAllToAll},
                                         Way{"Pipeline", Collective::kPipeline}),
                         [](const testing::TestParamInfo<Way>& way) {
                           return std::string(way.param.name);
                         });

}  // namespace
}  // namespace outrider::collective_contract_test
