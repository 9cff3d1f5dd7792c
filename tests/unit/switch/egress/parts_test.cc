// Goal: a queue asks its parts at the steps that they name, in their order, and acts on what they
// say; a part that names none is never asked, and a reload may change what it names.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "switch/regulation/modes.h"
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

  ArrivalVerdict verdict = ArrivalVerdict::kPass;
  std::optional<DropReason> refusal{};
  Steps after_reload{};

 private:
  void note(const char* what) const { heard_.push_back(name_ + " " + what); }

  std::string name_;
  Steps steps_;
  std::vector<std::string>& heard_;
};

struct Bench : PortBench {
  Bench() : PortBench(port_config()) {}
  PortQueue& queue() { return port.queues()[0]; }
  std::vector<std::string> send_one() {
    heard.clear();
    send(0, Ecn::kEct0, at += 1ms);
    run();
    return heard;
  }

  std::vector<std::string> heard;
  Time at{};
};

using Heard = std::vector<std::string>;

TEST(QueueParts, AreAskedInTheirOrderAtTheStepsThatTheyName) {
  Bench b;
  Witness first("a", {Step::kArrive, Step::kEnter, Step::kExit}, b.heard);
  Witness second("b", {Step::kArrive, Step::kDepart, Step::kExit}, b.heard);
  Witness none("c", {}, b.heard);
  for (Witness* part : {&first, &none, &second}) b.queue().add(*part);
  EXPECT_EQ(b.send_one(),
            (Heard{"a arrival", "b arrival", "a entry", "a exit", "b exit", "b departure"}));
  EXPECT_TRUE(b.balanced());
}

TEST(QueueParts, APacketThatFindsTheQueueEmptyPassesUnlessAPartHasToKnow) {
  Bench b;
  Witness records("r", {Step::kArrive, Step::kDepart}, b.heard);
  b.queue().add(records);
  EXPECT_TRUE(b.queue().may_pass());
  for (const Steps& steps : {Steps{Step::kRoom}, Steps{Step::kEnter}, Steps{Step::kExit},
                             Steps{Step::kKeep, Step::kRoom, Step::kNext}}) {
    Bench other;
    Witness accounts("m", steps, other.heard);
    other.queue().add(accounts);
    EXPECT_FALSE(other.queue().may_pass());
  }
}

TEST(QueueParts, TheQueueActsOnTheirVerdicts) {
  Bench b;
  Witness first("a", {Step::kArrive, Step::kRoom}, b.heard);
  Witness second("b", {Step::kArrive}, b.heard);
  b.queue().add(first);
  b.queue().add(second);
  first.verdict = ArrivalVerdict::kMark;
  b.send_one();
  EXPECT_EQ(b.reports()[0].marks[TrafficClass::kBackground][MarkReason::kInjected], 1U);
  first.verdict = ArrivalVerdict::kLose;
  EXPECT_EQ(b.send_one(), Heard{"a arrival"}) << "nobody sees what is lost";
  EXPECT_EQ(b.drops(0, DropReason::kInjectedLoss), 1U);
  first.verdict = ArrivalVerdict::kPass;
  first.refusal = DropReason::kBufferFull;
  b.send_one();
  EXPECT_EQ(b.drops(0, DropReason::kBufferFull), 1U);
  EXPECT_EQ(b.out.arrivals.size(), 1U);
  EXPECT_TRUE(b.balanced());
}

TEST(QueueParts, WaitingIsToldOfPacketsThatWait) {
  Bench b;
  Witness part("w", {Step::kWait}, b.heard);
  b.queue().add(part);
  for (int i = 0; i < 3; ++i) b.send(0, Ecn::kEct0, Time{1ms});
  EXPECT_EQ(b.heard.size(), 2U) << "the first is being sent";
}

TEST(QueueParts, AReloadMayChangeTheirSteps) {
  Bench b;
  Witness part("p", {Step::kArrive}, b.heard);
  part.after_reload = {Step::kDepart};
  b.queue().add(part);
  EXPECT_EQ(b.send_one(), Heard{"p arrival"});
  auto to = port_config();
  to.queue.limit_packets = 500;
  const auto change = b.port.prepare(port_config(), to, {}, false);
  b.port.apply(*change, b.at);
  EXPECT_EQ(b.send_one(), Heard{"p departure"});
}

TEST(Modes, EachHasItsOwnNameAndNeedsSomething) {
  for (const ModeRow& row : kModeRows) {
    for (const ModeRow& other : kModeRows)
      EXPECT_EQ(row.name == other.name, row.mode == other.mode) << row.name;
    const bool acts = row.marks || row.paces || row.holds_windows || row.steers;
    EXPECT_EQ(acts, row.mode != RegulationMode::kOff) << row.name;
    EXPECT_FALSE(row.spares_held && !row.holds_windows) << row.name;
  }
}

}  // namespace
}  // namespace outrider::parts_test
