#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "tests/support/simulation.h"

namespace outrider {

using std::chrono::milliseconds;

constexpr std::uint32_t kFaultIterations = 3;
constexpr Duration kFaultLead = milliseconds(14);

/// Returns bursts of 300 kB due at 0.5, 0.8 and 1.1 s.
inline Dumbbell regulated() {
  Dumbbell d;
  d.bottleneck_port.regulation = {
      .mode = RegulationMode::kMark, .recovery = Recovery::kArrival, .spare_ddl = false};
  d.job.burst_bytes = 300'000;
  d.job.iterations = kFaultIterations;
  d.job.first_due = milliseconds(500);
  d.job.period = milliseconds(300);
  d.job.announce.lead = kFaultLead;
  return d;
}

class RegulationFaults : public testing::Test {
 protected:
  /// Runs until every entry must have expired, then checks what must hold after any fault.
  static lab::RunResult settle(ImpairedSimulation& simulation, bool expect_end = true) {
    EXPECT_EQ(simulation.run_to_end(Time{} + std::chrono::seconds(5)), expect_end);
    simulation.run_until(simulation.now() + milliseconds(500));
    const lab::RunResult r = simulation.result();
    for (const auto& q : r.switches.queues) {
      EXPECT_EQ(q.entries_left, 0U) << q.switch_name << '.' << q.port_name;
      const auto used =
          std::ranges::find_if(q.bins.rbegin(), q.bins.rend(),
                               [](const sw::QueueBin& b) { return b.min_threshold_packets > 0; });
      if (used != q.bins.rend()) {
        EXPECT_EQ(used->min_threshold_packets, q.initial_threshold_packets);
      }
    }
    EXPECT_TRUE(simulation.ledger().balanced());
    EXPECT_TRUE(r.switches.ledger_balanced && r.traffic.ledger_balanced);
    return r;
  }
  Mempool pool_ = make_test_pool();
};

}  // namespace outrider
