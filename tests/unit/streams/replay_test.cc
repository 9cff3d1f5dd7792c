// Goal: a capture is replayed as it was taken, or the file is refused with its
// reason. Method: pcap and pcapng files written byte by byte, due times against
// the stamps, checksums summed again after a rewrite.
#include "trafficgen/streams/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/frames.h"
#include "tests/support/pool.h"
#include "tests/unit/streams/stream_fixture.h"

namespace outrider::replay_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Frame = std::vector<std::uint8_t>;

struct Captured {
  std::uint32_t seconds, fraction;
  Frame frame;
  std::uint32_t cut_to = ~0U;
};

class Bytes {
 public:
  template <class T>
  Bytes& put(T v) {
    const auto* at = reinterpret_cast<const char*>(&v);
    text.append(at, sizeof v);
    return *this;
  }
  std::string text;
};

std::string pcap_of(const std::vector<Captured>& packets, std::uint32_t magic = 0xA1B2C3D4,
                    std::uint32_t link_type = 1) {
  Bytes b;
  b.put(magic).put<std::uint16_t>(2).put<std::uint16_t>(4).put(0).put(0).put(65535).put(link_type);
  for (const auto& p : packets) {
    const auto size = static_cast<std::uint32_t>(p.frame.size());
    const std::uint32_t kept = std::min(size, p.cut_to);
    b.put(p.seconds).put(p.fraction).put(kept).put(size);
    b.text.append(reinterpret_cast<const char*>(p.frame.data()), kept);
  }
  return b.text;
}

/// Section header, one interface with microseconds, enhanced packet blocks.
/// @param stamps  replaces the packets' stamps; if_tsresol says that they are seconds
std::string pcapng_of(const std::vector<Captured>& packets,
                      const std::vector<std::uint64_t>& stamps = {}) {
  Bytes b;
  b.put(0x0A0D0D0A).put(28).put(0x1A2B3C4D).put<std::uint16_t>(1).put<std::uint16_t>(0);
  b.put<std::int64_t>(-1).put(28);
  const std::uint32_t interface_bytes = stamps.empty() ? 20 : 32;
  b.put(1).put(interface_bytes).put<std::uint16_t>(1).put<std::uint16_t>(0).put(65535);
  if (!stamps.empty()) b.put<std::uint16_t>(9).put<std::uint16_t>(1).put(0).put(0);
  b.put(interface_bytes);
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const auto& p = packets[i];
    const auto size = static_cast<std::uint32_t>(p.frame.size());
    const std::uint32_t padded = (size + 3) / 4 * 4;
    const std::uint64_t us =
        stamps.empty() ? std::uint64_t{p.seconds} * 1'000'000 + p.fraction : stamps[i];
    b.put(6).put(32 + padded).put(0).put(static_cast<std::uint32_t>(us >> 32));
    b.put(static_cast<std::uint32_t>(us)).put(size).put(size);
    b.text.append(reinterpret_cast<const char*>(p.frame.data()), size);
    b.text.append(padded - size, '\0');
    b.put(32 + padded);
  }
  return b.text;
}

class Replay : public testing::Test {
 protected:
  Replay() {
    std::string directory = std::filesystem::temp_directory_path() / "outrider-replay-XXXXXX";
    directory_ = mkdtemp(directory.data());
  }
  ~Replay() override { std::filesystem::remove_all(directory_); }
  std::string file(const std::string& content) const {
    std::ofstream(directory_ / "f", std::ios::binary) << content;
    return directory_ / "f";
  }
  PcapResult load(const std::string& content, PcapLimits limits = {}) const {
    return load_pcap(file(content), limits);
  }
  /// Three frames, 10 us and 30 us apart.
  static std::vector<Captured> three() {
    return {{5, 0, bytes_of({.payload_bytes = 100})},
            {5, 10, bytes_of({.payload_bytes = 900})},
            {5, 40, bytes_of({})}};
  }
  std::shared_ptr<const PcapTrace> trace(const std::string& content) const {
    return std::make_shared<const PcapTrace>(load(content).trace);
  }
  std::filesystem::path directory_;
};

std::vector<std::int64_t> due_ns(ReplaySchedule schedule, int n) {
  std::vector<std::int64_t> due;
  for (int i = 0; i < n && schedule.next() != kNever; ++i)
    due.push_back(schedule.take().due.time_since_epoch().count());
  return due;
}

TEST_F(Replay, ReadsPcapAndPcapng) {
  for (const auto& content : {pcap_of(three()), pcapng_of(three())}) {
    const PcapResult r = load(content);
    ASSERT_EQ(r.problem, "");
    ASSERT_EQ(r.trace.packets.size(), 3U);
    EXPECT_EQ(r.trace.packets[1].at, 10us);
    EXPECT_EQ(r.trace.packets[2].at, 40us);
    const auto frame = r.trace.frame(1);
    EXPECT_EQ(Frame(frame.begin(), frame.end()), three()[1].frame);
  }
  auto precise = three();
  precise[1].fraction = 10'001;  // nanoseconds
  precise[2].fraction = 40'002;
  EXPECT_EQ(load(pcap_of(precise, 0xA1B23C4D)).trace.packets[1].at, 10'001ns);
}

TEST_F(Replay, RefusesStampsThatAreOutOfRange) {
  const auto problem = [](const PcapResult& r) { return r.problem; };
  EXPECT_EQ(problem(load(pcapng_of(three(), {5, 6, 7}))), "");
  EXPECT_EQ(load(pcapng_of(three(), {5, 6, 7})).trace.packets[2].at, 2s);
  EXPECT_THAT(problem(load(pcapng_of(three(), {1ULL << 62, 1, 2}))),
              HasSubstr("packet 1 has a time stamp of 4611686018427387904 s"));
  EXPECT_THAT(problem(load(pcapng_of(three(), {5, 1ULL << 62, 7}))), HasSubstr("packet 2 has a"));
  EXPECT_THAT(problem(load(pcapng_of(three(), {0, 4'000'000'000, 7}))),
              HasSubstr("packet 2 came 4"));
}

TEST_F(Replay, RefusesStampsThatNoClockGives) {
  const auto problem_of_second = [this](std::uint32_t seconds, std::uint32_t fraction,
                                        std::uint32_t magic) {
    auto packets = three();
    packets[1].seconds = seconds;
    packets[1].fraction = fraction;
    return load(pcap_of(packets, magic)).problem;
  };
  constexpr std::uint32_t kMicroseconds = 0xA1B2C3D4, kNanoseconds = 0xA1B23C4D;
  EXPECT_EQ(problem_of_second(5, 999'999, kMicroseconds), "");
  EXPECT_EQ(problem_of_second(5, 999'999'999, kNanoseconds), "");
  for (const auto& [seconds, fraction, magic] : {std::tuple{5U, 1'000'000U, kMicroseconds},
                                                 {5U, 1'000'000'000U, kNanoseconds},
                                                 {5U, 4'000'000'000U, kNanoseconds},
                                                 {0xFFFF'FFFFU, 0U, kMicroseconds}})
    EXPECT_THAT(problem_of_second(seconds, fraction, magic),
                HasSubstr("packet 2 has a time stamp of "))
        << seconds << ' ' << fraction;
}

TEST_F(Replay, RefusesWhatItCannotReplay) {
  const std::string good = pcap_of(three());
  EXPECT_THAT(load_pcap(directory_ / "absent", {}).problem, HasSubstr("No such file"));
  EXPECT_NE(load("").problem, "");
  EXPECT_NE(load("no capture at all, but long enough to be one").problem, "");
  EXPECT_THAT(load(pcap_of({})).problem, HasSubstr("no packet"));
  EXPECT_THAT(load(good.substr(0, good.size() - 5)).problem,
              HasSubstr("after packet 2: truncated"));
  EXPECT_THAT(load(pcap_of(three(), 0xA1B2C3D4, 101)).problem, HasSubstr("link type is RAW"));
  EXPECT_THAT(load(good, {.max_bytes = 1000}).problem,
              HasSubstr("packet 2 does not fit into 1000"));
  auto cut = three();
  cut[1].cut_to = 96;
  EXPECT_THAT(load(pcap_of(cut)).problem, HasSubstr("packet 2 was cut to 96 of"));
  const PcapResult padded = load(pcap_of(cut), {.pad_cut = true});
  EXPECT_EQ(padded.problem, "");
  EXPECT_EQ(padded.trace.padded, 1U);
  EXPECT_EQ(padded.trace.frame(1).size(), three()[1].frame.size());
  auto back = three();
  back[1].fraction = 50;
  const PcapResult backwards = load(pcap_of(back));
  EXPECT_EQ(backwards.trace.backwards, 1U);
  EXPECT_EQ(backwards.trace.packets[2].at, 50us);
  EXPECT_THROW(load_replay({.name = "r", .device = "d", .file = file("")}), std::runtime_error);
}

TEST_F(Replay, KeepsScalesOrReplacesTheGaps) {
  const auto t = trace(pcap_of(three()));
  ReplayConfig c;
  c.loops = 2;
  using Due = std::vector<std::int64_t>;
  // The mean gap of 20 us separates the rounds.
  EXPECT_EQ(due_ns({c, t, {}}, 9), (Due{0, 10'000, 40'000, 60'000, 70'000, 100'000}));
  c.speed = 2;
  EXPECT_EQ(due_ns({c, t, {}}, 9), (Due{0, 5'000, 20'000, 30'000, 35'000, 50'000}));
  c.speed = 1;
  c.duration = 65us;
  EXPECT_EQ(due_ns({c, t, {}}, 9), (Due{0, 10'000, 40'000, 60'000}));
  c.duration.reset();
  c.rate = StreamRate{StreamRate::Unit::kPackets, 3};
  EXPECT_EQ(due_ns({c, t, {}}, 4), (Due{0, 333'333'333, 666'666'666, 1'000'000'000}));
  c.rate = StreamRate{StreamRate::Unit::kShare, 500'000};
  const auto wire_ns = static_cast<std::int64_t>((three()[0].frame.size() + 24) * 8);
  EXPECT_EQ(due_ns({c, t, {2'000'000'000}}, 2), (Due{0, wire_ns})) << "half of 2 Gbit/s";
}

TEST_F(Replay, SendsTheFramesInBatchesWithoutDrift) {
  TestPool pool(256, 2048);
  FakeDevice device;
  ReplayConfig c;
  c.loops = 1000;
  const auto t = trace(pcap_of(three()));
  ReplaySender sender(ReplaySchedule(c, t, {}), ReplayFrames(t), 1s, pool.get());
  for (Time now{}; !sender.done(); now += 7us) sender.poll(device, {now, 0});
  ASSERT_EQ(device.frames.size(), 3000U);
  for (std::size_t i = 0; i < 3000; ++i) ASSERT_EQ(device.frames[i], three()[i % 3].frame);
  EXPECT_LE(sender.lateness().max(), 7000U);
  EXPECT_LE(sender.gap_error().quantile(0.999), 30'000U);
}

TEST_F(Replay, RewritesAddressesAndKeepsChecksumsRight) {
  auto packets = three();
  Frame arp(60, 0);
  arp[12] = 0x08;
  arp[13] = 0x06;
  packets.push_back({6, 0, arp});
  PcapTrace t = load(pcap_of(packets)).trace;
  const auto counts =
      rewrite_addresses(t, {"10.0.1.0/24=198.18.7.0/24", "10.0.0.0/16=203.0.0.0/16"});
  EXPECT_EQ(counts.rewritten, 3U);
  EXPECT_EQ(counts.not_ipv4, 1U);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto f = t.frame(i);
    EXPECT_EQ(internet_checksum(f.subspan(14, 20)), 0);
    EXPECT_EQ(Frame(f.begin() + 26, f.begin() + 34), (Frame{198, 18, 7, 1, 203, 0, 3, 1}));
    const std::size_t tcp_bytes = (std::size_t{f[16]} << 8 | f[17]) - 20;
    std::uint32_t pseudo = 6 + static_cast<std::uint32_t>(tcp_bytes);
    for (std::size_t at = 26; at < 34; at += 2) pseudo += std::uint32_t{f[at]} << 8 | f[at + 1];
    EXPECT_EQ(internet_checksum(f.subspan(34, tcp_bytes), pseudo), 0);
  }
  const auto arp_now = t.frame(3);
  EXPECT_EQ(Frame(arp_now.begin(), arp_now.end()), arp);
  ConfigIssues issues;
  ReplayConfig bad;
  bad.rewrite = {"10.0.0.0/8", "10.0.0.0/8=11.0.0.0/9"};
  bad.speed = 0;
  check(Checks(issues, "replay[0]"), bad);
  ASSERT_EQ(issues.size(), 3U);
  EXPECT_EQ(issues[0].key, "replay[0].speed");
  EXPECT_EQ(issues[1].key, "replay[0].rewrite[0]");
}

TEST_F(Replay, LeavesOutLongPacketsIfAsked) {
  auto packets = three();
  packets[1].frame.resize(20'000);
  const std::string joined = pcap_of(packets);
  EXPECT_THAT(load(joined).problem, HasSubstr("packet 2 has 20000 bytes, more than 9014"));
  EXPECT_THAT(load(joined, {.options = true}).problem, HasSubstr("--skip-long"));
  EXPECT_THAT(load(joined).problem, testing::Not(HasSubstr("--")))
      << "who loads background has no such option";
  const PcapResult rest = load(joined, {.skip_long = true});
  EXPECT_EQ(rest.problem, "");
  EXPECT_EQ(rest.trace.packets.size(), 2U);
  EXPECT_EQ(rest.trace.skipped, 1U);
  EXPECT_THAT(load(pcap_of({packets[1]}), {.skip_long = true}).problem,
              HasSubstr("holds only packets that are too long, 1"));
}

TEST_F(Replay, ASpeedIsAtLeastAMillionth) {
  for (const double speed : {1e-10, 4e-7, 1e-320, 0.0, -1.0, 1e7}) {
    ConfigIssues issues;
    ReplayConfig c;
    c.speed = speed;
    check(Checks(issues), c);
    ASSERT_EQ(issues.size(), 1U) << speed;
    EXPECT_EQ(issues[0].key, "speed");
  }
  ConfigIssues issues;
  ReplayConfig c;
  c.speed = 1e-6;
  check(Checks(issues), c);
  EXPECT_TRUE(issues.empty());
}

}  // namespace
}  // namespace outrider::replay_test
