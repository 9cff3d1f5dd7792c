// Goal: a key file is made once, for its owner only, and what cannot be made is not there.
#include "switch/control/keygen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "common/config/signal_key_file.h"
#include "common/runtime/poll_program.h"

namespace outrider::keygen_test {
using namespace sw;
namespace {

using testing::HasSubstr;
using testing::Not;

class Keygen : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::string path_ =
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name();
  std::ostringstream said_;
};

std::string message_of(const std::string& path) {
  std::ostringstream out;
  try {
    generate_key_file(path, 1, out);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}

TEST_F(Keygen, MakesAFileThatReadsBack) {
  const mode_t before = umask(0);
  generate_key_file(path_, 42, said_);
  umask(before);
  struct stat file {};
  ASSERT_EQ(stat(path_.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 07777U, 0600U) << "whatever the umask";
  const auto first = read_signal_key(path_);
  ASSERT_TRUE(first);
  EXPECT_EQ(first.config->id, 42);
  const std::string text = signal_key_text(*first.config);
  EXPECT_THAT(said_.str(), HasSubstr("key 42"));
  EXPECT_THAT(said_.str(), Not(HasSubstr(text.substr(text.size() - 33, 32))));
  std::filesystem::remove(path_);
  generate_key_file(path_, std::nullopt, said_);
  EXPECT_NE(read_signal_key(path_).config->secret, first.config->secret);
}

TEST_F(Keygen, NeverOverwrites) {
  std::ofstream(path_) << "mine";
  EXPECT_THROW(generate_key_file(path_, 1, said_), UsageError);
  EXPECT_THAT(message_of(path_), HasSubstr("exists"));
  std::string kept;
  std::ifstream(path_) >> kept;
  EXPECT_EQ(kept, "mine");
}

TEST_F(Keygen, LeavesNoKeyThatItCouldNotPrint) {
  std::ofstream full("/dev/full");
  EXPECT_THROW(generate_key_file(path_, 1, full), std::runtime_error);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Keygen, SaysWhyItCannot) {
  EXPECT_THAT(message_of(path_ + ".none/key"), HasSubstr("directory does not exist"));
  EXPECT_THAT(message_of("/dev/full"), HasSubstr("exists"));
  EXPECT_THAT(message_of("/proc/key"), HasSubstr("/proc/key"));
}

}  // namespace
}  // namespace outrider::keygen_test
