// Goal: `check` says where arms meet no background, or where the measured queue shows none of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/warnings/advice.h"

namespace outrider::background_advice_test {
using namespace lab;
namespace {

namespace fs = std::filesystem;

// Every arm would be equal, and the table would say 1.00 of each.
TEST(BackgroundAdvice, WarnsOfBackgroundThatSendsNothing) {
  const auto shown = [](const std::string& parameters, const std::string& arm = "") {
    const auto file = read_experiment(
        with(small_experiment(arm), "job.iterations = 2", "job.iterations = 2\n" + parameters));
    EXPECT_TRUE(file) << format_issues("text", file.issues);
    return file ? format_advice("f", advice(*file.config)) : "";
  };
  const auto silent = testing::HasSubstr("f: warning: background: sends nothing: no arm has long");
  const std::string no_load = "background.load = 0.0\nbackground.flows_per_pair = 0";
  EXPECT_THAT(shown("background.flows_per_pair = 0"), silent);
  EXPECT_THAT(shown("background.load = 0.0"), silent);
  EXPECT_THAT(shown(no_load), silent);
  EXPECT_EQ(shown("background.list = \"some.csv\""), "") << "an empty one is a fault";
  EXPECT_EQ(shown(no_load,
                  "[[sweep]]\nbackground.flows_per_pair = [2]\n"
                  "arms = [\"off\"]\n"),
            "")
      << "one point sends";
}

TEST(BackgroundAdvice, WarnsWhereBackgroundMeetsNoBurstAndWhereTheMeasuredQueueShowsNone) {
  const auto shown = [](const std::string& text) {
    const auto file = read_experiment(text);
    EXPECT_TRUE(file) << format_issues("text", file.issues);
    return file ? format_advice("f", advice(*file.config)) : "";
  };
  const std::string forward = "from = \"sender\"\nto = \"receiver\"\n";
  const std::string back = "from = \"receiver\"\nto = \"sender\"\n";
  const std::string measured = "measured = \"a.to_b\"",
                    list = "measured = [\"a.to_b\", \"b.to_a\"]";
  const auto at = [&](const std::string& port) {
    return shown(with(small_experiment(), measured, "measured = \"" + port + "\""));
  };
  const auto of_measured = [](const std::string& port) {
    return "f: warning: network.measured: \"" + port + "\": bursts do not cross it on their way to";
  };
  EXPECT_THAT(shown(with(small_experiment(), forward, back)),
              testing::StartsWith("f: warning: background: its data go from \"receiver\" to "
                                  "\"sender\" and share no queue with bursts on their way to "
                                  "\"server\""));
  EXPECT_EQ(shown(with(small_experiment(), forward, back + "both_ways = true\n")), "");
  EXPECT_EQ(shown(with(small_experiment(), measured, list)), "");
  EXPECT_EQ(at("b.to_server"), "") << "bursts alone cross it, and share the trunk";
  EXPECT_THAT(at("b.to_receiver_0"), testing::StartsWith(of_measured("b.to_receiver_0")));
  EXPECT_THAT(at("b.to_a"), testing::StartsWith(of_measured("b.to_a")));
  EXPECT_EQ(shown(with(with(small_experiment(), measured, "measured = \"b.to_a\""), forward,
                       forward + "both_ways = true\n")),
            "")
      << "it is where pulls meet background";
}

// A way back that one arm has, or that a list does not use, is none of the others'.
TEST(BackgroundAdvice, JudgesEachArmByWhatItSends) {
  const std::string forward = "from = \"sender\"\nto = \"receiver\"\n";
  const std::string back = "from = \"receiver\"\nto = \"sender\"\n";
  const auto shown = [](const std::string& ways, const std::string& parameters,
                        const std::string& of_on = "") {
    const std::string text =
        with(small_experiment(of_on), "from = \"sender\"\nto = \"receiver\"\n", ways);
    const auto file =
        read_experiment(with(text, "job.iterations = 2", "job.iterations = 2\n" + parameters));
    EXPECT_TRUE(file) << format_issues("text", file.issues);
    return file ? format_advice("f", advice(*file.config)) : "";
  };
  const std::string astray = "its data go from \"receiver\" to \"sender\" and share no queue";
  const std::string exchange = "\"server\": exchange from and to\n";

  const std::string capture = "background.capture = \"some.pcap\"";
  EXPECT_EQ(shown(forward, capture), "");
  EXPECT_THAT(shown(back, capture), testing::StartsWith("f: warning: background: " + astray));
  EXPECT_THAT(shown(back + "both_ways = true\n", capture), testing::HasSubstr(exchange))
      << "it has one way";

  EXPECT_EQ(shown(back, "requests.connections = 2"), "") << "answers go back";
  const std::string none = "requests.connections = 0\nbackground.flows_per_pair = 1";
  EXPECT_THAT(shown(back, none), testing::HasSubstr(astray));
  const std::string one = "requests.connections = 2\nbackground.flows_per_pair = 1\n";
  EXPECT_THAT(shown(back, "", one), testing::HasSubstr("background: in arm \"off\" " + astray));
  EXPECT_EQ(shown(forward, "", one), "");
  EXPECT_EQ(shown(back, "background.flows_per_pair = 0", one), "") << "other arms send nothing";
}

TEST(BackgroundAdvice, LooksAtTheHostsOfAList) {
  const fs::path list = fs::temp_directory_path() / ("ways-" + std::to_string(getpid()));
  const auto shown = [&list](const std::string& flows) {
    std::ofstream(list) << "start_seconds,from,to,bytes\n" << flows;
    const auto file =
        read_experiment(with(small_experiment(), "job.iterations = 2",
                             "job.iterations = 2\nbackground.list = \"" + list.string() + '"'));
    EXPECT_TRUE(file) << format_issues("text", file.issues);
    return file ? format_advice("f", advice(*file.config)) : "";
  };
  // Hosts 0 and 1 send, 2 and 3 receive.
  EXPECT_EQ(shown("0,0,2,1000\n"), "");
  EXPECT_EQ(shown("0,2,0,1000\n1,1,3,1000\n"), "") << "one of them meets bursts";
  EXPECT_THAT(shown("0,2,0,1000\n1,3,1,1000\n"),
              testing::HasSubstr("its data go from \"receiver\" to \"sender\" and share"));
  EXPECT_THAT(shown("0,0,1,1000\n"),
              testing::AllOf(testing::HasSubstr("from \"sender\" to \"sender\" and share"),
                             testing::HasSubstr("choose other hosts")));
  fs::remove(list);
}

}  // namespace
}  // namespace outrider::background_advice_test
