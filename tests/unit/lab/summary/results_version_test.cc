// Goal: a page of measurements says at which version of the results its figures were measured, and
// names today's where that is another one. Method: the pages as they are, and pages made by hand.
#include "tools/lab/summary/results_version.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "tests/support/source_path.h"

namespace outrider::results_version_test {
using namespace lab;
namespace {

/// Returns what is wrong with a page, as tools/dev/results-version writes it; empty if nothing is.
std::string fault_of(const std::string& page, int now) {
  static const std::regex kMark("^# [^\n]*\n\n<!-- results-version: ([0-9]+) -->\n([^\n]*)\n");
  std::smatch found;
  if (!std::regex_search(page, found, kMark, std::regex_constants::match_continuous))
    return "has no line <!-- results-version: N --> below its title";
  const int measured = std::stoi(found[1]);
  const std::string banner = found[2];
  if (measured > now) return "was measured at a version that is not there yet";
  const std::string wanted =
      "> **Measured at version " + std::to_string(measured) + ", now " + std::to_string(now) + "**";
  if (measured == now) return banner.empty() ? "" : "has a banner, and is of this version";
  return banner.starts_with(wanted) ? "" : "has no banner \"" + wanted + "\"";
}

TEST(ResultsVersion, EveryPageSaysWhatItsFiguresAreOf) {
  std::size_t pages = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("docs/experiments"))) {
    if (entry.path().extension() != ".md") continue;
    ++pages;
    std::ifstream in(entry.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(fault_of(text, kResultsVersion), "")
        << entry.path() << ": run tools/dev/results-version";
  }
  EXPECT_GT(pages, 20U);
}

TEST(ResultsVersion, AMissingOrWrongBannerIsFoundAndAnOldPageIsNone) {
  const std::string mark = "# T\n\n<!-- results-version: 1 -->\n";
  EXPECT_EQ(fault_of(mark + "> **Measured at version 1, now 7**: x\n", 7), "");
  EXPECT_EQ(fault_of(mark + "\n", 1), "");
  EXPECT_NE(fault_of(mark + "\n", 2), "");
  EXPECT_NE(fault_of(mark + "> **Measured at version 1, now 2**: x\n", 3), "");
  EXPECT_NE(fault_of(mark + "> **Measured at version 1, now 2**: x\n", 1), "");
  EXPECT_NE(fault_of("# T\n\ntext\n", 1), "");
}

}  // namespace
}  // namespace outrider::results_version_test
