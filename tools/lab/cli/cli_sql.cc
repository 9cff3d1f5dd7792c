#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/telemetry/exit_status.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/results/query.h"

namespace outrider::lab {

namespace {

constexpr const char* kTablesAndColumns =
    "SELECT * FROM (SELECT table_name AS name, '' AS column, help FROM tables UNION ALL "
    "SELECT table_name, column_name, help FROM columns) ORDER BY name, column <> ''";

}  // namespace

int sql_command(const LabOptions& options) {
  const std::string sql = options.sql.empty() ? kTablesAndColumns : options.sql;
  try {
    const ResultsReader results = open_results(options.file);
    Query rows = results.query(sql);
    const bool csv = options.table.form == TableForm::kCsv;
    const std::string text = csv ? rows_as_csv(std::move(rows)) : rows_as_text(std::move(rows));
    std::fwrite(text.data(), 1, text.size(), stdout);  // a text may have any byte
    return kExitOk;
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "outrider-lab: %s\n", error.what());
    return kExitUsage;
  }
}

}  // namespace outrider::lab
