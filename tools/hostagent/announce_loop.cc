#include "tools/hostagent/announce_loop.h"

#include <arpa/inet.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>

#include "common/core/send_counter.h"
#include "common/telemetry/exit_status.h"
#include "tools/hostagent/agent_report.h"
#include "tools/hostagent/burst_announcer.h"
#include "tools/hostagent/burst_watch.h"
#include "tools/hostagent/flow_numbers.h"
#include "tools/hostagent/instance_lock.h"
#include "tools/hostagent/privileges.h"
#include "tools/hostagent/signals/ack_check.h"
#include "tools/hostagent/signals/signal_socket.h"
#include "tools/hostagent/signals/tos_signal_socket.h"
#include "tools/hostagent/stop_signals.h"

namespace outrider::agent {
namespace {

constexpr std::uint32_t kMaxPeriods = 256;  ///< most flows whose period is learned
constexpr std::size_t kMaxFlows = 1024;     ///< most flows that are remembered

/// Reads the clock that bpf_ktime_get_ns() reads.
Time monotonic_now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return Time{std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec)};
}

/// Reads the clock that signed STARTs tell [ns since 1970].
std::uint64_t wall_now_ns() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(t.tv_nsec);
}

BurstAnnouncer::Params params_of(const AgentOptions& o) {
  return {
      .lead = o.lead,
      .lead_limit = o.lead_limit,
      .predictor = {.idle_gap = o.idle_gap, .max_period = o.max_period, .max_jobs = kMaxPeriods}};
}

/// The agent of a worker. It gets onsets from the BPF program and sends STARTs.
class AnnounceAgent {
 public:
  explicit AnnounceAgent(const AgentOptions& options)
      : options_(options),
        interface_(interface_named(options.interface)),
        lock_("announce", interface_),
        announcer_(params_of(options)),
        watch_(interface_, options, is_tos() ? WatchedIngress::kTosAcks : WatchedIngress::kNothing,
               [this](const AgentOnset& o) { on_onset(o); }),
        ack_check_(options.signal_key, wall_now_ns()) {
    if (is_tos()) tos_socket_.emplace();
    else udp_socket_.emplace(options.signal_port);
  }

  void run();
  [[nodiscard]] nlohmann::ordered_json report() const;

 private:
  [[nodiscard]] bool is_tos() const { return options_.form == SignalForm::kTos; }
  void on_onset(const AgentOnset& onset);
  void announce_expected(Time now);
  void announce(const BurstAnnouncer::Announcement& a, const AgentFlowKey& flow,
                std::uint32_t sequence, std::uint64_t burst_bytes);
  bool send_message(const BurstAnnouncer::Announcement& a, const AgentFlowKey& flow,
                    std::uint32_t sequence, std::uint64_t burst_bytes);
  void take_acks();
  void wait();

  const AgentOptions& options_;
  NetworkInterface interface_;
  InstanceLock lock_;
  StopSignals stop_;
  std::optional<SignalSocket> udp_socket_;
  std::optional<TosSignalSocket> tos_socket_;
  BurstAnnouncer announcer_;
  FlowNumbers flows_{kMaxFlows};
  std::uint64_t forgotten_ = 0;
  BurstWatch watch_;
  bool stopped_ = false;
  std::uint64_t sent_ = 0;
  std::uint64_t not_sent_ = 0;
  SendCounter counter_;  ///< of signed STARTs
  AckCheck ack_check_;
  std::uint64_t acks_ = 0;
  std::uint64_t acks_not_ours_ = 0;
  std::uint64_t leads_taken_ = 0;
};

void AnnounceAgent::on_onset(const AgentOnset& onset) {
  const Time at{std::chrono::nanoseconds(onset.at_ns)};
  const auto [flow, forgotten] = flows_.number_of(onset.flow);
  if (forgotten) {
    ++forgotten_;
    announcer_.forget(*forgotten);
  }
  if (const auto a = announcer_.on_onset(flow, at, monotonic_now()))
    announce(*a, onset.flow, onset.sequence, onset.previous_bytes);
}

void AnnounceAgent::announce_expected(Time now) {
  while (const auto a = announcer_.take(now)) {
    const auto key = flows_.key(a->flow);
    const auto flow = key ? watch_.flow(*key) : std::nullopt;
    // Absent if the flow was forgotten here or in the program; its connection ended long ago.
    if (flow) announce(*a, *key, flow->next_sequence, flow->burst_bytes);
  }
}

void AnnounceAgent::announce(const BurstAnnouncer::Announcement& a, const AgentFlowKey& flow,
                             std::uint32_t sequence, std::uint64_t burst_bytes) {
  const bool sent = tos_socket_ ? tos_socket_->send(flow, sequence, options_.threshold_packets)
                                : send_message(a, flow, sequence, burst_bytes);
  ++(sent ? sent_ : not_sent_);
}

bool AnnounceAgent::send_message(const BurstAnnouncer::Announcement& a, const AgentFlowKey& flow,
                                 std::uint32_t sequence, std::uint64_t burst_bytes) {
  udp_signal::Signal start{
      .threshold_packets = options_.threshold_packets,
      .identity = {.job = options_.job, .worker = options_.worker, .iteration = a.iteration},
      .burst_bytes = burst_bytes,
      .due_in = a.due_in,
      .source_port = ntohs(flow.source_port),
      .destination_port = ntohs(flow.destination_port),
      .sequence = sequence,
      .counter = sent_ + not_sent_};
  if (options_.signal_key) {
    start.due_in = std::min(start.due_in, udp_signal::kSignedDueLimit);
    start.counter = counter_.next(wall_now_ns());
    udp_signal::sign(start, *options_.signal_key,
                     {ntohl(flow.source_address), ntohl(flow.destination_address),
                      options_.signal_port, options_.signal_port});
  }
  return udp_socket_->send(start, flow.source_address, flow.destination_address);
}

void AnnounceAgent::take_acks() {
  if (!udp_socket_) return;
  udp_socket_->take_acks([this](const udp_signal::Signal& ack, const FlowKey& datagram) {
    const bool believed = ack_check_.believes(ack, datagram);
    ++(believed ? acks_ : acks_not_ours_);
    if (believed && ack.told_lead) leads_taken_ += announcer_.take_lead(*ack.told_lead);
  });
}

void AnnounceAgent::wait() {
  const int socket = udp_socket_ ? udp_socket_->fd() : -1;  // poll ignores -1
  std::array<pollfd, 3> waiting{
      {{watch_.fd(), POLLIN, 0}, {socket, POLLIN, 0}, {stop_.fd(), POLLIN, 0}}};
  const Time wake_at = announcer_.wake_at(), now = monotonic_now();
  timespec timeout{};
  if (wake_at != kNever && wake_at > now) {
    const auto left = std::chrono::nanoseconds(wake_at - now).count();
    timeout = {left / 1'000'000'000, left % 1'000'000'000};
  }
  if (ppoll(waiting.data(), waiting.size(), wake_at == kNever ? nullptr : &timeout, nullptr) < 0)
    return;
  stopped_ = waiting[2].revents != 0;
}

void AnnounceAgent::run() {
  if (watch_.replaced_leftover()) std::puts("replaced what a killed agent had left");
  for (const auto& server : options_.servers)
    std::printf("announcing bursts to %s:%u\n", format_address(server.address).c_str(),
                ntohs(server.port));
  if (!options_.cgroup.empty())
    std::printf("announcing bursts of the processes in %s\n", options_.cgroup.c_str());
  std::printf("watching %s\n", interface_.name.c_str());
  std::fflush(stdout);
  while (!stopped_) {
    wait();
    watch_.consume();
    announce_expected(monotonic_now());
    take_acks();
  }
}

nlohmann::ordered_json AnnounceAgent::report() const {
  const auto counts = watch_.counts();
  auto out = json_of(counts);
  const auto& c = announcer_.counters();
  const auto& p = announcer_.predictions();
  out["flows"] = flows_.given();
  out["flows_forgotten"] = forgotten_;
  out["starts_sent"] = sent_;
  out["starts_not_sent"] = not_sent_;
  out["starts_at_first_byte"] = c.at_first_byte;
  out["starts_ahead"] = c.ahead;
  out["starts_ahead_met"] = c.met;
  out["acks_received"] = acks_ + counts[kAgentTosAcks];
  out["acks_not_ours"] = acks_not_ours_;
  out["leads_taken"] = leads_taken_;
  out["lead_ns"] = announcer_.lead().count();
  out["periods_locked"] = p.locked;
  out["predictions_missed"] = p.missed;
  out["cost"] = json_of(watch_.cost());
  return out;
}

}  // namespace

int run_announce(const AgentOptions& options) {
  const Privileges privileges(options.user);
  ReportFile report(options.report);
  AnnounceAgent agent(options);
  privileges.drop();
  agent.run();
  report.say(agent.report());
  return kExitOk;
}

}  // namespace outrider::agent
