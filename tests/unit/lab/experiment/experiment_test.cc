// Goal: all faults of an experiment file are reported at once, by the keys that the user
// wrote. Method: each case breaks a small valid file in one place.
#include "tools/lab/experiment/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/pcap_file.h"
#include "tests/support/source_path.h"
#include "tests/unit/lab/experiment/experiment_fixture.h"

namespace outrider::experiment_test {
using namespace lab;
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Fault {
  std::string text;
  std::string key;
  std::string problem;  ///< text that the problem contains
};

std::string without(const std::string& part) { return with(small_experiment(), part, ""); }
std::string changed(const std::string& from, const std::string& to) {
  return with(small_experiment(), from, to);
}

TEST(ExperimentFile, SmallOneIsValid) {
  const auto file = read_experiment(small_experiment());
  ASSERT_TRUE(file) << format_issues("text", file.issues);
  EXPECT_EQ(file.config->arms.size(), 3U);
  EXPECT_EQ(file.config->arms[2].parameters.programs().job.burst_bytes, 100'000U)
      << "arms start from [parameters]";
  EXPECT_EQ(file.config->hosts[0].count.parameter, "workers");
  EXPECT_EQ(file.config->hosts[2].count.fixed, 2U);
}

// A new user sends background to the server's port.
TEST(ExperimentFile, BackgroundToServersIsToldTheWayOnce) {
  const auto file = read_experiment(changed("to = \"receiver\"", "to = \"server\""));
  ASSERT_EQ(file.issues.size(), 1U) << format_issues("text", file.issues);
  EXPECT_EQ(file.issues[0].key, "background.to");
  EXPECT_NE(file.issues[0].problem.find("[job] hosts = \"NAME\""), std::string::npos);
}

TEST(ExperimentFile, EveryFaultNamesItsKey) {
  const Fault faults[] = {
      {without("name = \"small\"\n"), "name", "is required"},
      {changed("seeds = 2", "seeds = 0"), "seeds", "must be at least 1"},
      {changed("seeds = 2", "seed = 2"), "seed", "did you mean \"seeds\"?"},
      {without("rtt = \"2ms\"\n"), "network.rtt", "is required"},
      {changed("rate = \"100mbit\"", "rate = 100"), "link[0].rate", "has no unit"},
      {changed("b = \"b\"", "b = \"c\""), "link[0].b", "no [[switch]] has this name"},
      {changed("b = \"b\"", "b = \"a\""), "link[0].b", "must be another switch"},
      {changed("name = \"receiver\"", "name = \"sender\""), "hosts[3].name", "is used twice"},
      {changed("count = \"servers\"", "count = \"server\""), "hosts[1].count", "must be a number"},
      {changed("count = 2", "count = 0"), "hosts[2].count", "must be a number from 1"},
      {changed("count = \"workers\"\nswitch = \"a\"", "count = 1\nswitch = \"a\""), "job.workers",
       "needs count = \"workers\""},
      {changed("count = \"workers\"\nswitch = \"a\"", "count = \"workers\"\nswitch = \"leaf\""),
       "hosts[0].switch", "no [[switch]] has this name"},
      {changed("delay_spread = 0.2", "delay_spread = 1"), "hosts[2].delay_spread", "less than 1"},
      {changed("from = \"sender\"", "from = \"sendr\""), "background.from",
       "did you mean \"sender\"?"},
      {changed("count = 2\nswitch = \"b\"", "count = 3\nswitch = \"b\""), "background.to",
       "must be as many as from has, 2"},
      {changed("job.iterations = 2", "switch.queue.limit_packets = \"64kB\""),
       "parameters.switch.queue.limit_packets", "a size is limit_bytes"},
      {changed("job.iterations = 2", "buffer_bytes = \"64kB\""), "parameters.buffer_bytes",
       "unknown key"},
      {changed("job.iterations = 2", "iterations = 2"), "parameters.iterations",
       "is job.iterations now"},
      {changed("job.iterations = 2", "workrs = 2"), "parameters.workrs",
       "did you mean \"workers\"?"},
      {changed("job.iterations = 2", "job.iterations = -1"), "parameters.job.iterations",
       "must not be negative"},
      {changed("job.iterations = 2", "switch.background_queue.floor = -0.1"),
       "parameters.switch.background_queue.floor", "must be at least 0"},
      {changed("job.iterations = 2", "switch.background_queue.floor = 1.5"),
       "parameters.switch.background_queue.floor", "at most 1"},
      {changed("job.iterations = 2", "learner_rate = -1"), "parameters.learner_rate",
       "must be more than 0"},
      {changed("job.iterations = 2", "switch.ddl_queue.weight = -1"),
       "parameters.switch.ddl_queue.weight", "must be at least 0.01"},
      {changed("job.iterations = 2", "gray_loss = -1"), "parameters.gray_loss",
       "must be at least 0"},
      {changed("job.iterations = 2", "trafficgen.send_jitter = -1"),
       "parameters.trafficgen.send_jitter", "must be at least 0"},
      {changed("job.iterations = 2", "transport.controller = \"cubik\""),
       "parameters.transport.controller", "did you mean \"cubic\"?"},
      {changed("job.iterations = 2", "limit_seconds = -1"), "parameters.limit_seconds",
       "must be from 0"},
      {changed("label = \"off-no-start\"", "label = \"rivals\""), "arm[1].label",
       "stands for the arms of a file"},
      {changed("label = \"off-no-start\"", "label = \"x\"\nrole = \"base\""), "arm[1].role",
       "must be one of"},
      {changed("label = \"off-no-start\"", "label = \"off\""), "arm[1].label", "is used twice"},
      {changed("label = \"off-no-start\"", "label = \"off-/../../../x\""), "arm[1].label",
       "must not contain a slash"},
      {changed("label = \"off-no-start\"", "label = \"off-\\n\""), "arm[1].label",
       "must not contain a slash, a control character"},
      {changed("label = \"off-no-start\"", "label = \"off-\u202Etrats\""), "arm[1].label",
       "a mark that turns the direction of writing"},
      {changed("switch.regulation.mode = \"mark\"",
               "switch.regulation.mode = \"mark\"\njob.announce.lead_source = \"none\""),
       "arm[2].job.announce.lead_source", "nothing would arm it"},
      {changed("switch.regulation.mode = \"mark\"",
               "switch.regulation.mode = \"mark\"\nswitch.regulation.predict.from = "
               "\"traffic\"\njob.announce.lead_source = "
               "\"none\"\n"
               "job.announce.faults.lost = 0.1"),
       "arm[2].job.announce.faults.lost", "no START is sent"},
      {changed("switch.regulation.mode = \"mark\"",
               "switch.regulation.mode = \"mark\"\njob.announce.faults.early = "
               "0.1\njob.announce.faults.early_by = \"2rtt\""),
       "arm[2].job.announce.faults.early", "nobody knows before"},
      {changed("switch.regulation.mode = \"mark\"",
               "switch.regulation.mode = \"mark\"\njob.announce.faults.late = 0.1"),
       "arm[2].job.announce.faults.late_by", "must be above 0"},
      {changed("switch.regulation.mode = \"mark\"",
               "switch.regulation.mode = \"mark\"\njob.announce.faults.late_by = \"-1rtt\""),
       "arm[2].job.announce.faults.late_by", "-1rtt"},
  };
  for (const auto& fault : faults) {
    const auto file = read_experiment(fault.text);
    EXPECT_FALSE(file);
    const bool found = std::ranges::any_of(file.issues, [&](const ConfigIssue& i) {
      return i.key == fault.key && i.problem.find(fault.problem) != i.problem.npos;
    });
    EXPECT_TRUE(found) << "expected " << fault.key << ": " << fault.problem << "\ngot "
                       << format_issues("text", file.issues);
  }
}

TEST(ExperimentFile, SweepFaultsNameTheirValue) {
  const Fault faults[] = {
      {"[[sweep]]\nworkers = 1", "sweep[0].workers", "must be an array of values"},
      {"[[sweep]]\nworkers = [1]\narms = []", "sweep[0].arms", "must be a non-empty array"},
      {"[[sweep]]\nworker = [1]\narms = [\"on\"]", "sweep[0].worker", "did you mean \"workers\"?"},
      {"[[sweep]]\ntransport.controller = [\"reno\", \"cubik\"]\narms = [\"on\"]",
       "sweep[0].transport.controller[1]", "must be one of"},
      {"[[sweep]]\nworkers = [1, 0]\narms = [\"on\"]", "sweep[0].workers[1]", "must be at least 1"},
      {"[[sweep]]\ntransport.controller = [\"reno\"]\narms = [\"onn\"]", "sweep[0].arms[0]",
       "did you mean \"on\"?"},
      {"[[sweep]]\nswitch.regulation.mode = [\"off\"]\narms = [\"on\"]",
       "sweep[0].switch.regulation.mode", "belongs to the arms"},
      {"[[sweep]]\narms = [\"on\"]", "sweep[0]", "must name at least one parameter"},
      {"[[sweep]]\njob.announce.lead = \"1rtt\"\narms = [\"on\"]", "sweep[0].job.announce.lead",
       "must be an array"},
      {"[[sweep]]\njob.announce.lead = [\"1rtt\", \"2\"]\narms = [\"on\"]",
       "sweep[0].job.announce.lead[1]", "has no unit"},
      {"[[sweep]]\nworkers = [\"a\", \"b\"]", "sweep[0].workers[0]", "must be an integer"},
      {"[[sweep]]\nswitch.marker.kind = [\"a\", \"b\"]", "sweep[0].switch.marker.kind[0]",
       "must be one of"},
      {"[[arm]]\nlabel = \"x\"\nswitch.scheduler = \"strict_floor\"\n"
       "switch.ddl_queue.floor = 0.5\nswitch.background_queue.floor = 0.7",
       "arm[3].switch.background_queue.floor",
       "0.7: must be at most 1 together with switch.ddl_queue.floor, 0.5"},
      {"[sweep]\nworkers = [1]", "sweep", "must be an array of tables"},
      {"[[vary]]\nparameter = \"workers\"\nvalues = [1]", "vary", "is [[sweep]] now"},
      {"[[cross]]\nworkers = [1]", "cross", "is [[sweep]] now"},
      {"[matrix]\nworkers = [1]", "matrix", "write an [[arm]] for each value"},
  };
  for (const auto& fault : faults) {
    const auto file = read_experiment(small_experiment(fault.text));
    ASSERT_EQ(file.issues.size(), 1U) << fault.text << '\n' << format_issues("text", file.issues);
    EXPECT_EQ(file.issues[0].key, fault.key);
    EXPECT_THAT(file.issues[0].problem, testing::HasSubstr(fault.problem));
  }
}

TEST(ExperimentFile, ASweepLeavesAnArmWhatItGivesItself) {
  const std::string deep = "[[arm]]\nlabel = \"deep\"\nswitch.queue.limit_packets = 200\n";
  const std::string pair = "[[arm]]\nlabel = \"pair\"\npresets = \"static-pair\"\n";
  const std::string limits = "[[sweep]]\nswitch.queue.limit_packets = [50, 200]\n";
  const std::string marks = "[[sweep]]\nswitch.marker.background_threshold_packets = [5]\n";
  const Fault faults[] = {
      {deep + limits, "sweep[0].switch.queue.limit_packets",
       "\"deep\" (200); sweep the others alone, arms = [\"off\", \"off-no-start\", \"on\"]"},
      {deep + limits + "arms = [\"deep\"]", "sweep[0].switch.queue.limit_packets",
       "\"deep\" (200); leave it out of the sweep"},
      {deep + limits + "arms = [\"off\", \"on\"]", "", ""},
      {pair + marks, "sweep[0].switch.marker.background_threshold_packets",
       "\"pair\" (\"h\"); sweep the others alone, arms = [\"off\", \"off-no-start\", \"on\"], or "
       "name in arms each arm of this file that it is to vary"},
      {pair + marks + "arms = [\"pair\"]", "", ""},
      {"[[sweep]]\njob.announce.lead_source = [\"overlap\"]", "", ""},  // without a regulation
  };
  for (const auto& fault : faults) {
    const auto file = read_experiment(small_experiment(fault.text));
    if (fault.key.empty()) {
      EXPECT_TRUE(file) << fault.text << '\n' << format_issues("text", file.issues);
      continue;
    }
    ASSERT_EQ(file.issues.size(), 1U) << fault.text << '\n' << format_issues("text", file.issues);
    EXPECT_EQ(file.issues[0].key, fault.key);
    EXPECT_THAT(file.issues[0].problem, HasSubstr(fault.problem));
  }
}

TEST(ExperimentFile, ReportsAllFaultsAtOnce) {
  std::string text = changed("job.iterations = 2", "iteration = 2\ntransport.controller = \"x\"");
  text = with(text, "label = \"off\"", "label = \"rivals\"");
  const auto file = read_experiment(text + "[[sweep]]\nk = [1]\narms = [\"on\"]");
  std::vector<std::string> keys;
  for (const auto& issue : file.issues) keys.push_back(issue.key);
  EXPECT_THAT(
      keys, testing::UnorderedElementsAre("parameters.transport.controller", "parameters.iteration",
                                          "arm[0].label", "sweep[0].k"));
}

TEST(ExperimentFile, TellsAFaultOfTheParametersOnce) {
  const std::string text = changed("job.iterations = 2", "job.iterations = 0");
  const auto keys_of = [](const std::string& experiment) {
    std::vector<std::string> keys;
    for (const auto& issue : read_experiment(experiment).issues) keys.push_back(issue.key);
    return keys;
  };
  EXPECT_THAT(keys_of(text), testing::ElementsAre("parameters.skip_iterations"));
  EXPECT_THAT(keys_of(with(text, "label = \"off\"", "label = \"off\"\nskip_iterations = 7")),
              testing::UnorderedElementsAre("parameters.skip_iterations", "arm[0].skip_iterations"))
      << "a value of its own";
}

/// Has a directory for the test's files.
class ExperimentBase : public testing::Test {
 protected:
  ExperimentBase() { fs::create_directory(directory_); }
  ~ExperimentBase() override { fs::remove_all(directory_); }
  ConfigResult<ExperimentFile> load(const std::string& name, const std::string& text) {
    fs::create_directories((directory_ / name).parent_path());
    std::ofstream(directory_ / name) << text;
    return load_experiment((directory_ / name).string());
  }

  fs::path directory_ = fs::temp_directory_path() / ("outrider-base-" + std::to_string(getpid()));
};

TEST_F(ExperimentBase, GivesWhatTheFileDoesNotSay) {
  const auto base = load("base.toml", small_experiment());
  const auto own = load("own.toml",
                        "base = \"base.toml\"\nname = \"own\"\nquestion = \"!\"\n[parameters]\n"
                        "job.iterations = 4\n[network]\nmeasured = \"a.to_b\"\nrtt = \"4ms\"\n"
                        "[[arm]]\nlabel = \"off\"\n");
  ASSERT_TRUE(base && own) << format_issues("own", own.issues);
  EXPECT_EQ(own.config->name, "own");
  EXPECT_EQ(own.config->seeds, 1U) << "what is asked is the file's own";
  EXPECT_EQ(own.config->arms.size(), 1U);
  EXPECT_EQ(own.config->hosts.size(), 4U);
  EXPECT_EQ(own.config->trunks.at(0).rate, base.config->trunks.at(0).rate);
  EXPECT_EQ(own.config->network.rtt, std::chrono::milliseconds(4)) << "a table is taken as a whole";
  EXPECT_EQ(own.config->parameters.programs().job.iterations, 4U) << "parameters one by one";
  EXPECT_EQ(own.config->parameters.programs().job.burst_bytes,
            base.config->parameters.programs().job.burst_bytes);
}

// A list of the deriving file's folder was run in the place of the base's, without a word.
TEST_F(ExperimentBase, ItsPathsStartAtItsFolder) {
  const std::string paths =
      "background.list = \"list.csv\"\nbackground.sizes = \"../x.cdf\"\n"
      "background.capture = \"/frames.pcap\"\njob.model = \"resnet50\"\n";
  (void)load("sub/base.toml", with(small_experiment(), "[parameters]\n", "[parameters]\n" + paths));
  const auto derived = [&](const std::string& name, const std::string& base,
                           const std::string& more = {}) {
    const auto own = load(name, "base = \"" + base + "\"\nname = \"own\"\n[parameters]\n" + more +
                                    "[[arm]]\nlabel = \"off\"\n");
    EXPECT_TRUE(own) << format_issues(name, own.issues);
    return own ? own.config->parameters : CaseParameters{};
  };
  const CaseParameters above = derived("own.toml", "sub/base.toml");
  EXPECT_EQ(above.programs().flows.list, "sub/list.csv");
  EXPECT_EQ(above.programs().flows.sizes, "x.cdf");
  EXPECT_EQ(above.programs().flows.capture, "/frames.pcap");
  EXPECT_EQ(above.programs().job.model, "resnet50") << "a shipped file's name";
  EXPECT_EQ(derived("other/own.toml", "../sub/base.toml").programs().flows.list, "../sub/list.csv");
  EXPECT_EQ(derived("sub/own.toml", "base.toml").programs().flows.sizes, "../x.cdf")
      << "as written";
  const std::string own = "background.sizes = \"../x.cdf\"\n";
  EXPECT_EQ(derived("own.toml", "sub/base.toml", own).programs().flows.sizes, "../x.cdf")
      << "the file's own";

  std::ofstream(directory_ / "sub/resnet50") << "";
  EXPECT_EQ(derived("own.toml", "sub/base.toml").programs().job.model, "sub/resnet50")
      << "a file of the base";
}

TEST_F(ExperimentBase, PathsInItsTablesStartAtItsFolder) {
  (void)load("sub/base.toml",
             "[fabric]\nfile = \"cables.topo\"\n[background]\nmatrix = \"\"\n"
             "[[job]]\nlist = \"jobs.csv\"\n[[job]]\nmodel = \"m.toml\"\n");
  ConfigTable own;
  own["base"] = ConfigValue(std::string("sub/base.toml"));
  ConfigIssues issues;
  const ConfigTable all = with_base(own, directory_, issues);
  ASSERT_TRUE(issues.empty()) << format_issues("own", issues);
  const auto text_at = [&](std::string_view key) {
    const ConfigValue* value = find(all, key);
    return value == nullptr ? "absent" : display(*value);
  };
  EXPECT_EQ(text_at("fabric.file"), "\"sub/cables.topo\"");
  EXPECT_EQ(text_at("background.matrix"), "\"\"") << "none";
  EXPECT_EQ(text_at("job[0].list"), "\"sub/jobs.csv\"");
  EXPECT_EQ(text_at("job[1].model"), "\"sub/m.toml\"");
}

TEST_F(ExperimentBase, FaultsAreItsKeys) {
  const auto problem = [&](const std::string& base) {
    const auto file = load("own.toml", "base = " + base + "\n" + small_experiment());
    return file.issues.empty() ? "" : file.issues.at(0).key + ": " + file.issues[0].problem;
  };
  EXPECT_THAT(problem("\"none.toml\""), HasSubstr("base: \"none.toml\": cannot be opened"));
  EXPECT_THAT(problem("7"), HasSubstr("base: 7: must be the path of an experiment"));
  (void)load("middle.toml", "base = \"far.toml\"\n" + small_experiment());
  EXPECT_THAT(problem("\"middle.toml\""), HasSubstr("base: \"middle.toml\": has a base itself"));
}

TEST_F(ExperimentBase, RivalsAreArmsOfAllFiles) {
  (void)load("rivals.toml",
             "[[arm]]\nlabel = \"off-a\"\nh_packets = 5\n"
             "[[arm]]\nlabel = \"off-b\"\nh_packets = 6\n");
  const auto own = load("own.toml", "rivals = \"rivals.toml\"\n" + small_experiment() +
                                        "[[arm]]\nlabel = \"off-b\"\nh_packets = 7\n"
                                        "[[sweep]]\nworkers = [2]\n"
                                        "arms = [\"off\", \"rivals\"]\n");
  ASSERT_TRUE(own) << format_issues("own", own.issues);
  const auto h_of = [&](const std::string& label) {
    const auto arm = std::ranges::find(own.config->arms, label, &Arm::label);
    return arm == own.config->arms.end() ? 0U : arm->parameters.h_packets;
  };
  EXPECT_EQ(h_of("off-a"), 5U);
  EXPECT_EQ(h_of("off-b"), 7U) << "an arm of the file replaces the rival";
  EXPECT_EQ(own.config->sweeps.at(0).arms, (std::vector<std::string>{"off", "off-a", "off-b"}));
  (void)load("rivals.toml", "[[arm]]\nlabel = \"mlt\"\nddl.transport.protocol = \"mlt\"\n");
  const auto swept = load("own.toml", "rivals = \"rivals.toml\"\n" + small_experiment() +
                                          "[[sweep]]\nddl.transport.protocol = [\"tcp\"]\n"
                                          "arms = [\"off\", \"rivals\"]\n");
  EXPECT_THAT(format_issues("own", swept.issues), HasSubstr("\"mlt\" (\"mlt\"); sweep the others"))
      << "that the sweep names all rivals says nothing of one";
}

// Values of a file's presets count as its own, and paths in a preset start at the preset that has
// them.
TEST_F(ExperimentBase, PresetsBelongToTheFileThatNamesThem) {
  (void)load("base.toml",
             with(small_experiment(), "[parameters]\n", "[parameters]\nworkers = 3\n"));
  std::filesystem::create_directories(directory_ / "own");
  std::ofstream(directory_ / "own/mine.toml") << "workers = 5\nbackground.list = \"list.csv\"\n";
  const auto own = load("own.toml",
                        "base = \"base.toml\"\n[parameters]\npresets = \"own/mine.toml\"\n"
                        "[[arm]]\nlabel = \"off\"\n");
  ASSERT_TRUE(own) << format_issues("own", own.issues);
  EXPECT_EQ(own.config->parameters.workers, 5U);
  EXPECT_EQ(own.config->parameters.programs().flows.list, "own/list.csv");
  std::ofstream(directory_ / "own/bad.toml") << "label = \"x\"\nlead_rtts = 2\n";
  const auto bad =
      load("own.toml", "base = \"base.toml\"\n[parameters]\npresets = [\"own/bad.toml\", 3]\n");
  const std::string told = format_issues("own", bad.issues);
  EXPECT_THAT(told, HasSubstr("lead_rtts is job.announce.lead now"));
  EXPECT_THAT(told, HasSubstr("has label, and a preset has parameters and settings alone"));
  EXPECT_THAT(told, HasSubstr("3: must be the name of a preset"));
}

// The key stands in no line of the file that was checked.
TEST_F(ExperimentBase, FaultsOfABaseOrAPresetNameIt) {
  (void)load("base.toml", with(small_experiment(), "job.iterations = 2", "job.iterations = -2"));
  std::ofstream(directory_ / "mine.toml") << "switch.marker.kind = \"steps\"\n";
  const auto faults = [&](const std::string& text) {
    return format_issues("f", load("own.toml", text).issues);
  };
  const std::string of_base = faults(
      "base = \"base.toml\"\njob = 3\n[[arm]]\nlabel = \"off\"\n"
      "role = \"none\"\n");
  EXPECT_THAT(of_base, testing::ContainsRegex(
                           "parameters.job.iterations: -2: [^\n]* \\(in base \"base.toml\"\\)\n"));
  EXPECT_THAT(of_base, testing::ContainsRegex("arm\\[0\\].role: [^\n]*[^)]\n")) << "the file's own";
  (void)load("base.toml", "[network]\nrate = \"1gbot\"\nrtt = \"1ms\"\n");
  EXPECT_THAT(
      faults("base = \"base.toml\"\n[[arm]]\nlabel = \"off\"\n"),
      testing::ContainsRegex("network.rate: \"1gbot\"[^\n]* \\(in base \"base.toml\"\\)\n"));
  const std::string of_arm =
      faults(small_experiment("[[arm]]\nlabel = \"a\"\npresets = [\"window\", \"mine.toml\"]\n"
                              "switch.marker.threshold_packets = -1\n"));
  EXPECT_THAT(of_arm, testing::ContainsRegex("arm\\[3\\].switch.marker.kind: \"steps\"[^\n]* "
                                             "\\(in preset \"mine.toml\"\\)\n"));
  EXPECT_THAT(of_arm, testing::ContainsRegex("threshold_packets: -1[^\n]*[^)]\n"));
}

TEST_F(ExperimentBase, FaultsOfRivalsAreItsKeys) {
  const auto problem = [&](const std::string& rivals) {
    const auto file = load("own.toml", "rivals = " + rivals + "\n" + small_experiment());
    return file.issues.empty() ? "" : file.issues.at(0).key + ": " + file.issues[0].problem;
  };
  EXPECT_THAT(problem("\"none.toml\""), HasSubstr("rivals: \"none.toml\": cannot be opened"));
  EXPECT_THAT(problem("7"), HasSubstr("rivals: 7: must be the path of a file of arms"));
  (void)load("more.toml", "seeds = 3\n[[arm]]\nlabel = \"off-a\"\n");
  EXPECT_THAT(problem("\"more.toml\""),
              HasSubstr("must have [[arm]], may have [search], and nothing else"));
}

TEST(ExperimentParameters, OnlyTheseBelongToTheRegulator) {
  for (const char* name :
       {"outside", "switch.regulation.mode", "switch.regulation.recovery", "job.announce.lead",
        "job.announce.lead_source", "job.announce.faults.late_by", "job.announce.signal_key"})
    EXPECT_TRUE(is_regulator_parameter(name)) << name;
  for (const char* name : {"h_packets", "job.announce.signal_form", "job.announce.ack_timeout",
                           "switch.scheduler", "workers"})
    EXPECT_FALSE(is_regulator_parameter(name)) << name;
}

TEST(ExperimentParameters, AreTwentyAtMost) {
  EXPECT_LE(to_all_parameters({}).size(), 20U) << "all else is an overlay on a program's settings";
}

TEST(ExperimentParameters, EveryOneCanBeAssignedByItsName) {
  for (const auto& [name, value] : to_parameters({})) {
    CaseParameters p;
    const ConfigValue v = std::visit(
        [](const auto& x) {
          if constexpr (std::is_same_v<std::decay_t<decltype(x)>, std::monostate>)
            return ConfigValue();
          else return ConfigValue(x);
        },
        value);
    EXPECT_EQ(assign_parameter(p, name, v), "") << name;
  }
}

const std::string kSizes = source_path("conf/distributions/web-search.cdf");

// A few short lists would otherwise fill any memory.
TEST(ExperimentFile, BoundsTheCombinationsOfASweep) {
  std::string numbers = "[0";
  for (int i = 1; i <= 100; ++i) numbers += ", " + std::to_string(i / 100.0);
  numbers += "]\n";
  const auto lists = [&numbers](const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += name + " = " + numbers;
    return text;
  };
  const auto fault = [](const std::string& text) {
    return format_issues("f", read_experiment(text).issues);
  };
  const std::string three =
      lists({"trafficgen.send_jitter", "warm_up_seconds", "background.start_spread"});
  EXPECT_THAT(fault(small_experiment("[[sweep]]\narms = [\"off\"]\n" + three)),
              HasSubstr("sweep[0].background.start_spread: makes too many points"));
}

// A load that is asked for comes alone, without a flow beside it that fills the link.
TEST(Plan, ALoadReplacesTheLongFlows) {
  const auto long_flows = [](const std::string& parameters) {
    const auto cases =
        plan_of(with(small_experiment(), "job.iterations = 2\n",
                     "job.iterations = 2\nbackground.sizes = \"" + kSizes + "\"\n" + parameters));
    const auto& flows = cases.at(0).traffic.long_flows;
    const std::int64_t count = flows.empty() ? 0 : flows[0].flows_per_pair;
    return count;
  };
  EXPECT_EQ(long_flows(""), 1);
  EXPECT_EQ(long_flows("background.load = 0.5\n"), 0);
  EXPECT_EQ(long_flows("background.load = 0.0\n"), 0) << "the first point of a sweep over loads";
  EXPECT_EQ(long_flows("background.load = 0.5\nbackground.flows_per_pair = 2\n"), 2);
}

TEST(Plan, BackgroundNeedsHosts) {
  const std::string table = "[background]\nfrom = \"sender\"\nto = \"receiver\"\n";
  const auto faults = [&table](const std::string& parameters) {
    const auto file =
        read_experiment(with(with(small_experiment(), table, ""), "job.iterations = 2\n",
                             "job.iterations = 2\n" + parameters));
    return format_issues("f", file.issues);
  };
  EXPECT_EQ(faults(""), "") << "nobody asked for background";
  EXPECT_EQ(faults("background.flows_per_pair = 0\n"), "");
  EXPECT_THAT(faults("background.flows_per_pair = 2\n"),
              HasSubstr("parameters.background.flows_per_pair: 2: needs a [background]"));
  EXPECT_THAT(faults("background.load = 0.5\nbackground.sizes = \"" + kSizes + "\"\n"),
              HasSubstr("parameters.background.load: 0.5: needs a [background]"));
}

TEST(ExperimentFile, NeedsABaseline) {
  std::string text = small_experiment();
  text.erase(text.find("[[arm]]"));
  const auto faults = [](const std::string& file) {
    return format_issues("f", read_experiment(file).issues);
  };
  EXPECT_THAT(faults(text + "[[arm]]\nlabel = \"on\"\nswitch.regulation.mode = \"mark\"\n"),
              HasSubstr("  arm: none is a baseline"));
  EXPECT_EQ(faults(text + "[[arm]]\nlabel = \"off-red\"\n"), "");
  EXPECT_EQ(faults(text + "[[arm]]\nlabel = \"marked\"\nrole = \"baseline\"\n"
                          "switch.regulation.mode = \"mark\"\n"),
            "");
}

// The load is a share of the measured link, whatever the rates of the hosts' NICs.
TEST(Plan, BackgroundLoadIsAShareOfTheMeasuredLink) {
  const auto cases = plan_of(with(small_experiment(), "job.iterations = 2\n", R"(job.iterations = 2
background.load = 0.5
background.flows_per_pair = 0
background.sizes = ")" + kSizes + "\"\n"));
  const auto& flows = cases.at(0).traffic.flows;
  ASSERT_EQ(flows.size(), 1U);
  EXPECT_NEAR(static_cast<double>(flows[0].rate->bits_per_second), 50e6 * 1448 / 1538, 1);
  EXPECT_TRUE(cases[0].traffic.long_flows.empty());
  EXPECT_TRUE(without_background(cases[0]).traffic.flows.empty());
  const auto missing = read_experiment(with(small_experiment(), "job.iterations = 2\n",
                                            "job.iterations = 2\nbackground.load = 0.5\n"));
  ASSERT_FALSE(missing);
  EXPECT_THAT(format_issues("f", missing.issues), HasSubstr("parameters.background.sizes"));
}

TEST(Plan, FlowsOfAListAreBackgroundsOwn) {
  const fs::path list = fs::temp_directory_path() / ("flows-" + std::to_string(getpid()));
  const auto planned = [&](const std::string& flows) {
    std::ofstream(list) << flows;
    const auto file =
        read_experiment(with(small_experiment(), "job.iterations = 2\n",
                             "job.iterations = 2\nbackground.list = \"" + list.string() + "\"\n"));
    EXPECT_TRUE(file) << format_issues("f", file.issues);
    return make_plan(*file.config, {.seeds = 1});
  };
  const auto plan = planned("2\n0 3 3 100 20000 2.0\n1 2 3 100 10000 2.5\n");
  const auto missing = planned("1\n0 4 3 100 20000 2.0\n");
  fs::remove(list);
  ASSERT_TRUE(plan) << format_issues("f", plan.issues);
  const Case& c = plan.config->front();
  ASSERT_EQ(c.traffic.flows.size(), 1U);
  EXPECT_THAT(c.traffic.flows[0].hosts,
              testing::ElementsAre("sender_0", "sender_1", "receiver_0", "receiver_1"));
  EXPECT_TRUE(c.traffic.long_flows.empty()) << "the list takes their place";
  EXPECT_TRUE(without_background(c).traffic.flows.empty());
  EXPECT_THAT(format_issues("f", missing.issues),
              testing::AllOf(HasSubstr("parameters.background.list: "),
                             HasSubstr("line 2: \"4\": is not one of the 4 hosts")));
}

TEST(Plan, ACaptureIsPlayedByTheFirstHostsOfBackground) {
  const fs::path file = fs::temp_directory_path() / ("capture-" + std::to_string(getpid()));
  const auto planned = [&](const std::vector<CapturedPacket>& packets) {
    write_pcap(file, packets);
    const auto experiment = read_experiment(
        with(small_experiment(), "job.iterations = 2\n",
             "job.iterations = 2\nbackground.capture = \"" + file.string() + "\"\n"));
    EXPECT_TRUE(experiment) << format_issues("f", experiment.issues);
    return make_plan(*experiment.config, {.seeds = 1});
  };
  using namespace std::chrono_literals;
  const auto plan = planned({{.at = 0ms}, {.at = 1ms}});
  const auto refused = planned({{.at = 0ms}, {.at = 1ms, .ether_type = 0x86DD}});
  fs::remove(file);
  ASSERT_TRUE(plan) << format_issues("f", plan.issues);
  const Case& c = plan.config->front();
  ASSERT_EQ(c.traffic.captures.size(), 1U);
  EXPECT_EQ(c.traffic.captures[0].from, "sender_0");
  EXPECT_EQ(c.traffic.captures[0].to, "receiver_0");
  EXPECT_EQ(c.traffic.captures[0].rounds, 0U) << "until the run ends";
  EXPECT_TRUE(c.traffic.long_flows.empty()) << "the capture takes their place";
  EXPECT_TRUE(without_background(c).traffic.captures.empty());
  EXPECT_THAT(format_issues("f", refused.issues),
              testing::AllOf(HasSubstr("parameters.background.capture: "),
                             HasSubstr("packet 2: is no IPv4 packet")));
}

TEST(Plan, RequestsAreBetweenTheHostsOfBackground) {
  const std::string asks = with(small_experiment(), "job.iterations = 2\n",
                                "job.iterations = 2\nrequests.connections = 4\n"
                                "requests.response_bytes = 20_000\nrequests.think = \"2rtt\"\n");
  const Case c = plan_of(asks, {.seeds = 1}).at(0);
  ASSERT_EQ(c.traffic.requests.size(), 1U);
  const auto& requests = c.traffic.requests[0];
  EXPECT_THAT(requests.from, testing::ElementsAre("sender_0", "sender_1"));
  EXPECT_THAT(requests.to, testing::ElementsAre("receiver_0", "receiver_1"));
  EXPECT_EQ(requests.connections, 4U);
  EXPECT_EQ(requests.response_bytes, 20'000U);
  EXPECT_EQ(requests.think, std::chrono::milliseconds(4));
  EXPECT_EQ(requests.transport, "background");
  EXPECT_TRUE(c.traffic.long_flows.empty()) << "requests take their place";
  EXPECT_TRUE(without_background(c).traffic.requests.empty());
  const Case none = plan_of(with(asks, "connections = 4", "connections = 0"), {.seeds = 1}).at(0);
  EXPECT_TRUE(none.traffic.requests.empty());
  const auto faults = [](const std::string& text) {
    return format_issues("f", read_experiment(text).issues);
  };
  EXPECT_THAT(faults(with(asks, "requests.think", "requests.thnk")), HasSubstr("requests.thnk"));
  EXPECT_THAT(faults(with(asks, "requests.think = \"2rtt\"", "requests.to = [\"x\"]")),
              HasSubstr("requests.to: follows from the topology"));
  EXPECT_THAT(faults(with(asks, "[background]\nfrom = \"sender\"\nto = \"receiver\"\n", "")),
              HasSubstr("requests.connections: needs a [background]"));
}

TEST(Plan, StragglersAreASettingOfTheJob) {
  const auto with_rule = [](const std::string& rule) {
    return with(small_experiment(), "job.iterations = 2\n",
                "job.iterations = 2\njob.straggler = [" + rule + "]\n");
  };
  const Case c = plan_of(with_rule("{ workers = [\"worker_0\"], share = 0.1, delay = \"2rtt\" }"),
                         {.seeds = 1})
                     .at(0);
  ASSERT_EQ(c.traffic.jobs[0].stragglers.size(), 1U);
  EXPECT_EQ(c.traffic.jobs[0].stragglers[0].share, 0.1);
  EXPECT_EQ(c.traffic.jobs[0].stragglers[0].delay, std::chrono::milliseconds(4));
  const auto experiment = read_experiment(with_rule("{ share = 2.0, delay = \"1ms\" }"));
  ASSERT_TRUE(experiment);
  EXPECT_THAT(format_issues("f", make_plan(*experiment.config, {.seeds = 1}).issues),
              HasSubstr("parameters.job.straggler.share: 2.0: must be"));
}

}  // namespace
}  // namespace outrider::experiment_test
