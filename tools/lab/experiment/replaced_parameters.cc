#include "tools/lab/experiment/replaced_parameters.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/config/quantities.h"
#include "common/core/clock.h"

namespace outrider::lab {
namespace {

constexpr Replaced kReplaced[]{
    {"regulation", "switch.regulation.mode"},
    {"recovery", "switch.regulation.recovery"},
    {"spare_ddl", "switch.regulation.spare_ddl"},
    {"lead_rtts", "job.announce.lead", ReplacedUnit::kRtts},
    {"lead_source", "job.announce.lead_source"},
    {"signal_form", "job.announce.signal_form"},
    {"signal_signed", "job.announce.signal_key", ReplacedUnit::kThere, "auto"},
    {"signal_lost", "job.announce.faults.lost"},
    {"signal_late", "job.announce.faults.late"},
    {"signal_late_rtts", "job.announce.faults.late_by", ReplacedUnit::kRtts},
    {"signal_early", "job.announce.faults.early"},
    {"signal_early_rtts", "job.announce.faults.early_by", ReplacedUnit::kRtts},
    {"signal_duplicated", "job.announce.faults.duplicated"},
    {"signal_copies", "job.announce.faults.copies"},
    {"signal_copy_gap_rtts", "job.announce.faults.copy_gap", ReplacedUnit::kRtts},
    {"signal_forged_per_second", "job.announce.faults.forged_per_second"},
    {"signal_forged_tag", "job.announce.faults.forged_tag"},
    {"signal_replayed_per_second", "job.announce.faults.replayed_per_second"},
    {"static_pair", "switch.marker.background_threshold_packets", ReplacedUnit::kThere, "h"},
    {"scheduler", "switch.scheduler"},
    {"ddl_weight", "switch.ddl_queue.weight"},
    {"background_floor", "switch.background_queue.floor"},
    {"queue_room", "switch.share_limit", ReplacedUnit::kShared},
    {"ddl_alpha", "switch.ddl_queue.alpha"},
    {"background_alpha", "switch.background_queue.alpha"},
    {"connection", "transport.connections"},
    {"protocol", "ddl.transport.protocol"},
    {"layer_classes", "ddl.transport.mlt.class_dscps", ReplacedUnit::kClasses},
    {"burst_bytes", "job.burst_bytes"},
    {"model", "job.model"},
    {"iterations", "job.iterations"},
    {"schedule", "job.schedule"},
    {"period_seconds", "job.period", ReplacedUnit::kSeconds},
    {"compute_seconds", "job.compute", ReplacedUnit::kSeconds},
    {"background_flows_per_pair", "background.flows_per_pair"},
    {"background_load", "background.load"},
    {"background_sizes", "background.sizes"},
    {"background_list", "background.list"},
    {"background_capture", "background.capture"},
    {"background_protocol", "background.protocol"},
    {"background_roce_queue", "background.queue"},
    {"background_queue_pairs", "background.queue_pairs"},
    {"start_spread_seconds", "background.start_spread", ReplacedUnit::kSeconds},
    {"send_jitter", "trafficgen.send_jitter"},
    {"connection_sample_seconds", "trafficgen.connection_sample_period", ReplacedUnit::kSeconds},
    {"attribution", "trafficgen.attribution"},
};

ConfigValue as_text(std::string text) { return ConfigValue(std::move(text)); }

std::optional<double> number_of(const ConfigValue& v) {
  if (const auto* i = v.as<std::int64_t>()) return static_cast<double>(*i);
  const auto* d = v.as<double>();
  return d == nullptr ? std::nullopt : std::optional(*d);
}

std::string shortest(double v) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, v).ptr};
}

/// Returns the DSCPs of so many classes of layers: the class selectors (RFC 2474, 4.2.2) from the
/// highest down to 1, so that 0 is left for other traffic. One class needs none.
ConfigValue classes_of(std::int64_t classes) {
  ConfigValue::Array all;
  for (std::int64_t c = 0; c < classes && classes > 1; ++c)
    all.emplace_back(std::int64_t{8} * (classes - c));
  return ConfigValue(std::move(all));
}

/// Returns one value in the new key's terms; nothing if a person has to say it.
std::optional<ConfigValue> one_value(const Replaced& row, const ConfigValue& v) {
  const auto number = number_of(v);
  switch (row.unit) {
    case ReplacedUnit::kSame:
      return v;
    case ReplacedUnit::kSeconds:
      return number ? std::optional(as_text(format_duration(from_seconds(*number)))) : std::nullopt;
    case ReplacedUnit::kRtts:
      return number ? as_text(shortest(*number) + "rtt") : v;
    case ReplacedUnit::kThere:
      if (v == ConfigValue(true)) return as_text(std::string(row.to));
      if (v == ConfigValue(false) && row.was == "signal_signed") return as_text("");
      return std::nullopt;
    case ReplacedUnit::kClasses:
      if (const auto* classes = v.as<std::int64_t>()) return classes_of(*classes);
      return std::nullopt;
    case ReplacedUnit::kShared:
      return ConfigValue(v == as_text("split"));
  }
  return std::nullopt;
}

}  // namespace

const Replaced* replaced(std::string_view name) {
  const auto* it = std::ranges::find(kReplaced, name, &Replaced::was);
  return it == std::end(kReplaced) ? nullptr : it;
}

const Replaced* replaced_of_front(std::string_view name) {
  static constexpr Replaced kOfFront[]{{"seeds", "narrowing_seeds"},
                                       {"report_seeds", "verifying_seeds"}};
  const auto* it = std::ranges::find(kOfFront, name, &Replaced::was);
  return it == std::end(kOfFront) ? nullptr : it;
}

std::optional<ConfigValue> value_now(const Replaced& row, const ConfigValue& v) {
  const auto* list = v.as<ConfigValue::Array>();
  if (list == nullptr) return one_value(row, v);
  ConfigValue::Array all;
  for (const ConfigValue& one : *list) {
    auto now = one_value(row, one);
    if (!now) return std::nullopt;
    all.push_back(*std::move(now));
  }
  return ConfigValue(std::move(all));
}

std::string_view key_now(const Replaced& row, ParameterPlace place) {
  std::string_view key = row.is;
  if (place == ParameterPlace::kJob || place == ParameterPlace::kColumn)
    for (const std::string_view prefix : {"job.", "ddl."})
      if (key.starts_with(prefix)) key.remove_prefix(prefix.size());
  return key;
}

std::string replaced_parameter(std::string_view name, ParameterPlace place) {
  const Replaced* row = replaced(name);
  if (row == nullptr || key_now(*row, place) == name) return {};
  const bool converts = place == ParameterPlace::kCase || place == ParameterPlace::kJob;
  return "is " + std::string(key_now(*row, place)) + " now" +
         (converts ? ": `outrider-lab convert FILE` rewrites the file" : "");
}

void refuse_old_sweeps(ConfigTable& experiment, ConfigIssues& issues) {
  const auto refuse = [&](std::string_view key, const std::string& now) {
    if (experiment.get(key) == nullptr) return;
    std::erase_if(experiment.members, [key](const ConfigMember& m) { return m.key == key; });
    issues.push_back({std::string(key), now});
  };
  refuse("front", "is [search] now: `outrider-lab convert FILE` rewrites the file");
  for (const char* key : {"vary", "cross"})
    refuse(key, "is [[sweep]] now: `outrider-lab convert FILE` rewrites the file");
  refuse("matrix", kNoMatrix);
}

ConfigTable without_replaced(const ConfigTable& table, const std::string& path,
                             ConfigIssues& issues, ParameterPlace place) {
  ConfigTable kept;
  for (const auto& [key, value] : table.members) {
    const std::string now =
        value.as<ConfigTable>() == nullptr ? replaced_parameter(key, place) : std::string{};
    if (now.empty()) kept[key] = value;
    else issues.push_back({join_key(path, key), now});
  }
  return kept;
}

}  // namespace outrider::lab
