// Goal: a job whose STARTs are UDP messages goes through its iterations like one with TOS
// signals. Method: the same scene with both forms.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/config/signal_key_file.h"
#include "tests/support/simulation.h"
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

class SignedJob : public testing::Test {
 protected:
  SignedJob() {
    std::ofstream(key_) << signal_key_text({.id = 1, .secret = {1, 2, 3}});
    std::filesystem::permissions(key_, std::filesystem::perms::owner_read);
  }
  ~SignedJob() override { std::filesystem::remove(key_); }
  SignedJob(const SignedJob&) = delete;
  SignedJob& operator=(const SignedJob&) = delete;

  [[nodiscard]] Scene scene() const {
    Scene s(closed_loop());
    s.job().announce.signal_form = SignalForm::kUdp;
    s.job().announce.lead_source = LeadSource::kOverlap;
    s.job().announce.lead = milliseconds(10);
    s.job().announce.signal_key = key_;
    return s;
  }
  const std::string key_ =
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name();
  const Mempool pool_ = make_test_pool();
};

TEST_F(SignedJob, RunsLikeAnUnsignedOne) {
  Scene s = scene();
  const RunResult with_key = run(s, *pool_);
  EXPECT_EQ(with_key.traffic.starts_sent, 16U);
  EXPECT_EQ(with_key.traffic.acks_received, 16U);
  EXPECT_EQ(with_key.traffic.acks_not_ours, 0U);
  EXPECT_EQ(with_key.traffic.ack_timeouts, 0U);
  s.job().announce.signal_key.reset();
  const RunResult without = run(s, *pool_);
  ASSERT_EQ(with_key.traffic.bursts.size(), without.traffic.bursts.size());
  for (std::size_t i = 0; i < without.traffic.bursts.size(); ++i)
    EXPECT_EQ(with_key.traffic.bursts[i].delivered_ns, without.traffic.bursts[i].delivered_ns);
}

TEST_F(SignedJob, ItsCopiesAreAnsweredAndItsReplaysAndForgeriesHoldNothing) {
  Scene s = scene();
  s.job().announce.faults = {.duplicated = 1,
                             .copies = 9,
                             .forged_per_second = 200,
                             .forged_tag = ForgedTag::kWrong,
                             .replayed_per_second = 200};
  const RunResult r = run(s, *pool_);
  EXPECT_EQ(r.traffic.starts.duplicated, 9U * 16);
  EXPECT_GT(r.traffic.starts.forged, 20U);
  EXPECT_GT(r.traffic.starts.replayed, 20U);
  EXPECT_EQ(r.traffic.starts_sent, r.traffic.starts.sent());
  EXPECT_EQ(r.traffic.ack_timeouts, 0U);
}

TEST_F(SignedJob, WithoutItsKeyItDoesNotBegin) {
  const Scene s = scene();
  std::filesystem::remove(key_);
  EXPECT_THROW((void)run(s, *pool_), std::runtime_error);
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
