// Goal: a switch reads of a segment what its end wrote, and nothing beyond its options.
// Method: segments of the generator's encoder; option lists by hand; random bytes.
#include "switch/forwarding/tcp_view_reader.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "common/net/tcp_segment.h"

namespace outrider::tcp_view_reader_test {
namespace {

constexpr FlowKey kFlow{0x0A000001, 0x0A000002, 40000, 20000};

TcpView view_of(const TcpSegment& s) {
  std::vector<std::uint8_t> bytes(tcp_header_bytes(s));
  encode_tcp(s, kFlow.source_port, kFlow.destination_port, bytes);
  return read_tcp_view(bytes, kFlow, s.payload_bytes, 1514);
}

TcpView with_options(std::vector<std::uint8_t> options, bool syn = true) {
  std::vector<std::uint8_t> bytes(sizeof(TcpHeader));
  bytes[13] = syn ? kTcpSyn : kTcpAck;
  bytes.insert(bytes.end(), options.begin(), options.end());
  return read_tcp_view(bytes, kFlow, 0, 60);
}

TEST(TcpViewReader, ReadsWhatTheEndWrote) {
  const TcpView syn = view_of({.sequence = 7,
                               .flags = kTcpSyn,
                               .window = 65535,
                               .mss = 1460,
                               .window_scale = 7,
                               .sack_permitted = true});
  EXPECT_TRUE(syn.syn && !syn.ack && !syn.fin && !syn.rst);
  EXPECT_EQ(syn.window_scale, 7);
  EXPECT_EQ(syn.sequence, 7U);
  EXPECT_FALSE(syn.sack_blocks) << "that SACK is permitted reports nothing";
  TcpSegment ack{.sequence = 8, .acknowledgment = 99, .flags = kTcpAck, .window = 500};
  ack.has_timestamps = true;
  EXPECT_FALSE(view_of(ack).sack_blocks);
  ack.sack_blocks = 1;
  ack.sack[0] = {2000, 3000};
  const TcpView reports = view_of(ack);
  EXPECT_TRUE(reports.sack_blocks && reports.ack);
  EXPECT_EQ(reports.acknowledgment, 99U);
  EXPECT_EQ(reports.window, 500U);
  EXPECT_EQ(reports.window_scale, -1);
  EXPECT_EQ(reports.flow, kFlow);
  EXPECT_EQ(reports.frame_bytes, 1514U);
}

TEST(TcpViewReader, Timestamps) {
  TcpSegment segment{.sequence = 8, .acknowledgment = 99, .flags = kTcpAck, .window = 500};
  segment.has_timestamps = true;
  segment.ts_value = 0x01020304;
  segment.ts_echo = 9;
  const TcpView v = view_of(segment);
  EXPECT_TRUE(v.timestamps);
  EXPECT_EQ(v.ts_value, 0x01020304U);
  EXPECT_EQ(v.ts_echo, 9U);
  EXPECT_FALSE(with_options({8, 9, 0, 0, 0, 1, 0, 0, 0, 2}, false).timestamps) << "a byte short";
}

TEST(TcpViewReader, OptionsByHand) {
  EXPECT_EQ(with_options({1, 3, 3, 9}).window_scale, 9);
  EXPECT_EQ(with_options({1, 3, 3, 200}).window_scale, 14) << "RFC 7323, 2.3";
  EXPECT_EQ(with_options({1, 3, 3, 9}, false).window_scale, -1) << "only a SYN has it";
  EXPECT_EQ(with_options({0, 3, 3, 9}).window_scale, -1) << "beyond the end of the list";
  EXPECT_EQ(with_options({3, 4, 9, 0}).window_scale, -1) << "another length";
  EXPECT_EQ(with_options({8, 0, 3, 3, 9}).window_scale, -1) << "impossible length";
  EXPECT_EQ(with_options({3, 9}).window_scale, -1) << "longer than the header";
  EXPECT_EQ(with_options({3}).window_scale, -1);
  EXPECT_TRUE(
      with_options({1, 1, 19, 18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}).authenticated);
  EXPECT_TRUE(with_options({29, 4, 1, 1}).authenticated);
  EXPECT_FALSE(with_options({2, 4, 5, 180}).authenticated);
  EXPECT_FALSE(with_options({5, 2}, false).sack_blocks) << "no block";
}

TEST(TcpViewReader, RandomBytesStayWithinTheHeader) {
  std::mt19937_64 random(3);
  std::uint64_t scales = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::vector<std::uint8_t> options(random() % 41);
    for (auto& b : options) b = static_cast<std::uint8_t>(random() % 12);
    scales += with_options(options).window_scale >= 0;  // ASan sees what is read
  }
  EXPECT_GT(scales, 1000U);
}

}  // namespace
}  // namespace outrider::tcp_view_reader_test
