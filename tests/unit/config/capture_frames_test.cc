// Goal: of a capture its gaps, sizes and TOS bytes are kept, and what cannot be played is refused
// by the packet's number.
#include "trafficgen/background/capture_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "common/config/config_file.h"
#include "tests/support/pcap_file.h"
#include "tests/unit/config/issue_matchers.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::capture_frames_test {
using namespace tg;
using testing::HasSubstr;
namespace {

using namespace std::chrono_literals;

class CaptureFiles : public testing::Test {
 protected:
  CaptureFiles() : path_(testing::TempDir() + "capture-" + std::to_string(getpid()) + ".pcap") {}
  ~CaptureFiles() override { std::filesystem::remove(path_); }

  ConfigResult<CaptureFrames> read(const std::vector<CapturedPacket>& packets) {
    write_pcap(path_, packets);
    return load_capture_frames(path_, 1500);
  }
  std::string path_;
};

TEST_F(CaptureFiles, KeepGapsSizesAndTos) {
  const auto read_back = read({{.at = 3ms, .bytes = 60, .tos = 0x02},
                               {.at = 3ms + 1ns, .bytes = 1514, .tos = 0xB8},
                               {.at = 5ms, .bytes = 90, .kept_bytes = 40}});
  ASSERT_TRUE(read_back) << format_issues(path_, read_back.issues);
  const auto& frames = read_back.config->frames;
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[0].at, 0ns) << "relative to the first";
  EXPECT_EQ(frames[1].at, 1ns);
  EXPECT_EQ(frames[2].at, 2ms);
  EXPECT_EQ(frames[1].bytes, 1514);
  EXPECT_EQ(frames[2].bytes, 90) << "its size on the wire, not what was kept of it";
  EXPECT_EQ(frames[0].tos, 0x02);
  EXPECT_EQ(frames[1].tos, 0xB8);
  EXPECT_EQ(read_back.config->period, 3ms) << "2 ms, and a mean gap of 1 ms";
}

TEST_F(CaptureFiles, RefusalsNameThePacket) {
  const auto refused = read({{.at = 0ms},
                             {.at = 1ms, .ether_type = 0x0806},
                             {.at = 2ms, .bytes = 1515},
                             {.at = 3ms, .bytes = 100, .kept_bytes = 14}});
  ASSERT_FALSE(refused);
  ASSERT_EQ(refused.issues.size(), 3U) << "all of them at once";
  EXPECT_EQ(refused.issues[0].key, "packet 2");
  EXPECT_THAT(refused.issues[0].problem, HasSubstr("is no IPv4 packet: its EtherType is 0x0806"));
  EXPECT_EQ(refused.issues[1].key, "packet 3");
  EXPECT_THAT(refused.issues[1].problem, HasSubstr("has 1501 bytes, more than"));
  EXPECT_EQ(refused.issues[2].key, "packet 4");
  EXPECT_THAT(refused.issues[2].problem, HasSubstr("no IPv4 header"));
  EXPECT_EQ(read({std::vector<CapturedPacket>(100, {.ether_type = 0x86DD})}).issues.size(), 20U);
  EXPECT_THAT(read({}).issues.at(0).problem, HasSubstr("holds no packet"));
}

TEST_F(CaptureFiles, StampsThatRunBackwardsAreRefused) {
  const auto refused = read({{.at = 5ms}, {.at = 6ms}, {.at = 4ms}, {.at = 7ms}, {.at = 5ms}});
  ASSERT_EQ(refused.issues.size(), 1U);
  EXPECT_EQ(refused.issues[0].key, "packet 3");
  EXPECT_THAT(refused.issues[0].problem, HasSubstr("as 2 of 5 packets have"));
  EXPECT_THAT(refused.issues[0].problem, HasSubstr("reordercap"));
  EXPECT_TRUE(read({{.at = 5ms}, {.at = 5ms}})) << "at the same time";
}

TEST_F(CaptureFiles, EveryRuleOfATableNamesItsKey) {
  write_pcap(path_, {{.at = 1ms}, {.at = 2ms}});
  const std::string once = testing::TempDir() + "once-" + std::to_string(getpid()) + ".pcap";
  write_pcap(once, {{.at = 1ms}});
  GeneratorConfig valid;
  valid.duration = 1s;
  valid.devices = {{.name = "d", .device = "net_null0"}};
  valid.hosts = {{.name = "a", .address = "10.0.1.1", .device = "d"},
                 {.name = "b", .address = "10.0.2.1", .device = "d"}};
  valid.captures = {{.name = "c", .from = "a", .to = "b", .file = path_}};
  const auto faults = [](const GeneratorConfig& c) {
    ConfigIssues all = validate(c);
    merge_issues(all, validate_models(c));
    return format_issues("f", all);
  };
  const auto broken = [&](auto breach) {
    GeneratorConfig c = valid;
    breach(c.captures[0]);
    return faults(c);
  };
  EXPECT_TRUE(validate(valid).empty() && validate_models(valid).empty()) << faults(valid);
  EXPECT_THAT(broken([](auto& c) { c.from = "x"; }), HasSubstr("capture[0].from: \"x\": no [["));
  EXPECT_THAT(broken([](auto& c) { c.to = "a"; }),
              HasSubstr("capture[0].to: \"a\": must be another"));
  EXPECT_THAT(broken([](auto& c) { c.name = ""; }), HasSubstr("capture[0].name"));
  EXPECT_THAT(broken([](auto& c) { c.udp_port = 0; }), HasSubstr("capture[0].udp_port"));
  EXPECT_THAT(broken([](auto& c) { c.start = -1ms; }), HasSubstr("capture[0].start"));
  EXPECT_THAT(broken([](auto& c) { c.file = "none.pcap"; }), HasSubstr("capture[0].file"));
  EXPECT_EQ(broken([&](auto& c) { c.file = once; }), faults(valid)) << "once it can be played";
  EXPECT_THAT(broken([&](auto& c) {
                c.file = once;
                c.rounds = 0;
              }),
              HasSubstr("cannot be played again: all its packets have one time stamp"));
  std::filesystem::remove(once);
  GeneratorConfig twice = valid;
  twice.captures.push_back(twice.captures[0]);
  twice.captures[1].name = "d";
  EXPECT_THAT(faults(twice), HasSubstr("capture[1].udp_port: 34000: is that of capture[0]"));
  GeneratorConfig small = valid;
  small.hosts[1].mtu_bytes = 40;
  EXPECT_THAT(faults(small),
              HasSubstr("packet 1: has 46 bytes, more than the hosts' mtu_bytes 40"));
}

}  // namespace
}  // namespace outrider::capture_frames_test
