// Goal: every file that is shipped in conf/ loads. Method: glob, so that a new
// file needs no new test.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/config/signal_key_file.h"
#include "switch/config/config_toml.h"
#include "tests/support/source_path.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::conf_files_test {
using namespace sw;
using namespace tg;
namespace {

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  const auto directory = std::filesystem::path(source_path()) / "conf" / folder;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().extension() == ".toml") files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

// The files are read from a copy of their folder, because keys are not shipped.
TEST(ConfFiles, EverySwitchFileLoads) {
  const auto files = files_in("switch");
  EXPECT_GE(files.size(), 2U);
  const std::filesystem::path copies = testing::TempDir() + "conf_files_test";
  std::filesystem::create_directories(copies);
  const auto key = (copies / "training.key").string();
  std::ofstream(key) << signal_key_text({1, {}});
  ASSERT_EQ(chmod(key.c_str(), 0600), 0);
  for (const auto& file : files) {
    const auto copy = copies / std::filesystem::path(file).filename();
    std::filesystem::copy_file(file, copy, std::filesystem::copy_options::overwrite_existing);
    const auto result = load_switch_config(copy.string());
    EXPECT_TRUE(result) << format_issues(file, result.issues);
  }
  std::filesystem::remove_all(copies);
}

TEST(ConfFiles, EveryGeneratorFileLoads) {
  const auto files = files_in("trafficgen");
  EXPECT_GE(files.size(), 2U);
  for (const auto& file : files) {
    const auto result = load_generator_config(file);
    EXPECT_TRUE(result) << format_issues(file, result.issues);
  }
}

TEST(ConfFiles, EveryModelLoads) {
  const auto files = files_in("models");
  EXPECT_GE(files.size(), 12U);
  for (const auto& file : files) {
    const auto result = load_model_profile(file);
    ASSERT_TRUE(result) << format_issues(file, result.issues);
    EXPECT_EQ(result.config->name, std::filesystem::path(file).stem());
    EXPECT_EQ(result.config->total_bytes, 4 * result.config->parameters) << file;
    EXPECT_TRUE(result.config->compute()) << file;
  }
}

// Sizes that the literature agrees on, so that a wrong generator script shows.
TEST(ConfFiles, ModelsHaveTheirPublishedParameterCounts) {
  const auto parameters = [](const std::string& name) {
    const auto path = std::filesystem::path(source_path()) / "conf" / "models" / name;
    const auto result = load_model_profile(path.string());
    return result ? result.config->parameters : 0;
  };
  EXPECT_EQ(parameters("resnet50.toml"), 25'557'032U);
  EXPECT_EQ(parameters("vgg16.toml"), 138'357'544U);
  EXPECT_EQ(parameters("alexnet.toml"), 61'100'840U);
  EXPECT_EQ(parameters("gpt2-124m.toml"), 124'439'808U);
  EXPECT_EQ(parameters("resnet56-cifar.toml"), 853'018U);
}

TEST(ConfFiles, ModelKeepsForwardOrderAndComputeTimes) {
  const auto path = std::filesystem::path(source_path()) / "conf" / "models" / "vgg16.toml";
  const auto model = load_model_profile(path.string()).config.value();
  ASSERT_EQ(model.tensors.size(), 32U);
  EXPECT_EQ(model.tensors.front().name, "conv1.w");
  EXPECT_EQ(model.tensors.front().bytes, 6912U);
  EXPECT_EQ(model.tensors.back().name, "fc8.b");
  EXPECT_EQ(model.compute(), std::chrono::milliseconds(232));
}

}  // namespace
}  // namespace outrider::conf_files_test
