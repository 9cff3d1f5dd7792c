#include "tools/lab/advise/assumed.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "common/config/quantities.h"
#include "common/config/toml_text.h"
#include "switch/config/queue_config.h"
#include "tools/lab/advise/scaled.h"
#include "tools/lab/experiment/config_literals.h"
#include "tools/lab/experiment/program_settings.h"
#include "tools/lab/experiment/usual_thresholds.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {
namespace {

/// Background is compared from the lead to here: nearly a period.
constexpr double kCostWindow_periods = 0.9;

ConfigValue number(std::uint64_t value) { return ConfigValue(static_cast<std::int64_t>(value)); }
ConfigValue number(double value) { return ConfigValue(value); }
ConfigValue rounded(double value) { return ConfigValue(std::stod(formatted("%.6g", value))); }

std::string assumed_text(const ConfigValue& value) {
  const auto* real = value.as<double>();
  return real == nullptr ? to_toml_text(value) : formatted("%.6g", *real);
}

/// Adds parameters that are not there yet, and remembers which.
class Assumptions {
 public:
  explicit Assumptions(ConfigTable& experiment)
      : parameters_(*experiment["parameters"].as<ConfigTable>()) {}

  [[nodiscard]] bool has(const char* key) const { return find(parameters_, key) != nullptr; }
  [[nodiscard]] const ConfigValue* get(const char* key) const { return find(parameters_, key); }
  void add(const char* key, const ConfigValue& value) {
    if (has(key) || !assign(parameters_, key, value)) return;
    all_.push_back(std::string(key) + " = " + assumed_text(value));
  }
  /// Adds a remark to what was added last.
  void note(const std::string& text) { all_.back() += " (" + text + ')'; }
  /// Adds what every experiment of advise has, and nobody asks.
  void add_untold(const char* key, const ConfigValue& value) {
    if (!has(key)) (void)assign(parameters_, key, value);
  }
  [[nodiscard]] std::vector<std::string> all() && { return std::move(all_); }

 private:
  ConfigTable& parameters_;
  std::vector<std::string> all_{};
};

const ConfigTable& parameters_of(const ConfigTable& experiment) {
  return *experiment.get("parameters")->as<ConfigTable>();
}

/// Returns the shortest time from one burst to the next; nothing if no job has one.
std::optional<double> shortest_period(ConfigTable experiment) {
  std::optional<double> least;
  for_each_of_jobs(experiment, [&least](const ConfigTable& job) {
    const double own = seconds_of(job, "period");
    if (own > 0 && (!least || own < *least)) least = own;
  });
  return least;
}

bool any_has(ConfigTable experiment, const char* key) {
  bool any = false;
  for_each_of_jobs(experiment, [&](const ConfigTable& job) { any |= job.get(key) != nullptr; });
  return any;
}

/// Adds the queue's limit in packets, the marks of today and what a START asks for.
void assume_queue(const ConfigTable& experiment, const AdvisedTraits& traits, Assumptions& to) {
  const ConfigTable& p = parameters_of(experiment);
  const double room_bytes =
      number_of(p, "switch.queue.limit_bytes", number_of(p, "switch.buffer.total_bytes", 0));
  if (room_bytes > 0)
    to.add_untold("switch.queue.limit_packets",
                  number(static_cast<std::uint64_t>(
                      std::max(std::ceil(room_bytes / traits.frame_bytes), 2.0))));
  const ConfigValue* packets = find(p, "switch.queue.limit_packets");
  const auto* room = packets == nullptr ? nullptr : packets->as<std::int64_t>();
  if (room == nullptr) return;
  const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(*room - 1, 1));
  const std::uint64_t mark =
      std::min(usual_mark_bytes(traits.rate, traits.rtt,
                                static_cast<std::uint64_t>(*room) * traits.frame_bytes) /
                   traits.frame_bytes,
               most);
  if (traits.roce && !to.has("switch.marker.kind") && !to.has("switch.marker.threshold_packets")) {
    to.add("switch.marker.kind", text_value("red"));
    to.add("switch.marker.red.kmin_packets", text_value("1us"));  // as the DCQCN paper has them
    to.add("switch.marker.red.kmax_packets", text_value("40us"));
    to.add("switch.marker.red.pmax", number(0.01));
  }
  to.add("switch.marker.threshold_packets", number(mark));
  const ConfigValue* own = to.get("switch.marker.threshold_packets");
  const auto* k = own->as<std::int64_t>();
  const std::uint64_t h = announced_h((k == nullptr ? mark : static_cast<std::uint64_t>(*k)) / 4);
  to.add("h_packets", number(h));
  if (traits.roce) return;
  to.add_untold("switch.marker.red.kmin_packets", number(static_cast<double>(h)));
  to.add_untold("switch.marker.red.kmax_packets", number(static_cast<double>(mark + 1)));
}

/// Adds that hosts obey pauses, and the room for what comes after them.
void assume_lossless(ConfigTable& experiment, const AdvisedTraits& traits, Assumptions& to) {
  constexpr std::int64_t kPriority = 3;
  const ConfigValue* own = to.get("switch.queue.lossless.priority");
  const ConfigValue priority = own == nullptr ? ConfigValue(kPriority) : *own;
  if (traits.roce) to.add("ddl.transport.priority", priority);
  bool shorthand = to.has("background.protocol");
  if (const ConfigValue* groups = experiment.get("background");
      groups != nullptr && is_array_of_tables(*groups)) {
    shorthand = false;
    for (ConfigValue& group : *experiment["background"].as<ConfigValue::Array>()) {
      ConfigTable nested = with_nested_keys(*group.as<ConfigTable>());
      const ConfigValue* protocol = nested.get("protocol");
      if (protocol != nullptr && *protocol == text_value("roce") &&
          find(nested, "transport.priority") == nullptr)
        (void)assign(nested, "transport.priority", priority);
      group = ConfigValue(std::move(nested));
    }
  }
  if (shorthand && *to.get("background.protocol") != text_value("tcp"))
    to.add("background.transport.priority", priority);
  const double xoff_bytes =
      number_of(parameters_of(experiment), "switch.queue.lossless.xoff_bytes", 0);
  const bool dynamic = to.has("switch.queue.lossless.xoff_alpha");
  if (dynamic || xoff_bytes > 0)
    to.add("switch.queue.lossless.headroom_bytes", number(traits.headroom_bytes));
}

/// Adds the limit of queues that a lossless class alone says: what waits at XOFF of all ports.
void assume_room(const ConfigTable& experiment, const AdvisedTraits& traits, Assumptions& to) {
  const ConfigTable& p = parameters_of(experiment);
  if (to.has("switch.queue.limit_packets") || to.has("switch.queue.limit_bytes") ||
      to.has("switch.buffer.total_bytes"))
    return;
  ConfigTable resolved = p, room;
  resolve_quantities(resolved, traits);
  make_room(resolved, traits, room);
  const ConfigValue* packets = find(room, "switch.queue.limit_packets");
  if (packets == nullptr) return;
  to.add("switch.queue.limit_packets", *packets);
  to.note(
      "which holds what lossless queues of all ports may bring: give "
      "switch.queue.limit_bytes, the buffer of a port, or switch.buffer.total_bytes");
}

void assume_times(const ConfigTable& experiment, const AdvisedTraits& traits, Assumptions& to) {
  // TCP leaves slow start in this time; queue pairs begin at their NIC's rate.
  const double warm_up_rtts = traits.roce ? 200 : 600;
  to.add("warm_up_seconds", rounded(warm_up_rtts * seconds(traits.rtt)));
  to.add_untold("background.start_spread",
                text_value(format_duration(from_seconds(warm_up_rtts / 3 * seconds(traits.rtt)))));
  if (const auto period = shortest_period(experiment))
    to.add_untold("cost_window_seconds", rounded(kCostWindow_periods * *period));
}

}  // namespace

std::vector<std::string> assume_before(ConfigTable& experiment) {
  Assumptions to(experiment);
  const bool model = any_has(experiment, "model");
  if (model && !any_has(experiment, "period")) to.add("job.schedule", text_value("closed_loop"));
  to.add("job.iterations", number(std::uint64_t{model ? 3U : 8U}));
  to.add("skip_iterations", number(std::uint64_t{model ? 1U : 2U}));
  if (!model && !any_has(experiment, "burst_bytes")) to.add("job.burst_bytes", text_value("1MB"));
  to.add_untold("job.announce.signal_form", text_value("udp"));
  // `off` does not wait for its START either.
  to.add_untold("job.announce.lead_source", text_value("overlap"));
  to.add_untold("job.announce.lead", text_value("2rtt"));
  to.add_untold("switch.regulation.recovery", text_value("burst_end"));
  to.add_untold("switch.regulation.budget_share", number(1.0));
  // A worker waits for its turn where bursts are granted.
  to.add_untold("job.announce.ack_timeout", text_value("500ms"));
  to.add_untold("job.announce.repeats", number(std::uint64_t{4}));
  to.add_untold("job.announce.repeat_after", text_value("4ms"));
  return std::move(to).all();
}

std::vector<std::string> assume(ConfigTable& experiment, const AdvisedTraits& traits) {
  Assumptions to(experiment);
  assume_times(experiment, traits, to);
  assume_lossless(experiment, traits, to);
  assume_room(experiment, traits, to);
  assume_queue(experiment, traits, to);
  if (traits.roce) {
    to.add_untold("switch.regulation.idle_end", text_value("25rtt"));
    to.add_untold("switch.regulation.expiry", text_value("1000rtt"));
  } else {
    to.add("transport.stack", text_value("linux"));
    to.add("transport.controller", text_value("dctcp"));
  }
  resolve_quantities(*experiment["parameters"].as<ConfigTable>(), traits);
  ConfigTable room;
  make_room(parameters_of(experiment), traits, room);
  overlay(*experiment["parameters"].as<ConfigTable>(), room);
  auto all = std::move(to).all();
  if (!room.members.empty())
    all.emplace_back("room in each queue for what lossless queues of all ports may bring");
  return all;
}

void check_judged(const ConfigTable& experiment, const AdvisedTraits& traits,
                  ConfigIssues& issues) {
  const ConfigTable& p = parameters_of(experiment);
  if (!traits.closed_loop && !shortest_period(experiment))
    issues.push_back({"parameters.job.period",
                      "is required: the time from one burst to the next. With a model, or with "
                      "job.schedule = \"closed_loop\", jobs compute in between"});
  if (experiment.get("background") == nullptr && !traits.by_rate)
    issues.push_back({"background", "is required: there is nothing to keep from the job"});
  const bool has_room = find(p, "switch.queue.limit_packets") != nullptr;
  if (!has_room)
    issues.push_back({"parameters.switch.queue.limit_bytes",
                      "is required: the buffer of a port; or switch.buffer.total_bytes, that of "
                      "the whole switch"});
}

}  // namespace outrider::lab
