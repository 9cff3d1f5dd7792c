// Goal: a queue has every file that its cases are made of, under the paths of where it was made.
#include "tools/lab/queue/queue_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <stdexcept>

#include "tools/lab/queue/queue_manifest.h"

namespace outrider::queue_files_test {
using namespace lab;
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

/// Works in a directory of its own: the paths are relative to it.
class QueueFilesTest : public testing::Test {
 protected:
  QueueFilesTest() : before_(fs::current_path()) {
    std::string name = (fs::temp_directory_path() / "outrider-files-XXXXXX").string();
    directory_ = mkdtemp(name.data());
    fs::create_directories(directory_ / "here/sub");
    fs::current_path(directory_ / "here");
  }
  ~QueueFilesTest() override {
    fs::current_path(before_);
    fs::remove_all(directory_);
  }

  static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

  fs::path before_;
  fs::path directory_;
};

TEST_F(QueueFilesTest, AreThoseThatTheExperimentAndItsCasesName) {
  write("sub/e.toml", "base = \"../base.toml\"\nrivals = \"../../rivals.toml\"\n");
  Case c;
  c.traffic.jobs.emplace_back().model = "models/m.toml";
  c.traffic.flows.emplace_back().distribution = "../web.cdf";
  EXPECT_THAT(
      files_of("sub/e.toml", {c, c}),
      ElementsAre("../rivals.toml", "../web.cdf", "base.toml", "models/m.toml", "sub/e.toml"));
}

TEST_F(QueueFilesTest, AnAbsolutePathIsRefused) {
  write("e.toml", "base = \"/data/base.toml\"\n");
  try {
    files_of("e.toml", {});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("e.toml names /data/base.toml by an absolute path"));
  }
}

TEST_F(QueueFilesTest, KeepTheirPathsAboveToo) {
  write("sub/e.toml", "1");
  write("../up.toml", "2");
  const fs::path root = copy_files({"../up.toml", "sub/e.toml"}, directory_ / "queue");
  fs::current_path(directory_ / "queue" / root);
  EXPECT_EQ(fs::file_size("sub/e.toml"), 1U);
  EXPECT_EQ(fs::file_size("../up.toml"), 1U);
  EXPECT_EQ(fs::canonical("../up.toml"), fs::canonical(directory_ / "queue/files/up.toml"));
}

TEST_F(QueueFilesTest, OneThatIsMissingIsNamed) {
  try {
    copy_files({"none.toml"}, directory_ / "queue");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("none.toml: cannot be copied to "));
  }
}

TEST_F(QueueFilesTest, TheManifestReadsBack) {
  const QueueManifest m{
      .program = "1 2",
      .given = "/e.toml",
      .root = "files/in",
      .file = "../e.toml",
      .plan = {.first_seed = 3, .seeds = 4, .filter = "on", .arms = {"a", "b"}, .quick = true},
      .cases = 12,
      .fingerprint = "99",
      .rules = {.lease = from_seconds(1.5), .takes = 2}};
  write_manifest(".", m);
  const QueueManifest read = read_manifest(".");
  EXPECT_EQ(read.program, m.program);
  EXPECT_EQ(read.given, m.given);
  EXPECT_EQ(read.root, m.root);
  EXPECT_EQ(read.file, m.file);
  EXPECT_EQ(read.plan.first_seed, 3U);
  EXPECT_EQ(read.plan.seeds, 4U);
  EXPECT_EQ(read.plan.filter, "on");
  EXPECT_EQ(read.plan.arms, m.plan.arms);
  EXPECT_TRUE(read.plan.quick);
  EXPECT_EQ(read.cases, 12U);
  EXPECT_EQ(read.fingerprint, "99");
  EXPECT_EQ(read.rules.lease, m.rules.lease);
  EXPECT_EQ(read.rules.takes, 2U);
}

TEST_F(QueueFilesTest, WhatIsNoQueueIsSaidWhyAndWhatToDo) {
  const auto fault = [](const fs::path& directory) -> std::string {
    try {
      read_manifest(directory);
      return {};
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(fault("none"), HasSubstr("--queue none: no such directory; `outrider-lab queue"));
  EXPECT_THAT(fault("sub"), HasSubstr("it has no queue.json"));
  write("sub/queue.json", "{\"format\": 1");
  EXPECT_THAT(fault("sub"), HasSubstr("queue.json is damaged"));
  write("sub/queue.json", "{\"format\": 7}");
  EXPECT_THAT(fault("sub"), HasSubstr("its format is 7, and this program has 1"));
}

}  // namespace
}  // namespace outrider::queue_files_test
