// Goal: one binding serves reading and writing, and the reader reports every
// fault by key and rule. Method: a struct that uses each call of
// common/config/config_binding.h once, so that this is also the example.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "common/config/checks.h"
#include "common/config/config_file.h"
#include "common/config/config_result.h"
#include "common/config/suggestion.h"
#include "common/core/shortened.h"

namespace outrider::binding_test {

using namespace std::chrono_literals;

enum class Colour : std::uint8_t { kRed, kGreen };
inline constexpr auto kColours =
    choices<Colour>({{"red", Colour::kRed}, {"green", Colour::kGreen}});

struct Range {
  std::uint32_t low = 1;
  std::uint32_t high = 2;
  bool operator==(const Range&) const = default;
};

template <class V>
void describe(V& v, Range& c) {
  v.value("low", c.low);
  v.value("high", c.high);
}

struct Leaf {
  std::string name;
  std::uint16_t limit = 7;
  Range range{};
  bool operator==(const Leaf&) const = default;
};

template <class V>
void describe(V& v, Leaf& c) {
  v.value("name", c.name, Presence::kRequired);
  v.value("limit", c.limit);
  v.table("range", c.range);
}

struct Branch {
  std::vector<Leaf> leaves;
  bool operator==(const Branch&) const = default;
};

template <class V>
void describe(V& v, Branch& c) {
  Leaf prototype;
  v.defaults("range", prototype.range);
  v.tables("leaf", c.leaves, prototype);
}

struct Everything {
  bool flag = false;
  std::int32_t number = 0;
  double ratio = 0;
  std::string title;
  std::vector<std::string> names;
  std::vector<std::uint32_t> sweep;
  std::vector<double> ratios;
  Colour colour = Colour::kRed;
  std::vector<Colour> colours;
  Duration lead{};
  std::vector<Duration> leads;
  BitRate rate{};
  std::uint32_t room = 0;
  std::uint64_t room_bytes = 0;
  double part = 0;
  std::optional<std::uint32_t> maybe{};
  std::optional<Duration> maybe_later{};
  Leaf leaf;
  std::vector<Branch> branches;
  ConfigTable free;
  bool operator==(const Everything&) const = default;
};

template <class V>
void describe(V& v, Everything& c) {
  v.value("flag", c.flag);
  v.value("number", c.number);
  v.value("ratio", c.ratio);
  v.value("title", c.title);
  v.value("names", c.names);
  v.value("sweep", c.sweep);
  v.value("ratios", c.ratios);
  v.choice("colour", c.colour, kColours);
  v.choices("colours", c.colours, kColours);
  v.duration("lead", c.lead);
  v.duration("leads", c.leads);
  v.rate("rate", c.rate);
  v.bytes("room", c.room);
  v.bytes("room_bytes", c.room_bytes);
  v.share("part", c.part);
  v.value("maybe", c.maybe);
  v.duration("maybe_later", c.maybe_later);
  v.table("only_leaf", c.leaf);
  v.tables("branch", c.branches);
  v.free_table("free", c.free);
}

ConfigIssues validate(const Everything& c) {
  ConfigIssues issues;
  if (c.number == 13) issues.push_back({"number", "13: brings bad luck"});
  if (c.names.empty()) issues.push_back({"names", "must not be empty"});
  return issues;
}

constexpr std::string_view kText = R"(
flag = true
number = -3
ratio = 1
title = "a \"quoted\"\n\u0001 title"
names = ["x", "y"]
sweep = [10, 20, 40]
ratios = [0.1, 2]
colour = "green"
colours = ["green", "red"]
lead = "1.5ms"
leads = ["1ms", "0s"]
rate = "200mbit"
room = "64KiB"
room_bytes = 1500
part = "40%"
maybe_later = "3us"
[only_leaf]
name = "l"
[[branch]]
[branch.range]
low = 10
high = 20
[[branch.leaf]]
name = "inherits"
[[branch.leaf]]
name = "overrides one key"
range = { high = 30 }
[[branch]]
[free]
zebra = 1
apple = [1, [2, "x"], { deep = true }]
"key with space" = 0.1
[free.sub]
b = "y"
[[free.list]]
c = 1
)";

ConfigResult<Everything> read(std::string_view text) {
  auto file = parse_toml(text);
  if (!file) return {{}, file.issues};
  return checked_config<Everything>(*file.config);
}

std::string issues_of(std::string_view text) { return format_issues("f", read(text).issues); }

TEST(Binding, ReadsEveryKindOfField) {
  const auto result = read(kText);
  ASSERT_TRUE(result) << format_issues("text", result.issues);
  const auto& c = *result.config;
  EXPECT_TRUE(c.flag);
  EXPECT_EQ(c.number, -3);
  EXPECT_EQ(c.ratio, 1.0);
  EXPECT_EQ(c.title, "a \"quoted\"\n\x01 title");
  EXPECT_EQ(c.names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(c.sweep, (std::vector<std::uint32_t>{10, 20, 40}));
  EXPECT_EQ(c.ratios, (std::vector<double>{0.1, 2}));
  EXPECT_EQ(c.colour, Colour::kGreen);
  EXPECT_EQ(c.colours, (std::vector<Colour>{Colour::kGreen, Colour::kRed}));
  EXPECT_EQ(c.lead, 1500us);
  EXPECT_EQ(c.leads, (std::vector<Duration>{1ms, 0ms}));
  EXPECT_EQ(c.rate.bits_per_second, 200'000'000U);
  EXPECT_EQ(c.room, 65'536U);
  EXPECT_EQ(c.room_bytes, 1500U);
  EXPECT_EQ(c.part, 0.4);
  EXPECT_FALSE(c.maybe);
  EXPECT_EQ(c.maybe_later, 3us);
  EXPECT_EQ(c.leaf, (Leaf{"l", 7, {1, 2}}));
  EXPECT_EQ(c.free.members.front().key, "zebra") << "a free table keeps the order of the file";
}

TEST(Binding, ElementsStartFromTheirDefaults) {
  const auto c = read(kText).config.value();
  ASSERT_EQ(c.branches.size(), 2U);
  ASSERT_EQ(c.branches[0].leaves.size(), 2U);
  EXPECT_EQ(c.branches[0].leaves[0].range, (Range{10, 20}));
  EXPECT_EQ(c.branches[0].leaves[1].range, (Range{10, 30}));
}

TEST(Binding, WhatIsWrittenReadsBack) {
  const auto c = read(kText).config.value();
  const auto text = write_config(c);
  const auto again = read(text);
  ASSERT_TRUE(again) << format_issues("text", again.issues) << text;
  EXPECT_EQ(*again.config, c) << text;
  EXPECT_EQ(write_config(*again.config), text);
}

TEST(Binding, LongArraysAreBroken) {
  auto c = read(kText).config.value();
  c.names.assign(40, "a name");
  const auto text = write_config(c);
  EXPECT_NE(text.find("names = [\n  \"a name\",\n"), text.npos) << text;
  EXPECT_EQ(read(text).config.value(), c);
}

TEST(Binding, DoublesKeepEveryBit) {
  auto c = read(kText).config.value();
  for (const double d : {0.1, 1.0 / 3, 1e15, 1e-12, 100.0, -0.0, 123456789.125}) {
    c.ratio = d;
    EXPECT_EQ(read(write_config(c)).config.value().ratio, d);
  }
}

struct Fault {
  std::string_view text;
  std::string_view key;
  std::string_view problem;  ///< begins with
};

TEST(Binding, EveryFaultNamesKeyValueAndRule) {
  constexpr Fault kFaults[] = {
      {"flag = 1", "flag", "1: must be true or false"},
      {"number = \"3\"", "number", "\"3\": must be an integer"},
      {"number = 1.0", "number", "1.0: must be an integer"},
      {"number = 2147483648", "number", "2147483648: must be at most 2147483647"},
      {"number = -2147483649", "number", "-2147483649: must be at least -2147483648"},
      {"maybe = -1", "maybe", "-1: must not be negative"},
      {"maybe = 4294967296", "maybe", "4294967296: must be at most 4294967295"},
      {"ratio = nan", "ratio", "nan: must be a finite number"},
      {"ratio = true", "ratio", "true: must be a finite number"},
      {"title = 1979-05-27", "title", "a date or time: must be a string"},
      {"names = \"x\"", "names", "\"x\": must be an array"},
      {"names = [\"x\", 2]", "names[1]", "2: must be a string"},
      {"sweep = [1, -2]", "sweep[1]", "-2: must not be negative"},
      {"colour = \"gren\"", "colour",
       "\"gren\": must be one of \"red\", \"green\"; did you mean \"green\"?"},
      {"colour = \"mauve\"", "colour", "\"mauve\": must be one of \"red\", \"green\""},
      {"colour = 1", "colour", "1: must be one of"},
      {"colours = [\"red\", \"blue\"]", "colours[1]", "\"blue\": must be one of"},
      {"lead = 5", "lead", "5: has no unit; must be a duration"},
      {"lead = true", "lead", "true: must be a string; must be a duration"},
      {"lead = \"5\"", "lead", "\"5\": has no unit; must be a duration"},
      {"lead = \"5 furlongs\"", "lead", "\"5 furlongs\": unknown unit \"furlongs\""},
      {"lead = \"-5ms\"", "lead", "\"-5ms\": must not be negative"},
      {"leads = [\"1ms\", \"2mz\"]", "leads[1]", "\"2mz\": unknown unit"},
      {"rate = \"10MB\"", "rate", "\"10MB\": unknown unit \"MB\""},
      {"room = 64", "room", "64: has no unit; must be a size"},
      {"room = \"4GiB\"", "room", "\"4GiB\": must be at most 4294967295"},
      {"room_bytes = -1", "room_bytes", "-1: must not be negative"},
      {"part = \"40\"", "part", "\"40\": must be a percentage"},
      {"only_leaf = 1", "only_leaf", "1: must be a table: [only_leaf]"},
      {"[only_leaf]", "only_leaf.name", "is required"},
      {"only_leaf = { name = \"x\", limt = 3 }", "only_leaf.limt",
       "unknown key; did you mean \"limit\"?"},
      {"[branch]", "branch", "a table: must be an array of tables: [[branch]]"},
      {"branch = [{ leaf = [{ name = \"x\", limit = 65536 }] }]", "branch[0].leaf[0].limit",
       "65536: must be at most 65535"},
      {"free = []", "free", "an array: must be a table: [free]"},
      {"quite_something = 1", "quite_something", "unknown key"},
      {"number = 13", "number", "13: brings bad luck"},
  };
  for (const auto& fault : kFaults) {
    std::string text(fault.text);
    if (!text.starts_with("names")) text = "names = [\"x\"]\n" + text;
    const auto result = read(text);
    EXPECT_FALSE(result) << text;
    ASSERT_EQ(result.issues.size(), 1U) << text << '\n' << format_issues("f", result.issues);
    EXPECT_EQ(result.issues[0].key, fault.key) << text;
    EXPECT_TRUE(result.issues[0].problem.starts_with(fault.problem)) << text << '\n'
                                                                     << result.issues[0].problem;
  }
}

TEST(Binding, ExtremesOfAFieldAreAccepted) {
  const auto c = read(
                     "names = [\"x\"]\nnumber = -2147483648\nmaybe = 4294967295\n"
                     "only_leaf = { name = \"x\", limit = 65535 }\nroom = \"4294967295B\"")
                     .config.value();
  EXPECT_EQ(c.number, -2147483648);
  EXPECT_EQ(c.maybe, 4294967295U);
  EXPECT_EQ(c.leaf.limit, 65535U);
  EXPECT_EQ(c.room, 4294967295U);
}

TEST(Binding, SuggestsOnlyWhatIsNear) {
  const auto suggests = [](std::string_view word) {
    constexpr std::array<std::string_view, 2> kKeys{"threshold_packets", "limit_packets"};
    return suggestion(word, kKeys);
  };
  EXPECT_EQ(suggests("treshold_packts"), "; did you mean \"threshold_packets\"?");
  EXPECT_EQ(suggests("limit"), "");
  EXPECT_EQ(suggests("x"), "");
}

TEST(Binding, AllFaultsAreReportedAtOnce) {
  EXPECT_EQ(
      issues_of("flag = 1\nlead = \"x\"\nnumber = 13\ncolor = \"red\"\n[only_leaf]\nlimit = -1"),
      "f: 7 invalid settings\n"
      "  flag: 1: must be true or false\n"
      "  lead: \"x\": must be a duration such as \"1.5ms\" (ns, us, ms, s, min)\n"
      "  only_leaf.name: is required\n"
      "  only_leaf.limit: -1: must not be negative\n"
      "  color: unknown key; did you mean \"colour\"?\n"
      "  number: 13: brings bad luck\n"
      "  names: must not be empty\n");
}

// Every list of errors keeps twenty, so that no reader of a file of millions has to bound them.
TEST(Binding, OfManyFaultsTwentyAreTold) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "key_" + std::to_string(i) + " = 1\n";
  const std::string told = issues_of(text);
  EXPECT_TRUE(told.starts_with("f: more than 20 invalid settings\n")) << told;
  EXPECT_TRUE(told.ends_with("\n  and more\n")) << told;
  EXPECT_EQ(std::ranges::count(told, '\n'), 22);
}

TEST(Binding, ErrorsThatAreNotKeptAreCounted) {
  ConfigIssues issues, more;
  for (int i = 0; i < 20; ++i) issues.push_back({"a" + std::to_string(i), "is wrong"});
  EXPECT_FALSE(issues.has_more());
  EXPECT_EQ(format_issues("f", issues).find("and more"), std::string::npos);
  const std::size_t before = issues.found();
  issues.push_back({"b", "is wrong"});
  EXPECT_EQ(issues.size(), 20U);
  EXPECT_GT(issues.found(), before) << "whether there are new ones shows here alone";
  merge_issues(more, issues);
  EXPECT_TRUE(more.has_more());
  ConfigIssues of_setting;
  Checks(of_setting).faults_of_file("list", "x.csv", issues);
  EXPECT_TRUE(of_setting.has_more());
  EXPECT_EQ(of_setting.front().problem, "\"x.csv\": a0: is wrong");
}

// Twenty times the same would hide the next one.
TEST(Binding, AnErrorThatIsFoundAgainIsKeptOnce) {
  ConfigIssues issues;
  for (int i = 0; i < 30; ++i) issues.push_back({"a", "is wrong"});
  EXPECT_EQ(issues.size(), 1U);
  EXPECT_FALSE(issues.has_more());
  EXPECT_EQ(issues.found(), 30U);
  issues.push_back({"b", "is wrong"});
  EXPECT_EQ(issues.back().key, "b");
}

TEST(Binding, RulesAreNotAppliedToWhatCouldNotBeRead) {
  EXPECT_EQ(issues_of("names = [1]"), "f: 1 invalid setting\n  names[0]: 1: must be a string\n");
}

TEST(TomlFile, SyntaxErrorsHaveLineAndColumn) {
  const auto result = parse_toml("a = 1\nb = = 2\n");
  ASSERT_EQ(result.issues.size(), 1U);
  EXPECT_TRUE(format_issues("x.toml", result.issues).starts_with("x.toml: line 2, column 5: "))
      << format_issues("x.toml", result.issues);
  EXPECT_FALSE(parse_toml("a = 1\na = 2\n"));
}

// Each text made the parser, or what walks its tables, run out of stack.
TEST(TomlFile, NestingIsBounded) {
  const auto repeat = [](const std::string& text, std::size_t n) {
    std::string all;
    for (std::size_t i = 0; i < n; ++i) all += text;
    return all;
  };
  constexpr std::size_t kMany = 20'000;
  const std::string texts[] = {
      repeat("a.", kMany) + "a = 1\n",
      "[" + repeat("a.", kMany) + "a]\n",
      "x = " + repeat("[", kMany) + repeat("]", kMany) + "\n",
      "x = " + repeat("{a.b.c = ", kMany) + "1" + repeat("}", kMany) + "\n",
      "x = [{" + repeat("\"a\" . ", kMany) + "a = 1}]\n",
      repeat("[", kMany),
  };
  for (const auto& text : texts) {
    const auto result = parse_toml("# a line\n" + text);
    ASSERT_FALSE(result) << text.substr(0, 40);
    EXPECT_EQ(result.issues.at(0).problem,
              "line 2: tables, arrays and dotted keys are nested deeper than 32 levels");
  }
}

TEST(TomlFile, NestingIsCountedWhereItIs) {
  std::string wide;
  for (int i = 0; i < 1'000; ++i) {
    const std::string n = std::to_string(i);
    wide += "k" + n + ".a = [1.5, {b.c = 2.5, d = \"....\"}, '[[['] # .....{{{{\n";
    wide += "[t" + n +
            ".u]\nx = 0.5\ny = "
            "" +
            "\"\"\"[[\n...\"\"\"" + "\n[[l" + n + ".m]]\n";
  }
  EXPECT_TRUE(parse_toml(wide)) << format_issues("wide", parse_toml(wide).issues);
  const auto nested = [](std::size_t levels) {
    return "x = " + std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_TRUE(parse_toml(nested(32)));
  EXPECT_FALSE(parse_toml(nested(33)));
}

TEST(TomlFile, FilesThatCannotBeReadSayWhy) {
  EXPECT_EQ(format_issues("/nowhere.toml", read_toml_file("/nowhere.toml").issues),
            "/nowhere.toml: cannot be opened: No such file or directory\n");
  EXPECT_EQ(format_issues("/", read_toml_file("/").issues), "/: is a directory, not a file\n");
  EXPECT_EQ(format_issues("/dev/zero", read_toml_file("/dev/zero").issues),
            "/dev/zero: must be a regular file, and is a device\n");
}

// Opening a FIFO that nobody writes to would wait for ever, and a reload with it.
TEST(TomlFile, OnlyRegularFilesOfBoundedSizeAreRead) {
  const std::filesystem::path directory = testing::TempDir();
  const std::string fifo = directory / "outrider-config-fifo", large = directory / "outrider-large";
  std::filesystem::remove(fifo);
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(read_toml_file(fifo).issues.at(0).problem, "must be a regular file, and is a FIFO");
  std::ofstream(large) << "";
  std::filesystem::resize_file(large, (std::uintmax_t{kMaxTomlMib} << 20) + 1);
  EXPECT_EQ(read_toml_file(large).issues.at(0).problem, "is larger than 64 MiB");
  for (const std::string& file : {fifo, large}) std::filesystem::remove(file);
}

TEST(ConfigIssueText, EchoesTheBeginningOfALongValueOrKey) {
  const std::string long_text(100'000, 'x');
  EXPECT_EQ(display(ConfigValue(long_text)),
            '"' + std::string(kShownValue_bytes, 'x') + "... (100000 bytes)\"");
  EXPECT_EQ(Checks::quoted(long_text).size(), display(ConfigValue(long_text)).size());
  const std::string text = format_issues("f", {{long_text, "unknown key"}, {"key", long_text}});
  EXPECT_LT(text.size(), 2 * kShownProblem_bytes + 200);
  EXPECT_NE(text.find("... (100000 bytes): unknown key\n"), std::string::npos);
  EXPECT_EQ(shortened("abc\u00e9", 4), "abc... (5 bytes)") << "no half of a character";
  EXPECT_EQ(shortened("abc\u00e9", 5), "abc\u00e9");
}

TEST(ConfigValues, FindAndAssignFollowTheKeysOfIssues) {
  auto table = *parse_toml("x = 1\n[[s]]\nq = { limit = 5 }\n[[s]]\n").config;
  ASSERT_NE(find(table, "s[0].q.limit"), nullptr);
  for (const auto* nowhere :
       {"", "y", "s[2]", "s[0].q.", "x[0]", "s[0].q.limit.z", "s[", "s[0", "s[a]", "s.q", ".x"})
    EXPECT_EQ(find(table, nowhere), nullptr) << nowhere;

  EXPECT_TRUE(assign(table, "s[0].q.limit", ConfigValue(std::int64_t{9})));
  EXPECT_TRUE(assign(table, "s[1].q.limit", ConfigValue(true)));  // q is created
  EXPECT_EQ(to_toml_text(table),
            "x = 1\n\n[[s]]\n\n[s.q]\nlimit = 9\n\n[[s]]\n\n[s.q]\nlimit = true\n");
  const auto before = table;
  for (const auto* nowhere :
       {"", "s[2].q", "new[0]", "new.a[1].b", "x.y", "s.q", "s[0].q.", "a..b"})
    EXPECT_FALSE(assign(table, nowhere, ConfigValue(true))) << nowhere;
  EXPECT_EQ(table, before);
}

}  // namespace outrider::binding_test
