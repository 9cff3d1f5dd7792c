#include "tools/hostagent/dctcp_loop.h"

#include <poll.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "common/telemetry/exit_status.h"
#include "tools/hostagent/agent_report.h"
#include "tools/hostagent/bpf/wire.h"
#include "tools/hostagent/congestion_control.h"
#include "tools/hostagent/privileges.h"
#include "tools/hostagent/stop_signals.h"

namespace outrider::agent {
namespace {

nlohmann::ordered_json report_of(const CongestionControl& control) {
  const auto counts = control.counts();
  return {{"connections", counts[kAgentDctcpConnections]},
          {"connections_without_ecn", counts[kAgentDctcpWithoutEcn]},
          {"acked_bytes", counts[kAgentDctcpAckedBytes]},
          {"echoed_bytes", counts[kAgentDctcpEchoedBytes]},
          {"mark_reductions", counts[kAgentDctcpMarkReductions]},
          {"loss_reductions", counts[kAgentDctcpLossReductions]},
          {"ce_changes", counts[kAgentDctcpCeChanges]},
          {"cost", json_of(control.cost())}};
}

}  // namespace

int run_dctcp(const AgentOptions& options) {
  const Privileges privileges(options.user);
  ReportFile report(options.report);
  const StopSignals stop;
  std::unique_ptr<CostMeter> meter;
  if (options.measure_cost) meter = std::make_unique<CostMeter>();
  const CongestionControl control(options.allow);
  privileges.drop();
  std::printf("registered %s, for %s\n", AGENT_DCTCP_NAME,
              options.allow ? "every program" : "programs with CAP_NET_ADMIN");
  std::fflush(stdout);

  pollfd waiting{stop.fd(), POLLIN, 0};
  while (poll(&waiting, 1, -1) < 0 && errno == EINTR) continue;
  report.say(report_of(control));
  return kExitOk;
}

}  // namespace outrider::agent
