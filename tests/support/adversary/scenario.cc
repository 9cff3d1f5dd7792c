#include "tests/support/adversary/scenario.h"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "common/core/random.h"

namespace outrider {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::array<std::string_view, kHarms> kNames{
    "forge",   "replay", "flood",      "rotate_ports", "rotate_addresses",
    "spoof",   "inject", "cheat",      "loss",         "duplicate",
    "reorder", "kill",   "drain_pool", "link_down",    "restart",
    "reload",  "clump"};

constexpr const char* kWorkers = "10.0.1.0/24";

/// Draws from small sets.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint32_t entity) : random_(seed, entity, RandomPurpose::kTest) {}
  /// Returns a number in [low, high].
  std::uint32_t between(std::uint32_t low, std::uint32_t high) {
    return low + random_.next_u32() % (high - low + 1);
  }
  bool one_in(std::uint32_t n) { return random_.next_u32() % n == 0; }
  template <class T, std::size_t N>
  T one_of(const std::array<T, N>& choices) {
    return choices[random_.next_u32() % N];
  }

 private:
  RandomStream random_;
};

HarmfulAct draw_act(Dice& dice) {
  constexpr auto kLast = static_cast<std::uint32_t>(Harm::kReload);
  HarmfulAct act{.kind = static_cast<Harm>(dice.between(0, kLast)),
                 .at_us = dice.between(1000, kAttackEnd_us),
                 .count = dice.between(1, 60),
                 .gap_us = dice.between(1, 3000),
                 .choice = dice.between(0, 11),
                 .draw = dice.between(0, 0xFFFF'FFFE)};
  const bool lasts = act.kind == Harm::kLoss || act.kind == Harm::kDuplicate ||
                     act.kind == Harm::kReorder || act.kind == Harm::kDrainPool ||
                     act.kind == Harm::kLinkDown;
  if (lasts) act.gap_us = dice.between(500, 40'000);
  return act;
}

RegulationPolicy draw_policy(Dice& dice, bool udp) {
  using enum RegulationMode;
  RegulationPolicy p;
  p.mode = dice.one_of(std::array{kMark, kPace, kMarkPace, kWindow, kMarkWindow});
  p.recovery = dice.one_of(std::array{Recovery::kArrival, Recovery::kBurstEnd, Recovery::kTimer});
  if (holds_windows(p.mode) && p.recovery == Recovery::kArrival) p.recovery = Recovery::kBurstEnd;
  p.spare_ddl = dice.one_in(2);
  p.hold = milliseconds(dice.between(2, 8));
  p.idle_end = milliseconds(dice.between(3, 8));
  p.expiry = milliseconds(dice.between(8, 30));
  p.budget_share = dice.between(2, 7) / 10.0;
  if (dice.one_in(3)) p.budget_sender_share = dice.between(2, 7) / 10.0;
  if (dice.one_in(3)) p.budget_queue_share = dice.between(3, 9) / 10.0;
  p.budget_window = milliseconds(dice.one_of(std::array{20, 40, 100}));
  p.max_entries = dice.one_of(std::array{4U, 8U, 16U, 64U});
  p.composition =
      dice.one_of(std::array{Composition::kMin, Composition::kHarmonic, Composition::kDemand});
  p.window.rule = dice.one_of(std::array{WindowRule::kComplement, WindowRule::kStrict});
  p.window.max_flows = dice.one_of(std::array{4U, 64U});
  if (dice.one_in(4)) {
    p.lead = milliseconds(4);
    p.predict.from = dice.one_of(std::array{PredictFrom::kTraffic, PredictFrom::kSignals});
    p.predict.idle_gap = milliseconds(15);
    p.predict.max_jobs = 4;
  } else if (udp && dice.one_in(2)) {
    p.lead = milliseconds(4);
  }
  return p;
}

/// A port of somebody who sends what it likes.
void add_stranger(sw::SwitchConfig& sw, const char* name, const char* prefix) {
  sw::SwitchPortConfig port;
  port.name = name;
  port.drain_rate = BitRate{200'000'000};
  port.device = sw.name;
  port.queue.limit_packets = 100;
  port.marker.kind = sw::MarkerKind::kTailDrop;
  sw.ports.push_back(port);
  sw.routes.push_back({prefix, name});
}

/// Lets the workers sign their STARTs, and draws what that is worth to them.
void draw_signer(DrawnNetwork& network, Dice& dice, const std::vector<std::string>& ports) {
  constexpr const char* kKey = "job.key";
  SignalKey key{.id = 7, .secret = {}};
  for (auto& byte : key.secret) byte = static_cast<std::uint8_t>(dice.between(0, 255));
  network.keys[kKey] = key;
  for (auto& job : network.traffic.jobs) job.announce.signal_key = kKey;
  sw::SignalConfig& signals = network.switches.switches[0].signals;
  sw::SignerConfig signer;
  signer.name = "job";
  signer.keys = {kKey};
  signer.accept_from = {kWorkers};
  signer.read_keys = {{key, 0}};
  if (dice.one_in(2)) signer.ports = ports;
  if (dice.one_in(2)) {
    signer.budget_share = 0.15;
    signer.max_entries = 2;
  }
  signals.signers = {signer};
  signals.tokens_per_second = 400;  // several times what honest workers need, and an act uses up
  signals.token_burst = 16;
  const std::uint32_t others = dice.between(0, 2);
  if (others == 0) signals.accept_from.clear();
  signals.require_signed = others == 1;
  signals.accept_tos = others == 2;
}

/// Draws whom the left switch believes: in half of the networks any address, as the others do.
void draw_trust(DrawnNetwork& network, std::uint64_t seed, const Dumbbell& d) {
  Dice dice(seed, 3);
  if (dice.one_in(2)) return;
  std::vector<std::string> ports;
  for (std::uint32_t i = 0; i < d.workers; ++i) ports.push_back("w" + std::to_string(i));
  const bool udp = d.job.announce.signal_form == tg::SignalForm::kUdp;
  if (udp && !dice.one_in(4)) return draw_signer(network, dice, ports);
  sw::SignalConfig& signals = network.switches.switches[0].signals;
  signals.accept_from.clear();
  signals.trusted = {{ports, {kWorkers}}};
}

/// Adds a job of the same workers over the bounded-loss transport, in one of four networks.
void draw_mlt_job(DrawnNetwork& network, std::uint64_t seed) {
  constexpr std::uint16_t kPort = 5001;
  Dice dice(seed, 4);
  if (!dice.one_in(4)) return;
  tg::JobConfig job = network.traffic.jobs[0];
  job.name = job.transport = "mlt";
  job.tcp_port = kPort;
  job.burst_bytes = 20'000;
  job.iterations = 4;
  job.announce.signal_form = tg::SignalForm::kUdp;
  job.first_due += milliseconds(dice.between(0, 30));
  network.traffic.jobs.push_back(job);
  tg::TransportConfig transport;
  transport.name = job.transport;
  transport.tcp.control.controller = tg::Controller::kDctcp;
  transport.protocol = tg::TransportProtocol::kMlt;
  transport.mlt.tolerance_push = dice.one_of(std::array{0.0, 0.05, 0.3});
  network.traffic.transports.push_back(transport);
  for (auto& sw : network.switches.switches) {
    sw::RuleConfig to, from;
    to.protocol = from.protocol = kIpProtocolUdp;
    to.destination_ports = from.source_ports = sw::PortRange{kPort, kPort};
    to.traffic_class = from.traffic_class = sw::RuleClass::kDdl;
    sw.rules = {to, from};
  }
}

/// Lets the trunk grant bursts, in one of eight networks.
void draw_grants(DrawnNetwork& network, std::uint64_t seed) {
  Dice dice(seed, 6);
  if (!dice.one_in(8)) return;
  sw::SwitchConfig& left = network.switches.switches[0];
  RegulationPolicy& policy =
      std::ranges::find(left.ports, "trunk", &sw::SwitchPortConfig::name)->regulation;
  using enum GrantOrder;
  policy.grant = {.order = dice.one_of(std::array{kShortest, kFirst, kShare}),
                  .parts = dice.one_of(std::array{GrantParts::kAlone, GrantParts::kTogether}),
                  .overlap = milliseconds(dice.between(0, 4)),
                  .idle = milliseconds(dice.between(2, 20)),
                  .max_wait = milliseconds(dice.between(5, 60))};
  if (dice.one_in(2)) policy.grant.budget_bytes = dice.between(1000, 60'000);
  if (dice.one_in(2)) policy.mode = RegulationMode::kOff, policy.predict = {}, policy.lead.reset();
  left.signals.due_limit = milliseconds(50);
  if (dice.one_in(2))
    left.signals.burst_sizes = {
        {.destinations = {"10.0.3.0/24"}, .bytes = dice.between(1000, 80'000)}};
  for (auto& job : network.traffic.jobs) {
    job.announce.ack_timeout = milliseconds(dice.one_of(std::array{10, 80}));
    job.announce.repeats = dice.between(0, 3);
    job.announce.repeat_after = milliseconds(4);
  }
}

/// Returns the dice of clumps, if there is one: in one of 64 networks, whose table has room for it.
/// Reports copy that table, which makes such a network slow.
std::optional<Dice> clump_dice(std::uint64_t seed) {
  Dice dice(seed, 5);
  return dice.one_in(64) ? std::optional(dice) : std::nullopt;
}

void draw_tcp(tg::TcpConfig& tcp, Dice& dice) {
  using enum tg::Controller;
  tcp.control.controller = dice.one_of(std::array{kDctcp, kCubic, kReno});
  const bool plain = dice.one_in(4), deaf = dice.one_in(4);
  tcp.ecn = !plain || tcp.control.controller == kDctcp;
  tcp.obey_ece = !deaf || !tcp.ecn;
  tcp.min_rto = milliseconds(10);
  tcp.initial_rto = milliseconds(50);
  tcp.max_rto = milliseconds(200);
  tcp.delayed_ack = milliseconds(4);
  tcp.time_wait = milliseconds(10);
}

}  // namespace

Scenario draw_scenario(std::uint64_t seed) {
  Dice dice(seed, 0);
  Scenario scenario{.seed = seed, .acts = {}};
  for (std::uint32_t n = dice.between(1, 8); n > 0; --n) scenario.acts.push_back(draw_act(dice));
  if (auto clump = clump_dice(seed))
    scenario.acts.push_back({.kind = Harm::kClump,
                             .at_us = clump->between(1000, kAttackEnd_us - kClumpDueAfter_us),
                             .count = clump->between(30, 60),
                             .gap_us = clump->between(1, 300),
                             .choice = clump->between(0, 1),
                             .draw = clump->between(0, 0xFFFF'FFFE)});
  std::ranges::stable_sort(scenario.acts, {}, &HarmfulAct::at_us);
  return scenario;
}

DrawnNetwork draw_network(std::uint64_t seed) {
  Dice dice(seed, 1);
  Dumbbell d;
  d.seed = seed;
  d.workers = dice.between(1, 2);
  d.background_flows = 2;
  d.bottleneck = BitRate{50'000'000};
  d.host_rate = BitRate{200'000'000};
  d.rtt = milliseconds(2);
  d.bottleneck_port.record = false;
  d.bottleneck_port.queue.limit_packets = dice.between(21, 60);
  d.bottleneck_port.marker.threshold_packets = 20;
  const bool udp = dice.one_in(2);
  d.job.announce.signal_form = udp ? tg::SignalForm::kUdp : tg::SignalForm::kTos;
  d.job.announce.lead = milliseconds(4);
  d.job.announce.ack_timeout = milliseconds(10);
  d.job.burst_bytes = 40'000;
  d.job.pull = dice.one_in(2);
  d.job.iterations = 6;
  d.job.first_due = milliseconds(40);
  d.job.period = milliseconds(50);
  RegulationPolicy& policy = d.bottleneck_port.regulation;
  policy = draw_policy(dice, udp);
  if (clump_dice(seed)) {
    policy.max_entries = policy.max_entries_per_sender.emplace(2048);
    if (!policy.lead) policy.lead = milliseconds(4);
  }
  draw_tcp(d.ddl_tcp, dice);
  draw_tcp(d.background_tcp, dice);
  d.ddl_tcp.reuse = dice.one_of(std::array{
      tg::ConnectionReuse::kNew, tg::ConnectionReuse::kIdleRestart, tg::ConnectionReuse::kKeep});
  d.background_tcp.receive_buffer_bytes = dice.one_of(std::array{64U << 10, 4U << 20});
  DrawnNetwork network{.switches = d.switches(), .traffic = d.traffic()};
  network.traffic.long_flows[0].start_spread = milliseconds(10);
  add_stranger(network.switches.switches[0], "x", "10.0.9.0/24");
  add_stranger(network.switches.switches[1], "y", "10.0.8.0/24");
  for (auto& sw : network.switches.switches) sw.signals.accept_tos = sw.signals.accept_udp = true;
  draw_mlt_job(network, seed);
  draw_trust(network, seed, d);
  draw_grants(network, seed);
  return network;
}

RegulationPolicy other_policy(const RegulationPolicy& now, std::uint32_t draw) {
  using enum RegulationMode;
  Dice dice(draw, 2);
  RegulationPolicy p = now;
  if (holds_windows(p.mode)) p.mode = dice.one_of(std::array{kWindow, kMarkWindow});
  else p.mode = dice.one_of(std::array{kOff, kMark, kPace, kMarkPace});
  p.recovery = dice.one_of(std::array{Recovery::kBurstEnd, Recovery::kTimer});
  p.expiry = milliseconds(dice.between(8, 30));
  p.budget_share = dice.between(2, 7) / 10.0;
  p.max_threshold_packets = static_cast<std::uint16_t>(dice.between(5, 20));
  return p;
}

std::string to_text(const Scenario& scenario) {
  std::ostringstream out;
  out << "seed " << scenario.seed;
  for (const auto& a : scenario.acts)
    out << "; " << kNames[static_cast<std::size_t>(a.kind)] << ' ' << a.at_us << ' ' << a.count
        << ' ' << a.gap_us << ' ' << a.choice << ' ' << a.draw;
  return out.str();
}

Scenario scenario_from(std::string_view text) {
  const auto refuse = [&text] { throw std::invalid_argument("no scenario: " + std::string(text)); };
  std::istringstream parts{std::string(text)};
  Scenario scenario;
  std::string part, word;
  while (std::getline(parts, part, ';')) {
    std::istringstream words(part);
    words >> word;
    if (word == "seed") {
      if (!(words >> scenario.seed)) refuse();
      continue;
    }
    const auto* const name = std::ranges::find(kNames, word);
    HarmfulAct a{.kind = static_cast<Harm>(name - kNames.begin())};
    if (name == kNames.end() || !(words >> a.at_us >> a.count >> a.gap_us >> a.choice >> a.draw))
      refuse();
    scenario.acts.push_back(a);
  }
  return scenario;
}

}  // namespace outrider
