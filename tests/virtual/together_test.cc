// Goal: features that share hosts and devices do not take each other's packets. Method: each
// feature runs alone, then every two run on the same hosts, and both must deliver all that
// they delivered alone.
#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "tests/support/simulation.h"
#include "tests/virtual/mlt_scene.h"

namespace outrider::together_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Kinds of traffic that run beside each other on the same hosts of a dumbbell.
enum class Feature : std::uint8_t { kTosJob, kUdpJob, kMltJob, kTransfer, kLongFlow, kStream };
constexpr std::array kFeatures{Feature::kTosJob,   Feature::kUdpJob,   Feature::kMltJob,
                               Feature::kTransfer, Feature::kLongFlow, Feature::kStream};

std::string_view name_of(Feature f) {
  constexpr std::array<std::string_view, kFeatures.size()> kNames{
      "tos_job", "udp_job", "mlt_job", "transfer", "long_flow", "stream"};
  return kNames[static_cast<std::size_t>(f)];
}

struct Delivered {
  std::uint64_t iterations = 0;
  std::uint64_t burst_bytes = 0;
  std::uint64_t starts_answered = 0;
  std::uint64_t transfer_bytes = 0;
  std::uint64_t long_flows = 0;  ///< that delivered anything
  std::uint64_t stream_packets = 0;

  bool operator==(const Delivered&) const = default;
  Delivered operator+(const Delivered& o) const {
    return {iterations + o.iterations,           burst_bytes + o.burst_bytes,
            starts_answered + o.starts_answered, transfer_bytes + o.transfer_bytes,
            long_flows + o.long_flows,           stream_packets + o.stream_packets};
  }
};

std::ostream& operator<<(std::ostream& out, const Delivered& d) {
  return out << d.iterations << " iterations, " << d.burst_bytes << " bytes of bursts, "
             << d.starts_answered << " answers, " << d.transfer_bytes << " bytes transferred, "
             << d.long_flows << " long flows, " << d.stream_packets << " packets of streams";
}

Dumbbell wide() {
  Dumbbell d = mlt_dumbbell(2);
  d.bottleneck = {1'000'000'000};
  d.bottleneck_port.queue.limit_packets = 2000;
  d.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
  return d;
}

SwitchProcessConfig switches_of(const Dumbbell& d, bool stream) {
  SwitchProcessConfig c = d.switches();
  for (auto& sw : c.switches) sw.signals.accept_tos = sw.signals.accept_udp = true;
  if (!stream) return c;
  SwitchPortConfig port = c.switches[0].ports[0];  // a stream comes from a port without hosts
  port.name = "tester";
  c.switches[0].ports.push_back(port);
  c.switches[0].routes.push_back({"10.0.9.1/32", "tester"});
  return c;
}

JobConfig job_of(Feature f, JobConfig job) {
  job.name = name_of(f);
  job.tcp_port = static_cast<std::uint16_t>(5000 + static_cast<int>(f));
  job.announce.lead = milliseconds(5);
  job.announce.lead_source = f == Feature::kMltJob ? LeadSource::kNone : LeadSource::kWait;
  job.announce.signal_form = f == Feature::kUdpJob ? SignalForm::kUdp : SignalForm::kTos;
  if (f == Feature::kMltJob) job.transport = "mlt";
  return job;
}

void add(GeneratorConfig& g, const JobConfig& job, Feature f) {
  switch (f) {
    case Feature::kTosJob:
    case Feature::kUdpJob:
    case Feature::kMltJob:
      g.jobs.push_back(job_of(f, job));
      return;
    case Feature::kTransfer:
      g.transfers.push_back({.name = "t",
                             .from = "w0",
                             .to = "s0",
                             .bytes = 2'000'000,
                             .transport = "ddl",
                             .tcp_port = 5100});
      return;
    case Feature::kLongFlow:
      g.long_flows.push_back(
          {.name = "long", .from = {"w1"}, .to = {"s0"}, .transport = "background"});
      return;
    case Feature::kStream: {
      StreamConfig s;
      s.name = "stream";
      s.device = "left";
      s.receive_device = "right";
      s.source = "10.0.9.1";
      s.destination = "10.0.3.1";
      s.rate = StreamRate{StreamRate::Unit::kPackets, 10'000};
      s.packets = 5000;
      g.streams.push_back(s);
      return;
    }
  }
}

Delivered run_with(const std::vector<Feature>& features, rte_mempool& pool) {
  const Dumbbell d = wide();
  GeneratorConfig g = d.traffic();
  const JobConfig job = g.jobs.at(0);
  g.jobs.clear();
  TransportConfig mlt = g.transports.at(0);
  mlt.name = "mlt";
  mlt.protocol = TransportProtocol::kMlt;
  mlt.mlt = {.tolerance_push = 0, .tolerance_pull = 0};
  g.transports.push_back(mlt);
  for (const Feature f : features) add(g, job, f);
  Simulation simulation(switches_of(d, !g.streams.empty()), g, pool);
  simulation.run_until(Time{seconds(3)});
  const RunResult r = simulation.result();
  EXPECT_TRUE(r.traffic.ledger_balanced);
  EXPECT_TRUE(balanced(r.traffic.streams));
  EXPECT_TRUE(r.switches.ledger_balanced);
  Delivered sum;
  sum.iterations = r.traffic.iterations.size();
  for (const auto& b : r.traffic.bursts) sum.burst_bytes += b.delivered_bytes;
  sum.starts_answered = r.traffic.acks_received;
  for (const auto& t : r.traffic.transfers) sum.transfer_bytes += t.delivered;
  for (const auto& f : r.traffic.flows)
    sum.long_flows += f.name.starts_with("long") && f.delivered_bytes > 1'000'000;
  for (const auto& s : r.traffic.streams.streams) sum.stream_packets += s.distinct;
  return sum;
}

TEST(Together, EveryTwoFeaturesDeliverAllThatEachDeliversAlone) {
  const Mempool pool = make_test_pool();
  std::array<Delivered, kFeatures.size()> alone;
  for (std::size_t i = 0; i < kFeatures.size(); ++i) {
    alone[i] = run_with({kFeatures[i]}, *pool);
    EXPECT_NE(alone[i], Delivered{}) << name_of(kFeatures[i]);
  }
  EXPECT_EQ(alone[0].iterations, 6U);
  EXPECT_EQ(alone[0].starts_answered, 6U) << "two workers, three iterations";
  EXPECT_EQ(alone[1].starts_answered, 6U);
  EXPECT_EQ(alone[2].burst_bytes, alone[0].burst_bytes);
  EXPECT_EQ(alone[3].transfer_bytes, 2'000'000U);
  EXPECT_EQ(alone[5].stream_packets, 5000U);
  for (std::size_t a = 0; a < kFeatures.size(); ++a)
    for (std::size_t b = a + 1; b < kFeatures.size(); ++b)
      EXPECT_EQ(run_with({kFeatures[a], kFeatures[b]}, *pool), alone[a] + alone[b])
          << name_of(kFeatures[a]) << " and " << name_of(kFeatures[b]);
}

}  // namespace
}  // namespace outrider::together_test
