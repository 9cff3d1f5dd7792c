// Goal: DCQCN behaves as its papers describe it: eight flows keep equal shares with the parameters
// that were chosen for it, and drift apart with those of QCN; a small g keeps the queue steadier;
// feedback that comes late makes the queue unsteady, and a small additive increase mends that.
// Method: long flows over RoCEv2 alone on a link of 40 Gbit/s, in virtual time; one seed, or three
// with OUTRIDER_FULL=1. OUTRIDER_FIGURES=1 prints the figures of docs/rxe.md.
// Sources: Zhu et al., SIGCOMM 2015, section 5; Zhu et al., ECN or Delay, CoNEXT 2016, section 3.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "tests/virtual/roce_scene.h"
#include "trafficgen/roce/path_mtu.h"

namespace outrider::dcqcn_effect_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using namespace std::chrono_literals;

constexpr BitRate kRate{40'000'000'000};
constexpr Duration kBin = 100us;
/// A full packet in the queue.
constexpr double kPacketKb = (1024 + kAroundPayloadBytes - kL1OverheadBytes) / 1e3;

struct Scene {
  std::uint32_t flows = 2;
  Duration rtt = 85us;
  RedConfig red{.kmin_packets = 5, .kmax_packets = 185, .pmax = 0.01};  // 5 and 200 KB
  DcqcnConfig dcqcn{};
};

Dumbbell dumbbell_of(const Scene& s, std::uint64_t seed) {
  Dumbbell d = roce_dumbbell(1, 1'000'000);
  d.background_flows = s.flows;
  d.bottleneck = d.host_rate = kRate;
  d.rtt = s.rtt;
  d.seed = seed;
  d.bottleneck_port.marker.red = s.red;
  d.bottleneck_port.queue.limit_packets = 8000;
  return d;
}

GeneratorConfig long_flows_of(const Dumbbell& d, const DcqcnConfig& dcqcn) {
  GeneratorConfig g = roce_traffic(d);
  g.jobs.clear();
  g.transports[1].tcp = {};
  g.transports[1].protocol = TransportProtocol::kRoce;
  g.transports[1].roce.dcqcn = dcqcn;
  g.long_flows[0].start_spread = 1ms;
  return g;
}

SwitchProcessConfig switches_of(const Dumbbell& d) {
  SwitchProcessConfig c = roce_switches(d);
  c.bin = kBin;
  return c;
}

class Flows {
 public:
  Flows(const Scene& s, std::uint64_t seed)
      : dumbbell_(dumbbell_of(s, seed)),
        simulation_(switches_of(dumbbell_), long_flows_of(dumbbell_, s.dcqcn), *pool_) {}

  /// Returns the largest flow's bytes between two instants over the smallest one's.
  double unfairness(Duration from, Duration to) {
    simulation_.run_until(Time{} + from);
    const RunResult before = simulation_.result();
    simulation_.run_until(Time{} + to);
    const RunResult after = simulation_.result();
    double least = 1e18, most = 0;
    for (std::size_t i = 0; i < after.traffic.flows.size(); ++i) {
      const auto bytes = static_cast<double>(after.traffic.flows[i].delivered_bytes -
                                             before.traffic.flows[i].delivered_bytes);
      least = std::min(least, bytes);
      most = std::max(most, bytes);
    }
    return most / least;
  }

  struct Queue {
    double mean_kb = 0;
    double deviation_kb = 0;  ///< of bins
  };
  Queue queue(Duration from, Duration to) {
    simulation_.run_until(Time{} + to);
    const RunResult r = simulation_.result();
    const auto& bins = bottleneck_of(r).bins;
    double sum = 0, squares = 0;
    const auto first = static_cast<std::size_t>(from / kBin);
    const auto last = static_cast<std::size_t>(to / kBin);
    for (std::size_t bin = first; bin < last; ++bin) {
      const double kb = static_cast<double>(bins.at(bin).sojourn_ns) /
                        static_cast<double>(kBin.count()) * kPacketKb;
      sum += kb;
      squares += kb * kb;
    }
    const auto n = static_cast<double>(last - first);
    return {sum / n, std::sqrt(squares / n - sum / n * sum / n)};
  }

 private:
  Mempool pool_ = make_test_pool(40'000);
  Dumbbell dumbbell_;
  Simulation simulation_;
};

bool prints() { return std::getenv("OUTRIDER_FIGURES") != nullptr; }

double mean_unfairness(const char* what, const Scene& s) {
  double sum = 0;
  const std::uint32_t n = seeds(1, 3);
  for (std::uint64_t seed = 1; seed <= n; ++seed) sum += Flows(s, seed).unfairness(150ms, 200ms);
  if (prints()) std::cout << what << ": " << sum / n << " times the least share\n";
  return sum / n;
}

Flows::Queue mean_queue(const char* what, const Scene& s) {
  Flows::Queue mean;
  const std::uint32_t n = seeds(1, 3);
  for (std::uint64_t seed = 1; seed <= n; ++seed) {
    const Flows::Queue q = Flows(s, seed).queue(80ms, 120ms);
    mean.mean_kb += q.mean_kb / n;
    mean.deviation_kb += q.deviation_kb / n;
  }
  if (prints())
    std::cout << what << ", " << s.flows << " flows: " << mean.mean_kb << " KB, deviation "
              << mean.deviation_kb << " KB\n";
  return mean;
}

double unsteadiness(const char* what, const Scene& s) {
  const Flows::Queue q = mean_queue(what, s);
  return q.deviation_kb / q.mean_kb;
}

// QCN's byte counter is 150 KB and its timer 1.5 ms, so who sends more is raised more often; and a
// step marks all alike, whatever they send.
TEST(DcqcnEffect, SharesStayEqualWhereThoseOfQcnDriftApart) {
  const Scene chosen{.flows = 8, .rtt = 20us};
  Scene of_qcn = chosen;
  of_qcn.red = {.kmin_packets = 37, .kmax_packets = 38, .pmax = 1.0};
  of_qcn.dcqcn.increase_timer = 1500us;
  of_qcn.dcqcn.increase_bytes = 150'000;
  EXPECT_LT(mean_unfairness("as chosen", chosen), 1.5);
  EXPECT_GT(mean_unfairness("as QCN", of_qcn), 2.0);
}

TEST(DcqcnEffect, ASmallGKeepsTheQueueSteadier) {
  for (const std::uint32_t flows : {2U, 16U}) {
    const Scene small{.flows = flows};
    Scene large = small;
    large.dcqcn.g = 1.0 / 16;
    const double of_large = mean_queue("g = 1/16", large).deviation_kb;
    const double of_small = mean_queue("g = 1/256", small).deviation_kb;
    EXPECT_LT(of_small, 0.95 * of_large) << flows;
  }
}

TEST(DcqcnEffect, LateFeedbackMakesTheQueueUnsteadyAndASmallIncreaseMendsIt) {
  Scene late{.flows = 10};
  late.red.pmax = 0.1;
  Scene prompt = late;
  prompt.rtt = 4us;
  Scene gentle = late;
  gentle.dcqcn.additive_increase = BitRate{5'000'000};
  gentle.dcqcn.hyper_increase = BitRate{50'000'000};
  const double of_late = unsteadiness("85 us", late);
  EXPECT_GT(of_late, 1.5 * unsteadiness("4 us", prompt));
  EXPECT_GT(of_late, 1.5 * unsteadiness("85 us, increase of 5 Mbit/s", gentle));
  if (!prints()) return;
  for (Scene* s : {&late, &prompt, &gentle}) s->flows = 64;
  Scene both = gentle;
  both.rtt = prompt.rtt;
  (void)unsteadiness("85 us", late);
  (void)unsteadiness("4 us", prompt);
  (void)unsteadiness("85 us, increase of 5 Mbit/s", gentle);
  (void)unsteadiness("4 us, increase of 5 Mbit/s", both);
}

}  // namespace
}  // namespace outrider::dcqcn_effect_test
