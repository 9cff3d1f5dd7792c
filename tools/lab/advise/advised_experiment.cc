#include "tools/lab/advise/advised_experiment.h"

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

#include "common/config/toml_text.h"
#include "tools/lab/advise/remedy_list.h"
#include "tools/lab/experiment/config_literals.h"
#include "tools/lab/experiment/program_settings.h"

namespace outrider::lab {
namespace {

std::int64_t whole_at(const ConfigTable& table, std::string_view key, std::int64_t otherwise) {
  const ConfigValue* value = table.get(key);
  const auto* whole = value == nullptr ? nullptr : value->as<std::int64_t>();
  return whole == nullptr ? otherwise : *whole;
}

/// Leaves about half of the measured iterations.
void shorten(ConfigTable& experiment) {
  const auto& common = *experiment.get("parameters")->as<ConfigTable>();
  const std::int64_t skipped = whole_at(common, "skip_iterations", 0);
  for_each_of_jobs(experiment, [skipped](ConfigTable& job) {
    if (job.get("iterations") == nullptr) return;
    const std::int64_t measured = whole_at(job, "iterations", 1) - skipped;
    job["iterations"] = ConfigValue(skipped + std::max<std::int64_t>(measured / 2, 1));
  });
}

/// Returns a list of tables with a line for each, else the text of any value.
std::string shown(const ConfigValue& value) {
  if (!is_array_of_tables(value)) return to_toml_text(value);
  std::string text = "[\n";
  for (const ConfigValue& one : *value.as<ConfigValue::Array>())
    text += "  " + to_toml_text(one) + ",\n";
  return text + "]";
}

/// Returns the value that a setting of an arm has in its case. That of a list is as it is written.
ConfigValue resolved(const std::string& key, const ConfigValue& written, const Case& of_arm) {
  const auto found = std::ranges::find(of_arm.parameters, key, &Parameters::value_type::first);
  if (found == of_arm.parameters.end() || written.as<ConfigValue::Array>() != nullptr)
    return written;
  return std::visit(
      [&written](const auto& v) {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>) return written;
        else return ConfigValue(v);
      },
      found->second);
}

}  // namespace

ConfigTable experiment_of(const AdvisedFile& advised, const AdvisedQuestion& question,
                          const std::filesystem::path& conf) {
  ConfigTable out = advised.experiment;
  out["name"] = text_value(question.name);
  if (question.brief) shorten(out);
  ConfigValue::Array arms = remedy_arms(out, advised.traits, conf);
  const auto unwanted = [&question](const ConfigValue& arm) {
    const auto* table = arm.as<ConfigTable>();
    const ConfigValue* label = table == nullptr ? nullptr : table->get("label");
    const auto* text = label == nullptr ? nullptr : label->as<std::string>();
    return text != nullptr && !question.arms.empty() &&
           std::ranges::find(question.arms, *text) == question.arms.end();
  };
  std::erase_if(arms, unwanted);
  out["arm"] = ConfigValue(std::move(arms));
  auto& parameters = *out["parameters"].as<ConfigTable>();
  for (const auto& [key, value] : question.parameters)
    if (!assign(parameters, key, value)) throw std::logic_error("no key of a table: " + key);
  return out;
}

std::string arm_text(const AdvisedFile& advised, const Case& of_arm,
                     const std::filesystem::path& conf) {
  std::string text = "[[arm]]\nlabel = " + to_toml_text(text_value(of_arm.label)) + '\n';
  for (const ConfigValue& arm : remedy_arms(advised.experiment, advised.traits, conf)) {
    const auto* table = arm.as<ConfigTable>();
    if (table == nullptr || *table->get("label") != text_value(of_arm.label)) continue;
    for (const auto& [key, value] : with_dotted_keys(*table))
      if (key != "label" && key != "against")
        text += key + " = " + shown(resolved(key, value, of_arm)) + '\n';
  }
  return text;
}

}  // namespace outrider::lab
