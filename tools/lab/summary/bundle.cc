#include "tools/lab/summary/bundle.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <utility>

#include "common/telemetry/whole_file.h"
#include "tools/lab/summary/bundle_csv.h"
#include "tools/lab/summary/result_answer.h"

namespace outrider::lab {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string& action, const fs::path& path, const std::string& cause) {
  throw std::runtime_error("cannot " + action + " " + path.string() + ": " + cause);
}

void make_directory(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail("create", path, error.message());
}

/// A file that is written under another name first, so that a reader of `path` finds all of it or
/// none, after a loss of power too. Without finish(), nothing is left of it.
class PartFile {
 public:
  explicit PartFile(fs::path path) : path_(std::move(path)), part_(partial_name(path_)) {
    errno = 0;
    out_.open(part_, std::ios::binary | std::ios::trunc);
  }
  ~PartFile() {
    if (finished_) return;
    out_.close();
    std::error_code ignored;
    fs::remove(part_, ignored);
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  /// Writes what `content` writes. @throws std::runtime_error
  template <class Content>
  void write(Content content) {
    errno = 0;
    if (out_) content(out_);
    if (!out_) fail_writing();
  }
  /// Gives the file its name. @throws std::runtime_error
  void finish() {
    errno = 0;
    out_.close();
    if (!out_) fail_writing();
    if (const int error = publish_file(part_, path_); error != 0)
      fail("write", path_, std::strerror(error));
    finished_ = true;
  }

 private:
  [[noreturn]] void fail_writing() const {
    fail("write", path_, errno != 0 ? std::strerror(errno) : "write failed");
  }

  fs::path path_;
  fs::path part_;
  std::ofstream out_;
  bool finished_ = false;
};

void write_text(const fs::path& path, const std::string& text) {
  PartFile file(path);
  file.write([&text](std::ostream& out) { out << text; });
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

/// One of bundle_tables() while it is written.
class TableFile {
 public:
  TableFile(const fs::path& directory, const BundleTable& table, Runtime runtime)
      : path_(directory / table.file), table_(table), runtime_(runtime) {
    if (table_.wanted == nullptr) begin();
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

 private:
  void begin() {
    file_.emplace(path_);
    file_->write([this](std::ostream& out) { out << table_.head(); });
  }
  void add(const RunName& name, const RunResult& result) {
    if (!file_ && !table_.wanted(*name.definition, result)) return;
    if (!file_) begin();
    file_->write([&](std::ostream& out) { table_.write(out, runtime_, name, result); });
  }

  fs::path path_;
  const BundleTable& table_;
  Runtime runtime_;
  std::optional<PartFile> file_{};
};

}  // namespace

void write_configuration(const fs::path& directory, std::size_t index, const Case& definition,
                         const std::string& switch_toml, const std::string& traffic_toml) {
  const fs::path own = directory / directory_name(index, definition);
  make_directory(own);
  write_text(own / "switch.toml", switch_toml);
  write_text(own / "trafficgen.toml", traffic_toml);
}

std::string why_no_bundle(const fs::path& directory) {
  std::vector<std::string> names{"summary.json", "table.txt", "environment.json", "report.html"};
  for (const auto& table : bundle_tables()) names.emplace_back(table.file);
  for (const auto& name : names)
    if (const std::string why = why_no_file((directory / name).string()); !why.empty())
      return (directory / name).string() + ' ' + why;
  return {};
}

void write_bundle(const fs::path& directory, const Summary& summary, const ReadRun& read,
                  const EnvironmentNotes& notes) {
  make_directory(directory);
  write_text(directory / "summary.json", to_json(summary));
  write_text(directory / "table.txt", result_text(summary));
  write_text(directory / "environment.json", environment_json(notes));
  std::deque<TableFile> files;
  for (const auto& table : bundle_tables()) files.emplace_back(directory, table, summary.runtime);
  for (std::size_t i = 0; i < summary.cases.size(); ++i) {
    const CaseRun run = read(i);
    if (!run.switch_toml.empty() || !run.traffic_toml.empty())
      write_configuration(directory / "config", i, *run.definition, run.switch_toml,
                          run.traffic_toml);
    write_captures(directory / "captures", i, run);
    for (auto& file : files) file.add(i, run);
  }
  for (auto& file : files) file.finish();
}

void write_bundle(const fs::path& directory, const Experiment& experiment, const Summary& summary,
                  const EnvironmentNotes& notes) {
  write_bundle(
      directory, summary, [&](std::size_t i) { return experiment.runs[i]; }, notes);
}

}  // namespace outrider::lab
