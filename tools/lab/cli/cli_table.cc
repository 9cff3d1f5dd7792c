#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/results/read_results.h"
#include "tools/lab/summary/metric_docs.h"
#include "tools/lab/tables/collective_table.h"
#include "tools/lab/tables/column_table.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

std::string text_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot be read; name the folder of the documentation");
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

int table_command(const LabOptions& options) {
  try {
    const Results results = read_results(open_results(options.file));
    const std::string table = options.collectives ? collective_table(results, options.table)
                                                  : column_table(results, options.table);
    if (table.empty()) throw std::runtime_error("no job of these arms has a collective");
    std::fputs(table.c_str(), stdout);
    return kExitOk;
  } catch (const std::exception& error) {
    say(std::string("outrider-lab: ") + error.what());
    return kExitUsage;
  }
}

int metrics_command(const LabOptions& options) {
  if (options.file.empty()) {
    std::fputs(metrics_text().c_str(), stdout);
    return kExitOk;
  }
  const fs::path docs = options.file;
  const fs::path page = docs / "measurement.md", schema = docs / "summary.schema.json";
  write_whole_file(page, renewed_page(text_of_file(page)));
  write_whole_file(schema, renewed_schema(text_of_file(schema)));
  return kExitOk;
}

}  // namespace outrider::lab
