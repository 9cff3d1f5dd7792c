#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/core/figure.h"
#include "switch/report/snapshots.h"

struct rte_mempool;

namespace outrider::sw {

// The state of what the switch runs on. Unlike the counters it is in no report: it says something
// only while the switch runs. Prometheus takes the names, types and help of its figures from here.

struct LcoreState {
  std::uint32_t cpu = 0;
  std::int64_t busy_ns = 0;  ///< in polls that found packets, since the start
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, LcoreState>
void fields(V& v, R& r) {
  v.value(counter("busy_ns", "ns", "Time in polls that found packets, of this lcore"), r.busy_ns);
}

/// A port with a device.
struct LinkState {
  std::string switch_name;
  std::string port_name;
  std::string device_name;
  bool up = false;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, LinkState>
void fields(V& v, R& r) {
  v.value(gauge("link_up", "", "1 if the link of the port's device was up at the last check"),
          r.up);
}

struct PoolState {
  std::string name;
  std::uint64_t buffers = 0;
  std::uint64_t free_buffers = 0;  ///< those that lcores keep for themselves included
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, PoolState>
void fields(V& v, R& r) {
  v.value(gauge("buffers", "buffers", "Packet buffers of the pool"), r.buffers);
  v.value(gauge("free_buffers", "buffers",
                "Packet buffers that hold no packet and wait in no receive ring"),
          r.free_buffers);
}

struct ProcessState {
  std::vector<LcoreState> lcores{};
  std::vector<LinkState> links{};
  std::vector<PoolState> pools{};
};

/// Reads the state of a running switch. It takes no lock and asks nothing of an lcore: the numbers
/// of free buffers are those of DPDK's rings, and the rest is in the lcores' cells.
class ProcessStateReader {
 public:
  /// @param snapshots,pools  must outlive the reader; snapshots have a loop for each of the
  /// configuration's lcores
  ProcessStateReader(const SwitchProcessConfig& config, SwitchSnapshots& snapshots,
                     std::vector<const rte_mempool*> pools);

  /// Any thread.
  [[nodiscard]] ProcessState read() const;

 private:
  struct Link {
    LinkState names;
    std::size_t device;  ///< its position in the configuration
  };

  SwitchSnapshots& snapshots_;
  std::vector<const rte_mempool*> pools_;
  std::vector<std::uint32_t> cpus_;
  std::vector<Link> links_;
};

}  // namespace outrider::sw
