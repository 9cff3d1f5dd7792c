#include "tools/lab/summary/metric_docs.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tools/lab/summary/metric.h"

namespace outrider::lab {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kBegin =
    "<!-- metrics: `outrider-lab metrics --renew docs` writes -->\n";
constexpr std::string_view kEnd = "<!-- end of metrics -->\n";

std::string in_bar(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

std::string table() {
  std::string text =
      "| name | unit | over seeds | `compare` | definition |\n|---|---|---|---|---|\n";
  for (const auto& m : metrics())
    text += "| `" + std::string(m.name) + "` | " + name_of(m.unit) + " | " +
            std::string(text_of(m)) + " | " + (m.tested.empty() ? "" : "yes") + " | " +
            in_bar(std::string(m.help)) + " |\n";
  return text;
}

}  // namespace

std::string metrics_text() {
  std::string text;
  for (const auto& m : metrics()) {
    text += std::string(m.name);
    if (*name_of(m.unit) != '\0') text += std::string(" [") + name_of(m.unit) + "]";
    text += "\n    " + std::string(m.help) + " (" + std::string(text_of(m)) + ")\n";
  }
  return text;
}

std::string renewed_page(const std::string& page) {
  const auto begin = page.find(kBegin), end = page.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos)
    throw std::runtime_error("no place for the table of metrics, between " + std::string(kBegin) +
                             " and " + std::string(kEnd));
  return page.substr(0, begin) + std::string(kBegin) + table() + page.substr(end);
}

std::string renewed_schema(const std::string& schema) {
  Json own{{"type", "object"},
           {"description", "docs/measurement.md defines each"},
           {"properties", Json::object()},
           {"required", Json::array()}};
  for (const auto& m : metrics()) {
    own["properties"][std::string(m.name)] = {{"$ref", "#/$defs/number"}, {"description", m.help}};
    if (m.there == nullptr && m.without_job) own["required"].push_back(m.name);
  }
  Json all = Json::parse(schema);
  all.at(Json::json_pointer("/properties/cases/items/properties/metrics")) = std::move(own);
  return all.dump(2) + "\n";
}

}  // namespace outrider::lab
