#include "trafficgen/config/transport_reserve.h"

#include <gtest/gtest.h>

namespace outrider::transport_reserve_test {
using namespace tg;
namespace {

GeneratorConfig three_hosts() {
  GeneratorConfig c;
  for (const char* name : {"a", "b", "c"}) c.hosts.emplace_back().name = name;
  c.transports = {{"tcp", {}}};
  return c;
}

TEST(ExpectedConnections, AreTheEndsThatStayOpenInEachHost) {
  GeneratorConfig c = three_hosts();
  EXPECT_EQ(expected_connections(c), (std::vector<std::uint32_t>{0, 0, 0}));
  c.long_flows = {{.name = "bulk",
                   .from = {"a", "b"},
                   .to = {"c", "c"},
                   .flows_per_pair = 3,
                   .transport = "tcp"}};
  RequestFlowsConfig requests;
  requests.from = {"a"};
  requests.to = {"b"};
  requests.connections = 100;
  requests.transport = "tcp";
  c.requests = {requests};
  EXPECT_EQ(expected_connections(c), (std::vector<std::uint32_t>{103, 103, 6}));
}

TEST(TransportReserve, HasAFlightForEveryEndUnlessToldOtherwise) {
  GeneratorConfig c = three_hosts();
  c.long_flows = {
      {.name = "bulk", .from = {"a"}, .to = {"b"}, .flows_per_pair = 500, .transport = "tcp"}};
  EXPECT_EQ(transport_reserve(c).flights, 1000U);
  EXPECT_EQ(transport_reserve(c).disorders, 1000U);
  c.transport_memory.flights = 7;
  EXPECT_EQ(transport_reserve(c).flights, 7U);
  c.transport_memory = {};
  c.long_flows[0].flows_per_pair = 10'000'000;
  EXPECT_EQ(transport_reserve(c).flights, 131072U) << "much more than are in flight at once";
}

}  // namespace
}  // namespace outrider::transport_reserve_test
