// Goal: every rule of RoCEv2's settings refuses what breaks it, by the user's key.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "common/config/config_result.h"
#include "tests/unit/config/full_transport.h"
#include "trafficgen/channel/queue_pair_limits.h"
#include "trafficgen/config/config.h"
#include "trafficgen/roce/path_mtu.h"

namespace outrider::roce_config_test {
using namespace tg;
namespace {

static_assert(is_exact_for_path_mtu(320) && is_exact_for_path_mtu(576) &&
              is_exact_for_path_mtu(1088) && is_exact_for_path_mtu(2112) &&
              is_exact_for_path_mtu(4160));
static_assert(is_exact_for_path_mtu(1500) && is_exact_for_path_mtu(9000));
static_assert(is_exact_for_path_mtu(1132, 44) && is_exact_for_path_mtu(1500, 44) &&
              is_exact_for_path_mtu(9000, 44) && !is_exact_for_path_mtu(1088, 44) &&
              !is_exact_for_path_mtu(1456, 44) && !is_exact_for_path_mtu(40, 44));
static_assert(!is_exact_for_path_mtu(319) && !is_exact_for_path_mtu(1087) &&
              !is_exact_for_path_mtu(1089) && !is_exact_for_path_mtu(2000) &&
              !is_exact_for_path_mtu(4159));

using namespace std::chrono_literals;

/// A job of two workers and a server over RoCEv2.
GeneratorConfig plain() {
  GeneratorConfig c;
  c.duration = 1s;
  c.devices = {{.name = "d0", .device = "net_null0"}};
  c.hosts = {{.name = "w0", .address = "10.0.1.1", .device = "d0"},
             {.name = "w1", .address = "10.0.1.2", .device = "d0"},
             {.name = "s0", .address = "10.0.2.1", .device = "d0"}};
  c.transports = {
      {.name = "rdma", .tcp = {}, .protocol = TransportProtocol::kRoce, .roce = full_roce()},
      {.name = "tcp", .tcp = {}}};
  c.jobs = {{.name = "job",
             .workers = {"w0", "w1"},
             .servers = {"s0"},
             .transport = "rdma",
             .burst_bytes = 1'000'000,
             .compute = 1ms,
             .announce = {.signal_form = SignalForm::kUdp}}};
  return c;
}

/// Adds long flows and flows with sizes over RoCEv2.
void with_background(GeneratorConfig& c) {
  c.long_flows = {{.name = "bulk", .from = {"w0"}, .to = {"s0"}, .transport = "rdma"}};
  c.flows = {{.name = "mice",
              .from = {"w0", "w1"},
              .to = {"s0"},
              .distribution = "sizes.cdf",
              .hosts = {},
              .load = 0.1,
              .transport = "rdma"}};
}

/// Adds a transfer to a host outside.
TransferConfig& with_transfer(GeneratorConfig& c) {
  c.transfers = {{.name = "copy",
                  .from = "w0",
                  .to = "10.0.9.9",
                  .bytes = 1000,
                  .transport = "rdma",
                  .queue_pair = {.own = 17, .peer = 18}}};
  return c.transfers.front();
}

RoceConfig with_swift(const SwiftConfig& swift) {
  return {.controller = RoceController::kSwift, .swift = swift};
}

/// A job with HPCC, on hosts with that MTU.
ConfigIssues with_hpcc(std::uint32_t mtu_bytes) {
  GeneratorConfig c = plain();
  c.transports[0].roce = full_hpcc();
  for (auto& host : c.hosts) host.mtu_bytes = mtu_bytes;
  return validate(c);
}

TEST(RoceConfig, TelemetryNeedsRoomInTheMtu) {
  for (const std::uint32_t mtu : {620U, 1132U, 1500U, 4204U, 9000U})
    EXPECT_TRUE(with_hpcc(mtu).empty()) << mtu << format_issues("hpcc", with_hpcc(mtu));
  EXPECT_NE(
      format_issues("hpcc", with_hpcc(1088)).find("mtu_bytes 1088 would carry only 512 bytes"),
      std::string::npos);
  EXPECT_NE(format_issues("hpcc", with_hpcc(1088))
                .find("108 of headers and telemetry (364, 620, 1132, 2156, 4204 or more)"),
            std::string::npos);
  EXPECT_NE(format_issues("hpcc", with_hpcc(363)).find("the 364 bytes of the least packet"),
            std::string::npos);
}

TEST(RoceConfig, ATransferToAHostOutsideIsValid) {
  GeneratorConfig c = plain();
  with_transfer(c);
  c.transfers.push_back(c.transfers[0]);
  c.transfers[1].name = "from another host";
  c.transfers[1].from = "w1";
  const auto issues = validate(c);
  EXPECT_TRUE(issues.empty()) << format_issues("transfer", issues);
}

// Nobody listens at a port, so tables over RoCEv2 may have the port of others.
TEST(RoceConfig, BackgroundNeedsNoPort) {
  GeneratorConfig c = plain();
  with_background(c);
  c.flows[0].tcp_port = c.long_flows[0].tcp_port = c.jobs[0].tcp_port;
  const auto issues = validate(c);
  EXPECT_TRUE(issues.empty()) << format_issues("background", issues);
  c.flows[0].transport = c.long_flows[0].transport = "tcp";
  EXPECT_EQ(validate(c).size(), 2U);
}

static_assert(first_queue_pairs(0) == 16 && first_queue_pairs(4'096) == 16);
static_assert(first_queue_pairs(4'097) == 15 && first_queue_pairs(65'537) == 0);

// HPCC's fat tree has 320 hosts, each of which sends to each other one.
TEST(RoceConfig, FlowsMayJoinHundredsOfHosts) {
  GeneratorConfig c = plain();
  with_background(c);
  c.flows[0].tcp_port = c.long_flows[0].tcp_port = c.jobs[0].tcp_port;
  const auto join = [&c](int hosts) {
    for (int i = static_cast<int>(c.hosts.size()); i < hosts; ++i)
      c.hosts.push_back(
          {.name = "h" + std::to_string(i),
           .address = "10.9." + std::to_string(i / 250) + '.' + std::to_string(i % 250 + 1),
           .device = "d0"});
    c.flows[0].from.clear();
    for (const HostConfig& host : c.hosts) c.flows[0].from.push_back(host.name);
    c.flows[0].to = c.flows[0].from;
    return validate(c);
  };
  const auto none = join(320);
  EXPECT_TRUE(none.empty()) << format_issues("320 hosts", none);
  const auto issues = join(2'049);
  ASSERT_EQ(issues.size(), 1U) << format_issues("2049 hosts", issues);
  EXPECT_EQ(issues[0].key, "flows[0].transport");
  EXPECT_NE(issues[0].problem.find("joins 4198401 pairs of hosts"), std::string::npos);
}

TEST(RoceConfig, APlainJobIsValid) {
  const auto issues = validate(plain());
  EXPECT_TRUE(issues.empty()) << format_issues("plain", issues);
}

TEST(RoceConfig, EveryRuleNamesItsKey) {
  struct Breach {
    std::function<void(GeneratorConfig&)> change;
    std::string key;
    std::string problem;
  };
  using C = GeneratorConfig;
  const auto roce = [](C& c) -> RoceConfig& { return c.transports[0].roce; };
  const Breach breaches[]{
      {[&](C& c) { roce(c).ack_packets = 257; }, "transport[0].roce.ack_packets",
       "at most window_packets"},
      {[&](C& c) { roce(c).window_packets = 0; }, "transport[0].roce.window_packets", "at least 1"},
      {[&](C& c) { roce(c).dscp = 64; }, "transport[0].roce.dscp", "at most 63"},
      {[&](C& c) { roce(c).cnp_delay = 101us; }, "transport[0].roce.cnp_delay", "at most 100us"},
      {[&](C& c) {
         roce(c).cnp_delay = 64us;
         roce(c).cnp_interval = 500ns;
       },
       "transport[0].roce.cnp_delay", "below 128 times cnp_interval"},
      {[&](C& c) { roce(c).cnp_priority = 8; }, "transport[0].roce.cnp_priority", "at most 7"},
      {[&](C& c) { roce(c).controller = RoceController::kFixed; }, "transport[0].roce.dcqcn",
       "needs controller \"dcqcn\""},
      {[&](C& c) { roce(c).dcqcn.g = 1; }, "transport[0].roce.dcqcn.g", "below 1"},
      {[&](C& c) { roce(c).dcqcn.recovery_stages = 0; }, "transport[0].roce.dcqcn.recovery_stages",
       "at least 1"},
      {[&](C& c) { roce(c).swift.base_target = 1us; }, "transport[0].roce.swift",
       "needs controller \"swift\""},
      {[&](C& c) { roce(c) = with_swift({.scaling_least_window = 100}); },
       "transport[0].roce.swift.scaling_least_window", "below scaling_most_window"},
      {[&](C& c) { roce(c) = with_swift({.base_target = 0s}); },
       "transport[0].roce.swift.base_target", "must be longer"},
      {[&](C& c) {
         roce(c) = with_swift({});
         roce(c).ack_packets = 1;
       },
       "transport[0].roce.ack_packets", "has every packet acknowledged"},
      {[&](C& c) { roce(c).hpcc.eta = 0.5; }, "transport[0].roce.hpcc",
       "needs controller \"hpcc\""},
      {[&](C& c) {
         roce(c) = full_hpcc();
         roce(c).ack_packets = 1;
       },
       "transport[0].roce.ack_packets", "controller \"hpcc\", which has every packet"},
      {[&](C& c) {
         roce(c) = full_hpcc();
         roce(c).hpcc.eta = 1.5;
       },
       "transport[0].roce.hpcc.eta", "at most 1"},
      {[&](C& c) {
         roce(c) = full_hpcc();
         roce(c).hpcc.base_rtt = 5ms;
       },
       "transport[0].roce.hpcc.base_rtt", "at most 4ms"},
      {[&](C& c) {
         roce(c) = full_hpcc();
         with_transfer(c);
       },
       "transfer[0].transport", "both ends must be of this process"},
      {[](C& c) { c.transports[0].tcp.min_rto = 1ms; }, "transport[0].min_rto",
       "is a setting of TCP"},
      {[](C& c) { c.transports[0].tcp.control.controller = Controller::kDctcp; },
       "transport[0].controller", "is a setting of TCP"},
      {[&](C& c) {
         roce(c).controller = RoceController::kFixed;
         c.transports[0].tcp.mltcp = true;
       },
       "transport[0].mltcp", "needs controller \"dcqcn\" of [transport.roce]"},
      {[](C& c) { c.transports[1].roce.dscp = 1; }, "transport[1].roce", "needs protocol \"roce\""},
      {[](C& c) { c.transports[0].mlt = full_mlt(); }, "transport[0].mlt",
       "needs protocol \"mlt\""},
      {[](C& c) { c.hosts[1].mtu_bytes = 300; }, "job[0].workers[1]", "320 bytes"},
      {[](C& c) { c.hosts[1].mtu_bytes = 1064; }, "job[0].workers[1]",
       "mtu_bytes 1064 would carry only 512 bytes"},
      {[](C& c) { c.jobs[0].announce.signal_form = SignalForm::kTos; },
       "job[0].announce.signal_form", "must be \"udp\""},
      {[](C& c) { c.jobs[0].queue_pairs = 257; }, "job[0].queue_pairs", "at most 256"},
      {[](C& c) { c.jobs[0].queue_pairs = 0; }, "job[0].queue_pairs", "at least 1"},
      {[](C& c) {
         c.jobs[0].queue_pairs = 2;
         c.jobs[0].transport = "tcp";
       },
       "job[0].queue_pairs", "needs a transport with protocol \"roce\""},
      {[](C& c) {
         c.jobs[0].queue_pairs = 256;
         for (int i = 1; i < 200; ++i) c.jobs[0].arrivals.push_back(i * 1s);
       },
       "job[0].queue_pairs", "makes 102400 queue pairs"},
      {[](C& c) { c.jobs[0].announce.signal_port = 4791; }, "job[0].announce.signal_port", "4791"},
      {[](C& c) { c.payload = Payload::kPattern; }, "job[0].transport", "must be \"zeros\""},
      {[](C& c) {
         c.requests = {{.name = "asks", .from = {"w0"}, .to = {"s0"}, .transport = "rdma"}};
         c.requests[0].connections = 20'000;
       },
       "requests[0].connections", "makes 20000 queue pairs"},
      {[](C& c) { with_transfer(c).opener = Opener::kReceiver; }, "transfer[0].opener",
       "nobody connects"},
      {[](C& c) { with_transfer(c).bytes = 1ULL << 32; }, "transfer[0].bytes",
       "one message, of 2147483648 bytes"},
      {[](C& c) { with_transfer(c).to = "s0"; }, "transfer[0].queue_pair",
       "only for a transfer whose one end is outside"},
      {[](C& c) { with_transfer(c).queue_pair.own = 1; }, "transfer[0].queue_pair.own",
       "1: must be at least 2"},
      {[](C& c) { with_transfer(c).queue_pair.own = 32768; }, "transfer[0].queue_pair.own",
       "32768: must be at most 32767"},
      {[](C& c) { with_transfer(c).queue_pair.peer = 0; }, "transfer[0].queue_pair.peer",
       "know each other's numbers"},
      {[](C& c) { with_transfer(c).queue_pair.peer_first_psn = 1U << 24; },
       "transfer[0].queue_pair.peer_first_psn", "at most 16777215"},
      {[](C& c) { with_transfer(c).transport = "tcp"; }, "transfer[0].queue_pair",
       "needs a transport with protocol \"roce\""},
      {[](C& c) {
         with_transfer(c);
         c.hosts[1].mtu_bytes = 300;
         c.transfers[0].from = "w1";
       },
       "transfer[0].from", "320 bytes"},
      {[](C& c) {
         with_transfer(c);
         c.transfers.push_back(c.transfers[0]);
         c.transfers[1].name = "again";
       },
       "transfer[1].queue_pair.own", "17: is also that of transfer[0] on host \"w0\""},
      {[](C& c) {
         with_background(c);
         c.transports[0] = {.name = "rdma",
                            .tcp = {.control = {.controller = Controller::kDctcp}},
                            .protocol = TransportProtocol::kMlt};
       },
       "long_flows[0].transport", "\"mlt\" carries the bursts of jobs alone"},
      {[](C& c) {
         with_background(c);
         c.payload = Payload::kPattern;
       },
       "flows[0].transport", "must be \"zeros\""},
      {[](C& c) {
         with_background(c);
         c.hosts[1].mtu_bytes = 300;
       },
       "flows[0].from[1]", "320 bytes"},
      {[](C& c) {
         with_background(c);
         c.flows[0].queue_pairs = 0;
       },
       "flows[0].queue_pairs", "at least 1"},
      {[](C& c) {
         with_background(c);
         c.flows.push_back(c.flows[0]);
         c.flows[0].queue_pairs = c.flows[1].queue_pairs = 4096;
         c.flows[1].name = "more";
       },
       "flows[1].queue_pairs", "at one host"},
      {[](C& c) {
         with_background(c);
         c.long_flows[0].flows_per_pair = 9000;
         c.long_flows[0].from = {"w0", "w0"};
         c.long_flows[0].to = {"s0", "s0"};
       },
       "long_flows[0].flows_per_pair", "makes 18000 queue pairs"},
  };
  for (const Breach& b : breaches) {
    GeneratorConfig c = plain();
    b.change(c);
    const auto issues = validate(c);
    const auto found = std::ranges::any_of(issues, [&b](const ConfigIssue& i) {
      return i.key == b.key && i.problem.find(b.problem) != std::string::npos;
    });
    EXPECT_TRUE(found) << b.key << ": " << format_issues("file", issues);
  }
}

}  // namespace
}  // namespace outrider::roce_config_test
