// Goal: arms and points have names that tell them apart. Method: arms made by hand.
#include "tools/lab/summary/results.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace outrider::results_test {
using namespace lab;
namespace {

TEST(Results, PointsAreNamedByWhatTellsThemFromTheFirst) {
  const auto named = [](const std::vector<Parameters>& points) {
    std::vector<ArmSummary> arms;
    for (const auto& parameters : points)
      arms.push_back({.label = "off", .parameters = parameters, .point = arms.size(), .off = true});
    return point_names(arms);
  };
  using Names = std::vector<std::string>;
  const std::int64_t one = 1, two = 2, four = 4;
  EXPECT_EQ(named({{{"workers", one}}}), Names{"base"});
  EXPECT_EQ(named({{{"workers", one}}, {{"workers", four}}}), (Names{"workers=1", "workers=4"}));
  EXPECT_EQ(named({{{"workers", one}, {"k", one}},
                   {{"workers", two}, {"k", one}},
                   {{"workers", one}, {"k", two}},
                   {{"workers", four}, {"k", four}}}),
            (Names{"base", "workers=2", "k=2", "workers=4, k=4"}));
}

// The heading of a point without an `off` had the transport of the arm that stood in for it.
TEST(Results, APointIsNotNamedByAnArmsOwnSettings) {
  std::vector<ArmSummary> arms;
  const auto add = [&](const char* label, std::size_t point, const std::string& protocol,
                       std::int64_t workers) {
    arms.push_back({.label = label,
                    .parameters = {{"workers", workers},
                                   {"protocol", protocol},
                                   {"transport.controller", protocol}},
                    .point = point,
                    .off = std::string_view(label) == (point == 0 ? "off" : "off-tcp")});
  };
  add("off", 0, "roce", 2);
  add("off-tcp", 0, "tcp", 2);
  add("on", 0, "roce", 2);
  add("off-tcp", 1, "tcp", 3);
  add("on", 1, "roce", 3);
  EXPECT_EQ(point_names(arms), (std::vector<std::string>{"workers=2", "workers=3"}));
}

TEST(Results, AnArmKeepsItsNameAtEveryPoint) {
  std::vector<ArmSummary> arms;
  for (const std::size_t point : {0U, 1U})
    for (const double floor : {1.0, 4.0})
      arms.push_back({.label = "on",
                      .parameters = {{"workers", static_cast<std::int64_t>(point)},
                                     {"switch.regulation.pace_floor", floor}},
                      .point = point});
  name_arms(arms);
  std::vector<std::string> names;
  for (const auto& arm : arms) names.push_back(arm.name);
  const std::string one = "on switch.regulation.pace_floor=1";
  const std::string four = "on switch.regulation.pace_floor=4";
  EXPECT_EQ(names, (std::vector{one, four, one, four}));
}

}  // namespace
}  // namespace outrider::results_test
