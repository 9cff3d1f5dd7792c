#include "tools/lab/advise/cluster_experiment.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "common/config/config_file.h"
#include "common/config/file_kind.h"
#include "common/config/quantities.h"
#include "tools/lab/experiment/config_literals.h"
#include "tools/lab/experiment/usual_thresholds.h"

namespace outrider::lab {
namespace {

constexpr int kWarmUp_rtts = 600;
constexpr int kStartSpread_rtts = 200;
/// The background is compared from the lead to here: nearly a period.
constexpr double kCostWindow_periods = 0.9;
constexpr const char *kSenders = "sender", *kReceivers = "receiver";

/// Iterations of a run, the first ones not measured.
struct Iterations {
  std::uint64_t whole, brief, skipped;
};
constexpr Iterations kOfModel{.whole = 3, .brief = 2, .skipped = 1};
constexpr Iterations kOfBursts{.whole = 8, .brief = 5, .skipped = 2};

ConfigValue number(std::uint64_t value) { return ConfigValue(static_cast<std::int64_t>(value)); }
ConfigValue number(double value) { return ConfigValue(value); }

/// Two switches with one link: workers and what sends background on one side, the rest on the
/// other.
void add_link(ConfigTable& out, const Cluster& c) {
  const ClusterPath path = path_of(c);
  out["network"] = table_value({{"rate", text_value(format_rate(path.rate))},
                                {"rtt", text_value(format_duration(path.rtt))},
                                {kBackgroundHosts, number(std::uint64_t{background_senders(c)})}});
}

/// The cluster's fabric, with places for background. Jobs bring their own hosts.
/// @param words  of the cluster's [background], as its file has them
void add_fabric(ConfigTable& out, const Cluster& c, const ConfigTable& words) {
  out["fabric"] = ConfigValue(c.fabric);
  out["network"] = table_value({{"measured", text_value(kWorstQueue)}});
  const auto group = [&](const char* name) {
    return table_value({{"name", text_value(name)},
                        {"count", number(std::uint64_t{background_senders(c)})},
                        {"placement", *words.get("placement")}});
  };
  const bool among = c.background_among_themselves();
  out["hosts"] =
      among ? list_value({group(kSenders)}) : list_value({group(kSenders), group(kReceivers)});
  out["background"] = table_value(
      {{"from", text_value(kSenders)}, {"to", text_value(among ? kSenders : kReceivers)}});
}

/// Sets a parameter by its dotted key.
void set(ConfigTable& parameters, const std::string& key, const ConfigValue& value) {
  if (!assign(parameters, key, value)) throw std::logic_error("no key of a table: " + key);
}

void add_switch_queue(ConfigTable& out, const Cluster& c) {
  const ClusterNetwork& network = c.network;
  const std::uint64_t room = frames_of(network.buffer_bytes);
  const std::uint64_t most = room - 1;  // a threshold is below the room
  const std::uint64_t mark = std::min(frames_of(mark_at(c)), most);
  const std::uint64_t h = announced_h(mark / 4);
  set(out, "switch.queue.limit_packets", number(room));
  // At the end of the queue a threshold marks nothing but what is nearly lost: as good as none.
  set(out, "switch.marker.threshold_packets", number(network.marks ? mark : most));
  set(out, "switch.marker.red.kmin_packets", number(h));
  set(out, "switch.marker.red.kmax_packets", number(mark + 1));
  set(out, "h_packets", number(h));
  if (!network.shared) return;
  // The shared buffer alone limits a queue.
  set(out, "switch.buffer.total_bytes", number(network.buffer_bytes));
  set(out, "switch.queue.alpha", number(network.alpha.value_or(1)));
}

/// Adds what is a job's own.
/// @param words  of its [[job]], as the cluster's file has them
/// @param prefix  of the job's settings where they stand
void add_own(ConfigTable& out, const ClusterJob& job, const ConfigTable& words, bool brief,
             const std::string& prefix) {
  const Iterations& n = job.model.empty() ? kOfBursts : kOfModel;
  set(out, prefix + "iterations", number(brief ? n.brief : n.whole));
  set(out, "workers", number(std::uint64_t{job.workers}));
  if (tg::has_servers(job.collective)) set(out, "servers", number(std::uint64_t{job.servers}));
  if (!job.model.empty()) {
    set(out, prefix + "model", text_value(job.model));
    set(out, prefix + "schedule", text_value("closed_loop"));
  } else {
    set(out, prefix + "burst_bytes", *words.get("burst"));
    set(out, prefix + "period", text_value(format_duration(*job.period)));
  }
}

/// Adds the job of one link, whose settings are the case's.
void add_job(ConfigTable& out, const ClusterJob& job, const ConfigTable& words, bool brief) {
  add_own(out, job, words, brief, "job.");
  set(out, "job.send_policy", *words.get("policy"));
  set(out, "transport.controller", *words.get("controller"));
}

/// Returns a job of a fabric, which has its settings and hosts for itself.
ConfigValue listed_job(const ClusterJob& job, const ConfigTable& words, bool brief) {
  ConfigTable out;
  for (const char* key : {"name", "count", "collective"}) out[key] = *words.get(key);
  if (job.placement) out["placement"] = *words.get("placement");
  add_own(out, job, words, brief, "");
  set(out, "send_policy", *words.get("policy"));
  set(out, "transport.controller", *words.get("controller"));
  return ConfigValue(std::move(out));
}

/// Adds what is said of all jobs together.
void add_common(ConfigTable& out, const Cluster& c) {
  set(out, "skip_iterations", number((c.closed_loop() ? kOfModel : kOfBursts).skipped));
  if (c.closed_loop()) return;
  const auto period = *std::ranges::min_element(c.jobs, {}, &ClusterJob::period)->period;
  set(out, "cost_window_seconds", number(kCostWindow_periods * seconds(period)));
}

void add_background(ConfigTable& out, const ClusterBackground& b, const ConfigTable& words) {
  set(out, "background.flows_per_pair", number(std::uint64_t{b.long_flows > 0 ? 1U : 0U}));
  if (b.load > 0) {
    set(out, "background.load", number(b.load));
    set(out, "background.sizes", text_value(b.sizes));
  }
  if (!b.list.empty()) set(out, "background.list", text_value(b.list));
  if (!b.capture.empty()) set(out, "background.capture", text_value(b.capture));
  set(out, "background.transport.controller", *words.get("controller"));
  set(out, "background.transport.ecn", ConfigValue(b.ecn));
}

/// Adds what is the same in every cluster.
void add_rest(ConfigTable& out, Duration rtt) {
  set(out, "transport.stack", text_value("linux"));
  set(out, "transport.connections", text_value("idle_restart"));
  set(out, "warm_up_seconds", number(kWarmUp_rtts * seconds(rtt)));
  set(out, "background.start_spread", text_value(format_duration(kStartSpread_rtts * rtt)));
  set(out, "job.announce.signal_form", text_value("udp"));
  set(out, "job.announce.lead_source",
      text_value("overlap"));  // `off` does not wait for its START either
  set(out, "job.announce.lead", text_value("2rtt"));
  set(out, "switch.regulation.recovery", text_value("burst_end"));
  set(out, "switch.regulation.budget_share", number(1.0));
  // A worker waits for its turn where bursts are granted.
  set(out, "job.announce.ack_timeout", text_value("500ms"));
  set(out, "job.announce.repeats", number(std::uint64_t{4}));
  set(out, "job.announce.repeat_after", text_value("4ms"));
}

/// Returns `off`, and the orders of sending that a job with gradients may have.
ConfigValue arms_of(const Cluster& c, const std::filesystem::path& conf) {
  ConfigValue::Array arms{table_value({{"label", text_value("off")}})};
  if (!c.has_order()) return ConfigValue(std::move(arms));
  const std::string file = (conf / "policies.toml").string();
  const auto read = read_file_of(file, FileKind::kArms);
  if (!read) throw std::runtime_error(format_issues(file, read.issues));
  const ConfigValue* orders = read.config->get("arm");
  if (orders == nullptr || !is_array_of_tables(*orders))
    throw std::runtime_error(file + " has no [[arm]]");
  for (const auto& one : *orders->as<ConfigValue::Array>()) arms.push_back(one);
  return ConfigValue(std::move(arms));
}

}  // namespace

ConfigTable experiment_of(const Cluster& c, const ClusterQuestion& question,
                          const std::filesystem::path& conf) {
  const ConfigTable words = to_config_table(c);
  const auto& jobs = *words.get("job")->as<ConfigValue::Array>();
  const auto words_of = [&](std::size_t i) { return *jobs[i].as<ConfigTable>(); };
  ConfigTable parameters;
  add_switch_queue(parameters, c);
  add_common(parameters, c);
  const auto& of_background = *words.get("background")->as<ConfigTable>();
  add_background(parameters, c.background, of_background);
  add_rest(parameters, path_of(c).rtt);

  ConfigTable out;
  out["name"] = text_value(question.name);
  out["question"] = text_value(question.question);
  out["rivals"] = text_value((conf / "remedies.toml").string());
  if (c.in_fabric()) {
    add_fabric(out, c, of_background);
    ConfigValue::Array listed;
    for (std::size_t i = 0; i < c.jobs.size(); ++i)
      listed.push_back(listed_job(c.jobs[i], words_of(i), question.brief));
    out["job"] = ConfigValue(std::move(listed));
  } else {
    add_link(out, c);
    add_job(parameters, c.jobs.front(), words_of(0), question.brief);
  }
  for (const auto& [key, value] : question.parameters) set(parameters, key, value);
  out["parameters"] = ConfigValue(std::move(parameters));
  out["arm"] = arms_of(c, conf);
  return out;
}

}  // namespace outrider::lab
