#include "trafficgen/config/stream_rules.h"

#include <algorithm>
#include <string>
#include <utility>

namespace outrider::tg {
namespace {

bool has_device(const GeneratorConfig& config, const std::string& name) {
  return std::ranges::find(config.devices, name, &GeneratorDeviceConfig::name) !=
         config.devices.end();
}

constexpr const char* kNoSuchDevice = "no [[device]] has this name";

/// A pause needs a device whose rate says how long its frames last.
void check_pause(const Checks& at, const PauseConfig& pause, const GeneratorConfig& config) {
  const std::string shown = Checks::quoted(pause.device);
  if (!at.require(has_device(config, pause.device), "device", shown, kNoSuchDevice)) return;
  const auto device = std::ranges::find(config.devices, pause.device, &GeneratorDeviceConfig::name);
  at.require(device->line_rate.has_value(), "device", shown,
             "has no line_rate, which says how long a pause frame lasts");
  at.require(config.hosts.empty() && config.more_lcores.empty(), "device", shown,
             "is for files without [[host]] and more_lcores");
}

}  // namespace

void check_streams_of(const Checks& root, const GeneratorConfig& config) {
  check_streams(root, config.streams);
  for (std::size_t i = 0; i < config.streams.size(); ++i)
    for (const auto& [key, name] : {std::pair{"device", config.streams[i].device},
                                    {"receive_device", config.streams[i].receive_device}})
      root.below("stream", i)
          .require(name.empty() || has_device(config, name), key, Checks::quoted(name),
                   kNoSuchDevice);
  for (std::size_t i = 0; i < config.pauses.size(); ++i)
    check_pause(root.below("pause", i), config.pauses[i], config);
  check(root.below("benchmark"), config.benchmark);
}

}  // namespace outrider::tg
