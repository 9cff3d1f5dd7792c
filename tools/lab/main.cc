#include <cstdio>
#include <exception>

#include "common/dpdk/eal/error.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/standard_output.h"
#include "tools/lab/cli/cli.h"

int main(int argc, char** argv) {
  using namespace outrider;
  using namespace outrider::lab;
  keep_cause_of_failed_writes();
  const auto parsed = parse_lab_command_line(argc, argv);
  if (parsed.exit_status) return *parsed.exit_status;
  try {
    const int status = parsed.options.command.run(parsed.options);
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
