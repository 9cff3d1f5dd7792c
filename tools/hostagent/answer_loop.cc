#include "tools/hostagent/answer_loop.h"

#include <arpa/inet.h>

#include <cerrno>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>

#include "common/telemetry/exit_status.h"
#include "tools/hostagent/agent_report.h"
#include "tools/hostagent/answer.skel.h"
#include "tools/hostagent/bpf/wire.h"
#include "tools/hostagent/clsact_filter.h"
#include "tools/hostagent/instance_lock.h"
#include "tools/hostagent/privileges.h"
#include "tools/hostagent/start_permissions.h"
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
  const Privileges privileges(options.user);
  ReportFile file(options.report);
  const auto interface = interface_named(options.interface);
  const InstanceLock lock("answer", interface);
  const StopSignals stop;
  std::unique_ptr<CostMeter> meter;
  if (options.measure_cost) meter = std::make_unique<CostMeter>();
  const auto object = load(options);
  StartPermissions permissions(bpf_map__fd(object->maps.own_addresses),
                               bpf_map__fd(object->maps.accepted), options.accept_from, interface);
  const bool tos = options.form == SignalForm::kTos;
  const int program = bpf_program__fd(tos ? object->progs.answer_tos : object->progs.answer);
  const ClsactFilter filter(interface, FilterPlace::kAnswer, program);
  privileges.drop();
  if (filter.replaced_leftover()) std::puts("replaced what a killed agent had left");
  std::printf("answering at %s, %s\n", interface.name.c_str(),
              tos ? "TOS form" : ("UDP port " + std::to_string(options.signal_port)).c_str());
  std::fflush(stdout);

  while (!stop.wait_for(StartPermissions::kRefresh)) permissions.refresh();

  const auto counts = read_counts(bpf_map__fd(object->maps.counts), kAgentAnswerCounts);
  constexpr const char* kNames[] = {"answered", "not_understood", "not_for_host", "not_accepted",
                                    "over_rate"};
  static_assert(std::size(kNames) == kAgentAnswerCounts);
  nlohmann::ordered_json report;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    std::printf("%s%s %llu", i == 0 ? "" : ", ", kNames[i],
                static_cast<unsigned long long>(counts[i]));
    report[kNames[i]] = counts[i];
  }
  std::puts("");
  report["cost"] = json_of(cost_of(program));
  file.write(report);
  return kExitOk;
}

}  // namespace outrider::agent
