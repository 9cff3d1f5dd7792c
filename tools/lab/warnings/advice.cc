#include "tools/lab/warnings/advice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "common/config/quantities.h"
#include "switch/config/config_toml.h"
#include "switch/config/queue_advice.h"
#include "switch/config/regulation_config.h"
#include "tools/lab/experiment/background_groups.h"
#include "tools/lab/plan/plan_lead.h"
#include "tools/lab/warnings/job_list_advice.h"
#include "tools/lab/warnings/lossless_advice.h"
#include "tools/lab/warnings/starvation_advice.h"

namespace outrider::lab {
namespace {

void add(ConfigIssues& found, const std::string& label, const ConfigIssue& of_policy) {
  found.push_back({"arm \"" + label + "\"", of_policy.key + ": " + of_policy.problem});
}

/// Warns where windows cannot make room, and of a regulation that is over before the burst comes.
void add_of_windows(ConfigIssues& found, const Case& c, const RegulationPolicy& policy) {
  if (!holds_windows(policy.mode) || c.traffic.jobs.empty()) return;
  const WindowLead rule = lead_by_rule(c);
  if (rule.kept_share > WindowLead::kMostKept)
    add(found, c.label,
        {"window.least_segments",
         std::to_string(c.background_flows) + " held flows keep " +
             std::to_string(policy.window.least_segments) + " segments each, " +
             std::to_string(std::lround(100 * rule.kept_share)) +
             " % of path and standing queue: no lead makes more room; mode \"pace\", or a queue "
             "of the burst's own, does"});
  const tg::AnnounceConfig& announce = c.traffic.jobs.front().announce;
  if (announce.lead_source == tg::LeadSource::kOverlap && !policy.lead &&
      announce.lead >= policy.expiry)
    add(found, c.label,
        {"expiry", format_duration(policy.expiry) + " is over before the burst comes, which is " +
                       format_duration(announce.lead) + " after its START; set it longer"});
}

/// Warns where the bursts of a job are shorter than a path: whatever their size, a hold costs
/// background about a path.
void add_of_short_bursts(ConfigIssues& found, const Case& c, const RegulationPolicy& policy) {
  if (!holds_windows(policy.mode)) return;
  const double path = static_cast<double>(c.bottleneck.bits_per_second) / 8e9 *
                      static_cast<double>(c.base_rtt.count());
  for (const tg::JobConfig& job : c.traffic.jobs) {
    const double bursts =
        static_cast<double>(job.burst_bytes.value_or(0)) * static_cast<double>(job.workers.size());
    if (bursts == 0 || bursts >= path) continue;
    std::array<char, 300> text{};
    std::snprintf(text.data(), text.size(),
                  "the bursts of an iteration have %.0f %% of a path (rate x RTT): a hold costs "
                  "background about a path, %.1f bytes for each of theirs; mode \"pace\", or a "
                  "queue of the burst's own, costs less",
                  100 * bursts / path, path / bursts);
    add(found, c.label, {"mode", text.data()});
  }
}

/// Returns how long a connection between workers is silent, beside no other traffic, while its
/// worker waits for messages of others in the midst of an iteration; zero: it carries one message
/// an iteration, or all at once.
Duration silence_between_messages(const Case& c, const tg::JobConfig& job) {
  const double workers = static_cast<double>(job.workers.size());
  const double rtt = seconds(c.base_rtt);
  const auto message_seconds = [&](double parts) {
    return 8 * static_cast<double>(job.burst_bytes.value_or(0)) / parts /
           static_cast<double>(c.bottleneck.bits_per_second);
  };
  switch (job.collective) {
    case tg::Collective::kRing:  // half of the workers send over the link
      return from_seconds(workers / 2 * message_seconds(workers) + rtt / 2);
    case tg::Collective::kPipeline:  // the first stage, until the first gradients are back
      return from_seconds((workers - 2) * message_seconds(tg::micro_batches_of(job)) +
                          (workers - 1) * rtt);
    case tg::Collective::kPs:
    case tg::Collective::kHalvingDoubling:  // other connections send then
    case tg::Collective::kTree:
    case tg::Collective::kAllToAll:
    case tg::Collective::kSteps:
      break;
  }
  return {};
}

/// Warns of a regulation that takes a wait between two messages for the end of the burst.
void add_of_waits(ConfigIssues& found, const Case& c, const RegulationPolicy& policy) {
  if (!acts_on_bursts(policy.mode) || policy.recovery != Recovery::kBurstEnd) return;
  constexpr int kBesideBackground = 4;  // what a message may take there, of its time alone
  for (const tg::JobConfig& job : c.traffic.jobs) {
    const Duration silence = silence_between_messages(c, job);
    if (policy.idle_end >= silence) continue;
    const auto rtts =
        std::llround(std::ceil(kBesideBackground * seconds(silence) / seconds(c.base_rtt)));
    add(found, c.label,
        {"idle_end", format_duration(policy.idle_end) +
                         " ends regulation in the midst of an iteration: with \"" +
                         std::string(name_of(job.collective)) +
                         "\" a connection is silent for about " +
                         format_duration(std::chrono::floor<std::chrono::microseconds>(silence)) +
                         ", and longer beside background; set switch.regulation.idle_end = \"" +
                         std::to_string(rtts) + "rtt\", and expiry no shorter"});
  }
}

/// Warns of a threshold that marks no earlier than the queue does anyway.
void add_of_threshold(ConfigIssues& found, const Case& c, const sw::PortQueueConfig& queue) {
  if (queue.regulation.mode != RegulationMode::kMark || c.traffic.jobs.empty() ||
      queue.marker.kind != sw::MarkerKind::kStep)
    return;
  std::uint32_t least = c.traffic.jobs.front().announce.threshold_packets;
  for (const tg::JobConfig& job : c.traffic.jobs)
    least = std::min<std::uint32_t>(least, job.announce.threshold_packets);
  // Data of the job that are not spared may have another threshold, which falls too.
  const std::uint32_t of_ddl = queue.marker.threshold_packets;
  const std::uint32_t usual = queue.marker.background_threshold_packets.value_or(of_ddl);
  if (least < usual || (!queue.regulation.spare_ddl && least < of_ddl)) return;
  add(found, c.label,
      {"h_packets", std::to_string(least) + " marks no earlier than the queue's own threshold, " +
                        std::to_string(usual) +
                        ", does without a START, so mode \"mark\" changes nothing; set it lower"});
}

/// Returns what says whether flows, or a job, are over RoCEv2.
auto over_roce_in(const Case& c) {
  return [&c](const auto& flows) {
    return tg::transport_named(c.traffic, flows.transport).protocol == tg::TransportProtocol::kRoce;
  };
}

/// Warns of background that windows cannot hold.
void add_of_roce(ConfigIssues& found, const Case& c, const RegulationPolicy& policy) {
  const auto over_roce = over_roce_in(c);
  if (!rewrites_windows(policy.mode) || (std::ranges::none_of(c.traffic.long_flows, over_roce) &&
                                         std::ranges::none_of(c.traffic.flows, over_roce)))
    return;
  add(found, c.label,
      {"mode",
       std::string("windows cannot hold background over RoCEv2, which has no receive window") +
           (marks(policy.mode) ? ": it is marked from h on instead" : "")});
}

/// Warns of senders over RoCEv2 that no mark slows down.
void add_of_cnps(ConfigIssues& found, const Case& c) {
  for (const tg::TransportConfig& t : c.traffic.transports) {
    if (t.protocol != tg::TransportProtocol::kRoce ||
        t.roce.controller != tg::RoceController::kFixed)
      continue;
    const auto uses = [&t](const auto& flows) { return flows.transport == t.name; };
    std::string whose;
    if (std::ranges::any_of(c.traffic.jobs, uses)) whose = "bursts";
    if (std::ranges::any_of(c.traffic.long_flows, uses) ||
        std::ranges::any_of(c.traffic.flows, uses))
      whose += whose.empty() ? "background" : " and background";
    if (!whose.empty())
      add(found, c.label,
          {"roce.controller", "\"fixed\": the senders of " + whose +
                                  " obey no CNP, so no mark slows them down; what a marker or a "
                                  "regulation does to them, \"dcqcn\" would obey"});
  }
}

/// Warns of windows that cannot fill a path, and of telemetry that tells little.
void add_of_hpcc(ConfigIssues& found, const Case& c) {
  const bool sprays = std::ranges::any_of(c.switches.switches, [](const sw::SwitchConfig& sw) {
    return std::ranges::any_of(sw.routes, &sw::RouteConfig::spray);
  });
  for (const tg::TransportConfig& t : c.traffic.transports) {
    if (t.protocol != tg::TransportProtocol::kRoce ||
        t.roce.controller != tg::RoceController::kHpcc)
      continue;
    if (t.roce.hpcc.base_rtt < c.base_rtt)
      add(found, c.label,
          {"roce.hpcc.base_rtt", format_duration(t.roce.hpcc.base_rtt) +
                                     " is below the round trip of an empty path, " +
                                     format_duration(c.base_rtt) +
                                     ": HPCC's windows cannot fill it; set it a little above"});
    if (sprays)
      add(found, c.label,
          {"paths",
           "\"spray\": HPCC compares what the hops of one path tell, and few packets that follow "
           "one another take the same one; use \"flow\""});
  }
}

/// Warns where bursts leave no records by which a run finds its worst queue.
void add_of_worst(ConfigIssues& found, const Case& c) {
  const auto jobs = std::ranges::count_if(c.traffic.jobs, over_roce_in(c));
  if (c.measured_queue != kWorstQueue || jobs == 0) return;
  const bool all = static_cast<std::size_t>(jobs) == c.traffic.jobs.size();
  add(found, c.label,
      {"network.measured",
       std::string("queues keep no records of bursts over RoCEv2, so ") +
           (all ? "that no queue is known as the worst, and figures of a queue are absent; name "
                  "one port"
                : "that the worst queue is that of the other jobs' bursts; name one port")});
}

/// Warns of arms that drop packets which the others let pass, as their marker does so by default.
void add_of_not_ect(std::span<const PlannedRow> rows, ConfigIssues& found) {
  std::vector<std::string> drop;
  bool any_pass = false;
  for (const PlannedRow& row : rows) {
    const sw::MarkerConfig& marker = row.parameters.programs().sw.ports.front().marker;
    if (marker.kind == sw::MarkerKind::kTailDrop) continue;  // it marks nothing
    const bool drops = sw::not_ect_of(marker) == sw::NotEct::kDrop;
    any_pass = any_pass || !drops;
    if (drops && !marker.not_ect && std::ranges::find(drop, row.label) == drop.end())
      drop.push_back(row.label);
  }
  if (!any_pass || drop.empty()) return;
  std::string labels;
  for (const std::string& label : drop) labels.append(labels.empty() ? "" : ", ").append(label);
  found.push_back(
      {"switch.marker.not_ect",
       "absent, so that " + labels +
           " drop Not-ECT packets (SYNs, bare ACKs, segments that are sent again) where "
           "they mark others, and other arms let them pass; set \"pass\" or \"drop\" in "
           "[parameters] to compare like with like"});
}

std::string shown_seconds(double seconds) { return display(ConfigValue(seconds)); }

/// Warns of background that still starts while bursts are measured, and of a run that ends before
/// its last iteration. @param p  of a job
void add_of_times(const CaseParameters& p, ConfigIssues& found) {
  const ProgramSettings& s = p.programs();
  if (has_long_flows(p) && seconds(s.flows.start_spread) > p.warm_up_seconds)
    found.push_back({"background.start_spread",
                     format_duration(s.flows.start_spread) + " is longer than warm_up_seconds, " +
                         shown_seconds(p.warm_up_seconds) +
                         ", so that long flows still start while bursts are measured"});
  const double last = p.warm_up_seconds + (s.job.iterations - 1) * seconds(s.job.period);
  if (s.job.schedule == tg::Schedule::kFixed && last >= p.limit_seconds)
    found.push_back(
        {"limit_seconds", shown_seconds(p.limit_seconds) +
                              " ends the run before its last iteration, which is due at " +
                              shown_seconds(last) + " s"});
}

/// Returns whether a job or background is on the group.
bool is_used(const ExperimentFile& e, const HostGroupEntry& group) {
  return group.of_job || (e.jobs.empty() && e.job.is_on(group.name)) ||
         group.name == e.background.from || group.name == e.background.to ||
         std::ranges::any_of(all_groups(e), [&group](const BackgroundGroup& background) {
           return group.name == background.from || group.name == background.to;
         });
}

}  // namespace

ConfigIssues advice(std::span<const Case> cases) {
  ConfigIssues found;
  for (const Case& c : cases) {
    if (c.switches.switches.empty() || c.switches.switches.front().ports.empty()) continue;
    const auto& port = c.switches.switches.front().ports.front();
    for (const auto& queue : sw::queues_of(port)) {
      for (const auto& issue : sw::advice(queue.queue))
        found.push_back({"switch.queue." + issue.key, issue.problem});
      add_of_threshold(found, c, queue);
    }
    const RegulationPolicy& policy = port.regulation;
    for (const auto& issue : advice(policy)) add(found, c.label, issue);
    add_of_windows(found, c, policy);
    add_of_short_bursts(found, c, policy);
    add_of_waits(found, c, policy);
    add_of_roce(found, c, policy);
    add_of_cnps(found, c);
    add_of_hpcc(found, c);
    add_of_worst(found, c);
  }
  found.add(lossless_advice(cases));
  found.add(starvation_advice(cases));
  return found;
}

ConfigIssues advice(const ExperimentFile& experiment) {
  ConfigIssues found;
  for (const HostGroupEntry& group : experiment.hosts)
    if (!is_used(experiment, group))
      found.push_back(
          {"hosts \"" + group.name + "\"",
           experiment.background.from.empty() && experiment.parameters.groups.empty()
               ? "sends and receives nothing: no job is on these hosts, and there is no "
                 "[background], so that no arm meets any; add [background], or remove "
                 "the group"
               : "sends and receives nothing: neither a job nor [background] is on "
                 "these hosts; name the group in one of them, or remove it"});
  const std::vector<PlannedRow> rows = rows_of(experiment);
  found.add(background_advice(experiment, rows));
  found.add(idle_parameters(experiment, rows));
  found.add(job_list_advice(experiment));
  found.add(baseline_advice(experiment, rows));
  add_of_not_ect(rows, found);
  for (const PlannedRow& row : rows) {
    if (experiment.jobs.empty() && experiment.has_job()) add_of_times(row.parameters, found);
    for (const ListedJob& job : experiment.jobs)
      add_of_times(parameters_of(job, row.parameters, experiment.network.rtt), found);
  }
  return found;
}

}  // namespace outrider::lab
