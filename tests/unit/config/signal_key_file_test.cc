// Goal: a key file is read as it was written, and anything else is refused with its cause and
// without its content.
#include "common/config/signal_key_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace outrider::signal_key_file_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr SignalKey kKey{200, {0xDE, 0xAD, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0xFF}};
constexpr const char* kSecret = "dead000102030405060708090a0b0cff";

class SignalKeyFile : public testing::Test {
 protected:
  void write(const std::string& text, mode_t mode = 0600) const {
    std::ofstream(path_) << text;
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
  }
  [[nodiscard]] std::string problem() const {
    const auto read = read_signal_key(path_);
    if (read) return "none";
    EXPECT_THAT(read.issues.front().problem, Not(HasSubstr("dead")));
    return read.issues.front().problem;
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string path_ =
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(SignalKeyFile, ReadsWhatWasWritten) {
  EXPECT_EQ(signal_key_text(kKey), "outrider-signal-key 1 200 " + std::string(kSecret) + "\n");
  write(signal_key_text(kKey));
  const auto read = read_signal_key(path_);
  ASSERT_TRUE(read);
  EXPECT_EQ(read.config->id, kKey.id);
  EXPECT_EQ(read.config->secret, kKey.secret);
}

TEST_F(SignalKeyFile, RefusesAFileThatOthersMayUse) {
  for (const mode_t mode : {0640U, 0604U, 0620U, 0601U}) {
    write(signal_key_text(kKey), mode);
    EXPECT_THAT(problem(), HasSubstr("chmod 600 " + path_)) << std::oct << mode;
  }
  write(signal_key_text(kKey), 0400);
  EXPECT_EQ(problem(), "none");
}

TEST_F(SignalKeyFile, RefusesAFileOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  write(signal_key_text(kKey));
  ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
  EXPECT_THAT(problem(), HasSubstr("belongs to user 65534, not to user 0"));
  EXPECT_THAT(problem(), HasSubstr("chown 0 " + path_));
}

TEST_F(SignalKeyFile, SaysWhatIsWrong) {
  EXPECT_THAT(problem(), HasSubstr("No such file"));
  const std::string secret = kSecret;
  for (const auto& [text, cause] : std::initializer_list<std::pair<std::string, std::string>>{
           {"", "keygen"},
           {"deadbeef", "keygen"},
           {"outrider-signal-key 2 0 " + secret, "version"},
           {"outrider-signal-key 1 256 " + secret, "id"},
           {"outrider-signal-key 1 -1 " + secret, "id"},
           {"outrider-signal-key 1 0x1 " + secret, "id"},
           {"outrider-signal-key 1 1 " + secret.substr(1), "32 hexadecimal"},
           {"outrider-signal-key 1 1 " + secret + "0", "32 hexadecimal"},
           {"outrider-signal-key 1 1 g" + secret.substr(1), "32 hexadecimal"},
           {"outrider-signal-key 1 1 " + secret + " deadbeef", "behind"}}) {
    write(text);
    EXPECT_THAT(problem(), HasSubstr(cause)) << text;
  }
}

TEST_F(SignalKeyFile, RefusesADirectory) {
  EXPECT_THAT(read_signal_key(testing::TempDir()).issues.front().problem,
              HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace outrider::signal_key_file_test
