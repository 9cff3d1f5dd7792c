#include "tools/lab/results/bundle_environment.h"

#include <sys/utsname.h>

#include <array>
#include <chrono>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

namespace outrider::lab {

namespace {

using Json = nlohmann::ordered_json;

/// Returns the wall time as RFC 3339, UTC.
std::string wall_time() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {text.data(), length};
}

/// Returns the value of the first line "KEY ...: VALUE" of a file below /proc.
Json first_value(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto value = line.find_first_not_of(" \t", colon + 1);
    if (value != std::string::npos) return line.substr(value);
  }
  return nullptr;
}

}  // namespace

std::string environment_json(const EnvironmentNotes& notes) {
  Json out{{"written_at", wall_time()},
           {"processor", first_value("/proc/cpuinfo", "model name")},
           {"processors", std::thread::hardware_concurrency()},
           {"memory", first_value("/proc/meminfo", "MemTotal")},
           {"hugepages", first_value("/proc/meminfo", "HugePages_Total")},
           {"kernel", nullptr},
           {"architecture", nullptr},
           {"compiler", __VERSION__}};
  if (utsname name{}; uname(&name) == 0) {
    out["kernel"] = std::string(name.sysname) + " " + name.release;
    out["architecture"] = name.machine;
  }
  for (const auto& [key, value] : notes) out[key] = value;
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace outrider::lab
