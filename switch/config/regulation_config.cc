#include "switch/config/regulation_config.h"

#include <string>

#include "common/config/addresses.h"
#include "common/config/quantities.h"
#include "switch/aqm/scheduler.h"
#include "switch/config/reload_rules.h"

namespace outrider {

void describe(Settings& v, PredictPolicy& c) {
  v.choice("from", c.from, sw::kPredictFroms,
           {.accepts = "`traffic` needs a source in `[switch.signals]`",
            .help = "a job's rhythm is learned from the first DDL payload after a pause, or from "
                    "its STARTs; in both cases only from sources whose signals may be believed"});
  v.value("threshold_packets", c.threshold_packets,
          {.range = integers(1, 65535, "packets"),
           .help = "what START would announce; `fair_window`: what may wait"});
  v.duration("idle_gap", c.idle_gap,
             {.range = durations_up_to(PredictPolicy::kMaxPeriod),
              .help = "pause before an iteration: longer than time-outs within a burst, shorter "
                      "than those between bursts"});
  v.value("tolerance", c.tolerance,
          {.range = reals_between(0, 0.5),
           .help = "share of the period by which an iteration may be off"});
  v.value("missed_limit", c.missed_limit,
          {.range = integers(1, 1000),
           .help = "expected bursts in a row that did not come, after which the job has ended"});
  v.value("max_jobs", c.max_jobs,
          {.range = integers(1, 256),
           .help = "told apart by the address that their DDL payload goes to; more are counted, "
                   "not learned"});
}

void describe(Settings& v, WindowPolicy& c) {
  v.choice("rule", c.rule, sw::kWindowRules,
           {.help = "held flows have in flight what bursts leave of path and threshold, or the "
                    "floor alone"});
  v.share("floor", c.floor,
          {.range = reals_below(0, 1),
           .help = "share of the drain rate that held background keeps; every flow keeps "
                   "`least_segments` in any case"});
  v.value("least_segments", c.least_segments,
          {.range = integers(1, 64, "segments"),
           .help = "window below which no flow is held; with 1, the receiver's delayed ACK decides "
                   "when the flow goes on"});
  v.value("gain", c.gain,
          {.range = reals_above(0, 100),
           .help = "`complement`: bytes of background that a byte of a burst in flight displaces"});
  v.value("standing_clamp", c.standing_clamp,
          {.range = reals(1, 100),
           .help = "window of a flow that is not held, over its largest flight of the last 8 to "
                   "16 RTT"});
  v.value("spare_marks", c.spare_marks,
          {.help = "held flows are not marked, nor for 2 RTT after their release"});
  v.duration("base_rtt", c.base_rtt,
             {.range = durations_from(Duration::zero()),
              .help = "RTT of all flows; 0: measured for each"});
  v.value("max_flows", c.max_flows,
          {.range = integers(1, 1U << 20),
           .help = "flows that are told apart; more are left alone and counted"});
  v.tables("beyond", c.beyond,
           {.accepts = "up to 8",
            .help = "bottlenecks further on, where nothing regulates: flows to their destinations "
                    "are held for the bursts that go there. See "
                    "[a queue that is not ours](windows.md#a-queue-that-is-not-ours)"});
}

void describe(Settings& v, RemotePolicy& c) {
  v.value("name", c.name, {.required = true, .help = "in reports, such as `core.to_leaf_b`"});
  v.value("destinations", c.destinations,
          {.required = true,
           .accepts = "IPv4 prefixes",
           .help = "the hosts beyond it, to which bursts and background go through it"});
  v.rate(
      "rate", c.rate,
      {.required = true, .range = link_rates(), .help = "of its link, at the port's `rate_layer`"});
}

void describe(Settings& v, GrantPolicy& c) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;
  v.choice(
      "order", c.order, sw::kGrantOrders,
      {.accepts = "all but `off` need `accept_tos` or `accept_udp`, and one lcore",
       .help = "answers to STARTs wait until their bursts fit, and pass in this order: fewest "
               "announced bytes, earliest START, or the same bytes to every job; in any `mode`"});
  v.choice("parts", c.parts, sw::kGrantParts,
           {.help = "bursts are ranked each `alone`, or the bursts of a job follow each other"});
  v.bytes("budget_bytes", c.budget_bytes,
          {.range = integers(1, kMostBytes, "bytes"),
           .absent = "half of what the queue holds",
           .help = "bytes that may be granted and not yet have left"});
  v.duration("overlap", c.overlap,
             {.range = durations_from(Duration::zero()),
              .help = "the next burst is granted beyond the budget too when what is ahead of it "
                      "takes the link at most this long: a round trip and more, as a burst begins "
                      "slowly"});
  v.duration("idle", c.idle,
             {.range = durations_above_zero(),
              .absent = "`idle_end`, and the time in which a full queue drains",
              .help = "a granted burst that is silent for this long lets others go on"});
  v.duration("max_wait", c.max_wait,
             {.range = durations_above_zero(),
              .absent = "`expiry`, and four times what the link takes for all that is announced; "
                        "at most 60 s",
              .help = "longest wait of an answer, after which it passes"});
}

void describe(Settings& v, RegulationPolicy& c) {
  v.choice("mode", c.mode, sw::kRegulationModes,
           {.help = "what an announced burst does to background: the low threshold marks it, it "
                    "is let into the queue only as far as that is below the threshold, its windows "
                    "are held, or two of these; or the burst goes to another queue. `fair_window` "
                    "holds windows without bursts. See [Regulation](regulation.md). All but this "
                    "and `off` need `accept_tos`, `accept_udp` or predictions from traffic; "
                    "`window` and `mark_window` need a `recovery` other than `arrival`, `steer` "
                    "needs `burst_end` and no predictions",
            .reload = kReloads});
  v.choice("hears", c.hears, sw::kSubscriptions,
           {.accepts = "`port`, `switch`: a mode that marks or holds windows, or `off`; `switch` "
                       "needs `[switch.buffer]`",
            .help = "the bursts that regulate the queue: those that come to it, to any queue of "
                    "its port, or to any port of the switch. See "
                    "[room in a shared buffer](regulation.md#hears-room-in-a-shared-buffer)"});
  v.choice("recovery", c.recovery, sw::kRecoveries,
           {.help = "what ends the regulation of an announced burst", .reload = kReloads});
  v.value("spare_ddl", c.spare_ddl,
          {.help = "DDL data keeps its initial threshold while regulated", .reload = kReloads});
  v.duration("hold", c.hold,
             {.range = durations_above_zero(),
              .accepts = "with `timer` up to `expiry`",
              .help = "from the begin of regulation to recovery by `timer`",
              .reload = kReloads});
  v.duration("idle_end", c.idle_end,
             {.range = durations_above_zero(),
              .accepts = "with `burst_end` up to `expiry`",
              .help = "pause that ends a burst: a few round-trip times. With a known length "
                      "`burst_end` comes with the last byte",
              .reload = kReloads});
  v.duration("expiry", c.expiry,
             {.range = durations_above_zero(),
              .help = "longest life of an entry without DDL data, from the begin of regulation",
              .reload = kReloads});
  v.share("budget_share", c.budget_share,
          {.range = reals_above(0, 1),
           .help = "largest share of `budget_window` that a job may hold a queue regulated, of "
                   "those that one sender announces",
           .reload = kReloads});
  v.share("budget_sender_share", c.budget_sender_share,
          {.range = reals_above(0, 1),
           .absent = "`budget_share`",
           .help = "the same of all jobs of a sender",
           .reload = kReloads});
  v.share("budget_queue_share", c.budget_queue_share,
          {.range = reals_above(0, 1),
           .absent = "`budget_share`, at least 0.75",
           .help = "the same of all senders",
           .reload = kReloads});
  v.duration("budget_window", c.budget_window,
             {.range = durations_above_zero(),
              .help = "over which the shares are counted",
              .reload = kReloads});
  v.share("pace_floor", c.pace_floor,
          {.range = reals(0, 1),
           .help = "`pace`: share of `drain_rate` that background is let in at while regulated, "
                   "however full the queue is",
           .reload = kReloads});
  v.value("steer_to_queue", c.steer_to_queue,
          {.range = integers(0, kMaxQueuesPerPort - 1),
           .accepts = "`steer`: another queue of the port, of a lower number unless `dwrr`, that "
                      "does not steer",
           .help = "`steer`: the queue that announced bursts go to"});
  v.value("max_entries", c.max_entries,
          {.range = integers(1, 65536),
           .help = "announcements that are live at once, those that wait for `lead` included; "
                   "beyond it one that waits is evicted, or the START is counted and not armed",
           .reload = sw::kReserved});
  v.value("max_entries_per_sender", c.max_entries_per_sender,
          {.range = integers(1, 65536),
           .absent = "a quarter of `max_entries`",
           .help = "the same of one source address",
           .reload = sw::kReserved});
  v.value("max_threshold_packets", c.max_threshold_packets,
          {.range = integers(1, 65535, "packets"),
           .absent = "the queue's `limit_packets`",
           .help = "greatest threshold that a START gets, whatever it asks for",
           .reload = kReloads});
  v.bytes("max_burst_bytes", c.max_burst_bytes,
          {.range = integers(1, std::uint64_t{1} << 40, "bytes"),
           .absent = "`drain_rate` x `expiry`",
           .help = "`demand`: most that an announced burst weighs, whatever it says",
           .reload = kReloads});
  v.duration(
      "lead", c.lead,
      {.range = durations_from(Duration::zero()),
       .accepts = "needs `accept_udp` or predictions, which need it; `auto` needs a mode that "
                  "holds windows, and no `window.beyond`",
       .absent = "none: with START",
       .help = "regulation begins that long before the burst is due, if START says when it "
               "is or it was predicted. `auto`: what told windows take to drain, "
               "[measured and told to the announcer]"
               "(windows.md#the-switch-measures-the-lead-auto)",
       .reload = kReloads});
  v.choice("composition", c.composition, sw::kCompositions,
           {.help = "what the thresholds of "
                    "[several jobs](regulation.md#several-jobs-on-one-queue) come to",
            .reload = sw::kReserved});
  v.table("predict", c.predict, {.reload = sw::kLearned});
  v.table("window", c.window, {.reload = sw::kWindows});
  v.table("grant", c.grant, {.reload = sw::kAnswers});
}

std::string shown_lead(const RegulationPolicy& policy) {
  if (!policy.lead) return {};
  return measures_lead(policy) ? "\"auto\"" : format_duration(*policy.lead->value);
}

namespace {

/// Checks that the switch can measure the lead.
void check_measured_lead(const Checks& at, const RegulationPolicy& policy) {
  at.require(holds_windows(policy.mode), "lead", "\"auto\"",
             "needs a mode that holds windows: it is the time that told windows take to drain");
  at.require(policy.window.beyond.empty(), "lead", "\"auto\"",
             "needs an empty window.beyond: how long a queue further on may be is not known here");
}

/// Checks the bottlenecks beyond a port.
void check_remote(const Checks& at, const std::vector<RemotePolicy>& beyond) {
  at.in_range("beyond", beyond.size(), 0, kMostRemote, "bottlenecks");
  UniqueValues<std::string> names;
  for (std::size_t i = 0; i < beyond.size(); ++i) {
    const auto below = at.below("beyond", i);
    const RemotePolicy& b = beyond[i];
    if (b.name.empty()) below.fault("name", "must not be empty");
    names.add(below, "name", b.name, Checks::quoted(b.name), "beyond[" + std::to_string(i) + "]");
    if (b.destinations.empty()) below.fault("destinations", "must have a prefix");
    for (std::size_t d = 0; d < b.destinations.size(); ++d)
      below.below("destinations", d).parses("", b.destinations[d], parse_prefix(b.destinations[d]));
  }
}

void check_steering(const Checks& at, const RegulationPolicy& policy) {
  if (policy.recovery != Recovery::kBurstEnd)
    at.fault("recovery",
             "must be \"burst_end\" with mode \"steer\": a burst stays in one queue to its end");
  if (policy.predict.from != PredictFrom::kOff)
    at.below("predict").fault(
        "from", "must be \"off\" with mode \"steer\": nobody predicts a burst's first byte");
}

/// Refuses what this mode, which acts without bursts, would not heed.
void check_sharing(const Checks& at, const RegulationPolicy& policy) {
  if (policy.hears != Subscription::kQueue)
    at.fault("hears", "must be \"queue\" with mode \"fair_window\": no burst makes it act");
  if (!policy.window.beyond.empty())
    at.below("window").fault(
        "beyond", "must be empty with mode \"fair_window\": it shares this queue, all the time");
}

/// A queue hears of other queues' bursts for one reason: to give memory back before they come. A
/// mode that keeps or moves packets gives none back.
void check_hearing(const Checks& at, const RegulationPolicy& policy) {
  if (policy.hears == Subscription::kQueue) return;
  const std::string shown = policy.hears == Subscription::kPort ? "\"port\"" : "\"switch\"";
  if (steers(policy.mode))
    at.fault("hears", shown,
             "must be \"queue\" with mode \"steer\": it moves bursts of its own queue");
  if (paces(policy.mode))
    at.fault("hears", shown,
             "must be \"queue\" in a mode that paces: packets that wait before the queue take as "
             "much memory as in it");
}

}  // namespace

void check(const Checks& at, const RegulationPolicy& policy) {
  const auto within_expiry = [&](std::string_view key, Duration d) {
    at.require(d <= policy.expiry, key, format_duration(d),
               "must not be longer than expiry, " + format_duration(policy.expiry));
  };
  if (policy.recovery == Recovery::kTimer) within_expiry("hold", policy.hold);
  if (policy.recovery == Recovery::kBurstEnd) within_expiry("idle_end", policy.idle_end);
  at.require(!holds_windows(policy.mode) || policy.recovery != Recovery::kArrival, "recovery",
             "\"arrival\"", "must be \"burst_end\" or \"timer\" in a mode that holds windows");
  if (steers(policy.mode)) check_steering(at, policy);
  if (shares_windows(policy.mode)) check_sharing(at, policy);
  check_hearing(at, policy);
  check_remote(at.below("window"), policy.window.beyond);
  if (measures_lead(policy)) check_measured_lead(at, policy);
  if (policy.predict.from == PredictFrom::kOff) return;
  at.require(acts_on_bursts(policy.mode), "mode", Checks::quoted(row_of(policy.mode).name),
             "must regulate for [predict] to have an effect");
  if (!policy.lead)
    at.fault("lead", "must say how long before a predicted burst regulation begins");
}

ConfigIssues advice(const RegulationPolicy& policy) {
  ConfigIssues found;
  const bool arrival = policy.recovery == Recovery::kArrival;
  if (paces(policy.mode) && !marks(policy.mode) && arrival)
    found.push_back({"recovery",
                     "\"arrival\" gains nothing in mode \"pace\": what waits before the queue is "
                     "let in as soon as the burst comes; set \"burst_end\""});
  if (marks(policy.mode) && !holds_windows(policy.mode) && !arrival && !policy.spare_ddl)
    found.push_back({"spare_ddl",
                     "false brakes the burst itself with a recovery other than \"arrival\": its "
                     "packets are marked at the low threshold too; set true"});
  return found;
}

}  // namespace outrider
