// Goal: a queue asks its parts at the steps that they name, in their order, and acts on what they
// say; a part that names none is never asked, and a reload may change what it names.
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "switch/regulation/policy/modes.h"
#include "tests/unit/switch/egress/port_bench.h"

namespace outrider::parts_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;

/// Writes down what it is asked, and answers as it is told.
class Witness final : public QueuePart {
 public:
  Witness(std::string name, Steps steps, std::vector<std::string>& heard)
      : name_(std::move(name)), steps_(steps), heard_(heard) {}

  [[nodiscard]] Steps steps() const noexcept override { return steps_; }
  ArrivalVerdict on_arrival(const Incoming& /*arrival*/) noexcept override {
    return note("arrival"), verdict;
  }
  std::optional<DropReason> refuses(const Packet& /*packet*/) const noexcept override {
    return note("room"), refusal;
  }
  void on_entry(const Packet& /*packet*/, Time /*now*/) noexcept override { note("entry"); }
  void on_waiting(Time /*now*/) noexcept override { note("waiting"); }
  void on_exit(const Fifo::Item& /*item*/, Time /*now*/) noexcept override { note("exit"); }
  void on_departure(const Transmission& /*sent*/) noexcept override { note("departure"); }
  void apply(PartChange* /*change*/, const PortQueueConfig& /*to*/,
             Time /*now*/) noexcept override {
    steps_ = after_reload;
  }

  ArrivalVerdict verdict{};
  std::optional<DropReason> refusal{};
  Steps after_reload{};

 private:
  void note(const char* what) const { heard_.push_back(name_ + " " + what); }

  std::string name_;
  Steps steps_;
  std::vector<std::string>& heard_;
};

/// The parts, which outlive the port.
struct Witnesses {
  std::vector<std::string> heard;
  std::deque<Witness> parts;
};

struct Bench : Witnesses, PortBench {
  Bench() : PortBench(port_config()) {}
  PortQueue& queue() { return port.queues()[0]; }
  Witness& add(const std::string& name, Steps steps) {
    Witness& part = parts.emplace_back(name, steps, heard);
    queue().parts().add(part);
    return part;
  }
  std::vector<std::string> send_one() {
    heard.clear();
    send(0, Ecn::kEct0, at += 1ms);
    run();
    return heard;
  }

  Time at{};
};

using Heard = std::vector<std::string>;

TEST(QueueParts, AreAskedInTheirOrderAtTheStepsThatTheyName) {
  Bench b;
  b.add("a", {Step::kArrive, Step::kEnter, Step::kExit});
  b.add("c", {});
  b.add("b", {Step::kArrive, Step::kDepart, Step::kExit});
  EXPECT_EQ(b.send_one(),
            (Heard{"a arrival", "b arrival", "a entry", "a exit", "b exit", "b departure"}));
  EXPECT_TRUE(b.balanced());
}

TEST(QueueParts, APacketThatFindsTheQueueEmptyPassesUnlessAPartHasToKnow) {
  Bench records;
  records.add("r", {Step::kArrive, Step::kDepart});
  EXPECT_TRUE(records.queue().parts().may_pass());
  for (const Steps& steps : {Steps{Step::kRoom}, Steps{Step::kEnter}, Steps{Step::kExit}}) {
    Bench other;
    other.add("m", steps);
    EXPECT_FALSE(other.queue().parts().may_pass());
  }
  auto paced = port_config();
  paced.regulation.mode = RegulationMode::kPace;
  EXPECT_FALSE(PortBench(paced).port.queues()[0].parts().may_pass())
      << "background is kept before the FIFO";
}

TEST(QueueParts, TheQueueActsOnTheirVerdicts) {
  Bench b;
  Witness& first = b.add("a", {Step::kArrive, Step::kRoom});
  b.add("b", {Step::kArrive});
  first.verdict = {.marked = MarkReason::kRegulatedThreshold};
  b.send_one();
  EXPECT_EQ(b.reports()[0].marks[TrafficClass::kBackground][MarkReason::kRegulatedThreshold], 1U);
  first.verdict = {.lost = DropReason::kHeadroom, .marked = MarkReason::kInjected};
  EXPECT_EQ(b.send_one(), Heard{"a arrival"}) << "nobody sees what is lost";
  EXPECT_EQ(b.drops(0, DropReason::kHeadroom), 1U) << "for the reason that the part gives";
  EXPECT_EQ(sum(b.reports()[0].marks[TrafficClass::kBackground]), 1U) << "and is not marked";
  first.verdict = {};
  first.refusal = DropReason::kBufferFull;
  b.send_one();
  EXPECT_EQ(b.drops(0, DropReason::kBufferFull), 1U);
  EXPECT_EQ(b.out.arrivals.size(), 1U);
  EXPECT_TRUE(b.balanced());
}

TEST(QueueParts, WaitingIsToldOfPacketsThatWait) {
  Bench b;
  b.add("w", {Step::kWait});
  for (int i = 0; i < 3; ++i) b.send(0, Ecn::kEct0, Time{1ms});
  EXPECT_EQ(b.heard.size(), 2U) << "the first is being sent";
}

TEST(QueueParts, AReloadMayChangeTheirSteps) {
  Bench b;
  b.add("p", {Step::kArrive}).after_reload = {Step::kDepart};
  EXPECT_EQ(b.send_one(), Heard{"p arrival"});
  auto to = port_config();
  to.queue.limit_packets = 500;
  const auto change = b.port.prepare(port_config(), to, {}, false);
  b.port.apply(*change, b.at);
  EXPECT_EQ(b.send_one(), Heard{"p departure"});
}

TEST(QueueParts, AReloadReachesThoseThatQueuesShareAndTheirSteps) {
  auto config = port_config();
  config.queues.assign(2, {config.queue, config.marker, config.regulation});
  PortBench b(config);
  Time at{};
  std::uint64_t lost = 0;
  for (const double loss : {0.0, 1.0, 0.0, 1.0}) {
    auto to = config;
    to.loss = loss;
    if (const auto change = b.port.prepare(config, to, {}, false)) b.port.apply(*change, at);
    config = to;
    for (unsigned q = 0; q < 2; ++q) b.send(q, Ecn::kEct0, at += 1ms);
    lost += loss > 0;
    for (unsigned q = 0; q < 2; ++q)
      EXPECT_EQ(b.drops(q, DropReason::kInjectedLoss), lost) << "queue " << q;
  }
  b.run();
  EXPECT_TRUE(b.balanced());
}

TEST(Modes, ThoseThatActOnBurstsHaveARegulatorAndNoOthers) {
  for (const ModeRow& row : kModeRows) {
    if (row.steers) continue;  // needs a second queue
    auto config = port_config();
    config.regulation.mode = row.mode;
    const PortBench b(config);
    const PortQueue& queue = b.port.queues()[0];
    EXPECT_EQ(queue.regulation().exists(), acts_on_bursts(row.mode)) << row.name;
    EXPECT_TRUE(queue.regulation().exists() || !queue.parts().act_at(Step::kAdmit)) << row.name;
  }
}

TEST(Modes, EachHasItsOwnNameAndNeedsSomething) {
  for (const ModeRow& row : kModeRows) {
    for (const ModeRow& other : kModeRows)
      EXPECT_EQ(row.name == other.name, row.mode == other.mode) << row.name;
    const ModeRow needs_nothing{.mode = row.mode, .name = row.name};
    EXPECT_EQ(row != needs_nothing, row.mode != RegulationMode::kOff) << row.name;
    EXPECT_FALSE(row.spares_held && !row.holds_windows) << row.name;
  }
}

}  // namespace
}  // namespace outrider::parts_test
