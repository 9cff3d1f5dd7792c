#include "trafficgen/config/lcore_plan.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "common/config/process_checks.h"
#include "common/config/quantities.h"

namespace outrider::tg {
namespace {

/// Joins hosts and devices into groups. Names that the configuration has not are passed over: other
/// checks reject them.
class Groups {
 public:
  /// @param by_device  whether a device joins the hosts behind it
  Groups(const GeneratorConfig& c, bool by_device)
      : config_(c), parent_(c.hosts.size() + c.devices.size()) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    if (by_device)
      for (std::size_t i = 0; i < c.hosts.size(); ++i) join(i, device(c.hosts[i].device));
    for (const auto& job : c.jobs) join_hosts({&job.workers, &job.servers});
    for (const auto& flows : c.long_flows) join_pairs(flows.from, flows.to);
    for (const auto& flows : c.requests) join_pairs(flows.from, flows.to);
    for (const auto& capture : c.captures) join_pairs({capture.from}, {capture.to});
    for (const auto& flows : c.flows) join_hosts({&flows.from, &flows.to, &flows.hosts});
    for (const auto& t : c.transfers) join(host(t.from), host(t.to));
    for (const auto& stream : c.streams)
      add_stream(device(stream.device), device(stream.receive_device));
  }

  /// Returns what stands for the group: the same number for all its hosts and devices.
  [[nodiscard]] std::size_t of(std::size_t member) const {
    while (parent_[member] != member) member = parent_[member];
    return member;
  }
  [[nodiscard]] std::size_t of_device(std::size_t d) const { return of(config_.hosts.size() + d); }
  /// Returns the devices of streams.
  [[nodiscard]] const std::set<std::size_t>& stream_devices() const { return stream_devices_; }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  [[nodiscard]] std::size_t host(const std::string& name) const {
    const auto it = std::ranges::find(config_.hosts, name, &HostConfig::name);
    return it == config_.hosts.end() ? kNone : static_cast<std::size_t>(it - config_.hosts.begin());
  }
  [[nodiscard]] std::size_t device(const std::string& name) const {
    const auto it = std::ranges::find(config_.devices, name, &GeneratorDeviceConfig::name);
    if (it == config_.devices.end()) return kNone;
    return config_.hosts.size() + static_cast<std::size_t>(it - config_.devices.begin());
  }
  /// The lower number stands for both, so that a group is known by its first host in the file.
  void join(std::size_t a, std::size_t b) {
    if (a == kNone || b == kNone) return;
    parent_[std::max(of(a), of(b))] = std::min(of(a), of(b));
  }
  void join_hosts(std::initializer_list<const std::vector<std::string>*> sides) {
    std::size_t first = kNone;
    for (const auto* names : sides)
      for (const auto& name : *names) {
        if (first == kNone) first = host(name);
        join(first, host(name));
      }
  }
  void join_pairs(const std::vector<std::string>& from, const std::vector<std::string>& to) {
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i)
      join(host(from[i]), host(to[i]));
  }
  /// Beside hosts all streams are one group.
  void add_stream(std::size_t from, std::size_t to) {
    join(from, to);
    for (const std::size_t d : {from, to}) {
      if (d == kNone) continue;
      if (!config_.hosts.empty() && !stream_devices_.empty())
        join(config_.hosts.size() + *stream_devices_.begin(), d);
      stream_devices_.insert(d - config_.hosts.size());
    }
  }

  const GeneratorConfig& config_;
  std::vector<std::size_t> parent_;  ///< [hosts, then devices]
  std::set<std::size_t> stream_devices_;
};

/// Returns whether hosts obey pause frames: those that come by a device concern all hosts behind
/// it, which are then on one lcore.
bool obeys_pauses(const GeneratorConfig& config) {
  return std::ranges::any_of(config.transports,
                             [](const TransportConfig& t) { return t.tcp.priority.has_value(); });
}

/// One group that has work for an lcore.
struct Weighed {
  std::size_t group = 0;
  std::uint64_t bits_per_second = 0;  ///< of the NICs of its hosts
  bool has_hosts = false;
  bool has_streams = false;
};

/// Returns all groups with hosts or streams, in the order in which they are assigned.
std::vector<Weighed> weighed(const GeneratorConfig& config, const Groups& groups) {
  std::vector<Weighed> all(config.hosts.size() + config.devices.size());
  for (std::size_t i = 0; i < config.hosts.size(); ++i) {
    all[groups.of(i)].bits_per_second += config.hosts[i].rate.bits_per_second;
    all[groups.of(i)].has_hosts = true;
  }
  for (const std::size_t d : groups.stream_devices()) all[groups.of_device(d)].has_streams = true;
  for (std::size_t i = 0; i < all.size(); ++i) all[i].group = i;
  std::erase_if(all, [](const Weighed& w) { return !w.has_hosts && !w.has_streams; });
  std::ranges::stable_sort(all, std::ranges::greater{}, &Weighed::bits_per_second);
  std::stable_partition(all.begin(), all.end(), [](const Weighed& w) { return w.has_streams; });
  return all;
}

/// Returns the lcore of the hosts that may send most by a device; lcore 0 if it has none.
std::uint32_t owner_of(const GeneratorConfig& config, std::size_t device,
                       const std::vector<std::uint32_t>& of_host, std::uint32_t lcores) {
  std::vector<std::uint64_t> bits_per_second(lcores);
  for (std::size_t i = 0; i < config.hosts.size(); ++i)
    if (device_of(config, config.hosts[i]) == device)
      bits_per_second[of_host[i]] += config.hosts[i].rate.bits_per_second;
  const auto most = std::ranges::max_element(bits_per_second);  // the first of equal ones
  return static_cast<std::uint32_t>(most - bits_per_second.begin());
}

}  // namespace

std::uint32_t device_of(const GeneratorConfig& config, const HostConfig& host) {
  const auto it = std::ranges::find(config.devices, host.device, &GeneratorDeviceConfig::name);
  return static_cast<std::uint32_t>(it - config.devices.begin());
}

LcorePlan plan_lcores(const GeneratorConfig& config, std::uint32_t lcores) {
  struct Load {
    std::uint64_t bits_per_second = 0;
    std::uint32_t groups = 0;  ///< so that a group without hosts counts as well
    auto operator<=>(const Load&) const = default;
  };
  const Groups by_device(config, true);
  const bool enough = obeys_pauses(config) || weighed(config, by_device).size() >= lcores;
  const Groups groups = enough ? by_device : Groups(config, false);
  std::vector<Load> loads(lcores);
  std::vector<std::uint32_t> owner(config.hosts.size() + config.devices.size());
  for (const Weighed& w : weighed(config, groups)) {
    const auto least = std::ranges::min_element(loads);  // the first of equal ones
    least->bits_per_second += w.bits_per_second;
    ++least->groups;
    owner[w.group] = static_cast<std::uint32_t>(least - loads.begin());
  }
  LcorePlan plan;
  for (std::size_t i = 0; i < config.hosts.size(); ++i) plan.of_host.push_back(owner[groups.of(i)]);
  for (std::size_t d = 0; d < config.devices.size(); ++d)
    plan.of_device.push_back(groups.stream_devices().contains(d)
                                 ? owner[groups.of_device(d)]
                                 : owner_of(config, d, plan.of_host, lcores));
  return plan;
}

std::vector<std::uint32_t> host_groups(const GeneratorConfig& config) {
  const Groups groups(config, false);
  std::vector<std::uint32_t> of_host;
  for (std::size_t i = 0; i < config.hosts.size(); ++i)
    of_host.push_back(static_cast<std::uint32_t>(groups.of(i)));
  return of_host;
}

std::vector<Borrowing> borrowings(const GeneratorConfig& config, const LcorePlan& plan) {
  const auto before = [](const Borrowing& a, const Borrowing& b) {
    return std::pair(a.borrower, a.owner) < std::pair(b.borrower, b.owner);
  };
  std::set<Borrowing, decltype(before)> pairs;
  for (std::size_t i = 0; i < config.hosts.size(); ++i) {
    const std::uint32_t device = device_of(config, config.hosts[i]);
    if (device == config.devices.size()) continue;  // another check rejects it
    const Borrowing pair{.borrower = plan.of_host[i], .owner = plan.of_device[device]};
    if (pair.borrower != pair.owner) pairs.insert(pair);
  }
  return {pairs.begin(), pairs.end()};
}

std::vector<std::size_t> streams_of(const GeneratorConfig& config, const LcoreShare& share) {
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < config.streams.size(); ++i) {
    const StreamConfig& s = config.streams[i];
    const std::string& name = s.device.empty() ? s.receive_device : s.device;
    const auto device = std::ranges::find(config.devices, name, &GeneratorDeviceConfig::name);
    if (share.has_device(static_cast<std::size_t>(device - config.devices.begin())))
      own.push_back(i);
  }
  return own;
}

std::string describe(const GeneratorConfig& config, const LcorePlan& plan) {
  const std::vector<std::uint32_t> cpus = cpus_of(config);
  std::string text;
  for (std::uint32_t lcore = 0; lcore < cpus.size(); ++lcore) {
    std::uint64_t bits_per_second = 0;
    std::size_t hosts = 0;
    for (std::size_t i = 0; i < config.hosts.size(); ++i) {
      if (plan.of_host[i] != lcore) continue;
      ++hosts;
      bits_per_second += config.hosts[i].rate.bits_per_second;
    }
    text += (text.empty() ? "CPU " : "; CPU ") + std::to_string(cpus[lcore]) + " has " +
            std::to_string(hosts) + (hosts == 1 ? " host of " : " hosts of ") +
            format_rate({bits_per_second});
    std::string owners;
    for (const Borrowing& pair : borrowings(config, plan))
      if (pair.borrower == lcore)
        owners += (owners.empty() ? "" : " and ") + std::to_string(cpus[pair.owner]);
    if (!owners.empty()) text += ", behind devices of CPU " + owners;
  }
  return text;
}

void check_lcores(const Checks& root, const GeneratorConfig& config) {
  if (config.more_lcores.empty()) return;
  root.in_range("more_lcores", config.more_lcores.size(), 0, kMaxMoreLcores, "lcores");
  const bool pauses = obeys_pauses(config);
  const std::size_t busy = weighed(config, Groups(config, pauses)).size();
  const std::size_t lcores = cpus_of(config).size();
  root.require(
      lcores <= busy, "more_lcores", std::to_string(config.more_lcores.size()),
      "makes " + std::to_string(lcores) +
          (config.hosts.empty()
               ? " lcores, but streams join their devices into "
               : " lcores, but jobs, flows, requests and transfers join the hosts into ") +
          std::to_string(busy) + (busy == 1 ? " group" : " groups") +
          (pauses ? ", as a transport's priority makes pauses concern all hosts behind a device"
                  : "") +
          (config.hosts.empty() ? "" : ", all streams counted as one") +
          "; a group stays on one lcore. Give groups traffic of their own, or name fewer lcores");
}

bool LcoreShare::has_host(const GeneratorConfig& config, const std::string& name) const {
  const auto it = std::ranges::find(config.hosts, name, &HostConfig::name);
  return it != config.hosts.end() && has_host(static_cast<std::size_t>(it - config.hosts.begin()));
}

bool LcoreShare::has(const GeneratorConfig& config, const JobConfig& job) const {
  return has_host(config, job.workers.front());
}

bool LcoreShare::has(const GeneratorConfig& config, const TransferConfig& transfer) const {
  return has_host(config, transfer.from) || has_host(config, transfer.to);
}

bool LcoreShare::has(const GeneratorConfig& config, const FlowsConfig& flows) const {
  return has_host(config, flows.list ? flows.hosts.front() : flows.from.front());
}

GeneratorConfig traffic_of(GeneratorConfig config, const LcoreShare& share) {
  const auto keep_pairs = [&](auto& flows) {
    std::vector<std::string> from, to;
    for (std::size_t pair = 0; pair < flows.from.size(); ++pair) {
      if (!share.has_host(config, flows.from[pair])) continue;
      from.push_back(flows.from[pair]);
      to.push_back(flows.to[pair]);
    }
    flows.from = std::move(from);
    flows.to = std::move(to);
  };
  const auto others = [&](const auto& table) { return !share.has(config, table); };
  std::erase_if(config.jobs, others);
  std::erase_if(config.transfers, others);
  std::erase_if(config.flows, others);
  std::erase_if(config.captures, [&](const CaptureConfig& capture) {
    return !share.has_host(config, capture.from);
  });
  for (auto& flows : config.long_flows) keep_pairs(flows);
  for (auto& flows : config.requests) keep_pairs(flows);
  return config;
}

}  // namespace outrider::tg
