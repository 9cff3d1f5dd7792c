// Goal: a tag depends on every byte of the message, on both addresses and both ports, and on
// nothing else; and it is the one that the header describes.
// Method: the signed bytes written by hand and hashed, and every bit flipped.
#include "common/net/signal_tag.h"

#include <gtest/gtest.h>
#include <sodium/crypto_shorthash_siphash24.h>

#include <algorithm>
#include <array>
#include <vector>

namespace outrider::signal_tag_test {
namespace {

using namespace std::chrono_literals;
using udp_signal::is_signed_by;
using udp_signal::kBytes;
using udp_signal::Kind;
using udp_signal::Signal;
using Bytes = std::array<std::uint8_t, kBytes>;

constexpr SignalKey kKey{7, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
constexpr FlowKey kDatagram{0x0A000101, 0x0A000201, 5900, 5901};
constexpr Signal kStart{.kind = Kind::kStart,
                        .threshold_packets = 10,
                        .identity = {1, 2, 3, BurstDirection::kPush},
                        .burst_bytes = 1'000'000,
                        .due_in = 2ms,
                        .source_port = 40'000,
                        .destination_port = 5000,
                        .sequence = 77,
                        .counter = 1'700'000'000'000'000'000};

Signal signed_start() {
  Signal start = kStart;
  udp_signal::sign(start, kKey, kDatagram);
  return start;
}

TEST(SignalTag, IsSipHashOfTheMessageAndTheDatagramsEnds) {
  const Signal start = signed_start();
  Bytes message{};
  udp_signal::encode(start, message);
  std::vector<std::uint8_t> text(message.begin(), message.begin() + 48);
  for (const int byte : {0x0A, 0, 1, 1, 0x0A, 0, 2, 1, 0x17, 0x0C, 0x17, 0x0D})
    text.push_back(static_cast<std::uint8_t>(byte));
  std::array<std::uint8_t, 16> expected{};
  crypto_shorthash_siphashx24(expected.data(), text.data(), text.size(), kKey.secret.data());
  EXPECT_EQ(start.proof->key_id, 7);
  EXPECT_EQ(start.proof->tag, expected);
  EXPECT_TRUE(is_signed_by(start, kKey, kDatagram));
}

TEST(SignalTag, AnyFlippedBitOfTheMessageIsNoticed) {
  Bytes message{};
  udp_signal::encode(signed_start(), message);
  int read = 0;
  for (std::size_t bit = 0; bit < 8 * kBytes; ++bit) {
    Bytes flipped = message;
    flipped[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
    Signal signal;
    if (udp_signal::decode(flipped, Duration::max(), signal)) continue;
    ++read;
    EXPECT_FALSE(is_signed_by(signal, kKey, kDatagram)) << "bit " << bit;
  }
  EXPECT_GT(read, 400) << "most flipped messages are well-formed";
}

TEST(SignalTag, OtherEndsAndOtherKeysAreNoticed) {
  const Signal start = signed_start();
  FlowKey other = kDatagram;
  ++other.source_address;
  EXPECT_FALSE(is_signed_by(start, kKey, other));
  other = kDatagram, ++other.destination_address;
  EXPECT_FALSE(is_signed_by(start, kKey, other));
  other = kDatagram, ++other.source_port;
  EXPECT_FALSE(is_signed_by(start, kKey, other));
  other = kDatagram, ++other.destination_port;
  EXPECT_FALSE(is_signed_by(start, kKey, other));
  EXPECT_FALSE(is_signed_by(start, kKey, kDatagram.reversed()));

  SignalKey key = kKey;
  key.id = 8;
  EXPECT_FALSE(is_signed_by(start, key, kDatagram));
  key = kKey, key.secret[15] ^= 1;
  EXPECT_FALSE(is_signed_by(start, key, kDatagram));
}

TEST(SignalTag, AnAckThatRepeatsTheTagIsSignedOnItsWayBack) {
  Signal ack = signed_start();
  ack.kind = Kind::kAck;
  EXPECT_TRUE(is_signed_by(ack, kKey, kDatagram.reversed()));
  EXPECT_FALSE(is_signed_by(ack, kKey, kDatagram));
  ++ack.identity.iteration;
  EXPECT_FALSE(is_signed_by(ack, kKey, kDatagram.reversed()));
}

}  // namespace
}  // namespace outrider::signal_tag_test
