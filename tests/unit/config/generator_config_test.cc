// Goal: as switch_config_test.cc, for the generator's file and model profiles.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/config/config_file.h"
#include "common/config/signal_key_file.h"
#include "tests/unit/config/full_job.h"
#include "tests/unit/config/full_transport.h"
#include "tests/unit/config/issue_matchers.h"
#include "tests/unit/config/two_tensors.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::generator_config_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

GeneratorConfig full_config() {
  const TcpConfig tcp = full_transport();
  const TcpConfig plain{
      .control = {.controller = Controller::kUnresponsive, .rate = BitRate{50'000'000}},
      .ecn = false};
  const JobConfig fixed = full_job();
  const JobConfig closed{.name = "closed",
                         .workers = {"w0"},
                         .servers = {"s0"},
                         .transport = "plain",
                         .model = "/models/x.toml",
                         .compute = 100ms};
  return {
      .seed = 99,
      .duration = 12s,
      .devices = {{"d0",
                   "net_virtio_user0,path=/tmp/a",
                   256,
                   4096,
                   {.arp = true, .subnet = "198.18.0.0/24", .gateway = "198.18.0.254"},
                   BitRate{40'000'000'000}}},
      .hosts = {{"w0", "10.0.1.1", "d0", {1'000'000'000}, 9000, 65536},
                {"w1", "10.0.1.2", "d0"},
                {"s0", "10.0.2.1", "d0"}},
      .transports =
          {{"dctcp", tcp},
           {"plain", plain},
           {"bounded", full_mlt_tcp(), TransportProtocol::kMlt, full_mlt()},
           {.name = "rdma",
            .tcp = {.control = {}, .mltcp = true},
            .protocol = TransportProtocol::kRoce,
            .roce = full_roce()},
           {.name = "delay", .tcp = {}, .protocol = TransportProtocol::kRoce, .roce = full_swift()},
           {.name = "told", .tcp = {}, .protocol = TransportProtocol::kRoce, .roce = full_hpcc()}},
      .jobs = {fixed, closed},
      .long_flows = {{"bulk", {"w0", "w1"}, {"s0", "s0"}, 3, "plain", 1ms, 2ms, 20001}},
      .requests = {{.name = "ask", .from = {"w0"}, .to = {"s0"}, .transport = "plain"}},
      .flows = {{"mice", {"w0"}, {"s0"}, "/x.cdf", {}, {}, 0.5, {}, {}, "plain"}},
      .neighbours = {{"d0", "198.18.0.9", "02:00:00:00:00:09"}},
      .streams = {{.name = "probe",
                   .device = "d0",
                   .rate = StreamRate{StreamRate::Unit::kShare, 400'000},
                   .source = "10.1.0.1",
                   .destination = "10.2.0.1"}},
      .stream_drain = 7ms,
      .transfers = {{"out", "w0", "198.18.0.9", 1000, 2, "plain"}},
      .payload = Payload::kPattern,
      .send_jitter = 0.5,
      .lcore = 7,
      .mbufs = 10'000,
      .bin = 3ms,
      .max_bins = 55,
      .connection_sample_period = 9ms,
      .max_connection_samples = 66,
      .transport_memory = {.flights = 17, .segments = 8192},
      .telemetry = {.prometheus = "192.0.2.1:9465", .prometheus_remote = true},
      .attribution = true};
}

TEST(GeneratorConfig, AFullConfigurationIsValid) {
  const auto issues = validate(full_config());
  EXPECT_TRUE(issues.empty()) << format_issues("full", issues);
}

TEST(GeneratorConfig, WhatIsWrittenReadsBack) {
  const auto c = full_config();
  const auto text = to_toml(c);
  GeneratorConfig again;
  ConfigIssues issues;
  read_config(parse_toml(text).config.value(), "", again, issues);
  ASSERT_TRUE(issues.empty()) << format_issues("text", issues) << text;
  EXPECT_EQ(again.jobs.size(), c.jobs.size());
  EXPECT_EQ(again.transports.size(), c.transports.size());
  EXPECT_EQ(to_toml(again), text);
}

TEST(GeneratorConfig, EveryRuleNamesItsKey) {
  using C = GeneratorConfig;
  const auto tcp = [](C& c) -> TcpConfig& { return c.transports[0].tcp; };
  const Breach<C> breaches[] = {
      {[](C& c) { c.seed = 1ULL << 63; }, "seed", "9223372036854775808: must be at most"},
      {[](C& c) { c.duration = 0s; }, "duration", "0s: must be longer than zero"},
      {[](C& c) {
         c.duration.reset();
         c.jobs.clear();
         c.transfers.clear();
       },
       "duration", "is required without a [[job]]"},
      {[](C& c) { c.send_jitter = 1.5; }, "send_jitter",
       "1.5: must be at least 0.0 and at most 1.0"},
      {[](C& c) { c.bin = 0s; }, "bin", "0s: must be at least 1us"},
      {[](C& c) { c.max_bins = 0; }, "max_bins", "0: must be at least 1"},
      {[](C& c) { c.lcore = 5000; }, "lcore", "5000: must be at most"},
      {[](C& c) { c.tensorlights.bands = 64; }, "tensorlights.bands", "64: must be at most 63"},
      {[](C& c) { c.tensorlights.interval = {}; }, "tensorlights.interval",
       "0s: must be longer than zero"},
      {[](C& c) {
         c.jobs.clear();
         c.tensorlights.mode = TensorLightsMode::kOne;
       },
       "tensorlights.mode", "needs a [[job]] with parameter servers"},
      {[](C& c) {
         c.jobs[0].arrivals.resize(63, 1s);
         c.tensorlights.mode = TensorLightsMode::kOne;
       },
       "tensorlights.mode", "host \"s0\" has servers of 65 jobs"},
      {[](C& c) { c.transport_memory.flights = 0; }, "transport_memory.flights",
       "0: must be at least 1"},
      {[](C& c) { c.transport_memory.segments = 8191; }, "transport_memory.segments",
       "8191 segments: must be at least 8192"},
      {[](C& c) { c.mbufs = 100; }, "mbufs",
       "100: must be at least 5120 = descriptors 4352 + hosts 192 + batches, caches and lcores' "
       "queues 576"},
      {[](C& c) { c.devices[0].rx_descriptors = 100; }, "device[0].rx_descriptors",
       "100: must be a power of two"},
      {[](C& c) {
         c.devices.push_back({"d0", "net_null1"});
       },
       "device[1].name", "\"d0\": is used twice"},
      {[](C& c) {
         c.devices.push_back({"d1", c.devices[0].device});
       },
       "device[1].device", "\"net_virtio_user0,path=/tmp/a\": is also that of device[0]"},
      {[](C& c) {
         c.hosts[1].name = "";
         c.jobs[0].workers = {"w0"};
         c.long_flows[0].from[1] = "w0";
       },
       "host[1].name", "\"\": must not be empty"},
      {[](C& c) {
         c.hosts[2].name = "w1";
         c.jobs.clear();
         c.long_flows.clear();
         c.requests.clear();
         c.flows.clear();
       },
       "host[2].name", "\"w1\": is used twice"},
      {[](C& c) { c.hosts[1].address = "10.0.1.300"; }, "host[1].address",
       "\"10.0.1.300\": must be an IPv4"},
      {[](C& c) { c.hosts[1].address = "10.0.1.1"; }, "host[1].address",
       "\"10.0.1.1\": is also that of host[0]"},
      {[](C& c) { c.hosts[1].address = "224.0.0.1"; }, "host[1].address",
       "\"224.0.0.1\": must be a unicast"},
      {[](C& c) { c.hosts[1].device = "d9"; }, "host[1].device", "\"d9\": no [[device]]"},
      {[](C& c) { c.hosts[1].rate = {}; }, "host[1].rate", "0bit: must be more"},
      {[](C& c) { c.hosts[0].tso_bytes = 1000; }, "host[0].tso_bytes",
       "1000: must be 0 or from mtu_bytes to 65536 bytes"},
      {[](C& c) { c.hosts[0].pause_storm.end = 1s; }, "host[0].pause_storm.end", "1s: needs begin"},
      {[](C& c) { c.hosts[0].pause_storm = {.begin = 1s, .end = 1s}; }, "host[0].pause_storm.end",
       "1s: must be after begin, 1s"},
      {[](C& c) { c.hosts[0].pause_storm.priority = 8; }, "host[0].pause_storm.priority",
       "8: must be"},
      {[](C& c) { c.hosts[0].mtu_bytes = 9001; }, "host[0].mtu_bytes",
       "9001 bytes: must be at most 9000"},
      {[](C& c) {
         c.hosts[1].mtu_bytes = 1451;
         c.long_flows.clear();
       },
       "job[0].workers[1]",
       "\"w1\": mtu_bytes 1451 cannot hold transport \"dctcp\": mss_bytes 1400 + 52"},
      {[](C& c) { c.transports.push_back(c.transports[0]); }, "transport[6].name",
       "\"dctcp\": is used twice"},
      {[&](C& c) { tcp(c).mss_bytes = 100; }, "transport[0].mss_bytes",
       "100 bytes: must be at least"},
      {[&](C& c) { tcp(c).control.initial_window_segments = 0; },
       "transport[0].initial_window_segments", "0: must be at least 1"},
      {[&](C& c) { tcp(c).ecn = false; }, "transport[0].ecn",
       "false: controller \"dctcp\" needs it"},
      {[&](C& c) { tcp(c).mltcp = true; }, "transport[0].mltcp",
       "true: controller \"dctcp\" has no growth that MLTCP scales"},
      {[](C& c) {
         c.transports[1].tcp.control = {.controller = Controller::kReno};
         c.transports[1].tcp.mltcp = true;
         c.requests.clear();
         c.flows.clear();
         c.transfers.clear();
       },
       "long_flows[0].transport", "\"plain\": must not have mltcp"},
      {[&](C& c) { tcp(c).min_rto = 0ms; }, "transport[0].min_rto", "0s: must be longer"},
      {[&](C& c) { tcp(c).initial_rto = 5ms; }, "transport[0].initial_rto",
       "5ms: must not be shorter than min_rto"},
      {[&](C& c) { tcp(c).max_rto = 15ms; }, "transport[0].max_rto",
       "15ms: must not be shorter than initial_rto"},
      {[&](C& c) { tcp(c).sack = false; }, "transport[0].sack",
       "false: loss_detection \"rack_tlp\" needs it; set \"rfc6675\""},
      {[&](C& c) { tcp(c).time_wait = -1ms; }, "transport[0].time_wait",
       "-1ms: must not be negative"},
      {[&](C& c) { tcp(c).read_rate = BitRate{0}; }, "transport[0].read_rate",
       "0bit: must be more"},
      {[&](C& c) { tcp(c).delayed_ack = 0ms; }, "transport[0].delayed_ack", "0s: must be longer"},
      {[&](C& c) { tcp(c).delayed_ack = 10ms; }, "transport[0].delayed_ack",
       "10ms: must be shorter than min_rto"},
      {[&](C& c) { tcp(c).ack_every_segments = 0; }, "transport[0].ack_every_segments",
       "0 segments: must be at least 1"},
      {[&](C& c) { tcp(c).receive_buffer_bytes = 10; }, "transport[0].receive_buffer_bytes",
       "10 bytes: must be at least 1400"},
      {[](C& c) { c.jobs[1].name = "fixed"; }, "job[1].name", "\"fixed\": is used twice"},
      {[](C& c) { c.jobs[0].workers.clear(); }, "job[0].workers", "0 workers: must be at least 1"},
      {[](C& c) { c.jobs[0].workers.assign(257, "w0"); }, "job[0].workers",
       "257 workers: must be at most 256"},
      {[](C& c) { c.jobs[0].workers[1] = "w9"; }, "job[0].workers[1]", "\"w9\": no [[host]]"},
      {[](C& c) { c.jobs[0].servers.clear(); }, "job[0].servers", "must name at least one host"},
      {[](C& c) {
         c.jobs[0].servers = {"s0", "s0"};
       },
       "job[0].servers[1]", "\"s0\": is named twice"},
      {[](C& c) { c.jobs[0].servers = {"w1"}; }, "job[0].servers[0]",
       "\"w1\": must not be a worker"},
      {[](C& c) { c.jobs[0].servers = {"s9"}; }, "job[0].servers[0]", "\"s9\": no [[host]]"},
      {[](C& c) { c.jobs[0].transport = "udp"; }, "job[0].transport", "\"udp\": no [[transport]]"},
      {[](C& c) { c.jobs[0].model = "x"; }, "job[0].model",
       "must not be given together with burst_bytes"},
      {[](C& c) { c.jobs[0].burst_bytes.reset(); }, "job[0].model",
       "one of model, burst_bytes and steps is required"},
      {[](C& c) { c.jobs[0].burst_bytes = 0; }, "job[0].burst_bytes",
       "0 bytes: must be at least 1"},
      {[](C& c) { c.jobs[0].iterations = 0; }, "job[0].iterations", "0: must be at least 1"},
      {[](C& c) {
         c.jobs[0].period = 0s;
         c.jobs[0].announce.lead = {};
       },
       "job[0].period", "is required with schedule \"fixed\""},
      {[](C& c) {
         c.jobs[0].period = -1s;
         c.jobs[0].announce.lead_source = LeadSource::kNone;
       },
       "job[0].period", "-1s: must not be negative"},
      {[](C& c) { c.jobs[0].due_jitter = 1s; }, "job[0].due_jitter",
       "1s: must be shorter than period"},
      {[](C& c) { c.jobs[0].due_jitter = -1ms; }, "job[0].due_jitter",
       "-1ms: must not be negative"},
      {[](C& c) { c.jobs[1].first_due = -1ms; }, "job[1].first_due", "-1ms: must not be negative"},
      {[](C& c) { c.jobs[0].aggregate = -1ms; }, "job[0].aggregate", "-1ms: must not be negative"},
      {[](C& c) { c.jobs[1].compute = -1ms; }, "job[1].compute", "-1ms: must not be negative"},
      {[](C& c) {
         c.jobs[1].model.reset();
         c.jobs[1].burst_bytes = 5;
         c.jobs[1].compute.reset();
       },
       "job[1].compute", "is required with schedule \"closed_loop\""},
      {[](C& c) { c.jobs[0].compute_jitter = 1; }, "job[0].compute_jitter",
       "1.000000: must be at least 0 and less than 1"},
      {[](C& c) { c.jobs[0].announce.signal_port = 0; }, "job[0].announce.signal_port",
       "0: must be at least 1"},
      {[](C& c) { c.jobs[0].announce.threshold_packets = 7; }, "job[0].announce.threshold_packets",
       "7 packets: must be a multiple of 5"},
      {[](C& c) { c.jobs[0].announce.threshold_packets = 0; }, "job[0].announce.threshold_packets",
       "0 packets: must be a multiple"},
      {[](C& c) { c.jobs[0].announce.threshold_packets = 80; }, "job[0].announce.threshold_packets",
       "80 packets: must be a multiple"},
      {[](C& c) { c.jobs[0].announce.lead = -1ms; }, "job[0].announce.lead",
       "-1ms: must not be negative"},
      {[](C& c) { c.jobs[0].announce.lead = 1500ms; }, "job[0].announce.lead",
       "1500ms: must not be longer than period, 1s"},
      {[](C& c) { c.jobs[0].first_due = 1ms; }, "job[0].announce.lead",
       "20ms: must not be longer than first_due, 1ms"},
      {[](C& c) { c.jobs[1].announce = {.lead_source = LeadSource::kOverlap, .lead = 101ms}; },
       "job[1].announce.lead", "101ms: must not be longer than compute, 100ms"},
      {[](C& c) { c.jobs[0].announce.ack_timeout = 0ms; }, "job[0].announce.ack_timeout",
       "0s: must be longer"},
      {[](C& c) { c.jobs[0].announce.repeats = 17; }, "job[0].announce.repeats",
       "17: must be at most 16"},
      {[](C& c) { c.jobs[0].announce.repeats = 1, c.jobs[0].announce.repeat_after = 50ms; },
       "job[0].announce.repeat_after", "50ms: must be shorter than ack_timeout, "},
      {[](C& c) { c.jobs[1].tcp_port = 5001; }, "job[1].tcp_port",
       "5001: is that of job[0] on host \"s0\" already"},
      {[](C& c) { c.jobs[1].tcp_port = 0; }, "job[1].tcp_port", "0: must be at least 1"},
      {[](C& c) { c.long_flows[0].tcp_port = 5000; }, "long_flows[0].tcp_port",
       "5000: is that of job[1] on host \"s0\" already"},
      {[](C& c) {
         c.long_flows.push_back(c.long_flows[0]);
         c.long_flows[1].tcp_port = 9;
       },
       "long_flows[1].name", "\"bulk\": is used twice"},
      {[](C& c) { c.long_flows[0].from.pop_back(); }, "long_flows[0].to",
       "2 hosts: must be as many as from has, 1"},
      {[](C& c) {
         c.long_flows[0].from.clear();
         c.long_flows[0].to.clear();
       },
       "long_flows[0].from", "must name at least one host"},
      {[](C& c) { c.long_flows[0].to[0] = "w0"; }, "long_flows[0].to[0]",
       "\"w0\": must be another host"},
      {[](C& c) { c.long_flows[0].from[1] = "x"; }, "long_flows[0].from[1]", "\"x\": no [[host]]"},
      {[](C& c) { c.long_flows[0].flows_per_pair = 0; }, "long_flows[0].flows_per_pair",
       "0: must be at least 1"},
      {[](C& c) { c.long_flows[0].transport = ""; }, "long_flows[0].transport",
       "\"\": no [[transport]]"},
      {[](C& c) { c.long_flows[0].start = -1ms; }, "long_flows[0].start", "-1ms: must not"},
      {[](C& c) { c.long_flows[0].start_spread = -1ms; }, "long_flows[0].start_spread",
       "-1ms: must not"},
  };
  expect_each_reported(breaches, full_config());
}

TEST(GeneratorConfig, RequiredMbufsAreEnough) {
  auto c = full_config();
  c.mbufs = required_mbufs(c);
  EXPECT_TRUE(validate(c).empty());
  c.mbufs = required_mbufs(c) - 1;
  EXPECT_EQ(validate(c).size(), 1U);
}

/// The issues of a file whose job has these keys.
std::string issues_of_job(const std::string& job, const std::string& directory = "/nowhere") {
  static const std::string kBefore = R"(
[[device]]
name = "d"
device = "net_null0"
[[host]]
name = "w"
address = "10.0.0.1"
device = "d"
[[host]]
name = "s"
address = "10.0.0.2"
device = "d"
[[transport]]
name = "t"
[[job]]
name = "j"
workers = ["w"]
servers = ["s"]
transport = "t"
)";
  const auto table = parse_toml(kBefore + job).config.value();
  return format_issues("f", generator_config_from(table, directory).issues);
}

TEST(GeneratorConfig, ModelsAreCheckedWithTheFile) {
  EXPECT_EQ(issues_of_job("model = \"a/../m.toml\""),
            "f: 1 invalid setting\n  job[0].model: \"/nowhere/m.toml\": cannot be opened: "
            "No such file or directory\n");

  const auto directory = testing::TempDir();
  auto profile = two_tensors();
  const auto write = [&] { std::ofstream(directory + "/m.toml") << to_toml(profile); };
  write();
  const std::string overlap = "model = \"m.toml\"\n[job.announce]\nlead_source = \"overlap\"\n";
  EXPECT_EQ(issues_of_job(overlap + "lead = \"3ms\"", directory), "");
  EXPECT_EQ(issues_of_job(overlap + "lead = \"4ms\"", directory),
            "f: 1 invalid setting\n  job[0].announce.lead: 4ms: must not be longer than the "
            "model's compute time, 3ms\n");
  profile.forward.reset();
  profile.backward.reset();
  write();
  EXPECT_EQ(issues_of_job("model = \"m.toml\"", directory),
            "f: 1 invalid setting\n  job[0].compute: is required: the model's profile has no "
            "compute times\n");
  EXPECT_EQ(issues_of_job("model = \"m.toml\"\ncompute = \"1s\"", directory), "");

  EXPECT_EQ(issues_of_job("tcp_prt = 1"),
            "f: 3 invalid settings\n  job[0].tcp_prt: unknown key; did you mean \"tcp_port\"?\n"
            "  job[0].model: one of model, burst_bytes and steps is required\n"
            "  job[0].compute: is required with schedule \"closed_loop\" and burst_bytes\n");
}

TEST(GeneratorConfig, SignalKeysAreReadWithTheFile) {
  const auto directory = testing::TempDir();
  const std::string key = directory + "generator_config.key";
  const std::string job =
      "burst_bytes = 1000\ncompute = \"1ms\"\n[job.announce]\nsignal_form = \"udp\"\n"
      "signal_key = \"generator_config.key\"";
  EXPECT_EQ(issues_of_job(job),
            "f: 1 invalid setting\n  job[0].announce.signal_key: "
            "\"/nowhere/generator_config.key\": cannot be opened: No such "
            "file or directory\n");
  const auto write = [&](const std::string& text) {
    std::ofstream(key) << text;
    std::filesystem::permissions(key, std::filesystem::perms::owner_all);
  };
  write(signal_key_text({.id = 1, .secret = {0xAB}}));
  EXPECT_EQ(issues_of_job(job, directory), "");
  write("outrider-signal-key 1 1 abcd");
  const std::string faulty = issues_of_job(job, directory);
  EXPECT_NE(faulty.find("job[0].announce.signal_key: \"" + key +
                        "\": has a secret that is not 32 hexadecimal digits"),
            std::string::npos)
      << faulty;
  EXPECT_EQ(faulty.find("abcd"), std::string::npos);
  std::filesystem::remove(key);
}

}  // namespace
}  // namespace outrider::generator_config_test
