// Goal: a matrix of racks is read as it stands, and every fault of a file is told with its line.
#include "tools/lab/experiment/rack_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/config/config_result.h"

namespace outrider::rack_matrix_test {
using namespace lab;
using testing::HasSubstr;
namespace {

std::string faults(std::string_view text, std::size_t racks) {
  ConfigIssues issues;
  EXPECT_TRUE(parse_rack_matrix(text, racks, issues).empty());
  return format_issues("m", issues);
}

TEST(RackMatrix, IsReadLineByLine) {
  ConfigIssues issues;
  EXPECT_EQ(parse_rack_matrix("# to 0, 1\n0 2.5\n\n1 0 # back\n", 2, issues),
            (RackMatrix{{0, 2.5}, {1, 0}}));
  EXPECT_TRUE(issues.empty());
}

TEST(RackMatrix, AllFaultsAreTold) {
  const std::string text = faults("0 1 2\n-1 x\n", 2);
  EXPECT_THAT(text, HasSubstr("line 1: has 3 numbers, and the fabric 2 racks"));
  EXPECT_THAT(text, HasSubstr("line 2: \"-1\" must be a number of at least 0"));
  EXPECT_THAT(text, HasSubstr("line 2: \"x\" must be"));
  EXPECT_THAT(faults("0 1\n", 2), HasSubstr("has 1 line, and the fabric 2 racks"));
  EXPECT_THAT(faults("0 0\n0 0\n", 2), HasSubstr("must have a number above 0"));
  EXPECT_THAT(faults("", 2), HasSubstr("has 0 lines"));
}

TEST(RackMatrix, AMissingFileIsNamed) {
  ConfigIssues issues;
  EXPECT_TRUE(load_rack_matrix("no/such/file", 2, issues).empty());
  EXPECT_EQ(issues.size(), 1U);
}

}  // namespace
}  // namespace outrider::rack_matrix_test
