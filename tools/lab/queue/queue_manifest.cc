#include "tools/lab/queue/queue_manifest.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "common/telemetry/whole_file.h"
#include "tools/lab/run/run_store.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kFormat = 1;
constexpr const char* kManifest = "queue.json";

json plan_json(const PlanOptions& plan) {
  json out{{"first_seed", plan.first_seed},
           {"filter", plan.filter},
           {"arms", plan.arms},
           {"quick", plan.quick},
           {"seeds", nullptr}};
  if (plan.seeds) out["seeds"] = *plan.seeds;
  return out;
}

PlanOptions plan_from(const json& in) {
  PlanOptions plan{.first_seed = in.at("first_seed").get<std::uint64_t>(),
                   .seeds = {},
                   .filter = in.at("filter").get<std::string>(),
                   .arms = in.at("arms").get<std::vector<std::string>>(),
                   .quick = in.at("quick").get<bool>()};
  if (!in.at("seeds").is_null()) plan.seeds = in.at("seeds").get<std::uint32_t>();
  return plan;
}

QueueManifest manifest_from(const json& in) {
  return {.program = in.at("program").get<std::string>(),
          .given = in.at("experiment_file").get<std::string>(),
          .root = in.at("root").get<std::string>(),
          .file = in.at("file").get<std::string>(),
          .plan = plan_from(in.at("plan")),
          .cases = in.at("cases").get<std::size_t>(),
          .fingerprint = in.at("fingerprint").get<std::string>(),
          .rules = {.lease = from_seconds(in.at("lease_seconds").get<double>()),
                    .takes = in.at("takes").get<unsigned>()}};
}

[[noreturn]] void refuse(const fs::path& directory, const std::string& why) {
  throw std::runtime_error("--queue " + directory.string() + ": " + why);
}

}  // namespace

void write_manifest(const fs::path& directory, const QueueManifest& m) {
  const json out{{"format", kFormat},
                 {"program", m.program},
                 {"experiment_file", m.given},
                 {"root", m.root.string()},
                 {"file", m.file.string()},
                 {"plan", plan_json(m.plan)},
                 {"cases", m.cases},
                 {"fingerprint", m.fingerprint},
                 {"lease_seconds", seconds(m.rules.lease)},
                 {"takes", m.rules.takes}};
  write_whole_file(directory / kManifest,
                   out.dump(2, ' ', false, json::error_handler_t::replace) + '\n');
}

QueueManifest read_manifest(const fs::path& directory) {
  constexpr const char* kMake = "`outrider-lab queue FILE --queue DIR` makes one";
  std::error_code error;
  if (!fs::is_directory(directory, error))
    refuse(directory, std::string("no such directory; ") + kMake);
  if (!fs::exists(directory / kManifest, error))
    refuse(directory, std::string("it has no queue.json, so that it is no queue, or one whose "
                                  "making was cut short; ") +
                          kMake);
  std::ifstream in(directory / kManifest, std::ios::binary);
  if (!in) refuse(directory, "queue.json cannot be read; mend its permissions");
  try {
    const json read = json::parse(in);
    if (const int format = read.at("format").get<int>(); format != kFormat)
      refuse(directory, "its format is " + std::to_string(format) + ", and this program has " +
                            std::to_string(kFormat) + "; use the program that made the queue");
    return manifest_from(read);
  } catch (const json::exception& fault) {
    refuse(directory, std::string("queue.json is damaged: ") + fault.what() +
                          "; make the queue again in another directory");
  }
}

std::string plan_fingerprint(const std::vector<Case>& cases) {
  const RunStore store({}, {});
  std::string all;
  for (const Case& c : cases) all += store.file_of(c, Runtime::kVirtual);
  return std::to_string(content_hash(all));
}

}  // namespace outrider::lab
