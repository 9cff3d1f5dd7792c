#include "tools/hostagent/answer_loop.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "common/telemetry/exit_status.h"
#include "tools/hostagent/agent_error.h"
#include "tools/hostagent/agent_report.h"
#include "tools/hostagent/answer.skel.h"
#include "tools/hostagent/bpf/wire.h"
#include "tools/hostagent/clsact_filter.h"
#include "tools/hostagent/instance_lock.h"
#include "tools/hostagent/own_addresses.h"
#include "tools/hostagent/privileges.h"
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

/// Writes into the program's maps what it answers for and whom. Does nothing while that stays.
class Permissions {
 public:
  Permissions(const answer_bpf& object, const AgentOptions& options,
              const NetworkInterface& interface)
      : own_map_(bpf_map__fd(object.maps.own_addresses)),
        accepted_map_(bpf_map__fd(object.maps.accepted)),
        options_(options),
        interface_(interface) {
    for (const auto& prefix : options.accept_from) accept(prefix);
    refresh();
  }

  /// Follows the host's addresses. Throws AgentError.
  void refresh() {
    HostAddresses now = addresses_of_host(interface_);
    if (now == known_) return;
    for (const std::uint32_t address : now.own) {
      const std::uint32_t key = htonl(address);
      put(own_map_, &key);
    }
    for (const std::uint32_t address : known_.own) {
      const std::uint32_t key = htonl(address);
      if (!std::ranges::binary_search(now.own, address)) bpf_map_delete_elem(own_map_, &key);
    }
    if (options_.accept_from.empty()) {
      for (const auto& prefix : known_.networks)
        if (std::ranges::find(now.networks, prefix) == now.networks.end()) {
          const AgentPrefix key = key_of(prefix);
          bpf_map_delete_elem(accepted_map_, &key);
        }
      for (const auto& prefix : now.networks) accept(prefix);
    }
    known_ = std::move(now);
  }

 private:
  static AgentPrefix key_of(const Prefix& prefix) noexcept {
    return {.bits = prefix.length, .address = htonl(prefix.address)};
  }
  static void put(int map, const void* key) {
    constexpr std::uint8_t kThere = 1;
    if (const int failed = bpf_map_update_elem(map, key, &kThere, BPF_ANY); failed != 0)
      throw AgentError(std::string("cannot tell the program an address: ") + std::strerror(errno));
  }
  void accept(const Prefix& prefix) const {
    const AgentPrefix key = key_of(prefix);
    put(accepted_map_, &key);
  }

  int own_map_;
  int accepted_map_;
  const AgentOptions& options_;
  const NetworkInterface& interface_;
  HostAddresses known_{};
};

/// Waits for a stop signal, and follows the host's addresses until it comes.
void wait_for_stop(const StopSignals& stop, Permissions& permissions) {
  constexpr int kRefresh_ms = 1000;
  pollfd waiting{stop.fd(), POLLIN, 0};
  for (;;) {
    const int ready = poll(&waiting, 1, kRefresh_ms);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return;
    permissions.refresh();
  }
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
  Permissions permissions(*object, options, interface);
  const bool tos = options.form == SignalForm::kTos;
  const int program = bpf_program__fd(tos ? object->progs.answer_tos : object->progs.answer);
  const ClsactFilter filter(interface, FilterPlace::kAnswer, program);
  privileges.drop();
  if (filter.replaced_leftover()) std::puts("replaced what a killed agent had left");
  std::printf("answering at %s, %s\n", interface.name.c_str(),
              tos ? "TOS form" : ("UDP port " + std::to_string(options.signal_port)).c_str());
  std::fflush(stdout);

  wait_for_stop(stop, permissions);

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
