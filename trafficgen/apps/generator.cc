#include "trafficgen/apps/generator.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <stdexcept>
#include <utility>

#include "common/config/addresses.h"
#include "common/config/signal_key_file.h"
#include "common/core/random.h"
#include "common/net/headers.h"
#include "common/net/pause_frame.h"
#include "trafficgen/apps/generator_state.h"
#include "trafficgen/background/flow_group.h"
#include "trafficgen/background/long_flow.h"
#include "trafficgen/background/roce_flow_group.h"
#include "trafficgen/background/roce_long_flow.h"
#include "trafficgen/background/roce_transfer.h"
#include "trafficgen/background/transfer.h"
#include "trafficgen/config/full_packet.h"
#include "trafficgen/hosts/expected_flows.h"
#include "trafficgen/workload/config/model_profile.h"
#include "trafficgen/workload/plan/release_profile.h"
#include "trafficgen/workload/plan/shards.h"

namespace outrider::tg {

namespace {

/// Plans when gradients are ready, and in which pieces they leave.
void plan_release(const JobConfig& job, const ModelProfile& model, Job::Setup& setup) {
  const bool by_tensor = job.policy.granularity == Granularity::kTensor;
  if (job.collective == Collective::kPs &&
      (job.send_policy != SendPolicyKind::kFifo || by_tensor || setup.mlt)) {
    setup.pieces = pieces_of(model, job.servers.size(), job.shard_by);
    if (const auto bytes = partition_of(job.send_policy, job.policy))
      setup.pieces = cut_partitions(setup.pieces, *bytes);
  }
  if (!model.compute() || job.schedule != Schedule::kClosedLoop) return;
  setup.ready_shares = ready_shares(model);
  setup.forward_share = seconds(*model.forward) / seconds(*model.compute());
  setup.recorded = RecordedTimes(model);
}

/// Returns the number of owners: one for each worker of each job, from 1. Each arrival of a job
/// counts as a job.
std::uint32_t owners_of(const GeneratorConfig& config) noexcept {
  std::size_t owners = 0;
  for (const auto& job : config.jobs) owners += job.workers.size() * (1 + job.arrivals.size());
  return config.attribution ? static_cast<std::uint32_t>(owners) : 0;
}

/// Calls `act` for each of the objects that this lcore has.
template <class Object, class Act>
void for_own(const std::vector<std::unique_ptr<Object>>& objects, Act act) {
  for (const auto& one : objects)
    if (one != nullptr) act(*one);
}

/// Returns a number of half-open connections that the hosts' own traffic never reaches at one host.
std::uint32_t max_half_open(const GeneratorConfig& config, std::uint32_t expected) {
  std::uint64_t own = std::uint64_t{Host::Setup{}.max_half_open} + expected;
  for (const FlowsConfig& flows : config.flows) own += flows.max_open.value_or(kMaxOpenFlows);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(own, std::numeric_limits<std::uint32_t>::max()));
}
}  // namespace

void Generator::State::make_hosts() {
  const std::vector<std::uint32_t> expected = expected_connections(config);
  behind.resize(config.devices.size());
  for (std::uint32_t i = 0; i < config.hosts.size(); ++i) {
    const HostConfig& h = config.hosts[i];
    const std::uint32_t address = *parse_ipv4(h.address).value;
    by_address.emplace_back(address, i);
    device_of.push_back(tg::device_of(config, h));
    hosts.emplace_back();
    if (!options.share.has_host(i)) continue;
    hosts.back() = std::make_unique<Host>(
        Host::Setup{.name = h.name,
                    .address = address,
                    .rate = h.rate,
                    .mtu_bytes = h.mtu_bytes,
                    .tso_bytes = h.tso_bytes,
                    .send_jitter = config.send_jitter,
                    .seed = config.seed,
                    .sequence_key = options.sequence_key.value_or(sequence_key_of(config.seed)),
                    .index = i,
                    .full_payload = options.full_payload,
                    .payload = config.payload,
                    .expected_connections = expected[i],
                    .max_half_open = max_half_open(config, expected[i]),
                    .owners = owners_of(config)},
        options.loops.empty() ? loop : *options.loops[i], pool, memory);
    if (device_of[i] < behind.size()) behind[device_of[i]].push_back(hosts.back().get());
  }
  std::ranges::sort(by_address);
}

/// Makes an edge for a device that uses ARP or has configured neighbours.
void Generator::State::make_neighbours(std::uint32_t device) {
  const GeneratorDeviceConfig& d = config.devices[device];
  NeighbourEdge::Setup setup{.device = d.name, .table = {.ask = d.arp.arp}};
  for (const auto& n : config.neighbours)
    if (n.device == d.name)
      setup.table.fixed.push_back({*parse_ipv4(n.address).value, *parse_mac(n.mac).value});
  neighbours.emplace_back();
  if (!options.share.has_device(device)) return;
  if (!d.arp.arp && setup.table.fixed.empty()) return;
  if (d.arp.subnet) setup.table.subnet = parse_prefix(*d.arp.subnet).value;
  if (d.arp.gateway) setup.table.gateway = parse_ipv4(*d.arp.gateway).value;
  for (std::size_t i = 0; i < config.hosts.size(); ++i) {
    setup.hosts.push_back(*parse_ipv4(config.hosts[i].address).value);
    if (d.arp.arp && device_of[i] == device) setup.own.push_back(setup.hosts.back());
  }
  neighbours.back() = std::make_unique<NeighbourEdge>(setup, loop, pool);
}

SignalKey Generator::State::signal_key(const std::string& name) const {
  if (const auto given = options.signal_keys.find(name); given != options.signal_keys.end())
    return given->second;
  const auto read = read_signal_key(name);
  if (!read) throw std::runtime_error(format_issues(name, read.issues));
  return *read.config;
}

/// Makes the jobs. Jobs of the file keep their positions; their later arrivals follow.
void Generator::State::make_jobs() {
  for (std::size_t i = 0; i < config.jobs.size(); ++i)
    make_job(config.jobs[i], static_cast<std::uint16_t>(i), 0);
  for (std::size_t i = 0; i < config.jobs.size(); ++i)
    for (std::size_t n = 1; n <= config.jobs[i].arrivals.size(); ++n)
      make_job(arrival(config.jobs[i], n), static_cast<std::uint16_t>(i),
               static_cast<std::uint32_t>(n) * config.jobs[i].iterations);
}

void Generator::State::make_job(const JobConfig& job, std::uint16_t draws_as,
                                std::uint32_t first_iteration) {
  const std::uint32_t first_owner = next_owner;
  if (next_owner != 0) next_owner += static_cast<std::uint32_t>(job.workers.size());
  jobs.emplace_back();
  if (!options.share.has(config, job)) return;
  Job::Setup setup{.config = job,
                   .id = static_cast<std::uint16_t>(jobs.size() - 1),
                   .tcp = transport(job.transport).tcp,
                   .workers = hosts_named(job.workers),
                   .servers = hosts_named(job.servers),
                   .draws_as = draws_as,
                   .first_iteration = first_iteration,
                   .seed = config.seed,
                   .first_owner = first_owner};
  if (transport(job.transport).protocol == TransportProtocol::kMlt)
    setup.mlt = transport(job.transport).mlt;
  if (transport(job.transport).protocol == TransportProtocol::kRoce)
    setup.roce = transport(job.transport).roce;
  if (job.announce.signal_key) setup.signal_key = signal_key(*job.announce.signal_key);
  setup.compute = job.compute.value_or(Duration::zero());
  setup.burst_bytes = job.burst_bytes.value_or(0);
  if (!job.servers.empty()) setup.shard_bytes = even_shards(setup.burst_bytes, job.servers.size());
  if (job.model) {
    const auto profile = load_model_profile(*job.model);
    if (!profile) throw std::runtime_error(format_issues(*job.model, profile.issues));
    setup.burst_bytes = profile.config->total_bytes;
    if (!job.servers.empty())
      setup.shard_bytes = shard_bytes_of(*profile.config, job.servers.size(), job.shard_by);
    plan_release(job, *profile.config, setup);
    if (!job.compute) {
      const auto compute = profile.config->compute();
      if (!compute && job.schedule == Schedule::kClosedLoop)
        throw std::runtime_error(*job.model + ": has no compute time; set job.compute");
      setup.compute = compute.value_or(Duration::zero());
    }
  }
  if (setup.burst_bytes < parameters_of(job.learner))
    throw std::runtime_error(*job.model + ": has fewer bytes than job.learner has parameters");
  setup.nic_classes = nic_classes_of(setup);
  jobs.back() = std::make_unique<Job>(setup, goodput);
}

std::vector<std::uint8_t> Generator::State::nic_classes_of(const Job::Setup& setup) {
  if (config.tensorlights.mode == TensorLightsMode::kOff) return {};
  served_bytes.resize(hosts.size());
  std::vector<std::uint8_t> classes;
  for (std::size_t s = 0; s < setup.servers.size(); ++s) {
    const auto same = std::ranges::find(setup.servers, setup.servers[s]);
    const auto before = static_cast<std::size_t>(same - setup.servers.begin());
    if (before < s) {  // another server of this job is on the same host
      classes.push_back(classes[before]);
      continue;
    }
    auto& here = served_bytes[*index_of(setup.servers[s]->address())];
    here.push_back(setup.burst_bytes);
    classes.push_back(static_cast<std::uint8_t>(here.size()));
  }
  return classes;
}

void Generator::State::make_tensorlights() {
  for (std::size_t h = 0; h < served_bytes.size(); ++h)
    if (!served_bytes[h].empty())
      tensorlights.push_back(
          std::make_unique<TensorLights>(config.tensorlights, served_bytes[h], *hosts[h]));
}

void Generator::State::make_long_flows(const LongFlowsConfig& flows) {
  for (std::size_t pair = 0; pair < flows.from.size(); ++pair) {
    if (!owns(flows.from[pair])) {
      long_flows.resize(long_flows.size() + flows.flows_per_pair);
      continue;
    }
    for (std::uint32_t n = 0; n < flows.flows_per_pair; ++n)
      long_flows.push_back(long_flow(flows, pair, static_cast<std::uint32_t>(long_flows.size())));
  }
}

std::unique_ptr<LongFlowSource> Generator::State::long_flow(const LongFlowsConfig& flows,
                                                            std::size_t pair, std::uint32_t index) {
  const TransportConfig& how = transport(flows.transport);
  const std::string name = flows.name + " " + std::to_string(index);
  const Time start = long_flow_start(flows.start, flows.start_spread, config.seed, index);
  Host* from = host_named(flows.from[pair]);
  Host* to = host_named(flows.to[pair]);
  if (how.protocol == TransportProtocol::kRoce)
    return std::make_unique<RoceLongFlow>(
        RoceLongFlow::Setup{
            .name = name,
            .stream = {.from = from, .to = to, .priority = how.tcp.priority, .seed = config.seed},
            .roce = how.roce,
            .start = start},
        goodput);
  TcpConfig tcp = how.tcp;
  tcp.mss_bytes = std::min(from->mtu_bytes(), to->mtu_bytes()) - kIpAndTcpBytes;
  return std::make_unique<LongFlow>(
      LongFlow::Setup{.name = name,
                      .from = from,
                      .to = to,
                      .port = static_cast<std::uint16_t>(flows.tcp_port + index),
                      .tcp = tcp,
                      .start = start},
      goodput);
}

void Generator::State::make_requests(const RequestFlowsConfig& flows) {
  for (std::size_t pair = 0; pair < flows.from.size(); ++pair) {
    requests.emplace_back();
    if (!owns(flows.from[pair])) continue;
    Host* from = host_named(flows.from[pair]);
    Host* to = host_named(flows.to[pair]);
    RequestFlows::Setup setup{.config = flows,
                              .name = flows.name + " " + from->name() + " " + to->name(),
                              .from = from,
                              .to = to,
                              .tcp = transport(flows.transport).tcp,
                              .seed = config.seed,
                              .index = static_cast<std::uint32_t>(requests.size() - 1)};
    setup.tcp.mss_bytes = std::min(from->mtu_bytes(), to->mtu_bytes()) - kIpAndTcpBytes;
    requests.back() = std::make_unique<RequestFlows>(setup, goodput);
  }
}

void Generator::State::make_transfer(const TransferConfig& transfer) {
  transfers.emplace_back();
  if (!options.share.has(config, transfer)) return;
  const auto known = [this](const std::string& end) {
    return std::ranges::find(config.hosts, end, &HostConfig::name) != config.hosts.end();
  };
  const auto find = [&](const std::string& end, Host*& host, std::uint32_t& address) {
    if (known(end)) host = host_named(end);
    address = host != nullptr ? host->address() : *parse_ipv4(end).value;
  };
  const auto make = [&]<class Kind>(typename Kind::Setup setup) {
    find(transfer.from, setup.from, setup.from_address);
    find(transfer.to, setup.to, setup.to_address);
    transfers.back() = std::make_unique<Kind>(setup, goodput);
  };
  const TransportConfig& how = transport(transfer.transport);
  if (how.protocol == TransportProtocol::kRoce)
    make.operator()<RoceTransfer>(
        {.config = transfer, .roce = how.roce, .priority = how.tcp.priority, .seed = config.seed});
  else make.operator()<Transfer>({.config = transfer, .tcp = how.tcp});
}

void Generator::State::make_flow_group(const FlowsConfig& flows) {
  const auto index = static_cast<std::uint32_t>(flow_groups.size());
  flow_groups.emplace_back();
  if (!options.share.has(config, flows)) return;
  flow_groups.back() = transport(flows.transport).protocol == TransportProtocol::kRoce
                           ? roce_group(flows, index)
                           : tcp_group(flows, index);
}

std::vector<FlowHost> Generator::State::described(const std::vector<Host*>& side) const {
  std::vector<FlowHost> all;
  all.reserve(side.size());
  for (const Host* host : side) all.push_back({host->address(), host->rate()});
  return all;
}

std::unique_ptr<FlowGroupSource> Generator::State::tcp_group(const FlowsConfig& flows,
                                                             std::uint32_t index) {
  FlowGroup::Setup setup{.name = flows.name,
                         .from = hosts_named(flows.list ? flows.hosts : flows.from),
                         .to = hosts_named(flows.list ? flows.hosts : flows.to),
                         .port = flows.tcp_port,
                         .max_open = flows.max_open.value_or(kMaxOpenFlows),
                         .records = flows.records,
                         .tcp = transport(flows.transport).tcp};
  const auto from = described(setup.from), to = described(setup.to);
  for (const FlowHost& host : from) setup.from_rates.push_back(host.rate);
  for (const FlowHost& host : to) setup.to_rates.push_back(host.rate);
  const FullPacket packet = full_packet_of(config, flows);
  if (!flows.list) setup.offered = offered_rate(flows, from, to, packet);
  setup.arrivals = make_arrivals(flows, from, to, packet, config.seed, index);
  return std::make_unique<FlowGroup>(std::move(setup), goodput);
}

std::unique_ptr<FlowGroupSource> Generator::State::roce_group(const FlowsConfig& flows,
                                                              std::uint32_t index) {
  const TransportConfig& how = transport(flows.transport);
  RoceFlowGroup::Setup setup{.name = flows.name,
                             .from = hosts_named(flows.list ? flows.hosts : flows.from),
                             .to = hosts_named(flows.list ? flows.hosts : flows.to),
                             .queue_pairs = flows.queue_pairs,
                             .max_open = flows.max_open.value_or(kMaxOpenFlows),
                             .records = flows.records,
                             .roce = how.roce,
                             .priority = how.tcp.priority,
                             .seed = config.seed};
  const auto from = described(setup.from), to = described(setup.to);
  const FullPacket packet = full_packet_of(config, flows);
  if (!flows.list) setup.offered = offered_rate(flows, from, to, packet);
  setup.arrivals = make_arrivals(flows, from, to, packet, config.seed, index);
  return std::make_unique<RoceFlowGroup>(std::move(setup), goodput);
}

void Generator::State::make_capture(const CaptureConfig& capture) {
  captures.emplace_back();
  if (!owns(capture.from)) return;
  Host* from = host_named(capture.from);
  Host* to = host_named(capture.to);
  auto frames = load_capture_frames(capture.file, std::min(from->mtu_bytes(), to->mtu_bytes()));
  if (!frames) throw std::runtime_error(format_issues(capture.file, frames.issues));
  captures.back() = std::make_unique<CapturePlayer>(
      CapturePlayer::Setup{
          .name = capture.name,
          .from = from,
          .to = to,
          .udp_port = capture.udp_port,
          .start = Time{} + capture.start,
          .rounds = capture.rounds,
          .capture = std::make_shared<const CaptureFrames>(std::move(*frames.config))},
      goodput);
}

Generator::Generator(const GeneratorConfig& config, EventLoop& loop, rte_mempool& pool,
                     Options options)
    : state_(std::make_unique<State>(config, loop, pool, std::move(options))) {
  const bool full_payload = state_->options.full_payload;
  if (config.payload != Payload::kZeros && !full_payload)
    throw std::runtime_error("payload = \"pattern\" needs real frames: not in virtual time");
  const auto learns = [](const JobConfig& j) { return j.learner.model != LearnerModel::kNone; };
  if (std::ranges::any_of(config.jobs, learns) && full_payload)
    throw std::runtime_error("job.learner needs virtual time: its sums would stall the loop");
  if (config.attribution && (full_payload || !can_attribute(pool)))
    throw std::runtime_error("attribution needs virtual time and a pool with room for it");
  if (owners_of(config) != 0) state_->next_owner = 1;
  state_->make_hosts();
  for (std::uint32_t i = 0; i < config.devices.size(); ++i) state_->make_neighbours(i);
  state_->make_jobs();
  state_->make_tensorlights();
  for (const auto& flows : config.long_flows) state_->make_long_flows(flows);
  for (const auto& flows : config.requests) state_->make_requests(flows);
  for (const auto& transfer : config.transfers) state_->make_transfer(transfer);
  for (const auto& flows : config.flows) state_->make_flow_group(flows);
  for (const auto& capture : config.captures) state_->make_capture(capture);
  if (config.connection_sample_period)
    state_->sampler = std::make_unique<ConnectionSampler>(
        loop, state_->hosts, *config.connection_sample_period, config.max_connection_samples);
}

Generator::~Generator() = default;

const GeneratorConfig& Generator::config() const noexcept { return state_->config; }

std::uint32_t Generator::owners() const noexcept { return owners_of(state_->config); }

bool Generator::has_host(std::uint32_t index) const noexcept {
  return state_->options.share.has_host(index);
}

Node& Generator::host(std::uint32_t index) noexcept { return *state_->hosts[index]; }

void Generator::connect(std::uint32_t index, Link& out, const Backpressure* backpressure) noexcept {
  state_->hosts[index]->connect(out, backpressure);
}

Node& Generator::egress(std::uint32_t device, Node& edge) noexcept {
  NeighbourEdge* neighbours = state_->neighbours[device].get();
  if (neighbours == nullptr) return edge;
  neighbours->connect(edge);
  return *neighbours;
}

void Generator::connect_lcore(std::uint32_t lcore, Node& to) {
  const auto& of_host = state_->options.share.plan.of_host;
  state_->others.resize(std::size_t{1} + *std::ranges::max_element(of_host));
  state_->others[lcore] = &to;
}

void Generator::expect(std::uint32_t device, std::span<Packet* const> packets) noexcept {
  ExpectedFlows expected;
  for (Packet* packet : packets) {
    const auto flow = peek_flow(*packet);
    Host* host = flow ? state_->host_at(flow->destination_address, device) : nullptr;
    if (host != nullptr) expected.add(*host, *flow);
  }
  expected.prefetch();
}

bool Generator::State::take_pause(std::uint32_t device, Packet* packet, Time now) noexcept {
  const auto frame = decode_pause_frame(buffer(*packet));
  if (!frame) return false;
  bool obeyed = false;
  for (Host* host : behind[device]) obeyed |= host->obey(*frame, now);
  if (!obeyed) return false;
  ++pauses_taken;
  release(packet);
  return true;
}

void Generator::receive_from_device(std::uint32_t device, Packet* packet, Time now) noexcept {
  if (NeighbourEdge* neighbours = state_->neighbours[device].get();
      neighbours != nullptr && neighbours->take(packet, now))
    return;
  const auto bytes = buffer(*packet);
  if (bytes.size() < sizeof(EthernetHeader) + sizeof(Ipv4Header)) {
    ++state_->malformed;
    return release(packet);
  }
  if (header_at<EthernetHeader>(*packet, 0).ether_type.get() != kEtherTypeIpv4) {
    if (state_->take_pause(device, packet, now)) return;
    ++state_->not_ipv4;
    return release(packet);
  }
  const auto& ip = header_at<Ipv4Header>(*packet, sizeof(EthernetHeader));
  const std::uint32_t address = ip.destination.get();
  if (Host* host = state_->host_at(address, device); host != nullptr) [[likely]]
    return host->receive(0, packet, now);
  if (Node* other = state_->elsewhere(address, device); other != nullptr)
    return other->receive(device, packet, now);
  ++state_->unknown_host;
  release(packet);
}

void Generator::start(Time now, std::uint64_t wall_ns) {
  const auto since_zero_ns = static_cast<std::uint64_t>(now.time_since_epoch().count());
  const State& s = *state_;
  for_own(s.hosts, [&](Host& host) {
    host.signals().set_clock(std::max(wall_ns, since_zero_ns) - since_zero_ns);
  });
  for_own(s.long_flows, [](LongFlowSource& flow) { flow.schedule(); });
  for_own(s.requests, [](RequestFlows& flows) { flows.schedule(); });
  for_own(s.transfers, [](TransferSource& transfer) { transfer.schedule(); });
  for_own(s.flow_groups, [](FlowGroupSource& group) { group.schedule(); });
  for_own(s.captures, [&](CapturePlayer& capture) { capture.schedule(now); });
  for (const auto& lights : s.tensorlights) lights->start(now);
  for_own(s.jobs, [&](Job& job) { job.start(now); });
  if (s.sampler != nullptr) s.sampler->start(now);
}

bool Generator::finished() const noexcept {
  const auto ended = [](const auto& one) { return one == nullptr || one->finished(); };
  return !(state_->jobs.empty() && state_->transfers.empty()) &&
         std::ranges::all_of(state_->jobs, ended) && std::ranges::all_of(state_->transfers, ended);
}

}  // namespace outrider::tg
