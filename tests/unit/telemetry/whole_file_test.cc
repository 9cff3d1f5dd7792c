// Goal: a file is there completely or not at all, and nobody can redirect it. Method: links,
// leftovers and directories in its way.
#include "common/telemetry/whole_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "tests/support/file_size_limit.h"

namespace outrider::whole_file_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<std::string> synced;  ///< names that files and directories had when they were synced

}  // namespace
}  // namespace outrider::whole_file_test

/// Takes the place of the C library's in this program.
extern "C" int fsync(int fd) {
  namespace fs = std::filesystem;
  std::error_code ignored;
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
  fs::path partial() const { return file() + ".partial"; }

  fs::path directory_;
};

TEST_F(WholeFile, ReplacesWhatIsThere) {
  write_whole_file(file(), "first, and longer");
  write_whole_file(file(), "second");
  EXPECT_EQ(text_of(file()), "second");
  EXPECT_FALSE(fs::exists(partial()));
}

// A loss of power keeps what was synced: the content under its first name, then the new name.
TEST_F(WholeFile, IsOnTheDiskBeforeItHasItsName) {
  using testing::ElementsAre;
  synced.clear();
  write_whole_file(file(), "report");
  EXPECT_THAT(synced, ElementsAre(partial().string(), directory_.string()));
  std::ofstream(partial()) << "written piece by piece";
  synced.clear();
  EXPECT_EQ(publish_file(partial(), file()), 0);
  EXPECT_THAT(synced, ElementsAre(partial().string(), directory_.string()));
  EXPECT_EQ(text_of(file()), "written piece by piece");
  EXPECT_EQ(publish_file(partial(), file()), ENOENT);
}

TEST_F(WholeFile, DoesNotFollowALinkOfSomebodyElse) {
  std::ofstream(directory_ / "precious") << "keep";
  fs::create_symlink(directory_ / "precious", partial());
  write_whole_file(file(), "report");
  EXPECT_EQ(text_of(directory_ / "precious"), "keep");
  EXPECT_EQ(text_of(file()), "report");
  EXPECT_FALSE(fs::is_symlink(file()));
}

TEST_F(WholeFile, TakesTheNameOfALeftover) {
  std::ofstream(partial()) << "of a program that was killed";
  write_whole_file(file(), "report");
  EXPECT_EQ(text_of(file()), "report");
}

TEST_F(WholeFile, NamesTheFileAndTheCause) {
  fs::create_directory(partial());
  EXPECT_THAT(fault("x"), HasSubstr("report.json.partial: cannot be written: File exists"));
  fs::remove(partial());
  fs::create_directory(file());
  EXPECT_THAT(fault("x"), HasSubstr("report.json: cannot be written: Is a directory (errno 21)"));
  EXPECT_FALSE(fs::exists(partial())) << "nothing is left behind";
}

TEST_F(WholeFile, KeepsWhatIsThereIfTheNewDoesNotFit) {
  write_whole_file(file(), "old");
  {
    const FileSizeLimit limit(5);
    EXPECT_THAT(fault("new, and longer"),
                HasSubstr("report.json: cannot be written: File too large (errno 27)"));
  }
  EXPECT_EQ(text_of(file()), "old");
  EXPECT_FALSE(fs::exists(partial()));
}

TEST_F(WholeFile, IsForItsOwnerAloneIfAsked) {
  write_whole_file(file(), "secret", 0600);
  EXPECT_EQ(fs::status(file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

}  // namespace
}  // namespace outrider::whole_file_test
