// Goal: traces of jobs become the steps that they say, with what does not use the network left out
// and counted, and a faulty file is refused by line, or by rank and byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/chakra_bytes.h"
#include "tools/lab/import/aicb_workload.h"
#include "tools/lab/import/chakra_trace.h"
#include "tools/lab/import/import_experiment.h"
#include "tools/lab/import/simai_workload.h"

namespace outrider::job_traces_test {
using namespace lab;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using tg::StepKind;
namespace {

std::vector<StepKind> kinds_of(const JobTrace& trace) {
  std::vector<StepKind> kinds;
  for (const tg::JobStep& step : trace.list.steps) kinds.push_back(step.kind);
  return kinds;
}

std::string simai(const std::string& head, const std::string& layers) {
  return "HYBRID_TRANSFORMER_FWD_IN_BCKWD " + head + " checkpoints: 0 checkpoint_initiates: 0\n" +
         layers;
}

// Two servers of eight with tensor parallelism inside: weights are reduced by pairs, eight of them.
TEST(SimaiWorkload, ReducesWeightsBesideTheBackwardPass) {
  const auto read = parse_simai_workload(
      simai("model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 16",
            "2\nfirst -1 1000 ALLREDUCE 500 2000 NONE 0 3000 ALLREDUCE 4000 1\n"
            "second -1 1000 NONE 0 2000 NONE 0 3000 ALLREDUCE 8000 1\n"));
  ASSERT_TRUE(read) << format_issues("", read.issues);
  const auto& steps = read.config->list.steps;
  ASSERT_EQ(steps.size(), 4U + 16U);
  EXPECT_EQ(steps[0].takes, Duration(4000)) << "both forward passes, and inputs of the second";
  EXPECT_EQ(steps[1].takes, Duration(3000));
  EXPECT_EQ(steps[2].kind, StepKind::kAllReduce);
  EXPECT_EQ(steps[2].bytes, 8000U) << "the last layer is the first in the backward pass";
  EXPECT_THAT(steps[3].ranks, ElementsAre(1, 9));
  EXPECT_EQ(steps[10].takes, Duration(2000));
  EXPECT_THAT(*steps[10].after, ElementsAre(1)) << "computing does not wait for weights";
  EXPECT_THAT(*steps[12].after, ElementsAre(11, 2)) << "collectives of weights follow each other";
  EXPECT_THAT(read.config->left_out, Contains(HasSubstr("1 collectives within a server")));
}

TEST(SimaiWorkload, IsRefusedByLine) {
  const std::pair<std::string, const char*> rows[] = {
      {"HYBRID_DLRM model_parallel_NPU_group: 1 all_gpus: 2\n", "HYBRID_DLRM"},
      {simai("model_parallel_NPU_group: 3 pp: 1 all_gpus: 8", ""), "must be a multiple"},
      {simai("model_parallel_NPU_group: 1 all_gpus: 9216", ""), "at most 256"},
      {simai("model_parallel_NPU_group: 1 all_gpus: 0", ""), "all_gpus must be"},
      {simai("all_gpus: 16", "1\nname -1 1 NONE 0\n"), "12 words"},
      {simai("all_gpus: 16", "1\nn -1 x NONE 0 1 NONE 0 1 NONE 0 1\n"), "nanoseconds"},
      {simai("all_gpus: 16", "1\nn -1 1 ALLSUM 9 1 NONE 0 1 NONE 0 1\n"), "ALLSUM"},
      {simai("all_gpus: 16", "1\nn -1 1 NONE 0 1 NONE 0 1 ALLGATHER 3 1\n"), "line 3"},
      {simai("all_gpus: 16", "2\nn -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n"), "says 2"}};
  for (const auto& [text, problem] : rows) {
    const auto read = parse_simai_workload(text);
    EXPECT_FALSE(read) << text;
    EXPECT_THAT(format_issues("", read.issues), HasSubstr(problem));
  }
}

constexpr const char* kAicbHead =
    "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,"
    "busbw,count\n";

TEST(AicbWorkload, TakesAnIterationBehindTheSetUp) {
  const auto read = parse_aicb_workload(
      "[ pp_stage0: [rank0, rank1, rank2, rank15], pp_stage1: [rank16, rank31] ]\n" +
      std::string(kAicbHead) +
      "CommType.broadcast,CommGroup.dp_group,8,24,init,None,0,,None,None,None,1\n"
      "CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n"
      "CommType.all_reduce,CommGroup.tp_group,2,33554432,forward,None,None,,None,None,None,1\n"
      "CommType.isend,CommGroup.pp_group,2,4096,forward,16,None,,None,None,None,1\n"
      "CommType.reduce_scatter,CommGroup.dp_group,8,65536,backward,None,None,,None,None,None,1\n"
      "CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n"
      "CommType.all_reduce,CommGroup.dp_group,8,24,init,None,0,,None,None,None,1\n");
  ASSERT_TRUE(read) << format_issues("", read.issues);
  EXPECT_EQ(read.config->list.ranks, 16U);
  ASSERT_THAT(kinds_of(*read.config),
              ElementsAre(StepKind::kReduceScatter, StepKind::kReduceScatter));
  EXPECT_THAT(read.config->list.steps[1].ranks, ElementsAre(1, 3, 5, 7, 9, 11, 13, 15));
  EXPECT_THAT(read.config->left_out,
              ElementsAre(HasSubstr("1 communications before the first epoch_end"),
                          HasSubstr("1 communications of further"),
                          HasSubstr("1 collectives within a server"), HasSubstr("1 sends")));
}

TEST(AicbWorkload, IsRefusedByLine) {
  const std::pair<std::string, const char*> rows[] = {
      {"comm_type,comm_group\n", "comm_group_size"},
      {"[rank0 ~ rankx]\n", "must be a rank"},
      {kAicbHead + std::string("CommType.all_reduce,CommGroup.dp_group,16\n"), "fields"},
      {kAicbHead + std::string("CommType.all_reduce,CommGroup.dp_group,16,x,,,,,,,,1\n"),
       "line 2: \"x\""},
      {kAicbHead + std::string("CommType.all_reduce,CommGroup.dp_group,300,9,,,,,,,,1\n"),
       "300 ranks"}};
  for (const auto& [text, problem] : rows) {
    const auto read = parse_aicb_workload(text);
    EXPECT_FALSE(read) << text;
    EXPECT_THAT(format_issues("", read.issues), HasSubstr(problem));
  }
}

ConfigResult<JobTrace> chakra(const std::vector<std::string>& files) {
  return parse_chakra_trace({files.begin(), files.end()});
}

// Each of two ranks computes, and the sum begins when both are done; the nodes come out of order.
TEST(ChakraTrace, JoinsTheRanksOfACollective) {
  for (const bool with_version : {false, true}) {
    std::vector<std::string> files;
    for (const std::uint64_t us : {500U, 700U})
      files.push_back(chakra_file(
          {{.id = 8, .type = 7, .needs = {5}, .numbers = {{"comm_type", 0}, {"comm_size", 4096}}},
           {.id = 5, .type = 4, .duration_us = us}},
          with_version));
    const auto read = chakra(files);
    ASSERT_TRUE(read) << format_issues("", read.issues);
    const auto& steps = read.config->list.steps;
    ASSERT_THAT(kinds_of(*read.config),
                ElementsAre(StepKind::kCompute, StepKind::kCompute, StepKind::kAllReduce));
    EXPECT_EQ(steps[1].takes, std::chrono::microseconds(700));
    EXPECT_THAT(*steps[2].after, ElementsAre(0, 1));
    EXPECT_THAT(steps[2].ranks, ElementsAre(0, 1));
    EXPECT_TRUE(tg::validate(read.config->list).empty());
  }
}

// Both ranks send and then receive, which is no circle.
TEST(ChakraTrace, MatchesSendsAndReceipts) {
  std::vector<std::string> files;
  for (const std::uint64_t peer : {1U, 0U})
    files.push_back(chakra_file(
        {{.id = 1, .type = 5, .numbers = {{"comm_dst", peer}, {"comm_size", 100}}},
         {.id = 2, .type = 6, .needs = {1}, .numbers = {{"comm_src", peer}, {"comm_size", 100}}},
         {.id = 3, .type = 4, .needs = {2}, .duration_us = 9}},
        true));
  const auto read = chakra(files);
  ASSERT_TRUE(read) << format_issues("", read.issues);
  const auto& steps = read.config->list.steps;
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_THAT(steps[0].ranks, ElementsAre(0, 1));
  EXPECT_THAT(*steps[2].after, ElementsAre(0, 1)) << "its send, and the peer's that it receives";
}

TEST(ChakraTrace, CountsAGatheringByWhatAllContribute) {
  const std::string file =
      chakra_file({{.id = 1, .type = 7, .numbers = {{"comm_type", 2}, {"comm_size", 1000}}}}, true);
  const auto read = chakra({file, file, file, file});
  ASSERT_TRUE(read);
  EXPECT_EQ(read.config->list.steps.front().bytes, 4000U);
}

TEST(ChakraTrace, IsRefusedByRankAndByte) {
  const auto one = [](std::uint64_t id, std::vector<std::uint64_t> needs, std::uint64_t bytes) {
    return chakra_file({{.id = id,
                         .type = 7,
                         .needs = std::move(needs),
                         .numbers = {{"comm_type", 0}, {"comm_size", bytes}}}},
                       false);
  };
  const std::string good = one(1, {}, 64);
  const std::pair<std::vector<std::string>, const char*> rows[] = {
      {{""}, "rank 0, byte 0: is empty"},
      {{good, good.substr(0, good.size() - 1)}, "rank 1, byte"},
      {{good, one(1, {2}, 64)}, "rank 1, byte 1: node 1 waits for node 2"},
      {{good, one(1, {1}, 64)}, "circle"},
      {{good, one(1, {}, 65)}, "another kind or size"},
      {{chakra_file({{.id = 1, .type = 6, .numbers = {{"comm_src", 1}}}}, true), good},
       "receives what nobody sends"},
      {{chakra_file({{.id = 1, .type = 5, .numbers = {{"comm_dst", 7}}}}, true), good},
       "another rank"}};
  for (const auto& [files, problem] : rows) {
    const auto read = chakra(files);
    EXPECT_FALSE(read);
    EXPECT_THAT(format_issues("", read.issues), HasSubstr(problem));
  }
}

// Each of two jobs has its own list, and the number before ".et" is the rank.
TEST(Import, MakesAJobOfEachTrace) {
  const std::string et =
      chakra_file({{.id = 1, .type = 7, .numbers = {{"comm_type", 6}, {"comm_size", 1000}}}}, true);
  const std::string text = simai("model_parallel_NPU_group: 1 all_gpus: 16",
                                 "1\nn -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 64 1\n");
  const auto made = import_experiment({{"a2a.0.et", et}, {"a2a.1.et", et}, {"gpt.txt", text}},
                                      nullptr, "two", "");
  ASSERT_TRUE(made) << format_issues("", made.issues);
  ASSERT_EQ(made.config->files.size(), 2U);
  EXPECT_EQ(made.config->files[0].first, "two-0.steps.csv");
  EXPECT_THAT(made.config->text, HasSubstr("leaves = 3"));
  const auto list = tg::parse_step_list(made.config->files[1].second);
  ASSERT_TRUE(list) << format_issues("", list.issues);
  EXPECT_EQ(list.config->ranks, 16U);
  const auto mixed =
      import_experiment({{"gpt.txt", text}, {"f.txt", "1\n0 1 3 1 9 0\n"}}, nullptr, "two", "");
  EXPECT_THAT(format_issues("", mixed.issues), HasSubstr("must be traces of jobs"));
}

}  // namespace
}  // namespace outrider::job_traces_test
