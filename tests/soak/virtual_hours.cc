// outrider-virtual-hours HOURS: a job, its announcements, predictions and held windows for so many
// hours of virtual time, and the memory of the process over them. tools/soak --virtual-hours
// starts it. Prints a line "HOURS RESIDENT_KIB HEAP_KIB" at the start and after each tenth.
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>

#include "tests/support/dumbbell.h"
#include "tests/support/simulation.h"
#include "tests/support/test_eal.h"

namespace outrider::virtual_hours {
namespace {

using namespace std::chrono_literals;

constexpr Duration kPeriod = 100ms;
constexpr int kSamples = 10;
/// Samples that a series keeps, and records of bursts. The run has so many after 100 s, so that a
/// run of minutes is flat, too.
constexpr std::uint32_t kKept = 1000;

std::uint64_t resident_kib() {
  std::ifstream pages("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  pages >> size >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

/// @return memory that is allocated now, whether or not it was ever written
std::uint64_t heap_kib() {
  const struct mallinfo2 heap = mallinfo2();
  return (heap.uordblks + heap.hblkhd) / 1024;
}

/// A slow link, because packets take time to compute. A burst has a connection of its own, so that
/// connections and flows come and go all the time.
Dumbbell slow_link(Duration time) {
  Dumbbell d;
  d.bottleneck = BitRate{10'000'000};
  d.host_rate = BitRate{100'000'000};
  d.rtt = 2ms;
  d.background_flows = 1;
  d.job.iterations = static_cast<std::uint32_t>(time / kPeriod);
  d.job.first_due = 1s;
  d.job.period = kPeriod;
  d.job.burst_bytes = 10'000;
  d.ddl_tcp.reuse = tg::ConnectionReuse::kNew;
  d.job.announce.lead_source = tg::LeadSource::kOverlap;
  d.job.announce.lead = 10ms;
  d.job.announce.threshold_packets = 5;
  auto& policy = d.bottleneck_port.regulation;
  policy.mode = RegulationMode::kMarkWindow;
  policy.recovery = Recovery::kBurstEnd;
  policy.idle_end = 8ms;
  policy.expiry = 60ms;
  policy.lead = 10ms;
  policy.predict = {.from = PredictFrom::kTraffic, .idle_gap = 40ms};
  return d;
}

void print(double hours) {
  std::printf("%.3f %llu %llu\n", hours, static_cast<unsigned long long>(resident_kib()),
              static_cast<unsigned long long>(heap_kib()));
  std::fflush(stdout);
}

/// Says what has happened. @return whether every packet has an end, and most bursts were regulated
bool plausible(const lab::RunResult& r, std::uint32_t iterations) {
  const sw::QueueReport& q = bottleneck_of(r);
  std::fprintf(stderr,
               "%u bursts; regulated for %llu announcements and %llu predictions; %llu packets, "
               "%llu windows narrowed\n",
               iterations, static_cast<unsigned long long>(q.starts_armed),
               static_cast<unsigned long long>(q.starts_predicted),
               static_cast<unsigned long long>(r.switches.received),
               static_cast<unsigned long long>(q.window.rewritten));
  return r.switches.ledger_balanced && r.traffic.ledger_balanced &&
         q.starts_armed + q.starts_predicted > iterations / 2;
}

int watch(double hours) {
  const Duration time{static_cast<std::int64_t>(hours * 3600e9)};
  const Dumbbell d = slow_link(time);
  TestEal eal;
  const Mempool pool = make_test_pool();
  sw::SwitchProcessConfig switches = d.switches();
  switches.max_bins = switches.max_burst_records = kKept;
  tg::GeneratorConfig traffic = d.traffic();
  traffic.max_bins = kKept;
  lab::Simulation simulation(switches, traffic, *pool);
  print(0);
  for (int i = 1; i <= kSamples; ++i) {
    simulation.run_until(Time{time * i / kSamples});
    print(hours * i / kSamples);
  }
  const bool good = plausible(simulation.result(), d.job.iterations);
  simulation.flush();
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace outrider::virtual_hours

int main(int argc, char** argv) {
  const double hours = argc == 2 ? std::atof(argv[1]) : 0;
  if (hours <= 0) {
    std::fprintf(stderr, "Usage: outrider-virtual-hours HOURS\n");
    return 2;
  }
  try {
    return outrider::virtual_hours::watch(hours);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "outrider-virtual-hours: %s\n", error.what());
    return 1;
  }
}
