#include "tools/hostagent/hold_loop.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <linux/bpf.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "common/config/quantities.h"
#include "common/telemetry/exit_status.h"
#include "tools/hostagent/agent_report.h"
#include "tools/hostagent/bpf/hold.h"
#include "tools/hostagent/clsact_filter.h"
#include "tools/hostagent/hold.skel.h"
#include "tools/hostagent/instance_lock.h"
#include "tools/hostagent/privileges.h"
#include "tools/hostagent/start_permissions.h"
#include "tools/hostagent/stop_signals.h"

namespace outrider::agent {
namespace {

/// The programs heed no START when the agent was not heard of for so long.
constexpr Duration kAlive = 3 * StartPermissions::kRefresh;

constexpr std::array kCountNames{
    "starts",        "starts_repeated",    "not_understood",     "not_for_host",
    "not_accepted",  "over_rate",          "not_connected",      "over_budget",
    "over_table",    "agent_gone",         "connections",        "without_handshake",
    "authenticated", "without_timestamps", "answered_elsewhere", "out_of_window",
    "acks_held",     "acks_opening",       "acks_standing"};
static_assert(kCountNames.size() == kAgentHoldCounts);
constexpr std::array kEndNames{"bursts_complete", "bursts_idle", "bursts_never_came", "bursts_cut",
                               "bursts_over_budget"};
static_assert(kEndNames.size() == kHoldEnds);

struct Destroy {
  void operator()(hold_bpf* object) const noexcept { hold_bpf__destroy(object); }
};
using Programs = std::unique_ptr<hold_bpf, Destroy>;

std::uint64_t ns_of(Duration d) noexcept { return static_cast<std::uint64_t>(d.count()); }

std::uint64_t share_ns(double share) noexcept {
  return static_cast<std::uint64_t>(share * static_cast<double>(HoldOptions::kWindow.count()));
}

HoldRules rules_of(const HoldOptions& options) noexcept {
  return {.lead_ns = ns_of(options.lead),
          .wait_ns = ns_of(options.wait),
          .idle_ns = ns_of(options.idle_end),
          .longest_ns = ns_of(options.longest),
          .window_ns = ns_of(HoldOptions::kWindow),
          .sender_ns = share_ns(options.sender_share),
          .host_ns = share_ns(options.budget_share)};
}

Programs load(const AgentOptions& options) {
  Programs object(hold_bpf__open());
  if (!object) refuse_load(-errno);
  const HoldOptions& o = options.hold;
  auto& data = *object->rodata;
  data.signal_port = options.form == SignalForm::kUdp ? htons(options.signal_port) : 0;
  data.bytes_per_s = o.rate.bits_per_second / 8;
  data.given_rtt_ns = ns_of(o.rtt);
  data.floor_permille = static_cast<std::uint32_t>(o.floor * 1000);
  data.standing_permille = static_cast<std::uint32_t>(o.standing * 1000);
  for (std::size_t i = 0; i < o.job_ports.size(); ++i) data.job_ports[i] = htons(o.job_ports[i]);
  data.rules = rules_of(o);
  bpf_map__set_max_entries(object->maps.flows, o.max_connections);
  if (const int failed = hold_bpf__load(object.get()); failed < 0) refuse_load(failed);
  return object;
}

/// Returns the time of bpf_ktime_get_ns().
std::uint64_t now_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

/// Tells the programs that the agent runs.
void say_alive(int map) noexcept {
  const std::uint32_t only = 0;
  const std::uint64_t until = now_ns() + ns_of(kAlive);
  bpf_map_update_elem(map, &only, &until, BPF_ANY);
}

/// Returns the least and the greatest base round trip that connections have had, or null.
nlohmann::ordered_json base_rtts(int map) {
  nlohmann::ordered_json range;
  AgentFlowKey key{}, next{};
  AgentFlowKey* previous = nullptr;
  while (bpf_map_get_next_key(map, previous, &next) == 0) {
    key = next;
    previous = &key;
    AgentHoldFlow flow{};
    if (bpf_map_lookup_elem(map, &key, &flow) != 0 || flow.rtt_ns == 0) continue;
    const double ms = static_cast<double>(flow.rtt_ns) / 1e6;
    if (range.is_null()) range = {ms, ms};
    else range = {std::min(range[0].get<double>(), ms), std::max(range[1].get<double>(), ms)};
  }
  return range;
}

nlohmann::ordered_json report_of(const hold_bpf& object, const HoldOptions& options) {
  nlohmann::ordered_json report;
  const auto counts = read_counts(bpf_map__fd(object.maps.counts), kAgentHoldCounts);
  for (std::size_t i = 0; i < counts.size(); ++i) report[kCountNames[i]] = counts[i];

  const std::uint32_t only = 0;
  AgentHoldShared shared{};
  bpf_map_lookup_elem(bpf_map__fd(object.maps.shared), &only, &shared);
  const HoldRules rules = rules_of(options);
  hold_look(&shared.table, &rules, now_ns());  // no packet may have come since a burst ended
  for (std::size_t i = 0; i < kEndNames.size(); ++i) report[kEndNames[i]] = shared.table.ended[i];
  report["held_ms"] = static_cast<double>(shared.table.held_ns) / 1e6;
  report["base_rtt_ms"] = base_rtts(bpf_map__fd(object.maps.flows));
  report["cost"] = {{"ingress", json_of(cost_of(bpf_program__fd(object.progs.hold_ingress)))},
                    {"egress", json_of(cost_of(bpf_program__fd(object.progs.hold_egress)))}};
  return report;
}

}  // namespace

int run_hold(const AgentOptions& options) {
  const Privileges privileges(options.user);
  ReportFile file(options.report);
  const auto interface = interface_named(options.interface);
  const InstanceLock lock("hold", interface);
  const StopSignals stop;
  std::unique_ptr<CostMeter> meter;
  if (options.measure_cost) meter = std::make_unique<CostMeter>();
  const auto object = load(options);
  StartPermissions permissions(bpf_map__fd(object->maps.own_addresses),
                               bpf_map__fd(object->maps.accepted), options.accept_from, interface);
  const int alive = bpf_map__fd(object->maps.alive_until_ns);
  say_alive(alive);
  const ClsactFilter egress(interface, FilterPlace::kHoldEgress,
                            bpf_program__fd(object->progs.hold_egress));
  const ClsactFilter ingress(interface, FilterPlace::kHoldIngress,
                             bpf_program__fd(object->progs.hold_ingress));
  privileges.drop();
  if (egress.replaced_leftover()) std::puts("replaced what a killed agent had left");
  std::printf("holding at %s, %s, rate %s\n", interface.name.c_str(),
              options.form == SignalForm::kTos
                  ? "TOS form"
                  : ("UDP port " + std::to_string(options.signal_port)).c_str(),
              format_rate(options.hold.rate).c_str());
  std::fflush(stdout);

  while (!stop.wait_for(StartPermissions::kRefresh)) {
    permissions.refresh();
    say_alive(alive);
  }
  file.say(report_of(*object, options.hold));
  return kExitOk;
}

}  // namespace outrider::agent
