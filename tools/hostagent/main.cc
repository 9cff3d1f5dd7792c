#include <bpf/libbpf.h>

#include <cstdio>
#include <exception>

#include "common/telemetry/exit_status.h"
#include "common/telemetry/standard_output.h"
#include "tools/hostagent/agent_error.h"
#include "tools/hostagent/announce_loop.h"
#include "tools/hostagent/answer_loop.h"
#include "tools/hostagent/dctcp_loop.h"
#include "tools/hostagent/hold_loop.h"
#include "tools/hostagent/options.h"
#include "tools/hostagent/record_loop.h"

namespace outrider::agent {
namespace {

int run(const AgentOptions& options) {
  switch (options.command) {
    case AgentCommand::kAnnounce:
      return run_announce(options);
    case AgentCommand::kAnswer:
      return run_answer(options);
    case AgentCommand::kRecord:
      return run_record(options);
    case AgentCommand::kHold:
      return run_hold(options);
    case AgentCommand::kDctcp:
      return run_dctcp(options);
  }
  return kExitFailure;
}

}  // namespace
}  // namespace outrider::agent

int main(int argc, char** argv) {
  using namespace outrider;
  using namespace outrider::agent;
  keep_cause_of_failed_writes();
  const auto parsed = parse_agent_command_line(argc, argv);
  if (parsed.exit_status) return *parsed.exit_status;
  // Silences libbpf, because AgentError reports the same.
  libbpf_set_print([](libbpf_print_level, const char*, va_list) { return 0; });
  try {
    const int status = run(parsed.options);
    flush_standard_output();
    return status;
  } catch (const AgentError& error) {
    std::fprintf(stderr, "outrider-hostagent: %s\n", error.what());
    return kExitEnvironment;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "outrider-hostagent: %s\n", error.what());
    return kExitFailure;
  }
}
