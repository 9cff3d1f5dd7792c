// Goal: the cost of bursts to background is taken in windows that all arms share, and
// its parts add up. Method: time series made by hand, bins of 1 ms with 1000 bytes of
// capacity, expected numbers computed by hand.
#include "tools/lab/measure/background_cost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/lab/measure/metrics_fixture.h"

namespace outrider::background_cost_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using namespace lab_test;
constexpr auto kBackground = TrafficClass::kBackground;
constexpr auto kDdl = TrafficClass::kDdl;

struct ArmRun {
  Case definition;
  RunResult result;
};

std::vector<BackgroundCost> costs_of(const std::vector<ArmRun>& runs,
                                     Runtime runtime = Runtime::kVirtual) {
  std::vector<const Case*> cases;
  std::vector<CostObservation> observations;
  cases.reserve(runs.size());
  observations.reserve(runs.size());
  for (const auto& run : runs) {
    cases.push_back(&run.definition);
    observations.push_back(observe_cost(run.definition, runtime, run.result));
  }
  std::vector<const CostObservation*> all;
  all.reserve(observations.size());
  for (const auto& observation : observations) all.push_back(&observation);
  return background_costs(all, points_of(cases));
}

/// Returns an off run with bursts due at 100 and 300. A burst takes 40 ms at half the rate.
ArmRun off_run(std::int64_t end_ms = 500) {
  ArmRun run{make_case("off", 1), make_result(end_ms)};
  deliver(run.result, kBackground, 0, static_cast<int>(end_ms), 1'000);
  occupy(run.result, 0, static_cast<int>(end_ms), 1);
  for (const int due : {100, 300}) {
    const double at = due;
    add_burst(run.result, 0, due == 300, {.due = at, .first = at, .delivered = at + 40});
    add_queue_burst(run.result, 0, due == 300, at, 0, 0);
    deliver(run.result, kBackground, due, due + 40, 500);
    carry(run.result, kDdl, due, due + 40, 757);
  }
  return run;
}

/// Returns an on run. START comes 10 ms earlier, and then half the link is idle. The burst takes
/// 30 ms.
ArmRun on_run(std::int64_t end_ms = 500) {
  ArmRun run{make_case("on", 1), make_result(end_ms)};
  deliver(run.result, kBackground, 0, static_cast<int>(end_ms), 1'000);
  occupy(run.result, 0, static_cast<int>(end_ms), 1);
  for (const int due : {100, 300}) {
    const double at = due;
    add_burst(run.result, 0, due == 300,
              {.due = at, .start = at - 10, .first = at, .delivered = at + 30});
    add_queue_burst(run.result, 0, due == 300, at, 0, 0);
    deliver(run.result, kBackground, due - 10, due + 30, 400);
    carry(run.result, kDdl, due, due + 30, 757);
    occupy(run.result, due - 10, due, 0.5);
  }
  return run;
}

// Where bursts have a queue of their own, the port is as busy as with one queue.
TEST(BackgroundCost, IsOfAllQueuesOfThePort) {
  ArmRun two_queues = on_run();
  auto& queues = two_queues.result.switches.queues;
  QueueReport other = queues.front();
  other.queue = 1;
  QueueReport elsewhere = queues.front();
  elsewhere.port_name = "elsewhere";
  for (std::size_t i = 0; i < other.bins.size(); ++i) {
    QueueBin& first = queues.front().bins[i];
    QueueBin& second = other.bins[i];
    second.bytes[kDdl] = first.bytes[kDdl] / 3;
    first.bytes[kDdl] -= second.bytes[kDdl];
    second.busy_ns = first.busy_ns / 4;
    first.busy_ns -= second.busy_ns;
  }
  queues.push_back(other);
  queues.push_back(elsewhere);
  const auto one = costs_of({off_run(), on_run()}), two = costs_of({off_run(), two_queues});
  EXPECT_NE(one[1].waste_bytes, 0);
  EXPECT_NEAR(two[1].waste_bytes, one[1].waste_bytes, 1e-6);
  EXPECT_NEAR(two[1].transfer_bytes, one[1].transfer_bytes, 1e-6);
}

TEST(BackgroundCost, AddsUpInTheWindows) {
  const auto costs = costs_of({off_run(), on_run()});
  const BackgroundCost& c = costs[1];
  EXPECT_EQ(c.basis, CostBasis::kWindows);
  EXPECT_DOUBLE_EQ(c.lead_seconds, 0.010) << "the longest of both arms";
  EXPECT_DOUBLE_EQ(c.window_seconds, 0.050) << "slowest burst 40 ms, and 10 base RTTs";
  EXPECT_EQ(c.windows, 2U);
  EXPECT_EQ(c.windows_left_out, 0U);
  EXPECT_FALSE(c.window_exceeded);
  // Per window [90, 150]: off 60,000 - 40 x 500; on 60,000 - 40 x 600.
  EXPECT_NEAR(c.reference_bytes, 80'000, 1e-6);
  EXPECT_NEAR(c.lost_bytes, 8'000, 1e-6);
  EXPECT_NEAR(c.lost_fraction, 0.1, 1e-12);
  // 1448 of the 1514 bytes of a frame are payload: 724 per bin.
  EXPECT_NEAR(c.transfer_bytes, 2 * (30 - 40) * 724, 1e-6);
  EXPECT_NEAR(c.waste_bytes, 2 * 5'000, 1e-6);
  EXPECT_NEAR(c.unexplained_bytes, 8'000 + 14'480 - 10'000, 1e-6);
}

TEST(BackgroundCost, DoesNotDependOnTheOrderOfCases) {
  const BackgroundCost c = costs_of({on_run(), off_run()})[0];
  EXPECT_DOUBLE_EQ(c.lead_seconds, 0.010);
  EXPECT_NEAR(c.lost_fraction, 0.1, 1e-12);
}

TEST(BackgroundCost, OfOffIsNothing) {
  const auto costs = costs_of({off_run(), on_run()});
  EXPECT_EQ(costs[0].basis, CostBasis::kWindows);
  EXPECT_EQ(costs[0].lost_fraction, 0);
  EXPECT_EQ(costs[0].transfer_bytes, 0);
  EXPECT_EQ(costs[0].waste_bytes, 0);
}

TEST(BackgroundCost, IsNegativeWhereTheBackgroundGains) {
  ArmRun on = on_run();
  deliver(on.result, kBackground, 90, 150, 1'000);
  deliver(on.result, kBackground, 290, 350, 1'000);
  const auto costs = costs_of({off_run(), on});
  EXPECT_NEAR(costs[1].lost_bytes, -40'000, 1e-6);
  EXPECT_NEAR(costs[1].lost_fraction, -0.5, 1e-12);
}

TEST(BackgroundCost, WindowsThatARunDoesNotCoverAreLeftOut) {
  const auto costs = costs_of({off_run(), on_run(349)});  // the second window ends at 350
  EXPECT_EQ(costs[1].windows, 1U);
  EXPECT_EQ(costs[1].windows_left_out, 1U);
  EXPECT_NEAR(costs[1].lost_fraction, 0.1, 1e-12);
  EXPECT_EQ(costs_of({off_run(), on_run(350)})[1].windows, 2U);
}

TEST(BackgroundCost, WindowsBeyondTheRecordedBinsAreLeftOut) {
  ArmRun on = on_run();
  on.definition.switches.max_bins = 349;
  queue_of(on.result).bins.resize(349);
  EXPECT_EQ(costs_of({off_run(), on})[1].windows, 1U);

  on = on_run();
  on.definition.traffic.max_bins = 349;
  on.result.traffic.bins.resize(349);
  EXPECT_EQ(costs_of({off_run(), on})[1].windows, 1U);

  on = on_run();  // no bins after 349, because the queue was empty
  queue_of(on.result).bins.resize(349);
  EXPECT_EQ(costs_of({off_run(), on})[1].windows, 2U);
}

/// Moves the times of a run's second burst.
void move_second_burst(ArmRun& run, std::int64_t by_ms) {
  auto& second = run.result.traffic.bursts[1];
  for (auto* at : {&second.due_ns, &second.start_sent_ns, &second.delivered_ns})
    if (*at != kNotYet_ns) *at += by_ms * kMs;
}

TEST(BackgroundCost, WindowEndsWhereTheNextBegins) {
  ArmRun off = off_run(), on = on_run();
  for (ArmRun* run : {&off, &on}) move_second_burst(*run, -155);  // due at 145
  const BackgroundCost c = costs_of({off, on})[1];
  EXPECT_DOUBLE_EQ(c.window_seconds, 0.050);
  EXPECT_TRUE(c.window_exceeded) << "off took 40, the next window begins 35 after due";
  // [90, 135] and [135, 195]: each millisecond between 90 and 195 once.
  EXPECT_NEAR(c.reference_bytes, 105'000 - 40 * 500, 1e-6);
}

TEST(BackgroundCost, OneLateIterationShortensNoOtherWindow) {
  ArmRun late = on_run();
  late.definition.seed = 2;
  move_second_burst(late, -155);
  ArmRun off_of_late = off_run();
  off_of_late.definition.seed = 2;
  const auto costs = costs_of({off_run(), on_run(), off_of_late, late});
  EXPECT_NEAR(costs[1].reference_bytes, 80'000, 1e-6) << "as without the other seed";
  EXPECT_FALSE(costs[1].window_exceeded);
  // The late run's first window and that of its off case are [90, 135]; the second ones are whole.
  EXPECT_NEAR(costs[3].reference_bytes, 105'000 - 75 * 500, 1e-6);
  EXPECT_TRUE(costs[3].window_exceeded) << "off took 40";
}

TEST(BackgroundCost, ABurstThatNeverEndsExceedsTheWindow) {
  ArmRun on = on_run();
  on.result.traffic.bursts[1].delivered_ns = kNotYet_ns;
  const auto costs = costs_of({off_run(), on});
  EXPECT_TRUE(costs[1].window_exceeded);
  EXPECT_FALSE(costs[0].window_exceeded) << "off is compared with itself";
  EXPECT_EQ(costs[1].windows, 2U) << "bytes were still counted";
}

TEST(BackgroundCost, WindowIsCommonToAllSeedsOfAPoint) {
  ArmRun slow = off_run();
  slow.definition.seed = 2;
  slow.result.traffic.bursts[0].delivered_ns = 190 * kMs;
  for (const auto& c : costs_of({off_run(), on_run(), slow}))
    EXPECT_DOUBLE_EQ(c.window_seconds, 0.100);
  slow.definition.point.emplace_back("job.burst_bytes", std::int64_t{1});
  EXPECT_DOUBLE_EQ(costs_of({off_run(), on_run(), slow})[1].window_seconds, 0.050)
      << "another point";
}

TEST(BackgroundCost, SwitchClockIsAlignedInLoopback) {
  ArmRun on = on_run();
  occupy(on.result, 80, 90, 0.5);  // idle just before a window
  // The same for a switch whose clock is 7 ms ahead.
  auto& queue = queue_of(on.result);
  queue.bins.insert(queue.bins.begin(), 7, QueueBin{});
  for (auto& burst : queue.bursts) burst.first_at_ns += 7 * kMs;
  on.result.switches.end_ns += 7 * kMs;
  EXPECT_NEAR(costs_of({off_run(), on}, Runtime::kLoopback)[1].waste_bytes, 10'000, 1e-6);
  EXPECT_NEAR(costs_of({off_run(), on}, Runtime::kLoopback)[1].lost_bytes, 8'000, 1e-6);
  // If the clocks were taken as one, seven of the ten idle bins before the window would be in it.
  EXPECT_NEAR(costs_of({off_run(), on})[1].waste_bytes, 10'000 + 7 * 500, 1e-6);
}

TEST(BackgroundCost, OverlappingWindowsOfJobsCountOnce) {
  ArmRun off = off_run(), on = on_run();
  for (ArmRun* run : {&off, &on}) {
    run->definition.traffic.jobs.push_back(run->definition.traffic.jobs[0]);
    add_burst(run->result, 0, 0, {.due = 120, .first = 120, .delivered = 130},
              BurstDirection::kPush, 1);
  }
  const auto costs = costs_of({off, on});
  EXPECT_EQ(costs[1].windows, 3U);
  // [90, 150] and [110, 170] are 80 bins, 40 of them during the burst; [290, 350].
  EXPECT_NEAR(costs[1].reference_bytes, 60'000 + 40'000, 1e-6);
  EXPECT_NEAR(costs[1].lost_bytes, 8'000, 1e-6);
}

TEST(BackgroundCost, APullIsNoTransfer) {
  ArmRun on = on_run();
  deliver(on.result, kDdl, 90, 150, 999);  // does not pass the measured queue
  EXPECT_NEAR(costs_of({off_run(), on})[1].transfer_bytes, -14'480, 1e-6);
}

TEST(BackgroundCost, WithoutTheQueueItsShareIsNotKnown) {
  ArmRun on = on_run();
  on.result.switches.queues.clear();
  const auto costs = costs_of({off_run(), on});
  EXPECT_NEAR(costs[1].lost_fraction, 0.1, 1e-12);
  EXPECT_TRUE(std::isnan(costs[1].transfer_bytes));
  EXPECT_TRUE(std::isnan(costs[1].waste_bytes));
  EXPECT_TRUE(std::isnan(costs[1].unexplained_bytes));
}

TEST(BackgroundCost, WithoutAnOffCaseThereIsNone) {
  ArmRun other_seed = off_run();
  other_seed.definition.seed = 9;
  for (const auto& runs :
       {std::vector<ArmRun>{on_run()}, std::vector<ArmRun>{on_run(), other_seed}}) {
    const auto costs = costs_of(runs);
    EXPECT_EQ(costs[0].basis, CostBasis::kNone);
    EXPECT_TRUE(std::isnan(costs[0].lost_fraction));
  }
}

TEST(BackgroundCost, ClosedLoopComparesRatesOverTheWholeRun) {
  // Off runs from due 100 to 500, on to 300. Rates are compared, scaled to off's 400 ms.
  ArmRun off{make_case("off", 1, Schedule::kClosedLoop), make_result(500)};
  ArmRun on{make_case("on", 1, Schedule::kClosedLoop), make_result(300)};
  for (ArmRun* run : {&off, &on}) {
    const int end = run == &off ? 500 : 300;
    add_burst(run->result, 0, 0, {.due = 100, .first = 100, .delivered = 140});
    deliver(run->result, kBackground, 0, 100, 7'777);  // before the span, so it does not count
    deliver(run->result, kBackground, 100, end, run == &off ? 800 : 700);
    carry(run->result, kDdl, 100, end, run == &off ? 757 : 1'514);
    occupy(run->result, 100, end, run == &off ? 1 : 0.95);
  }
  const BackgroundCost c = costs_of({off, on})[1];
  EXPECT_EQ(c.basis, CostBasis::kWholeRun);
  EXPECT_NEAR(c.lost_fraction, 0.125, 1e-12);
  EXPECT_NEAR(c.lost_bytes, 40'000, 1e-6);
  EXPECT_NEAR(c.transfer_bytes, 400 * 724, 1e-6);
  EXPECT_NEAR(c.waste_bytes, 20'000, 1e-6);
  EXPECT_NEAR(c.unexplained_bytes, 40'000 - 400 * 724 - 20'000, 1e-6);
  EXPECT_NEAR(c.ddl_bytes_gained_per_background_byte_lost, 7.24, 1e-12);
  deliver(on.result, kBackground, 100, 300, 900);
  EXPECT_TRUE(std::isnan(costs_of({off, on})[1].ddl_bytes_gained_per_background_byte_lost))
      << "nothing was lost";
}

// Over 0.05 % of the background, any number of bytes gained a byte lost would be one of noise.
TEST(BackgroundCost, ClosedLoopHasNoGainPerByteOfNextToNothing) {
  ArmRun off{make_case("off", 1, Schedule::kClosedLoop), make_result(500)};
  ArmRun on{make_case("on", 1, Schedule::kClosedLoop), make_result(500)};
  for (ArmRun* run : {&off, &on}) {
    add_burst(run->result, 0, 0, {.due = 100, .first = 100, .delivered = 140});
    carry(run->result, kDdl, 100, 500, run == &off ? 757 : 1'514);
    deliver(run->result, kBackground, 100, 500, run == &off ? 80'000 : 79'960);
  }
  const BackgroundCost little = costs_of({off, on})[1];
  EXPECT_NEAR(little.lost_fraction, 0.0005, 1e-12);
  EXPECT_TRUE(std::isnan(little.ddl_bytes_gained_per_background_byte_lost));
  deliver(on.result, kBackground, 100, 500, 79'900);
  const BackgroundCost more = costs_of({off, on})[1];
  EXPECT_NEAR(more.ddl_bytes_gained_per_background_byte_lost, 724.0 / 100, 1e-9);
}

// -- which cases belong together

Case labelled(const char* label, Parameters regulator = {}, const char* marker = "step") {
  Case c;
  c.label = label;
  c.role = c.label.starts_with("off") ? ArmRole::kBaseline : ArmRole::kRemedy;
  c.parameters = std::move(regulator);
  c.parameters.emplace_back("switch.marker.kind", std::string(marker));
  c.parameters.emplace_back("workers", std::int64_t{1});
  return c;
}

std::vector<std::size_t> off_cases(const std::vector<Case>& cases) {
  std::vector<const Case*> pointers;
  pointers.reserve(cases.size());
  for (const auto& c : cases) pointers.push_back(&c);
  return points_of(pointers).baseline;
}

TEST(Points, TheFirstBaselineIsThatOfAll) {
  EXPECT_EQ(off_cases({labelled("on"), labelled("off"), labelled("off-no-start")}),
            (std::vector<std::size_t>{1, 1, 1}));
  EXPECT_EQ(off_cases({labelled("on"), labelled("off-no-start"), labelled("off-2")}),
            (std::vector<std::size_t>{1, 1, 1}));
}

TEST(Points, RegulatorParametersDoNotSeparateOthersDo) {
  const Parameters lead{{"job.announce.lead", 8.0},
                        {"switch.regulation.recovery", std::string("timer")},
                        {"switch.regulation.pace_floor", 0.1}};
  Case other = labelled("on");
  other.parameters.back().second = std::int64_t{2};
  other.point = {{"workers", std::int64_t{2}}};
  EXPECT_EQ(off_cases({labelled("off"), labelled("on", lead), other}),
            (std::vector<std::size_t>{0, 0, 3}));
}

TEST(Points, AnotherMarkerIsAnArmUnlessItHasItsOwnOff) {
  EXPECT_EQ(off_cases({labelled("off"), labelled("off-red", {}, "red")}),
            (std::vector<std::size_t>{0, 0}));
  std::vector<Case> cases{labelled("off"), labelled("off", {}, "tail_drop"),
                          labelled("on", {}, "tail_drop")};
  for (const std::size_t i : {1, 2})
    cases[i].point = {{"switch.marker.kind", std::string("tail_drop")}};
  EXPECT_EQ(off_cases(cases), (std::vector<std::size_t>{0, 1, 1}));
  cases.erase(cases.begin() + 1);
  EXPECT_EQ(off_cases(cases), (std::vector<std::size_t>{0, 0})) << "a setting of this arm";
}

Case over(const char* label, const char* protocol, Parameters more = {}) {
  Case c = labelled(label, std::move(more));
  c.parameters.emplace_back("protocol", std::string(protocol));
  return c;
}

// Arms that differed in transport, priority, lossless queues or RoCE settings were points of their
// own, and compared with nothing.
TEST(Points, AnArmIsNoPointAndItsBaselineSharesItsTransport) {
  const Parameters lossless{{"switch.queue.lossless.xoff_bytes", std::int64_t{50'000}},
                            {"ddl.transport.priority", std::int64_t{3}},
                            {"ddl.transport.roce.timeout", std::string("50ms")}};
  const Parameters other_workers{{"transport.min_rto", std::string("1ms")}};
  const std::vector<Case> cases{
      over("off", "tcp"),
      over("off-roce", "roce", lossless),
      over("on-mark", "tcp", {{"switch.regulation.mode", std::string("mark")}}),
      over("on-mark-roce", "roce", lossless),
      over("off-strict-roce", "roce",
           [&] {
             Parameters p = lossless;
             p.emplace_back("switch.scheduler", std::string("strict_floor"));
             return p;
           }()),
      over("on-mark-mlt", "mlt"),
      over("on-other", "tcp", other_workers)};
  std::vector<const Case*> pointers;
  for (const auto& c : cases) pointers.push_back(&c);
  const CasePoints points = points_of(pointers);
  EXPECT_EQ(points.point, std::vector<std::size_t>(cases.size(), 0));
  EXPECT_EQ(points.off, std::vector<std::size_t>(cases.size(), 0));
  EXPECT_EQ(points.baseline, (std::vector<std::size_t>{0, 0, 0, 1, 1, 0, 0}))
      << "a regulator is not credited with what RoCEv2 does";
  EXPECT_EQ(differences_beside_remedy(cases[3].parameters, cases[1].parameters),
            std::vector<std::string>{});
  EXPECT_EQ(differences_beside_remedy(cases[5].parameters, cases[0].parameters),
            std::vector<std::string>{"protocol mlt instead of tcp"});
}

// A queue of another length made `off` the baseline, over another transport.
TEST(Points, ABaselineMayHaveAnotherQueueButNoOtherTransport) {
  const Parameters small{{"switch.queue.limit_packets", std::int64_t{60}}};
  const Parameters large{{"switch.queue.limit_packets", std::int64_t{200}}};
  const std::vector<Case> cases{over("off", "tcp", small), over("off-roce", "roce", small),
                                over("on-pace-roce", "roce", large), over("on-pace", "tcp", large),
                                over("off-large-roce", "roce", large)};
  std::vector<const Case*> pointers;
  for (const auto& c : cases) pointers.push_back(&c);
  EXPECT_EQ(points_of(std::span(pointers).first(4)).baseline,
            (std::vector<std::size_t>{0, 0, 1, 0}));
  EXPECT_EQ(points_of(pointers).baseline, (std::vector<std::size_t>{0, 0, 4, 0, 0}))
      << "the nearest one";
}

// Nor is it with a queue that it has beside.
TEST(Points, AQueueIsNoPartOfARegulator) {
  const Parameters plain{{"switch.scheduler", std::string("fifo")},
                         {"switch.regulation.mode", std::string("off")}};
  const Parameters own{{"switch.scheduler", std::string("strict_floor")},
                       {"switch.regulation.mode", std::string("mark")}};
  EXPECT_EQ(differences_beside_remedy(own, plain),
            std::vector<std::string>{"switch.scheduler strict_floor instead of fifo"});
  const Parameters two{{"switch.scheduler", std::string("strict_floor")},
                       {"switch.regulation.mode", std::string("off")}};
  EXPECT_EQ(differences_beside_remedy(two, plain), std::vector<std::string>{});
}

// "background.list list.csv instead of ." was said of an arm whose baseline has no list.
TEST(Points, ATextThatIsLeftOutIsNone) {
  const Parameters none{{"background.list", std::string()}, {"model", std::string("m.toml")}};
  const Parameters list{{"background.list", std::string("list.csv")}, {"model", std::string()}};
  EXPECT_EQ(differences_beside_remedy(list, none),
            (std::vector<std::string>{"background.list list.csv instead of none",
                                      "model none instead of m.toml"}));
}

// A baseline with bursts of another size says nothing of the arm's remedy.
TEST(Points, ABaselineHasTheWorkloadOfItsArm) {
  const Parameters one{{"workers", std::int64_t{1}}};
  const Parameters large{{"workers", std::int64_t{9}},
                         {"switch.regulation.mode", std::string("mark")}};
  const std::vector<Case> cases{over("off", "tcp", one), over("off-roce", "roce", one),
                                over("on-large", "roce", large)};
  std::vector<const Case*> pointers;
  for (const auto& c : cases) pointers.push_back(&c);
  EXPECT_EQ(points_of(pointers).baseline, (std::vector<std::size_t>{0, 0, 0}));
}

// Without an arm that has its transport and no remedy, a regulated one is compared with its own
// queues.
TEST(Points, TheBaselineMayHaveTheQueuesOfARegulatedArm) {
  const Parameters queues{{"switch.scheduler", std::string("dwrr")}};
  const std::vector<Case> cases{over("off", "tcp", {{"switch.scheduler", std::string("fifo")}}),
                                over("off-dwrr-roce", "roce", queues),
                                over("on-dwrr-roce", "roce", queues)};
  EXPECT_EQ(off_cases(cases), (std::vector<std::size_t>{0, 0, 1}));
}

TEST(Points, AnArmMayNameItsBaseline) {
  std::vector<Case> cases{over("off", "tcp"), over("off-roce", "roce"), over("on-a", "roce"),
                          over("on-b", "roce")};
  cases[3].against = "on-a";
  EXPECT_EQ(off_cases(cases), (std::vector<std::size_t>{0, 0, 1, 2}));
  cases[3].against = "off";
  EXPECT_EQ(off_cases(cases), (std::vector<std::size_t>{0, 0, 1, 0}));
  cases[3].against = "on-a";
  cases.erase(cases.begin() + 2);
  EXPECT_EQ(off_cases(cases), (std::vector<std::size_t>{0, 0, 3})) << "it has not run";
}

TEST(Points, AKOfItsOwnIsAnArmAndASweptKIsAPoint) {
  static constexpr const char* kKey = "switch.marker.threshold_packets";
  const auto with_k = [](const char* label, std::int64_t k) {
    return labelled(label, {{kKey, k}});
  };
  EXPECT_EQ(off_cases({with_k("off", 40), with_k("off-k20", 20), with_k("on-k20", 20)}),
            (std::vector<std::size_t>{0, 0, 0}))
      << "off-k20 must not be compared with itself";
  std::vector<Case> cases{with_k("off", 40), with_k("on", 40), with_k("off", 20), with_k("on", 20),
                          with_k("on", 30)};
  for (const std::size_t i : {2, 3}) cases[i].point = {{kKey, std::int64_t{20}}};
  cases[4].point = {{kKey, std::int64_t{30}}};
  EXPECT_EQ(off_cases(cases), (std::vector<std::size_t>{0, 0, 2, 2, 5})) << "none at K = 30";
}

TEST(Points, AreNumberedInOrderOfAppearance) {
  std::vector<Case> cases{labelled("off"), labelled("off"), labelled("on"), labelled("on")};
  for (const std::size_t i : {1, 3}) cases[i].point = {{"workers", std::int64_t{2}}};
  std::vector<const Case*> pointers;
  pointers.reserve(cases.size());
  for (const auto& c : cases) pointers.push_back(&c);
  EXPECT_EQ(points_of(pointers).point, (std::vector<std::size_t>{0, 1, 0, 1}));
}

}  // namespace
}  // namespace outrider::background_cost_test
