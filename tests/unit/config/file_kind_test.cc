// Goal: a file of another program is named as that, and a shipped file is found by its name.
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
  return of_another_program(*read_toml_file(source_path("conf/" + file)).config, own);
}

TEST(FileKind, AFileOfAnotherProgramIsNamed) {
  EXPECT_THAT(other("trafficgen/imix.toml", FileKind::kSwitch),
              HasSubstr("is a file for outrider-trafficgen, by its \"stream\""));
  EXPECT_THAT(other("switch/l2-bridge.toml", FileKind::kGenerator),
              HasSubstr("is a file for outrider-switch"));
  EXPECT_THAT(other("experiments/quick.toml", FileKind::kSwitch),
              HasSubstr("is a file for outrider-lab run, by its \"arm\""));
  const auto cluster = parse_toml("[network]\nbuffer = \"90kB\"\n[job]\nworkers = 2\n");
  EXPECT_THAT(of_another_program(*cluster.config, FileKind::kExperiment),
              HasSubstr("is a file for outrider-lab advise"));
}

TEST(FileKind, OnesOwnFileIsNone) {
  for (const auto& [folder, own] : {std::pair{"switch", FileKind::kSwitch},
                                    {"trafficgen", FileKind::kGenerator},
                                    {"experiments", FileKind::kExperiment}})
    for (const auto& entry : fs::directory_iterator(source_path(std::string("conf/") + folder)))
      if (entry.path().extension() == ".toml") {
        EXPECT_EQ(of_another_program(*read_toml_file(entry.path().string()).config, own), "")
            << entry.path();
      }
  EXPECT_EQ(of_another_program({}, FileKind::kSwitch), "") << "nothing says what it is";
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
}

}  // namespace
}  // namespace outrider::file_kind_test
