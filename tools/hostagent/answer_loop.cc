#include "tools/hostagent/answer_loop.h"

#include <arpa/inet.h>
#include <poll.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>

#include "common/telemetry/exit_status.h"
#include "tools/hostagent/agent_error.h"
#include "tools/hostagent/agent_report.h"
#include "tools/hostagent/answer.skel.h"
#include "tools/hostagent/bpf/wire.h"
#include "tools/hostagent/clsact_filter.h"
#include "tools/hostagent/instance_lock.h"
#include "tools/hostagent/stop_signals.h"

namespace outrider::agent {
namespace {

struct Destroy {
  void operator()(answer_bpf* object) const noexcept { answer_bpf__destroy(object); }
};

std::unique_ptr<answer_bpf, Destroy> load(const AgentOptions& options) {
  std::unique_ptr<answer_bpf, Destroy> object(answer_bpf__open());
  if (!object) refuse_load(-errno);
  object->rodata->signal_port = htons(options.signal_port);
  bpf_program__set_autoload(object->progs.answer, options.form == SignalForm::kUdp);
  bpf_program__set_autoload(object->progs.answer_tos, options.form == SignalForm::kTos);
  if (const int failed = answer_bpf__load(object.get()); failed < 0) refuse_load(failed);
  return object;
}

}  // namespace

int run_answer(const AgentOptions& options) {
  const auto interface = interface_named(options.interface);
  const InstanceLock lock("answer", interface);
  const StopSignals stop;
  std::unique_ptr<CostMeter> meter;
  if (options.measure_cost) meter = std::make_unique<CostMeter>();
  const auto object = load(options);
  const bool tos = options.form == SignalForm::kTos;
  const int program = bpf_program__fd(tos ? object->progs.answer_tos : object->progs.answer);
  const ClsactFilter filter(interface, FilterPlace::kAnswer, program);
  if (filter.replaced_leftover()) std::puts("replaced what a killed agent had left");
  std::printf("answering at %s, %s\n", interface.name.c_str(),
              tos ? "TOS form" : ("UDP port " + std::to_string(options.signal_port)).c_str());
  std::fflush(stdout);

  pollfd waiting{stop.fd(), POLLIN, 0};
  while (poll(&waiting, 1, -1) < 0 && errno == EINTR) continue;

  const auto counts = read_counts(bpf_map__fd(object->maps.counts), kAgentAnswerCounts);
  std::printf("answered %llu, not understood %llu\n",
              static_cast<unsigned long long>(counts[kAgentAnswered]),
              static_cast<unsigned long long>(counts[kAgentNotUnderstood]));
  write_report(options.report, {{"answered", counts[kAgentAnswered]},
                                {"not_understood", counts[kAgentNotUnderstood]},
                                {"cost", json_of(cost_of(program))}});
  return kExitOk;
}

}  // namespace outrider::agent
