#include "tools/lab/results/bundle.h"

#include <algorithm>
#include <cctype>
#include <deque>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/telemetry/csv_text.h"
#include "common/telemetry/whole_file.h"
#include "tools/lab/results/database.h"
#include "tools/lab/results/part_file.h"
#include "tools/lab/results/run_table.h"
#include "tools/lab/results/summary_tables.h"
#include "tools/lab/tables/results_answer.h"

namespace outrider::lab {

namespace fs = std::filesystem;

namespace {

void make_directory(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail_at("create", path, error.message());
}

void write_text(const fs::path& path, const std::string& text) {
  PartFile file(path);
  file.write(text);
  file.finish();
}

/// Returns "012-on-lead8-seed3": unique by its number, and safe as the name of a directory.
std::string directory_name(std::size_t index, const Case& c) {
  std::string label;
  for (const char ch : c.label) {
    const bool plain = std::isalnum(static_cast<unsigned char>(ch)) != 0 || ch == '_';
    if (plain) label += ch;
    else if (!label.empty() && label.back() != '-') label += '-';
  }
  label.resize(std::min<std::size_t>(label.find_last_not_of('-') + 1, 60));
  std::string number = std::to_string(index);
  number.insert(0, number.size() < 3 ? 3 - number.size() : 0, '0');
  return number + "-" + label + "-seed" + std::to_string(c.seed);
}

/// Writes the packets that a run has captured, a file for each port.
void write_captures(const fs::path& directory, std::size_t index, const CaseRun& run) {
  if (run.result.captures.empty()) return;
  make_directory(directory);
  const std::string name = directory_name(index, *run.definition);
  for (const PortPackets& capture : run.result.captures)
    write_text(directory / (name + '.' + capture.port + ".pcapng"), capture.pcapng);
}

/// One of run_tables() while it is written: into the database, and into a CSV file if a run needs
/// it.
class TableWriter : public RowSink {
 public:
  TableWriter(const fs::path& directory, Database& database, const RunTable& table, Runtime runtime)
      : path_(directory / (std::string(table.name) + ".csv")),
        table_(table),
        runtime_(runtime),
        columns_(all_columns(table)),
        database_(database.add_table(table.name, table.help, columns_)) {
    if (table_.wanted == nullptr) begin_file();
  }

  void add(std::size_t index, const CaseRun& run) {
    add({index, run.definition, "measured"}, run.result);
    if (run.alone) add({index, run.definition, "alone"}, *run.alone);
  }
  /// Gives the file its name. One that no run needs is removed: it would be of earlier results.
  void finish() {
    if (file_) return file_->finish();
    std::error_code ignored;
    fs::remove(path_, ignored);
  }

  void row(std::span<const Cell> cells) override {
    database_.row(cells);
    line_.clear();
    append_csv_line(line_, cells);
    file_->write(line_);
  }

 private:
  void begin_file() {
    file_.emplace(path_);
    append_csv_head(line_, columns_);
    file_->write(line_);
  }
  void add(const RunName& name, const RunResult& result) {
    if (!file_ && !table_.wanted(*name.definition, result)) return;
    if (!file_) begin_file();
    RunRows rows(*this, name);
    table_.rows(rows, runtime_, name, result);
  }

  fs::path path_;
  const RunTable& table_;
  Runtime runtime_;
  std::vector<TableColumn> columns_;
  RowSink& database_;
  std::string line_{};
  std::optional<PartFile> file_{};
};

}  // namespace

ResultsReader open_results(const fs::path& named) {
  const fs::path path = fs::is_directory(named) ? named / kDatabaseFile : named;
  ResultsReader results(path);
  constexpr const char* kAgain = "; run the experiment again, or use the version that wrote it";
  try {
    Query version = results.query("PRAGMA user_version");
    if (!version.next() || version.whole(0) != kTablesVersion)
      throw std::runtime_error(path.string() + " has tables of version " + version.text(0) +
                               ", not " + std::to_string(kTablesVersion) + kAgain);
  } catch (const QueryError& error) {
    throw std::runtime_error(path.string() + " is no results.sqlite of outrider-lab: " +
                             error.what() + "; name the directory that `run` wrote");
  }
  return results;
}

void write_configuration(const fs::path& directory, std::size_t index, const Case& definition,
                         const std::string& switch_toml, const std::string& traffic_toml) {
  const fs::path own = directory / directory_name(index, definition);
  make_directory(own);
  write_text(own / "switch.toml", switch_toml);
  write_text(own / "trafficgen.toml", traffic_toml);
}

std::string why_no_bundle(const fs::path& directory) {
  std::vector<std::string> names{"summary.json", "table.txt", "environment.json", "report.html",
                                 kDatabaseFile};
  for (const RunTable& table : run_tables()) names.push_back(std::string(table.name) + ".csv");
  for (const auto& name : names)
    if (const std::string why = why_no_file((directory / name).string()); !why.empty())
      return (directory / name).string() + ' ' + why;
  return {};
}

void write_bundle(const fs::path& directory, const Summary& summary, const ReadRun& read,
                  const EnvironmentNotes& notes) {
  make_directory(directory);
  std::error_code ignored;
  fs::remove(directory / kDatabaseFile, ignored);  // first: it is never of other files
  write_text(directory / "summary.json", to_json(summary));
  write_text(directory / "table.txt", result_text(summary));
  write_text(directory / "environment.json", environment_json(notes));
  Database database(directory / kDatabaseFile);
  for (const SummaryTable& table : summary_tables())
    table.rows(database.add_table(table.name, table.help, table.columns()), summary);
  std::deque<TableWriter> tables;
  for (const RunTable& table : run_tables())
    tables.emplace_back(directory, database, table, summary.runtime);
  for (std::size_t i = 0; i < summary.cases.size(); ++i) {
    const CaseRun run = read(i);
    if (!run.switch_toml.empty() || !run.traffic_toml.empty())
      write_configuration(directory / "config", i, *run.definition, run.switch_toml,
                          run.traffic_toml);
    write_captures(directory / "captures", i, run);
    for (auto& table : tables) table.add(i, run);
  }
  for (auto& table : tables) table.finish();
  database.finish();
}

void write_bundle(const fs::path& directory, const Experiment& experiment, const Summary& summary,
                  const EnvironmentNotes& notes) {
  write_bundle(
      directory, summary, [&](std::size_t i) { return experiment.runs[i]; }, notes);
}

}  // namespace outrider::lab
