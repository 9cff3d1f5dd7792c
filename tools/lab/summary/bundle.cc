#include "tools/lab/summary/bundle.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <stdexcept>

#include "common/telemetry/whole_file.h"
#include "tools/lab/summary/bundle_csv.h"

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

/// Writes a file under another name first, so that a reader of `path` finds all of it or none,
/// after a loss of power too.
void write_file(const fs::path& path, const std::function<void(std::ostream&)>& content) {
  fs::path part = path;
  part += ".part";
  errno = 0;
  std::ofstream out(part, std::ios::binary | std::ios::trunc);
  if (out) content(out);
  out.close();
  if (!out) {
    const std::string cause = errno != 0 ? std::strerror(errno) : "write failed";
    std::error_code ignored;
    fs::remove(part, ignored);
    fail("write", path, cause);
  }
  if (const int error = publish_file(part, path); error != 0)
    fail("write", path, std::strerror(error));
}

void write_text(const fs::path& path, const std::string& text) {
  write_file(path, [&text](std::ostream& out) { out << text; });
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

void write_configurations(const fs::path& directory, const Experiment& experiment) {
  for (std::size_t i = 0; i < experiment.runs.size(); ++i) {
    const CaseRun& run = experiment.runs[i];
    if (run.switch_toml.empty() && run.traffic_toml.empty()) continue;
    const fs::path own = directory / directory_name(i, *run.definition);
    make_directory(own);
    write_text(own / "switch.toml", run.switch_toml);
    write_text(own / "trafficgen.toml", run.traffic_toml);
  }
}

}  // namespace

void write_bundle(const fs::path& directory, const Experiment& experiment, const Summary& summary,
                  const EnvironmentNotes& notes) {
  make_directory(directory);
  write_text(directory / "summary.json", to_json(summary));
  write_text(directory / "table.txt", comparison_table(summary));
  write_text(directory / "environment.json", environment_json(notes));
  write_configurations(directory / "config", experiment);
  write_file(directory / "bursts.csv",
             [&](std::ostream& out) { write_bursts_csv(out, experiment); });
  write_file(directory / "queue.csv", [&](std::ostream& out) { write_queue_csv(out, experiment); });
  write_file(directory / "flows.csv", [&](std::ostream& out) { write_flows_csv(out, experiment); });
  const auto samples = [](const CaseRun& run) { return !run.result.traffic.connections.empty(); };
  if (std::ranges::any_of(experiment.runs, samples))
    write_file(directory / "connections.csv",
               [&](std::ostream& out) { write_connections_csv(out, experiment); });
}

}  // namespace outrider::lab
