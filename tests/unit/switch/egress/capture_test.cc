// Goal: a capture has the packets that leave a port, in order and with the state of their queue,
// and never loses a packet of the switch. Method: a full queue of known packets, a ring that is
// read late, and a file with bounds.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "switch/control/capture_file.h"
#include "tests/support/file_size_limit.h"
#include "tests/unit/switch/switch_bench.h"

namespace outrider::capture_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using B = SwitchBench;

struct Seen {
  CaptureNote note;
  std::vector<std::uint8_t> bytes;
};

std::vector<Seen> drained(PortCapture& capture) {
  std::vector<Seen> seen;
  capture.drain([&](const CaptureNote& note, const std::uint8_t* bytes) {
    seen.push_back({note, {bytes, bytes + note.captured_bytes}});
  });
  return seen;
}

TEST(Capture, NotesWhatLeavesAndTheStateOfItsQueue) {
  B bench;
  PortCapture capture(64, 128);
  bench.sw.port(B::kEast).capture(capture);
  bench.send(B::start(1, 1000, 5), Time{0us});
  bench.fill(10, Time{1us}, "10.0.3.9", Ecn::kEct0);
  bench.fill(3, Time{1us}, "10.0.4.9");
  bench.run();
  const auto seen = drained(capture);
  const auto& out = bench.out[B::kEast].arrivals;
  ASSERT_EQ(seen.size(), out.size());
  ASSERT_EQ(seen.size(), 11U);
  EXPECT_EQ(seen[0].note.traffic_class, TrafficClass::kSignal);
  for (std::size_t i = 1; i < seen.size(); ++i) {
    const CaptureNote& note = seen[i].note;
    const std::size_t behind = i == 1 ? 0 : 10 - i;  // the first left at once
    EXPECT_EQ(note.resident_packets, behind);
    EXPECT_EQ(note.resident_bytes, 1000 * behind);
    EXPECT_EQ(note.background_threshold_packets, 5U);
    EXPECT_EQ(note.entries, 1U);
    EXPECT_EQ(note.frame_bytes, 1000U);
    EXPECT_EQ(note.at + B::kFrameTime, out[i].at);
    EXPECT_EQ(note.sojourn, note.at - Time{1us});
    ASSERT_EQ(seen[i].bytes.size(), 64U);
    EXPECT_EQ(std::memcmp(seen[i].bytes.data(), out[i].bytes.data(), 64), 0) << "marked already";
  }
  EXPECT_EQ(capture.missed(), 0U);
}

TEST(Capture, AFullRingCostsTheRecordAndNotThePacket) {
  B bench;
  PortCapture capture(64, 4);
  bench.sw.port(B::kEast).capture(capture);
  bench.fill(10, Time{1us});
  bench.run();
  EXPECT_EQ(bench.out[B::kEast].size(), 10U);
  EXPECT_EQ(capture.missed(), 6U);
  EXPECT_EQ(drained(capture).size(), 4U);
  bench.fill(3, Time{1s});
  bench.run();
  EXPECT_EQ(drained(capture).size(), 3U) << "room again";
  capture.finish();
  bench.fill(3, Time{2s});
  bench.run();
  EXPECT_TRUE(drained(capture).empty());
  EXPECT_EQ(capture.missed(), 6U);
}

TEST(Capture, BeginsAtItsInstant) {
  B bench;
  PortCapture capture(64, 4, Time{1s});
  bench.sw.port(B::kEast).capture(capture);
  bench.fill(10, Time{1us});
  bench.run();
  EXPECT_TRUE(drained(capture).empty());
  EXPECT_EQ(capture.missed(), 0U) << "they were not offered";
  bench.fill(3, Time{1s});
  bench.run();
  EXPECT_EQ(drained(capture).size(), 3U);
}

TEST(Capture, CarriesRecordsWholeFromOneThreadToAnother) {
  constexpr std::uint32_t kNotes = 200'000;
  PortCapture capture(16, 64);
  std::thread lcore([&] {
    for (std::uint32_t i = 1; i <= kNotes; ++i) {
      std::array<std::uint32_t, 4> bytes{i, ~i, i, ~i};
      capture.note({.frame_bytes = i}, reinterpret_cast<const std::uint8_t*>(bytes.data()), 16);
    }
    capture.finish();
  });
  std::uint64_t taken = 0;
  std::uint32_t last = 0;
  for (bool more = true; more;) {
    more = !capture.finished();
    for (const auto& seen : drained(capture)) {
      std::array<std::uint32_t, 4> bytes{};
      std::memcpy(bytes.data(), seen.bytes.data(), 16);
      ASSERT_EQ(bytes,
                (std::array<std::uint32_t, 4>{seen.note.frame_bytes, ~seen.note.frame_bytes,
                                              seen.note.frame_bytes, ~seen.note.frame_bytes}));
      ASSERT_GT(seen.note.frame_bytes, last);
      last = seen.note.frame_bytes;
      ++taken;
    }
  }
  lcore.join();
  taken += drained(capture).size();
  EXPECT_EQ(taken + capture.missed(), kNotes);
}

std::vector<std::uint8_t> content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the enhanced packet blocks and checks that the two lengths of each block agree.
std::vector<std::size_t> packets_in(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i + 12 <= bytes.size();) {
    std::uint32_t type = 0, first = 0, last = 0;
    std::memcpy(&type, bytes.data() + i, 4);
    std::memcpy(&first, bytes.data() + i + 4, 4);
    EXPECT_LE(i + first, bytes.size());
    std::memcpy(&last, bytes.data() + i + first - 4, 4);
    EXPECT_EQ(first, last);
    if (type == 6) at.push_back(i);
    i += first;
  }
  return at;
}

TEST(Capture, AFileEndsAtItsBounds) {
  const std::string path = std::filesystem::temp_directory_path() /
                           ("outrider-capture-" + std::to_string(getpid()) + ".pcapng");
  const auto capture_of = [&](std::uint64_t max_packets, std::uint64_t max_bytes) {
    B bench;
    {
      CaptureFile file({.port = "sw.east",
                        .file = path,
                        .max_packets = max_packets,
                        .max_bytes = max_bytes,
                        .snap_bytes = 60},
                       1'000'000'000);
      bench.sw.port(B::kEast).capture(file.packets());
      bench.fill(20, Time{1us});
      bench.run();
    }
    return content(path);
  };
  EXPECT_EQ(packets_in(capture_of(100, 1'000'000)).size(), 20U);
  EXPECT_EQ(packets_in(capture_of(7, 1'000'000)).size(), 7U);
  const auto bounded = capture_of(100, 1000);
  EXPECT_LE(bounded.size(), 1000U);
  EXPECT_GT(bounded.size(), 700U);
  const auto whole = capture_of(100, 1'000'000);
  const std::string text(whole.begin(), whole.end());
  EXPECT_NE(text.find("queue 0, class background, waited 8000 ns, left 18 packets 18000 bytes, "
                      "held 0, threshold 40, regulations 0"),
            std::string::npos);
  std::filesystem::remove(path);
}

// packets_in() fails if the last block is cut off.
TEST(Capture, AFileThatCannotGrowHoldsWholeRecords) {
  const std::string path = std::filesystem::temp_directory_path() /
                           ("outrider-capture-full-" + std::to_string(getpid()) + ".pcapng");
  constexpr std::uint64_t kRoom = 50'000;
  {
    B bench;
    const FileSizeLimit limit(kRoom);
    CaptureFile file({.port = "sw.east", .file = path}, 1'000'000'000);
    bench.sw.port(B::kEast).capture(file.packets());
    for (int i = 0; i < 100 && !file.packets().finished(); ++i) {
      bench.fill(20, Time{1us + i * 1s});
      bench.run();
    }
  }
  const auto bytes = content(path);
  EXPECT_LE(bytes.size(), kRoom);
  packets_in(bytes);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace outrider::capture_test
