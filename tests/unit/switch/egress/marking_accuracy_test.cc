// Goal: the share of marked packets at a port follows theory for the occupancy that they found.
// Method, as in switch vendors' tests: fill a queue while nothing leaves, or hold it at one
// occupancy, release it, and count CE at the far end; 200 repeats each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/switch/egress/port_bench.h"

namespace outrider::marking_accuracy_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;

constexpr int kRepeats = 200;
constexpr std::uint32_t kKmin = 20, kKmax = 60;
constexpr double kPmax = 0.4;

/// Returns the share marked at an occupancy, by the definition of instantaneous RED.
double red_share(std::uint32_t occupancy) {
  if (occupancy < kKmin) return 0;
  if (occupancy >= kKmax) return 1;
  return kPmax * (occupancy - kKmin) / (kKmax - kKmin);
}

MarkerConfig marker(MarkerKind kind, MarkAt at = MarkAt::kEnqueue) {
  MarkerConfig m{.kind = kind, .at = at, .threshold_packets = 40};
  m.red = {.kmin_packets = kKmin, .kmax_packets = kKmax, .pmax = kPmax, .weight = 1};
  return m;
}

class Accuracy {
 public:
  explicit Accuracy(const MarkerConfig& marker) : bench_(config_with(marker)) {}

  /// Enqueues `waiting` packets at once behind one in service and lets them leave.
  /// @return how many of the waiting packets were marked
  std::uint64_t fill_and_release(std::uint32_t waiting) {
    for (std::uint32_t i = 0; i <= waiting; ++i) bench_.send(0, Ecn::kEct0, now_);
    EXPECT_EQ(bench_.port.queues()[0].fifo().occupancy_packets(), waiting);
    return leave(waiting + 1);
  }
  /// Lets every one of `arrivals` packets find exactly `occupancy` waiting: one arrives as one
  /// leaves.
  std::uint64_t hold(std::uint32_t occupancy, std::uint32_t arrivals) {
    for (std::uint32_t i = 0; i < occupancy + 2; ++i) bench_.send(0, Ecn::kNotEct, now_);
    for (std::uint32_t i = 1; i <= arrivals; ++i)
      bench_.send(0, Ecn::kEct0, now_ + i * PortBench::kFrameTime);
    now_ += arrivals * PortBench::kFrameTime;
    return leave(occupancy + 2 + arrivals);
  }

 private:
  static SwitchPortConfig config_with(const MarkerConfig& marker) {
    auto config = port_config();
    config.marker = marker;
    config.marker.not_ect = NotEct::kPass;
    return config;
  }
  std::uint64_t leave(std::uint32_t packets) {
    now_ += packets * PortBench::kFrameTime + 1ms;
    bench_.loop.run_until(now_);
    EXPECT_EQ(bench_.out.size(), packets);
    const auto ce = bench_.out.count([](const Arrival& a) { return a.ecn() == Ecn::kCe; });
    EXPECT_EQ(ce, bench_.marks(0) - marks_) << "counted as marked";
    marks_ = bench_.marks(0);
    bench_.out.arrivals.clear();
    return ce;
  }

  PortBench bench_;
  Time now_{};
  std::uint64_t marks_ = 0;
};

// Exact by definition: marks are on packets that found, or left behind, K or more.
TEST(MarkingAccuracy, StepMarksExactlyWhatIsBeyondK) {
  for (const MarkAt at : {MarkAt::kEnqueue, MarkAt::kDequeue}) {
    Accuracy queue(marker(MarkerKind::kStep, at));
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      const auto waiting = static_cast<std::uint32_t>(1 + repeat * 7 % 120);
      ASSERT_EQ(queue.fill_and_release(waiting), waiting > 40 ? waiting - 40 : 0) << waiting;
    }
  }
}

TEST(MarkingAccuracy, StepAtAHeldOccupancyMarksAllOrNothing) {
  Accuracy queue(marker(MarkerKind::kStep));
  for (const std::uint32_t occupancy : {1U, 39U, 40U, 41U, 90U})
    for (int repeat = 0; repeat < kRepeats; ++repeat)
      ASSERT_EQ(queue.hold(occupancy, 20), occupancy >= 40 ? 20U : 0U) << occupancy;
}

/// Compares the mean of `repeats` sums of independent draws with theory, and the spread of the
/// samples with the binomial one.
struct Agreement {
  double expected = 0;  ///< expected value of one sample
  double variance = 0;
  double sum = 0, squares = 0;
  int samples = 0;

  void add(double x) { sum += x, squares += (x - expected) * (x - expected), ++samples; }
  void expect_close(std::uint32_t occupancy) const {
    const double mean = sum / samples;
    const double deviation = std::sqrt(variance / samples);
    EXPECT_NEAR(mean, expected, 4 * deviation + 1e-9) << "occupancy " << occupancy;
    if (variance > 1) {
      EXPECT_NEAR(squares / samples / variance, 1, 0.4) << "spread at " << occupancy;
    }
  }
};

TEST(MarkingAccuracy, RedMarksTheShareThatTheoryGivesAtAHeldOccupancy) {
  constexpr std::uint32_t kArrivals = 60;
  Accuracy queue(marker(MarkerKind::kRed));
  for (const std::uint32_t occupancy : {19U, 25U, 40U, 59U, 60U}) {
    const double p = red_share(occupancy);
    Agreement agreement{.expected = kArrivals * p, .variance = kArrivals * p * (1 - p)};
    for (int repeat = 0; repeat < kRepeats; ++repeat)
      agreement.add(static_cast<double>(queue.hold(occupancy, kArrivals)));
    agreement.expect_close(occupancy);
  }
}

TEST(MarkingAccuracy, RedMarksTheSumOfItsSharesWhenAQueueIsFilledAndReleased) {
  for (const MarkAt at : {MarkAt::kEnqueue, MarkAt::kDequeue}) {
    Accuracy queue(marker(MarkerKind::kRed, at));
    for (const std::uint32_t waiting : {30U, 60U, 100U}) {
      Agreement agreement;
      for (std::uint32_t k = 0; k < waiting; ++k) {  // found at enqueue, left at dequeue
        agreement.expected += red_share(k);
        agreement.variance += red_share(k) * (1 - red_share(k));
      }
      for (int repeat = 0; repeat < kRepeats; ++repeat)
        agreement.add(static_cast<double>(queue.fill_and_release(waiting)));
      agreement.expect_close(waiting);
    }
  }
}

}  // namespace
}  // namespace outrider::marking_accuracy_test
