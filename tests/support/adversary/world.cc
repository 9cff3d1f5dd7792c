#include "tests/support/adversary/world.h"

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/config/addresses.h"
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

/// Returns the share of the only signer, if it has one.
std::optional<SignerShare> share_in(const sw::SignalConfig& signals) {
  const SignerShare share = shares_of(signals)[0];
  return share.budget_share > 0 ? std::optional(share) : std::nullopt;
}

}  // namespace

/// A node before a port of a switch, or behind it.
struct AdversaryWorld::Observer final : Node {
  Observer(AdversaryWorld& of, std::uint32_t at, bool enters) : world(of), place(at), in(enters) {}
  void receive(std::uint32_t port, Packet* packet, Time now) noexcept override {
    if (in) world.enter(place, port, packet, now, true);
    else world.leave(place, port, packet, now);
  }
  AdversaryWorld& world;
  std::uint32_t place;
  bool in;
};

AdversaryWorld::AdversaryWorld(const Scenario& scenario, rte_mempool& pool)
    : scenario_(scenario),
      drawn_(draw_world(scenario.seed)),
      pool_(pool),
      regulation_(
          drawn_.switches.switches[kLeftPlace].ports[port_of(kLeftPlace, kTrunkPort)].regulation,
          drawn_.switches.switches[kLeftPlace].signals.token_burst,
          share_in(drawn_.switches.switches[kLeftPlace].signals)),
      grants_(
          drawn_.switches.switches[kLeftPlace].ports[port_of(kLeftPlace, kTrunkPort)].regulation,
          drawn_.switches.switches[kLeftPlace].signals.due_limit),
      trust_(drawn_.switches.switches[kLeftPlace].signals),
      settles_(scenario.seed % 2 == 0) {
  generator_ = std::make_unique<tg::Generator>(drawn_.traffic, loop_, pool_,
                                               tg::Generator::Options{.signal_keys = drawn_.keys});
  build_places();
  connect_hosts();
  plan();
  generator_->start(now_);
}

AdversaryWorld::~AdversaryWorld() {
  refill_pool();
  for (auto& place : places_) place.sw->flush();
  for (auto& link : links_) link->flush();
  for (auto* side : {&up_, &down_})
    for (auto& impairment : *side) impairment->flush();
}

sw::EgressPort::Limits AdversaryWorld::limits() const {
  return {.tap = {.bursts = 16, .bins = 16, .bin = milliseconds(1)}, .seed = scenario_.seed};
}

std::uint32_t AdversaryWorld::port_of(std::uint32_t place, std::string_view name) const {
  const auto& ports = drawn_.switches.switches[place].ports;
  return static_cast<std::uint32_t>(std::ranges::find(ports, name, &sw::SwitchPortConfig::name) -
                                    ports.begin());
}

void AdversaryWorld::build_places() {
  for (std::uint32_t s = kLeftPlace; s <= kRightPlace; ++s) {
    const sw::SwitchConfig& config = drawn_.switches.switches[s];
    Place& place = places_.emplace_back();
    place.sw = std::make_unique<sw::Switch>(config, loop_, limits(), 1, s);
    place.beyond.resize(config.ports.size());
    place.down_until.resize(config.ports.size());
    for (std::size_t p = 0; p < config.ports.size(); ++p)
      for (const bool in : {true, false}) {
        observers_.push_back(std::make_unique<Observer>(*this, s, in));
        (in ? place.entries : place.exits).push_back(observers_.back().get());
      }
  }
  places_[kLeftPlace].beyond[port_of(kLeftPlace, kTrunkPort)] = places_[kRightPlace].entries[0];
  places_[kRightPlace].beyond[port_of(kRightPlace, kTrunkPort)] = places_[kLeftPlace].entries[0];
  connect_ports(kLeftPlace);
  connect_ports(kRightPlace);
}

/// Gives every port of a new switch a link of its own: that of the old one may hold packets that
/// are sent later than now.
void AdversaryWorld::connect_ports(std::uint32_t place) {
  const auto& ports = drawn_.switches.switches[place].ports;
  for (std::uint32_t p = 0; p < ports.size(); ++p) {
    const bool trunk = ports[p].name == kTrunkPort;
    const Duration delay = trunk ? drawn_.switches.links[0].delay : ports[p].delay;
    links_.push_back(std::make_unique<Link>(loop_, delay, *places_[place].exits[p], p));
    places_[place].sw->port(p).transmitter().output().connect(*links_.back());
  }
}

void AdversaryWorld::connect_hosts() {
  const auto& hosts = drawn_.traffic.hosts;
  for (std::uint32_t i = 0; i < hosts.size(); ++i) {
    const std::uint32_t s = hosts[i].device == "left" ? kLeftPlace : kRightPlace;
    const std::uint32_t p = *places_[s].sw->route(*parse_ipv4(hosts[i].address).value);
    links_.push_back(std::make_unique<Link>(loop_, drawn_.switches.switches[s].ports[p].delay,
                                            *places_[s].entries[p], p));
    Link& ingress = *links_.back();
    Node& node = generator_->host(i);
    up_.push_back(std::make_unique<Impairment>(
        loop_, pool_, [&ingress](Packet* packet, Time at) { ingress.push(packet, at); }));
    down_.push_back(std::make_unique<Impairment>(
        loop_, pool_, [&node](Packet* packet, Time at) { node.receive(0, packet, at); }));
    places_[s].beyond[p] = down_.back().get();
    links_.push_back(std::make_unique<Link>(loop_, Duration::zero(), *up_.back(), 0));
    generator_->connect(i, *links_.back());
  }
}

void AdversaryWorld::plan() {
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

void AdversaryWorld::enter(std::uint32_t place, std::uint32_t port, Packet* packet, Time now,
                           bool honest) {
  Place& at = places_[place];
  const bool from_trunk = drawn_.switches.switches[place].ports[port].name == kTrunkPort;
  if (!from_trunk && honest) strangers_.erase(packet);
  if (!honest) strangers_.insert(packet);
  honest = !strangers_.contains(packet);
  if (now < at.down_until[port]) {
    ++cut_;
    return release(packet);
  }
  const auto frame = place == kLeftPlace ? seen_frame(*packet) : std::nullopt;
  if (!frame) return hand_over(place, port, packet, now);
  observe(packet, *frame, honest, now);
  const auto announced = frame->announced();
  if (announced && honest && !from_trunk) return receive_start(*frame, port, packet, now);
  if (announced && !honest && !trust_.believes_stranger(*frame))
    return receive_forged(port, packet, now);
  hand_over(place, port, packet, now);
}

void AdversaryWorld::hand_over(std::uint32_t place, std::uint32_t port, Packet* packet, Time now) {
  places_[place].sw->receive(port, packet, now);
  if (place == kLeftPlace) judge_steps(1);
}

/// A burst that is granted costs what its START would have cost.
void AdversaryWorld::judge_steps(std::uint64_t arrived) {
  if (grants_.judges()) {
    const GrantCounters n = trunk_grants().grant;
    arrived += n.granted + n.acks_at_once - std::exchange(granted_, n.granted + n.acks_at_once);
  }
  if (const auto wrong = steps_.judge(trunk(), trunk_policy(drawn_.switches), arrived))
    violated(*wrong);
}

void AdversaryWorld::observe(Packet* packet, const SeenFrame& frame, bool honest, Time now) {
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
void AdversaryWorld::receive_start(const SeenFrame& start, std::uint32_t port, Packet* packet,
                                   Time now) {
  const RegulationOracle::Announced announced{*start.announced(), is_signed(start)};
  sw::Switch& left = *places_[kLeftPlace].sw;
  const auto out = left.route(announced.flow.destination_address);
  if (out != port_of(kLeftPlace, kTrunkPort)) return hand_over(kLeftPlace, port, packet, now);
  const auto counts = [&] { return sw::counts_of(left.port(*out).queues()[0], now); };
  const auto before = counts();
  const sw::SignalCounts signals = left.lane(0);
  const std::uint64_t passed = GrantOracle::passed(trunk_grants());
  hand_over(kLeftPlace, port, packet, now);
  // An answer that passes at this instant is judged as well, and counted with the START.
  if (GrantOracle::passed(trunk_grants()) > passed) return;
  const bool refused = left.lane(0).signals_over_rate > signals.signals_over_rate;
  ++seen_.starts_judged;
  seen_.signed_judged += announced.is_signed;
  if (const auto wrong = regulation_.judge_start(announced, before, counts(), refused, now))
    violated(*wrong);
  if (const auto wrong = trust_.judge_honest(start, signals, left.lane(0))) violated(*wrong);
}

void AdversaryWorld::receive_forged(std::uint32_t port, Packet* packet, Time now) {
  const RegulatorCounters before = trunk_counts();
  const sw::QueueCounts grants_before = trunk_grants();
  hand_over(kLeftPlace, port, packet, now);
  ++seen_.forged_judged;
  const sw::QueueCounts grants_after = trunk_grants();
  if (const auto wrong = GrantOracle::judge_forged(grants_before.grant, grants_after.grant))
    violated(*wrong);
  // A burst that is granted at this instant reaches the regulator.
  if (GrantOracle::passed(grants_after) > GrantOracle::passed(grants_before)) return;
  if (const auto wrong = trust_.judge_forged(before, trunk_counts())) violated(*wrong);
}

void AdversaryWorld::leave(std::uint32_t place, std::uint32_t port, Packet* packet, Time now) {
  Place& at = places_[place];
  if (now < at.down_until[port]) {
    ++cut_;
    return release(packet);
  }
  if (place == kLeftPlace && drawn_.switches.switches[place].ports[port].name != kTrunkPort)
    if (const auto frame = seen_frame(*packet))
      if (const auto wrong = windows_.after(packet, *frame)) violated(*wrong);
  if (Node* beyond = at.beyond[port]) {
    const bool trunk = drawn_.switches.switches[place].ports[port].name == kTrunkPort;
    const std::uint32_t far = trunk ? port_of(1 - place, kTrunkPort) : 0;
    return beyond->receive(far, packet, now);
  }
  ++to_strangers_;
  release(packet);
}

void AdversaryWorld::inject(std::uint32_t place, std::string_view port,
                            std::span<const std::uint8_t> frame) {
  if (rte_mempool_avail_count(&pool_) == 0) return;
  ++seen_.injected;
  enter(place, port_of(place, port), packet_of(pool_, frame), now_, false);
}

// -- Bad luck

/// The switch loses its packets and everything that it knows.
void AdversaryWorld::restart(std::uint32_t place) {
  Place& at = places_[place];
  sw::SwitchReport r;
  r.ledger_balanced = true;
  at.sw->fill(r, now_);
  if (!r.ledger_balanced) violated("the ledger of a switch that restarts is not balanced");
  lost_in_restarts_ += r.resident;
  dropped_by_retired_ += sum(r.drops);
  at.sw->flush();
  retired_.push_back(std::move(at.sw));
  for (auto& signer : drawn_.switches.switches[place].signals.signers)
    for (auto& key : signer.read_keys)
      key.floor = static_cast<std::uint64_t>(now_.time_since_epoch().count());
  at.sw = std::make_unique<sw::Switch>(drawn_.switches.switches[place], loop_, limits(), 1, place);
  connect_ports(place);
  if (place != kLeftPlace) return;
  trust_.read_again(now_);
  steps_.restart();
  granted_ = 0;
  windows_.taint_all();  // what they were told before it does not know
  regulation_.change(trunk_policy(drawn_.switches), true, now_);
}

void AdversaryWorld::reload(std::uint32_t draw) {
  sw::SwitchProcessConfig wanted = drawn_.switches;
  RegulationPolicy& policy = trunk_policy(wanted);
  policy = other_policy(policy, draw);
  if (!validate(wanted).empty()) return;
  if (!plan_reload(drawn_.switches, wanted, 1U << 20).refused.empty()) return;
  sw::Switch& left = *places_[kLeftPlace].sw;
  auto change = left.prepare(drawn_.switches.switches[kLeftPlace], wanted.switches[kLeftPlace]);
  judge_steps(0);
  left.apply(change, now_);
  left.retire(change);
  if (const auto wrong = steps_.judge_reload(trunk(), trunk_policy(drawn_.switches), policy))
    violated(*wrong);
  drawn_.switches = wanted;
  regulation_.change(policy, false, now_);
}

void AdversaryWorld::impair(const RandomImpairment& rates, std::uint64_t draw) {
  for (std::uint32_t i = 0; i < up_.size(); ++i) {
    up_[i]->set_rule(random_rule(rates, draw, 2 * i));
    down_[i]->set_rule(random_rule(rates, draw, 2 * i + 1));
  }
}

void AdversaryWorld::set_down(std::uint32_t place, std::uint32_t port, Time until) {
  Time& down = places_[place].down_until[port];
  down = std::max(down, until);
}

void AdversaryWorld::drain_pool(std::uint32_t leave) {
  while (rte_mempool_avail_count(&pool_) > leave) drained_.push_back(rte_pktmbuf_alloc(&pool_));
}

void AdversaryWorld::refill_pool() {
  for (Packet* packet : drained_) release(packet);
  drained_.clear();
}

// -- The run

void AdversaryWorld::violated(const std::string& what) {
  if (!violation_) violation_ = text_of(now_) + what;
}

const sw::PortQueue& AdversaryWorld::trunk() const {
  return places_[kLeftPlace].sw->port(port_of(kLeftPlace, kTrunkPort)).queues()[0];
}

/// Returns the trunk's counts with those of its grants, which are its port's; zeros without grants.
sw::QueueCounts AdversaryWorld::trunk_grants() const {
  if (!grants_.judges()) return {};
  std::vector<sw::QueueReport> reports;
  sw::append_reports(places_[kLeftPlace].sw->port(port_of(kLeftPlace, kTrunkPort)), reports, now_);
  return reports.front();
}

RegulationPolicy& AdversaryWorld::trunk_policy(sw::SwitchProcessConfig& of) const {
  return of.switches[kLeftPlace].ports[port_of(kLeftPlace, kTrunkPort)].regulation;
}

/// Reads the figures until nothing is due any more. What that costs, a packet might cost.
void AdversaryWorld::settle() {
  auto& port = places_[kLeftPlace].sw->port(port_of(kLeftPlace, kTrunkPort));
  judge_steps(0);
  // The last of these packets finds nothing to do.
  const auto most = 1 + StepsOracle::most_packets_behind(trunk_policy(drawn_.switches));
  for (std::uint64_t packet = 0; packet < most; ++packet) {
    const std::uint64_t before = trunk().regulation().steps();
    sw::publish_counts(port, cells_, now_);
    judge_steps(1);
    if (trunk().regulation().steps() == before) return;
  }
  violated("the regulator is behind for longer than its table allows");
}

void AdversaryWorld::judge_step() {
  if (settles_) settle();
  const sw::QueueCounts counts = trunk_counts();
  if (const auto wrong = regulation_.judge(counts, settles_, now_)) violated(*wrong);
  if (const auto wrong = grants_.judge(trunk_grants())) violated(*wrong);
}

void AdversaryWorld::run_until(Time end) {
  for (; next_event_ < events_.size() && events_[next_event_].at <= end; ++next_event_) {
    const Event& event = events_[next_event_];
    loop_.run_until(event.at);
    now_ = event.at;
    Attack(*this, scenario_.acts[event.act], event.number).play();
  }
  loop_.run_until(end);
  now_ = end;
}

std::optional<std::string> AdversaryWorld::run() {
  const auto over = [this] {
    return next_event_ == events_.size() && (generator_->finished() || killed_) &&
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
  seen_.answers_held = trunk_grants().grant.acks_held;
  return violation_;
}

void AdversaryWorld::judge_end() {
  if (!generator_->finished() && !killed_) violated("the job does not end");
  if (trunk_policy(drawn_.switches).predict.from == PredictFrom::kOff) {
    const Time silent = std::max(now_, regulation_.silent_at()) + kJudgeStep;
    while (now_ < silent) {
      run_until(now_ + kJudgeStep);
      judge_step();
    }
    settle();
    if (const auto left = trunk_counts().entries_left; left > 0 && generator_->finished())
      violated(std::to_string(left) + " entries are live after all was silent");
  }
  if (grants_.judges() && generator_->finished()) {
    run_until(now_ + grants_.longest_stay() + kJudgeStep);
    if (const auto wrong = GrantOracle::judge_end(trunk_grants())) violated(*wrong);
  }
  if (const auto wrong = ledger_fault()) violated(*wrong);
}

std::optional<std::string> AdversaryWorld::ledger_fault() const {
  sw::SwitchReport r;
  r.ledger_balanced = true;
  for (const auto& place : places_) place.sw->fill(r, now_);
  const tg::GeneratorReport traffic = generator_->report(now_);
  if (!r.ledger_balanced) return "the ledger of a switch is not balanced";
  if (!traffic.ledger_balanced) return "the ledger of the hosts is not balanced";
  std::uint64_t in = traffic.sent + seen_.injected;
  std::uint64_t out = traffic.received + sum(r.drops) + r.resident + cut_ + to_strangers_ +
                      lost_in_restarts_ + dropped_by_retired_;
  std::uint64_t resident = r.resident + drained_.size();
  for (const auto* side : {&up_, &down_})
    for (const auto& impairment : *side) {
      in += impairment->copied();
      out += impairment->dropped() + impairment->held();
      resident += impairment->held();
    }
  for (const auto& link : links_) {
    out += link->resident();
    resident += link->resident();
  }
  if (in != out)
    return std::to_string(in) + " packets were sent, " + std::to_string(out) + " have an end";
  if (rte_mempool_in_use_count(&pool_) != resident)
    return std::to_string(rte_mempool_in_use_count(&pool_)) + " buffers are in use by " +
           std::to_string(resident) + " packets";
  return std::nullopt;
}

std::optional<std::string> violation_of(const Scenario& scenario, rte_mempool& pool) {
  std::optional<std::string> violation;
  {
    AdversaryWorld world(scenario, pool);
    violation = world.run();
  }
  if (!violation && rte_mempool_in_use_count(&pool) != 0) violation = "a buffer was not given back";
  return violation;
}

}  // namespace outrider
