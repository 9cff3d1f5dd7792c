// Goal: a stack sets the settings in which it differs from the others, whatever is given beside it
// wins, and what is written reads back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/config/config_file.h"
#include "common/config/toml_file.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/config/mlt_rules.h"
#include "trafficgen/transport/base/tcp_stack.h"

namespace outrider::transport_stack_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

TransportConfig read(const std::string& settings, ConfigIssues& issues) {
  TransportConfig transport = default_transport();
  read_config(parse_toml("name = \"t\"\n" + settings).config.value(), "transport", transport,
              issues);
  check(Checks(issues), transport.tcp);
  check_protocol(Checks(issues), transport);
  return transport;
}

TcpConfig read(const std::string& settings) {
  ConfigIssues issues;
  const TransportConfig transport = read(settings, issues);
  EXPECT_TRUE(issues.empty()) << settings << ": " << issues[0].key << ' ' << issues[0].problem;
  return transport.tcp;
}

TEST(TransportStack, LinuxSetsWhatLinuxDoes) {
  const TcpConfig c = read("stack = \"linux\"");
  EXPECT_EQ(c.loss_detection, LossDetection::kRackTlp);
  EXPECT_EQ(c.tail_probe, TailProbe::kLinux);
  EXPECT_EQ(c.segment_bursts, SegmentJoining::kLinux);
  EXPECT_EQ(c.reduction, WindowReduction::kPrr);
  EXPECT_EQ(c.control.hystart, HyStartKind::kLinux);
  EXPECT_EQ(c.control.idle_restart, IdleRestart::kLinux);
  EXPECT_EQ(c.control.initial_window_segments, 10U);
  EXPECT_EQ(c.rto, RtoRule::kLinux);
  EXPECT_EQ(c.window_validation, WindowUse::kLinux);
  EXPECT_EQ(c.ssthresh_base, SsthreshBase::kWindow);
  EXPECT_EQ(c.lost_retransmission, LostRetransmission::kLinux);
  EXPECT_TRUE(c.timestamps);
  EXPECT_FALSE(c.pacing);
  EXPECT_EQ(c.quick_acks, 16U);
  EXPECT_EQ(c.max_rto, 120s);
}

TEST(TransportStack, LinuxIsTheDefault) {
  const TcpConfig none = read(""), as_linux = read("stack = \"linux\"");
  EXPECT_EQ(write_config(none), write_config(as_linux));
  EXPECT_EQ(write_config(read("stack = \"rfc\"")), write_config(TcpConfig{}));
  ConfigIssues issues;
  GeneratorConfig file;
  read_config(parse_toml("[[transport]]\nname = \"t\"\n").config.value(), "", file, issues);
  EXPECT_EQ(write_config(file.transports.at(0).tcp), write_config(as_linux));
}

// Its parts that go with a controller too.
TEST(TransportStack, TheDefaultFollowsTheController) {
  EXPECT_EQ(read("controller = \"dctcp\"").control.hystart, HyStartKind::kOff);
  EXPECT_EQ(read("controller = \"cubic\"").control.hystart, HyStartKind::kLinux);
}

// What follows an idle time is a choice of the stack too.
TEST(TransportStack, OtherProtocolsBeginWithoutOne) {
  for (const char* protocol : {"\"mlt\"\ncontroller = \"dctcp\"", "\"roce\""}) {
    const TcpConfig c = read(std::string("protocol = ") + protocol);
    EXPECT_EQ(c.stack, TcpStack::kRfc);
    EXPECT_EQ(c.control.idle_restart, IdleRestart::kRfc5681);
  }
}

// Also a setting that stands before `stack` in the file.
TEST(TransportStack, ASingleSettingWins) {
  const TcpConfig c = read(
      "reduction = \"at_once\"\nhystart = \"off\"\nstack = \"linux\"\ntimestamps = false\n"
      "loss_detection = \"rfc6675\"\nidle_restart = \"rfc5681\"\nquick_acks = 0\nmax_rto = "
      "\"60s\"\nrto = \"rfc6298\"\nssthresh_base = \"flight\"\nlost_retransmission = "
      "\"reduces\"\nwindow_validation = \"off\"\ntail_probe = \"rfc8985\"\nsegment_bursts = "
      "\"off\"");
  EXPECT_EQ(c.stack, TcpStack::kLinux);
  TcpConfig rfc;
  rfc.stack = TcpStack::kLinux;
  rfc.control.initial_window_segments = 10;  // no value stands for its absence
  EXPECT_EQ(write_config(c), write_config(rfc));
}

TEST(TransportStack, OnlyCubicHasLinuxHystart) {
  EXPECT_EQ(read("stack = \"linux\"\ncontroller = \"dctcp\"").control.hystart, HyStartKind::kOff);
  EXPECT_EQ(
      read("controller = \"unresponsive\"\nrate = \"1mbit\"\nstack = \"linux\"").control.hystart,
      HyStartKind::kOff);
}

TEST(TransportStack, WhatIsWrittenReadsBack) {
  for (const char* settings : {"stack = \"linux\"", "stack = \"linux\"\nreduction = \"at_once\""}) {
    const TcpConfig c = read(settings);
    EXPECT_EQ(write_config(read(write_config(c))), write_config(c));
  }
}

TEST(TransportStack, TheBoundedLossTransportHasNone) {
  ConfigIssues issues;
  read("stack = \"linux\"\nprotocol = \"mlt\"\ncontroller = \"dctcp\"", issues);
  ASSERT_EQ(issues.size(), 1U);
  EXPECT_EQ(issues[0].key, "stack");
}

}  // namespace
}  // namespace outrider::transport_stack_test
