#include "tools/lab/run/part_manifest.h"

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "common/telemetry/whole_file.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kFormat = 1;
constexpr const char* kManifest = "part.json";
constexpr std::array<const char*, 3> kReferences{"all", "off", "none"};  // [ReferenceRuns]

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

ReferenceRuns references_from(const std::string& name) {
  for (std::size_t i = 0; i < kReferences.size(); ++i)
    if (name == kReferences[i]) return static_cast<ReferenceRuns>(i);
  throw std::invalid_argument("\"references\": \"" + name + "\" is none of all, off and none");
}

PartManifest manifest_from(const json& in) {
  return {.part = case_part_from(in.at("part").get<std::string>()),
          .program = in.at("program").get<std::string>(),
          .file = in.at("experiment_file").get<std::string>(),
          .plan = plan_from(in.at("plan")),
          .references = references_from(in.at("references").get<std::string>()),
          .cases = in.at("cases").get<std::size_t>(),
          .fingerprint = in.at("fingerprint").get<std::string>()};
}

}  // namespace

bool has_part(const fs::path& directory) {
  std::error_code ignored;
  return fs::exists(directory / kManifest, ignored);
}

PartManifest read_part(const fs::path& directory) {
  constexpr const char* kMake = "`outrider-lab run FILE --case I/N --out DIR` makes one";
  const auto refuse = [&directory](const std::string& why) {
    throw std::runtime_error(directory.string() + ": " + why);
  };
  std::error_code error;
  if (!fs::is_directory(directory, error)) refuse(std::string("no such directory; ") + kMake);
  if (!has_part(directory)) refuse(std::string("it has no part.json, so it is no part; ") + kMake);
  std::ifstream in(directory / kManifest, std::ios::binary);
  if (!in) refuse("part.json cannot be read; mend its permissions");
  const auto refuse_damaged = [&refuse](const std::exception& fault) {
    refuse(std::string("part.json is damaged: ") + fault.what() +
           "; remove it, and run the part again");
  };
  try {
    const json read = json::parse(in);
    if (const int format = read.at("format").get<int>(); format != kFormat)
      refuse("the format of part.json is " + std::to_string(format) + ", and this program has " +
             std::to_string(kFormat) + "; use the program that ran the part");
    return manifest_from(read);
  } catch (const json::exception& fault) {
    refuse_damaged(fault);
  } catch (const std::invalid_argument& fault) {
    refuse_damaged(fault);
  }
  return {};
}

void write_part(const fs::path& directory, const PartManifest& m) {
  const json out{{"format", kFormat},
                 {"part", to_text(m.part)},
                 {"program", m.program},
                 {"experiment_file", m.file},
                 {"plan", plan_json(m.plan)},
                 {"references", kReferences[static_cast<std::size_t>(m.references)]},
                 {"cases", m.cases},
                 {"fingerprint", m.fingerprint}};
  write_whole_file(directory / kManifest,
                   out.dump(2, ' ', false, json::error_handler_t::replace) + '\n');
}

void remove_part(const fs::path& directory) {
  std::error_code ignored;
  fs::remove(directory / kManifest, ignored);
}

std::optional<std::string> difference(const PartManifest& first, const PartManifest& other) {
  if (other.file != first.file)
    return "is of another experiment, " + other.file + " instead of " + first.file;
  if (other.part.of != first.part.of)
    return "is one of " + std::to_string(other.part.of) + " parts instead of " +
           std::to_string(first.part.of);
  if (other.program != first.program)
    return "was run by another build of outrider-lab, whose results may differ";
  if (other.plan != first.plan || other.references != first.references)
    return "was run with another --seed, --repeat, --filter, --arms, --quick or --references";
  if (other.cases != first.cases || other.fingerprint != first.fingerprint)
    return "has other cases: " + first.file + ", or a file that it names, was changed between";
  return std::nullopt;
}

}  // namespace outrider::lab
