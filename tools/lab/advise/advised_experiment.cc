#include "tools/lab/advise/advised_experiment.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tools/lab/advise/remedy_list.h"
#include "tools/lab/experiment/config_literals.h"

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

}  // namespace outrider::lab
