#include <cstdio>
#include <exception>

#include "common/dpdk/eal/this_machine.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/standard_output.h"
#include "tools/doctor/cli.h"

int main(int argc, char** argv) {
  using namespace outrider;
  keep_cause_of_failed_writes();
  const auto parsed = parse_doctor_command_line(argc, argv);
  if (parsed.exit_status) return *parsed.exit_status;
  try {
    return run_doctor(parsed.options, this_machine());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "outrider-doctor: %s\n", error.what());
    return kExitFailure;
  }
}
