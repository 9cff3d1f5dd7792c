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
  EXPECT_EQ(file.config->arms[2].parameters.burst_bytes, 100'000U)
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
      {changed("iterations = 2", "switch.queue.limit_packets = \"64kB\""),
       "parameters.switch.queue.limit_packets", "a size is limit_bytes"},
      {changed("iterations = 2", "buffer_bytes = \"64kB\""), "parameters.buffer_bytes",
       "is now switch.queue.limit_bytes"},
      {changed("iterations = 2", "iteration = 2"), "parameters.iteration",
       "did you mean \"iterations\"?"},
      {changed("iterations = 2", "iterations = -1"), "parameters.iterations",
       "must not be negative"},
      {changed("iterations = 2", "background_floor = -0.1"), "parameters.background_floor",
       "must be more than 0"},
      {changed("iterations = 2", "background_floor = 1.5"), "parameters.background_floor",
       "at most 1"},
      {changed("iterations = 2", "learner_rate = -1"), "parameters.learner_rate",
       "must be more than 0"},
      {changed("iterations = 2", "ddl_weight = -1"), "parameters.ddl_weight",
       "must be at least 0.01"},
      {changed("iterations = 2", "gray_loss = -1"), "parameters.gray_loss", "must be at least 0"},
      {changed("iterations = 2", "send_jitter = -1"), "parameters.send_jitter",
       "must be at least 0"},
      {changed("iterations = 2", "signal_late = 1.5"), "parameters.signal_late", "at most 1"},
      {changed("iterations = 2", "signal_forged_per_second = -1"),
       "parameters.signal_forged_per_second", "must be at least 0"},
      {changed("iterations = 2", "transport.controller = \"cubik\""),
       "parameters.transport.controller", "did you mean \"cubic\"?"},
      {changed("iterations = 2", "limit_seconds = -1"), "parameters.limit_seconds",
       "must be from 0"},
      {changed("label = \"off\"", "label = \"base\""), "arm[0].label", "must be \"off\" or \"on\""},
      {changed("label = \"off-no-start\"", "label = \"offline\""), "arm[1].label",
       "must be \"off\" or \"on\""},
      {changed("label = \"off-no-start\"", "label = \"off\""), "arm[1].label", "is used twice"},
      {changed("label = \"off-no-start\"", "label = \"off-/../../../x\""), "arm[1].label",
       "must not contain a slash"},
      {changed("label = \"off-no-start\"", "label = \"off-\\n\""), "arm[1].label",
       "must not contain a slash, a control character"},
      {changed("label = \"off-no-start\"", "label = \"off-\u202Etrats\""), "arm[1].label",
       "a mark that turns the direction of writing"},
      {changed("regulation = \"mark\"", ""), "arm[2].label",
       "needs a regulation other than \"off\""},
      {changed("lead_source = \"none\"", "regulation = \"mark\""), "arm[1].label",
       "needs regulation \"off\""},
      {changed("regulation = \"mark\"", "regulation = \"mark\"\nlead_source = \"none\""),
       "arm[2].lead_source", "nothing would arm it"},
      {changed("regulation = \"mark\"",
               "regulation = \"mark\"\nswitch.regulation.predict.from = \"traffic\"\nlead_source = "
               "\"none\"\n"
               "signal_lost = 0.1"),
       "arm[2].signal_lost", "no START is sent"},
      {changed("regulation = \"mark\"",
               "regulation = \"mark\"\nsignal_early = 0.1\nsignal_early_rtts = 2.0"),
       "arm[2].signal_early", "nobody knows before"},
      {changed("regulation = \"mark\"", "regulation = \"mark\"\nsignal_late = 0.1"),
       "arm[2].signal_late_rtts", "must be above 0"},
      {changed("regulation = \"mark\"", "regulation = \"mark\"\nsignal_late_rtts = -1.0"),
       "arm[2].signal_late_rtts", "must be from 0"},
      {changed("regulation = \"mark\"", "regulation = \"mark\"\nlead_rtt = 4"), "arm[2].lead_rtt",
       "did you mean \"lead_rtts\"?"},
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
      {"[[vary]]\nvalues = [1]\narms = [\"on\"]", "vary[0].parameter", "is required"},
      {"[[vary]]\nparameter = \"workers\"\narms = [\"on\"]", "vary[0].values", "is required"},
      {"[[vary]]\nparameter = \"workers\"\nvalues = [1]", "vary[0].arms", "is required"},
      {"[[vary]]\nparameter = \"worker\"\nvalues = [1]\narms = [\"on\"]", "vary[0].parameter",
       "did you mean \"workers\"?"},
      {"[[vary]]\nparameter = \"transport.controller\"\nvalues = [\"reno\", \"cubik\"]\narms = "
       "[\"on\"]",
       "vary[0].values[1]", "must be one of"},
      {"[[vary]]\nparameter = \"workers\"\nvalues = [1, 0]\narms = [\"on\"]", "vary[0].values[1]",
       "must be at least 1"},
      {"[[vary]]\nparameter = \"transport.controller\"\nvalues = [\"reno\"]\narms = [\"onn\"]",
       "vary[0].arms[0]", "did you mean \"on\"?"},
      {"[[vary]]\nparameter = \"transport.controller\"\nvalues = [\"reno\"]\narms = "
       "[\"on\"]\nvalue = 1",
       "vary[0].value", "did you mean \"values\"?"},
      {"[[vary]]\nparameter = \"regulation\"\nvalues = [\"off\"]\narms = [\"on\"]",
       "vary[0].parameter", "belongs to the arms"},
      {"[[cross]]\narms = [\"on\"]", "cross[0]", "must name at least one parameter"},
      {"[[cross]]\nlead_rtt = [1, 2]\narms = [\"on\"]", "cross[0].lead_rtt",
       "did you mean \"lead_rtts\"?"},
      {"[[cross]]\nlead_rtts = 1\narms = [\"on\"]", "cross[0].lead_rtts", "must be an array"},
      {"[[cross]]\nlead_rtts = [1, \"2\"]\narms = [\"on\"]", "cross[0].lead_rtts[1]",
       "must be a finite number"},
      {"[cross]\nlead_rtts = [1]", "cross", "must be an array of tables"},
  };
  for (const auto& fault : faults) {
    const auto file = read_experiment(small_experiment(fault.text));
    ASSERT_EQ(file.issues.size(), 1U) << fault.text << '\n' << format_issues("text", file.issues);
    EXPECT_EQ(file.issues[0].key, fault.key);
    EXPECT_THAT(file.issues[0].problem, testing::HasSubstr(fault.problem));
  }
}

TEST(ExperimentFile, ReportsAllFaultsAtOnce) {
  std::string text = changed("iterations = 2", "iteration = 2\ntransport.controller = \"x\"");
  text = with(text, "label = \"off\"", "label = \"base\"");
  const auto file =
      read_experiment(text + "[[vary]]\nparameter = \"k\"\nvalues = [1]\narms = [\"on\"]");
  std::vector<std::string> keys;
  for (const auto& issue : file.issues) keys.push_back(issue.key);
  EXPECT_THAT(
      keys, testing::UnorderedElementsAre("parameters.transport.controller", "parameters.iteration",
                                          "arm[0].label", "vary[0].parameter"));
}

TEST(ExperimentFile, TellsAFaultOfTheParametersOnce) {
  const std::string text = changed("iterations = 2", "iterations = 0");
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
                        "iterations = 4\n[network]\nmeasured = \"a.to_b\"\nrtt = \"4ms\"\n"
                        "[[arm]]\nlabel = \"off\"\n");
  ASSERT_TRUE(base && own) << format_issues("own", own.issues);
  EXPECT_EQ(own.config->name, "own");
  EXPECT_EQ(own.config->seeds, 1U) << "what is asked is the file's own";
  EXPECT_EQ(own.config->arms.size(), 1U);
  EXPECT_EQ(own.config->hosts.size(), 4U);
  EXPECT_EQ(own.config->trunks.at(0).rate, base.config->trunks.at(0).rate);
  EXPECT_EQ(own.config->network.rtt, std::chrono::milliseconds(4)) << "a table is taken as a whole";
  EXPECT_EQ(own.config->parameters.iterations, 4U) << "parameters one by one";
  EXPECT_EQ(own.config->parameters.burst_bytes, base.config->parameters.burst_bytes);
}

// A list of the deriving file's folder was run in the place of the base's, without a word.
TEST_F(ExperimentBase, ItsPathsStartAtItsFolder) {
  const std::string paths =
      "background_list = \"list.csv\"\nbackground_sizes = \"../x.cdf\"\n"
      "background_capture = \"/frames.pcap\"\nmodel = \"resnet50\"\n";
  (void)load("sub/base.toml", with(small_experiment(), "[parameters]\n", "[parameters]\n" + paths));
  const auto derived = [&](const std::string& name, const std::string& base,
                           const std::string& more = {}) {
    const auto own = load(name, "base = \"" + base + "\"\nname = \"own\"\n[parameters]\n" + more +
                                    "[[arm]]\nlabel = \"off\"\n");
    EXPECT_TRUE(own) << format_issues(name, own.issues);
    return own ? own.config->parameters : CaseParameters{};
  };
  const CaseParameters above = derived("own.toml", "sub/base.toml");
  EXPECT_EQ(above.background_list, "sub/list.csv");
  EXPECT_EQ(above.background_sizes, "x.cdf");
  EXPECT_EQ(above.background_capture, "/frames.pcap");
  EXPECT_EQ(above.model, "resnet50") << "a shipped file's name";
  EXPECT_EQ(derived("other/own.toml", "../sub/base.toml").background_list, "../sub/list.csv");
  EXPECT_EQ(derived("sub/own.toml", "base.toml").background_sizes, "../x.cdf") << "as written";
  const std::string own = "background_sizes = \"../x.cdf\"\n";
  EXPECT_EQ(derived("own.toml", "sub/base.toml", own).background_sizes, "../x.cdf")
      << "the file's own";

  std::ofstream(directory_ / "sub/resnet50") << "";
  EXPECT_EQ(derived("own.toml", "sub/base.toml").model, "sub/resnet50") << "a file of the base";
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

// `model` beside an inherited `compute_seconds` computed for the base's time, without a word.
TEST_F(ExperimentBase, AValueThatContradictsAGivenOneIsRefused) {
  const auto faults = [&](const std::string& of_base, const std::string& given) {
    (void)load("base.toml", with(small_experiment(), "[parameters]\n", "[parameters]\n" + of_base));
    return format_issues("own", load("own.toml",
                                     "base = \"base.toml\"\nname = \"own\"\nquestion = \"!\"\n"
                                     "[parameters]\n" +
                                         given + "[[arm]]\nlabel = \"off\"\n")
                                    .issues);
  };
  const std::string model = "model = \"x.toml\"\n",
                    computes = "schedule = \"closed_loop\"\ncompute_seconds = 0.01\n";
  EXPECT_THAT(faults(computes, model),
              HasSubstr("parameters.model: compute_seconds = 0.01, inherited from \"base.toml\", "
                        "would replace the time that the model computes; give compute_seconds = 0 "
                        "for the model's time, or give compute_seconds here to keep it"));
  EXPECT_EQ(faults(computes, model + computes), "") << "both are given";
  EXPECT_EQ(faults(computes, model + "compute_seconds = 0\n"), "");
  EXPECT_EQ(faults(computes, "iterations = 4\n"), "");
  EXPECT_THAT(faults(model, "burst_bytes = \"2MB\"\n"),
              HasSubstr("parameters.burst_bytes: model = \"x.toml\", inherited"));
  EXPECT_THAT(faults("schedule = \"closed_loop\"\n", "period_seconds = 1.0\n"),
              HasSubstr("parameters.period_seconds: schedule = \"closed_loop\", inherited"));
  EXPECT_THAT(faults("background_flows_per_pair = 3\n",
                     "background_load = 0.2\nbackground_sizes = \"x.cdf\"\n"),
              HasSubstr("parameters.background_load: background_flows_per_pair = 3, inherited from "
                        "\"base.toml\", would flow beside it"));
  EXPECT_THAT(
      faults("transport.tail_probe = \"rfc8985\"\n", "transport.stack = \"linux\"\n"),
      HasSubstr("parameters.transport.stack: transport.tail_probe = \"rfc8985\", inherited"));
}

// One of two limits, one of two schedulers, and one of three transports won, without a word.
TEST_F(ExperimentBase, SettingsThatWouldLoseToInheritedOnesAreRefused) {
  const auto faults = [&](const std::string& of_base, const std::string& given,
                          const std::string& arm = "") {
    (void)load("base.toml", with(small_experiment(), "[parameters]\n", "[parameters]\n" + of_base));
    return format_issues(
        "own", load("own.toml", "base = \"base.toml\"\nname = \"own\"\n[parameters]\n" + given +
                                    "[[arm]]\nlabel = \"off\"\n" + arm)
                   .issues);
  };
  const std::string bursts = "ddl.transport.controller = \"dctcp\"\n";
  const std::string all = "transport.controller = \"cubic\"\n";
  EXPECT_THAT(faults(bursts, all),
              HasSubstr("parameters.transport.controller: ddl.transport.controller = \"dctcp\", "
                        "inherited from \"base.toml\", would stay what bursts have"));
  EXPECT_THAT(faults("background." + all, "transport.controller = \"reno\"\n"),
              HasSubstr("would stay what background has"));
  EXPECT_EQ(faults(bursts, all + "ddl." + all), "");
  EXPECT_EQ(faults(all, bursts), "") << "the particular one holds";
  EXPECT_THAT(faults(bursts, "", all), HasSubstr("arm[0].transport.controller: ddl.transport."))
      << "an arm inherits it, too";
  EXPECT_THAT(faults("ddl.transport.stack = \"rfc\"\n", "transport.stack = \"linux\"\n"),
              HasSubstr("parameters.transport.stack: ddl.transport.stack = \"rfc\", inherited"));
  EXPECT_THAT(
      faults("ddl.transport.hystart = \"off\"\n", "transport.stack = \"linux\"\n"),
      HasSubstr("ddl.transport.hystart = \"off\", inherited from \"base.toml\", would stay"));

  const std::string bytes = "switch.queue.limit_bytes = \"45kB\"\n";
  EXPECT_THAT(
      faults(bytes, "switch.queue.limit_packets = 300\n"),
      HasSubstr("parameters.switch.queue.limit_packets: switch.queue.limit_bytes = \"45kB\", "
                "inherited from \"base.toml\", limits the queue before its packets do"));
  EXPECT_EQ(faults(bytes, "switch.queue.limit_packets = 20\n"), "") << "it is reached first";
  EXPECT_THAT(faults("switch.queue.limit_packets = 100\n", "switch.queue.limit_bytes = \"1MB\"\n"),
              HasSubstr("switch.queue.limit_packets = 100, inherited from \"base.toml\", limits"));

  const std::string weights = "scheduler = \"dwrr\"\n", floor = "background_floor = 0.1\n";
  EXPECT_THAT(faults(weights, floor),
              HasSubstr("parameters.background_floor: scheduler = \"dwrr\", inherited from"));
  EXPECT_THAT(faults("scheduler = \"strict_floor\"\n", "ddl_weight = 4.0\n"),
              HasSubstr("parameters.ddl_weight: scheduler = \"strict_floor\", inherited from"));
  EXPECT_EQ(faults(weights, floor, "[[arm]]\nlabel = \"off-two\"\nscheduler = \"strict_floor\"\n"),
            "")
      << "the arm uses it";
  EXPECT_THAT(faults("switch.marker.kind = \"codel\"\n", "switch.marker.threshold_packets = 9\n"),
              HasSubstr("switch.marker.kind = \"codel\", inherited from \"base.toml\", has no"));
}

TEST_F(ExperimentBase, ADefaultThatContradictsAGivenValueIsRefused) {
  const auto faults = [&](const std::string& given, const std::string& arm = "") {
    return format_issues("f", load("own.toml", with(small_experiment(arm), "[parameters]\n",
                                                    "[parameters]\n" + given))
                                  .issues);
  };
  EXPECT_THAT(
      faults("compute_seconds = 0.01\n"),
      HasSubstr("parameters.compute_seconds: schedule = \"fixed\", the default, does not wait "
                "for computing; give schedule = \"closed_loop\" to use it, or give schedule "
                "here to keep it"));
  EXPECT_EQ(faults("compute_seconds = 0.01\nschedule = \"fixed\"\n"), "");
  EXPECT_EQ(faults("compute_seconds = 0\n"), "");
  EXPECT_THAT(faults("", "compute_seconds = 0.01\n"),
              HasSubstr("arm[2].compute_seconds: schedule"));
  EXPECT_THAT(faults("switch.queue.limit_bytes = \"1MB\"\n"),
              HasSubstr("switch.queue.limit_packets = 60, the default, limits the queue before"));
  EXPECT_EQ(faults("switch.queue.limit_bytes = \"64kB\"\n"), "");
  const std::string computes = "compute_seconds = 0.01\n";
  EXPECT_EQ(faults(computes, "[[arm]]\nlabel = \"off-x\"\nschedule = \"closed_loop\"\n"), "");
  EXPECT_EQ(faults(computes,
                   "[[cross]]\nschedule = [\"fixed\", \"closed_loop\"]\n"
                   "arms = [\"off\"]\n"),
            "");
  EXPECT_EQ(faults("", computes + "[[vary]]\nparameter = \"schedule\"\n"
                                  "values = [\"closed_loop\"]\narms = [\"off\"]\n"),
            "");
}

// The order of a sweep's values decided, and points of arms that set the other value were one.
TEST_F(ExperimentBase, EachValueOfASweepIsHeldAgainstFileAndArms) {
  const auto faults = [&](const std::string& parameters, const std::string& more) {
    return format_issues("f", load("own.toml", with(small_experiment(more), "[parameters]\n",
                                                    "[parameters]\n" + parameters))
                                  .issues);
  };
  const std::string bursts = "ddl.transport.controller = \"cubic\"\n";
  const auto sweep = [](const std::string& values) {
    return "[[vary]]\nparameter = \"transport.controller\"\nvalues = " + values +
           "\narms = [\"off\"]\n";
  };
  const auto refused = HasSubstr("vary[0].transport.controller: ddl.transport.controller = ");
  EXPECT_THAT(faults(bursts, sweep("[\"cubic\", \"reno\"]")), refused);
  EXPECT_THAT(faults(bursts, sweep("[\"reno\", \"cubic\"]")), refused);
  EXPECT_EQ(faults(bursts, sweep("[\"cubic\"]")), "");

  const std::string arm = "[[arm]]\nlabel = \"off-x\"\nmodel = \"x.toml\"\n";
  const auto sizes = [](const std::string& arms) {
    return "[[cross]]\nburst_bytes = [\"100kB\", \"1MB\"]\narms = " + arms + "\n";
  };
  EXPECT_THAT(faults("", arm + sizes("[\"off\", \"off-x\"]")),
              HasSubstr("cross[0].burst_bytes: model = \"x.toml\", inherited from arm[3], says"));
  EXPECT_EQ(faults("", arm + sizes("[\"off\"]")), "");
}

TEST_F(ExperimentBase, ArmsJobsAndSweepsInheritTheParameters) {
  const auto faults = [&](const std::string& more) {
    const std::string text =
        with(small_experiment(more), "[parameters]\n",
             "[parameters]\nschedule = \"closed_loop\"\ncompute_seconds = 0.01\n");
    return format_issues("f", load("own.toml", text).issues);
  };
  const std::string beside = "compute_seconds = 0.01, inherited from [parameters], would replace";
  EXPECT_THAT(faults("[[arm]]\nlabel = \"off-x\"\nmodel = \"x.toml\"\n"),
              HasSubstr("arm[3].model: " + beside));
  EXPECT_THAT(faults("[[vary]]\nparameter = \"model\"\nvalues = [\"\", \"x.toml\"]\n"
                     "arms = [\"off\"]\n"),
              HasSubstr("vary[0].model: " + beside));
  EXPECT_THAT(faults("[[cross]]\nmodel = [\"x.toml\"]\narms = [\"off\"]\n"),
              HasSubstr("cross[0].model: " + beside));
  EXPECT_EQ(faults("[[cross]]\nmodel = [\"x.toml\"]\ncompute_seconds = [0.01]\n"
                   "arms = [\"off\"]\n"),
            "");
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
                                        "[[vary]]\nparameter = \"workers\"\nvalues = [2]\n"
                                        "arms = [\"off\", \"rivals\"]\n");
  ASSERT_TRUE(own) << format_issues("own", own.issues);
  const auto h_of = [&](const std::string& label) {
    const auto arm = std::ranges::find(own.config->arms, label, &Arm::label);
    return arm == own.config->arms.end() ? 0U : arm->parameters.h_packets;
  };
  EXPECT_EQ(h_of("off-a"), 5U);
  EXPECT_EQ(h_of("off-b"), 7U) << "an arm of the file replaces the rival";
  EXPECT_EQ(own.config->sweeps.at(0).arms, (std::vector<std::string>{"off", "off-a", "off-b"}));
}

TEST_F(ExperimentBase, FaultsOfRivalsAreItsKeys) {
  const auto problem = [&](const std::string& rivals) {
    const auto file = load("own.toml", "rivals = " + rivals + "\n" + small_experiment());
    return file.issues.empty() ? "" : file.issues.at(0).key + ": " + file.issues[0].problem;
  };
  EXPECT_THAT(problem("\"none.toml\""), HasSubstr("rivals: \"none.toml\": cannot be opened"));
  EXPECT_THAT(problem("7"), HasSubstr("rivals: 7: must be the path of a file of arms"));
  (void)load("more.toml", "seeds = 3\n[[arm]]\nlabel = \"off-a\"\n");
  EXPECT_THAT(problem("\"more.toml\""), HasSubstr("must have [[arm]] and nothing else"));
}

TEST(ExperimentParameters, OnlyTheseBelongToTheRegulator) {
  std::vector<std::string> names;
  for (const auto& [name, value] : to_parameters({}))
    if (is_regulator_parameter(name)) names.push_back(name);
  EXPECT_THAT(names, testing::ElementsAre(
                         "regulation", "recovery", "lead_rtts", "lead_source", "spare_ddl",
                         "outside", "signal_lost", "signal_late", "signal_late_rtts",
                         "signal_early", "signal_early_rtts", "signal_duplicated", "signal_copies",
                         "signal_copy_gap_rtts", "signal_forged_per_second", "signal_forged_tag",
                         "signal_replayed_per_second", "signal_signed"));
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

std::string matrix_experiment(const std::string& matrix) {
  std::string text = small_experiment();
  text.erase(text.find("[[arm]]"));
  return text + "[matrix]\n" + matrix;
}

std::vector<std::string> names_of(const std::string& text) {
  const auto file = read_experiment(text);
  EXPECT_TRUE(file) << format_issues("text", file.issues);
  std::vector<std::string> names;
  for (const auto& c : plan_of(text)) names.push_back(case_name(*file.config, c));
  return names;
}

TEST(Matrix, IsArmsTimesPointsTimesSeeds) {
  const auto names = names_of(matrix_experiment(R"(
lead_rtts = [1, 4]
regulation = ["off", "mark"]
background_load = [0.2, 0.5]
background_sizes = [")" + kSizes + R"("]
seed = "1..3"
)"));
  ASSERT_EQ(names.size(), 2U * 3U * 3U) << "two loads, off and mark with two leads, seeds";
  const std::string low =
      " background_flows_per_pair=0 background_load=0.2 background_sizes=" + kSizes;
  EXPECT_EQ(names[0], "off" + low + " seed 1");
  EXPECT_EQ(names[2], "off" + low + " seed 3");
  EXPECT_EQ(names[3], "on-mark-lead_rtts=1" + low + " seed 1");
  EXPECT_EQ(names[6], "on-mark-lead_rtts=4" + low + " seed 1");
  EXPECT_EQ(names[9], "off" + with(low, "0.2", "0.5") + " seed 1");
}

TEST(Matrix, OfTheRegulatorAloneIsTheArms) {
  EXPECT_EQ(names_of(matrix_experiment("regulation = [\"off\", \"pace\"]\nseed = 1\n")),
            (std::vector<std::string>{"off seed 1", "on-pace seed 1"}));
}

TEST(Matrix, FaultsNameItsKeys) {
  const auto fault = [](const std::string& text) {
    const auto file = read_experiment(text);
    EXPECT_FALSE(file);
    return format_issues("f", file.issues);
  };
  EXPECT_THAT(fault(matrix_experiment("regulation = \"off\"\n")),
              HasSubstr("matrix.regulation: \"off\": must be an array"));
  EXPECT_THAT(fault(matrix_experiment("regulation = [\"off\"]\nseed = \"2..4\"\n")),
              HasSubstr("matrix.seed: \"2..4\": must be a number or \"1..N\""));
  EXPECT_THAT(fault(matrix_experiment("regulation = [\"off\"]\nlaod = [1]\n")), HasSubstr("laod"));
  EXPECT_THAT(fault(matrix_experiment("regulation = [\"off\", \"mrk\"]\n")),
              HasSubstr("matrix.regulation: \"mrk\": must be one of"));
  EXPECT_THAT(fault(matrix_experiment("regulation = [\"off\"]\nworkers = [1, 300]\n")),
              HasSubstr("matrix.workers[1]: 300"));
  EXPECT_THAT(fault(small_experiment("[matrix]\nregulation = [\"off\"]\n")),
              HasSubstr("belongs to the [[arm]] tables"));
}

// A few short lists would otherwise fill any memory.
TEST(Matrix, BoundsItsCombinations) {
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
  const std::string three = lists({"send_jitter", "warm_up_seconds", "start_spread_seconds"});
  EXPECT_THAT(fault(small_experiment("[[cross]]\narms = [\"off\"]\n" + three)),
              HasSubstr("cross[0].start_spread_seconds: makes too many points"));
  EXPECT_THAT(fault(matrix_experiment(three)),
              HasSubstr("matrix.start_spread_seconds: makes too many points"));
  EXPECT_THAT(fault(matrix_experiment(lists({"lead_rtts", "signal_late_rtts"}))),
              HasSubstr("matrix.signal_late_rtts: makes too many arms"));
}

// A load that is asked for comes alone, without a flow beside it that fills the link.
TEST(Plan, ALoadReplacesTheLongFlows) {
  const auto long_flows = [](const std::string& parameters) {
    const auto cases =
        plan_of(with(small_experiment(), "iterations = 2\n",
                     "iterations = 2\nbackground_sizes = \"" + kSizes + "\"\n" + parameters));
    const auto& flows = cases.at(0).traffic.long_flows;
    const std::int64_t count = flows.empty() ? 0 : flows[0].flows_per_pair;
    EXPECT_EQ(parameter(cases[0], "background_flows_per_pair"), ParameterValue(count));
    return count;
  };
  EXPECT_EQ(long_flows(""), 1);
  EXPECT_EQ(long_flows("background_load = 0.5\n"), 0);
  EXPECT_EQ(long_flows("background_load = 0.0\n"), 0) << "the first point of a sweep over loads";
  EXPECT_EQ(long_flows("background_load = 0.5\nbackground_flows_per_pair = 2\n"), 2);
}

TEST(Plan, BackgroundNeedsHosts) {
  const std::string table = "[background]\nfrom = \"sender\"\nto = \"receiver\"\n";
  const auto faults = [&table](const std::string& parameters) {
    const auto file = read_experiment(with(with(small_experiment(), table, ""), "iterations = 2\n",
                                           "iterations = 2\n" + parameters));
    return format_issues("f", file.issues);
  };
  EXPECT_EQ(faults(""), "") << "nobody asked for background";
  EXPECT_EQ(faults("background_flows_per_pair = 0\n"), "");
  EXPECT_THAT(faults("background_flows_per_pair = 2\n"),
              HasSubstr("parameters.background_flows_per_pair: 2: needs a [background]"));
  EXPECT_THAT(faults("background_load = 0.5\nbackground_sizes = \"" + kSizes + "\"\n"),
              HasSubstr("parameters.background_load: 0.5: needs a [background]"));
}

TEST(ExperimentFile, NeedsAnOffArm) {
  std::string text = small_experiment();
  text.erase(text.find("[[arm]]"));
  const auto faults = [](const std::string& file) {
    return format_issues("f", read_experiment(file).issues);
  };
  EXPECT_THAT(faults(text + "[[arm]]\nlabel = \"on\"\nregulation = \"mark\"\n"),
              HasSubstr("  arm: none is \"off\""));
  EXPECT_EQ(faults(text + "[[arm]]\nlabel = \"off-red\"\n"), "");
  EXPECT_THAT(faults(text + "[matrix]\nregulation = [\"mark\", \"pace\"]\n"),
              HasSubstr("  matrix.regulation: none is \"off\""));
}

// The load is a share of the measured link, whatever the rates of the hosts' NICs.
TEST(Plan, BackgroundLoadIsAShareOfTheMeasuredLink) {
  const auto cases = plan_of(with(small_experiment(), "iterations = 2\n", R"(iterations = 2
background_load = 0.5
background_flows_per_pair = 0
background_sizes = ")" + kSizes + "\"\n"));
  const auto& flows = cases.at(0).traffic.flows;
  ASSERT_EQ(flows.size(), 1U);
  EXPECT_NEAR(static_cast<double>(flows[0].rate->bits_per_second), 50e6 * 1448 / 1538, 1);
  EXPECT_TRUE(cases[0].traffic.long_flows.empty());
  EXPECT_TRUE(without_background(cases[0]).traffic.flows.empty());
  const auto missing = read_experiment(
      with(small_experiment(), "iterations = 2\n", "iterations = 2\nbackground_load = 0.5\n"));
  ASSERT_FALSE(missing);
  EXPECT_THAT(format_issues("f", missing.issues), HasSubstr("parameters.background_sizes"));
}

TEST(Plan, FlowsOfAListAreBackgroundsOwn) {
  const fs::path list = fs::temp_directory_path() / ("flows-" + std::to_string(getpid()));
  const auto planned = [&](const std::string& flows) {
    std::ofstream(list) << flows;
    const auto file =
        read_experiment(with(small_experiment(), "iterations = 2\n",
                             "iterations = 2\nbackground_list = \"" + list.string() + "\"\n"));
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
              testing::AllOf(HasSubstr("parameters.background_list: "),
                             HasSubstr("line 2: \"4\": is not one of the 4 hosts")));
}

TEST(Plan, ACaptureIsPlayedByTheFirstHostsOfBackground) {
  const fs::path file = fs::temp_directory_path() / ("capture-" + std::to_string(getpid()));
  const auto planned = [&](const std::vector<CapturedPacket>& packets) {
    write_pcap(file, packets);
    const auto experiment =
        read_experiment(with(small_experiment(), "iterations = 2\n",
                             "iterations = 2\nbackground_capture = \"" + file.string() + "\"\n"));
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
              testing::AllOf(HasSubstr("parameters.background_capture: "),
                             HasSubstr("packet 2: is no IPv4 packet")));
}

TEST(Plan, RequestsAreBetweenTheHostsOfBackground) {
  const std::string asks = with(small_experiment(), "iterations = 2\n",
                                "iterations = 2\nrequests.connections = 4\n"
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
  EXPECT_THAT(faults(with(asks, "requests.connections = 4\n", "")),
              HasSubstr("requests.connections: is required with requests.response_bytes"));
  EXPECT_THAT(faults(with(asks, "requests.think", "requests.thnk")), HasSubstr("requests.thnk"));
  EXPECT_THAT(faults(with(asks, "requests.think = \"2rtt\"", "requests.to = [\"x\"]")),
              HasSubstr("requests.to: is not to be set"));
  EXPECT_THAT(faults(with(asks, "[background]\nfrom = \"sender\"\nto = \"receiver\"\n", "")),
              HasSubstr("requests.connections: needs a [background]"));
}

TEST(Plan, StragglersAreASettingOfTheJob) {
  const auto with_rule = [](const std::string& rule) {
    return with(small_experiment(), "iterations = 2\n",
                "iterations = 2\njob.straggler = [" + rule + "]\n");
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
