// Goal: the lead that a clamp measures is what the windows that it told take to drain, of the flows
// that it holds. Method: flows of literal flights on a path of 200 Mbit/s and 3 ms, which
// holds 48.8 segments of 61.52 us.
#include "tests/unit/regulation/window_scene.h"

namespace outrider::window_told_test {
namespace {

constexpr double kSegmentMs = 61.52e-3, kPathSegments = 3 / kSegmentMs;
constexpr std::uint32_t kH = 10;
constexpr double kK = 40;

/// Plays round trips of flows that each have `segments` in flight at the same time.
void cruise_together(Scene& s, std::uint32_t flows, std::uint32_t segments, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    for (std::uint32_t f = 0; f < flows; ++f) s.send(f, segments);
    s.now += 2ms;
    for (std::uint32_t f = 0; f < flows; ++f) s.answer(f, segments);
    s.now += 1ms;
  }
}

void open_all(Scene& s, std::uint32_t flows) {
  for (std::uint32_t f = 0; f < flows; ++f) s.open(f);
}

double lead_ms(Scene& s, double standing_packets = kK) {
  const auto rule = s.clamp.lead(kH, standing_packets, s.now);
  return rule ? static_cast<double>(rule->lead.count()) / 1e6 : -1;
}

/// Returns the rule by hand, where path and h are more than what flows keep.
double by_hand_ms(double told_segments) {
  return 3 + std::max(told_segments - kPathSegments - kH, 0.0) * kSegmentMs;
}

TEST(ToldWindows, DrainInTheLead) {
  Scene s(kComplement);
  open_all(s, 2);
  cruise_together(s, 2, 40, 20);
  EXPECT_NEAR(lead_ms(s), by_hand_ms(2 * 60), 0.02) << "1.5 times a flight";
}

TEST(ToldWindows, AreWholePathsWhereNoBurstIsExpected) {
  Scene s(kComplement);
  open_all(s, 4);
  cruise_together(s, 4, 15, 20);
  EXPECT_NEAR(lead_ms(s), by_hand_ms(4 * kPathSegments), 0.05);
  s.clamp.on_announced(s.now);
  cruise_together(s, 4, 15, 40);
  EXPECT_NEAR(lead_ms(s), by_hand_ms(4 * 22.5), 0.05) << "they have closed in on the flights";
}

TEST(ToldWindows, LeaveWholePathsOutWithTheStrictRule) {
  Scene s(kStrict);
  open_all(s, 4);
  cruise_together(s, 4, 15, 20);
  EXPECT_NEAR(lead_ms(s), by_hand_ms(4 * 22.5), 0.05);
}

TEST(ToldWindows, OfSmallFlowsAreNotHeld) {
  Scene s(kComplement);
  open_all(s, 3);
  for (int i = 0; i < 20; ++i) {
    s.send(2, 2);  // 40 segments in all, less than a path
    cruise_together(s, 2, 40, 1);
    s.answer(2, 2);
  }
  EXPECT_NEAR(lead_ms(s), by_hand_ms(2 * 60), 0.02);
}

TEST(ToldWindows, OfFlowsThatAreSilentDoNotCount) {
  Scene s(kComplement);
  open_all(s, 3);
  cruise_together(s, 3, 40, 20);
  EXPECT_NEAR(lead_ms(s), by_hand_ms(3 * 60), 0.02);
  cruise_together(s, 1, 40, 20);
  EXPECT_NEAR(lead_ms(s), by_hand_ms(60), 0.02);
  s.now += 1s;
  EXPECT_EQ(lead_ms(s), 0) << "nobody sends: nothing has to drain";
}

TEST(ToldWindows, AreNotMeasuredWhileTheyAreHeld) {
  Scene s(kComplement);
  open_all(s, 2);
  cruise_together(s, 2, 40, 20);
  s.start();
  EXPECT_EQ(s.clamp.lead(kH, kK, s.now), std::nullopt);
}

TEST(ToldWindows, SayWhereNoLeadIsEnough) {
  for (const std::uint32_t flows : {4U, 5U}) {
    Scene s(kComplement);
    open_all(s, flows);
    cruise_together(s, flows, 15, 20);
    lead_ms(s, 10);
    EXPECT_EQ(s.clamp.counters().starts_beyond_lead, flows == 4 ? 0U : 1U)
        << "8 of 58.8 segments are less than a sixth, 10 are more";
  }
}

}  // namespace
}  // namespace outrider::window_told_test
