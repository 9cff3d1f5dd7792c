#include "tools/lab/editing/new_experiment.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "common/config/quantities.h"
#include "common/config/shipped_file.h"
#include "common/config/toml_text.h"
#include "tools/lab/experiment/usual_thresholds.h"

namespace outrider::lab {
namespace {

constexpr std::uint32_t kMostWorkers = 256;
constexpr std::uint32_t kMostLongFlows = 256;
constexpr std::uint64_t kLeastBuffer_frames = 20;  ///< room for K and some more

template <class T>
std::string take_quantity(T& into, const Parsed<T>& parsed) {
  if (parsed.value) into = *parsed.value;
  return parsed.problem;
}

std::string take_rate(NewExperiment& n, const std::string& text) {
  const auto parsed = parse_rate(text);
  if (parsed.value && parsed.value->bits_per_second == 0) return "must be above 0";
  return take_quantity(n.rate, parsed);
}

std::string take_rtt(NewExperiment& n, const std::string& text) {
  const auto parsed = parse_duration(text);
  if (parsed.value && *parsed.value < std::chrono::microseconds(1)) return "must be at least 1us";
  return take_quantity(n.rtt, parsed);
}

std::string take_buffer(NewExperiment& n, const std::string& text) {
  const auto parsed = parse_bytes(text);
  if (parsed.value && frames_of(*parsed.value) < kLeastBuffer_frames)
    return "must hold at least " + std::to_string(kLeastBuffer_frames) + " full frames";
  return take_quantity(n.buffer_bytes, parsed);
}

/// Workers, then a size or the name of a model.
std::string take_burst(NewExperiment& n, const std::string& text) {
  constexpr const char* kRule =
      "must be as 4x1MB: workers from 1 to 256, and a size or a model, such as resnet50";
  std::uint32_t workers = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), workers);
  if (error != std::errc{} || end == text.data() + text.size() || *end != 'x' || workers == 0 ||
      workers > kMostWorkers)
    return kRule;
  const std::string what(end + 1, text.data() + text.size());
  const auto bytes = parse_bytes(what);
  if (bytes.value && *bytes.value > 0) n.burst_bytes = *bytes.value;
  else if (!what.empty() && std::filesystem::exists(named_file(what, "models", ".toml", "")))
    n.model = what;
  else return kRule;
  n.workers = workers;
  return {};
}

std::string take_background(NewExperiment& n, const std::string& text) {
  if (text.ends_with('%')) {
    const auto share = parse_percentage(text);
    if (share.value && (*share.value <= 0 || *share.value > 1)) return "must be above 0, to 100%";
    return take_quantity(n.load, share);
  }
  std::uint32_t flows = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), flows);
  if (error != std::errc{} || end != text.data() + text.size() || flows == 0 ||
      flows > kMostLongFlows)
    return "must be a number of long flows from 1 to 256, or a load, such as 30%";
  n.long_flows = flows;
  return {};
}

constexpr std::array<NewQuestion, 5> kQuestions{
    {{"--rate", "Rate of the link", "10gbit", "RATE", take_rate},
     {"--rtt", "Round trip time without queues", "100us", "TIME", take_rtt},
     {"--buffer", "Buffer of the link's queue", "1MB", "BYTES", take_buffer},
     {"--burst", "Workers x what each sends in an iteration: a size, or a model", "4x1MB",
      "NxBYTES|NxMODEL", take_burst},
     {"--background", "Background: a number of long flows, or a load of web search, such as 30%",
      "4", "FLOWS|LOAD", take_background}}};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  const std::string shown = text;
  return shown.find_first_of(".e") == std::string::npos ? shown + ".0" : shown;
}

std::string line(std::string_view key, const std::string& value, std::string_view comment = {}) {
  std::string text = std::string(key) + " = " + value;
  if (!comment.empty()) text += "  # " + std::string(comment);
  return text + '\n';
}

std::string quoted(const std::string& text) { return to_toml_text(ConfigValue(text)); }

/// Time for the burst and for background to recover.
Duration period_of(const NewExperiment& n) {
  constexpr double kBursts = 5, kRecovery_rtts = 100;
  const double burst = 8.0 * n.workers * static_cast<double>(n.burst_bytes) /
                       static_cast<double>(n.rate.bits_per_second);
  return from_seconds(kBursts * burst + kRecovery_rtts * seconds(n.rtt));
}

}  // namespace

std::span<const NewQuestion> new_questions() { return kQuestions; }

std::string new_experiment_text(const NewExperiment& n) {
  constexpr double kWarmUp_rtts = 600;
  const std::uint64_t room = frames_of(n.buffer_bytes);
  const std::uint64_t mark =
      std::min(frames_of(usual_mark_bytes(n.rate, n.rtt, n.buffer_bytes)), room - 1);
  const std::uint32_t hosts = n.load > 0 ? 4 : n.long_flows;
  std::string text =
      "# docs/experiments.md says what else may be set. The arms are those of\n"
      "# conf/experiments/one-queue.toml; an [[arm]] of your own replaces them all: copy what you "
      "want.\n";
  text += line("base", "\"one-queue\"");
  text += "network = { rate = " + quoted(format_rate(n.rate)) +
          ", rtt = " + quoted(format_duration(n.rtt)) +
          ", background_hosts = " + std::to_string(hosts) + " }\n";
  text += "[parameters]\n";
  text += line("switch.queue.limit_packets", std::to_string(room));
  text += line("switch.marker.threshold_packets", std::to_string(mark), "K");
  text += line("h_packets", std::to_string(announced_h(mark / 4)),
               "threshold for background from START on");
  text += line("warm_up_seconds", number(kWarmUp_rtts * seconds(n.rtt)));
  text += line("workers", std::to_string(n.workers));
  if (n.load > 0)
    text += line("background.load", number(n.load)) + line("background.sizes", "\"web-search\"");
  else
    text += line("background.start_spread",
                 quoted(format_duration(from_seconds(kWarmUp_rtts / 3 * seconds(n.rtt)))));
  if (n.model.empty())
    return text + line("job.burst_bytes", std::to_string(n.burst_bytes)) +
           line("job.period", quoted(format_duration(period_of(n))));
  return text + line("job.model", quoted(n.model)) + line("job.schedule", "\"closed_loop\"");
}

}  // namespace outrider::lab
