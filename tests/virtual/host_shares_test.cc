// Goal: two generators that share a configuration do what one does with all of it. Method:
// virtual time, without a switch: each device returns what it is sent, as net_ring does. The
// reports are compared as text.
#include <gtest/gtest.h>

#include "common/runtime/link.h"
#include "tests/support/pool.h"
#include "tests/support/source_path.h"
#include "trafficgen/apps/generator.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/report/report_csv.h"
#include "trafficgen/report/report_json.h"

namespace outrider::host_shares_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

/// Returns what a device is sent.
struct Ring final : Node {
  void receive(std::uint32_t device, Packet* packet, Time now) noexcept override {
    to->receive_from_device(device, packet, now);
  }
  Generator* to = nullptr;
};

/// One lcore's generator in virtual time, with an event loop of its own.
struct Part {
  Part(const GeneratorConfig& config, rte_mempool& pool, LcoreShare share)
      : generator(config, loop, pool, {.share = std::move(share)}) {
    ring.to = &generator;
    for (std::uint32_t h = 0; h < config.hosts.size(); ++h) {
      if (!generator.has_host(h)) continue;
      const auto device =
          static_cast<std::uint32_t>(config.hosts[h].device.back() - '0');  // "d0", "d1"
      wires.push_back(std::make_unique<Link>(loop, 50us, ring, device));
      generator.connect(h, *wires.back());
    }
    generator.start(Time{});
  }
  EventLoop loop;
  Ring ring;
  Generator generator;
  std::vector<std::unique_ptr<Link>> wires;
};

/// Two groups of three hosts. Each kind of traffic is in both, in either order.
GeneratorConfig two_groups() {
  GeneratorConfig c;
  c.seed = 7;
  c.bin = 5ms;
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    c.hosts.push_back(
        {.name = "h" + n, .address = "10.0.0.1" + n, .device = "d" + std::to_string(i % 2)});
  }
  c.devices = {{.name = "d0", .device = "net_ring0"}, {.name = "d1", .device = "net_ring1"}};
  c.transports = {
      {"tcp", {.control = {}, .min_rto = 10ms, .initial_rto = 20ms, .delayed_ack = 1ms}}};
  for (const int group : {1, 0}) {
    const auto host = [&](int i) { return "h" + std::to_string(2 * i + group); };
    const std::string name = "of " + std::to_string(group);
    auto& job = c.jobs.emplace_back();
    job.name = "job " + name;
    job.workers = {host(0), host(1)};
    job.servers = {host(2)};
    job.transport = "tcp";
    job.burst_bytes = 100'000;
    job.iterations = 5;
    job.compute = 3ms;
    job.compute_jitter = 0.3;
    job.tcp_port = static_cast<std::uint16_t>(5000 + 10 * group);
    job.arrivals = {std::chrono::milliseconds(30 + group)};
    c.requests.push_back({.name = "ask " + name,
                          .from = {host(0)},
                          .to = {host(1)},
                          .connections = 3,
                          .transport = "tcp",
                          .think = 1ms});
    auto& flows = c.flows.emplace_back();
    flows.name = "mice " + name;
    flows.from = {host(0), host(1)};
    flows.to = {host(2)};
    flows.distribution = source_path("conf/distributions/web-search.cdf");
    flows.load = 0.1;
    flows.transport = "tcp";
    flows.records = 1000;
    c.transfers.push_back({.name = "copy " + name,
                           .from = host(1),
                           .to = host(2),
                           .bytes = 300'000,
                           .count = 2,
                           .transport = "tcp"});
  }
  c.long_flows = {{.name = "bulk",
                   .from = {"h1", "h0"},
                   .to = {"h3", "h2"},
                   .flows_per_pair = 2,
                   .transport = "tcp",
                   .start_spread = 10ms}};
  return c;
}

std::string text_of(const GeneratorReport& report) {
  std::string text = to_json(report);
  for (const CsvFile& file : csv_files(report)) text += file.name + '\n' + file.text;
  return text;
}

TEST(HostShares, TwoLcoresReportWhatOneDoes) {
  const GeneratorConfig config = two_groups();
  ASSERT_TRUE(validate(config).empty()) << format_issues("config", validate(config));
  constexpr Time kEnd{100ms};
  TestPool pool(32'000);
  Part whole(config, pool.get(), {});
  whole.loop.run_until(kEnd);
  const LcorePlan plan = plan_lcores(config, 2);
  Part first(config, pool.get(), {.plan = plan, .lcore = 0});
  Part second(config, pool.get(), {.plan = plan, .lcore = 1});
  EXPECT_FALSE(first.generator.finished());
  first.loop.run_until(kEnd);
  EXPECT_TRUE(first.generator.finished()) << "its own jobs and transfers";
  EXPECT_FALSE(second.generator.finished());
  second.loop.run_until(kEnd);

  const GeneratorReport one = whole.generator.report(kEnd);
  const std::vector<const Generator*> parts{&first.generator, &second.generator};
  const GeneratorReport two = Generator::report(parts, kEnd);
  EXPECT_EQ(text_of(two), text_of(one));
  EXPECT_TRUE(two.ledger_balanced);
  EXPECT_TRUE(two.jobs_finished);
  EXPECT_EQ(two.jobs.size(), 4U);
  EXPECT_EQ(two.flows.size(), one.flows.size());
  for (const auto& flow : two.flows) EXPECT_GT(flow.delivered_bytes, 0U) << flow.name;
  for (const auto& group : two.flow_groups) EXPECT_GT(group.completed, 0U) << group.name;
  for (const auto& requests : two.requests) EXPECT_GT(requests.completed, 0U) << requests.name;
  EXPECT_FALSE(first.generator.has_host(plan.of_host[0] == 0 ? 1 : 0));
}

TEST(HostShares, TheRunIsNotOverUntilAllLcoresHaveFinished) {
  GeneratorConfig config = two_groups();
  config.jobs.pop_back();  // of the first group
  config.transfers.pop_back();
  TestPool pool(32'000);
  const LcorePlan plan = plan_lcores(config, 2);
  Part idle(config, pool.get(), {.plan = plan, .lcore = 0});
  Part busy(config, pool.get(), {.plan = plan, .lcore = 1});
  EXPECT_TRUE(idle.generator.finished()) << "the file has jobs, this lcore none";
  EXPECT_FALSE(busy.generator.finished());
  const std::vector<const Generator*> parts{&idle.generator, &busy.generator};
  EXPECT_FALSE(Generator::report(parts, Time{}).jobs_finished);
}

}  // namespace
}  // namespace outrider::host_shares_test
