// Goal: an imported rack file whose hosts have two links each is run whole: what the list sends is
// delivered, and both links of every host that sends or receives carry data.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "tests/support/simulation.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/fabric/topology_file.h"
#include "tools/lab/import/import_experiment.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/simulation/run_virtual.h"

namespace outrider::imported_nics_test {
using namespace lab;
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kHosts = 8, kFlowsOfPair = 4;
constexpr std::uint64_t kFlow_bytes = 40'000;

/// Hosts 0 to 3 have a link to each of the switches 8 and 9, hosts 4 to 7 to 10 and 11; 12 joins
/// the four.
std::string racks() {
  std::string text = "13 5 20\n8 9 10 11 12\n";
  for (std::uint32_t host = 0; host < kHosts; ++host)
    for (std::uint32_t nic = 0; nic < 2; ++nic)
      text += std::to_string(host) + ' ' + std::to_string(8 + host / 4 * 2 + nic) +
              " 25Gbps 1us 0.000000\n";
  for (int leaf = 8; leaf < 12; ++leaf) text += std::to_string(leaf) + " 12 100Gbps 1us 0\n";
  return text;
}

std::string flows() {
  std::string text = std::to_string(kHosts * kFlowsOfPair) + '\n';
  for (std::uint32_t i = 0; i < kHosts * kFlowsOfPair; ++i)
    text += std::to_string(i % kHosts) + ' ' + std::to_string((i % kHosts + 3) % kHosts) +
            " 3 100 " + std::to_string(kFlow_bytes) + " 2." + std::to_string(100'000 + i) + '\n';
  return text;
}

TEST(ImportedNics, BytesAreConservedAndBothLinksUsed) {
  const fs::path folder = fs::temp_directory_path() / ("outrider-nics-" + std::to_string(getpid()));
  fs::create_directories(folder);
  const auto write = [&folder](const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
  };
  const ForeignFile topology{folder / "racks.txt", racks()}, list{folder / "flow.txt", flows()};
  const auto made = import_experiment({list}, &topology, "racks", folder);
  ASSERT_TRUE(made) << format_issues("", made.issues);
  write("racks.txt", topology.text);
  for (const auto& [name, text] : made.config->files) write(name, text);
  write("racks.toml", made.config->text);
  const auto file = load_experiment(folder / "racks.toml");
  ASSERT_TRUE(file) << format_issues("", file.issues);
  const auto plan = make_plan(*file.config, {.seeds = 1});
  ASSERT_TRUE(plan) << format_issues("", plan.issues) << made.config->text;
  const Case& c = plan.config->front();
  const auto pool = make_test_pool(buffers_needed(c));
  const RunResult r = run_virtual(c, *pool);
  fs::remove_all(folder);

  ASSERT_EQ(r.traffic.flow_groups.size(), 1U);
  EXPECT_EQ(r.traffic.flow_groups[0].completed, kHosts * kFlowsOfPair);
  EXPECT_EQ(r.traffic.flow_groups[0].delivered_bytes, kHosts * kFlowsOfPair * kFlow_bytes);
  ConfigIssues issues;
  const auto fabric = parse_hpcc_topology(topology.text, issues);
  std::map<std::string, std::uint64_t> sent;
  for (const auto& queue : r.switches.queues)
    sent[queue.switch_name + '.' + queue.port_name] += queue.transmitted[TrafficClass::kBackground];
  constexpr std::uint64_t kHalf_packets = kFlowsOfPair / 2 * kFlow_bytes / 1'024;
  for (std::size_t i = 0; i < fabric->slots.size(); ++i) {
    const std::string port =
        fabric->switches[fabric->slots[i].at_switch].name + ".to_host_" + std::to_string(i);
    EXPECT_GE(sent[port], kHalf_packets) << port;
  }
}

}  // namespace
}  // namespace outrider::imported_nics_test
