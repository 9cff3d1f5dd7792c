#include "tools/hostagent/announce_loop.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

#include "common/telemetry/exit_status.h"
#include "tools/hostagent/agent_error.h"
#include "tools/hostagent/agent_report.h"
#include "tools/hostagent/announce.skel.h"
#include "tools/hostagent/bpf/wire.h"
#include "tools/hostagent/burst_announcer.h"
#include "tools/hostagent/clsact_filter.h"
#include "tools/hostagent/instance_lock.h"
#include "tools/hostagent/signal_socket.h"
#include "tools/hostagent/stop_signals.h"

namespace outrider {
namespace {

constexpr std::uint32_t kMaxFlows = 256;  ///< whose period is learned

struct Destroy {
  void operator()(announce_bpf* object) const noexcept { announce_bpf__destroy(object); }
  void operator()(ring_buffer* ring) const noexcept { ring_buffer__free(ring); }
};

/// The clock that bpf_ktime_get_ns() reads.
Time monotonic_now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return Time{std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec)};
}

BurstAnnouncer::Params params_of(const AgentOptions& o) {
  return {.lead = o.lead,
          .predictor = {.idle_gap = o.idle_gap, .max_period = o.max_period, .max_jobs = kMaxFlows}};
}

/// The agent of a worker: onsets in, STARTs out.
class AnnounceAgent {
 public:
  explicit AnnounceAgent(const AgentOptions& options)
      : options_(options),
        interface_(interface_named(options.interface)),
        lock_("announce", interface_),
        socket_(options.signal_port),
        announcer_(params_of(options)) {
    if (options.measure_cost) meter_ = std::make_unique<CostMeter>();
    load();
    filter_ = std::make_unique<ClsactFilter>(interface_, PacketDirection::kEgress, program());
  }

  void run();
  [[nodiscard]] nlohmann::ordered_json report() const;

 private:
  void load();
  [[nodiscard]] int program() const { return bpf_program__fd(object_->progs.announce); }
  static int take_onset(void* self, void* onset, std::size_t /*bytes*/) {
    static_cast<AnnounceAgent*>(self)->on_onset(*static_cast<const AgentOnset*>(onset));
    return 0;
  }
  void on_onset(const AgentOnset& onset);
  void announce_expected(Time now);
  void announce(const BurstAnnouncer::Announcement& a, std::uint32_t sequence,
                std::uint64_t burst_bytes);
  std::uint64_t number_of(const AgentFlowKey& flow);
  void wait();

  const AgentOptions& options_;
  NetworkInterface interface_;
  InstanceLock lock_;
  StopSignals stop_;
  SignalSocket socket_;
  BurstAnnouncer announcer_;
  std::unique_ptr<CostMeter> meter_;
  std::unique_ptr<announce_bpf, Destroy> object_;
  std::unique_ptr<ring_buffer, Destroy> ring_;
  std::unique_ptr<ClsactFilter> filter_;
  std::vector<AgentFlowKey> flows_;  ///< [number]
  bool stopped_ = false;
  std::uint64_t sent_ = 0;
  std::uint64_t not_sent_ = 0;
  std::uint64_t acks_ = 0;
};

void AnnounceAgent::load() {
  object_.reset(announce_bpf__open());
  if (!object_) refuse_load(-errno);
  object_->rodata->idle_gap_ns = static_cast<std::uint64_t>(options_.idle_gap.count());
  if (const int failed = announce_bpf__load(object_.get()); failed < 0) refuse_load(failed);
  for (const auto& server : options_.servers) {
    const AgentTarget target{server.address, server.port, 0};
    const std::uint32_t listed = 1;
    if (bpf_map_update_elem(bpf_map__fd(object_->maps.targets), &target, &listed, BPF_ANY) < 0)
      throw AgentError("more servers than the agent has room for");
  }
  ring_.reset(ring_buffer__new(bpf_map__fd(object_->maps.onsets), take_onset, this, nullptr));
  if (!ring_) throw AgentError("no ring buffer for onsets");
}

std::uint64_t AnnounceAgent::number_of(const AgentFlowKey& flow) {
  const auto same = [&flow](const AgentFlowKey& f) {
    return f.source_address == flow.source_address && f.source_port == flow.source_port &&
           f.destination_address == flow.destination_address &&
           f.destination_port == flow.destination_port;
  };
  const auto it = std::find_if(flows_.begin(), flows_.end(), same);
  if (it != flows_.end()) return static_cast<std::uint64_t>(it - flows_.begin());
  flows_.push_back(flow);
  return flows_.size() - 1;
}

void AnnounceAgent::on_onset(const AgentOnset& onset) {
  const auto number = number_of(onset.flow);
  const Time at{std::chrono::nanoseconds(onset.at_ns)};
  if (const auto a = announcer_.on_onset(number, at, monotonic_now()))
    announce(*a, onset.sequence, onset.burst_bytes);
}

void AnnounceAgent::announce_expected(Time now) {
  while (const auto a = announcer_.take(now)) {
    AgentFlow flow{};
    const int map = bpf_map__fd(object_->maps.flows);
    if (bpf_map_lookup_elem(map, &flows_[a->flow], &flow) < 0) continue;  // its connection is gone
    announce(*a, flow.next_sequence, flow.burst_bytes);
  }
}

void AnnounceAgent::announce(const BurstAnnouncer::Announcement& a, std::uint32_t sequence,
                             std::uint64_t burst_bytes) {
  const AgentFlowKey& flow = flows_[a.flow];
  const udp_signal::Signal start{
      .threshold_packets = options_.threshold_packets,
      .identity = {.job = options_.job, .worker = options_.worker, .iteration = a.iteration},
      .burst_bytes = burst_bytes,
      .due_in = a.due_in,
      .source_port = ntohs(flow.source_port),
      .destination_port = ntohs(flow.destination_port),
      .sequence = sequence,
      .counter = sent_ + not_sent_};
  ++(socket_.send(start, flow.source_address, flow.destination_address) ? sent_ : not_sent_);
}

void AnnounceAgent::wait() {
  std::array<pollfd, 3> waiting{{{ring_buffer__epoll_fd(ring_.get()), POLLIN, 0},
                                 {socket_.fd(), POLLIN, 0},
                                 {stop_.fd(), POLLIN, 0}}};
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
  if (filter_->replaced_leftover()) std::puts("replaced what a killed agent had left");
  for (const auto& server : options_.servers)
    std::printf("announcing bursts to %s:%u\n", format_address(server.address).c_str(),
                ntohs(server.port));
  std::printf("watching %s\n", interface_.name.c_str());
  std::fflush(stdout);
  while (!stopped_) {
    wait();
    ring_buffer__consume(ring_.get());
    announce_expected(monotonic_now());
    acks_ += socket_.take_acks();
  }
}

nlohmann::ordered_json AnnounceAgent::report() const {
  const auto counts = read_counts(bpf_map__fd(object_->maps.counts), kAgentAnnounceCounts);
  const auto& c = announcer_.counters();
  const auto& p = announcer_.predictions();
  return {{"payload_packets", counts[kAgentPayloads]},
          {"onsets", counts[kAgentOnsets]},
          {"onsets_lost", counts[kAgentEventsLost]},
          {"flows", flows_.size()},
          {"packets_without_flow", counts[kAgentFlowsLost]},
          {"starts_sent", sent_},
          {"starts_not_sent", not_sent_},
          {"starts_at_first_byte", c.at_first_byte},
          {"starts_ahead", c.ahead},
          {"starts_ahead_met", c.met},
          {"acks_received", acks_},
          {"periods_locked", p.locked},
          {"predictions_missed", p.missed},
          {"cost", json_of(cost_of(program()))}};
}

}  // namespace

int run_announce(const AgentOptions& options) {
  AnnounceAgent agent(options);
  agent.run();
  const auto report = agent.report();
  std::printf("%s\n", report.dump().c_str());
  write_report(options.report, report);
  return kExitOk;
}

}  // namespace outrider
