// Goal: a case gives the same reports, byte for byte, whenever it runs. All its packets
// are accounted for, and it can be stopped.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "common/dpdk/packet/mempool.h"
#include "switch/report/report_json.h"
#include "tests/support/source_path.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/run/run_cases.h"
#include "tools/lab/search/front_result.h"
#include "tools/lab/simulation/run_virtual.h"
#include "trafficgen/report/report_json.h"

namespace outrider::lab_run_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using namespace std::chrono_literals;

class LabRun : public testing::Test {
 protected:
  LabRun() {
    const auto file = load_experiment(source_path("conf/experiments/quick.toml"));
    cases_ = make_plan(file.config.value(), {.seeds = 2}).config.value();
    std::uint32_t buffers = 0;
    for (const auto& c : cases_) buffers = std::max(buffers, buffers_needed(c));
    pool_ = make_packet_pool(
        {.name = "lab-run", .mbufs = buffers, .frame_room_bytes = kHeaderRoomBytes});
  }

  const Case& find(const std::string& label, std::uint64_t seed) const {
    for (const auto& c : cases_)
      if (c.label == label && c.seed == seed) return c;
    throw std::runtime_error("no case " + label);
  }

  RunResult run(const Case& c, const StopCheck& stop = {}) { return run_virtual(c, *pool_, stop); }

  static std::string text(const RunResult& r) { return to_json(r.switches) + to_json(r.traffic); }

  std::vector<Case> cases_;
  Mempool pool_;
};

TEST_F(LabRun, SameSeedGivesTheSameReports) {
  const std::string first = text(run(find("on", 1)));
  run(find("off", 2));  // an earlier run must have no effect
  EXPECT_EQ(text(run(find("on", 1))), first);
  EXPECT_NE(text(run(find("on", 2))), first);
}

/// A packet of a pcapng file.
struct Captured {
  std::uint64_t at_ns = 0;
  std::uint32_t frame_bytes = 0;
  std::string bytes;
  std::string comment;
};

std::vector<Captured> packets_in(const std::string& file) {
  const auto word = [&file](std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, file.data() + at, sizeof value);
    return value;
  };
  std::vector<Captured> all;
  std::size_t at = 0;
  for (std::uint32_t length = 0; at + 12 <= file.size(); at += length) {
    length = word(at + 4);
    EXPECT_EQ(word(at + length - 4), length) << "a block is cut off";
    if (word(at) != 6) continue;
    const std::uint32_t kept = word(at + 20);
    const std::size_t option = at + 28 + (kept + 3) / 4 * 4;
    all.push_back({.at_ns = std::uint64_t{word(at + 12)} << 32 | word(at + 16),
                   .frame_bytes = word(at + 24),
                   .bytes = file.substr(at + 28, kept),
                   .comment = file.substr(option + 4, word(option) >> 16)});
  }
  EXPECT_EQ(at, file.size());
  return all;
}

TEST_F(LabRun, CapturesWhatLeavesAPort) {
  Case c = find("on", 1);
  const std::string left = text(run(c));
  c.observed.captures = {c.measured_queue};
  c.observed.capture_packets = 100'000;
  const RunResult r = run(c);
  EXPECT_EQ(text(r), left) << "a capture changes nothing";
  ASSERT_EQ(r.captures.size(), 1U);
  EXPECT_EQ(r.captures[0].port, c.measured_queue);
  EXPECT_EQ(r.captures[0].missed, 0U);
  const auto packets = packets_in(r.captures[0].pcapng);
  EXPECT_EQ(packets.size(), r.captures[0].packets);
  const QueueReport& queue = *find_queue(r.switches, c.measured_queue);
  std::uint64_t sent = 0, sent_bytes = 0, before_ns = 0;
  for (std::size_t k = 0; k < kTrafficClasses; ++k) {
    sent += queue.transmitted.values[k];
    sent_bytes += queue.transmitted_bytes.values[k];
  }
  EXPECT_EQ(packets.size(), sent);
  for (const Captured& packet : packets) {
    sent_bytes -= packet.frame_bytes;
    EXPECT_EQ(packet.bytes.substr(12, 2), std::string("\x08\x00", 2)) << "IPv4";
    EXPECT_GE(packet.at_ns, before_ns);
    EXPECT_TRUE(packet.comment.starts_with("queue 0, class ")) << packet.comment;
    before_ns = packet.at_ns;
  }
  EXPECT_EQ(sent_bytes, 0U);
  EXPECT_LE(static_cast<std::int64_t>(before_ns), r.switches.end_ns);
}

TEST_F(LabRun, ACaptureHasABeginAndABound) {
  Case c = find("off", 1);
  c.observed.captures = {c.measured_queue};
  c.observed.capture_from = 1s;
  c.observed.capture_packets = 1'000;  // the ring has 1,024
  const RunResult r = run(c);
  const auto packets = packets_in(r.captures.at(0).pcapng);
  EXPECT_EQ(packets.size(), 1'000U);
  EXPECT_GE(packets.front().at_ns, 1'000'000'000U);
  EXPECT_LT(packets.front().at_ns, 1'010'000'000U);
  c.observed.capture_packets = 100'000;
  const RunResult whole = run(c);
  EXPECT_EQ(whole.captures.at(0).packets, 1'000 + r.captures.at(0).missed);
  CaseRun kept{.definition = &c, .result = r};
  EXPECT_EQ(deserialize(c, serialize(kept)).result.captures.at(0).pcapng, r.captures.at(0).pcapng);
  EXPECT_EQ(digest(kept, Runtime::kVirtual, Flagged::kKept).own.metrics.packets_not_captured,
            r.captures.at(0).missed);
}

TEST_F(LabRun, KeepsTheSeriesOfAnObservedQueueAlone) {
  Case c = find("off", 1);
  CaseRun all{.definition = &c, .result = run(c)};
  trim(all);
  const auto series = [](const CaseRun& run) {
    return std::ranges::count_if(run.result.switches.queues,
                                 [](const QueueReport& queue) { return !queue.bins.empty(); });
  };
  EXPECT_EQ(series(all), 1) << "the measured one";
  const std::string back = "leaf_b.to_leaf_a";
  c.observed.queues = {back};
  for (auto& sw : c.switches.switches)
    for (auto& port : sw.ports) port.record |= sw.name + '.' + port.name == back;
  CaseRun two{.definition = &c, .result = run(c)};
  trim(two);
  EXPECT_EQ(series(two), 2);
  EXPECT_FALSE(find_queue(two.result.switches, back)->bins.empty());
}

TEST_F(LabRun, EveryPacketIsAccountedFor) {
  for (const auto& c : cases_) {
    const RunResult r = run(c);
    EXPECT_TRUE(r.switches.ledger_balanced) << c.label;
    EXPECT_TRUE(r.traffic.ledger_balanced) << c.label;
    EXPECT_TRUE(r.traffic.jobs_finished) << c.label;
    EXPECT_EQ(r.mbufs_leaked, 0U) << c.label;
    EXPECT_EQ(r.traffic.mbuf_exhausted, 0U) << c.label << ": buffers_needed() is too small";
  }
}

TEST_F(LabRun, AFrontComparesEverySettingWithOff) {
  const Case& off = find("off", 1);
  Case other = off;  // without a regulator, but with another minimum RTO
  other.label = "off-rto";
  other.parameters.emplace_back("transport.min_rto", std::string("1ms"));
  std::vector<CaseRun> runs;
  runs.push_back({&off, run(off), {}});
  runs.push_back({&other, run(find("on", 1)), {}});
  FrontResult result{.experiment = "quick", .question = "?", .settings = {.baseline = "off"}};
  result.candidates = {{.family = "off", .label = "off"}, {.family = "rto", .label = "off-rto"}};
  std::vector<RunDigest> digests;
  digests.reserve(runs.size());
  for (const auto& r : runs) digests.push_back(digest(r, Runtime::kVirtual, Flagged::kKept));
  take_samples(std::vector<const RunDigest*>{&digests[0], &digests[1]}, result);
  ASSERT_EQ(result.candidates[1].samples.size(), 1U);
  EXPECT_EQ(result.candidates[0].samples[0].lost_bytes, 0);
  EXPECT_NE(result.candidates[1].samples[0].lost_bytes, 0) << "compared with itself";
}

TEST_F(LabRun, FixedScheduleRunsToTheEndOfItsLastPeriod) {
  for (const auto& label : {"off", "on"}) {
    const RunResult r = run(find(label, 1));
    EXPECT_EQ(r.traffic.end_ns, Duration(1s + 3 * 500ms).count()) << "warm-up and three periods";
    EXPECT_EQ(r.switches.end_ns, r.traffic.end_ns);
  }
}

TEST_F(LabRun, LimitEndsARunThatDoesNotFinish) {
  Case c = find("off", 1);
  for (auto& [name, value] : c.parameters)
    if (name == "limit_seconds") value = 1.2;
  const RunResult r = run(c);
  EXPECT_EQ(r.traffic.end_ns, Duration(1200ms).count());
  EXPECT_FALSE(r.traffic.jobs_finished);
  EXPECT_FALSE(r.interrupted);
  EXPECT_EQ(r.mbufs_leaked, 0U);
}

TEST_F(LabRun, StopsBetweenSlices) {
  int asked = 0;
  const RunResult r = run(find("on", 1), [&] { return ++asked > 5; });
  EXPECT_TRUE(r.interrupted);
  EXPECT_LT(r.traffic.end_ns, Duration(1s).count());
  EXPECT_TRUE(r.switches.ledger_balanced);
  EXPECT_EQ(r.mbufs_leaked, 0U);
}

TEST_F(LabRun, AloneHasNoBackgroundAndIsFaster) {
  const Case& c = find("off", 1);
  const RunResult alone = run(without_background(c));
  for (const auto& flow : alone.traffic.flows)
    EXPECT_NE(flow.traffic_class, TrafficClass::kBackground);
  const RunResult shared = run(c);
  ASSERT_EQ(alone.traffic.bursts.size(), shared.traffic.bursts.size());
  const auto took = [](const BurstRecord& b) { return b.delivered_ns - b.first_sent_ns; };
  for (std::size_t i = 0; i < alone.traffic.bursts.size(); ++i) {
    if (alone.traffic.bursts[i].identity.direction != BurstDirection::kPush) continue;
    EXPECT_LT(took(alone.traffic.bursts[i]), took(shared.traffic.bursts[i]));
  }
}

TEST_F(LabRun, ResultsSurviveTheWayFromWorkerToParent) {
  const Case& c = find("on", 1);
  CaseRun sent{.definition = &c, .result = run(c), .alone = run(without_background(c))};
  sent.result.mbufs_leaked = 3;
  sent.jobs_alone = {{0.1, 1.0 / 3}, {}, {5}};
  const CaseRun received = deserialize(c, serialize(sent));
  EXPECT_EQ(text(received.result), text(sent.result));
  ASSERT_TRUE(received.alone);
  EXPECT_EQ(text(*received.alone), text(*sent.alone));
  EXPECT_EQ(received.result.mbufs_leaked, 3U);
  EXPECT_EQ(received.jobs_alone, sent.jobs_alone);
  EXPECT_FALSE(received.switch_toml.empty());
  EXPECT_THROW(deserialize(c, serialize(sent).substr(0, 1000)), std::runtime_error);
}

}  // namespace
}  // namespace outrider::lab_run_test
