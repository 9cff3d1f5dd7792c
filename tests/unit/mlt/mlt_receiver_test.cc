// Goal: the receiver sends STOP exactly when the bound allows, reports missing packets, and
// accepts packets in any order and more than once.
#include "trafficgen/mlt/mlt_receiver.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "trafficgen/mlt/packet_tags.h"

namespace outrider::mlt_receiver_test {
using namespace tg;
namespace {

using mlt::Kind;
using mlt::Message;

constexpr BurstIdentity kBurst{7, 3, 5, BurstDirection::kPush};

/// Returns a receiver of ten packets, nine of 1000 bytes and one of 400, and a tensor of one value.
MltReceiver receiver_of(double tolerance, std::uint32_t feedback_packets = 100) {
  MltReceiver r(
      {.tensors = {{.bytes = 9400, .tolerance = tolerance}, {.bytes = 4, .tolerance = tolerance}},
       .packet_bytes = 1000,
       .feedback_packets = feedback_packets});
  r.begin(kBurst);
  return r;
}

Message data(std::uint32_t tensor, std::uint32_t packet, std::uint16_t length = 1000) {
  return {.kind = Kind::kData,
          .identity = kBurst,
          .tensor = tensor,
          .offset_values = packet * 250,
          .length_bytes = length,
          .transmitted_bytes = packet * 1000 + length};
}

Message probe(std::uint32_t tensor, std::uint32_t number) {
  return {.kind = Kind::kProbe,
          .asks = true,
          .identity = kBurst,
          .tensor = tensor,
          .transmitted_bytes = 9400,
          .probe = number};
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> missing(const MltReceiver& r,
                                                             std::uint32_t tensor) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parts;
  r.for_each_missing(tensor, [&](auto at, auto bytes) { parts.emplace_back(at, bytes); });
  return parts;
}

// A fifth of 9400 B is 1880 B, so 7520 B are enough and 7400 B are not.
TEST(MltReceiver, SaysStopWhenTheBoundAllows) {
  MltReceiver r = receiver_of(0.2);
  for (const std::uint32_t p : {8U, 0U, 5U, 2U, 1U, 3U, 7U}) {
    EXPECT_FALSE(r.on_message(data(0, p), false).satisfied) << p;
    EXPECT_FALSE(r.has_answer()) << p;
  }
  EXPECT_FALSE(r.on_message(data(0, 9, 400), false).satisfied) << "7400 bytes";
  EXPECT_EQ(missing(r, 0), (decltype(missing(r, 0)){{4000, 1000}, {6000, 1000}}));
  const auto event = r.on_message(data(0, 6), false);
  EXPECT_TRUE(event.satisfied);
  EXPECT_FALSE(event.complete) << "the other tensor";
  ASSERT_TRUE(r.has_answer());
  const Message stop = r.next_answer();
  EXPECT_EQ(stop, (Message{.kind = Kind::kStop, .identity = kBurst, .tensor = 0}));
  EXPECT_FALSE(r.has_answer());
  EXPECT_EQ(missing(r, 0), (decltype(missing(r, 0)){{4000, 1000}}));
  // Later packets are still accepted until the burst is complete.
  EXPECT_EQ(r.on_message(data(0, 4), false).new_bytes, 1000U);
  EXPECT_EQ(r.delivered_bytes(), 9400U);
  EXPECT_TRUE(missing(r, 0).empty());
}

TEST(MltReceiver, WithoutToleranceEveryByteCounts) {
  MltReceiver r = receiver_of(0);
  for (std::uint32_t p = 0; p < 9; ++p) EXPECT_FALSE(r.on_message(data(0, p), false).satisfied);
  EXPECT_TRUE(r.on_message(data(0, 9, 400), false).satisfied);
  EXPECT_TRUE(r.on_message(data(1, 0, 4), false).complete);
  EXPECT_TRUE(r.complete());
}

// A share of a single packet is never a whole packet, so a tiny tensor must arrive.
TEST(MltReceiver, ATensorOfOnePacketIsNotTolerated) {
  MltReceiver r = receiver_of(0.99);
  EXPECT_FALSE(r.satisfied(1));
  EXPECT_TRUE(r.on_message(data(1, 0, 4), false).satisfied);
}

TEST(MltReceiver, TellsWhatIsMissing) {
  MltReceiver r = receiver_of(0);
  for (const std::uint32_t p : {0U, 3U, 8U}) r.on_message(data(0, p), false);
  r.on_message(probe(0, 11), false);
  const Message feedback = r.next_answer();
  EXPECT_EQ(feedback.kind, Kind::kFeedback);
  EXPECT_EQ(feedback.seen_bytes, 9400U) << "the probe says what has left";
  EXPECT_EQ(feedback.received_bytes, 3000U);
  const Message bitmap = r.next_answer();
  EXPECT_EQ(bitmap.kind, Kind::kBitmap);
  EXPECT_EQ(bitmap.probe, 11U);
  EXPECT_EQ(bitmap.first_packet, 0U);
  EXPECT_EQ(bitmap.bits[0], 0b0000'1001);
  EXPECT_EQ(bitmap.bits[1], 0b0000'0001);
  EXPECT_FALSE(r.has_answer());
}

// 1000 packets are six parts of 192. Only the two parts with missing packets are reported.
TEST(MltReceiver, LeavesOutPartsThatAreComplete) {
  MltReceiver r({.tensors = {{.bytes = 4000}}, .packet_bytes = 4, .feedback_packets = 1000});
  r.begin(kBurst);
  for (std::uint32_t p = 0; p < 1000; ++p) {
    Message m = data(0, 0, 4);
    m.offset_values = p;
    if (p != 200 && p != 999) r.on_message(m, false);
  }
  r.on_message(probe(0, 1), false);
  (void)r.next_answer();  // feedback
  const Message first = r.next_answer();
  EXPECT_EQ(first.first_packet, 192U);
  EXPECT_EQ(first.bits[1], 0xFE) << "packet 200";
  const Message last = r.next_answer();
  EXPECT_EQ(last.first_packet, 960U);
  EXPECT_EQ(last.bits[4], 0x7F) << "packet 999";
  EXPECT_FALSE(r.has_answer());
}

TEST(MltReceiver, CountsCopiesOnce) {
  MltReceiver r = receiver_of(0);
  EXPECT_EQ(r.on_message(data(0, 4), true).new_bytes, 1000U);
  EXPECT_EQ(r.on_message(data(0, 4), false).new_bytes, 0U);
  EXPECT_EQ(r.delivered_bytes(), 1000U);
  EXPECT_EQ(r.counters().duplicate, 1U);
  EXPECT_EQ(r.counters().marked, 1U);
}

TEST(MltReceiver, SpeaksEverySoManyPacketsOrWhenAsked) {
  MltReceiver r = receiver_of(0, 3);
  for (std::uint32_t p = 0; p < 2; ++p) r.on_message(data(0, p), p == 0);
  EXPECT_FALSE(r.has_answer());
  r.on_message(data(0, 2), true);
  const Message feedback = r.next_answer();
  EXPECT_EQ(feedback.seen_bytes, 3000U);
  EXPECT_EQ(feedback.received_bytes, 3000U);
  EXPECT_EQ(feedback.marked_bytes, 2000U);
  Message asks = data(0, 3);
  asks.asks = true;
  r.on_message(asks, false);
  EXPECT_TRUE(r.has_answer());
}

// Questions about an earlier burst are answered with STOP, because it is over.
TEST(MltReceiver, AnswersForEarlierBursts) {
  MltReceiver r = receiver_of(0);
  BurstIdentity next = kBurst;
  ++next.iteration;
  r.begin(next);
  EXPECT_FALSE(r.on_message(probe(0, 4), false).refused);
  (void)r.next_answer();
  const Message stop = r.next_answer();
  EXPECT_EQ(stop.kind, Kind::kStop);
  EXPECT_EQ(stop.identity, kBurst);
  EXPECT_EQ(stop.probe, 4U);
  EXPECT_EQ(r.on_message(data(0, 1), false).new_bytes, 0U);
  EXPECT_EQ(r.counters().late, 1U);
}

TEST(MltReceiver, RefusesWhatWasNotAgreedOn) {
  MltReceiver r = receiver_of(0);
  const auto refused = [&r](Message m) { return r.on_message(m, false).refused; };
  EXPECT_TRUE(refused(data(2, 0))) << "no such tensor";
  EXPECT_TRUE(refused(data(0, 9, 1000))) << "longer than the tensor";
  EXPECT_TRUE(refused(data(0, 10, 400))) << "behind it";
  EXPECT_TRUE(refused(data(0, 0, 996))) << "not a packet of it";
  Message shifted = data(0, 0);
  shifted.offset_values = 1;
  EXPECT_TRUE(refused(shifted));
  Message future = data(0, 0);
  ++future.identity.iteration;
  EXPECT_TRUE(refused(future));
  Message other = data(0, 0);
  other.identity.worker = 4;
  EXPECT_TRUE(refused(other));
  EXPECT_EQ(r.counters().data, 0U);
  EXPECT_FALSE(r.has_answer());
}

TEST(PacketTags, SmallOnesAreAShareAndKeepTheirRank) {
  const PacketTags tags(true, 0.3, 42);
  const MltTensor tensor{.bytes = 4, .dscp = 46};
  std::uint32_t droppable = 0, changed = 0;
  BurstIdentity next = kBurst;
  ++next.iteration;
  for (std::uint32_t p = 0; p < 100'000; ++p) {
    const auto rank = [&] { return tags.drawn_rank(2, p, kBurst); };
    const bool drop = tags.droppable(tensor, rank);
    droppable += drop ? 1 : 0;
    EXPECT_EQ(tags.droppable(tensor, rank), drop);
    EXPECT_EQ(tags.tos(tensor, rank), 46 << 2 | (drop ? 0 : 2));
    changed += tags.droppable(tensor, [&] { return tags.drawn_rank(2, p, next); }) != drop ? 1 : 0;
  }
  EXPECT_NEAR(droppable, 30'000, 600) << "4 standard deviations";
  EXPECT_NEAR(changed, 42'000, 700) << "drawn anew for each burst: 2 x 0.3 x 0.7";
}

TEST(PacketTags, FrontLayersAreNeverEct) {
  const MltTensor front{.bytes = 4, .droppable = true};
  const auto lowest = [] { return 0U; };
  EXPECT_TRUE(PacketTags(true, 0, 1).droppable(front, lowest));
  EXPECT_TRUE(PacketTags(true, 0.5, 1).droppable(front, [] { return ~0U; }));
  EXPECT_FALSE(PacketTags(true, 0, 1).droppable({.bytes = 4}, lowest));
  EXPECT_TRUE(PacketTags(false, 0, 1).droppable({.bytes = 4}, lowest)) << "without ECN";
}

}  // namespace
}  // namespace outrider::mlt_receiver_test
