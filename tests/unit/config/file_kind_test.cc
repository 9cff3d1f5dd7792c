// Goal: a file of another kind is named as that, and a shipped file is found by its name.
#include "common/config/file_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/config/shipped_file.h"
#include "common/config/toml_file.h"
#include "tests/support/source_path.h"

namespace outrider::file_kind_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string other(const std::string& file, FileKind own) {
  return of_another_kind(*read_toml_file(source_path("conf/" + file)).config, own);
}

TEST(FileKind, AFileOfAnotherKindIsNamed) {
  EXPECT_EQ(other("trafficgen/imix.toml", FileKind::kSwitch),
            "is a file for outrider-trafficgen, by its \"stream\", not a file for outrider-switch");
  EXPECT_THAT(other("switch/l2-bridge.toml", FileKind::kGenerator),
              HasSubstr("is a file for outrider-switch"));
  EXPECT_THAT(other("experiments/quick.toml", FileKind::kSwitch),
              HasSubstr("is an experiment for outrider-lab run, by its \"arm\""));
  const auto advised = parse_toml("[goal]\ngain = 0.1\n[job]\nworkers = 2\n");
  EXPECT_EQ(of_another_kind(*advised.config, FileKind::kExperiment), "");
  EXPECT_THAT(of_another_kind(*advised.config, FileKind::kSwitch),
              HasSubstr("is an experiment for outrider-lab run, by its \"goal\""));
}

// Each key of theirs was told as unknown, and a model's number of parameters as an experiment's.
TEST(FileKind, FilesThatExperimentsNameAreNamed) {
  EXPECT_EQ(other("experiments/quick.toml", FileKind::kTestbed),
            "is an experiment for outrider-lab run, by its \"arm\", not a testbed");
  EXPECT_EQ(other("models/resnet50.toml", FileKind::kExperiment),
            "is a model profile, by its \"tensors\", not an experiment for outrider-lab run");
  EXPECT_THAT(of_another_kind(*parse_toml("parameters = 5\n").config, FileKind::kExperiment),
              HasSubstr("is a model profile, by its \"parameters\""));
  EXPECT_THAT(other("experiments/quick.toml", FileKind::kModel), HasSubstr("not a model profile"));
  EXPECT_THAT(of_another_kind(*parse_toml("name = \"x\"\nbase = \"one-queue\"\n").config,
                              FileKind::kSwitch),
              HasSubstr("is an experiment for outrider-lab run, by its \"base\""));
  EXPECT_THAT(other("testbeds/rack.toml", FileKind::kExperiment),
              HasSubstr("is a testbed, by its"));
  EXPECT_THAT(other("rivals.toml", FileKind::kExperiment), HasSubstr("is a file of arms alone"));
  EXPECT_THAT(other("experiments/quick.toml", FileKind::kArms), HasSubstr("is an experiment"));
  const auto read = read_file_of(source_path("conf/models/resnet50.toml"), FileKind::kTestbed);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.issues.size(), 1U);
}

TEST(FileKind, OnesOwnFileIsNone) {
  for (const auto& [folder, own] : {std::pair{"switch", FileKind::kSwitch},
                                    {"trafficgen", FileKind::kGenerator},
                                    {"experiments", FileKind::kExperiment},
                                    {"models", FileKind::kModel},
                                    {"testbeds", FileKind::kTestbed}})
    for (const auto& entry : fs::directory_iterator(source_path(std::string("conf/") + folder)))
      if (entry.path().extension() == ".toml") {
        EXPECT_EQ(of_another_kind(*read_toml_file(entry.path().string()).config, own), "")
            << entry.path();
      }
  for (const char* arms : {"rivals.toml", "remedies.toml", "policies.toml"})
    EXPECT_EQ(other(arms, FileKind::kArms), "") << arms;
  EXPECT_EQ(of_another_kind({}, FileKind::kSwitch), "") << "nothing says what it is";
}

TEST(ShippedFile, ANameIsOneOfTheFolder) {
  ASSERT_TRUE(conf_directory());
  const std::string shipped = named_file("resnet50", "models", ".toml", "/nowhere");
  EXPECT_TRUE(fs::exists(shipped)) << shipped;
  EXPECT_TRUE(shipped.ends_with("conf/models/resnet50.toml"));
  EXPECT_EQ(named_file("../models/x.toml", "models", ".toml", "/a/b"), "/a/models/x.toml");
  EXPECT_EQ(named_file("no-such-model", "models", ".toml", "/a"), "/a/no-such-model");
  const fs::path own = fs::path(testing::TempDir()) / "resnet50";
  std::ofstream(own) << "mine";
  EXPECT_EQ(named_file("resnet50", "models", ".toml", testing::TempDir()), own.string());
  fs::remove(own);
  fs::create_directory(own);
  EXPECT_EQ(named_file("resnet50", "models", ".toml", testing::TempDir()), shipped)
      << "a folder is no file";
  fs::remove(own);
}

TEST(ShippedFile, ANameThatIsTwoFilesOrAMisspeltOneIsRefused) {
  const fs::path here = fs::path(testing::TempDir()) / "outrider-names";
  fs::create_directory(here);
  const auto problem = [&here](const std::string& name) {
    return name_problem(name, "experiments", ".toml", here);
  };
  EXPECT_EQ(problem("one-queue"), "");
  EXPECT_EQ(problem("./one-queue"), "");
  EXPECT_EQ(problem("nothing-like-it"), "") << "its reader says that it cannot be opened";
  EXPECT_EQ(
      problem("one-quue"),
      "is neither a file here nor one of the program's experiments; did you mean \"one-queue\"?");
  std::ofstream(here / "mine.toml") << "x = 1";
  EXPECT_THAT(problem("mine"), HasSubstr("did you mean \"mine.toml\"?"));
  fs::create_directory(here / "one-queue");
  EXPECT_EQ(problem("one-queue"), "");
  fs::remove(here / "one-queue");
  std::ofstream(here / "one-queue") << "x = 1";
  EXPECT_EQ(
      problem("one-queue"),
      "is a file here and one of the program's experiments: write \"./one-queue\" for the file, or "
      "rename it");
  fs::remove_all(here);
}

}  // namespace
}  // namespace outrider::file_kind_test
