#include <cstdio>
#include <exception>

#include "common/dpdk/eal/error.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/standard_output.h"
#include "tools/lab/cli/cli.h"

namespace outrider::lab {
namespace {

int run(const LabOptions& options) {
  switch (options.command) {
    case LabCommand::kPlan:
      return plan_command(options);
    case LabCommand::kConvert:
      return convert_command(options);
    case LabCommand::kCheck:
      return check_command(options);
    case LabCommand::kNew:
      return new_command(options);
    case LabCommand::kCompare:
      return compare_command(options);
    case LabCommand::kTable:
      return table_command(options);
    case LabCommand::kMetrics:
      return metrics_command(options);
    case LabCommand::kReport:
      return report_command(options);
    case LabCommand::kAnswer:
      return answer_command(options);
    case LabCommand::kSearch:
      return search_command(options);
    case LabCommand::kBest:
      return best_command(options);
    case LabCommand::kAdvise:
      return advise_command(options);
    case LabCommand::kRun:
      return run_command(options);
    case LabCommand::kMerge:
      return merge_command(options);
  }
  return kExitFailure;
}

}  // namespace
}  // namespace outrider::lab

int main(int argc, char** argv) {
  using namespace outrider;
  using namespace outrider::lab;
  keep_cause_of_failed_writes();
  const auto parsed = parse_lab_command_line(argc, argv);
  if (parsed.exit_status) return *parsed.exit_status;
  try {
    const int status = run(parsed.options);
    flush_standard_output();
    return status;
  } catch (const EnvironmentError& error) {
    std::fprintf(stderr, "outrider-lab: %s\n", error.what());
    return kExitEnvironment;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "outrider-lab: %s\n", error.what());
    return kExitFailure;
  }
}
