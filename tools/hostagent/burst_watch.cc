#include "tools/hostagent/burst_watch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "tools/hostagent/agent_error.h"
#include "tools/hostagent/watch.skel.h"

namespace outrider::agent {
namespace {

int take_onset(void* on_onset, void* onset, std::size_t /*bytes*/) {
  (*static_cast<BurstWatch::OnOnset*>(on_onset))(*static_cast<const AgentOnset*>(onset));
  return 0;
}

/// Puts the cgroup into the map, which keeps it even if the directory is removed.
void name_cgroup(int map, const std::string& directory) {
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) throw AgentError("--cgroup: " + directory + ": " + std::strerror(errno));
  const std::uint32_t only = 0;
  const int failed = bpf_map_update_elem(map, &only, &fd, BPF_ANY);
  close(fd);
  if (failed < 0)
    throw AgentError("--cgroup: " + directory +
                     ": is no directory of cgroup v2; mount -t cgroup2 shows where these are");
}

}  // namespace

void BurstWatch::Destroy::operator()(watch_bpf* object) const noexcept {
  watch_bpf__destroy(object);
}
void BurstWatch::Destroy::operator()(ring_buffer* ring) const noexcept { ring_buffer__free(ring); }

BurstWatch::BurstWatch(const NetworkInterface& interface, const AgentOptions& options,
                       WatchedIngress incoming, OnOnset on_onset)
    : on_onset_(std::move(on_onset)) {
  if (options.measure_cost) meter_ = std::make_unique<CostMeter>();
  load(options);
  const auto attach = [&](FilterPlace place, const bpf_program* program) {
    return std::make_unique<ClsactFilter>(interface, place, bpf_program__fd(program));
  };
  egress_ = attach(FilterPlace::kEgress, object_->progs.watch_egress);
  if (incoming == WatchedIngress::kPulls)
    ingress_ = attach(FilterPlace::kAnswer, object_->progs.watch_ingress);
  if (incoming == WatchedIngress::kTosAcks)
    ingress_ = attach(FilterPlace::kHear, object_->progs.hear_acks);
}

BurstWatch::~BurstWatch() = default;

void BurstWatch::load(const AgentOptions& options) {
  object_.reset(watch_bpf__open());
  if (!object_) refuse_load(-errno);
  object_->rodata->by_cgroup = options.cgroup.empty() ? 0 : 1;
  object_->rodata->idle_gap_ns = static_cast<std::uint64_t>(options.idle_gap.count());
  if (const int failed = watch_bpf__load(object_.get()); failed < 0) refuse_load(failed);
  if (!options.cgroup.empty()) name_cgroup(bpf_map__fd(object_->maps.cgroup), options.cgroup);
  for (const auto& server : options.servers) {
    const AgentTarget target{server.address, server.port, 0};
    const std::uint32_t listed = 1;
    if (bpf_map_update_elem(bpf_map__fd(object_->maps.targets), &target, &listed, BPF_ANY) < 0)
      throw AgentError("there are more servers than the 256 that the agent has room for");
  }
  ring_.reset(ring_buffer__new(bpf_map__fd(object_->maps.onsets), take_onset, &on_onset_, nullptr));
  if (!ring_) throw AgentError("no ring buffer for onsets");
}

int BurstWatch::fd() const noexcept { return ring_buffer__epoll_fd(ring_.get()); }
void BurstWatch::consume() { ring_buffer__consume(ring_.get()); }

std::optional<AgentFlow> BurstWatch::flow(const AgentFlowKey& key) const {
  AgentFlow flow{};
  if (bpf_map_lookup_elem(bpf_map__fd(object_->maps.flows), &key, &flow) < 0) return std::nullopt;
  return flow;
}

std::vector<std::pair<AgentFlowKey, AgentFlow>> BurstWatch::flows() const {
  std::vector<std::pair<AgentFlowKey, AgentFlow>> all;
  const int map = bpf_map__fd(object_->maps.flows);
  AgentFlowKey key{};
  for (const AgentFlowKey* from = nullptr; bpf_map_get_next_key(map, from, &key) == 0; from = &key)
    if (const auto known = flow(key)) all.emplace_back(key, *known);
  return all;
}

std::vector<std::uint64_t> BurstWatch::counts() const {
  return read_counts(bpf_map__fd(object_->maps.counts), kAgentWatchCounts);
}

ProgramCost BurstWatch::cost() const { return cost_of_all(object_->obj); }

bool BurstWatch::replaced_leftover() const noexcept {
  return egress_->replaced_leftover() || (ingress_ && ingress_->replaced_leftover());
}

}  // namespace outrider::agent
