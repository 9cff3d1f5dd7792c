#include "trafficgen/apps/generator_metrics.h"

#include <set>
#include <string>
#include <utility>

namespace outrider::tg {
namespace {

using Records = std::vector<MetricRecord>;

void append(std::vector<FigureValue>& to, std::vector<FigureValue> more) {
  to.insert(to.end(), more.begin(), more.end());
}

void add(Records& all, const std::string& kind, const std::string& name,
         std::vector<FigureValue> figures) {
  all.push_back({.prefix = "outrider_" + kind + "_",
                 .labels = {{kind, name}},
                 .figures = std::move(figures),
                 .in_seconds = true});
}

/// Returns the name, with a number if another part has it: Prometheus refuses all metrics if two
/// have the same labels. Pairs of one [[requests]] may have equal hosts.
std::string untaken(std::set<std::string>& taken, const std::string& name) {
  std::string unique = name;
  for (int n = 2; !taken.insert(unique).second; ++n) unique = name + " (" + std::to_string(n) + ')';
  return unique;
}

std::vector<FigureValue> figures_of(const StreamSteering::Stream& stream) {
  std::vector<FigureValue> figures;
  if (stream.sends) append(figures, figures_of_fields(stream.counts.sent));
  if (stream.receives) append(figures, figures_of_fields(stream.counts.received));
  return figures;
}

}  // namespace

std::vector<FigureValue> figures_of(const GeneratorLive& live) {
  std::vector<FigureValue> figures = figures_of_fields(live.counts);
  append(figures, figures_of_fields(live.run));
  return figures;
}

Records metrics_of(const GeneratorLive& live, const std::vector<StreamSteering::Stream>& streams,
                   const RunParts& parts) {
  Records all{{.prefix = "outrider_generator_",
               .labels = {},
               .figures = figures_of(live),
               .in_seconds = true}};
  for (const LiveDevice& device : live.devices)
    add(all, "device", device.name, figures_of_fields(device));
  if (streams.size() <= kMostShownParts)
    for (const auto& stream : streams) add(all, "stream", stream.name, figures_of(stream));
  RunParts::for_each_kind(parts, [&](const char* kind, const auto& cells) {
    std::set<std::string> taken;
    cells.for_each([&](const std::string& name, const auto& counts) {
      add(all, kind, untaken(taken, name), figures_of_fields(counts));
    });
  });
  return all;
}

}  // namespace outrider::tg
