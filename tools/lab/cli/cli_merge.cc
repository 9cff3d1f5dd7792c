#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/telemetry/exit_status.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/cli/cli_plan.h"
#include "tools/lab/cli/cli_results.h"
#include "tools/lab/run/part_manifest.h"
#include "tools/lab/run/run_store.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

struct PartDirectory {
  std::string path;
  PartManifest manifest;
  RunStore store;
};

/// By the numbers of the parts.
using PartDirectories = std::map<std::size_t, PartDirectory>;

/// Returns "12 cases: A, B, C and 9 more".
std::string cases_text(const std::vector<std::size_t>& cases,
                       const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 10;
  std::string text = std::to_string(cases.size()) + (cases.size() == 1 ? " case: " : " cases: ");
  for (std::size_t i = 0; i < std::min(cases.size(), kMost); ++i)
    text += (i == 0 ? "\"" : ", \"") + names[cases[i]] + '"';
  if (cases.size() > kMost) text += " and " + std::to_string(cases.size() - kMost) + " more";
  return text;
}

/// Reads all manifests. @return one for each directory; nothing, after printing a message, if they
/// are not parts of one run that this program has made
std::optional<std::vector<PartDirectory>> read_parts(const std::vector<std::string>& paths) {
  std::vector<PartDirectory> parts;
  const auto refuse = [](const std::string& why) {
    say("outrider-lab: " + why);
    return std::nullopt;
  };
  for (const std::string& path : paths) {
    try {
      const PartManifest manifest = read_part(path);
      parts.push_back({path, manifest, RunStore(path, manifest.program)});
    } catch (const std::runtime_error& error) {
      return refuse(error.what());
    }
    const PartDirectory& first = parts.front();
    if (const auto other = difference(first.manifest, parts.back().manifest))
      return refuse(path + " " + *other + ", beside " + first.path +
                    "; merge parts of one experiment, one build and the same options");
  }
  if (parts.front().manifest.program != program_identity())
    return refuse(parts.front().path +
                  " was run by another build of outrider-lab, whose results may differ; merge with "
                  "the program that ran the parts, or run them again with this one");
  return parts;
}

/// Plans the cases of the parts. @return nothing, after printing a message, if they are others now
std::optional<Planned> plan_of(const PartDirectory& part) {
  const PartManifest& m = part.manifest;
  auto planned = plan_cases(m.file, m.plan);
  if (!planned) {
    say("outrider-lab: " + part.path + " was run where its experiment is " + m.file +
        "; merge in that directory");
    return std::nullopt;
  }
  if (planned->cases.size() == m.cases && plan_fingerprint(planned->cases) == m.fingerprint)
    return planned;
  say("outrider-lab: " + m.file + ", or a file that it names, was changed since " + part.path +
      " was run; restore it, or run the parts again");
  return std::nullopt;
}

/// Orders the directories by the numbers of their parts. @return nothing, after printing a message,
/// if two have the same cases
std::optional<PartDirectories> by_number(const std::vector<PartDirectory>& parts,
                                         const Planned& planned) {
  PartDirectories all;
  for (const PartDirectory& part : parts) {
    const CasePart which = part.manifest.part;
    const auto [before, is_new] = all.try_emplace(which.number, part);
    if (is_new) continue;
    say("outrider-lab: " + before->second.path + " and " + part.path + " are both part " +
        to_text(which) + ", and have the same " +
        cases_text(cases_of(which, planned.cases.size()), planned.names) + "; name one of them");
    return std::nullopt;
  }
  return all;
}

/// Loads the finished runs of all parts, and names what is missing. @return whether nothing is
bool load_runs(const PartDirectories& parts, const Planned& planned, FinishedRuns& runs) {
  bool complete = true;
  CasePart which = parts.begin()->second.manifest.part;
  for (which.number = 1; which.number <= which.of; ++which.number) {
    const auto own = cases_of(which, planned.cases.size());
    const auto at = parts.find(which.number);
    std::vector<std::size_t> missing;
    for (const std::size_t i : own) {
      if (at == parts.end()) continue;
      const Case& c = planned.cases[i];
      const RunStore& store = at->second.store;
      const auto stored = store.load(c, Runtime::kVirtual);
      if (stored.text) runs.add(deserialize(c, *stored.text), &store);
      else missing.push_back(i);
      if (stored.damaged)
        say("outrider-lab: " + stored.damaged->string() + ", of \"" + planned.names[i] +
            "\", is damaged");
    }
    if (at == parts.end())
      say("outrider-lab: part " + to_text(which) +
          " is in none of the directories: " + cases_text(own, planned.names) +
          "; name its directory, or run it with --case " + to_text(which));
    else if (!missing.empty())
      say("outrider-lab: " + at->second.path + ", part " + to_text(which) + ", lacks " +
          cases_text(missing, planned.names) + "; the command that ran it goes on with them");
    complete = complete && at != parts.end() && missing.empty();
  }
  return complete;
}

}  // namespace

int merge_command(const LabOptions& given) {
  const auto directories = read_parts(given.parts);
  if (!directories) return kExitUsage;
  const PartDirectory first = directories->front();
  const auto planned = plan_of(first);
  if (!planned) return kExitUsage;
  const auto parts = by_number(*directories, *planned);
  if (!parts) return kExitUsage;
  FinishedRuns runs(Runtime::kVirtual);
  const bool complete = load_runs(*parts, *planned, runs);
  if (!complete && !given.partial) {
    say("outrider-lab: nothing is merged; --partial merges what there is");
    return kExitFailure;
  }
  LabOptions options = given;
  options.file = first.manifest.file;
  options.quick = first.manifest.plan.quick;
  const Experiment experiment{.name = planned->file.name,
                              .runtime = Runtime::kVirtual,
                              .planned_cases = planned->cases.size(),
                              .question = planned->file.question,
                              .quick = options.quick,
                              .advised = planned->advised};
  const fs::path directory = directory_of(options, experiment.name);
  if (!prepare(directory)) return kExitUsage;
  const auto lock =
      take(directory, options, scope_of(experiment.name, Runtime::kVirtual, planned->cases));
  if (!lock) return kExitUsage;
  const ShownResults shown =
      show_results(options, experiment, {}, runs, planned->cases, planned->names, directory);
  if (shown.written) say("outrider-lab: results are in " + directory.string());
  return !complete && shown.status == kExitOk ? int{kExitFailure} : shown.status;
}

}  // namespace outrider::lab
