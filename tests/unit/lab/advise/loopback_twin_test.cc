// Goal: what two processes can carry of a cluster has as many packets in a round trip and in the
// queue, and spends the same share of its time on bursts. Method: files worked out by hand.
#include "tools/lab/advise/loopback_twin.h"

#include <gtest/gtest.h>

#include <string>

#include "common/config/config_file.h"
#include "tests/support/source_path.h"
#include "tools/lab/advise/scaled.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::loopback_twin_test {
using namespace lab;
namespace {

std::string link(const std::string& rate, const std::string& job) {
  return "[network]\nrate = \"" + rate + "\"\nrtt = \"120us\"\nbackground_hosts = 3\n" +
         "[parameters]\nswitch.queue.limit_bytes = \"300kB\"\nworkers = 4\n" + job +
         "[[background]]\nname = \"long\"\nfrom = \"sender\"\nto = \"receiver\"\n";
}

AdvisedFile file(const std::string& rate, const std::string& job,
                 const std::string& traffic = "long_flows = 3\n") {
  auto table = parse_toml(link(rate, job) + traffic);
  (*table.config)["name"] = ConfigValue(std::string("advise"));
  const auto read = advised_from(*table.config, source_path("conf") + "/samples");
  EXPECT_TRUE(read) << format_issues("t", read.issues);
  return read ? *read.config : AdvisedFile();
}

const std::string kBursts = "job.burst_bytes = \"1MB\"\njob.period = \"20ms\"\n";

double parameter(const AdvisedFile& of, const char* key) {
  const ConfigTable& parameters = *of.experiment.get("parameters")->as<ConfigTable>();
  return number_of(parameters, key, seconds_of(parameters, key));
}

std::string network(const AdvisedFile& of, const char* key) {
  return *find(of.experiment, std::string("network.") + key)->as<std::string>();
}

TEST(LoopbackTwin, IsSlowerByOneFactor) {
  const AdvisedFile today = file("10gbit", kBursts);
  const LoopbackTwin twin = loopback_twin(today);
  EXPECT_EQ(twin.slower, 100);
  EXPECT_EQ(network(twin.advised, "rate"), "100mbit");
  EXPECT_EQ(network(twin.advised, "rtt"), "12ms");
  EXPECT_EQ(parameter(twin.advised, "switch.marker.threshold_packets"),
            parameter(today, "switch.marker.threshold_packets"));
  EXPECT_EQ(twin.smaller_bursts, 1) << "4 MB at 100 Mbit/s take 0.32 s";
  EXPECT_EQ(parameter(twin.advised, "job.period"), 2.0);
  EXPECT_NEAR(parameter(twin.advised, "warm_up_seconds"), 100 * parameter(today, "warm_up_seconds"),
              1e-9);
}

TEST(LoopbackTwin, HasBurstsOfHalfASecondAtMost) {
  const LoopbackTwin twin =
      loopback_twin(file("10gbit", "job.burst_bytes = \"25MB\"\njob.period = \"20ms\"\n"));
  EXPECT_NEAR(twin.smaller_bursts, 1.0 / 16, 1e-9) << "all 8 s at 100 Mbit/s";
  EXPECT_EQ(parameter(twin.advised, "job.burst_bytes"), 1'562'500);
  EXPECT_NEAR(parameter(twin.advised, "job.period"), 0.125, 1e-9);
}

TEST(LoopbackTwin, OfASlowClusterIsTheClusterItself) {
  const LoopbackTwin twin =
      loopback_twin(file("50mbit", "job.burst_bytes = \"10kB\"\njob.period = \"20ms\"\n"));
  EXPECT_EQ(twin.slower, 1);
  EXPECT_EQ(network(twin.advised, "rtt"), "120us");
  EXPECT_EQ(parameter(twin.advised, "job.period"), 0.02);
}

TEST(LoopbackTwin, OfAModelComputesTheSameShare) {
  const auto model =
      *tg::load_model_profile(std::string(source_path("conf/models/resnet50.toml"))).config;
  const double compute = seconds(*model.forward + *model.backward);
  const double bursts = 8.0 * 4 * static_cast<double>(model.total_bytes) / 10e9;

  const LoopbackTwin twin = loopback_twin(file("10gbit", "job.model = \"resnet50\"\n"));
  EXPECT_NEAR(parameter(twin.advised, "job.compute") / 0.5, compute / bursts, 1e-6);
  EXPECT_NEAR(8.0 * 4 * parameter(twin.advised, "job.burst_bytes") / 100e6, 0.5, 1e-5);
  EXPECT_EQ(find(twin.advised.experiment, "parameters.job.model"), nullptr);
}

TEST(LoopbackTwin, IsNotThereForFabricsRoceListsAndCaptures) {
  const AdvisedFile today = file("10gbit", kBursts);
  EXPECT_EQ(no_twin_because(today), "");
  EXPECT_NE(no_twin_because(file("10gbit", kBursts, "capture = \"frames.pcap\"\n")), "");
  AdvisedFile other = today;
  other.traits.by_rate = false;
  EXPECT_NE(no_twin_because(other), "");
  other = today;
  other.traits.roce = true;
  EXPECT_NE(no_twin_because(other), "");
}

}  // namespace
}  // namespace outrider::loopback_twin_test
