// Goal: an agent counts as answers only what answers its STARTs. Method: ACKs as a stranger, an
// eavesdropper and the server send them.
#include "tools/hostagent/signals/ack_check.h"

#include <gtest/gtest.h>

namespace outrider::ack_check_test {
using namespace agent;
namespace {

constexpr SignalKey kKey{.id = 9, .secret = {1, 2, 3}};
constexpr SignalKey kOtherKey{.id = 9, .secret = {1, 2, 4}};
constexpr FlowKey kStart{0x0A000101, 0x0A000301, 5900, 5900};  // of the START's datagram
constexpr std::uint64_t kBegun_ns = 1'000'000;

udp_signal::Signal ack(std::uint64_t counter, const SignalKey* key) {
  udp_signal::Signal signal{
      .threshold_packets = 10, .source_port = 40'000, .destination_port = 5000, .counter = counter};
  if (key != nullptr) udp_signal::sign(signal, *key, kStart);
  signal.kind = udp_signal::Kind::kAck;
  return signal;
}

TEST(AckCheck, OfSignedStarts) {
  AckCheck check(kKey, kBegun_ns);
  const FlowKey back = kStart.reversed();
  EXPECT_TRUE(check.believes(ack(kBegun_ns + 2, &kKey), back));
  EXPECT_FALSE(check.believes(ack(kBegun_ns + 2, &kKey), back)) << "once";
  EXPECT_TRUE(check.believes(ack(kBegun_ns + 1, &kKey), back)) << "answers overtake each other";
  EXPECT_FALSE(check.believes(ack(kBegun_ns, &kKey), back)) << "of an agent before this one";
  EXPECT_FALSE(check.believes(ack(kBegun_ns + 3, &kOtherKey), back));
  EXPECT_FALSE(check.believes(ack(kBegun_ns + 3, nullptr), back));
  EXPECT_FALSE(check.believes(ack(kBegun_ns + 3, &kKey), kStart)) << "another server's";
  EXPECT_TRUE(check.believes(ack(kBegun_ns + 3, &kKey), back)) << "what was refused took nothing";
}

TEST(AckCheck, OfUnsignedStarts) {
  AckCheck check(std::nullopt, kBegun_ns);
  EXPECT_TRUE(check.believes(ack(0, nullptr), kStart.reversed()));
  EXPECT_FALSE(check.believes(ack(kBegun_ns + 1, &kKey), kStart.reversed()));
}

}  // namespace
}  // namespace outrider::ack_check_test
