#include "trafficgen/config/mbuf_need.h"

#include <algorithm>
#include <limits>
#include <string>

#include "common/config/process_checks.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/config/lcore_plan.h"

namespace outrider::tg {
namespace {

constexpr std::uint64_t kHostPackets = 64;

struct MbufNeed {
  std::uint64_t descriptors = 0, hosts = 0, slack = 0;
  [[nodiscard]] std::uint64_t total() const { return descriptors + hosts + slack; }
};

MbufNeed mbuf_need(const GeneratorConfig& c) {
  MbufNeed need;
  const std::size_t lcores = cpus_of(c).size();
  need.slack = lcores * kPoolCachePackets;
  if (lcores > 1)  // each way
    need.slack += borrowings(c, plan_lcores(c, static_cast<std::uint32_t>(lcores))).size() *
                  std::uint64_t{2} * kHandoverPackets;
  for (const auto& d : c.devices) {
    need.descriptors += std::uint64_t{d.rx_descriptors} + d.tx_descriptors;
    need.slack += 2 * kBatchPackets;
  }
  need.hosts = c.hosts.size() * kHostPackets;
  return need;
}

}  // namespace

void check_mbufs(const Checks& root, const GeneratorConfig& c) {
  if (!c.mbufs) return;
  const auto need = mbuf_need(c);
  root.require(*c.mbufs >= need.total(), "mbufs", std::to_string(*c.mbufs),
               "must be at least " + std::to_string(need.total()) + " = descriptors " +
                   std::to_string(need.descriptors) + " + hosts " + std::to_string(need.hosts) +
                   " + batches, caches and lcores' queues " + std::to_string(need.slack));
}

std::uint32_t required_mbufs(const GeneratorConfig& config) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(mbuf_need(config).total(), kLargest));
}

std::string buffer_keys(const GeneratorConfig& config) {
  if (config.mbufs) return "`mbufs`";
  const auto need = mbuf_need(config);
  return need.hosts > need.descriptors ? "the number of hosts"
                                       : "`rx_descriptors` and `tx_descriptors`";
}

}  // namespace outrider::tg
