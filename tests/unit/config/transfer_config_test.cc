// Goal: [[transfer]] and payload are read, written back and refused by key.
// Method: one file that has every key, then one fault at a time.
#include <gtest/gtest.h>

#include "common/config/config_file.h"
#include "tests/unit/config/issue_matchers.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::transfer_config_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr const char* kFile = R"(
payload = "pattern"
[[device]]
name = "eth"
device = "net_af_packet0,iface=eth0"
[[host]]
name = "h"
address = "10.0.0.1"
device = "eth"
[[host]]
name = "g"
address = "10.0.0.2"
device = "eth"
[[transport]]
name = "tcp"
[[transfer]]
name = "in"
from = "10.0.0.9"
to = "h"
bytes = "3MB"
count = 4
transport = "tcp"
opener = "receiver"
tcp_port = 80
start = "1ms"
timeout = "5s"
[[transfer]]
name = "out"
from = "h"
to = "g"
bytes = "1kB"
transport = "tcp"
)";

GeneratorConfig valid() {
  const auto result = generator_config_from(*parse_toml(kFile).config, ".");
  EXPECT_TRUE(result) << format_issues("file", result.issues);
  return *result.config;
}

TEST(TransferConfig, IsReadAndWrittenBack) {
  const GeneratorConfig c = valid();
  EXPECT_EQ(c.payload, Payload::kPattern);
  ASSERT_EQ(c.transfers.size(), 2U);
  const auto& [name, from, to, bytes, count, transport, opener, port, start, timeout, pair] =
      c.transfers[0];
  EXPECT_EQ(std::tie(name, from, to, transport), std::tuple("in", "10.0.0.9", "h", "tcp"));
  EXPECT_EQ(std::tie(bytes, count, opener, port, start, timeout),
            std::tuple(3'000'000U, 4U, Opener::kReceiver, 80, 1ms, 5s));
  const auto again = generator_config_from(*parse_toml(to_toml(c)).config, ".");
  ASSERT_TRUE(again);
  EXPECT_EQ(to_toml(*again.config), to_toml(c));
}

TEST(TransferConfig, EveryRuleNamesItsKey) {
  using C = GeneratorConfig;
  const auto in = [](C& c) -> TransferConfig& { return c.transfers[0]; };
  const Breach<C> breaches[] = {
      {[&](C& c) { in(c).name = ""; }, "transfer[0].name", "\"\": must not be empty"},
      {[&](C& c) { in(c).name = "out"; }, "transfer[1].name", "\"out\": is used twice"},
      {[&](C& c) { in(c).from = "nobody"; }, "transfer[0].from",
       "\"nobody\": no [[host]] has this name, and it is no IPv4"},
      {[&](C& c) { in(c).from = "10.0.0.300"; }, "transfer[0].from", "\"10.0.0.300\": "},
      {[&](C& c) { in(c).to = "10.0.0.8"; }, "transfer[0].to",
       "\"10.0.0.8\": one of from and to must be a [[host]]"},
      {[&](C& c) { in(c).from = "h"; }, "transfer[0].to", "\"h\": must be another host"},
      {[&](C& c) { in(c).bytes = 0; }, "transfer[0].bytes", "0 bytes: must be at least 1"},
      {[&](C& c) { in(c).count = 10'001; }, "transfer[0].count", "10001: must be at most 10000"},
      {[&](C& c) { in(c).transport = "udp"; }, "transfer[0].transport",
       "\"udp\": no [[transport]]"},
      {[&](C& c) { in(c).tcp_port = 0; }, "transfer[0].tcp_port", "0: must be at least 1"},
      {[&](C& c) { in(c).start = -1ns; }, "transfer[0].start", "-1ns: must not be negative"},
      {[&](C& c) { in(c).timeout = 0s; }, "transfer[0].timeout", "0s: must be longer than zero"},
      {[&](C& c) { in(c).queue_pair.own = 17; }, "transfer[0].queue_pair",
       "needs a transport with protocol \"roce\""},
      {[](C& c) { c.hosts[1].mtu_bytes = 576; }, "transfer[1].to", "\"g\": mtu_bytes 576"},
      {[](C& c) {
         c.transfers[0].opener = Opener::kSender;
         c.transfers[1].to = "h";
         c.transfers[1].from = "g";
         c.transfers[1].tcp_port = 80;
       },
       "transfer[1].tcp_port", "80: is that of transfer[0] on host \"h\""},
  };
  expect_each_reported(breaches, valid());
}

TEST(TransferConfig, OnlyAListeningHostTakesThePort) {
  GeneratorConfig c = valid();
  c.transfers[1] = c.transfers[0];
  c.transfers[1].name = "again";
  EXPECT_TRUE(validate(c).empty()) << "both are opened by our host: nobody of ours listens";
  c.transfers[0].opener = c.transfers[1].opener = Opener::kSender;
  EXPECT_EQ(validate(c).size(), 1U);
}

}  // namespace
}  // namespace outrider::transfer_config_test
