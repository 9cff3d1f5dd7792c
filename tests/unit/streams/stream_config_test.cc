// Goal: a stream is read as its user wrote it, and every rule names its key.
#include <gtest/gtest.h>

#include "common/config/config_file.h"
#include "common/config/range_checker.h"
#include "tests/unit/config/issue_matchers.h"
#include "tests/unit/streams/stream_fixture.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/streams/engine/stream_engine.h"

namespace outrider::stream_config_test {
using namespace tg;

// Found by argument-dependent lookup of expect_each_reported().
struct StreamList {
  std::vector<StreamConfig> streams;
};
ConfigIssues validate(const StreamList& list) {
  ConfigIssues issues;
  for (std::size_t i = 0; i < list.streams.size(); ++i)
    check_ranges(Checks(issues).below("stream", i), list.streams[i]);
  check_streams(Checks(issues), list.streams);
  return issues;
}

namespace {

using namespace std::chrono_literals;
using Unit = StreamRate::Unit;

TEST(StreamRate, ReadsPacketsBitsAndShares) {
  const std::pair<const char*, StreamRate> good[] = {
      {"10mpps", {Unit::kPackets, 10'000'000}},
      {"1.5 Kpps", {Unit::kPackets, 1500}},
      {"1pps", {Unit::kPackets, 1}},
      {"5gbps", {Unit::kBits, 5'000'000'000}},
      {"9.5gbit", {Unit::kBits, 9'500'000'000}},
      {"40%", {Unit::kShare, 400'000}},
      {"99.9999%", {Unit::kShare, 999'999}},
      {"0.05%", {Unit::kShare, 500}},
      {"100%", {Unit::kShare, 1'000'000}},
  };
  for (const auto& [text, rate] : good) {
    const auto parsed = parse_stream_rate(text);
    ASSERT_TRUE(parsed.value) << text << ": " << parsed.problem;
    EXPECT_EQ(*parsed.value, rate) << text;
    EXPECT_EQ(parse_stream_rate(format_stream_rate(rate)).value, rate) << text;
  }
  for (const char* bad : {"", "fast", "10", "10mhz", "-1mpps", "0.5pps", "101%", "0.00001%", "%"})
    EXPECT_FALSE(parse_stream_rate(bad).value) << bad;
}

TEST(StreamSizes, ReadsMixes) {
  EXPECT_EQ(parse_size_mix("simple").value, simple_imix());
  EXPECT_EQ(parse_size_mix("64:7,594:4,1518:1").value, simple_imix());
  EXPECT_EQ(parse_size_mix(format_size_mix(simple_imix())).value, simple_imix());
  for (const char* bad : {"", "64", "64:", "64:1,", "64:1;65:2", "complex", "64:1 "})
    EXPECT_FALSE(parse_size_mix(bad).value) << bad;
}

TEST(StreamConfigRules, EveryRuleNamesItsKey) {
  const StreamList valid{{stream(), stream("other", "10.9.0.1")}};
  ASSERT_TRUE(validate(valid).empty()) << format_issues("valid", validate(valid));
  using L = StreamList;
  const Breach<L> breaches[] = {
      {[](L& l) { l.streams[0].hops = 5; }, "stream[0].hops", "5"},
      {[](L& l) { l.streams[0].hops = 1; }, "stream[0].hops",
       "1: needs frames of at least 84 bytes; the shortest has 64"},
      {[](L& l) {
         l.streams[0].hops = 2;
         l.streams[0].imix = SizeMix{{{1518, 1}, {99, 1}}};
       },
       "stream[0].hops", "2: needs frames of at least 100 bytes; the shortest has 99"},
      {[](L& l) { l.streams[0].name = ""; }, "stream[0].name", "\"\": must not be empty"},
      {[](L& l) { l.streams[1].name = "s"; }, "stream[1].name", "\"s\": is used twice"},
      {[](L& l) { l.streams[0].device = ""; }, "stream[0].device", "one of device and"},
      {[](L& l) { l.streams[0].rate.reset(); }, "stream[0].rate", "is required"},
      {[](L& l) { l.streams[0].rate->value = 0; }, "stream[0].rate", "\"0pps\": must be more"},
      {[](L& l) {
         l.streams[0].rate = StreamRate{Unit::kShare, 1};
         l.streams[0].layer = RateLayer::kL2;
       },
       "stream[0].layer", "\"l2\": a percentage"},
      {[](L& l) { l.streams[0].burst_packets = 2; }, "stream[0].burst_packets", "2: needs pattern"},
      {[](L& l) { l.streams[0].pattern = StreamPattern::kOnOff; }, "stream[0].gap",
       "0s: must be longer"},
      {[](L& l) { l.streams[0].frame_bytes = 63; }, "stream[0].frame_bytes",
       "63 bytes: must be at least 64"},
      {[](L& l) { l.streams[0].frame_bytes = 9019; }, "stream[0].frame_bytes",
       "9019 bytes: must be at most 9018"},
      {[](L& l) {
         l.streams[0].frame_bytes = 64;
         l.streams[0].imix = simple_imix();
       },
       "stream[0].imix", "only one of"},
      {[](L& l) {
         l.streams[0].imix = SizeMix{{{64, 4097}}};
       },
       "stream[0].imix", "4097 packets in a cycle: must be at most 4096"},
      {[](L& l) { l.streams[0].flows = 0; }, "stream[0].flows", "0: must be at least 1"},
      {[](L& l) {
         l.streams[0].flows = 11;
         l.streams[0].source_ports = 5;
         l.streams[0].source_addresses = 2;
       },
       "stream[0].flows", "11: only 10 can be told apart"},
      {[](L& l) { l.streams[0].source = "10.0.0"; }, "stream[0].source", "\"10.0.0\": "},
      {[](L& l) { l.streams[0].destination = ""; }, "stream[0].destination", "is required"},
      {[](L& l) {
         l.streams[0].destination = "223.255.255.255";
         l.streams[0].destination_addresses = 2;
       },
       "stream[0].destination", "\"223.255.255.255\": must be unicast"},
      {[](L& l) {
         l.streams[0].source_port = 65000;
         l.streams[0].source_ports = 1000;
       },
       "stream[0].source_port", "65000: and the 1000 ports"},
      {[](L& l) { l.streams[0].dscp = 64; }, "stream[0].dscp", "64: must be at most 63"},
      {[](L& l) { l.streams[0].source_mac = "01:00:00:00:00:01"; }, "stream[0].source_mac",
       "\"01:00:00:00:00:01\": must be a unicast"},
      {[](L& l) { l.streams[0].packets = 0; }, "stream[0].packets", "0 packets: must be"},
      {[](L& l) { l.streams[0].duration = 0s; }, "stream[0].duration", "0s: must be longer"},
      {[](L& l) { l.streams[0].max_lag = 0s; }, "stream[0].max_lag", "0s: must be longer"},
      {[](L& l) { l.streams[1].id = 0; }, "stream[1].id", "0: is also that of stream[0]"},
      {[](L& l) { l.streams[1].source = l.streams[0].source; }, "stream[1].source",
       "\"10.0.0.1\": addresses and ports overlap with those of stream[0]"},
  };
  expect_each_reported(breaches, valid);
}

TEST(StreamConfigRules, OverlapNeedsAllFourRangesToMeet) {
  StreamList list{{stream(), stream("other")}};
  list.streams[0].flows = 10;
  list.streams[1].source_port = static_cast<std::uint16_t>(list.streams[0].source_port + 9);
  EXPECT_EQ(validate(list).size(), 1U);
  ++list.streams[1].source_port;
  EXPECT_TRUE(validate(list).empty());
}

TEST(LineRates, RefusesWhatADeviceCannotCarry) {
  const auto faults = [](const std::vector<StreamConfig>& streams, BitRate line) {
    ConfigIssues issues;
    check_line_rates(Checks(issues), streams, {{"d", line}});
    return issues;
  };
  const BitRate ten{10'000'000'000};
  StreamConfig s = stream();
  s.rate = StreamRate{Unit::kPackets, 14'880'952};  // 64 B at 10 Gbit/s (RFC 2544)
  EXPECT_TRUE(faults({s}, ten).empty());
  ++s.rate->value;
  EXPECT_EQ(faults({s}, ten).at(0).key, "stream[0].rate");
  EXPECT_TRUE(faults({s}, {}).empty()) << "a virtual device has no line rate";
  s.rate = StreamRate{Unit::kShare, 500'001};
  EXPECT_TRUE(faults({s}, ten).empty());
  EXPECT_EQ(faults({s, s}, ten).at(0).key, "stream[1].rate") << "together";
  EXPECT_EQ(faults({s}, {}).at(0).key, "stream[0].rate") << "a share of nothing";
  s.layer = RateLayer::kL2;
  s.rate = StreamRate{Unit::kBits, 7'619'047'619};  // 10 Gbit/s x 64 / 84
  EXPECT_TRUE(faults({s}, ten).empty());
  s.rate->value += 10;
  EXPECT_EQ(faults({s}, ten).size(), 1U);
}

TEST(StreamToml, WhatIsWrittenReadsBack) {
  const char* text = R"(
duration = "1s"
[[device]]
name = "d"
device = "net_null0"
line_rate = "100gbit"
[[stream]]
name = "a"
id = 7
device = "d"
receive_device = "d"
rate = "12.5%"
pattern = "on_off"
burst_packets = 32
gap = "10us"
imix = "simple"
flows = 1000000
source = "10.0.0.1"
destination = "10.1.0.1"
source_addresses = 20
source_ports = 50000
destination_mac = "02:00:00:00:00:07"
dscp = 46
ecn = "ect0"
udp_checksum = "full"
start = "1ms"
packets = 99
)";
  const auto first = generator_config_from(parse_toml(text).config.value(), "");
  ASSERT_TRUE(first) << format_issues("text", first.issues);
  const StreamConfig& s = first.config->streams.at(0);
  EXPECT_EQ(s.rate, (StreamRate{Unit::kShare, 125'000}));
  EXPECT_EQ(s.imix, simple_imix());
  EXPECT_EQ(s.gap, 10us);
  EXPECT_EQ(s.flows, 1'000'000U);
  EXPECT_EQ(s.ecn, Ecn::kEct0);
  const auto second = generator_config_from(parse_toml(to_toml(*first.config)).config.value(), "");
  ASSERT_TRUE(second) << format_issues("again", second.issues);
  EXPECT_EQ(to_toml(*second.config), to_toml(*first.config));
}

TEST(StreamToml, NamesUnknownPatternsAndDevices) {
  const char* text = R"(
duration = "1s"
[[stream]]
name = "a"
device = "nowhere"
rate = "1mpps"
pattern = "wavy"
source = "10.0.0.1"
destination = "10.1.0.1"
)";
  const auto result = generator_config_from(parse_toml(text).config.value(), "");
  ASSERT_EQ(result.issues.size(), 2U) << format_issues("text", result.issues);
  EXPECT_EQ(result.issues[0].key, "stream[0].pattern");
  EXPECT_EQ(result.issues[1].key, "stream[0].device");
}

}  // namespace
}  // namespace outrider::stream_config_test
