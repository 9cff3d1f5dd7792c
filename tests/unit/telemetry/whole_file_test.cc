// Goal: a file is there completely or not at all, and nobody can redirect it. Method: links,
// leftovers and directories in its way.
#include "common/telemetry/whole_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/telemetry/sole_writer.h"
#include "tests/support/file_size_limit.h"

namespace outrider::whole_file_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<std::string> synced;  ///< names that files and directories had when they were synced
std::function<void()> meanwhile;  ///< what another writer does before the next sync

}  // namespace
}  // namespace outrider::whole_file_test

/// Takes the place of the C library's in this program.
extern "C" int fsync(int fd) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (const auto act = std::exchange(outrider::whole_file_test::meanwhile, nullptr)) act();
  outrider::whole_file_test::synced.push_back(
      fs::read_symlink("/proc/self/fd/" + std::to_string(fd), ignored).string());
  return static_cast<int>(syscall(SYS_fsync, fd));
}

namespace outrider::whole_file_test {
namespace {

class WholeFile : public testing::Test {
 protected:
  WholeFile() {
    std::string name = (fs::temp_directory_path() / "outrider-file-XXXXXX").string();
    directory_ = mkdtemp(name.data());
  }
  ~WholeFile() override { fs::remove_all(directory_); }
  static std::string text_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string fault(const std::string& text) const {
    try {
      write_whole_file(file(), text);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return {};
  }
  std::string file() const { return directory_ / "report.json"; }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

  fs::path directory_;
};

TEST_F(WholeFile, ReplacesWhatIsThere) {
  write_whole_file(file(), "first, and longer");
  write_whole_file(file(), "second");
  EXPECT_EQ(text_of(file()), "second");
  EXPECT_EQ(files(), 1U);
}

// A loss of power keeps what was synced: the content under its first name, then the new name.
TEST_F(WholeFile, IsOnTheDiskBeforeItHasItsName) {
  using testing::ElementsAre, testing::MatchesRegex;
  synced.clear();
  write_whole_file(file(), "report");
  EXPECT_THAT(synced,
              ElementsAre(MatchesRegex(file() + "\\.[0-9a-f]{16}\\.partial"), directory_.string()));
  const std::string partial = partial_name(file());
  std::ofstream(partial) << "written piece by piece";
  synced.clear();
  EXPECT_EQ(publish_file(partial, file()), 0);
  EXPECT_THAT(synced, ElementsAre(partial, directory_.string()));
  EXPECT_EQ(text_of(file()), "written piece by piece");
  EXPECT_EQ(publish_file(partial, file()), ENOENT);
}

// The second writer begins and ends while the first is about to give its file its name.
TEST_F(WholeFile, OfTwoWritersEachWritesItsOwn) {
  meanwhile = [this] { write_whole_file(file(), "of the second, which is longer"); };
  EXPECT_EQ(fault("of the first"), "");
  EXPECT_EQ(text_of(file()), "of the first") << "the last to end";
  EXPECT_EQ(files(), 1U);
}

TEST_F(WholeFile, AnUnfinishedFileOfAnotherIsLeftAlone) {
  const std::string begun = partial_name(file());
  std::ofstream(begun) << "half";
  write_whole_file(file(), "report");
  EXPECT_EQ(text_of(file()), "report");
  EXPECT_EQ(text_of(begun), "half");
}

TEST_F(WholeFile, WhatKilledWritersHaveLeftCanBeRemoved) {
  std::ofstream(partial_name(file())) << "half";
  std::ofstream(partial_name(file())) << "half of another";
  write_whole_file(file(), "report");
  std::ofstream(directory_ / "mine.partial") << "of a user";
  remove_partial_files(directory_);
  EXPECT_EQ(text_of(file()), "report");
  EXPECT_EQ(files(), 2U) << "the report and the user's";
  remove_partial_files(directory_ / "missing");
}

TEST_F(WholeFile, NamesTheFileAndTheCause) {
  fs::create_directory(file());
  EXPECT_THAT(fault("x"), HasSubstr("report.json: cannot be written: Is a directory (errno 21)"));
  EXPECT_EQ(files(), 1U) << "nothing is left behind";
  fs::remove(file());
  ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
  EXPECT_THAT(fault("x"), HasSubstr("report.json: cannot be written: is a device or a pipe"));
  fs::create_symlink("report.json", directory_ / "link");
  EXPECT_THROW(write_whole_file(directory_ / "link", "x"), std::runtime_error);
  std::ofstream(directory_ / "partial") << "x";
  EXPECT_EQ(publish_file(directory_ / "partial", file()), EEXIST);
  EXPECT_TRUE(fs::is_fifo(file()) && fs::is_symlink(directory_ / "link"));
  const SoleWriter none(directory_ / "no" / "such");
  EXPECT_THAT(none.problem(), HasSubstr("cannot be written: No such file or directory (errno 2)"));
}

TEST_F(WholeFile, WhatIsWrittenForLongHasOneWriter) {
  const std::string path = directory_ / "capture";
  {
    const SoleWriter first(path);
    EXPECT_EQ(first.problem(), "");
    std::ofstream(path) << "packets";
    const SoleWriter second(path);
    EXPECT_EQ(second.problem(), path + ": another process is writing it; choose another name");
  }
  EXPECT_EQ(SoleWriter(path).problem(), "") << "its writer has gone";
  EXPECT_EQ(text_of(path), "packets") << "a claim empties nothing";
  EXPECT_EQ(SoleWriter("/dev/null").problem(), "");
  EXPECT_EQ(SoleWriter("").problem(), "");
}

TEST_F(WholeFile, KeepsWhatIsThereIfTheNewDoesNotFit) {
  write_whole_file(file(), "old");
  {
    const FileSizeLimit limit(5);
    EXPECT_THAT(fault("new, and longer"),
                HasSubstr("report.json: cannot be written: File too large (errno 27)"));
  }
  EXPECT_EQ(text_of(file()), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(WholeFile, IsForItsOwnerAloneIfAsked) {
  write_whole_file(file(), "secret", 0600);
  EXPECT_EQ(fs::status(file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

}  // namespace
}  // namespace outrider::whole_file_test
