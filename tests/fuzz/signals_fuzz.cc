// Signals as anybody could send them, signed or not, from the gate to the regulator, and payload in
// any order.
// The oracles are what the classes promise: a queue is regulated for at most its share of every
// window, entries are bounded and end by themselves, and each has one named end; a tag that is
// wrong or a message that was seen arms nothing. Half of the inputs compare the budget alone with a
// count of each nanosecond.
#include <algorithm>
#include <array>
#include <bitset>
#include <chrono>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "common/net/signal_tag.h"
#include "switch/regulation/regulator/regulator.h"
#include "switch/signals/signal_gate.h"
#include "tests/fuzz/fuzz_main.h"

namespace outrider::fuzz {
using namespace sw;
namespace {

using std::chrono::microseconds;

constexpr std::uint32_t kListed = 0x0A000000;    // 10.0.0.0/24
constexpr std::uint32_t kStranger = 0x0B000000;  // is not listed

double share_from(FuzzInput& in) { return (1 + in.byte()) / 256.0; }

RegulationPolicy policy_from(FuzzInput& in) {
  RegulationPolicy p;
  const std::uint16_t bits = in.take<std::uint16_t>();
  p.mode = RegulationMode::kMark;
  p.recovery = static_cast<Recovery>(bits % 3);
  p.hold = microseconds(1 + in.take<std::uint16_t>());
  p.idle_end = microseconds(1 + in.take<std::uint16_t>());
  p.expiry = microseconds(1 + in.take<std::uint16_t>());
  p.budget_share = share_from(in);
  if ((bits & 4) != 0) p.budget_sender_share = share_from(in);
  if ((bits & 8) != 0) p.budget_queue_share = share_from(in);
  p.budget_window = microseconds(100 + in.take<std::uint16_t>());
  p.max_entries = 1 + (bits >> 4) % 8U;
  if ((bits & 128) != 0) p.max_entries_per_sender = 1 + in.byte() % 4U;
  if ((bits & 256) != 0) p.max_threshold_packets = 1 + in.byte();
  if ((bits & 512) != 0) p.max_burst_bytes = 1 + in.take<std::uint16_t>();
  p.composition = static_cast<Composition>((bits >> 10) % 3);
  if ((bits & 4096) == 0) return p;
  p.lead = microseconds(in.take<std::uint16_t>());
  p.predict.from = static_cast<PredictFrom>((bits >> 13) % 3);
  p.predict.idle_gap = microseconds(1 + in.byte() * 16);
  p.predict.missed_limit = 1 + in.byte() % 4U;
  p.predict.max_jobs = 1 + in.byte() % 3U;
  return p;
}

constexpr SignalKey kKey{3, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};

SwitchConfig switch_from(FuzzInput& in) {
  SwitchConfig config;
  SignalConfig& c = config.signals;
  c.accept_tos = c.accept_udp = true;
  c.accept_from = {"10.0.0.0/24"};
  c.tokens_per_second = 1 + in.take<std::uint16_t>();
  c.token_burst = 1 + in.byte();
  c.due_limit = microseconds(1 + in.take<std::uint16_t>() * 4);
  c.signers.push_back({.name = "signer",
                       .accept_from = {"10.0.0.0/24"},
                       .tokens_per_second = 1e9,
                       .token_burst = 1e9,
                       .read_keys = {{.key = kKey}}});
  return config;
}

class SignalsRun {
 public:
  explicit SignalsRun(FuzzInput& in)
      : in_(in),
        switch_(switch_from(in)),
        gate_config_(switch_.signals),
        policy_(policy_from(in)),
        gate_(switch_),
        regulator_(policy_),
        allowance_(static_cast<std::int64_t>(queue_share_of(policy_) *
                                             static_cast<double>(policy_.budget_window.count()))) {
    boundary_ = now_ - now_.time_since_epoch() % policy_.budget_window;
  }

  void run() {
    while (!in_.empty()) {
      wait(microseconds(std::int64_t{in_.byte()} * (in_.byte() % 32)));
      step(in_.byte());
      check();
    }
    if (policy_.predict.from != PredictFrom::kOff) return;
    wait(gate_config_.due_limit + policy_.expiry);
    FUZZ_REQUIRE(!regulator_.threshold(now_) && regulator_.live_entries() == 0);
  }

 private:
  void step(std::uint8_t what) {
    switch (what % 8) {
      case 0:
        return hear_datagram(false);
      case 1:
      case 2:
        return hear_datagram(true);
      case 3:
        return hear_tos();
      case 7:
        return change(in_.byte());
      default:
        return pay();
    }
  }

  std::uint32_t address() {
    const std::uint8_t which = in_.byte();
    return (which < 240 ? kListed : kStranger) + which % 4U;
  }
  FlowKey flow_from(std::uint32_t source) {
    const std::uint8_t which = in_.byte();
    return {source, 0x0A000100U + which % 3U, static_cast<std::uint16_t>(1 + which / 16 % 3),
            static_cast<std::uint16_t>(1 + which / 64)};
  }

  /// Counts what took a token: no source has more than its bucket gave, signed or not.
  void spend(std::uint32_t source, bool is_signed = false) {
    FUZZ_REQUIRE((source & ~0xFFU) == kListed);
    auto& spent = spent_[{source, is_signed}];
    if (spent.signals++ == 0) spent.since = now_;
    const double most =
        gate_config_.token_burst + gate_config_.tokens_per_second * seconds(now_ - spent.since);
    FUZZ_REQUIRE(static_cast<double>(spent.signals) <= most + 1e-6);
  }

  void hear_tos() {
    const std::uint32_t source = address();
    tos_signal::Signal signal;
    const auto verdict = gate_.judge(in_.byte(), {source, 0}, now_, signal);
    if (verdict == SignalGate::Verdict::kBadCode) return spend(source);
    if (verdict != SignalGate::Verdict::kAdmitted) return;
    spend(source);
    if (signal.kind != tos_signal::Kind::kStart) return;
    regulator_.on_start({.flow = flow_from(source),
                         .sequence = in_.take<std::uint32_t>(),
                         .threshold_packets = signal.threshold_packets},
                        now_);
  }

  void hear_datagram(bool formed) {
    const std::uint32_t source = address();
    const FlowKey datagram{source, 0x0A000100U + in_.byte() % 3U, 5900, 5900};
    std::array<std::uint8_t, udp_signal::kBytes> message{};
    bool wrong = false;
    if (formed) {
      const FlowKey flow = flow_from(source);
      udp_signal::Signal start{.threshold_packets = static_cast<std::uint16_t>(1 + in_.byte()),
                               .burst_bytes = in_.take<std::uint16_t>(),
                               .due_in = microseconds(in_.take<std::uint16_t>()),
                               .source_port = flow.source_port,
                               .destination_port = flow.destination_port,
                               .sequence = in_.take<std::uint16_t>() * 64U};
      const std::uint8_t how = in_.byte();
      start.counter = how / 4U;
      if ((how & 1) != 0) udp_signal::sign(start, kKey, datagram);
      wrong = start.proof && (how & 2) != 0;
      if (wrong) start.proof->tag[how % 16] ^= 1;
      udp_signal::encode(start, message);
    } else {
      for (auto& b : message) b = in_.byte();
    }
    const auto heard = gate_.judge(message, datagram, 0, now_);
    if (heard.verdict != SignalGate::Verdict::kAdmitted) return;
    const udp_signal::Signal& s = heard.signal;
    FUZZ_REQUIRE(!wrong);
    spend(source, s.proof.has_value());
    if (s.proof && s.kind == udp_signal::Kind::kStart)
      FUZZ_REQUIRE(taken_.insert({source, s.counter}).second);
    FUZZ_REQUIRE(s.threshold_packets > 0 && s.due_in <= gate_config_.due_limit);
    if (s.kind != udp_signal::Kind::kStart) return;
    StartSignal start{
        .flow = {source, datagram.destination_address, s.source_port, s.destination_port},
        .sequence = s.sequence,
        .threshold_packets = s.threshold_packets,
        .due = now_ + s.due_in};
    if (s.burst_bytes > 0) start.bytes = s.burst_bytes;
    regulator_.on_start(start, now_);
  }

  void pay() {
    const FlowKey flow = flow_from(address());
    const std::uint32_t sequence = in_.take<std::uint16_t>() * 64U;
    const std::uint32_t bytes = 1 + in_.take<std::uint16_t>();
    const bool fin = in_.byte() == 0;
    if (regulator_.concerns(flow, now_))
      return regulator_.on_payload(flow, sequence, bytes, fin, now_);
    const auto threshold = regulator_.threshold(now_);
    const auto live = regulator_.live_entries();
    regulator_.on_payload(flow, sequence, bytes, fin, now_);
    FUZZ_REQUIRE(regulator_.threshold(now_) == threshold && regulator_.live_entries() == live);
  }

  void change(std::uint8_t how) {
    if (how < 16) return regulator_.withdraw_all(now_);
    if (how > 64) return regulator_.tell_begun([this](const Regulator::BegunBurst&) { ++told_; });
    policy_.recovery = static_cast<Recovery>(how % 3);
    policy_.hold = microseconds(1 + in_.take<std::uint16_t>());
    policy_.idle_end = microseconds(1 + in_.take<std::uint16_t>());
    policy_.expiry = microseconds(1 + in_.take<std::uint16_t>());
    regulator_.change_policy(policy_, now_);
  }

  /// Lets time pass; a packet comes at the last boundary of windows on the way.
  void wait(Duration by) {
    const Time until = now_ + by;
    const Time last = until - until.time_since_epoch() % policy_.budget_window;
    if (last > boundary_) {
      now_ = last;
      (void)regulator_.threshold(now_);
      const Duration regulated = regulator_.regulated(now_);
      FUZZ_REQUIRE(regulated - regulated_ <=
                   allowance_ * ((last - boundary_) / policy_.budget_window));
      regulated_ = regulated;
      boundary_ = last;
    }
    now_ = until;
  }

  void check() {
    const auto foreseen = regulator_.threshold_at(now_);
    const Duration regulated = regulator_.regulated(now_);
    const auto threshold = regulator_.threshold(now_);
    FUZZ_REQUIRE(threshold == foreseen && regulator_.regulated(now_) == regulated);
    FUZZ_REQUIRE(regulated >= regulated_ && regulated - regulated_ <= now_ - boundary_);
    FUZZ_REQUIRE(regulated - regulated_ <= allowance_);
    FUZZ_REQUIRE(regulator_.live_entries() <= policy_.max_entries);
    if (threshold) FUZZ_REQUIRE(*threshold > 0 && regulator_.live_entries() > 0);
    const RegulatorCounters& c = regulator_.counters();
    FUZZ_REQUIRE(c.starts_armed + c.starts_predicted ==
                 c.recovered_arrival + c.recovered_burst_end + c.recovered_timer + c.expired +
                     c.budget_exhausted + c.replaced + c.evicted + c.predictions_missed +
                     c.withdrawn + regulator_.live_entries());
    FUZZ_REQUIRE(told_ <= c.starts_armed + c.starts_predicted);
  }

  struct Spent {
    Time since{};
    std::uint64_t signals = 0;
  };

  FuzzInput& in_;
  SwitchConfig switch_;
  const SignalConfig& gate_config_;
  RegulationPolicy policy_;
  SignalGate gate_;
  Regulator regulator_;
  Duration allowance_;  ///< of the queue in each window
  Time now_ = Time{} + std::chrono::seconds(1);
  Time boundary_{};       ///< of the latest window that has begun
  Duration regulated_{};  ///< by then
  std::uint64_t told_ = 0;
  std::map<std::pair<std::uint32_t, bool>, Spent> spent_;
  std::set<std::pair<std::uint32_t, std::uint64_t>>
      taken_;  ///< source and counter of signed STARTs
};

/// The budget alone, in nanoseconds that are few enough to be counted one by one.
class BudgetRun {
 public:
  explicit BudgetRun(FuzzInput& in)
      : in_(in),
        shares_{share(in), share(in), share(in)},
        window_(16 + in.byte() % 64),
        max_entries_(1 + in.byte() % 8U),
        budget_({.job = shares_[0], .sender = shares_[1], .queue = shares_[2]}, Duration{window_},
                max_entries_) {}

  void run() {
    while (!in_.empty() && now_ + 16 < kEnd) {
      advance(now_ + in_.byte() % 16);
      const std::uint8_t what = in_.byte();
      if (what % 4 == 0 && !live_.empty()) end(what / 4 % live_.size(), now_);
      else begin(in_.byte());
    }
    advance(kEnd);
    check_windows();
  }

 private:
  static constexpr std::int64_t kEnd = 4096;
  static constexpr std::uint32_t kSenders = 3, kJobs = 2;
  using Covered = std::bitset<kEnd>;
  struct Live {
    std::uint32_t sender = 0, job = 0;
    std::int64_t since = 0, until = 0;
  };

  static double share(FuzzInput& in) { return (16 + in.byte() % 241) / 256.0; }
  static FlowKey flow_of(const Live& e) {
    return {1 + e.sender, 9, 1, static_cast<std::uint16_t>(1 + e.job)};
  }

  void begin(std::uint8_t which) {
    if (live_.size() == max_entries_) return;
    Live e{.sender = which % kSenders, .job = which / 16 % kJobs, .since = now_};
    const Time until = budget_.acquire(flow_of(e), Time{Duration{now_}});
    e.until = until == kNever ? kEnd : until.time_since_epoch().count();
    FUZZ_REQUIRE(e.until >= now_);
    if (e.until > now_) live_.push_back(e);
    else FUZZ_REQUIRE(!live_.empty() || used_at_all());
  }
  /// Returns whether anything was used in this window.
  [[nodiscard]] bool used_at_all() const {
    for (std::int64_t t = now_ - now_ % window_; t < now_; ++t)
      if (queue_.test(static_cast<std::size_t>(t))) return true;
    return false;
  }

  /// Ends the entry, at once or later than that in the order of calls.
  void end(std::size_t i, std::int64_t at) {
    const Live e = live_[i];
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(i));
    budget_.release(flow_of(e), Time{Duration{at}});
    for (auto t = static_cast<std::size_t>(e.since); t < static_cast<std::size_t>(at); ++t) {
      jobs_[e.sender * kJobs + e.job].set(t);
      senders_[e.sender].set(t);
      queue_.set(t);
    }
  }

  void advance(std::int64_t until) {
    now_ = std::min(until, kEnd);
    const bool backwards = in_.byte() % 2 == 0;
    for (std::size_t n = live_.size(); n-- > 0;) {
      const std::size_t i = backwards ? n : live_.size() - 1 - n;
      if (i < live_.size() && live_[i].until <= now_) end(i, live_[i].until);
    }
    for (std::size_t i = live_.size(); i-- > 0;)
      if (live_[i].until <= now_) end(i, live_[i].until);
  }

  void check_windows() const {
    check_level(queue_, shares_[2]);
    if (max_entries_ < kSenders * kJobs) return;  // accounts are forgotten
    for (const auto& sender : senders_) check_level(sender, shares_[1]);
    for (const auto& job : jobs_) check_level(job, shares_[0]);
  }
  void check_level(const Covered& covered, double share) const {
    const auto allowance = static_cast<std::int64_t>(share * static_cast<double>(window_));
    for (std::int64_t from = 0; from < kEnd; from += window_) {
      std::int64_t used = 0;
      for (std::int64_t t = from; t < std::min(from + window_, kEnd); ++t)
        used += covered.test(static_cast<std::size_t>(t));
      FUZZ_REQUIRE(used <= allowance);
    }
  }

  FuzzInput& in_;
  std::array<double, 3> shares_;
  std::int64_t window_;
  std::uint32_t max_entries_;
  RegulationBudget budget_;
  std::int64_t now_ = 0;
  std::vector<Live> live_;
  std::array<Covered, kSenders> senders_{};
  std::array<Covered, kSenders * kJobs> jobs_{};
  Covered queue_{};
};

}  // namespace

void run(FuzzInput in) {
  if (in.byte() % 2 == 0) SignalsRun(in).run();
  else BudgetRun(in).run();
}

}  // namespace outrider::fuzz
