// Goal: settings of the bounded-loss transport are refused where they mean nothing, by
// their key and with the reason; and so are those of TCP beside it.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/unit/config/full_transport.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/config/mlt_rules.h"

namespace outrider::mlt_config_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

/// A job of two workers and a server over the bounded-loss transport.
GeneratorConfig plain() {
  GeneratorConfig c;
  c.duration = 1s;
  c.devices = {{.name = "d0", .device = "net_null0"}};
  c.hosts = {{.name = "w0", .address = "10.0.1.1", .device = "d0"},
             {.name = "w1", .address = "10.0.1.2", .device = "d0"},
             {.name = "s0", .address = "10.0.2.1", .device = "d0"}};
  c.transports = {{"bounded", full_mlt_tcp(), TransportProtocol::kMlt, full_mlt()}, {"tcp", {}}};
  c.transports[0].mlt.magnitudes = Magnitudes::kDrawn;  // nothing is learnt
  c.jobs = {{.name = "job",
             .workers = {"w0", "w1"},
             .servers = {"s0"},
             .transport = "bounded",
             .burst_bytes = 1'000'000,
             .compute = 1ms,
             .announce = {.signal_form = SignalForm::kUdp}}};
  return c;
}

/// Its chunks are no layers.
void make_ring(GeneratorConfig& c) {
  c.jobs[0].collective = Collective::kRing;
  c.jobs[0].servers.clear();
  c.jobs[0].aggregate = {};
  c.transports[0].mlt.class_dscps = {46};
  c.transports[0].mlt.front_share = 0;
}

struct Breach {
  std::function<void(GeneratorConfig&)> change;
  std::string key;
  std::string problem;
};

TEST(MltConfig, APlainJobIsValid) {
  const auto issues = validate(plain());
  EXPECT_TRUE(issues.empty()) << format_issues("plain", issues);
}

TEST(MltConfig, SoAreTheMagnitudesOfALearner) {
  GeneratorConfig c = plain();
  c.transports[0].mlt.magnitudes = Magnitudes::kGradient;
  c.jobs[0].learner.model = LearnerModel::kLogistic;
  const auto issues = validate(c);
  EXPECT_TRUE(issues.empty()) << format_issues("plain", issues);
}

TEST(MltConfig, SoIsARing) {
  GeneratorConfig c = plain();
  make_ring(c);
  const auto issues = validate(c);
  EXPECT_TRUE(issues.empty()) << format_issues("ring", issues);
}

TEST(MltConfig, EveryRuleNamesItsKey) {
  using C = GeneratorConfig;
  const auto mlt = [](C& c) -> MltConfig& { return c.transports[0].mlt; };
  const auto tcp = [](C& c) -> TcpConfig& { return c.transports[0].tcp; };
  const Breach breaches[] = {
      {[&](C& c) { mlt(c).tolerance_push = 1; }, "transport[0].mlt.tolerance_push", "less than 1"},
      {[&](C& c) { mlt(c).tolerance_pull = -0.1; }, "transport[0].mlt.tolerance_pull",
       "at least 0"},
      {[&](C& c) { mlt(c).tolerance_pull = 0.3; }, "transport[0].mlt.tolerance_pull",
       "at most tolerance_push"},
      {[&](C& c) { mlt(c).probe_timeout = {}; }, "transport[0].mlt.probe_timeout", "longer than"},
      {[&](C& c) { mlt(c).probe_limit = 0; }, "transport[0].mlt.probe_limit", "at least 1"},
      {[&](C& c) { mlt(c).feedback_packets = 65; }, "transport[0].mlt.feedback_packets",
       "at most 64"},
      {[&](C& c) { mlt(c).class_dscps.assign(9, 0); }, "transport[0].mlt.class_dscps", "at most 8"},
      {[&](C& c) { mlt(c).class_dscps[1] = 64; }, "transport[0].mlt.class_dscps[1]", "at most 63"},
      {[&](C& c) { mlt(c).front_share = 1.5; }, "transport[0].mlt.front_share", "at most 1.0"},
      {[&](C& c) { mlt(c).small_share = -1; }, "transport[0].mlt.small_share", "at least 0.0"},
      {[&](C& c) { tcp(c).control.controller = Controller::kCubic; }, "transport[0].controller",
       "must be \"dctcp\" or \"timely\""},
      {[&](C& c) { tcp(c).min_rto = 1ms; }, "transport[0].min_rto", "is a setting of TCP"},
      {[&](C& c) { tcp(c).sack = false; }, "transport[0].sack", "is a setting of TCP"},
      {[&](C& c) { tcp(c).reuse = ConnectionReuse::kNew; }, "transport[0].connections",
       "has no connections"},
      {[](C& c) { c.transports[1].mlt.tolerance_push = 0.5; }, "transport[1].mlt",
       "needs protocol \"mlt\""},
      {[](C& c) { c.jobs[0].burst_bytes = 1'000'001; }, "job[0].burst_bytes", "multiple of 4"},
      {[](C& c) { c.jobs[0].burst_bytes = 1ULL << 35; }, "job[0].burst_bytes", "16 GiB"},
      {[](C& c) {
         make_ring(c);
         c.transports[0].mlt.class_dscps = {46, 10};
       },
       "job[0].transport", "one DSCP in class_dscps"},
      {[](C& c) {
         make_ring(c);
         c.transports[0].mlt.front_share = 0.5;
       },
       "job[0].transport", "front_share 0"},
      {[](C& c) {
         make_ring(c);
         c.jobs[0].collective = Collective::kAllToAll;
       },
       "job[0].transport", "only gradients tolerate losses"},
      {[](C& c) {
         make_ring(c);
         c.jobs[0].burst_bytes = 4;
       },
       "job[0].burst_bytes", "at least 8"},
      {[](C& c) { c.jobs[0].announce.signal_form = SignalForm::kTos; },
       "job[0].announce.signal_form", "must be \"udp\""},
      {[](C& c) { c.jobs[0].announce.signal_port = 5000; }, "job[0].announce.signal_port",
       "not tcp_port"},
      {[](C& c) {
         c.jobs[0].send_policy = SendPolicyKind::kP3;
         c.jobs[0].policy.partition_bytes = 4001;
       },
       "job[0].policy.partition_bytes", "a partition holds whole values"},
      {[&](C& c) { mlt(c).magnitudes = Magnitudes::kGradient; }, "job[0].learner.model",
       "without a learner"},
      {[](C& c) { c.payload = Payload::kPattern; }, "job[0].transport", "must be \"zeros\""},
      {[](C& c) {
         c.long_flows = {{.name = "bulk", .from = {"w0"}, .to = {"s0"}, .transport = "bounded"}};
       },
       "long_flows[0].transport", "must have protocol \"tcp\""},
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

// A burst that nobody announces has no form of signal to refuse.
TEST(MltConfig, WithoutAnnouncementTheFormDoesNotMatter) {
  GeneratorConfig c = plain();
  c.jobs[0].announce = {.lead_source = LeadSource::kNone};
  EXPECT_TRUE(validate(c).empty());
}

}  // namespace
}  // namespace outrider::mlt_config_test
