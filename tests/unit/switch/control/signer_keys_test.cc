// Goal: key files are read with the configuration that names them, every fault of them is reported
// by the user's key, and nothing that is shown has a secret in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "common/config/config_file.h"
#include "common/config/signal_key_file.h"
#include "switch/config/config_toml.h"
#include "switch/runtime/reload_plan.h"

namespace outrider::signer_keys_test {
using namespace sw;
namespace {

using testing::HasSubstr;
using testing::Not;

class SignerKeys : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(directory_);
    std::ofstream(directory_ + "/switch.toml") << R"(
[[device]]
name = "d"
device = "net_null0"
[[switch]]
name = "s"
port = [{ name = "p", device = "d" }]
[switch.signals]
accept_udp = true
[[switch.signals.signers]]
name = "one"
keys = ["a.key", "b.key"]
accept_from = ["10.0.1.0/24"]
[[switch.signals.signers]]
name = "two"
keys = ["c.key"]
accept_from = ["10.0.2.0/24"]
)";
    for (std::uint8_t id = 1; id <= 3; ++id) write(id);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void write(std::uint8_t id, std::uint8_t secret = 0xAB, mode_t mode = 0600) {
    write(id, signal_key_text({id, {secret, secret, secret}}), mode);
  }
  /// Writes a.key, b.key or c.key.
  void write(std::uint8_t file, const std::string& text, mode_t mode) {
    const std::string path = directory_ + "/" + std::string("_abc")[file] + ".key";
    std::ofstream(path) << text;
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
  }
  [[nodiscard]] ConfigResult<SwitchProcessConfig> load(std::uint64_t floor = 0) const {
    return load_switch_config(directory_ + "/switch.toml", floor);
  }
  [[nodiscard]] std::string faults() const { return format_issues("f", load().issues); }

  std::string directory_ =
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(SignerKeys, AreReadFromBesideTheFile) {
  const auto loaded = load(77);
  ASSERT_TRUE(loaded) << faults();
  const auto& signers = loaded.config->switches[0].signals.signers;
  ASSERT_EQ(signers[0].read_keys.size(), 2U);
  EXPECT_EQ(signers[0].read_keys[1].key.id, 2);
  EXPECT_EQ(signers[0].read_keys[1].floor, 77U);
  EXPECT_EQ(signers[1].read_keys.at(0).key.id, 3);
  EXPECT_EQ(signers[1].keys[0], directory_ + "/c.key");
  EXPECT_THAT(to_toml(*loaded.config), HasSubstr("c.key"));
  EXPECT_THAT(to_toml(*loaded.config), Not(HasSubstr("abab")));
}

TEST_F(SignerKeys, AllFaultsComeTogetherByTheirKeys) {
  write(1, 0xAB, 0644);
  std::filesystem::remove(directory_ + "/b.key");
  write(3, "outrider-signal-key 1 3 abab", 0600);
  const std::string text = faults();
  EXPECT_THAT(text, HasSubstr("3 invalid settings"));
  EXPECT_THAT(text, HasSubstr("switch[0].signals.signers[0].keys[0]: \"a.key\": may be used by"));
  EXPECT_THAT(text, HasSubstr("switch[0].signals.signers[0].keys[1]: \"b.key\": cannot be opened"));
  EXPECT_THAT(text,
              HasSubstr("switch[0].signals.signers[1].keys[0]: \"c.key\": has a secret that"));
  EXPECT_THAT(text, Not(HasSubstr("abab")));
}

TEST_F(SignerKeys, AnIdIsUniqueWithinASwitch) {
  write(3, signal_key_text({1, {9}}), 0600);
  EXPECT_THAT(faults(), HasSubstr("switch[0].signals.signers[1].keys[0]: id 1: is also that of "
                                  "signers[0].keys[0]"));
}

TEST_F(SignerKeys, AnotherContentIsAChangeThatAReloadMakes) {
  const auto before = load();
  EXPECT_TRUE(plan_reload(*before.config, *load(99).config, 100'000).changes.empty());
  write(2, 0xCD);
  write(3, signal_key_text({200, {9}}), 0600);
  const ReloadPlan plan = plan_reload(*before.config, *load().config, 100'000);
  EXPECT_TRUE(plan.refused.empty());
  EXPECT_EQ(plan.changes,
            (std::vector<SettingChange>{
                {"switch[0].signals.signers[0].keys[1]", "key 2", "another key, 2"},
                {"switch[0].signals.signers[1].keys[0]", "key 3", "another key, 200"}}));
}

}  // namespace
}  // namespace outrider::signer_keys_test
