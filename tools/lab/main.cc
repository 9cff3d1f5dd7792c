#include <cstdio>
#include <exception>

#include "common/dpdk/error.h"
#include "common/telemetry/exit_status.h"
#include "tools/lab/cli/cli.h"

int main(int argc, char** argv) {
  using namespace outrider;
  using namespace outrider::lab;
  const auto parsed = parse_lab_command_line(argc, argv);
  if (parsed.exit_status) return *parsed.exit_status;
  try {
    switch (parsed.options.command) {
      case LabCommand::kPlan:
        return plan_command(parsed.options);
      case LabCommand::kCheck:
        return check_command(parsed.options);
      case LabCommand::kCompare:
        return compare_command(parsed.options);
      case LabCommand::kTable:
        return table_command(parsed.options);
      case LabCommand::kMetrics:
        return metrics_command(parsed.options);
      case LabCommand::kReport:
        return report_command(parsed.options);
      case LabCommand::kFront:
        return front_command(parsed.options);
      case LabCommand::kRun:
        return run_command(parsed.options);
    }
    return kExitFailure;
  } catch (const EnvironmentError& error) {
    std::fprintf(stderr, "outrider-lab: %s\n", error.what());
    return kExitEnvironment;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "outrider-lab: %s\n", error.what());
    return kExitFailure;
  }
}
