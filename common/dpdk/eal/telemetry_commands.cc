#include "common/dpdk/eal/telemetry_commands.h"

#include <rte_telemetry.h>

#include <exception>
#include <mutex>

#include "common/dpdk/eal/dpdk_releases.h"
#include "common/dpdk/eal/error.h"

namespace outrider {
namespace {

// Process-wide, because rte_telemetry passes only the command's name to the callback.
std::mutex mutex;
std::map<std::string, TelemetryCommands::Answer, std::less<>>& answers() {
  static std::map<std::string, TelemetryCommands::Answer, std::less<>> by_name;
  return by_name;
}

void fill(rte_tel_data* out, const TelemetryValue::Table& table);

rte_tel_data* nested_data(const TelemetryValue::Table& table) {
  rte_tel_data* nested = rte_tel_data_alloc();
  if (nested != nullptr) fill(nested, table);
  return nested;
}

rte_tel_data* nested_data(const TelemetryValue::List& list) {
  rte_tel_data* nested = rte_tel_data_alloc();
  if (nested == nullptr) return nullptr;
  rte_tel_data_start_array(nested, RTE_TEL_STRING_VAL);
  for (const auto& text : list) rte_tel_data_add_array_string(nested, text.c_str());
  return nested;
}

void fill(rte_tel_data* out, const TelemetryValue::Table& table) {
  rte_tel_data_start_dict(out);
  for (const auto& [name, value] : table) {
    if (const auto* number = std::get_if<std::uint64_t>(&value.data)) {
      add_unsigned(out, name.c_str(), *number);
    } else if (const auto* text = std::get_if<std::string>(&value.data)) {
      rte_tel_data_add_dict_string(out, name.c_str(), text->c_str());
    } else {
      const auto* nested = std::get_if<TelemetryValue::Table>(&value.data);
      rte_tel_data* container = nested != nullptr
                                    ? nested_data(*nested)
                                    : nested_data(std::get<TelemetryValue::List>(value.data));
      if (container != nullptr) rte_tel_data_add_dict_container(out, name.c_str(), container, 0);
    }
  }
}

void fill(rte_tel_data* out, const TelemetryValue& value) {
  if (const auto* table = std::get_if<TelemetryValue::Table>(&value.data)) return fill(out, *table);
  fill(out, {{"value", value}});
}

TelemetryValue answer_to(std::string_view command, std::string_view parameters) {
  const std::lock_guard lock(mutex);
  const auto found = answers().find(command);
  if (found == answers().end()) return {TelemetryValue::Table{{"error", {"the program ends"}}}};
  try {
    return found->second(parameters);
  } catch (const std::exception& error) {
    return {TelemetryValue::Table{{"error", {std::string(error.what())}}}};
  }
}

int on_command(const char* command, const char* parameters, rte_tel_data* out) {
  fill(out, answer_to(command, parameters != nullptr ? parameters : ""));
  return 0;
}

}  // namespace

void TelemetryCommands::add(const std::string& name, const std::string& help, Answer answer) {
  {
    const std::lock_guard lock(mutex);
    answers()[name] = std::move(answer);
  }
  const int result = rte_telemetry_register_cmd(name.c_str(), &on_command, help.c_str());
  if (result != 0 && result != -EEXIST) throw DpdkError("rte_telemetry_register_cmd", name, result);
  names_.push_back(name);
}

TelemetryCommands::~TelemetryCommands() {
  const std::lock_guard lock(mutex);
  for (const auto& name : names_) answers().erase(name);
}

}  // namespace outrider
