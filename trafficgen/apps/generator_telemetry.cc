#include "trafficgen/apps/generator_telemetry.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/dpdk/eal/eal.h"
#include "common/telemetry/figures.h"
#include "common/telemetry/log.h"
#include "trafficgen/apps/generator_metrics.h"

namespace outrider::tg {
namespace {

using Table = TelemetryValue::Table;
using Stream = StreamSteering::Stream;

/// Returns the table `name` within `table`; figures of one row follow one another.
Table& within(Table& table, std::string_view name) {
  if (table.empty() || table.back().name != name) table.push_back({std::string(name), {Table{}}});
  return std::get<Table>(table.back().value.data);
}

void add_figures(Table& table, const std::vector<FigureValue>& figures) {
  for (const FigureValue& v : figures) {
    Table& part = v.part.empty() ? table : within(table, v.part);
    if (v.traffic_class.empty() && v.reason.empty()) {
      part.push_back({v.figure.field, {v.value}});
      continue;
    }
    const std::string_view key = v.reason.empty() ? v.traffic_class : v.reason;
    within(part, v.figure.field).push_back({std::string(key), {v.value}});
  }
}

std::string state_of(const Stream& stream) {
  if (!stream.sends) return "received here";
  switch (stream.counts.sender) {
    case StreamSnapshot::Sender::kStopped:
      return "stopped";
    case StreamSnapshot::Sender::kEnded:
      return "ended";
    case StreamSnapshot::Sender::kSending:
      break;
  }
  return "sending";
}

TelemetryValue steered(std::string_view name, const std::string& what, std::string_view now) {
  return {Table{{"stream", {std::string(name)}}, {what, {std::string(now)}}}};
}

}  // namespace

TelemetryValue telemetry_of_generator(const GeneratorLive& live) {
  Table table{{"end_ns", {static_cast<std::uint64_t>(live.counts.at_ns)}}};
  add_figures(table, figures_of(live));
  return {std::move(table)};
}

TelemetryValue telemetry_of_streams(const std::vector<Stream>& streams) {
  constexpr std::size_t kMostStreams = 256;  // what an answer has room for
  TelemetryValue::List lines;
  for (std::size_t i = 0; i < std::min(streams.size(), kMostStreams); ++i)
    lines.push_back(streams[i].name + ": " + state_of(streams[i]));
  if (lines.size() < streams.size())
    lines.push_back("and " + std::to_string(streams.size() - lines.size()) + " more");
  return {Table{{"streams", {std::move(lines)}}}};
}

TelemetryValue telemetry_of_stream(const std::vector<Stream>& streams, std::string_view name) {
  const auto found = std::ranges::find(streams, name, &Stream::name);
  if (found == streams.end())
    throw std::invalid_argument("no such stream: \"" + std::string(name) +
                                "\"; /outrider/streams lists them");
  Table table{{"state", {state_of(*found)}}};
  if (found->sends) {
    table.push_back({"rate", {format_stream_rate(found->rate)}});
    add_figures(table, figures_of_fields(found->counts.sent));
  }
  if (found->receives) add_figures(table, figures_of_fields(found->counts.received));
  return {std::move(table)};
}

void add_commands(TelemetryCommands& commands, std::function<GeneratorLive()> read,
                  StreamSteering& steering) {
  commands.add(
      "/outrider/generator", "Counters of the process; no parameters",
      [read = std::move(read)](std::string_view) { return telemetry_of_generator(read()); });
  commands.add("/outrider/streams", "Names of the streams, and what each does; no parameters",
               [&](std::string_view) { return telemetry_of_streams(steering.read()); });
  commands.add("/outrider/stream", "Rate and counters of a stream. Parameters: NAME",
               [&](std::string_view name) { return telemetry_of_stream(steering.read(), name); });
  commands.add("/outrider/stop", "Have a stream send nothing. Parameters: NAME",
               [&](std::string_view name) {
                 steering.stop(name);
                 return steered(name, "state", "stopped");
               });
  commands.add("/outrider/start", "Have a stopped stream send from now on. Parameters: NAME",
               [&](std::string_view name) {
                 steering.start(name);
                 return steered(name, "state", "sending");
               });
  commands.add("/outrider/rate",
               "Have a stream send at another rate from now on. Parameters: NAME,RATE",
               [&](std::string_view parameters) {
                 const auto comma = parameters.rfind(',');
                 if (comma == parameters.npos)
                   throw std::invalid_argument("needs a stream and a rate: NAME,5gbps");
                 const std::string_view name = parameters.substr(0, comma);
                 steering.set_rate(name, parameters.substr(comma + 1));
                 return steered(name, "rate", parameters.substr(comma + 1));
               });
  log_info("telemetry socket " + Eal::telemetry_socket().string());
}

}  // namespace outrider::tg
