// Goal: over a long path that loses packets every byte arrives with both repairs, and selective
// repeat brings more goodput. Method: both ends in virtual time, at 10 Gbit/s with a round trip of
// 20 us; data and answers are lost at random.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>

#include "tests/unit/roce/queue_pair_ends.h"

namespace outrider::repair_goodput_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kBytes = 50'000'000;
constexpr double kLine = 10e9;
constexpr Duration kOneWay = 10us;

/// One direction of a path: packets arrive in order, a constant time after they leave.
class Path {
 public:
  Path(double loss, unsigned seed) : lost_(loss), random_(seed) {}
  void put(const roce::Message& m, Time now) {
    if (!lost_(random_)) flying_.push_back({now + kOneWay, m});
  }
  [[nodiscard]] Time next() const { return flying_.empty() ? kNever : flying_.front().at; }
  roce::Message take() {
    const roce::Message m = flying_.front().message;
    flying_.pop_front();
    return m;
  }

 private:
  struct Flying {
    Time at;
    roce::Message message;
  };
  std::bernoulli_distribution lost_;
  std::mt19937 random_;
  std::deque<Flying> flying_;
};

struct Figures {
  double gbps = 0;
  RoceCounters sent, taken;
};

Figures run(RoceRepair repair, roce::Operation operation, double loss, Duration timeout) {
  RoceConfig config{.operation = operation, .repair = repair};
  config.timeout = timeout;
  Ends e(config, kLine);
  Path data(loss, 1), answers(loss, 2);
  const Time begin = e.now;
  e.requester.append(kBytes, 1, begin);
  while (e.responder.delivered_bytes() < kBytes && !e.requester.gave_up()) {
    if (e.requester.has_packet(e.now)) data.put(e.requester.next_packet(e.now), e.now);
    while (e.responder.has_answer()) answers.put(e.responder.next_answer(), e.now);
    if (e.requester.has_packet(e.now)) continue;
    e.now = std::max(e.now, std::min({data.next(), answers.next(), e.requester.next_timer()}));
    while (data.next() <= e.now) (void)e.responder.on_data(data.take(), false, e.now);
    while (answers.next() <= e.now) {
      EXPECT_TRUE(e.requester.on_acknowledge(answers.take(), e.now));
    }
    if (e.requester.next_timer() <= e.now) e.requester.on_timer(e.now);
  }
  const auto ns = static_cast<double>((e.now - begin).count());
  EXPECT_EQ(e.responder.delivered_bytes(), kBytes);
  return {8.0 * kBytes / ns, e.sent, e.taken};
}

void print(const char* name, double loss, Duration timeout, const Figures& f) {
  std::printf(
      "%s loss %.3f timeout %ld us: %.2f Gbit/s, sent %lu, again %lu, NAKs %lu, silent %lu\n", name,
      loss, static_cast<long>(timeout / 1us), f.gbps, f.sent.sent, f.sent.retransmitted,
      f.taken.naks_sent, f.sent.timeouts);
}

// OUTRIDER_FIGURES=1 prints the figures of docs/rxe.md.
TEST(RoceRepair, SelectiveRepeatHasMoreGoodput) {
  for (const Duration timeout : {Duration{1ms}, Duration{67ms}})
    for (const double loss : {0.0, 0.001, 0.01}) {
      const auto write = roce::Operation::kWrite;
      const Figures back = run(RoceRepair::kGoBackN, write, loss, timeout);
      const Figures selective = run(RoceRepair::kSelective, write, loss, timeout);
      if (std::getenv("OUTRIDER_FIGURES") != nullptr) {
        print("go_back_n", loss, timeout, back);
        print("selective", loss, timeout, selective);
      }
      if (loss == 0) {
        EXPECT_DOUBLE_EQ(selective.gbps, back.gbps);
        continue;
      }
      EXPECT_GT(selective.gbps, 1.02 * back.gbps) << loss;
      EXPECT_GT(back.sent.retransmitted, 5 * selective.sent.retransmitted) << loss;
      EXPECT_GT(selective.taken.kept, 500U) << loss;
      EXPECT_EQ(selective.taken.refused + selective.taken.contradicted, 0U);
      const Figures sends = run(RoceRepair::kSelective, roce::Operation::kSend, loss, timeout);
      EXPECT_EQ(sends.sent.sent, selective.sent.sent) << "an operation changes no repair";
    }
}

}  // namespace
}  // namespace outrider::repair_goodput_test
