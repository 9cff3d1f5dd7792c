// Goal: every key of [[requests]] reads back, and every rule names its key.
#include <gtest/gtest.h>

#include "common/config/config_file.h"
#include "tests/unit/config/issue_matchers.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::request_config_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

GeneratorConfig valid_config() {
  GeneratorConfig c;
  c.duration = 1s;
  c.devices = {{.name = "d", .device = "net_null0"}};
  c.hosts = {{.name = "client", .address = "10.0.1.1", .device = "d"},
             {.name = "server", .address = "10.0.2.1", .device = "d"}};
  c.transports = {{.name = "plain", .tcp = {}}};
  c.long_flows = {{.name = "bulk", .from = {"client"}, .to = {"server"}, .transport = "plain"}};
  c.requests = {{.name = "ask",
                 .from = {"client"},
                 .to = {"server"},
                 .connections = 5,
                 .transport = "plain",
                 .request_bytes = 7,
                 .response_bytes = 8,
                 .think = 9ms,
                 .think_time = ThinkTime::kFixed,
                 .start = 10ms,
                 .open_over = 11ms,
                 .tcp_port = 30'001,
                 .server_ports = 2,
                 .latency_samples = 12}};
  return c;
}

TEST(RequestConfig, EveryRuleNamesItsKey) {
  using C = GeneratorConfig;
  const Breach<C> breaches[] = {
      {[](C& c) { c.requests[0].connections = 0; }, "requests[0].connections",
       "0: must be at least 1"},
      {[](C& c) { c.requests[0].connections = 70'000; }, "requests[0].connections",
       "70000: must be at most 32768 for each of the server_ports (2)"},
      {[](C& c) { c.requests[0].server_ports = 40'000; }, "requests[0].server_ports",
       "40000: must be at least 1, and tcp_port + server_ports at most 65536"},
      {[](C& c) { c.requests[0].tcp_port = 19'999; }, "requests[0].tcp_port",
       "20000: is that of long_flows[0] on host"},
      {[](C& c) { c.requests[0].tcp_port = 0; }, "requests[0].tcp_port", "0: must be at least 1"},
      {[](C& c) { c.requests[0].request_bytes = 0; }, "requests[0].request_bytes",
       "0 bytes: must be at least 1"},
      {[](C& c) { c.requests[0].response_bytes = 0; }, "requests[0].response_bytes",
       "0 bytes: must be at least 1"},
      {[](C& c) { c.requests[0].latency_samples = 200'000'000; }, "requests[0].latency_samples",
       "200000000: must be at most 100000000"},
      {[](C& c) { c.requests[0].think = -1ms; }, "requests[0].think", "-1ms: must not"},
      {[](C& c) { c.requests[0].start = -1ms; }, "requests[0].start", "-1ms: must not"},
      {[](C& c) { c.requests[0].open_over = -1ms; }, "requests[0].open_over", "-1ms: must not"},
      {[](C& c) { c.requests[0].transport = "x"; }, "requests[0].transport", "\"x\": no [["},
      {[](C& c) { c.requests[0].to = {"client"}; }, "requests[0].to[0]",
       "\"client\": must be another host"},
      {[](C& c) {
         c.requests.push_back(c.requests[0]);
         c.requests[1].tcp_port = 9;
       },
       "requests[1].name", "\"ask\": is used twice"},
  };
  expect_each_reported(breaches, valid_config());
}

}  // namespace
}  // namespace outrider::request_config_test
