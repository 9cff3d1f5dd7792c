#include "trafficgen/streams/benchmark/benchmark_result.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>

#include "common/telemetry/json_fields.h"

namespace outrider::tg {
namespace {

constexpr int kBenchmarkSchema = 1;

constexpr std::array kFigures{
    BenchmarkFigure{"throughput_share", "share",
                    "highest share of the streams' rates without loss (RFC 2544, section 26.1)"},
    BenchmarkFigure{"throughput_packets_per_second", "packets/s", "the same, all streams together"},
    BenchmarkFigure{"throughput_bits_per_second", "bit/s",
                    "the same, with preamble and gap where the streams' layer is l1"},
    BenchmarkFigure{"loss_share", "share", "packets lost of those sent (section 26.3)"},
    BenchmarkFigure{"latency_seconds_median", "s",
                    "departure to arrival, of all packets of all streams (section 26.2)"},
    BenchmarkFigure{"latency_seconds_p95", "s", "the same, 95th percentile"},
    BenchmarkFigure{"latency_seconds_p99", "s", "the same, 99th percentile"},
    BenchmarkFigure{"latency_seconds_p999", "s", "the same, 99.9th percentile"},
    BenchmarkFigure{"latency_seconds_max", "s", "the same, largest"},
    BenchmarkFigure{"burst_packets", "packets",
                    "longest burst of each stream that loses nothing, all at once (section 26.4)"},
    BenchmarkFigure{"burst_bytes", "bytes", "frame bytes of these bursts, all streams together"},
    BenchmarkFigure{"repetitions", "number", "trials whose marks were counted"},
    BenchmarkFigure{"chi_square", "number",
                    "of the counts of marks by position against the law, Pearson's"},
    BenchmarkFigure{"chi_square_degrees", "number", "degrees of freedom of it"},
    BenchmarkFigure{"chi_square_p_value", "number",
                    "chance of so large a chi-square if the queue follows the law"},
    BenchmarkFigure{"marked_below_kmin", "packets", "marked although the law marks none there"},
    BenchmarkFigure{"unmarked_above_kmax", "packets",
                    "not marked although the law marks all there"},
    BenchmarkFigure{"largest_marking_difference", "share",
                    "largest difference of the marked share of neighbouring positions and the law"},
    BenchmarkFigure{"marked_share", "share", "packets that arrived with CE"},
    BenchmarkFigure{"marked_share_first_half", "share",
                    "the same, of the packets that left first: a queue that marks at dequeue marks "
                    "these"},
    BenchmarkFigure{"marked_share_last_half", "share",
                    "the same, of those that left last: a queue that marks at enqueue marks these"},
    BenchmarkFigure{"requested_packets_per_second", "packets/s",
                    "what the schedules of all streams ask for"},
    BenchmarkFigure{"achieved_over_requested", "share", "packets sent in time, of these"},
    BenchmarkFigure{"gap_error_seconds_median", "s",
                    "absolute difference of the actual and the scheduled gap between packets"},
    BenchmarkFigure{"gap_error_seconds_p99", "s", "the same, 99th percentile"},
    BenchmarkFigure{"lateness_seconds_p99", "s",
                    "actual less scheduled departure, 99th percentile"},
};

double number_of(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

std::string shown_number(double value) {
  if (std::isnan(value)) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

BenchmarkPoint point_from(const Json& in) {
  BenchmarkPoint point;
  for (const auto& [name, value] : in.at("at").items()) point.at.emplace_back(name, value);
  for (const Json& figure : in.at("figures"))
    for (const Json& value : figure.at("values"))
      point.add(figure.at("name").get<std::string>(), number_of(value));
  if (in.contains("latency_ns"))
    from_json_value(in.at("latency_ns"), "latency_ns", point.latency_ns.emplace());
  return point;
}

}  // namespace

std::span<const BenchmarkFigure> benchmark_figures() { return kFigures; }

const BenchmarkFigure* find_benchmark_figure(std::string_view name) {
  const auto* found = std::ranges::find(kFigures, name, &BenchmarkFigure::name);
  return found == kFigures.end() ? nullptr : found;
}

void BenchmarkPoint::add(std::string_view name, double value) {
  assert(find_benchmark_figure(name) != nullptr);
  for (auto& [known, values] : figures)
    if (known == name) return values.push_back(value);
  figures.push_back({std::string(name), {value}});
}

std::span<const double> BenchmarkPoint::values(std::string_view name) const {
  for (const auto& [known, values] : figures)
    if (known == name) return values;
  return {};
}

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());  // none: NaN
}

std::string to_json(const BenchmarkResult& result) {
  Json out{{"kind", result.kind},
           {"schema_version", kBenchmarkSchema},
           {"finished", result.finished},
           {"notes", result.notes},
           {"points", Json::array()}};
  for (const BenchmarkPoint& point : result.points) {
    Json at = Json::object(), figures = Json::array();
    for (const auto& [name, value] : point.at) at[name] = value;
    for (const auto& [name, values] : point.figures)
      figures.push_back({{"name", name},
                         {"unit", find_benchmark_figure(name)->unit},
                         {"values", values}});  // NaN becomes null
    Json one{{"at", std::move(at)}, {"figures", std::move(figures)}};
    if (point.latency_ns) one["latency_ns"] = to_json_value(*point.latency_ns);
    out["points"].push_back(std::move(one));
  }
  return out.dump() + "\n";
}

BenchmarkResult benchmark_result_from_json(std::string_view text) {
  try {
    const Json in = Json::parse(text);
    if (in.at("schema_version") != kBenchmarkSchema)
      throw std::runtime_error("made by another version of outrider-trafficgen");
    BenchmarkResult result{.kind = in.at("kind"),
                           .notes = in.at("notes").get<std::vector<std::string>>(),
                           .finished = in.at("finished")};
    for (const Json& point : in.at("points")) result.points.push_back(point_from(point));
    return result;
  } catch (const Json::exception& error) {
    throw std::runtime_error(std::string("no result of a benchmark: ") + error.what());
  }
}

std::string to_text(const BenchmarkResult& result) {
  std::string text = result.finished ? "" : "interrupted; so far:\n";
  for (const BenchmarkPoint& point : result.points) {
    for (const auto& [name, value] : point.at) text += name + " " + shown_number(value) + "  ";
    text += point.at.empty() ? "" : "\n";
    for (const auto& [name, values] : point.figures)
      text += "  " + name + ' ' + shown_number(mean_of(values)) + ' ' +
              std::string(find_benchmark_figure(name)->unit) + '\n';
  }
  for (const std::string& note : result.notes) text += note + '\n';
  return text;
}

}  // namespace outrider::tg
