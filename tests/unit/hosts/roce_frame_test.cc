// Goal: frames of RoCEv2 as hosts write them are read again with their ICRC, whatever turns a bit,
// and Wireshark's dissector reads in them what was written.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "common/dpdk/packet/known_headers.h"
#include "common/net/checksum.h"
#include "common/net/roce.h"
#include "common/net/roce_telemetry.h"
#include "switch/forwarding/parse_headers.h"
#include "tests/support/pool.h"
#include "trafficgen/frames/datagram_frame.h"
#include "trafficgen/frames/ipv4_frame.h"
#include "trafficgen/frames/roce_key.h"
#include "trafficgen/frames/stale_trailer.h"

namespace outrider::roce_frame_test {
using namespace tg;
namespace {

constexpr FlowKey kFlow{0x0A000101, 0x0A000201, 40'000, roce::kPort};
constexpr std::uint32_t kIpAt = 14;

OutgoingDatagram datagram_of(const roce::Message& m) {
  OutgoingDatagram out;
  out.head_bytes = roce::encode(m, std::span(out.head).first<roce::kMaxHeaderBytes>());
  out.value_bytes = m.payload_bytes + roce::pad_of(m.payload_bytes);
  out.tos = 2;
  out.icrc = true;
  return out;
}

const std::vector<roce::Message>& examples() {
  static const std::vector<roce::Message> kExamples{
      {.opcode = roce::Opcode::kWriteFirst,
       .destination_qp = 0x8001,
       .psn = 0xFFFFFE,
       .address = 4096,
       .key = 7,
       .length_bytes = 1500,
       .payload_bytes = 1024},
      {.opcode = roce::Opcode::kWriteLastImmediate,
       .asks = true,
       .destination_qp = 0x8001,
       .psn = 0xFFFFFF,
       .immediate = 42,
       .payload_bytes = 473},
      {.opcode = roce::Opcode::kSendFirst,
       .destination_qp = 0x8001,
       .psn = 7,
       .payload_bytes = 1024},
      {.opcode = roce::Opcode::kSendLastImmediate,
       .asks = true,
       .destination_qp = 0x8001,
       .psn = 8,
       .immediate = 43,
       .payload_bytes = 3},
      {.opcode = roce::Opcode::kSendOnly, .destination_qp = 0x8001, .psn = 9, .payload_bytes = 96},
      {.opcode = roce::Opcode::kAcknowledge,
       .destination_qp = 0x8002,
       .psn = 6,
       .syndrome = roce::kNakSelectiveSyndrome,
       .message_number = 11},
      {.opcode = roce::Opcode::kAcknowledge,
       .destination_qp = 0x8002,
       .psn = 5,
       .syndrome = roce::kNakSequenceSyndrome,
       .message_number = 9},
      {.opcode = roce::Opcode::kCnp, .becn = true, .destination_qp = 0x8002}};
  return kExamples;
}

/// A frame in a buffer of its own.
struct Frame {
  /// @param whole as for a device; else as in virtual time
  explicit Frame(const roce::Message& m, bool whole = true)
      : pool(1, 2048), packet(rte_pktmbuf_alloc(&pool.get())) {
    clear_trailer(*packet);
    write_datagram_frame(*packet, kFlow, datagram_of(m), whole);
  }
  ~Frame() { release(packet); }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  [[nodiscard]] bool icrc_right() {
    ReceivedDatagram d;
    if (read_datagram_frame(*packet, d)) return false;
    return roce::icrc(d.ip, 28 + d.payload_bytes - roce::kIcrcBytes) == d.trailer;
  }
  [[nodiscard]] std::string bytes() {
    const auto there = buffer(*packet);
    return {there.begin(), there.end()};
  }

  TestPool pool;
  Packet* packet;
};

TEST(RoceFrame, IsReadAsItWasWritten) {
  for (const roce::Message& m : examples()) {
    Frame frame(m);
    ReceivedDatagram d;
    ASSERT_FALSE(read_datagram_frame(*frame.packet, d));
    EXPECT_EQ(d.flow, kFlow);
    roce::Message read;
    ASSERT_FALSE(roce::decode(d.present, d.payload_bytes, read));
    EXPECT_EQ(read, m);
    EXPECT_TRUE(frame.icrc_right());
    EXPECT_EQ(key_of(d), roce_key(kFlow.destination_address, kFlow.source_address,
                                  static_cast<std::uint16_t>(m.destination_qp)));
  }
}

TEST(RoceFrame, ATurnedBitIsFound) {
  for (const roce::Message& m : examples()) {
    Frame frame(m);
    for (const std::size_t at : {43U, 47U, 53U}) {
      auto bytes = buffer(*frame.packet);
      bytes[at] ^= 4;
      EXPECT_FALSE(frame.icrc_right()) << at;
      bytes[at] ^= 4;
      EXPECT_TRUE(frame.icrc_right());
    }
    buffer(*frame.packet)[kIpAt + 8] -= 1;  // a router
    buffer(*frame.packet)[kIpAt + 1] |= 1;  // and a queue that marks
    ReceivedDatagram d;
    ASSERT_FALSE(read_datagram_frame(*frame.packet, d));
    EXPECT_EQ(roce::icrc(d.ip, 28 + d.payload_bytes - roce::kIcrcBytes), d.trailer);
  }
}

// Foreign payload need not be zeros.
TEST(RoceFrame, ATurnedBitOfPayloadOrIcrcIsFound) {
  for (const roce::Message& m : examples()) {
    Frame frame(m);
    const auto bytes = buffer(*frame.packet);
    for (const std::size_t at : {bytes.size() - 1, bytes.size() - 5, bytes.size() / 2}) {
      bytes[at] ^= 1;
      EXPECT_FALSE(frame.icrc_right()) << at;
      bytes[at] ^= 1;
    }
    EXPECT_TRUE(frame.icrc_right());
  }
}

TEST(RoceFrame, InVirtualTimeItIsTheBeginOfTheWholeFrame) {
  for (const roce::Message& m : examples()) {
    Frame whole(m), brief(m, false);
    const std::string begin = brief.bytes();
    EXPECT_EQ(whole.bytes().substr(0, begin.size()), begin);
    EXPECT_EQ(begin.size() == whole.bytes().size(), m.payload_bytes == 0) << "headers alone";
    EXPECT_EQ(meta(*brief.packet).frame_bytes, meta(*whole.packet).frame_bytes);
  }
}

TEST(RoceFrame, WhatItsReadersKnowIsWhatTheBytesSay) {
  for (const roce::Message& m : examples()) {
    Frame frame(m, false);
    Packet& packet = *frame.packet;
    buffer(packet)[kIpAt + 1] |= 1;  // a queue marks it
    const std::uint16_t sum = ipv4_checksum(header_at<Ipv4Header>(packet, kIpAt));
    std::memcpy(header_at<Ipv4Header>(packet, kIpAt).checksum.raw.data(), &sum, sizeof sum);
    meta(packet).sequence = meta(packet).payload_bytes = 77;  // as a regulated queue does
    ASSERT_TRUE(knows_roce(packet));
    reread_known_roce(packet);
    const PacketMeta& known = meta(packet);
    HeaderFields parsed;
    EXPECT_TRUE(parse_headers(buffer(packet), known.frame_bytes, parsed).is_ip());
    EXPECT_EQ(known.flow, parsed.flow);
    EXPECT_EQ(known.sequence, parsed.sequence);
    EXPECT_EQ(known.payload_bytes, parsed.payload_bytes);
    EXPECT_EQ(known.ip_offset, parsed.ip_offset);
    EXPECT_EQ(known.tcp_offset, parsed.tcp_offset);
    EXPECT_EQ(known.tcp_flags, parsed.tcp_flags);
    EXPECT_EQ(known.tos, parsed.tos);

    ReceivedDatagram told, read;
    ASSERT_FALSE(read_datagram_frame(packet, told));
    EXPECT_TRUE(told.icrc_known);
    forget_headers(packet);
    ASSERT_FALSE(read_datagram_frame(packet, read));
    EXPECT_FALSE(read.icrc_known);
    EXPECT_EQ(frame.icrc_right(), m.payload_bytes == 0) << "it is there only behind headers alone";
    EXPECT_EQ(told.flow, read.flow);
    EXPECT_EQ(told.ecn, Ecn::kCe);
    EXPECT_EQ(read.ecn, Ecn::kCe);
    EXPECT_EQ(told.payload_bytes, read.payload_bytes);
    EXPECT_EQ(told.present.data(), read.present.data());
    EXPECT_EQ(told.present.size(), read.present.size());
  }
}

/// A data packet with the longest head, or an acknowledgment that returns what hops have written.
OutgoingDatagram with_telemetry(bool data) {
  roce::Message m{.opcode = roce::Opcode::kAcknowledge, .destination_qp = 0x8002, .psn = 5};
  roce::TelemetrySection section = roce::empty_telemetry();
  if (data) {
    m = {.opcode = roce::Opcode::kWriteOnlyImmediate,
         .destination_qp = 0x8001,
         .psn = 7,
         .address = ~0ULL,
         .key = 7,
         .length_bytes = 900,
         .immediate = 42,
         .payload_bytes = 900};
  } else {
    std::fill(section.begin() + 1, section.end(), std::uint8_t{0x5A});
  }
  OutgoingDatagram out = datagram_of(m);
  out.head_bytes = roce::add_telemetry(out.head, out.head_bytes, section);
  return out;
}

// Its head is the longest that there is, and what a switch has written is not covered.
TEST(RoceFrame, WithTelemetryIsReadAsItWasWritten) {
  for (const bool data : {true, false}) {
    for (const bool whole : {true, false}) {
      TestPool pool(1, whole ? 2048 : kHeaderRoomBytes);
      Packet* packet = rte_pktmbuf_alloc(&pool.get());
      write_datagram_frame(*packet, kFlow, with_telemetry(data), whole);
      EXPECT_EQ(roce::append_telemetry(buffer(*packet), kIpAt, 1, {.at = Duration{0x123456}}),
                data ? hop_trace::Appended::kYes : hop_trace::Appended::kNotAProbe);
      ReceivedDatagram d;
      ASSERT_FALSE(read_datagram_frame(*packet, d));
      roce::Message m;
      roce::TelemetrySection section;
      ASSERT_FALSE(roce::decode_with_telemetry(d.present, d.payload_bytes, m, section));
      EXPECT_EQ(m.payload_bytes, data ? 900 : 0);
      EXPECT_EQ(section[4], data ? 0x12 : 0x5A);
      EXPECT_EQ(d.icrc_known, !whole);
      const std::uint32_t covered = 28 + d.payload_bytes - roce::kIcrcBytes;
      EXPECT_TRUE(!whole || roce::icrc_with_telemetry(d.ip, covered, m.opcode) == d.trailer);
      release(packet);
    }
  }
}

TEST(RoceFrame, NothingIsKnownOfAFrameFromADevice) {
  Frame frame(examples()[0]);
  EXPECT_FALSE(knows_roce(*frame.packet));
}

TEST(RoceFrame, LeavesZerosToTheNextFrame) {
  TestPool pool(1, 2048);
  for (const roce::Message& m : examples()) {
    Packet* packet = rte_pktmbuf_alloc(&pool.get());
    write_datagram_frame(*packet, kFlow, datagram_of(m), true);
    release(packet);
    packet = rte_pktmbuf_alloc(&pool.get());
    clear_trailer(*packet);
    const auto* begin = rte_pktmbuf_mtod(packet, const std::uint8_t*);
    EXPECT_TRUE(std::all_of(begin + kWrittenEnd, begin + 2048, [](auto b) { return b == 0; }));
    release(packet);
  }
  Packet* packet = rte_pktmbuf_alloc(&pool.get());
  write_datagram_frame(*packet, kFlow, with_telemetry(false), true);
  write_datagram_frame(*packet, kFlow, datagram_of(examples()[0]), true);
  clear_trailer(*packet);
  const auto* begin = rte_pktmbuf_mtod(packet, const std::uint8_t*);
  EXPECT_TRUE(std::all_of(begin + 14 + 28 + 12 + 16, begin + 2048, [](auto b) { return b == 0; }))
      << "nor do records stay";
  release(packet);
}

// A driver with time stamps has written what it liked into the field that notes a trailer.
TEST(RoceFrame, LeavesAloneWhatADriverSaysIsOutsideTheBuffer) {
  TestPool pool(1, 2048);
  Packet* packet = rte_pktmbuf_alloc(&pool.get());
  std::uint8_t* const last = static_cast<std::uint8_t*>(packet->buf_addr) + packet->buf_len - 1;
  *last = 7;
  for (const unsigned offset : {packet->buf_len - packet->data_off - 3U, 0xFFFFU}) {
    packet->timesync = static_cast<std::uint16_t>(offset);
    clear_trailer(*packet);
    EXPECT_EQ(*last, 7);
    EXPECT_EQ(packet->timesync, 0);
  }
  *last = 0;
  release(packet);
}

void write_capture(const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  const auto word = [&out](std::uint32_t v) {
    for (int shift = 0; shift < 32; shift += 8) out.put(static_cast<char>(v >> shift));
  };
  for (const std::uint32_t v : {0xA1B2C3D4U, 4U << 16 | 2, 0U, 0U, 262144U, 1U}) word(v);
  for (const roce::Message& m : examples()) {
    const std::string bytes = Frame(m).bytes();
    for (const std::uint32_t v : {1'700'000'000U, 0U}) word(v);
    for (int i = 0; i < 2; ++i) word(static_cast<std::uint32_t>(bytes.size()));
    out << bytes;
  }
}

TEST(RoceFrame, WiresharkReadsIt) {
  const std::string path = testing::TempDir() + "/roce_frame_test.pcap";
  write_capture(path);
  const std::string command =
      "tshark -n -r " + path +
      " -T fields -E separator=, -E occurrence=f -e infiniband.bth.opcode -e infiniband.bth.destqp"
      " -e infiniband.bth.psn -e infiniband.bth.a -e infiniband.reth.dmalen"
      " -e infiniband.immdt -e infiniband.aeth.msn 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> tshark(popen(command.c_str(), "r"), pclose);
  std::string said;
  std::array<char, 256> line{};
  while (fgets(line.data(), line.size(), tshark.get()) != nullptr) said += line.data();
  if (said.empty()) GTEST_SKIP() << "tshark is not there to read the packets";
  EXPECT_EQ(said,
            "6,0x008001,16777214,0,1500,,\n"
            "9,0x008001,16777215,1,,0000002a,\n"
            "0,0x008001,7,0,,,\n"
            "3,0x008001,8,1,,0000002b,\n"
            "4,0x008001,9,0,,,\n"
            "17,0x008002,6,0,,,11\n"
            "17,0x008002,5,0,,,9\n"
            "129,0x008002,0,0,,,\n");
}

}  // namespace
}  // namespace outrider::roce_frame_test
