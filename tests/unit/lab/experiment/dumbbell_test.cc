// Goal: a file without switches gets a dumbbell of its rate and round trip, and a few lines over a
// preset are an experiment. Method: what is read is compared with the same file in full.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/config/config_file.h"
#include "tests/support/source_path.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/plan.h"

namespace outrider::dumbbell_test {
using namespace lab;
namespace {

using testing::HasSubstr;

ConfigResult<ExperimentFile> read(const std::string& text) {
  return experiment_from(parse_toml(text).config.value(), source_path("conf/experiments"));
}

std::string faults(const std::string& text) { return format_issues("f", read(text).issues); }

constexpr const char* kOff = "[[arm]]\nlabel = \"off\"\n";

TEST(Dumbbell, HasTwoSwitchesWithTheirHosts) {
  const auto file =
      read("name = \"d\"\n[network]\nrate = \"25gbit\"\nrtt = \"33us\"\n" + std::string(kOff));
  ASSERT_TRUE(file) << format_issues("d", file.issues);
  const ExperimentFile& e = *file.config;
  EXPECT_EQ(e.network.measured, std::vector<std::string>{"leaf_a.to_leaf_b"});
  ASSERT_EQ(e.trunks.size(), 1U);
  EXPECT_EQ(e.trunks[0].rate.bits_per_second, 25'000'000'000U);
  ASSERT_EQ(e.hosts.size(), 4U);
  for (const HostGroupEntry& group : e.hosts) {
    EXPECT_EQ(group.rate.bits_per_second, 25'000'000'000U);
    EXPECT_EQ(2 * (e.trunks[0].delay + 2 * group.delay), e.network.rtt);
    EXPECT_EQ(group.at_switch,
              group.name == "worker" || group.name == "sender" ? "leaf_a" : "leaf_b");
  }
  EXPECT_EQ(e.background.from, "sender");
  EXPECT_EQ(e.hosts[2].count.fixed, 2U);
  EXPECT_TRUE(make_plan(e, {.seeds = 1})) << "the parts add up to network.rtt";
}

TEST(Dumbbell, MayHaveOtherHostsOfBackgroundOrNone) {
  const auto with_hosts = [](const std::string& more) {
    return read("name = \"d\"\n[network]\nrate = \"1gbit\"\nrtt = \"1ms\"\n" + more + kOff);
  };
  const auto many = with_hosts("background_hosts = 7\n[background]\nboth_ways = true\n");
  ASSERT_TRUE(many) << format_issues("d", many.issues);
  EXPECT_EQ(many.config->hosts[3].count.fixed, 7U);
  EXPECT_TRUE(many.config->background.both_ways);
  const auto none = with_hosts("background_hosts = 0\n");
  ASSERT_TRUE(none) << format_issues("d", none.issues);
  EXPECT_EQ(none.config->hosts.size(), 2U);
  EXPECT_EQ(none.config->background.from, "");
}

TEST(Dumbbell, FaultsAreThoseOfItsKeys) {
  const std::string network = "name = \"d\"\n[network]\n", off = kOff;
  EXPECT_THAT(faults(network + "rate = \"fast\"\nrtt = \"1ms\"\n" + off),
              HasSubstr("network.rate: \"fast\""));
  EXPECT_THAT(faults(network + "rate = \"1gbit\"\n" + off),
              HasSubstr("network.rtt: is required beside rate"));
  EXPECT_THAT(faults(network + "rate = 5\nrtt = \"1ms\"\n" + off),
              HasSubstr("network.rate: 5: must be a text"));
  EXPECT_THAT(faults(network + "rate = \"1gbit\"\nrtt = \"1ms\"\nbackground_hosts = -1\n" + off),
              HasSubstr("network.background_hosts: -1: must be a whole number"));
  EXPECT_THAT(
      faults(network + "rate = \"1gbit\"\nrtt = \"1ms\"\n[[switch]]\nname = \"a\"\n" + off),
      HasSubstr("network.rate: makes two switches and their hosts, and there is switch already"));
  EXPECT_THAT(
      faults("base = \"quick.toml\"\n" + network + "rate = \"1gbit\"\nrtt = \"1ms\"\n" + off),
      HasSubstr("network.rate: makes two switches"));
}

TEST(Dumbbell, ABackgroundThatIsNoTableIsRefused) {
  const std::string network =
      "name = \"d\"\nbackground = 3\n[network]\nrate = \"1gbit\"\nrtt = \"1ms\"\n";
  EXPECT_THAT(faults(network + kOff), HasSubstr("background"));
  const std::string bare = "name = \"d\"\n[network]\n";
  EXPECT_THAT(faults(bare + "rate = \"0gbit\"\nrtt = \"1ms\"\n" + kOff), HasSubstr("network.rate"));
  EXPECT_THAT(faults(bare + "rate = \"1gbit\"\nrtt = \"7ns\"\n" + kOff),
              HasSubstr("network.rtt: 7ns: must be from 1us to 10s"));
  EXPECT_THAT(faults(bare + "background_hosts = 2\n" + kOff),
              HasSubstr("network.rate: is required"));
}

// Half of its arms would be compared with nothing.
TEST(Preset, ABaseWithRivalsLendsNoArms) {
  const auto told =
      HasSubstr("arm: there must be at least one [[arm]]; a base lends its arms only to");
  EXPECT_THAT(faults("name = \"x\"\nbase = \"verdict/rate-25g.toml\"\n"), told);
  EXPECT_THAT(faults("name = \"x\"\nbase = \"one-queue\"\n[[sweep]]\nworkers = [2]\n"), told);
}

TEST(Preset, ThreeLinesAreAnExperiment) {
  const auto file =
      read("name = \"mine\"\nbase = \"one-queue\"\nparameters.job.burst_bytes = \"2MB\"\n");
  ASSERT_TRUE(file) << format_issues("mine", file.issues);
  EXPECT_EQ(file.config->parameters.programs().job.burst_bytes, 2'000'000U);
  EXPECT_EQ(file.config->arms.size(), 5U);
  EXPECT_EQ(file.config->seeds, 10U);
  EXPECT_NE(file.config->question, "");
  const auto own = read("name = \"mine\"\nbase = \"one-queue\"\n" + std::string(kOff));
  ASSERT_TRUE(own);
  EXPECT_EQ(own.config->arms.size(), 1U) << "its own arms alone";
  EXPECT_EQ(own.config->seeds, 1U) << "and its own question";
  EXPECT_THAT(faults("name = \"x\"\nbase = \"two-queues\"\n"),
              HasSubstr("base: \"two-queues\": cannot be opened"));
}

// These spoke of keys that the file does not have, or of what followed from them.
TEST(Preset, FaultsOfWhatItsRateMakesAreToldByKeysOfTheFile) {
  const std::string base = "name = \"x\"\nbase = \"one-queue\"\n";
  const auto planned = [&base](const std::string& parameters) {
    const auto file = read(base + "[parameters]\n" + parameters);
    return file ? format_issues("f", make_plan(*file.config).issues)
                : format_issues("f", file.issues);
  };
  EXPECT_THAT(faults(base + "[[hosts]]\nname = \"a\"\ncount = 2\nswitch = \"leaf_a\"\n"
                            "rate = \"1gbit\"\ndelay = \"1us\"\n"),
              testing::StartsWith("f: 1 invalid setting\n  hosts: the switches, the link and the "
                                  "hosts of base \"one-queue\" follow from its network.rate"));
  EXPECT_THAT(
      faults(base + "network.measured = \"leaf_b.to_leaf_a\"\n"),
      testing::StartsWith("f: 1 invalid setting\n  network: stands for that of base "
                          "\"one-queue\" as a whole, from whose rate its switches and hosts "
                          "follow: give rate and rtt, there \"10gbit\" and \"100us\""));
  EXPECT_EQ(
      planned("rate_factor = 1000\n"),
      "f: 1 invalid setting\n  parameters.rate_factor: 1000.0: makes a link of 10000gbit, and "
      "links have at most 400gbit\n");
  EXPECT_THAT(planned("transport.mss_bytes = 3000\n"),
              HasSubstr("parameters.transport.mss_bytes: the MTU of hosts by network.rate is 1500 "
                        "bytes: cannot hold transport"));
  EXPECT_THAT(planned("transport.mss_bytes = 3000\n"), testing::Not(HasSubstr("hosts[")));
  EXPECT_THAT(faults(base + "parameters.background.flows_per_pair = 2\n[network]\nrate = "
                            "\"1gbit\"\nrtt = \"1ms\"\nbackground_hosts = 0\n"),
              HasSubstr("background.flows_per_pair: 2: needs network.background_hosts above 0"));
}

TEST(Preset, AMisspeltNameIsGuessed) {
  EXPECT_THAT(faults("name = \"x\"\nbase = \"one-quue\"\n"),
              HasSubstr("base: \"one-quue\": is neither a file here nor one of the program's "
                        "experiments; did you mean \"one-queue\"?"));
  EXPECT_THAT(faults("name = \"x\"\nbase = \"one-queue\"\nparameters.job.model = \"resnet5\"\n"),
              HasSubstr("parameters.job.model: \"resnet5\": is neither a file here nor one of the "
                        "program's models; did you mean \"resnet50\"?"));
}

}  // namespace
}  // namespace outrider::dumbbell_test
