// Goal: whatever a sender does with its grants, the bursts of another one wait for it a fraction of
// the time. Method: the account alone; then 255 connections of one sender that announce and bring
// nothing, next to an honest worker.
#include "switch/regulation/grants/grant_debts.h"

#include <gtest/gtest.h>

#include <array>

#include "switch/regulation/grants/burst_admission.h"

namespace outrider::grant_debts_test {
namespace {

using namespace std::chrono_literals;

FlowKey sender(std::uint32_t address) { return {address, 0, 0, 0}; }

TEST(GrantDebts, AQuarterOfTheTimeAndSomeMoreAtOnceMakeNoDebt) {
  GrantDebts debts(4, 40ms);
  Time now{1s};
  debts.charge(sender(1), 40ms, now);
  EXPECT_FALSE(debts.in_debt(sender(1), now));
  for (int i = 0; i < 1000; ++i, now += 40ms) {
    debts.charge(sender(1), i == 0 ? 0ms : 10ms, now);
    EXPECT_FALSE(debts.in_debt(sender(1), now)) << i;
  }
  debts.charge(sender(1), 20ms, now);
  EXPECT_TRUE(debts.in_debt(sender(1), now));
  EXPECT_FALSE(debts.in_debt(sender(2), now));
  EXPECT_TRUE(debts.in_debt(sender(1), now + 39ms));
  EXPECT_FALSE(debts.in_debt(sender(1), now + 80ms)) << "time pays it off";
}

TEST(GrantDebts, AFullTableForgetsWhoCameInFirst) {
  GrantDebts debts(2, 0ms);
  for (std::uint32_t i = 1; i <= 3; ++i) debts.charge(sender(i), 1s, Time{});
  EXPECT_FALSE(debts.in_debt(sender(1), Time{}));
  EXPECT_TRUE(debts.in_debt(sender(2), Time{}));
  EXPECT_TRUE(debts.in_debt(sender(3), Time{}));
}

enum class Hog { kSilent, kOneByte, kTrickle, kAnnouncesAgain };

/// One sender with many connections, and a worker that sends a burst every 300 ms.
class Hogs {
 public:
  static constexpr std::uint32_t kConnections = 255;
  static constexpr std::uint32_t kBurst = 100'000;

  Hogs(Hog hog, GrantOrder order, std::uint64_t bytes)
      : hog_(hog),
        bytes_(bytes),
        admission_({.policy = {.order = order},
                    .budget_bytes = 45'420,
                    .idle = 10'727us,
                    .expiry = 100ms,
                    .max_entries = 1024,
                    .max_per_sender = 256,
                    .bytes_per_ns = 0.125,
                    .frame_bytes = 1514}) {
    for (std::uint32_t i = 0; i < kConnections; ++i) announce(i);
  }

  /// @return the longest wait of the worker in 20 s
  Duration run() {
    const Time end = now_ + 20s;
    Time next = now_;
    Time announced = now_;
    for (int step = 0; now_ < end; now_ += 500us, ++step) {
      while (const auto release = admission_.take(0, now_))
        on_release(admission_.start_of(release->slot));
      if (hog_ == Hog::kTrickle && step % 20 == 0)
        for (std::uint32_t i = 0; i < kConnections; ++i) send_byte(i);
      if (now_ - announced > (hog_ == Hog::kAnnouncesAgain ? 10ms : Duration(1s))) {
        announced = now_;
        for (std::uint32_t i = 0; i < kConnections && hog_ != Hog::kTrickle; ++i) announce(i);
      }
      if (waits_ || now_ < next) continue;
      next = now_ + 300ms;
      ask();
    }
    return waits_ ? std::max(longest_, now_ - asked_) : longest_;
  }

 private:
  static FlowKey flow_of(std::uint32_t i) {
    const auto port = static_cast<std::uint16_t>(30'000 + i);
    return {0x0A00'0166, 0x0A00'0366, port, 6000};
  }
  static constexpr FlowKey kWorker{0x0A00'0101, 0x0A00'0301, 40'000, 5000};

  void announce(std::uint32_t i) {
    sent_[i] = 0;
    sequence_[i] += 1'000'000;
    StartSignal start{.flow = flow_of(i), .sequence = sequence_[i], .threshold_packets = 10};
    start.bytes = bytes_;
    admission_.on_start(start, now_);
    admission_.on_ack(start.flow, start.sequence, 0, now_);
  }
  void send_byte(std::uint32_t i) {
    admission_.on_payload(flow_of(i), sequence_[i] + sent_[i]++, 1, false, now_);
  }
  void ask() {
    worker_sequence_ += 1'000'000;
    StartSignal start{.flow = kWorker, .sequence = worker_sequence_, .threshold_packets = 10};
    start.bytes = kBurst;
    admission_.on_start(start, now_);
    asked_ = now_;
    waits_ = admission_.on_ack(kWorker, worker_sequence_, 0, now_).verdict ==
             BurstAdmission::AckVerdict::kWait;
    if (!waits_) send();
  }
  void send() { admission_.on_payload(kWorker, worker_sequence_, kBurst, true, now_); }
  void on_release(const StartSignal& start) {
    if (start.flow == kWorker) {
      waits_ = false;
      longest_ = std::max(longest_, now_ - asked_);
      send();
    } else if (hog_ == Hog::kOneByte) {
      send_byte(start.flow.source_port - 30'000U);
    }
  }

  Hog hog_;
  std::uint64_t bytes_;
  BurstAdmission admission_;
  Time now_{1s}, asked_{};
  Duration longest_{};
  bool waits_ = false;
  std::uint32_t worker_sequence_ = 0;
  std::array<std::uint32_t, kConnections> sequence_{}, sent_{};
};

TEST(GrantDebts, NobodyWaitsForASenderThatBringsNothing) {
  for (const Hog hog : {Hog::kSilent, Hog::kOneByte, Hog::kTrickle, Hog::kAnnouncesAgain})
    for (const GrantOrder order : {GrantOrder::kFirst, GrantOrder::kShortest, GrantOrder::kShare})
      for (const std::uint64_t bytes : {std::uint64_t{1} << 40, std::uint64_t{45'420}})
        EXPECT_LE(Hogs(hog, order, bytes).run(), 100ms)
            << static_cast<int>(hog) << ", order " << static_cast<int>(order) << ", " << bytes;
}

}  // namespace
}  // namespace outrider::grant_debts_test
