#include "tools/lab/experiment/renamed_parameters.h"

#include <algorithm>
#include <cstdint>

namespace outrider::lab {
namespace {

enum class Unit : std::uint8_t { kSame, kSeconds, kRtts };

struct Renamed {
  std::string_view was;
  std::string_view is;
  Unit unit = Unit::kSame;
};

constexpr Renamed kRenamed[]{
    {"window_rule", "switch.regulation.window.rule"},
    {"window_floor", "switch.regulation.window.floor"},
    {"window_gain", "switch.regulation.window.gain"},
    {"window_standing_clamp", "switch.regulation.window.standing_clamp"},
    {"window_spare_marks", "switch.regulation.window.spare_marks"},
    {"switch_lead_rtts", "switch.regulation.lead", Unit::kRtts},
    {"predict", "switch.regulation.predict.from"},
    {"predict_idle_gap_rtts", "switch.regulation.predict.idle_gap", Unit::kRtts},
    {"composition", "switch.regulation.composition"},
    {"expiry_rtts", "switch.regulation.expiry", Unit::kRtts},
    {"idle_end_rtts", "switch.regulation.idle_end", Unit::kRtts},
    {"hold_rtts", "switch.regulation.hold", Unit::kRtts},
    {"budget_share", "switch.regulation.budget_share"},
    {"pace_floor", "switch.regulation.pace_floor"},
    {"ack_timeout_rtts", "job.announce.ack_timeout", Unit::kRtts},
    {"marker", "switch.marker.kind; \"static_pair\" is now static_pair = true"},
    {"mark_at", "switch.marker.mark_at"},
    {"queue_packets", "switch.queue.limit_packets"},
    {"limit_packets", "switch.queue.limit_packets"},
    {"buffer_packets", "switch.queue.limit_packets"},
    {"queue_bytes", "switch.queue.limit_bytes, beside switch.queue.limit_packets"},
    {"limit_bytes", "switch.queue.limit_bytes, beside switch.queue.limit_packets"},
    {"buffer_bytes", "switch.queue.limit_bytes, beside switch.queue.limit_packets"},
    {"k_packets", "switch.marker.threshold_packets, for RED switch.marker.red.kmax_packets too"},
    {"red_kmin_packets", "switch.marker.red.kmin_packets"},
    {"red_pmax", "switch.marker.red.pmax"},
    {"red_weight", "switch.marker.red.weight"},
    {"aqm_target_seconds", "switch.marker.pie.target or switch.marker.codel.target",
     Unit::kSeconds},
    {"aqm_interval_seconds", "switch.marker.codel.interval; PIE's follows from its target",
     Unit::kSeconds},
    {"early_drop", "switch.marker.not_ect = \"drop\""},
    {"tcp", "transport.controller"},
    {"tcp_ddl", "ddl.transport.controller"},
    {"background_ecn",
     "background.transport.ecn (false for \"off\") and background.transport.obey_ece (false for "
     "\"ignore\")"},
    {"ddl_ecn",
     "ddl.transport.ecn (false for \"off\") and ddl.transport.obey_ece (false for \"ignore\")"},
    {"min_rto_seconds", "transport.min_rto", Unit::kSeconds},
    {"initial_rto_seconds", "transport.initial_rto", Unit::kSeconds},
    {"delayed_ack_seconds", "transport.delayed_ack", Unit::kSeconds},
    {"initial_window_segments", "transport.initial_window_segments"},
    {"receive_buffer_bytes", "transport.receive_buffer_bytes"},
    {"tolerance", "ddl.transport.mlt.tolerance_push"},
    {"tolerance_pull", "ddl.transport.mlt.tolerance_pull"},
    {"probe_timeout_seconds", "ddl.transport.mlt.probe_timeout", Unit::kSeconds},
    {"front_share", "ddl.transport.mlt.front_share"},
    {"small_share", "ddl.transport.mlt.small_share"},
    {"pull", "job.pull"},
    {"due_jitter_seconds", "job.due_jitter", Unit::kSeconds},
    {"compute_jitter", "job.compute_jitter"},
    {"synchronisation", "job.synchronisation"},
    {"staleness_bound", "job.staleness_bound"},
    {"r2sp_slack", "job.r2sp.slack"},
    {"r2sp_warm_up_iterations", "job.r2sp.warm_up_iterations"},
    {"r2sp_tune_batch", "job.r2sp.tune_batch"},
    {"learner", "job.learner.model"},
    {"learner_features", "job.learner.features"},
    {"learner_hidden", "job.learner.hidden"},
    {"learner_samples", "job.learner.samples"},
    {"learner_batch", "job.learner.batch, without a learner job.r2sp.batch"},
    {"target_loss", "job.learner.target_loss"},
    {"send_policy", "job.send_policy"},
    {"granularity", "job.policy.granularity"},
    {"partition_bytes", "job.policy.partition_bytes"},
    {"credit_bytes", "job.policy.credit_bytes"},
    {"fusion_bytes", "job.policy.fusion_bytes"},
    {"fusion_cycle_seconds", "job.policy.cycle", Unit::kSeconds},
    {"bandwidth_error", "job.policy.bandwidth_error"},
    {"tensorlights", "tensorlights.mode"},
    {"tensorlights_interval_seconds", "tensorlights.interval", Unit::kSeconds},
};

}  // namespace

std::string renamed_parameter(std::string_view name) {
  const auto it = std::ranges::find(kRenamed, name, &Renamed::was);
  if (it == std::end(kRenamed)) return {};
  std::string text = "is now " + std::string(it->is);
  if (it->unit == Unit::kRtts) text += ", a duration such as \"4rtt\"";
  if (it->unit == Unit::kSeconds) text += ", a duration such as \"20ms\"";
  return text;
}

ConfigTable without_renamed(const ConfigTable& table, const std::string& path,
                            ConfigIssues& issues) {
  ConfigTable kept;
  for (const auto& [key, value] : table.members) {
    // `tensorlights` was a parameter and is now a table of settings.
    const std::string now =
        value.as<ConfigTable>() == nullptr ? renamed_parameter(key) : std::string{};
    if (now.empty()) kept[key] = value;
    else issues.push_back({join_key(path, key), now});
  }
  return kept;
}

}  // namespace outrider::lab
