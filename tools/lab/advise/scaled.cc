#include "tools/lab/advise/scaled.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "common/config/quantities.h"
#include "common/config/shipped_file.h"
#include "tools/lab/experiment/config_literals.h"
#include "tools/lab/experiment/experiment_files.h"
#include "tools/lab/experiment/program_settings.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::lab {
namespace {

/// Bytes of each worker in an iteration, and how long it computes.
struct ModelTimes {
  double bytes = 0;
  double compute_seconds = 0;
};

ModelTimes times_of(const std::string& model) {
  const std::string path = path_of_file(kModelFile, model, "/");
  const auto profile = tg::load_model_profile(path);
  if (!profile) throw std::runtime_error(format_issues(path, profile.issues));
  const tg::ModelProfile& m = *profile.config;
  return {
      .bytes = static_cast<double>(m.total_bytes),
      .compute_seconds = seconds(m.forward.value_or(Duration{}) + m.backward.value_or(Duration{}))};
}

std::string model_of(const ConfigTable& job) {
  const ConfigValue* value = job.get("model");
  const auto* text = value == nullptr ? nullptr : value->as<std::string>();
  return text == nullptr ? "" : *text;
}

void set_bytes(ConfigTable& job, double bytes) {
  job["burst_bytes"] =
      ConfigValue(std::max(static_cast<std::int64_t>(std::llround(bytes)), std::int64_t{1}));
}

/// Puts the bytes and the time of its model in the place of it.
void replace_model(ConfigTable& job, bool closed_loop) {
  const std::string model = model_of(job);
  if (model.empty()) return;
  const ModelTimes times = times_of(model);
  std::erase_if(job.members, [](const ConfigMember& m) { return m.key == "model"; });
  set_bytes(job, times.bytes);
  if (closed_loop && seconds_of(job, "compute") == 0)
    job["compute"] = text_value(format_duration(from_seconds(times.compute_seconds)));
}

/// Returns into how many messages a burst is cut: a part for each other worker, where there are no
/// servers.
/// @param job  with what it has of [parameters]
double parts_of(const ConfigTable& job, const ConfigTable& parameters) {
  const ConfigValue* collective = job.get("collective");
  const bool with_servers = collective == nullptr || *collective == text_value("ps");
  const char* key = with_servers ? "servers" : "workers";
  return number_of(job, key, number_of(parameters, key, 1));
}

}  // namespace

double number_of(const ConfigTable& table, std::string_view key, double otherwise) {
  const ConfigValue* value = find(table, key);
  if (value == nullptr) return otherwise;
  if (const auto* whole = value->as<std::int64_t>()) return static_cast<double>(*whole);
  if (const auto* real = value->as<double>()) return *real;
  const auto* text = value->as<std::string>();
  const auto bytes = text == nullptr ? Parsed<std::uint64_t>{} : parse_bytes(*text);
  return bytes.value ? static_cast<double>(*bytes.value) : otherwise;
}

double seconds_of(const ConfigTable& table, std::string_view key) {
  const ConfigValue* value = find(table, key);
  const auto* text = value == nullptr ? nullptr : value->as<std::string>();
  const auto duration = text == nullptr ? Parsed<Duration>{} : parse_duration(*text);
  return duration.value ? seconds(*duration.value) : 0;
}

double burst_bytes_of(const ConfigTable& job) {
  if (const std::string model = model_of(job); !model.empty()) return times_of(model).bytes;
  return number_of(job, "burst_bytes", 0);
}

ConfigTable scaled(ConfigTable experiment, bool closed_loop, double bytes, double time) {
  for_each_of_jobs(experiment, [&](ConfigTable& job) {
    replace_model(job, closed_loop);
    if (const double burst = number_of(job, "burst_bytes", 0); burst > 0)
      set_bytes(job, burst * bytes);
    for (const char* key : {"period", "compute", "start"})
      if (const double now = seconds_of(job, key); now > 0)
        job[key] = text_value(format_duration(from_seconds(now * time)));
  });
  auto& parameters = *experiment["parameters"].as<ConfigTable>();
  if (const double now = number_of(parameters, "cost_window_seconds", 0); now > 0)
    parameters["cost_window_seconds"] = ConfigValue(now * time);
  return experiment;
}

unsigned most_smaller(const AdvisedFile& advised) {
  constexpr double kLeast_packets = 16, kLeast_rtts = 4;
  const AdvisedTraits& traits = advised.traits;
  const double of_path =
      kLeast_rtts * seconds(traits.rtt) * static_cast<double>(traits.rate.bits_per_second) / 8;
  std::optional<double> most;
  ConfigTable experiment = advised.experiment;
  const ConfigTable parameters = *experiment.get("parameters")->as<ConfigTable>();
  const ConfigValue* of_all = parameters.get("job");
  const ConfigTable common = of_all == nullptr ? ConfigTable{} : *of_all->as<ConfigTable>();
  for_each_of_jobs(experiment, [&](const ConfigTable& own) {
    ConfigTable job = common;
    overlay(job, own);
    const double bytes = burst_bytes_of(job);
    const double least =
        std::max(kLeast_packets * traits.frame_bytes * parts_of(job, parameters), of_path);
    if (bytes > 0 && (!most || bytes / least < *most)) most = bytes / least;
  });
  unsigned smaller = 1;
  while (most && 2.0 * smaller <= *most) smaller *= 2;
  return smaller;
}

}  // namespace outrider::lab
