// Goal: RED marks as Floyd and Jacobson's formulas say. Method: literal averages, mark
// fractions at a fixed occupancy against theory, and the step marker measured likewise.
#include "switch/aqm/red_marker.h"

#include <gtest/gtest.h>

#include <cmath>

#include "common/core/random.h"
#include "switch/aqm/step_marker.h"

namespace outrider::red_marker_test {
namespace {

using namespace std::chrono_literals;

constexpr int kRepeats = 250;
constexpr int kPackets = 400;
constexpr int kForgotten = 2'000;  // five of the longest gaps below

constexpr RedMarker::Params kInstantaneous{.kmin = 20, .kmax = 60, .pmax = 0.1};

/// Share of packets that are marked if each finds `occupancy`: seeds 1..kRepeats, after
/// as many packets as make it forget that no mark came before.
double marked_share(const RedMarker::Params& params, std::uint64_t occupancy) {
  std::uint64_t marked = 0;
  for (std::uint64_t seed = 1; seed <= kRepeats; ++seed) {
    RandomStream draws(seed, 0, RandomPurpose::kTest);
    RedMarker red(params);
    for (int i = 0; i < kForgotten; ++i) (void)red.on_enqueue(occupancy, draws.next_u32(), Time{});
    for (int i = 0; i < kPackets; ++i)
      marked += red.on_enqueue(occupancy, draws.next_u32(), Time{}) == MarkVerdict::kMark;
  }
  return static_cast<double>(marked) / (kRepeats * kPackets);
}

/// Four standard deviations of a binomial share.
double bound(double p) { return 4 * std::sqrt(p * (1 - p) / (kRepeats * kPackets)); }

/// One over the mean gap, from the paper's p / (1 - count p), counts 1, 2, ...
double uniform_share(double p) {
  double mean_gap = 0, unmarked = 1;
  for (int count = 1; unmarked > 0; ++count) {
    mean_gap += unmarked;
    unmarked *= 1 - count * p < p ? 0 : 1 - p / (1 - count * p);
  }
  return 1 / mean_gap;
}

TEST(RedMarker, MarksTheShareThatTheoryGivesAtAFixedOccupancy) {
  for (const std::uint64_t occupancy : {21U, 30U, 40U, 50U, 59U}) {
    RedMarker::Params params = kInstantaneous;
    const double p = 0.1 * (static_cast<double>(occupancy) - 20) / 40;
    params.spacing = RedSpacing::kIndependent;
    EXPECT_NEAR(marked_share(params, occupancy), p, bound(p)) << occupancy;
    params.spacing = RedSpacing::kUniform;
    EXPECT_NEAR(marked_share(params, occupancy), uniform_share(p), bound(uniform_share(p)))
        << occupancy;
    EXPECT_NEAR(uniform_share(p), 2 * p, 0.06 * p) << "gaps of 1..1/p are 1/2p long on average";
  }
}

TEST(StepMarker, MarksAllOrNothingAtAFixedOccupancy) {
  for (const std::uint32_t occupancy : {0U, 39U, 40U, 41U, 60U}) {
    std::uint64_t marked = 0;
    for (int i = 0; i < kRepeats * kPackets; ++i)
      marked += judge_step(occupancy, 40) == MarkVerdict::kMark;
    EXPECT_EQ(marked, occupancy >= 40 ? kRepeats * kPackets : 0) << occupancy;
  }
}

TEST(RedMarker, MarksNothingBelowKminAndAllFromKmaxOn) {
  for (const auto spacing : {RedSpacing::kUniform, RedSpacing::kIndependent}) {
    RedMarker::Params params = kInstantaneous;
    params.spacing = spacing;
    for (const std::uint64_t occupancy : {0U, 19U, 20U})
      EXPECT_EQ(marked_share(params, occupancy), 0) << occupancy << ": p is 0 at Kmin itself";
    for (const std::uint64_t occupancy : {60U, 61U, 1U << 30})
      EXPECT_EQ(marked_share(params, occupancy), 1) << occupancy;
  }
}

// Section 7: with p = 1/20 no two marks are more than 20 packets apart; draws that each
// alone would mark nothing must not undo that.
TEST(RedMarker, UniformGapsAreBoundedByOneOverP) {
  RedMarker red(kInstantaneous);  // p = 0.05 at 40
  int gap = 0, marks = 0;
  for (int i = 0; i < 200; ++i) {
    ++gap;
    if (red.on_enqueue(40, ~0U, Time{}) == MarkVerdict::kPass) continue;
    EXPECT_EQ(gap, marks == 0 ? 20 : 19) << "the first count is 0, the others start at 1";
    gap = 0;
    ++marks;
  }
  EXPECT_EQ(marks, 10);
}

TEST(RedMarker, ForgetsTheGapOutsideTheRange) {
  RedMarker red(kInstantaneous);
  for (int i = 0; i < 19; ++i) EXPECT_EQ(red.on_enqueue(40, ~0U, Time{}), MarkVerdict::kPass);
  EXPECT_EQ(red.on_enqueue(19, ~0U, Time{}), MarkVerdict::kPass) << "below Kmin";
  for (int i = 0; i < 19; ++i)
    EXPECT_EQ(red.on_enqueue(40, ~0U, Time{}), MarkVerdict::kPass) << "counts anew: " << i;
  EXPECT_EQ(red.on_enqueue(40, ~0U, Time{}), MarkVerdict::kMark);
}

TEST(RedMarker, AveragesByItsWeight) {
  RedMarker red({.kmin = 1000, .kmax = 2000, .pmax = 1, .weight = 0.25, .packet_time = 1us});
  struct Row {
    std::uint64_t occupancy;
    double average;
  };
  for (const Row row : {Row{8, 2}, {8, 3.5}, {4, 3.625}, {100, 27.71875}}) {
    EXPECT_EQ(red.on_enqueue(row.occupancy, 0, Time{}), MarkVerdict::kPass);
    EXPECT_DOUBLE_EQ(red.average(), row.average);
  }
}

// Section 4: an idle time of m packet times is m samples of an empty queue; ours adds
// the arrival itself.
TEST(RedMarker, AnIdleLinkForgetsTheAverage) {
  struct Row {
    Duration idle;
    double samples;
  };
  for (const Row row : {Row{0us, 1}, {999ns, 1}, {1us, 2}, {7500ns, 8}, {100us, 101}}) {
    for (const Duration shift : {Duration{0}, Duration{24h * 365}}) {
      RedMarker red({.kmin = 1000, .kmax = 2000, .pmax = 1, .weight = 0.125, .packet_time = 1us});
      for (int i = 0; i < 200; ++i) (void)red.on_enqueue(64, 0, Time{shift});
      const double before = red.average();
      ASSERT_NEAR(before, 64, 1e-6);
      red.on_dequeue(1, Time{shift});
      red.on_dequeue(0, Time{shift + 5us});
      (void)red.on_enqueue(0, 0, Time{shift + 5us + row.idle});
      EXPECT_NEAR(red.average(), before * std::pow(0.875, row.samples), 1e-5);
      (void)red.on_enqueue(0, 0, Time{shift + 5us + row.idle});
      EXPECT_NEAR(red.average(), before * std::pow(0.875, row.samples + 1), 1e-5)
          << "the same idle time does not count twice";
    }
  }
}

TEST(RedMarker, AYearOfIdlenessEndsAtNothing) {
  RedMarker red({.kmin = 5, .kmax = 9, .pmax = 1, .weight = 0.002, .packet_time = 1us});
  for (int i = 0; i < 10'000; ++i) (void)red.on_enqueue(8, 0, Time{});
  EXPECT_GT(red.average(), 7.9);
  red.on_dequeue(0, Time{});
  EXPECT_EQ(red.on_enqueue(0, 0, Time{24h * 365}), MarkVerdict::kPass);
  EXPECT_EQ(red.average(), 0);
}

}  // namespace
}  // namespace outrider::red_marker_test
