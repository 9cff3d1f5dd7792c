// Goal: segments that no receiver would accept change neither a flow's window nor its
// neighbour's. Method: two scenes with the same traffic, of which one also gets the forged
// segments; everything that both tell their senders must be equal.
#include <gtest/gtest.h>

#include <vector>

#include "common/core/random.h"
#include "tests/unit/regulation/window_scene.h"

namespace outrider::window_forgery_test {
namespace {

constexpr std::uint32_t kFirst = Scene::kFirst;

struct Forged {
  const char* what;
  bool data_direction;
  TcpView segment;  ///< numbers count from the flow's first byte
};

/// Two flows stand, are held, and released; `forge` may insert segments at every step.
template <class Forge>
std::vector<std::uint32_t> told(Forge forge) {
  Scene s(kComplement);
  std::vector<std::uint32_t> windows;
  for (const std::uint32_t f : {0U, 1U}) s.open(f);
  for (const std::uint32_t f : {0U, 1U}) s.cruise(f, 20);
  for (int step = 0; step < 60; ++step) {
    if (step == 10) s.start(100'000);
    if (step > 10 && step < 50)
      s.clamp.on_burst_payload(kWorker, 1000 + static_cast<std::uint32_t>(step - 11) * 2'600, 2'600,
                               s.queue, s.now);
    for (const std::uint32_t f : {0U, 1U}) {
      forge(s);
      const std::uint32_t waiting = (s.sent[f] - s.acked[f]) / kSegment;
      windows.push_back(s.acked[f] + s.answer(f, waiting > 0 ? 1 : 0));
      forge(s);
      if (s.sent[f] + kSegment <= windows.back()) s.send(f);
      s.now += 200us;
    }
  }
  return windows;
}

TcpView of_flow_0(const Scene& s, bool data_direction, TcpView segment) {
  segment.flow = s.segment(0, data_direction).flow;
  segment.frame_bytes = 66;
  segment.sequence += kFirst;
  segment.acknowledgment += kFirst;
  return segment;
}

void hand_in(Scene& s, bool data_direction, const TcpView& segment) {
  if (data_direction) s.clamp.on_data(segment, s.queue, s.now);
  else static_cast<void>(s.clamp.on_answer(segment, s.queue, s.now));
}

TEST(WindowForgery, WhatNoReceiverAcceptsChangesNoWindow) {
  constexpr std::uint32_t kFar = 1'000'000'000;
  const auto untouched = told([](Scene&) {});
  const Forged cases[] = {
      {"SYN-ACK with another scale",
       false,
       {.flow = {},
        .acknowledgment = 0,
        .window = 65'535,
        .syn = true,
        .ack = true,
        .window_scale = 14}},
      {"the SYN-ACK again",
       false,
       {.flow = {},
        .acknowledgment = 0,
        .window = 65'535,
        .syn = true,
        .ack = true,
        .window_scale = kScale}},
      {"SYN of the sender",
       true,
       {.flow = {}, .sequence = 77'777, .window = 1'000, .syn = true, .window_scale = 0}},
      {"SYN of the receiver",
       false,
       {.flow = {}, .sequence = 77'777, .window = 1'000, .syn = true, .window_scale = 0}},
      {"SYN-ACK of the sender",
       true,
       {.flow = {}, .sequence = 5, .syn = true, .ack = true, .window_scale = 9}},
      {"authenticated SYN", true, {.flow = {}, .syn = true, .authenticated = true}},
      {"a byte far ahead", true, {.flow = {}, .sequence = kFar, .payload_bytes = 1, .ack = true}},
      {"a byte far behind",
       true,
       {.flow = {}, .sequence = 0U - 2 * kFar, .payload_bytes = 1, .ack = true}},
      {"RST beyond the window", true, {.flow = {}, .sequence = kFar, .rst = true}},
      {"RST below the window", true, {.flow = {}, .sequence = 0U - 1, .rst = true}},
      {"FIN beyond the window", true, {.flow = {}, .sequence = kFar, .ack = true, .fin = true}},
      {"ACK of what never passed",
       false,
       {.flow = {}, .acknowledgment = kFar, .window = 9, .ack = true}},
      {"ACK of long ago",
       false,
       {.flow = {},
        .acknowledgment = 0U - 2 * kFar,
        .window = 65'535,
        .ack = true,
        .sack_blocks = true}},
  };
  for (const auto& c : cases)
    EXPECT_EQ(told([&c](Scene& s) {
                hand_in(s, c.data_direction, of_flow_0(s, c.data_direction, c.segment));
              }),
              untouched)
        << c.what;
}

// Numbers within a window are left out, because nothing tells such a segment from a true one.
TEST(WindowForgery, RandomSegmentsOutsideTheWindowsChangeNoWindow) {
  const auto untouched = told([](Scene&) {});
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    const auto forge = [&random](Scene& s) {
      const std::uint32_t flags = random.next_u32();
      const bool data_direction = (flags & 1) != 0;
      constexpr std::uint32_t kWindow = 1U << 23;  // more than a receiver of the scene offers
      const std::uint32_t outside = kWindow + random.next_u32() % (0U - 2 * kWindow);
      TcpView segment{.flow = {},
                      .sequence = outside,
                      .acknowledgment = outside,
                      .window = static_cast<std::uint16_t>(random.next_u32()),
                      .payload_bytes = static_cast<std::uint16_t>(random.next_u32() % 1'460),
                      .syn = (flags & 2) != 0,
                      .ack = (flags & 4) != 0,
                      .fin = (flags & 8) != 0,
                      .rst = (flags & 16) != 0,
                      .sack_blocks = (flags & 32) != 0,
                      .authenticated = (flags & 64) != 0,
                      .window_scale = static_cast<std::int8_t>(random.next_u32() % 15)};
      hand_in(s, data_direction, of_flow_0(s, data_direction, segment));
    };
    ASSERT_EQ(told(forge), untouched) << "seed " << seed;
  }
}

// Two guesses within the window: data that the sender never sent, and their acknowledgment. The
// sender ignores both, and the receiver's answers look old until they have caught up.
TEST(WindowForgery, ForgedDataAndTheirAcknowledgmentNeitherFreeTheFlowNorMoveItsEdgeLeft) {
  Scene s(kStrict);
  s.open(0);
  s.cruise(0, 20);
  s.start();
  const auto tell = [&s] { return s.acked[0] + s.answer(0, 1); };
  std::uint32_t edge = tell();
  constexpr std::uint32_t kAhead = 100'000;
  TcpView data = s.segment(0, true);
  data.sequence = kFirst + s.sent[0] + kAhead;
  data.payload_bytes = kSegment;
  s.clamp.on_data(data, s.queue, s.now);
  TcpView answer = s.segment(0, false);
  answer.acknowledgment = data.sequence + kSegment;
  answer.window = kTrueWindow;
  static_cast<void>(s.clamp.on_answer(answer, s.queue, s.now));
  const std::uint32_t furthest = s.clamp.flow(flow(0))->edge - kFirst;
  ASSERT_LT(furthest, s.sent[0] + 2 * kAhead) << "the forged answer was held as well";
  for (int i = 0; i < 150; ++i) {
    s.now += 200us;
    const std::uint32_t next = tell();
    ASSERT_GE(next + (1U << kScale), edge) << "answer " << i;
    ASSERT_LE(next, std::max(furthest, s.acked[0] + kAhead) + (1U << kScale)) << "answer " << i;
    edge = std::max(edge, next);
    while (s.sent[0] + kSegment <= edge) s.send(0);
  }
  EXPECT_GT(s.acked[0], data.sequence + kSegment - kFirst) << "they have caught up";
  EXPECT_GT(s.reason(WindowReason::kOld), 20U);
}

TEST(WindowForgery, AResetThatIsNotTheSendersDoesNotFreeTheFlow) {
  Scene s(kStrict);
  s.open(0);
  s.cruise(0, 20);
  TcpView reset = s.segment(0, true);
  reset.rst = true;
  reset.sequence = kFirst + s.acked[0];  // within the window: a receiver would be taken in
  s.clamp.on_data(reset, s.queue, s.now);
  EXPECT_TRUE(s.clamp.flow(flow(0))->closing);
  s.send(0);
  EXPECT_FALSE(s.clamp.flow(flow(0))->closing) << "the connection lives";
}

// The answer in between leaves as it came, and the next one repeats it.
TEST(WindowForgery, AForgedEndDoesNotCloseTheWindow) {
  Scene s(kStrict);
  s.open(0);
  s.send(0, 10);
  TcpView fin = s.segment(0, true);
  fin.fin = true;
  fin.sequence = kFirst + s.sent[0];
  s.clamp.on_data(fin, s.queue, s.now);
  ASSERT_TRUE(s.clamp.flow(flow(0))->closing);
  const std::uint32_t true_window = s.answer(0, 1);
  s.send(0);
  EXPECT_EQ(s.answer(0, 0), true_window);
}

TEST(WindowForgery, AConnectionThatEndedUnseenMayBeginAnewAfterASilence) {
  Scene s(kStrict);
  s.open(0);
  s.cruise(0, 20);
  s.now += WindowFlow::kSilence + 1ms;
  s.open(0);
  EXPECT_EQ(s.clamp.flow(flow(0))->sent_bytes, 0U);
  EXPECT_TRUE(s.clamp.flow(flow(0))->known());
}

}  // namespace
}  // namespace outrider::window_forgery_test
