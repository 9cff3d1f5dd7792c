#include "tools/lab/summary/column_table.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/telemetry/csv_text.h"
#include "tools/lab/summary/metric.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {

namespace {

using Json = nlohmann::ordered_json;

struct Line {
  std::string name;
  std::vector<double> values;
};

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Returns the parameters of an arm that differ between arms of its label, with their values.
std::string settings_of(const Json& arm, const Json& arms) {
  std::string text;
  for (const char* group : {"parameters", "settings"}) {
    if (!arm.contains(group)) continue;
    for (const auto& [name, value] : arm.at(group).items()) {
      const bool varies = std::ranges::any_of(arms, [&, &n = name, &v = value](const Json& other) {
        return other.at("label") == arm.at("label") && other.contains(group) &&
               other.at(group).value(n, Json(nullptr)) != v;
      });
      if (varies) text += " " + name + "=" + text_of(value);
    }
  }
  return text;
}

std::vector<Line> lines_of(const Json& arms, const std::vector<const Metric*>& columns) {
  std::vector<Line> lines;
  for (const auto& arm : arms) {
    Line line{.name = arm.at("label").get<std::string>() + settings_of(arm, arms), .values = {}};
    const Json& own = arm.at("metrics");
    for (const Metric* m : columns) {
      const std::string name(m->name);
      const Json value = own.contains(name) ? own.at(name).at("value").at("value") : Json();
      line.values.push_back(value.is_number() ? value.get<double>() : kNotDefined);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string csv(const std::vector<Line>& lines, const std::vector<const Metric*>& columns) {
  std::string text = "arm";
  for (const Metric* m : columns) text += "," + std::string(m->name);
  for (const auto& line : lines) {
    text += "\n" + csv_text(line.name);
    for (const double v : line.values) text += "," + (std::isnan(v) ? "" : Json(v).dump());
  }
  return text + "\n";
}

std::string padded(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string terminal(const std::vector<Line>& lines, const std::vector<const Metric*>& columns) {
  std::size_t name_width = 0;
  for (const auto& line : lines) name_width = std::max(name_width, line.name.size());
  std::vector<std::string> rows(2 + lines.size());
  for (auto& row : rows) row.resize(name_width, ' ');
  for (std::size_t i = 0; i < lines.size(); ++i)
    rows[2 + i].replace(0, lines[i].name.size(), lines[i].name);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Column column = column_of(*columns[c]);
    std::vector<std::string> cells{std::string(column.heading), std::string(column.unit)};
    for (const auto& line : lines) cells.push_back(shown(line.values[c] * column.scale));
    const std::size_t width = 2 + std::ranges::max(cells, {}, &std::string::size).size();
    for (std::size_t r = 0; r < rows.size(); ++r) rows[r] += padded(cells[r], width);
  }
  std::string text;
  for (auto& row : rows) text += row.erase(row.find_last_not_of(' ') + 1) + "\n";
  return text;
}

}  // namespace

std::string column_table(const std::string& summary, std::vector<std::string> columns,
                         TableForm form) {
  if (columns.empty())
    for (const auto& m : metrics())
      if (!m.tested.empty()) columns.emplace_back(m.name);
  std::vector<const Metric*> rows;
  rows.reserve(columns.size());
  for (const auto& name : columns) rows.push_back(&metric_named(name));
  try {
    const Json in = Json::parse(summary);
    const auto lines = lines_of(in.at("arms"), rows);
    return form == TableForm::kCsv ? csv(lines, rows) : terminal(lines, rows);
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(std::string("is no summary.json of outrider-lab: ") + error.what());
  }
}

}  // namespace outrider::lab
