#include "common/net/tos_signal.h"

#include <gtest/gtest.h>

namespace outrider::tos_signal_test {
namespace {

using tos_signal::Kind;

// From the paper's bit order, by hand.
TEST(TosSignal, LiteralBytes) {
  struct Row {
    Kind kind;
    std::uint16_t threshold;
    std::uint8_t ecn, tos;
    const char* why;
  };
  constexpr Row kRows[] = {
      {Kind::kStart, 10, 2, 0x8A, "1 0 0010 10: START, 2 x 5, ECT(0)"},
      {Kind::kStart, 5, 0, 0x84, "1 0 0001 00: the lowest threshold, Not-ECT"},
      {Kind::kStart, 75, 3, 0xBF, "1 0 1111 11: the highest, CE"},
      {Kind::kAck, 10, 2, 0x4A, "0 1 0010 10: its answer"},
      {Kind::kAck, 75, 1, 0x7D, "0 1 1111 01"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(tos_signal::encode({row.kind, row.threshold}, row.ecn), row.tos) << row.why;
    const auto decoded = tos_signal::decode(row.tos);
    ASSERT_TRUE(decoded.has_value()) << row.why;
    EXPECT_EQ(decoded->kind, row.kind) << row.why;
    EXPECT_EQ(decoded->threshold_packets, row.threshold) << row.why;
  }
}

TEST(TosSignal, EveryByteReadsAsTheFormatSays) {
  unsigned signals = 0;
  for (unsigned tos = 0; tos < 256; ++tos) {
    const bool start = tos >= 128, ack = (tos / 64) % 2 == 1;
    const auto decoded = tos_signal::decode(static_cast<std::uint8_t>(tos));
    ASSERT_EQ(decoded.has_value(), start != ack) << tos;
    if (!decoded) continue;
    ++signals;
    EXPECT_EQ(decoded->kind, start ? Kind::kStart : Kind::kAck);
    EXPECT_EQ(decoded->threshold_packets, 5 * ((tos / 4) % 16));
    EXPECT_EQ(tos_signal::encode(*decoded, static_cast<std::uint8_t>(tos % 4)), tos)
        << "round trip";
  }
  EXPECT_EQ(signals, 128U);
}

TEST(TosSignal, OnlyMultiplesOfFiveUpTo75CanTravel) {
  for (unsigned h = 0; h <= 400; ++h)
    EXPECT_EQ(tos_signal::is_encodable(h), h != 0 && h % 5 == 0 && h <= 75) << h;
}

TEST(TosSignal, EcnOfTheSignalStaysInItsTwoBits) {
  EXPECT_EQ(tos_signal::encode({Kind::kStart, 10}, 0xFE), 0x8A);
}

}  // namespace
}  // namespace outrider::tos_signal_test
