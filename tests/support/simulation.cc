#include "tests/support/simulation.h"

#include <gtest/gtest.h>
#include <rte_mempool.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

#include "common/config/addresses.h"

namespace outrider {

namespace {

constexpr Duration kStep = std::chrono::milliseconds(10);
constexpr std::uint64_t kMostEvents = 20'000'000;  // of a step; the tests have far fewer

void require_valid(const ConfigIssues& issues) {
  if (!issues.empty()) throw std::runtime_error(issues[0].key + ": " + issues[0].problem);
}

}  // namespace

Mempool make_test_pool(std::uint32_t mbufs) {
  static int next = 0;
  return make_packet_pool({.name = "test" + std::to_string(next++),
                           .mbufs = mbufs,
                           .frame_room_bytes = kHeaderRoomBytes,
                           .slots = true});
}

std::vector<Mempool> make_rank_pools(const lab::Case& c, const lab::Partition& partition) {
  std::vector<Mempool> pools;
  for (std::uint32_t rank = 0; rank < partition.ranks; ++rank)
    pools.push_back(make_test_pool(lab::buffers_needed(c, {&partition, rank})));
  return pools;
}

bool full_run() {
  const char* value = std::getenv("OUTRIDER_FULL");
  return value != nullptr && std::string_view(value) == "1";
}

std::uint32_t seeds(std::uint32_t few, std::uint32_t many) { return full_run() ? many : few; }

ImpairedSimulation::ImpairedSimulation(const sw::SwitchProcessConfig& switches,
                                       const tg::GeneratorConfig& traffic, rte_mempool& pool)
    : hosts_(traffic.hosts),
      network_((require_valid(validate(switches)), switches), loop_),
      generator_((require_valid(validate(traffic)), traffic), loop_, pool,
                 {.full_payload = false}) {
  up_.resize(hosts_.size());
  down_.resize(hosts_.size());
  for (std::uint32_t e = 0; e < network_.edges().size(); ++e) {
    const sw::EdgePort& edge = network_.edges()[e];
    const auto host = std::ranges::find_if(hosts_, [&](const tg::HostConfig& h) {
      return h.device == edge.device &&
             network_.route(edge.switch_index, *parse_ipv4(h.address).value) == edge.port_index;
    });
    if (host == hosts_.end()) throw std::runtime_error("an edge port has no host");
    const auto i = static_cast<std::uint32_t>(host - hosts_.begin());
    Link& ingress = network_.ingress(e);
    Node& node = generator_.host(i);
    up_[i] = std::make_unique<Impairment>(loop_, pool,
                                          [&ingress](Packet* p, Time at) { ingress.push(p, at); });
    down_[i] = std::make_unique<Impairment>(
        loop_, pool, [&node](Packet* p, Time at) { node.receive(0, p, at); });
    network_.connect(e, *down_[i], 0);
    wires_.push_back(std::make_unique<Link>(loop_, Duration::zero(), *up_[i], 0));
    generator_.connect(i, *wires_.back());
  }
  if (generator_.owners() != 0) network_.attribute(generator_.owners());
  generator_.start(now_);
}

std::size_t ImpairedSimulation::index_of(std::string_view host) const {
  const auto it = std::ranges::find(hosts_, host, &tg::HostConfig::name);
  if (it == hosts_.end()) throw std::runtime_error("no host " + std::string(host));
  return static_cast<std::size_t>(it - hosts_.begin());
}

void ImpairedSimulation::impair_all(const RandomImpairment& rates, std::uint64_t seed) {
  for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
    up_[i]->set_rule(random_rule(rates, seed, 2 * i));
    down_[i]->set_rule(random_rule(rates, seed, 2 * i + 1));
  }
}

bool ImpairedSimulation::run_to_end(Time limit) {
  while (!generator_.finished() && now_ < limit) run_until(std::min(limit, now_ + kStep));
  return generator_.finished();
}

lab::RunResult ImpairedSimulation::result() const {
  lab::RunResult r;
  r.switches = network_.report(now_);
  r.traffic = generator_.report(now_);
  return r;
}

PacketLedger ImpairedSimulation::ledger() const {
  const lab::RunResult r = result();
  PacketLedger l{.sent = r.traffic.sent,
                 .received = r.traffic.received,
                 .dropped_by_switches = sum(r.switches.drops),
                 .resident = network_.resident()};
  for (const auto* side : {&up_, &down_}) {
    for (const auto& impairment : *side) {
      l.copied += impairment->copied();
      l.dropped_by_impairments += impairment->dropped();
      l.resident += impairment->held();
    }
  }
  for (const auto& wire : wires_) l.resident += wire->resident();
  return l;
}

void ImpairedSimulation::flush() noexcept {
  network_.flush();
  for (auto& wire : wires_) wire->flush();
  for (auto* side : {&up_, &down_})
    for (auto& impairment : *side) impairment->flush();
}

const sw::QueueReport& queue_of(const lab::RunResult& r, std::string_view sw,
                                std::string_view port) {
  for (const auto& q : r.switches.queues)
    if (q.switch_name == sw && q.port_name == port) return q;
  throw std::runtime_error("no queue " + std::string(sw) + "." + std::string(port));
}

lab::RunResult run(const sw::SwitchProcessConfig& switches, const tg::GeneratorConfig& traffic,
                   rte_mempool& pool, Time limit) {
  require_valid(validate(switches));
  require_valid(validate(traffic));
  lab::RunResult r;
  {
    lab::Simulation simulation(switches, traffic, pool);
    while (!simulation.finished() && simulation.now() < limit)
      if (simulation.run_until(std::min(limit, simulation.now() + kStep), kMostEvents) ==
          kMostEvents)
        throw std::runtime_error("a source asks for the same instant for ever");
    r = simulation.result();
    EXPECT_TRUE(r.switches.ledger_balanced);
    EXPECT_TRUE(r.traffic.ledger_balanced);
    EXPECT_EQ(r.traffic.sent + r.switches.pause_frames,
              r.traffic.received + sum(r.switches.drops) + r.switches.pauses_taken +
                  r.switches.resident + r.switches.on_links);
    simulation.flush();
  }
  EXPECT_EQ(rte_mempool_in_use_count(&pool), 0U);
  return r;
}

}  // namespace outrider
