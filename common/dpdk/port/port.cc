#include "common/dpdk/port/port.h"

#include <pthread.h>
#include <rte_dev.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "common/dpdk/eal/eal_check.h"
#include "common/dpdk/eal/eal_log.h"
#include "common/dpdk/eal/error.h"
#include "common/dpdk/eal/this_machine.h"
#include "common/dpdk/port/attach_remedy.h"
#include "common/machine/advice.h"
#include "common/machine/machine_tree.h"
#include "common/machine/network_devices.h"

namespace outrider {
namespace {

/// Bounds the time of a blocking call. A virtio-user server accept()s its first peer inside
/// the probe and offers no time-out. Once the time is over, this interrupts the system call of
/// the constructing thread repeatedly, because one signal could come just before the call.
class BlockingCallBound {
 public:
  BlockingCallBound(Duration timeout, const std::function<bool()>& cancelled)
      : target_(pthread_self()) {
    struct sigaction interrupt {};
    interrupt.sa_handler = [](int) {};
    sigemptyset(&interrupt.sa_mask);  // without SA_RESTART accept() returns EINTR
    sigaction(SIGALRM, &interrupt, &previous_);
    watcher_ = std::thread([this, timeout, &cancelled] { watch(timeout, cancelled); });
  }
  ~BlockingCallBound() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    wake_.notify_one();
    watcher_.join();
    sigaction(SIGALRM, &previous_, nullptr);
  }
  BlockingCallBound(const BlockingCallBound&) = delete;
  BlockingCallBound& operator=(const BlockingCallBound&) = delete;

 private:
  void watch(Duration timeout, const std::function<bool()>& cancelled) {
    constexpr auto kStep = std::chrono::milliseconds(20);
    std::unique_lock lock(mutex_);
    for (Duration waited{}; !wake_.wait_for(lock, kStep, [this] { return over_; }); waited += kStep)
      if (waited >= timeout || cancelled()) pthread_kill(target_, SIGALRM);
  }

  pthread_t target_;
  struct sigaction previous_ {};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread watcher_;
};

/// Adds queue_size: virtio-user's rings have 256 entries unless its arguments set another size.
std::string with_queue_size(const PortConfig& config, std::string arguments) {
  if (!is_virtio_user(config.device) || arguments.find("queue_size=") != std::string::npos)
    return arguments;
  return arguments +
         ",queue_size=" + std::to_string(std::max(config.rx_descriptors, config.tx_descriptors));
}

/// Returns why no driver of DPDK's has a NIC: what the doctor knows to be wrong with it, if
/// anything.
std::string why_not_taken(const std::string& address) {
  const std::string known = device_advice(check_machine(this_machine()), address);
  if (!known.empty()) return known + "\n ";
  if (last_dpdk_lines().find("resource busy") != std::string::npos)
    return " Another process has it, or another device of its IOMMU group: one process has a whole "
           "group. End that process, or let it use this device too.";
  return " A NIC must be bound to one: dpdk-devbind.py --bind=vfio-pci " + address +
         "; `outrider-doctor` says what is in the way.";
}

/// Returns what to let a NIC do with frames that it receives. Its verdict about the TCP checksum
/// saves the CPU from reading the payload. virtio is not asked: a host of the same machine then
/// leaves the checksum unfinished, and the frame would leave the switch with a wrong one.
std::uint64_t receive_offloads(const rte_eth_dev_info& nic) {
  if (std::string_view(nic.driver_name) == "net_virtio") return 0;
  return nic.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TCP_CKSUM;
}

}  // namespace

Port::Port(const PortConfig& config, rte_mempool& rx_pool) : name_(config.name) {
  attach(config);
  try {
    configure(config, rx_pool);
  } catch (...) {
    detach();
    throw;
  }
}

Port::~Port() { detach(); }

void Port::attach(const PortConfig& config) {
  if (!is_pci_address(config.device)) {
    check_socket(config.device);
    check_vdev(name_, config.device);
    if (rte_eth_dev_count_total() >= RTE_MAX_ETHPORTS)
      throw EnvironmentError("device " + name_ + ": this build of DPDK has room for " +
                             std::to_string(RTE_MAX_ETHPORTS) +
                             " devices; let several hosts or ports share one.");
    const std::size_t comma = config.device.find(',');
    vdev_ = config.device.substr(0, comma);
    const std::string arguments = with_queue_size(
        config, comma == std::string::npos ? std::string{} : config.device.substr(comma + 1));
    const bool waits = binds_socket(config.device) && !config.device.starts_with("net_vhost");
    if (waits)
      config.inform("device " + name_ + ": waiting for a peer on " + socket_of(config.device));
    int error = 0;
    {
      const BlockingCallBound bound(config.peer_timeout, config.cancelled);
      error = rte_eal_hotplug_add("vdev", vdev_.c_str(), arguments.c_str());
    }
    if (error != 0 && config.cancelled())
      throw Interrupted("device " + name_ + ": interrupted while it was attached.");
    if (error != 0 && waits)
      throw EnvironmentError(
          "device " + name_ + ": no peer connected to " + socket_of(config.device) +
          " in time. Start the other program with the same socket (vhost with client=1), or wait "
          "longer with --wait-for-peer. DPDK's last lines:" +
          last_dpdk_lines());
    if (error != 0) {
      const std::string said = last_dpdk_lines();
      const std::string remedy = attach_remedy(said);
      throw EnvironmentError("device " + name_ + " (" + config.device + ") cannot be attached." +
                             (remedy.empty() ? " Check the driver's name and arguments." : remedy) +
                             " DPDK's last lines:" + said +
                             advice_for(check_machine(this_machine()), config.device + said));
    }
    if (waits) peer_.emplace(socket_of(config.device));
  }
  const std::string full = vdev_.empty() ? with_pci_domain(config.device) : vdev_;
  if (rte_eth_dev_get_port_by_name(full.c_str(), &id_) != 0 || rte_eth_dev_is_valid_port(id_) == 0)
    throw EnvironmentError("device " + name_ + ": no DPDK driver took " + full + "." +
                           (is_virtual() ? std::string{} : why_not_taken(full)) +
                           " DPDK's last lines:" + last_dpdk_lines());
  if (is_virtual()) return;
  removal_.emplace(full);
  // Its driver may take the promiscuous mode for granted, so that no call tells.
  if (const auto function = virtual_function(MachineTree("/"), full))
    config.inform("device " + name_ + ": a virtual function: " + limits_of(*function) +
                  "\n  mend: " + remedy_for(*function));
}

void Port::check(const char* call, int error) const {
  if (error >= 0) return;
  // Many drivers return -1 for whatever fails, which as an errno would read "not permitted".
  const std::string what = error == -EPERM ? std::string(call) + '(' + name_ + "): refused"
                                           : DpdkError(call, name_, error).what();
  throw EnvironmentError(what + ". DPDK's last lines:" + last_dpdk_lines());
}

/// Spreads flows over the queues by addresses and ports, and other packets by addresses. Both
/// directions of a flow get the same queue if the device's key allows it.
rte_eth_conf Port::device_conf(const PortConfig& config) {
  constexpr std::uint64_t kFlows = RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP;
  rte_eth_dev_info info{};
  check("rte_eth_dev_info_get", rte_eth_dev_info_get(id_, &info));
  const std::uint64_t spreads = info.flow_type_rss_offloads & kFlows;
  const std::uint16_t most = std::max<std::uint16_t>(info.max_rx_queues, 1);
  rx_queues_ = config.rx_queues.value_or(spreads != 0 ? std::min(config.lcores, most) : 1);
  if (rx_queues_ > most)
    throw EnvironmentError("device " + name_ + ": rx_queues: " + std::to_string(rx_queues_) +
                           " are more than its " + std::to_string(most) +
                           ". Lower it, or give a virtual device more (net_vhost: queues=N).");
  rte_eth_conf conf{};
  // Leave the link state to virtio-user's interrupts. A poll from here makes a server that has
  // lost its peer keep a closed descriptor, and closing the device then panics.
  conf.intr_conf.lsc = is_virtio_user(config.device) ? 1 : 0;
  if (!is_virtual()) conf.rxmode.offloads = receive_offloads(info);
  if (rx_queues_ > 1 && spreads != 0) {
    conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf.rx_adv_conf.rss_conf.rss_hf = spreads;
  }
  return conf;
}

void Port::check_descriptors(const PortConfig& config) const {
  std::uint16_t rx = config.rx_descriptors;
  std::uint16_t tx = config.tx_descriptors;
  check("rte_eth_dev_adjust_nb_rx_tx_desc", rte_eth_dev_adjust_nb_rx_tx_desc(id_, &rx, &tx));
  if (rx != config.rx_descriptors || tx != config.tx_descriptors)
    throw EnvironmentError("device " + name_ + ": cannot have " +
                           std::to_string(config.rx_descriptors) + " receive and " +
                           std::to_string(config.tx_descriptors) +
                           " transmit descriptors; nearest are " + std::to_string(rx) + " and " +
                           std::to_string(tx) + ".");
}

/// Sets the MTU. A virtual device without an MTU carries what fits its peer's buffers.
void Port::set_mtu(const PortConfig& config) const {
  std::uint16_t now = 0;
  if (rte_eth_dev_get_mtu(id_, &now) == 0 && now == config.mtu_bytes) return;
  const int error = rte_eth_dev_set_mtu(id_, config.mtu_bytes);
  if (error == 0 || (error == -ENOTSUP && is_virtual())) return;
  throw EnvironmentError(
      DpdkError("rte_eth_dev_set_mtu", name_, error).what() +
      (". The device does not take mtu_bytes = " + std::to_string(config.mtu_bytes) +
       ": lower it. DPDK's last lines:" + last_dpdk_lines()));
}

void Port::configure(const PortConfig& config, rte_mempool& rx_pool) {
  const rte_eth_conf conf = device_conf(config);
  check("rte_eth_dev_configure", rte_eth_dev_configure(id_, rx_queues_, 1, &conf));
  check_descriptors(config);
  set_mtu(config);
  const auto socket = static_cast<unsigned>(rte_eth_dev_socket_id(id_));
  for (std::uint16_t queue = 0; queue < rx_queues_; ++queue)
    check("rte_eth_rx_queue_setup",
          rte_eth_rx_queue_setup(id_, queue, config.rx_descriptors, socket, nullptr, &rx_pool));
  check("rte_eth_tx_queue_setup",
        rte_eth_tx_queue_setup(id_, 0, config.tx_descriptors, socket, nullptr));
  check("rte_eth_dev_start", rte_eth_dev_start(id_));
  rte_eth_stats_reset(id_);  // a NIC may still count what another program sent
  find_counters();
  receive_for_hosts(config);
}

void Port::find_counters() {
  rte_eth_dev_info info{};
  check("rte_eth_dev_info_get", rte_eth_dev_info_get(id_, &info));
  counted_ = counted_losses(info.driver_name);
  if (std::string_view(info.driver_name) != "net_af_packet") return;
  counted_.missed = socket_drops_.emplace(info.if_index).counts();
}

/// Makes the device receive frames for the hosts behind it, whose addresses are not its own.
void Port::receive_for_hosts(const PortConfig& config) const {
  rte_eth_promiscuous_enable(id_);  // some virtual devices reject it and do not need it
  rte_eth_dev_info info{};
  check("rte_eth_dev_info_get", rte_eth_dev_info_get(id_, &info));
  const std::size_t room = std::max<std::size_t>(info.max_mac_addrs, 1) - 1;  // one is its own
  ReceiveFilter filter =
      receive_filter(is_virtual(), rte_eth_promiscuous_get(id_) == 1, config.hosts.size(), room);
  if (filter == ReceiveFilter::kAddresses) {
    for (const MacAddress& host : config.hosts) {
      rte_ether_addr address{};
      std::memcpy(address.addr_bytes, host.data(), sizeof address.addr_bytes);
      if (rte_eth_dev_mac_addr_add(id_, &address, 0) != 0) filter = ReceiveFilter::kOwnOnly;
    }
  }
  if (filter != ReceiveFilter::kOwnOnly) return;
  const std::string refused = "device " + name_ + ": it cannot be made promiscuous";
  if (config.hosts.empty())
    return config.inform(refused + " and receives frames to its own MAC address alone");
  throw EnvironmentError(
      refused + ", nor receive for the MAC addresses of " + std::to_string(config.hosts.size()) +
      " hosts, as it has room for " + std::to_string(room) +
      ". Allow the mode where the device comes from (`ip link set ... vf N trust "
      "on`; VMware: accept promiscuous mode), or put fewer hosts behind it. "
      "DPDK's last lines:" +
      last_dpdk_lines());
}

void Port::detach() noexcept {
  removal_.reset();
  // A device that runs is not closed, and would keep packet buffers after their pool has gone.
  rte_eth_dev_stop(id_);
  rte_eth_dev_close(id_);
  if (!vdev_.empty()) rte_eal_hotplug_remove("vdev", vdev_.c_str());
}

bool Port::link_up() const noexcept {
  rte_eth_link link{};
  return rte_eth_link_get_nowait(id_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

std::optional<std::uint32_t> Port::numa_node() const noexcept {
  const int node = rte_eth_dev_socket_id(id_);
  if (is_virtual() || node < 0) return {};
  return static_cast<std::uint32_t>(node);
}

BitRate Port::link_rate() const noexcept {
  rte_eth_link link{};
  if (rte_eth_link_get_nowait(id_, &link) != 0 || link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN)
    return {};
  return {std::uint64_t{link.link_speed} * 1'000'000};  // link_speed is in Mbit/s
}

std::uint32_t Port::mtu_bytes() const noexcept {
  std::uint16_t mtu = 0;
  return rte_eth_dev_get_mtu(id_, &mtu) == 0 ? mtu : std::uint32_t{RTE_ETHER_MTU};
}

PortLosses Port::losses() const noexcept {
  // Read before the device's counters, so that no packet seems taken and not sent.
  const std::uint64_t taken = taken_.load(std::memory_order_relaxed);
  const std::uint64_t by_kernel = socket_drops_ ? socket_drops_->read() : 0;
  rte_eth_stats stats{};
  if (rte_eth_stats_get(id_, &stats) != 0) return {};
  return {.rx_missed = counter_if(counted_.missed, stats.imissed + by_kernel),
          .rx_nombuf = counter_if(counted_.nombuf, stats.rx_nombuf),
          .rx_errors = counter_if(counted_.errors, stats.ierrors),
          .tx_failed = failed_after_taking(taken, stats.opackets, stats.oerrors)};
}

PortPackets Port::packets() const noexcept {
  rte_eth_stats stats{};
  if (rte_eth_stats_get(id_, &stats) != 0) return {};
  return {.taken = taken_.load(std::memory_order_relaxed), .received = stats.ipackets};
}

}  // namespace outrider
