#include "tools/lab/report/report_rows.h"

#include <type_traits>
#include <utility>
#include <variant>

namespace outrider::lab {

namespace {

ReportJson cell_json(const Query& row, std::size_t column) {
  return std::visit(
      [](const auto& value) -> ReportJson {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) return nullptr;
        else return value;
      },
      row.value(column));
}

}  // namespace

ReportJson rows_json(const ResultsReader& results, std::string_view sql) {
  ReportJson rows = ReportJson::array();
  for (Query row = results.query(sql); row.next();) {
    ReportJson object = ReportJson::object();
    for (std::size_t c = 0; c < row.columns().size(); ++c)
      object[row.columns()[c]] = cell_json(row, c);
    rows.push_back(std::move(object));
  }
  return rows;
}

ReportJson row_json(const ResultsReader& results, std::string_view sql) {
  ReportJson rows = rows_json(results, sql);
  return rows.empty() ? ReportJson(nullptr) : std::move(rows.front());
}

std::string of_case(std::size_t index) { return "case_index = " + std::to_string(index); }

std::string of_arm(const ArmSummary& arm) {
  std::string cases;
  for (const std::size_t i : arm.cases) cases += (cases.empty() ? "" : ",") + std::to_string(i);
  return "case_index IN (" + cases + ')';
}

}  // namespace outrider::lab
