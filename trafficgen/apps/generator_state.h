#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trafficgen/apps/connection_sampler.h"
#include "trafficgen/apps/generator.h"
#include "trafficgen/background/capture_player.h"
#include "trafficgen/background/flow_arrivals.h"
#include "trafficgen/background/flow_sources.h"
#include "trafficgen/background/request_flows.h"
#include "trafficgen/background/transfer_source.h"
#include "trafficgen/config/transport_reserve.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/hosts/neighbour_edge.h"
#include "trafficgen/measure/goodput.h"
#include "trafficgen/workload/job/job.h"
#include "trafficgen/workload/job/tensorlights.h"

namespace outrider::tg {

/// The parts of a Generator, for its own sources only. Vectors of hosts, jobs and traffic have an
/// element for each of the configuration; null where another lcore has it.
struct Generator::State {
  State(const GeneratorConfig& c, EventLoop& l, rte_mempool& p, Options o)
      : config(c),
        loop(l),
        pool(p),
        options(std::move(o)),
        memory(transport_reserve(traffic_of(c, options.share))),
        goodput(c.bin, c.max_bins) {}

  Host* host_named(const std::string& name) {
    const auto it = std::ranges::find(config.hosts, name, &HostConfig::name);
    return hosts[static_cast<std::size_t>(it - config.hosts.begin())].get();
  }
  std::vector<Host*> hosts_named(const std::vector<std::string>& names) {
    std::vector<Host*> found;
    found.reserve(names.size());
    for (const auto& name : names) found.push_back(host_named(name));
    return found;
  }
  std::optional<std::uint32_t> index_of(std::uint32_t address) const noexcept {
    const auto it = std::ranges::lower_bound(by_address, address, {},
                                             &std::pair<std::uint32_t, std::uint32_t>::first);
    if (it == by_address.end() || it->first != address) return std::nullopt;
    return it->second;
  }
  /// @return nullptr if no host of this lcore behind that device has the address
  Host* host_at(std::uint32_t address, std::uint32_t device) const noexcept {
    const auto index = index_of(address);
    return index && device_of[*index] == device ? hosts[*index].get() : nullptr;
  }
  /// @return where packets for it go; nullptr if no other lcore's host behind that device has it
  Node* elsewhere(std::uint32_t address, std::uint32_t device) const noexcept {
    const auto index = index_of(address);
    if (others.empty() || !index || device_of[*index] != device) return nullptr;
    return others[options.share.plan.of_host[*index]];
  }
  [[nodiscard]] bool owns(const std::string& host) const {
    return options.share.has_host(config, host);
  }
  /// @throws std::runtime_error if the key's file is no key file
  SignalKey signal_key(const std::string& name) const;
  const TransportConfig& transport(const std::string& name) const {
    return *std::ranges::find(config.transports, name, &TransportConfig::name);
  }
  /// Takes a pause frame, for all hosts behind the device. @return false if it is none, or no host
  /// there has a priority
  bool take_pause(std::uint32_t device, Packet* packet, Time now) noexcept;
  void make_hosts();
  void make_neighbours(std::uint32_t device);
  void make_jobs();
  void make_tensorlights();
  /// Returns the class of a job at the NIC of each of its servers; none without bands.
  std::vector<std::uint8_t> nic_classes_of(const Job::Setup& setup);
  void make_job(const JobConfig& job, std::uint16_t draws_as, std::uint32_t first_iteration);
  void make_long_flows(const LongFlowsConfig& flows);
  std::unique_ptr<LongFlowSource> long_flow(const LongFlowsConfig& flows, std::size_t pair,
                                            std::uint32_t index);
  void make_requests(const RequestFlowsConfig& flows);
  void make_transfer(const TransferConfig& transfer);
  void make_flow_group(const FlowsConfig& flows);
  std::unique_ptr<FlowGroupSource> tcp_group(const FlowsConfig& flows, std::uint32_t index);
  std::unique_ptr<FlowGroupSource> roce_group(const FlowsConfig& flows, std::uint32_t index);
  [[nodiscard]] std::vector<FlowHost> described(const std::vector<Host*>& side) const;
  void make_capture(const CaptureConfig& capture);

  /// Sets the counts of packets of hosts and devices, whatever became of them.
  /// @pre they are zero
  void add_packets(TrafficLive& live) const noexcept;
  /// Adds what is counted, and what is recorded in the order of the file, of all lcores.
  static void add_counts(const std::vector<const State*>& parts, GeneratorReport& r);
  static void add_records(const std::vector<const State*>& parts, GeneratorReport& r);

  GeneratorConfig config;
  EventLoop& loop;
  rte_mempool& pool;
  Options options;
  TransportMemory memory;  ///< outlives the hosts
  GoodputSeries goodput;
  std::vector<std::unique_ptr<Host>> hosts;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> by_address;  ///< sorted
  std::vector<std::uint32_t> device_of;                             ///< [hosts]
  std::vector<std::vector<Host*>> behind;                           ///< [devices] own hosts
  std::vector<std::unique_ptr<NeighbourEdge>> neighbours;           ///< [devices] or null
  std::vector<std::unique_ptr<Job>> jobs;
  /// [hosts][jobs with a server there, in order of their classes from 1]: bytes of the model
  std::vector<std::vector<std::uint64_t>> served_bytes;
  std::vector<std::unique_ptr<TensorLights>> tensorlights;
  std::vector<std::unique_ptr<LongFlowSource>> long_flows;
  std::vector<std::unique_ptr<RequestFlows>> requests;
  std::vector<std::unique_ptr<TransferSource>> transfers;
  std::vector<std::unique_ptr<FlowGroupSource>> flow_groups;
  std::vector<std::unique_ptr<CapturePlayer>> captures;
  std::unique_ptr<ConnectionSampler> sampler;  ///< only with connection_sample_period
  std::uint32_t next_owner = 0;  ///< first owner id of the next job; 0: attribution is off
  std::vector<Node*> others;     ///< [lcores] or null, see connect_lcore(); empty: none
  std::uint64_t unknown_host = 0;
  std::uint64_t malformed = 0;
  std::uint64_t not_ipv4 = 0;
  std::uint64_t pauses_taken = 0;  ///< from devices
};

}  // namespace outrider::tg
