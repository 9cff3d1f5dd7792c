// Goal: a job whose STARTs are UDP messages goes through its iterations like one with TOS
// signals. Method: the same scene with both forms.
#include <gtest/gtest.h>

#include "tests/support/world.h"
#include "tests/virtual/job_scene.h"

namespace outrider::udp_signal_job_test {
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;

RunResult run_with(SignalForm form, LeadSource source, rte_mempool& pool) {
  Scene s(closed_loop());
  s.job().announce.signal_form = form;
  s.job().announce.lead_source = source;
  s.job().announce.lead = milliseconds(10);
  return run(s, pool);
}

TEST(UdpSignalJob, EveryStartIsAnsweredAndTheBurstsLeaveAtTheSameTimes) {
  const Mempool pool = make_test_pool();
  for (const auto source : {LeadSource::kWait, LeadSource::kOverlap}) {
    const RunResult udp = run_with(SignalForm::kUdp, source, *pool);
    const RunResult tos = run_with(SignalForm::kTos, source, *pool);
    EXPECT_EQ(udp.traffic.starts_sent, 16U) << "one to each server";
    EXPECT_EQ(udp.traffic.acks_received, 16U);
    EXPECT_EQ(udp.traffic.ack_timeouts, 0U);
    const auto with_udp = bursts_of(udp, BurstDirection::kPush);
    const auto with_tos = bursts_of(tos, BurstDirection::kPush);
    ASSERT_EQ(with_udp.size(), with_tos.size());
    for (std::size_t i = 0; i < with_udp.size(); ++i) {
      EXPECT_EQ(with_udp[i].start_sent_ns - with_udp[i].due_ns,
                with_tos[i].start_sent_ns - with_tos[i].due_ns);
      EXPECT_EQ(with_udp[i].released_ns - with_udp[i].due_ns,
                with_tos[i].released_ns - with_tos[i].due_ns);
      EXPECT_FALSE(with_udp[i].ack_timed_out);
      EXPECT_GT(with_udp[i].ack_received_ns, with_udp[i].start_sent_ns);
    }
  }
}

TEST(UdpSignalJob, AnnouncesToTheRightNeighbourOfARing) {
  const Mempool pool = make_test_pool();
  Scene s(closed_loop());
  s.job().announce.signal_form = SignalForm::kUdp;
  s.job().announce.lead = milliseconds(10);
  s.job().collective = Collective::kRing;
  s.job().servers.clear();
  s.job().aggregate = {};
  const RunResult r = run(s, *pool);
  EXPECT_EQ(r.traffic.starts_sent, 8U) << "two workers, four iterations";
  EXPECT_EQ(r.traffic.acks_received, 8U);
}

}  // namespace
}  // namespace outrider::udp_signal_job_test
