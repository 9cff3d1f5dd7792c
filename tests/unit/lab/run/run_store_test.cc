// Goal: a run is reused only if its file is complete and from the same program, configuration
// and seed. Method: files that are changed, cut short and moved.
#include "tools/lab/run/run_store.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>

#include "tests/support/source_path.h"
#include "tests/unit/lab/experiment/experiment_fixture.h"

namespace outrider::run_store_test {
using namespace lab;
namespace {

namespace fs = std::filesystem;

class RunStoreTest : public testing::Test {
 protected:
  RunStoreTest() {
    std::string name = (fs::temp_directory_path() / "outrider-store-XXXXXX").string();
    directory_ = mkdtemp(name.data());
    cases_ = plan_of(small_experiment());
  }
  ~RunStoreTest() override { fs::remove_all(directory_); }

  fs::path only_file() const {
    const fs::directory_iterator files(directory_ / "unfinished");
    return files->path();
  }

  fs::path directory_;
  std::vector<Case> cases_;
};

const std::string kText("any\0bytes\n", 10);

TEST_F(RunStoreTest, GivesBackWhatItWasGiven) {
  const RunStore store(directory_, "program 1");
  EXPECT_FALSE(store.load(cases_[0], Runtime::kVirtual).text);
  store.save(cases_[0], Runtime::kVirtual, kText);
  store.save(cases_[1], Runtime::kVirtual, "");
  EXPECT_EQ(store.load(cases_[0], Runtime::kVirtual).text, kText);
  EXPECT_EQ(store.load(cases_[1], Runtime::kVirtual).text, "");
  store.clear();
  EXPECT_FALSE(store.load(cases_[0], Runtime::kVirtual).text);
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(RunStoreTest, AnotherRunIsNotTaken) {
  const RunStore store(directory_, "program 1");
  store.save(cases_[0], Runtime::kVirtual, kText);
  EXPECT_FALSE(store.load(cases_[0], Runtime::kLoopback).text);
  EXPECT_FALSE(store.load(cases_[1], Runtime::kVirtual).text) << "another seed";
  EXPECT_FALSE(RunStore(directory_, "program 2").load(cases_[0], Runtime::kVirtual).text);
  const auto other = plan_of(with(small_experiment(), "job.iterations = 2\n",
                                  "job.iterations = 2\nswitch.marker.threshold_packets = 33\n"));
  ASSERT_EQ(other[0].label, cases_[0].label);
  EXPECT_FALSE(store.load(other[0], Runtime::kVirtual).text) << "another threshold";
  const auto longer = plan_of(with(small_experiment(), "job.iterations = 2\n",
                                   "job.iterations = 2\nlimit_seconds = 9.5\n"));
  EXPECT_FALSE(store.load(longer[0], Runtime::kVirtual).text) << "may take longer";
}

TEST_F(RunStoreTest, AnEditedFileOfSizesIsAnotherRun) {
  const fs::path sizes = directory_ / "sizes.cdf";
  fs::copy_file(source_path("conf/distributions/web-search.cdf"), sizes);
  const auto cases =
      plan_of(with(small_experiment(), "job.iterations = 2\n",
                   "job.iterations = 2\nbackground.load = 0.5\nbackground.sizes = \"" +
                       sizes.string() + "\"\n"));
  const RunStore store(directory_, "program 1");
  store.save(cases.at(0), Runtime::kVirtual, kText);
  EXPECT_EQ(store.load(cases[0], Runtime::kVirtual).text, kText);
  std::ofstream(sizes, std::ios::app) << "# edited\n";
  EXPECT_FALSE(store.load(cases[0], Runtime::kVirtual).text);
}

TEST_F(RunStoreTest, AFileThatIsNotWholeOrAnothersIsNotTaken) {
  const RunStore store(directory_, "program 1");
  store.save(cases_[0], Runtime::kVirtual, kText);
  const fs::path file = only_file();
  const auto whole = fs::file_size(file);
  for (const std::uintmax_t size :
       {std::uintmax_t{0}, std::uintmax_t{40}, whole - kText.size(), whole - 1}) {
    store.save(cases_[0], Runtime::kVirtual, kText);
    fs::resize_file(file, size);
    EXPECT_FALSE(store.load(cases_[0], Runtime::kVirtual).text) << "cut to " << size;
    EXPECT_EQ(store.load(cases_[0], Runtime::kVirtual).damaged, file) << "cut to " << size;
  }
  store.save(cases_[1], Runtime::kVirtual, kText);
  for (const auto& entry : fs::directory_iterator(directory_ / "unfinished"))
    if (entry.path() != file) fs::rename(entry.path(), file);
  EXPECT_FALSE(store.load(cases_[0], Runtime::kVirtual).text) << "another run under its name";
  EXPECT_EQ(store.load(cases_[0], Runtime::kVirtual).damaged, file);
}

// A time series is mostly zeros.
TEST_F(RunStoreTest, PacksRunsAndSaysWhatTheyTake) {
  const RunStore store(directory_, "program 1");
  EXPECT_EQ(store.size().files, 0U);
  std::string series;
  for (int i = 0; i < 100'000; ++i) series += "{\"background\":0,\"ddl\":0,\"signal\":0},";
  store.save(cases_[0], Runtime::kVirtual, series);
  EXPECT_EQ(store.load(cases_[0], Runtime::kVirtual).text, series);
  EXPECT_EQ(store.size().files, 1U);
  EXPECT_EQ(store.size().bytes, fs::file_size(only_file()));
  EXPECT_LT(store.size().bytes, series.size() / 20);
}

TEST_F(RunStoreTest, SaysWhereItCannotWrite) {
  std::ofstream(directory_ / "unfinished") << "in the way";
  const RunStore store(directory_, "program 1");
  try {
    store.save(cases_[0], Runtime::kVirtual, kText);
    FAIL() << "a file cannot be a directory";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("unfinished"), std::string::npos) << error.what();
  }
}

TEST(ProgramIdentity, IsTheSameWithinAProgram) {
  EXPECT_EQ(program_identity(), program_identity());
  EXPECT_GT(program_identity().size(), 5U);
}

}  // namespace
}  // namespace outrider::run_store_test
