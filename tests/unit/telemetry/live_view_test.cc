#include "common/telemetry/live_view.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "common/telemetry/log.h"

namespace outrider::live_view_test {
namespace {

using Kind = LiveFigure::Kind;

TEST(LiveView, FormatsThreeDigitsWithAPrefix) {
  const auto packets = [](std::uint64_t before, std::uint64_t now, double seconds) {
    return format_live({"sent", Kind::kPackets, before, now}, seconds);
  };
  EXPECT_EQ(packets(0, 0, 1), "0.00 pps");
  EXPECT_EQ(packets(10, 1'260, 1), "1.25 kpps");
  EXPECT_EQ(packets(0, 12'345'678, 0.5), "24.7 Mpps");
  EXPECT_EQ(packets(0, 999, 1), "999 pps");
  EXPECT_EQ(packets(0, 9'996, 10), "1.00 kpps") << "999.6 rounds up to the next prefix";
  EXPECT_EQ(packets(5, 3, 1), "0.00 pps") << "a counter that started anew";
  EXPECT_EQ(format_live({"ddl", Kind::kBytes, 0, 12'500'000}, 1), "100 Mbit/s");
  EXPECT_EQ(format_live({"bursts", Kind::kCount, 3, 12'345}, 1), "12345");
}

TEST(LiveView, AShareOfALinkNeedsItsRate) {
  LiveFigure link{"link", Kind::kLink, 1'000, 1'000 + 12'500'000, {1'000'000'000}};
  EXPECT_EQ(format_live(link, 1), "10.0 %");
  EXPECT_EQ(format_live(link, 0.1), "100.0 %");
  link.rate = {};
  EXPECT_EQ(format_live(link, 1), "not known");
}

TEST(LiveView, WritesALineEachTimeWhereThereIsNoTerminal) {
  std::ostringstream out;
  LiveView view(out, false);
  std::vector<LiveFigure> figures = {{"sent", Kind::kPackets, 0, 1000},
                                     {"bursts", Kind::kCount, 0, 2}};
  view.show(1.04, 1, figures);
  view.show(2, 1, figures);
  EXPECT_EQ(out.str(),
            "1.0 s  sent 1.00 kpps  bursts 2\n"
            "2.0 s  sent 1.00 kpps  bursts 2\n");
}

TEST(LiveView, DrawsOverItselfInATerminal) {
  std::ostringstream out;
  LiveView view(out, true);
  std::vector<LiveFigure> figures = {{"sent", Kind::kPackets, 0, 1000},
                                     {"bursts", Kind::kCount, 0, 2}};
  view.show(1, 1, figures);
  const std::string first = out.str();
  EXPECT_EQ(first.find("\x1b["), first.find("\x1b[K")) << "nothing to draw over yet";
  EXPECT_NE(first.find("  sent    1.00 kpps\x1b[K\n  bursts  2\x1b[K\n"), std::string::npos)
      << first;
  view.show(2, 1, figures);
  EXPECT_EQ(out.str().compare(first.size(), 4, "\x1b[3A"), 0) << "up by the lines of the first";
}

TEST(LiveView, NeverDrawsOverTheLog) {
  std::ostringstream out;
  LiveView view(out, true);
  const std::vector<LiveFigure> figures = {{"sent", Kind::kPackets, 0, 1000}};
  view.show(1, 1, figures);
  log_warn("a line below the table");
  const std::size_t before = out.str().size();
  view.show(2, 1, figures);
  EXPECT_NE(out.str().substr(before, 4), "\x1b[2A");
  const std::size_t again = out.str().size();
  view.show(3, 1, figures);
  EXPECT_EQ(out.str().substr(again, 4), "\x1b[2A");
}

TEST(LiveView, LeavesOutWhatATerminalCannotDrawOver) {
  const std::vector<std::string> lines = {"first line", "2", "3", "4"};
  EXPECT_EQ(fitted(lines, 0, 0), lines);
  EXPECT_EQ(fitted(lines, 80, 5), lines) << "the cursor's row is left";
  EXPECT_EQ(fitted(lines, 80, 4),
            (std::vector<std::string>{"first line", "2", "... 2 more lines"}));
  EXPECT_EQ(fitted(lines, 5, 24)[0], "first");
}

}  // namespace
}  // namespace outrider::live_view_test
