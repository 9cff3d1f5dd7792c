// Goal: results are replaced only by as many of the same. Method: a summary.json, and scopes that
// lack something of it.
#include "tools/lab/summary/earlier_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

namespace outrider::earlier_results_test {
using namespace lab;
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class EarlierResults : public testing::Test {
 protected:
  EarlierResults() {
    std::string name = (fs::temp_directory_path() / "outrider-results-XXXXXX").string();
    directory_ = mkdtemp(name.data());
  }
  ~EarlierResults() override { fs::remove_all(directory_); }

  void put(const std::string& text) const { std::ofstream(directory_ / "summary.json") << text; }
  std::string lost(const ResultsScope& next) const {
    return lost_results(directory_, next).value_or("");
  }

  fs::path directory_;
};

TEST_F(EarlierResults, WhatTheNewOnesLackIsNamed) {
  const ResultsScope same{"quick", "virtual", {1, 2, 3}, 4};
  EXPECT_EQ(lost(same), "") << "there is nothing";
  put(R"({"experiment": "quick", "runtime": "virtual",
          "cases": [{"seed": 1}, {"seed": 2}, {"seed": 3}, {"seed": 3}]})");
  EXPECT_EQ(lost(same), "");
  EXPECT_EQ(lost({"quick", "virtual", {1, 2, 3, 4}, 8}), "") << "more";
  EXPECT_THAT(lost({"demo", "virtual", {1, 2, 3}, 4}), HasSubstr("the experiment \"quick\""));
  EXPECT_THAT(lost({"quick", "loopback", {1, 2, 3}, 4}), HasSubstr("the runtime virtual"));
  EXPECT_THAT(lost({"quick", "virtual", {1}, 40}), HasSubstr("seeds 2 to 3, which"));
  EXPECT_THAT(lost({"quick", "virtual", {1, 3}, 40}), HasSubstr("has seed 2, which"));
  EXPECT_THAT(lost({"quick", "virtual", {1, 2, 3}, 3}), HasSubstr("4 cases, and this run makes 3"));
}

TEST_F(EarlierResults, ASummaryOfAnotherProgramIsKept) {
  for (const char* text : {"", "[1]", "{\"experiment\": 3}", "not JSON"}) {
    put(text);
    EXPECT_THAT(lost({"quick", "virtual", {1}, 1}), HasSubstr("not of outrider-lab")) << text;
  }
}

}  // namespace
}  // namespace outrider::earlier_results_test
