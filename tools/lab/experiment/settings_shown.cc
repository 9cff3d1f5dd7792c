#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "common/config/config_file.h"
#include "common/config/quantities.h"
#include "switch/config/config_toml.h"
#include "tools/lab/experiment/program_settings.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::lab {
namespace {

ConfigTable role_shown(const QueueRole& role, const sw::SwitchPortConfig& port) {
  ConfigTable table = to_config_table(queue_of(role, {port.queue, port.marker, port.regulation}));
  table["floor"] = ConfigValue(role.floor);
  return table;
}

std::string_view word_of(LabScheduler scheduler) {
  return std::ranges::find(kLabSchedulers, scheduler, &Choice<LabScheduler>::value)->name;
}

ConfigTable switch_shown(const ProgramSettings& settings) {
  const sw::SwitchPortConfig& pattern = settings.sw.ports.front();
  ConfigTable table = to_config_table(settings.sw);
  const ConfigTable port = to_config_table(pattern);
  for (const char* key : {"queue", "marker", "regulation"}) table[key] = *port.get(key);
  table["scheduler"] = ConfigValue(std::string(word_of(settings.queues.scheduler)));
  table["share_limit"] = ConfigValue(settings.queues.share_limit);
  if (settings.flowlet_gap)
    table["flowlet_gap"] = ConfigValue(format_duration(*settings.flowlet_gap));
  table["ddl_queue"] = ConfigValue(role_shown(settings.queues.ddl, pattern));
  table["background_queue"] = ConfigValue(role_shown(settings.queues.background, pattern));
  return table;
}

ConfigTable transport_part(const tg::TransportConfig& transport) {
  ConfigTable table;
  table["transport"] = ConfigValue(to_config_table(transport));
  return table;
}

}  // namespace

ConfigTable to_table(const ProgramSettings& settings) {
  ConfigTable table;
  table["switch"] = ConfigValue(switch_shown(settings));
  table["transport"] = ConfigValue(to_config_table(settings.transport));
  table["ddl"] = ConfigValue(transport_part(settings.ddl));
  table["background"] = ConfigValue(transport_part(settings.background));
  (void)assign(table, "background.transport.roce",
               *to_config_table(settings.background_roce).get("roce"));
  overlay(*table["background"].as<ConfigTable>(), to_config_table(settings.flows));
  table["job"] = ConfigValue(to_config_table(settings.job));
  if (settings.lead_is_auto && holds_windows(settings.mode()))
    (void)assign(table, "job.announce.lead", ConfigValue(std::string("auto")));
  table["tensorlights"] = ConfigValue(to_config_table(settings.tensorlights));
  table["requests"] = ConfigValue(to_config_table(settings.requests));
  table["trafficgen"] = ConfigValue(to_config_table(settings.traffic));
  return table;
}

ParameterValue to_parameter_value(const ConfigValue& v) {
  if (const auto* b = v.as<bool>()) return *b;
  if (const auto* i = v.as<std::int64_t>()) return *i;
  if (const auto* d = v.as<double>()) return *d;
  if (const auto* s = v.as<std::string>()) return *s;
  return to_toml_text(v);
}

ParameterValue setting_value(const ConfigTable& table, const std::string& name) {
  const ConfigValue* v = find(table, name);
  return v == nullptr ? std::monostate{} : to_parameter_value(*v);
}

}  // namespace outrider::lab
