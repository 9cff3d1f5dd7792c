// Counts the steps of every call to a regulator. No call may take more than the size of the table
// allows, whatever was announced before and however much is due, and a regulator that is behind
// catches up in a bounded number of packets. An input announces many bursts with few bytes, jumps
// in time and reloads the policy. libFuzzer keeps inputs that cost more than
// those before, so it climbs towards the costliest call.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <utility>

#include "switch/regulation/regulator/regulator.h"
#include "tests/fuzz/fuzz_main.h"
#include "tests/support/regulator_bound.h"

namespace outrider::fuzz {
namespace {

using std::chrono::nanoseconds;

/// Tables of 1 to 2^kSizes - 1 entries.
constexpr std::uint32_t kSizes = 12;
/// The steps of a call are counted in fours.
constexpr std::size_t kCosts = 2048;
/// libFuzzer takes each of these for a branch of the code: [size of the table][steps of a call].
__attribute__((section("__libfuzzer_extra_counters")))
std::array<std::array<std::uint8_t, kCosts>, kSizes + 1>
    reached_costs;

constexpr std::uint64_t kMost = Regulator::kMostEvents;

Duration span_from(FuzzInput& in) {
  const std::uint8_t b = in.byte();
  return Duration{std::int64_t{1 + b % 8} << (b >> 3)};
}

void change(RegulationPolicy& p, FuzzInput& in) {
  const std::uint8_t bits = in.byte();
  p.recovery = static_cast<Recovery>(bits % 3);
  p.hold = span_from(in);
  p.idle_end = span_from(in);
  p.expiry = span_from(in);
  p.budget_window = span_from(in);
  p.budget_share = (1 + in.byte()) / 256.0;
  p.budget_queue_share = (bits & 4) != 0 ? 1.0 : 0.5;
  p.signers[0] = {};
  if ((bits & 8) != 0) p.signers[0] = {0.25, (p.max_entries + 1) / 2};
  if ((bits & 16) != 0) p.max_threshold_packets = 20;
  if ((bits & 64) != 0 || p.lead) p.lead = span_from(in);
}

RegulationPolicy policy_from(FuzzInput& in) {
  RegulationPolicy p;
  p.mode = RegulationMode::kMark;
  const std::uint8_t bits = in.byte();
  p.max_entries = std::max(1U, (1U << bits % (kSizes + 1)) - 1);
  if ((bits & 128) != 0) p.max_entries_per_sender = p.max_entries;
  change(p, in);
  const std::uint8_t predict = in.byte();
  p.composition = static_cast<Composition>(predict % 3);
  p.predict.from = static_cast<PredictFrom>((predict >> 2) % 3);
  if (p.predict.from == PredictFrom::kOff) return p;
  p.lead = p.lead.value_or(nanoseconds(100));
  p.predict.idle_gap = span_from(in);
  p.predict.max_jobs = 1 + in.byte() % 64U;
  return p;
}

class StepsRun {
 public:
  explicit StepsRun(FuzzInput& in) : in_(in), policy_(policy_from(in)), regulator_(policy_) {}

  void run() {
    while (!in_.empty() && calls_ < kMostCalls) step(in_.byte());
    catch_up();
  }

 private:
  /// An input that is not over by then is cut off: longer ones would cost no more per call.
  static constexpr std::uint32_t kMostCalls = 20'000;

  template <class Call>
  void count(Call&& call) {
    const std::uint64_t cost = cost_of(call);
    FUZZ_REQUIRE(cost <= most_steps_of_call(policy_));
    auto& of_size = reached_costs[static_cast<std::size_t>(std::bit_width(policy_.max_entries))];
    of_size[std::min<std::uint64_t>(cost / 4, kCosts - 1)] = 1;
  }
  template <class Call>
  std::uint64_t cost_of(Call&& call) {
    ++calls_;
    const std::uint64_t before = regulator_.steps();
    call();
    return regulator_.steps() - before;
  }

  FlowKey flow_of(std::uint32_t number, std::uint8_t spread) const {
    const std::uint32_t senders = 1U << spread % 8;
    const std::uint32_t servers = 1U << (spread >> 3) % 8;
    return {0x0A000101U + number % senders, 0x0A010001U + number % servers,
            static_cast<std::uint16_t>(1 + number / senders), 5000};
  }

  void step(std::uint8_t what) {
    switch (what % 8) {
      case 0:
      case 1:
        return announce(1 + in_.byte() * (what >> 3));
      case 2:
        return pay(1 + in_.byte() % 64U * (what >> 6));
      case 3:
        return tell();
      case 4:
        return reload(what);
      case 5:
        return ask();
      default:
        now_ += span_from(in_);
    }
  }

  /// Announces bursts that begin one after the other or in groups.
  void announce(std::uint32_t bursts) {
    const std::uint16_t first = in_.take<std::uint16_t>();
    const std::uint8_t spread = in_.byte(), how = in_.byte();
    const Duration lead = span_from(in_), apart = span_from(in_);
    const std::uint32_t at_once = 1U << how % 8;
    const std::uint32_t sequence = in_.byte();
    for (std::uint32_t i = 0; i < bursts && calls_ < kMostCalls; ++i) {
      StartSignal start{.flow = flow_of(first + i, spread), .sequence = sequence};
      start.threshold_packets =
          static_cast<std::uint16_t>((how & 8) != 0 ? 1 + i % 60 : 60'000 - (i & 0x7FFF));
      if ((how & 16) != 0) start.bytes = 1 + i;
      if ((how & 32) != 0) start.due = now_ + lead + apart * (i / at_once);
      if ((how & 64) != 0) start.signer = 1;
      count([&] { (void)regulator_.on_start(start, now_); });
      if ((how & 128) != 0) now_ += nanoseconds(1);
    }
  }

  void pay(std::uint32_t packets) {
    const std::uint16_t first = in_.take<std::uint16_t>();
    const std::uint8_t spread = in_.byte(), sequence = in_.byte();
    for (std::uint32_t i = 0; i < packets; ++i)
      count([&] {
        regulator_.on_payload(flow_of(first + i, spread), sequence, 100, spread >= 192, now_);
      });
  }

  void ask() {
    count([&] { (void)regulator_.threshold(now_); });
  }

  void tell() {
    std::uint64_t told = 0;
    count([&] { regulator_.tell_begun([&](const Regulator::BegunBurst&) { ++told; }); });
    FUZZ_REQUIRE(told <= kMost);
  }

  void reload(std::uint8_t what) {
    const RegulationPolicy before = policy_;
    if (what >= 16) change(policy_, in_);
    const auto cost = what < 16 ? cost_of([&] { regulator_.withdraw_all(now_); })
                                : cost_of([&] { regulator_.change_policy(policy_, now_); });
    FUZZ_REQUIRE(cost <= std::max(most_steps_of_control(before), most_steps_of_control(policy_)));
    FUZZ_REQUIRE(what >= 16 || regulator_.live_entries() == 0);
  }

  /// Each entry begins, is put off by payload, and ends: no more is due, and a packet costs
  /// nothing once that is processed.
  void catch_up() {
    if (policy_.predict.from != PredictFrom::kOff) return ask();
    const std::uint64_t due = 3 * std::uint64_t{regulator_.live_entries()};
    now_ += policy_.expiry;
    for (std::uint64_t packet = 0; packet <= due / kMost; ++packet) ask();
    FUZZ_REQUIRE(cost_of([&] { (void)regulator_.threshold(now_); }) == 0);
  }

  FuzzInput& in_;
  RegulationPolicy policy_;
  Regulator regulator_;
  Time now_ = Time{} + std::chrono::seconds(1);
  std::uint32_t calls_ = 0;
};

}  // namespace

void run(FuzzInput in) { StepsRun(in).run(); }

}  // namespace outrider::fuzz
