// Goal: a part's directory says what its runs are of, and a directory that is none, or whose
// `part.json` is not whole, is refused by name.
#include "tools/lab/run/part_manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <stdexcept>

namespace outrider::part_manifest_test {
using namespace lab;
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const PartManifest kPart{
    .part = {.number = 2, .of = 3},
    .program = "a program",
    .file = "conf/quick.toml",
    .plan = {.first_seed = 7, .seeds = 30, .filter = "on ", .arms = {"on", "off"}, .quick = true},
    .references = ReferenceRuns::kOfOff,
    .cases = 18,
    .fingerprint = "123"};

class PartManifestTest : public testing::Test {
 protected:
  PartManifestTest() {
    std::string name = (fs::temp_directory_path() / "outrider-part-XXXXXX").string();
    directory_ = mkdtemp(name.data());
  }
  ~PartManifestTest() override { fs::remove_all(directory_); }

  std::string refusal() const {
    try {
      read_part(directory_);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "none";
  }
  void write(const std::string& text) const { std::ofstream(directory_ / "part.json") << text; }

  fs::path directory_;
};

TEST_F(PartManifestTest, IsReadAsItWasWritten) {
  EXPECT_FALSE(has_part(directory_));
  write_part(directory_, kPart);
  EXPECT_TRUE(has_part(directory_));
  const PartManifest read = read_part(directory_);
  EXPECT_EQ(read.part, kPart.part);
  EXPECT_EQ(difference(kPart, read), std::nullopt);
  EXPECT_EQ(read.cases, 18U);
  PartManifest other = kPart;
  other.plan.seeds.reset();
  other.references = ReferenceRuns::kNone;
  write_part(directory_, other);
  EXPECT_EQ(difference(other, read_part(directory_)), std::nullopt);
  remove_part(directory_);
  EXPECT_FALSE(has_part(directory_));
}

TEST_F(PartManifestTest, WhatIsNoPartIsNamed) {
  const std::string path = directory_.string();
  EXPECT_THAT(refusal(), testing::StartsWith(path + ": it has no part.json, so it is no part; "
                                                    "`outrider-lab run FILE --case I/N"));
  write_part(directory_, kPart);
  std::ifstream in(directory_ / "part.json");
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  write(whole.substr(0, whole.size() / 2));
  EXPECT_THAT(refusal(), testing::StartsWith(path + ": part.json is damaged: "));
  write("{\"format\": 1}");
  EXPECT_THAT(refusal(), testing::StartsWith(path + ": part.json is damaged: "));
  std::string changed = whole;
  write(changed.replace(changed.find("\"2/3\""), 5, "\"4/3\""));
  EXPECT_THAT(refusal(), HasSubstr("4/3: I must be from 1 to N"));
  write("{\"format\": 9}");
  EXPECT_THAT(refusal(), HasSubstr("the format of part.json is 9, and this program has 1"));
  fs::remove_all(directory_);
  EXPECT_THAT(refusal(), testing::StartsWith(path + ": no such directory; "));
}

TEST_F(PartManifestTest, PartsThatDifferSayInWhat) {
  const auto clause = [](auto change) {
    PartManifest other = kPart;
    change(other);
    return difference(kPart, other).value_or("none");
  };
  EXPECT_EQ(clause([](auto& m) { m.part.number = 3; }), "none") << "which part it is";
  EXPECT_EQ(clause([](auto& m) { m.file = "b.toml"; }),
            "is of another experiment, b.toml instead of conf/quick.toml");
  EXPECT_EQ(clause([](auto& m) { m.part.of = 4; }), "is one of 4 parts instead of 3");
  EXPECT_THAT(clause([](auto& m) { m.program += "x"; }), HasSubstr("another build"));
  EXPECT_THAT(clause([](auto& m) { m.plan.seeds = 31; }), HasSubstr("another --seed, --repeat"));
  EXPECT_THAT(clause([](auto& m) { m.plan.arms.pop_back(); }), HasSubstr("--arms"));
  EXPECT_THAT(clause([](auto& m) { m.references = ReferenceRuns::kOfAll; }),
              HasSubstr("--references"));
  EXPECT_THAT(clause([](auto& m) { m.fingerprint = "124"; }),
              HasSubstr("has other cases: conf/quick.toml, or a file that it names, was changed"));
}

}  // namespace
}  // namespace outrider::part_manifest_test
