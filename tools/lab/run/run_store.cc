#include "tools/lab/run/run_store.h"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/telemetry/whole_file.h"
#include "switch/config/config_toml.h"
#include "tools/lab/run/packed_text.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

/// Returns the size of a file and a hash of its content.
std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return std::to_string(text.size()) + ' ' + std::to_string(content_hash(text));
}

/// Returns a mark of the content of a file that a configuration names. Its path alone would not
/// show that the file was edited.
std::string mark_of(const std::string& path) { return path + ' ' + content_of(path) + '\n'; }

std::string file_name_of(const std::string& key) {
  char name[32];
  std::snprintf(name, sizeof name, "%016llx.run",
                static_cast<unsigned long long>(content_hash(key)));
  return name;
}

std::string head_of(const std::string& key) {
  return "outrider-lab run, " + std::to_string(key.size()) + '\n' + key;
}

}  // namespace

std::uint64_t content_hash(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

RunStore::RunStore(const fs::path& directory, std::string program)
    : directory_(directory / "unfinished"), program_(std::move(program)) {}

std::string RunStore::key_of(const Case& c, Runtime runtime) const {
  std::string key =
      program_ + '\n' + name_of(runtime) + '\n' + c.label + '\n' + std::to_string(c.seed) + '\n';
  // Both contain everything that determines a run except the content of files and the time limit.
  key += to_toml(c.switches) + to_toml(c.traffic);
  for (const NetworkChange& change : c.changes)
    key += std::to_string(change.at.time_since_epoch().count()) + to_toml(change.switches);
  for (const auto& job : c.traffic.jobs)
    for (const auto& file : {job.model, job.steps})
      if (file) key += mark_of(*file);
  for (const auto& flows : c.traffic.flows)
    tg::for_each_file(flows, [&](const std::string& file) { key += mark_of(file); });
  for (const auto& capture : c.traffic.captures) key += mark_of(capture.file);
  for (const auto& port : c.observed.queues) key += "queues of " + port + '\n';
  for (const auto& port : c.observed.captures)
    key += "capture of " + port + ' ' + std::to_string(c.observed.capture_from.count()) + ' ' +
           std::to_string(c.observed.capture_packets) + '\n';
  if (c.link_results) key += c.link_series ? "links over time\n" : "links\n";
  for (const auto& [name, value] : c.parameters)
    if (name == "limit_seconds") key += std::to_string(std::get<double>(value)) + '\n';
  return key;
}

fs::path RunStore::path_of(const std::string& key) const { return directory_ / file_name_of(key); }

std::string RunStore::file_of(const Case& c, Runtime runtime) const {
  return file_name_of(key_of(c, runtime));
}

RunStore::Stored RunStore::load(const Case& c, Runtime runtime) const {
  const std::string key = key_of(c, runtime);
  const fs::path path = path_of(key);
  std::ifstream in(path, std::ios::binary);
  if (!in) return {};
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::string head = head_of(key);
  // The name follows from the head: another run's file has another name.
  if (!text.starts_with(head)) return {.damaged = path};
  auto unpacked = unpacked_text(std::string_view(text).substr(head.size()));
  if (!unpacked) return {.damaged = path};
  return {.text = std::move(unpacked)};
}

void RunStore::save(const Case& c, Runtime runtime, const std::string& text) const {
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error)
    throw std::runtime_error(directory_.string() + ": cannot be made: " + error.message() +
                             " (errno " + std::to_string(error.value()) + ")");
  const std::string key = key_of(c, runtime);
  write_whole_file(path_of(key).string(), head_of(key) + packed_text(text));
}

void RunStore::clear() const {
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

RunStore::Size RunStore::size() const {
  Size size;
  std::error_code error;
  for (fs::directory_iterator at(directory_, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    const auto bytes = at->file_size(gone);
    if (gone) continue;
    ++size.files;
    size.bytes += bytes;
  }
  return size;
}

std::string plan_fingerprint(const std::vector<Case>& cases) {
  const RunStore store({}, {});
  std::string all;
  for (const Case& c : cases) all += store.file_of(c, Runtime::kVirtual);
  return std::to_string(content_hash(all));
}

std::string program_identity() { return content_of("/proc/self/exe"); }

}  // namespace outrider::lab
