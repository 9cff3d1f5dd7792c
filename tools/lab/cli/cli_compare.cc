#include <cstdio>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "common/telemetry/exit_status.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/results/read_results.h"
#include "tools/lab/summary/compare.h"

namespace outrider::lab {
namespace {

/// Reads a result. @return nothing, after printing a message, if it cannot be read
std::optional<ComparableResult> read(const std::string& path) {
  try {
    return read_comparable(open_results(path));
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "outrider-lab: %s\n", error.what());
    return std::nullopt;
  }
}

}  // namespace

int compare_command(const LabOptions& options) {
  const auto a = read(options.file);
  if (!a) return kExitUsage;
  std::error_code ignored;
  const bool one = std::filesystem::equivalent(options.file, options.other, ignored);
  const auto b = one ? a : read(options.other);
  if (!b) return kExitUsage;
  if (one) std::fputs("outrider-lab: A and B are the same results\n", stderr);
  const Comparison comparison = compare(*a, *b);
  if (a->runtime != b->runtime)
    std::fprintf(stderr, "outrider-lab: A is of the %s runtime, B of the %s one\n",
                 a->runtime.c_str(), b->runtime.c_str());
  if (a->results_version != b->results_version)
    std::fprintf(
        stderr,
        "outrider-lab: A is of version %d of the results, B of version %d: what changed may "
        "be the programs; docs/measurement.md says what they changed\n",
        a->results_version, b->results_version);
  std::fputs((options.json ? to_json(comparison) : to_text(comparison)).c_str(), stdout);
  return options.fail_on_change && comparison.changed != 0 ? kExitChanged : kExitOk;
}

}  // namespace outrider::lab
