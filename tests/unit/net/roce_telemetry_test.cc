// Goal: telemetry lands in data packets of RoCEv2 behind all headers, record by record, is read
// back as it was written, leaves the ICRC right, and is written into nothing else.
// Method: frames made by hand; bytes by the table of the header file; every shorter frame; every
// field by which a packet is recognised changed.
#include "common/net/roce_telemetry.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace outrider::roce_telemetry_test {
namespace {

using namespace std::chrono_literals;
using hop_trace::Appended;
using roce::HopTimes;
using roce::Message;
using roce::Opcode;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kIp = 14, kUdp = kIp + 20, kBth = kUdp + 8;
constexpr std::uint32_t kMaxHead = roce::kMaxHeaderBytes + roce::kTelemetryBytes;
constexpr HopTimes kFirst{.at = Duration{0x123456}, .busy = Duration{7}, .queue = 1600ns};
constexpr HopTimes kSecond{.at = Duration{0xFFFFFF}, .busy = Duration{0xFEDCBA}, .queue = 16ns};
constexpr std::uint16_t kHop = 300, kOther = 5;

Message message_of(Opcode opcode, std::uint16_t payload = 100) {
  Message m{.opcode = opcode, .asks = true, .destination_qp = 0x8001, .psn = 0xFFFFFE};
  if (roce::has_reth(opcode)) m.address = 4096, m.key = 7, m.length_bytes = 1500;
  if (roce::has_immediate(opcode)) m.immediate = 42;
  if (opcode == Opcode::kAcknowledge) m.syndrome = roce::kAckSyndrome, m.message_number = 9;
  if (roce::is_data(opcode)) m.payload_bytes = payload;
  return m;
}

/// A whole frame with its ICRC, as its sender writes it.
struct Frame {
  explicit Frame(const Message& m, const roce::TelemetrySection& section = roce::empty_telemetry())
      : message(m) {
    std::array<std::uint8_t, kMaxHead> head{};
    headers = roce::encode(m, std::span(head).first<roce::kMaxHeaderBytes>());
    const std::uint32_t all = roce::add_telemetry(head, headers, section);
    EXPECT_EQ(all, headers + 44);
    const auto udp_bytes =
        8 + all + m.payload_bytes + roce::pad_of(m.payload_bytes) + roce::kIcrcBytes;
    bytes.resize(kUdp + udp_bytes);
    bytes[12] = 8;  // IPv4
    bytes[kIp] = 0x45;
    bytes[kIp + 9] = 17;
    bytes[kUdp + 2] = roce::kPort >> 8;
    bytes[kUdp + 3] = roce::kPort & 0xFF;
    bytes[kUdp + 4] = static_cast<std::uint8_t>(udp_bytes >> 8);
    bytes[kUdp + 5] = static_cast<std::uint8_t>(udp_bytes);
    std::copy_n(head.begin(), all, bytes.begin() + kBth);
    if (roce::is_data(m.opcode)) bytes[bytes.size() - 12] = 0x77;  // payload that is no zeros
    trailer = roce::icrc(ip(), covered());
  }

  [[nodiscard]] std::span<const std::uint8_t> ip() const { return std::span(bytes).subspan(kIp); }
  [[nodiscard]] std::uint32_t covered() const {
    return static_cast<std::uint32_t>(bytes.size() - kIp - roce::kIcrcBytes);
  }
  [[nodiscard]] std::span<const std::uint8_t> payload() const {
    return std::span(bytes).subspan(kBth);
  }
  [[nodiscard]] std::size_t section() const { return kBth + headers; }
  Appended append(std::uint16_t hop, const HopTimes& times) {
    return roce::append_telemetry(bytes, kIp, hop, times);
  }
  [[nodiscard]] std::optional<roce::Fault> decode(Message& m, roce::TelemetrySection& to) const {
    return roce::decode_with_telemetry(payload(), static_cast<std::uint32_t>(payload().size()), m,
                                       to);
  }
  [[nodiscard]] roce::Telemetry read() const {
    Message m;
    roce::TelemetrySection to{};
    EXPECT_FALSE(decode(m, to));
    return roce::read_telemetry(to);
  }
  [[nodiscard]] bool icrc_right() const {
    return roce::icrc_with_telemetry(ip(), covered(), message.opcode) == trailer;
  }

  Message message;
  std::uint32_t headers = 0;
  Bytes bytes;
  std::uint32_t trailer = 0;
};

constexpr std::array kData{Opcode::kSendFirst,         Opcode::kSendMiddle,
                           Opcode::kSendOnlyImmediate, Opcode::kWriteFirst,
                           Opcode::kWriteMiddle,       Opcode::kWriteLastImmediate,
                           Opcode::kWriteOnly,         Opcode::kWriteOnlyImmediate};

TEST(RoceTelemetry, StandsBehindTheHeadersOfEveryKind) {
  std::vector<Opcode> all(kData.begin(), kData.end());
  all.push_back(Opcode::kAcknowledge);
  for (const Opcode opcode : all) {
    const Frame f(message_of(opcode));
    EXPECT_EQ(f.bytes[kBth], 0xC0 | static_cast<std::uint8_t>(opcode));
    EXPECT_EQ(f.bytes[f.section()], 0x1B);
    Message m;
    roce::TelemetrySection section{};
    ASSERT_FALSE(f.decode(m, section));
    EXPECT_EQ(m, f.message);
    EXPECT_EQ(section, roce::empty_telemetry());
    EXPECT_EQ(roce::decode(f.payload(), static_cast<std::uint32_t>(f.payload().size()), m),
              roce::Fault::kBadOpcode)
        << "for one that does not know it";
  }
}

TEST(RoceTelemetry, RecordsLieOneBehindTheOther) {
  for (const Opcode opcode : kData) {
    Frame f(message_of(opcode));
    const Bytes before = f.bytes;
    EXPECT_EQ(f.append(kHop, kFirst), Appended::kYes);
    EXPECT_EQ(f.append(kOther, kSecond), Appended::kYes);
    const std::uint32_t path = 31 * (kHop + 1) + kOther + 1;
    const Bytes expected{0x1B,
                         2,
                         static_cast<std::uint8_t>(path >> 8),
                         static_cast<std::uint8_t>(path),
                         0x12,
                         0x34,
                         0x56,
                         0,
                         0,
                         7,
                         0,
                         100,
                         0xFF,
                         0xFF,
                         0xFF,
                         0xFE,
                         0xDC,
                         0xBA,
                         0,
                         1};
    const auto begin = f.bytes.begin() + static_cast<std::ptrdiff_t>(f.section());
    EXPECT_EQ(Bytes(begin, begin + static_cast<std::ptrdiff_t>(expected.size())), expected);
    Bytes others = f.bytes;
    std::copy_n(before.begin() + static_cast<std::ptrdiff_t>(f.section()), 20,
                others.begin() + static_cast<std::ptrdiff_t>(f.section()));
    EXPECT_EQ(others, before) << "nothing else";
    const roce::Telemetry read = f.read();
    EXPECT_EQ(read.hops, 2);
    EXPECT_EQ(read.records_kept, 2);
    EXPECT_EQ(read.path, path);
    EXPECT_EQ(read.records[0], kFirst);
    EXPECT_EQ(read.records[1], kSecond);
  }
}

TEST(RoceTelemetry, AHopWithoutRoomIsCountedOnly) {
  Frame f(message_of(Opcode::kWriteMiddle));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(f.append(kHop, kFirst), Appended::kYes);
  const Bytes full = f.bytes;
  for (int i = 0; i < 300; ++i) EXPECT_EQ(f.append(kOther, kSecond), Appended::kNoRoom);
  EXPECT_EQ(f.read().hops, 255) << "it stays there";
  EXPECT_EQ(f.read().records_kept, 5);
  const auto records = static_cast<std::ptrdiff_t>(f.section()) + 4;
  EXPECT_TRUE(std::equal(f.bytes.begin() + records, f.bytes.end(), full.begin() + records));
}

TEST(RoceTelemetry, TimesWrapAndTheQueueDoesNot) {
  Frame f(message_of(Opcode::kWriteMiddle));
  ASSERT_EQ(f.append(kHop, {.at = 3s + 5ns, .busy = 2s, .queue = 20ms}), Appended::kYes);
  const HopTimes read = f.read().records[0];
  EXPECT_EQ(read.at.count(), 3'000'000'005 % (1 << 24));
  EXPECT_EQ(read.busy.count(), 2'000'000'000 % (1 << 24));
  EXPECT_EQ(read.queue, 65'535 * 16ns);
  ASSERT_EQ(f.append(kHop, {.at = {}, .busy = {}, .queue = 31ns}), Appended::kYes);
  EXPECT_EQ(f.read().records[1].queue, 16ns);
  EXPECT_EQ(roce::telemetry_between(Duration{0xFFFFFE}, Duration{3}), 5ns);
  EXPECT_EQ(roce::telemetry_between(Duration{3}, Duration{0xFFFFFE}), Duration{0xFFFFFB});
}

TEST(RoceTelemetry, PathsDiffer) {
  const auto path = [](std::initializer_list<std::uint16_t> hops) {
    Frame f(message_of(Opcode::kWriteMiddle));
    for (const std::uint16_t hop : hops) (void)f.append(hop, kFirst);
    return f.read().path;
  };
  EXPECT_EQ(path({1, 2, 3}), path({1, 2, 3}));
  EXPECT_NE(path({1, 2, 3}), path({1, 3, 2}));
  EXPECT_NE(path({1, 2, 3}), path({1, 4, 3}));
  EXPECT_NE(path({0}), path({}));
}

// Records of a data packet are taken for zeros; all else is covered, in an acknowledgment the
// records too.
TEST(RoceTelemetry, TheIcrcIsThatOfThePacketAsItLeft) {
  for (const Opcode opcode : kData) {
    Frame f(message_of(opcode));
    EXPECT_TRUE(f.icrc_right());
    ASSERT_EQ(f.append(kHop, kFirst), Appended::kYes);
    ASSERT_EQ(f.append(kOther, kSecond), Appended::kYes);
    EXPECT_TRUE(f.icrc_right());
    EXPECT_NE(roce::icrc(f.ip(), f.covered()), f.trailer) << "by the plain rule it would be wrong";
    const std::size_t section = f.section();
    for (const std::size_t at :
         {kBth + 9, section - 1, section, section + 44, f.bytes.size() - 5, f.bytes.size() - 12}) {
      f.bytes[at] ^= 1;
      EXPECT_FALSE(f.icrc_right()) << at - section;
      f.bytes[at] ^= 1;
    }
  }
  roce::TelemetrySection full = roce::empty_telemetry();
  full[1] = 5;
  full[20] = 0x55;
  Frame ack(message_of(Opcode::kAcknowledge), full);
  EXPECT_TRUE(ack.icrc_right());
  ack.bytes[ack.section() + 20] ^= 1;
  EXPECT_FALSE(ack.icrc_right());
}

TEST(RoceTelemetry, NothingElseIsWrittenInto) {
  struct Row {
    const char* what;
    std::function<void(Frame&)> change;
  };
  const Row rows[]{
      {"no telemetry", [](Frame& f) { f.bytes[kBth] &= 0x1F; }},
      {"another manufacturer's transport", [](Frame& f) { f.bytes[kBth] |= 0x20; }},
      {"no data", [](Frame& f) { f.bytes[kBth] = 0xC0 | 0x11; }},
      {"an opcode that is none", [](Frame& f) { f.bytes[kBth] = 0xC0 | 0x1E; }},
      {"another magic", [](Frame& f) { f.bytes[f.section()] ^= 1; }},
      {"another port", [](Frame& f) { f.bytes[kUdp + 3] ^= 1; }},
      {"a UDP checksum", [](Frame& f) { f.bytes[kUdp + 6] = 1; }},
      {"a datagram that ends in it", [](Frame& f) { f.bytes[kUdp + 5] = 8 + 12 + 44 + 3; }},
      {"TCP", [](Frame& f) { f.bytes[kIp + 9] = 6; }},
      {"a fragment", [](Frame& f) { f.bytes[kIp + 7] = 1; }},
      {"the first fragment", [](Frame& f) { f.bytes[kIp + 6] = 0x20; }},
      {"IPv6", [](Frame& f) { f.bytes[kIp] = 0x65; }},
      {"a header that is too short", [](Frame& f) { f.bytes[kIp] = 0x44; }},
  };
  for (const Row& row : rows) {
    Frame f(message_of(Opcode::kWriteMiddle));
    row.change(f);
    const Bytes before = f.bytes;
    EXPECT_EQ(f.append(kHop, kFirst), Appended::kNotAProbe) << row.what;
    EXPECT_EQ(f.bytes, before) << row.what;
  }
  EXPECT_EQ(Frame(message_of(Opcode::kAcknowledge)).append(kHop, kFirst), Appended::kNotAProbe);
  Frame f(message_of(Opcode::kWriteOnlyImmediate));
  EXPECT_EQ(roce::append_telemetry(f.bytes, 0, kHop, kFirst), Appended::kNotAProbe) << "no IP";
  for (std::size_t size = 0; size < f.section() + 44; ++size) {
    Bytes cut(f.bytes.begin(), f.bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(roce::append_telemetry(cut, kIp, kHop, kFirst), Appended::kNotAProbe) << size;
  }
  Bytes least(f.bytes.begin(), f.bytes.begin() + static_cast<std::ptrdiff_t>(f.section() + 44));
  EXPECT_EQ(roce::append_telemetry(least, kIp, kHop, kFirst), Appended::kYes)
      << "payload need not be there";
}

TEST(RoceTelemetry, DecodingRefusesWhatIsCutOrOfAnotherForm) {
  for (const Opcode opcode : {Opcode::kWriteOnlyImmediate, Opcode::kAcknowledge}) {
    const Frame f(message_of(opcode, 0));
    const auto size = static_cast<std::uint32_t>(f.payload().size());
    Message m;
    roce::TelemetrySection section{};
    for (std::uint32_t present = 0; present < f.headers + 44; ++present)
      for (const std::uint32_t datagram : {present, size})
        EXPECT_TRUE(roce::decode_with_telemetry(f.payload().first(present), datagram, m, section))
            << present;
    EXPECT_EQ(m, Message{}) << "untouched";
    EXPECT_EQ(section, roce::TelemetrySection{});
    EXPECT_EQ(roce::decode_with_telemetry(f.payload().first(f.headers + 44), f.headers + 44 + 3, m,
                                          section),
              roce::Fault::kBadLength)
        << "no room for the ICRC";
    Frame other = f;
    other.bytes[f.section()] = 0;
    EXPECT_EQ(other.decode(m, section), roce::Fault::kBadOpcode);
    other = f;
    other.bytes[kBth + 1] |= 1;
    EXPECT_EQ(other.decode(m, section), roce::Fault::kBadVersion);
    for (const unsigned bits : {0x00U, 0x20U, 0x80U, 0xE0U}) {
      other.bytes[kBth] = static_cast<std::uint8_t>(bits | (f.bytes[kBth] & 0x1F));
      EXPECT_EQ(other.decode(m, section), roce::Fault::kBadOpcode) << bits;
    }
  }
}

}  // namespace
}  // namespace outrider::roce_telemetry_test
