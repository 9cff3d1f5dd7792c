// Goal: the reaction point does what the paper says: how much a CNP takes, how alpha decays, and
// the three ways back.
#include "trafficgen/roce/control/dcqcn.h"

#include <gtest/gtest.h>

namespace outrider::dcqcn_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr double kLine = 40e9;
constexpr double kMega = 1e6;
constexpr Time kStart = Time{} + 1s;

TEST(Dcqcn, SendsAtTheLinksRateUntilACnp) {
  const DcqcnConfig config;
  Dcqcn control(config, kLine);
  control.on_sent(1500, kStart);
  EXPECT_EQ(control.rate_bps(kStart + 10s), kLine);
}

TEST(Dcqcn, TheFirstCnpHalves) {
  const DcqcnConfig config;
  Dcqcn control(config, kLine);
  control.on_cnp(kStart);
  EXPECT_DOUBLE_EQ(control.rate_bps(kStart), kLine / 2);
  EXPECT_DOUBLE_EQ(control.target_bps(), kLine);
  EXPECT_DOUBLE_EQ(control.alpha(kStart), 1.0);
}

TEST(Dcqcn, AlphaDecaysWithoutCnpsAndGrowsWithThem) {
  const DcqcnConfig config;
  Dcqcn control(config, kLine);
  control.on_cnp(kStart);
  EXPECT_DOUBLE_EQ(control.alpha(kStart + 54us), 1.0);
  EXPECT_DOUBLE_EQ(control.alpha(kStart + 55us), 255.0 / 256);
  EXPECT_NEAR(control.alpha(kStart + 110us), 255.0 / 256 * 255 / 256, 1e-12);
  // 256 ln 2 = 177 periods halve it.
  EXPECT_NEAR(control.alpha(kStart + 177 * 55us), 0.5, 0.01);
  const double before = control.rate_bps(kStart + 177 * 55us);
  const double alpha = control.alpha(kStart + 177 * 55us);
  control.on_cnp(kStart + 177 * 55us);
  EXPECT_NEAR(control.rate_bps(kStart + 177 * 55us), before * (1 - alpha / 2), 1);
  EXPECT_NEAR(control.alpha(kStart + 177 * 55us), 255.0 / 256 * alpha + 1.0 / 256, 1e-12);
}

TEST(Dcqcn, FastRecoveryHalvesTheDistanceFiveTimes) {
  const DcqcnConfig config;
  Dcqcn control(config, kLine);
  control.on_cnp(kStart);
  control.on_cnp(kStart);  // target is half of the link, so that the link is no limit
  double distance = kLine / 4;
  for (int stage = 1; stage <= 5; ++stage) {
    distance /= 2;
    EXPECT_NEAR(control.rate_bps(kStart + stage * 55us), kLine / 2 - distance, 1) << stage;
    EXPECT_NEAR(control.target_bps(), kLine / 2, 1) << stage;
  }
}

TEST(Dcqcn, ThenTheTargetGrowsByItsSteps) {
  const DcqcnConfig config;
  Dcqcn control(config, kLine);
  control.on_cnp(kStart);
  control.on_cnp(kStart);
  (void)control.rate_bps(kStart + 5 * 55us);
  (void)control.rate_bps(kStart + 6 * 55us);
  EXPECT_NEAR(control.target_bps(), kLine / 2 + 40 * kMega, 1) << "additive, by the timer alone";
  // The byte counter passes its own five stages: then both have, and steps are ten times as large.
  for (int stage = 1; stage <= 5; ++stage) control.on_sent(10'000'000, kStart + 6 * 55us);
  EXPECT_NEAR(control.target_bps(), kLine / 2 + 6 * 40 * kMega, 1);
  control.on_sent(10'000'000, kStart + 6 * 55us);
  EXPECT_NEAR(control.target_bps(), kLine / 2 + 6 * 40 * kMega + 400 * kMega, 1) << "hyper";
}

// F is a quarter at the begin of a burst, and two at its end.
TEST(Dcqcn, MltcpScalesTheSteps) {
  const DcqcnConfig config;
  Dcqcn control(config, kLine);
  control.note_share(0, kStart);
  control.on_cnp(kStart);
  control.on_cnp(kStart);
  EXPECT_NEAR(control.rate_bps(kStart + 5 * 55us), kLine / 2 - kLine / 128, 1) << "not recovery";
  (void)control.rate_bps(kStart + 6 * 55us);
  EXPECT_NEAR(control.target_bps(), kLine / 2 + 10 * kMega, 1);
  control.note_share(1, kStart + 7 * 55us);
  EXPECT_NEAR(control.target_bps(), kLine / 2 + 20 * kMega, 1)
      << "what was due is of the old share";
  (void)control.rate_bps(kStart + 8 * 55us);
  EXPECT_NEAR(control.target_bps(), kLine / 2 + 100 * kMega, 1);
  for (int stage = 1; stage <= 5; ++stage) control.on_sent(10'000'000, kStart + 8 * 55us);
  control.on_sent(10'000'000, kStart + 8 * 55us);
  EXPECT_NEAR(control.target_bps(), kLine / 2 + (100 + 5 * 80 + 800) * kMega, 1) << "hyper";
}

TEST(Dcqcn, BytesCountUpToTheirNumber) {
  const DcqcnConfig config;
  Dcqcn control(config, kLine);
  control.on_cnp(kStart);
  control.on_sent(9'999'999, kStart);
  EXPECT_DOUBLE_EQ(control.rate_bps(kStart), kLine / 2);
  control.on_sent(1, kStart);
  EXPECT_DOUBLE_EQ(control.rate_bps(kStart), kLine * 3 / 4);
}

// Whether a timer's turns are taken one by one or all at once makes no difference.
TEST(Dcqcn, LookingMoreOftenChangesNothing) {
  const DcqcnConfig config;
  Dcqcn often(config, kLine), once(config, kLine);
  for (Dcqcn* c : {&often, &once}) {
    c->on_cnp(kStart);
    c->on_cnp(kStart + 60us);
  }
  for (Time at = kStart + 60us; at < kStart + 3ms; at += 7us) (void)often.rate_bps(at);
  EXPECT_EQ(often.rate_bps(kStart + 3ms), once.rate_bps(kStart + 3ms));
  EXPECT_EQ(often.rate_bps(kStart + 1h), kLine) << "and it ends at the link's rate";
}

// Alpha decays by a power: two steps are not exactly one of the same length.
TEST(Dcqcn, AskingForItsStateChangesNothing) {
  const DcqcnConfig config;
  Dcqcn asked(config, kLine), left(config, kLine);
  EXPECT_FALSE(asked.state(kStart).alpha) << "there is none before the first CNP";
  for (Dcqcn* control : {&asked, &left}) control->on_cnp(kStart);
  for (int i = 1; i <= 1000; ++i) {
    const RateState state = asked.state(kStart + i * 10us);
    Dcqcn later = left;
    EXPECT_EQ(state.rate_bps, later.rate_bps(kStart + i * 10us));
    EXPECT_EQ(state.target_bps, later.target_bps());
    EXPECT_EQ(state.alpha, later.alpha(kStart + i * 10us));
  }
  EXPECT_EQ(asked.alpha(kStart + 10ms), left.alpha(kStart + 10ms));
}

TEST(Dcqcn, ManyCnpsStopAtTheLeastRate) {
  const DcqcnConfig config;
  Dcqcn control(config, kLine);
  for (int i = 0; i < 100; ++i) control.on_cnp(kStart);
  EXPECT_DOUBLE_EQ(control.rate_bps(kStart), 10 * kMega);
}

}  // namespace
}  // namespace outrider::dcqcn_test
