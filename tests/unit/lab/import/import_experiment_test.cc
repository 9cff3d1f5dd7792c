// Goal: a file of another simulator is recognised by its content, and becomes an experiment that
// can be planned, with the flows between the hosts that the file names.
#include "tools/lab/import/import_experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/plan.h"

namespace outrider::import_experiment_test {
using namespace lab;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
namespace {

namespace fs = std::filesystem;

// Switch 0 has hosts 1 and 4, switch 2 has hosts 3 and 5: places are 1, 4, 3, 5.
constexpr const char* kTopology = R"(6 2 5
0 2
1 0 100Gbps 1us 0
3 2 100Gbps 1us 0
4 0 100Gbps 1us 0
5 2 100Gbps 1us 0
0 2 400Gbps 1us 0
)";
constexpr const char* kFlows = "2\n1 3 3 100 5000 2.0\n5 4 3 100 200000 2.5\n";
constexpr const char* kMatrix = "Nodes 4\nConnections 1\n1->3 id 1 start 0 size 9000\n";

ConfigResult<ImportedExperiment> imported(const char* file, const char* topology,
                                          const fs::path& into = "") {
  const ForeignFile network{"topology.txt", topology == nullptr ? "" : topology};
  return import_experiment({{into / "flow.txt", file}}, topology == nullptr ? nullptr : &network,
                           "mine", into);
}

TEST(ForeignKind, IsToldByTheFirstLines) {
  const std::pair<const char*, ForeignKind> rows[] = {
      {"", ForeignKind::kUnknown},
      {"once upon a time", ForeignKind::kUnknown},
      {kTopology, ForeignKind::kTopology},
      {"# four\n138 10 4 144\n", ForeignKind::kTopology},
      {"{\"nodes\": []}", ForeignKind::kNodeLink},
      {kFlows, ForeignKind::kFlowList},
      {"from,to,bytes,start_seconds\n", ForeignKind::kFlowTable},
      {"16 8 1 3 20 A100\n", ForeignKind::kGpuTopology},
      {kMatrix, ForeignKind::kConnectionMatrix},
      {"Nodes 8\nTiers 2\n", ForeignKind::kTiers},
      {"HYBRID_TRANSFORMER model_parallel_NPU_group: 8 ep: 1\n2\n", ForeignKind::kSimaiWorkload},
      {"[rank0 ~ rank7]\ncomm_type,comm_group,msg_size\n", ForeignKind::kAicbWorkload}};
  for (const auto& [text, kind] : rows) EXPECT_EQ(foreign_kind_of(text, "file.txt"), kind) << text;
  EXPECT_EQ(foreign_kind_of("", "all_gather.0.et"), ForeignKind::kChakraTrace);
}

TEST(Import, FlowsAreNumberedAsTheExperimentPlacesHosts) {
  const auto made = imported(kFlows, kTopology);
  ASSERT_TRUE(made) << format_issues("", made.issues);
  EXPECT_THAT(made.config->what,
              HasSubstr("a list of flows of HPCC's form: 2 flows between 4 hosts"));
  ASSERT_EQ(made.config->files.size(), 1U);
  EXPECT_EQ(made.config->files[0].first, "mine.flows.csv");
  EXPECT_EQ(made.config->files[0].second,
            "start_seconds,from,to,bytes\n0.000000000,0,2,5000\n0.500000000,3,1,200000\n");
  EXPECT_THAT(made.config->text, HasSubstr("list = \"mine.flows.csv\""));
}

TEST(Import, AMatrixNumbersHostsAlone) {
  const auto made = imported(kMatrix, kTopology);
  ASSERT_TRUE(made) << format_issues("", made.issues);
  ASSERT_EQ(made.config->files.size(), 1U);  // hosts 1 and 3 by number are nodes 3 and 5
  EXPECT_EQ(made.config->files[0].second, "start_seconds,from,to,bytes\n0.000000000,2,3,9000\n");
}

constexpr const char* kTable = "start_seconds,from,to,bytes\n0,1,3,5000\n";

TEST(Import, TheFormSaysWhatCarriesTheFlows) {
  for (const char* flows : {kFlows, kTable, kMatrix}) {
    const auto made = imported(flows, kTopology);
    ASSERT_TRUE(made) << format_issues("", made.issues);
    const bool rdma = flows == kFlows;
    EXPECT_THAT(made.config->understood,
                Contains(HasSubstr(rdma ? "over RoCEv2 with DCQCN" : "over TCP")));
    for (const char* setting :
         {"protocol = \"roce\"", "switch.queue.lossless.xoff_bytes = 500000\n",
          "kmin_packets = 400.0, kmax_packets = 1600.0"})
      EXPECT_EQ(made.config->text.find(setting) != std::string::npos, rdma) << setting << flows;
  }
}

TEST(Import, WhatCannotBeImportedIsRefusedWithTheReason) {
  struct Row {
    const char* file;
    const char* topology;
    const char* problem;
  };
  const Row rows[] = {
      {"once upon a time", nullptr, "flow.txt: is of no form that is known here"},
      {kFlows, nullptr, "flow.txt: says nothing of the network: name its file behind --topology"},
      {kTopology, kTopology, "flow.txt: is a topology itself"},
      {kFlows, kFlows, "topology.txt: is no topology"},
      {"1\n0 3 3 100 5000 2.0\n", kTopology, "flow.txt: flow 1: node 0 is a switch"},
      {"1\n9 3 3 100 5000 2.0\n", kTopology, "flow.txt: line 2: \"9\": is not one of the 6 hosts"},
      {"1\n1 3 3 100 5000 2.0\n", "6 2 5\n0 2\n", "topology.txt: line 2: ends after 0 of 5 links"},
      {"Nodes 9\nConnections 1\n0->8 start 0 size 1\n", kTopology, "the topology has 4 hosts"},
      {kFlows, "16 8 1 3 20 A100\n", "topology.txt: is a topology of SimAI, which cannot be"},
      {"16 8 1 3 20 A100\n", nullptr, "its NVSwitches join the GPUs of one server alone"},
      {"HYBRID model_parallel_NPU_group: 8\n", nullptr,
       "flow.txt: line 1: \"HYBRID\": must be HYBRID_TRANSFORMER"},
  };
  for (const Row& row : rows) {
    const auto made = imported(row.file, row.topology);
    EXPECT_FALSE(made) << row.problem;
    EXPECT_THAT(format_issues("", made.issues), HasSubstr(row.problem));
  }
}

// The written files are read back as `outrider-lab run` reads them.
TEST(Import, IsPlanned) {
  const fs::path folder =
      fs::temp_directory_path() / ("outrider-import-" + std::to_string(getpid()));
  fs::create_directories(folder);
  const auto write = [&folder](const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
  };
  write("topology.txt", kTopology);
  write("flow.txt", kFlows);
  const ForeignFile network{folder / "topology.txt", kTopology};
  for (const bool flows : {true, false}) {
    const auto made =
        flows ? import_experiment({{folder / "flow.txt", kFlows}}, &network, "mine", folder)
              : import_experiment({network}, nullptr, "mine", folder);
    ASSERT_TRUE(made) << format_issues("", made.issues);
    for (const auto& [name, text] : made.config->files) write(name, text);
    write("mine.toml", made.config->text);
    const auto file = load_experiment(folder / "mine.toml");
    ASSERT_TRUE(file) << format_issues("", file.issues) << made.config->text;
    const auto plan = make_plan(*file.config);
    ASSERT_TRUE(plan) << format_issues("", plan.issues) << made.config->text;
    ASSERT_EQ(plan.config->size(), 1U);
    const Case& c = plan.config->front();
    EXPECT_FALSE(c.has_job);
    ASSERT_EQ(c.traffic.flows.size(), 1U);
    EXPECT_EQ(c.traffic.flows[0].list.has_value(), flows);
    EXPECT_EQ(c.traffic.duration.has_value(), !flows);
    if (flows) {
      EXPECT_THAT(c.traffic.flows[0].hosts, ElementsAre("host_0", "host_1", "host_2", "host_3"));
      EXPECT_EQ(c.traffic.hosts[1].device, "switch_0");
      EXPECT_EQ(c.traffic.hosts[2].device, "switch_2");
    }
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace outrider::import_experiment_test
