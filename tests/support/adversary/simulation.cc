#include "tests/support/adversary/simulation.h"

#include <rte_mempool.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "switch/egress/port_report.h"
#include "switch/runtime/reload_plan.h"
#include "tests/support/adversary/attack.h"

namespace outrider {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Duration kJudgeStep = milliseconds(1);
/// Honest transfers have ended by then, whatever happened before: retransmission timers double
/// up to 200 ms.
constexpr Duration kLongestRun = std::chrono::seconds(6);

std::string text_of(Time now) {
  return std::to_string(now.time_since_epoch() / microseconds(1)) + " us: ";
}

const sw::SignalConfig& left_signals(AdversaryNetwork& network) {
  return network.drawn().switches.switches[kLeftPlace].signals;
}

/// Returns the share of the only signer, if it has one.
std::optional<SignerShare> share_in(const sw::SignalConfig& signals) {
  const SignerShare share = shares_of(signals)[0];
  return share.budget_share > 0 ? std::optional(share) : std::nullopt;
}

}  // namespace

AdversarySimulation::AdversarySimulation(const Scenario& scenario, rte_mempool& pool)
    : scenario_(scenario),
      pool_(pool),
      network_(scenario.seed, pool, *this),
      regulation_(policy(), left_signals(network_).token_burst, share_in(left_signals(network_))),
      grants_(policy(), left_signals(network_).due_limit),
      trust_(left_signals(network_)),
      settles_(scenario.seed % 2 == 0) {
  plan();
  network_.generator().start(now_);
}

void AdversarySimulation::plan() {
  for (std::size_t i = 0; i < scenario_.acts.size(); ++i) {
    const HarmfulAct& act = scenario_.acts[i];
    const Time begin = Time{} + microseconds(act.at_us);
    if (Attack::lasts(act)) {
      events_.push_back({begin, i, 0});
      events_.push_back({begin + microseconds(act.gap_us), i, 1});
    } else {
      for (std::uint32_t n = 0; n < Attack::packets(act); ++n)
        events_.push_back({begin + n * microseconds(Attack::gap_us(act)), i, n});
    }
  }
  std::ranges::stable_sort(events_, {}, &Event::at);
}

// -- What passes

void AdversarySimulation::enter(std::uint32_t place, std::uint32_t port, Packet* packet, Time now,
                                bool honest) {
  const bool from_trunk = network_.is_trunk(place, port);
  if (!from_trunk && honest) strangers_.erase(packet);
  if (!honest) strangers_.insert(packet);
  honest = !strangers_.contains(packet);
  if (network_.cuts(place, port, packet, now)) return;
  const auto frame = place == kLeftPlace ? seen_frame(*packet) : std::nullopt;
  if (!frame) return hand_over(place, port, packet, now);
  observe(packet, *frame, honest, now);
  const auto announced = frame->announced();
  if (announced && honest && !from_trunk) return receive_start(*frame, port, packet, now);
  if (announced && !honest && !trust_.believes_stranger(*frame))
    return receive_forged(port, packet, now);
  hand_over(place, port, packet, now);
}

void AdversarySimulation::hand_over(std::uint32_t place, std::uint32_t port, Packet* packet,
                                    Time now) {
  network_.at(place).receive(port, packet, now);
  if (place == kLeftPlace) judge_steps(1);
}

/// A burst that is granted costs what its START would have cost.
void AdversarySimulation::judge_steps(std::uint64_t arrived) {
  if (grants_.judges()) {
    const GrantCounters n = trunk_counts().grant;
    arrived += n.granted + n.acks_at_once - std::exchange(granted_, n.granted + n.acks_at_once);
  }
  if (const auto wrong = steps_.judge(trunk(), policy(), arrived)) violated(*wrong);
}

void AdversarySimulation::observe(Packet* packet, const SeenFrame& frame, bool honest, Time now) {
  if (honest) windows_.before(packet, frame);
  else windows_.forget(packet);
  const auto announced = frame.announced();
  if (announced) {
    const Duration due_in = frame.message ? frame.message->due_in : Duration::zero();
    if (honest || trust_.believes_stranger(frame))
      regulation_.hear_start({*announced, is_signed(frame)}, due_in + grants_.longest_wait(), now);
    const bool pushes = announced->destination_address == ip("10.0.3.1");
    if (honest && pushes) {
      ddl_flow_ = *announced;
      ddl_sequence_ = frame.message ? frame.message->sequence : frame.sequence;
      const auto bytes = buffer(*packet);
      starts_.emplace_back(bytes.begin(), bytes.end());
      starts_.back().resize(std::max<std::size_t>(bytes.size(), meta(*packet).frame_bytes));
    }
  } else if (frame.payload_bytes > 0 || !frame.is_tcp()) {
    regulation_.hear_payload(frame.flow, now);
  }
}

/// An honest START: what the switch and the queue say of it is judged.
void AdversarySimulation::receive_start(const SeenFrame& start, std::uint32_t port, Packet* packet,
                                        Time now) {
  const RegulationOracle::Announced announced{*start.announced(), is_signed(start)};
  sw::Switch& left = network_.at(kLeftPlace);
  const auto out = left.route(announced.flow.destination_address);
  if (out != network_.port_of(kLeftPlace, kTrunkPort))
    return hand_over(kLeftPlace, port, packet, now);
  const auto counts = [&] { return sw::counts_of(left.port(*out), 0, now); };
  const auto before = counts();
  const sw::SignalCounts signals = left.lane(0);
  const std::uint64_t passed = GrantOracle::passed(trunk_counts());
  hand_over(kLeftPlace, port, packet, now);
  // An answer that passes at this instant is judged as well, and counted with the START.
  if (GrantOracle::passed(trunk_counts()) > passed) return;
  const bool refused = left.lane(0).signals_over_rate > signals.signals_over_rate;
  ++seen_.starts_judged;
  seen_.signed_judged += announced.is_signed;
  if (const auto wrong = regulation_.judge_start(announced, before, counts(), refused, now))
    violated(*wrong);
  if (const auto wrong = trust_.judge_honest(start, signals, left.lane(0))) violated(*wrong);
}

void AdversarySimulation::receive_forged(std::uint32_t port, Packet* packet, Time now) {
  const sw::QueueCounts before = trunk_counts();
  hand_over(kLeftPlace, port, packet, now);
  ++seen_.forged_judged;
  const sw::QueueCounts after = trunk_counts();
  if (const auto wrong = GrantOracle::judge_forged(before.grant, after.grant)) violated(*wrong);
  // A burst that is granted at this instant reaches the regulator.
  if (GrantOracle::passed(after) > GrantOracle::passed(before)) return;
  if (const auto wrong = trust_.judge_forged(before, after)) violated(*wrong);
}

void AdversarySimulation::on_left(std::uint32_t place, std::uint32_t port, Packet& packet) {
  if (place != kLeftPlace || network_.is_trunk(place, port)) return;
  if (const auto frame = seen_frame(packet))
    if (const auto wrong = windows_.after(&packet, *frame)) violated(*wrong);
}

void AdversarySimulation::inject(std::uint32_t place, std::string_view port,
                                 std::span<const std::uint8_t> frame) {
  if (rte_mempool_avail_count(&pool_) == 0) return;
  ++seen_.injected;
  enter(place, network_.port_of(place, port), packet_of(pool_, frame), now_, false);
}

// -- Bad luck

void AdversarySimulation::restart(std::uint32_t place) {
  if (!network_.restart(place, now_))
    violated("the ledger of a switch that restarts is not balanced");
  if (place != kLeftPlace) return;
  trust_.read_again(now_);
  steps_.restart();
  granted_ = 0;
  windows_.taint_all();  // what they were told before it does not know
  regulation_.change(policy(), true, now_);
}

void AdversarySimulation::reload(std::uint32_t draw) {
  sw::SwitchProcessConfig& current = network_.drawn().switches;
  sw::SwitchProcessConfig wanted = current;
  RegulationPolicy& changed = trunk_policy(wanted);
  changed = other_policy(changed, draw);
  if (!validate(wanted).empty()) return;
  if (!plan_reload(current, wanted, 1U << 20).refused.empty()) return;
  sw::Switch& left = network_.at(kLeftPlace);
  auto change = left.prepare(current.switches[kLeftPlace], wanted.switches[kLeftPlace]);
  judge_steps(0);
  left.apply(change, now_);
  left.retire(change);
  if (const auto wrong = steps_.judge_reload(trunk(), policy(), changed)) violated(*wrong);
  current = wanted;
  regulation_.change(changed, false, now_);
}

// -- The run

void AdversarySimulation::violated(const std::string& what) {
  if (!violation_) violation_ = text_of(now_) + what;
}

/// Reads the figures until nothing is due any more. What that costs, a packet might cost.
void AdversarySimulation::settle() {
  judge_steps(0);
  // The last of these packets finds nothing to do.
  const auto most = 1 + StepsOracle::most_packets_behind(policy());
  for (std::uint64_t packet = 0; packet < most; ++packet) {
    const std::uint64_t before = trunk().regulation().steps();
    sw::publish_counts(network_.trunk(), cells_, now_);
    judge_steps(1);
    if (trunk().regulation().steps() == before) return;
  }
  violated("the regulator is behind for longer than its table allows");
}

void AdversarySimulation::judge_step() {
  if (settles_) settle();
  const sw::QueueCounts counts = trunk_counts();
  if (const auto wrong = regulation_.judge(counts, settles_, now_)) violated(*wrong);
  if (const auto wrong = grants_.judge(trunk_counts())) violated(*wrong);
}

void AdversarySimulation::run_until(Time end) {
  for (; next_event_ < events_.size() && events_[next_event_].at <= end; ++next_event_) {
    const Event& event = events_[next_event_];
    network_.loop().run_until(event.at);
    now_ = event.at;
    Attack(*this, scenario_.acts[event.act], event.number).play();
  }
  network_.loop().run_until(end);
  now_ = end;
}

std::optional<std::string> AdversarySimulation::run() {
  const auto over = [this] {
    return next_event_ == events_.size() && (network_.generator().finished() || killed_) &&
           now_ > Time{} + microseconds(kAttackEnd_us);
  };
  while (!over() && !violation_ && now_ < Time{} + kLongestRun) {
    run_until(now_ + kJudgeStep);
    judge_step();
  }
  if (!violation_) judge_end();
  seen_.windows_lowered = windows_.lowered();
  seen_.armed = trunk_counts().starts_armed;
  seen_.most_steps = steps_.most();
  seen_.answers_held = trunk_counts().grant.acks_held;
  return violation_;
}

void AdversarySimulation::judge_end() {
  if (!network_.generator().finished() && !killed_) violated("the job does not end");
  if (policy().predict.from == PredictFrom::kOff) {
    const Time silent = std::max(now_, regulation_.silent_at()) + kJudgeStep;
    while (now_ < silent) {
      run_until(now_ + kJudgeStep);
      judge_step();
    }
    settle();
    if (const auto left = trunk_counts().entries_left; left > 0 && network_.generator().finished())
      violated(std::to_string(left) + " entries are live after all was silent");
  }
  if (grants_.judges() && network_.generator().finished()) {
    run_until(now_ + grants_.longest_stay() + kJudgeStep);
    if (const auto wrong = GrantOracle::judge_end(trunk_counts())) violated(*wrong);
  }
  if (const auto wrong = network_.ledger_fault(seen_.injected, now_)) violated(*wrong);
}

std::optional<std::string> violation_of(const Scenario& scenario, rte_mempool& pool) {
  std::optional<std::string> violation;
  {
    AdversarySimulation simulation(scenario, pool);
    violation = simulation.run();
  }
  if (!violation && rte_mempool_in_use_count(&pool) != 0) violation = "a buffer was not given back";
  return violation;
}

}  // namespace outrider
