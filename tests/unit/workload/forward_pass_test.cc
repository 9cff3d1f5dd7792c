// Goal: when a forward pass that waits for each layer's parameters ends, and which piece
// of a stream has arrived.
#include "trafficgen/workload/plan/forward_pass.h"

#include <gtest/gtest.h>

#include "tests/support/source_path.h"
#include "trafficgen/policy/prophet_policy.h"
#include "trafficgen/workload/exchange/piece_stream.h"
#include "trafficgen/workload/plan/release_profile.h"

namespace outrider::forward_pass_test {
using namespace tg;
namespace {

using std::chrono::microseconds;

Time at(std::int64_t us) { return Time{microseconds(us)}; }

// tensor      0    1    2    3
// parts       1    2    1    1
// there at  100  130  105  400   (the later of tensor 1's parts)
// computes   40   20   20   20   of 100 us
// begins    100  140  160  400   0 waits for nobody, 3 for its parameters
// ends      140  160  180  420
TEST(ForwardPass, ALayerBeginsWhenItsParametersAndTheOneBeforeAreThere) {
  const double shares[] = {0.4, 0.2, 0.2, 0.2};
  ForwardPass pass({1, 2, 1, 1}, shares);
  for (std::int64_t begin = 0; begin <= 10'000; begin += 10'000) {
    pass.begin();
    pass.on_piece(0, at(begin + 100));
    pass.on_piece(2, at(begin + 105));
    pass.on_piece(1, at(begin + 110));
    pass.on_piece(1, at(begin + 130));
    EXPECT_FALSE(pass.complete());
    pass.on_piece(3, at(begin + 400));
    ASSERT_TRUE(pass.complete());
    EXPECT_EQ(pass.first(), at(begin + 100));
    const auto result = pass.run(microseconds(100));
    EXPECT_EQ(result.end, at(begin + 420));
    EXPECT_EQ(result.waited, Duration(microseconds(220)));
  }
}

// Parameters are there at 0; layers of 40 and 60 us. Blocked from 10 to 15 (in layer 0), from 45 to
// 50 (as layer 0 ends) and from 200 on, when the pass is over.
//   layer 0   0 to 10, 15 to 45     layer 1   50 to 110
TEST(ForwardPass, ItStandsStillWhileTheWorkerIsBlocked) {
  const double shares[] = {0.4, 0.6};
  ForwardPass pass({1, 1}, shares);
  pass.begin();
  pass.on_blocked(at(-20), at(-10));
  pass.on_piece(0, at(0));
  pass.on_piece(1, at(0));
  pass.on_blocked(at(10), at(15));
  pass.on_blocked(at(45), at(50));
  pass.on_blocked(at(200), at(300));
  EXPECT_EQ(pass.run(microseconds(100)).end, at(110));
  EXPECT_EQ(pass.run(microseconds(100)).waited, Duration::zero());
  pass.begin();
  pass.on_piece(0, at(0));
  pass.on_piece(1, at(0));
  EXPECT_EQ(pass.run(microseconds(100)).end, at(100)) << "of this iteration only";
}

TEST(PieceStream, APieceIsThereWithItsLastByte) {
  PieceStream stream(3);
  std::vector<std::uint32_t> there;
  const auto deliver = [&](std::uint64_t bytes) {
    stream.deliver(bytes, [&](std::uint32_t piece) { there.push_back(piece); });
    return there;
  };
  using Pieces = std::vector<std::uint32_t>;
  stream.append(7, 10);
  stream.append(2, 1);
  EXPECT_EQ(deliver(9), Pieces{});
  EXPECT_EQ(deliver(10), (Pieces{7}));
  stream.append(7, 5);
  EXPECT_EQ(deliver(16), (Pieces{7, 2, 7}));
  EXPECT_EQ(deliver(16), (Pieces{7, 2, 7})) << "once";
}

ModelProfile four_tensors() {
  ModelProfile m;
  m.tensors = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}};
  m.total_bytes = 4;
  m.forward = microseconds(50);
  m.backward = microseconds(100);
  return m;
}

TEST(ReleaseProfile, WithoutStepsTensorsTakeEqualShares) {
  const auto ready = ready_shares(four_tensors());
  EXPECT_EQ(ready, (std::vector<double>{1, 0.75, 0.5, 0.25}));
  EXPECT_EQ(forward_shares(ready), (std::vector<double>{0.25, 0.25, 0.25, 0.25}));
}

TEST(ReleaseProfile, StepsReleaseTheirTensorsTogether) {
  ModelProfile m = four_tensors();
  m.steps = {{3, microseconds(20)}, {1, microseconds(60)}, {0, microseconds(20)}};
  const auto ready = ready_shares(m);
  EXPECT_EQ(ready, (std::vector<double>{1, 0.8, 0.8, 0.2}));
  const auto forward = forward_shares(ready);
  const double expected[] = {0.2, 0.3, 0.3, 0.2};
  for (std::size_t t = 0; t < 4; ++t) EXPECT_DOUBLE_EQ(forward[t], expected[t]);
}

// What Prophet's rule makes of the published backward pass: its 12 steps, and the gaps.
TEST(ReleaseProfile, ProphetFindsThePublishedStepsOfResNet50) {
  const auto profile = load_model_profile(source_path("conf/models/resnet50-steps.toml"));
  ASSERT_TRUE(profile);
  std::vector<Duration> ready_at;
  for (const double share : ready_shares(*profile.config))
    ready_at.push_back(from_seconds(seconds(*profile.config->backward) * share));
  const auto steps = prophet_steps(ready_at);
  const std::int64_t gaps_ms[] = {16, 15, 9, 10, 12, 18, 15, 21, 30, 25, 20, 0};
  ASSERT_EQ(steps.size(), std::size(gaps_ms));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].last_tensor, profile.config->steps[i].first_tensor);
    EXPECT_NEAR(seconds(steps[i].gap), static_cast<double>(gaps_ms[i]) / 1e3, 1e-8);
  }
}

}  // namespace
}  // namespace outrider::forward_pass_test
