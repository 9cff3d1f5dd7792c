// Goal: a generator on two lcores does what it does on one, ends in the same ways, and makes one
// report. Method: the real program with real threads; two pairs of hosts, each joined by a ring.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <regex>

#include "common/telemetry/exit_status.h"
#include "tests/loopback/process_guard.h"
#include "tests/loopback/test_cpus.h"
#include "trafficgen/report/report_json.h"

namespace outrider::host_lcores_test {
using namespace tg;
namespace {

using ::testing::HasSubstr;

/// Returns two pairs of hosts. Of the jobs the second pair has the first and the longer one.
std::string config(const std::string& top, int iterations) {
  std::string text = top + "\nlcore = 0\nsend_jitter = 0.0\n[[transport]]\nname = \"tcp\"\n";
  for (const std::string n : {"0", "1"}) {
    text += "[[device]]\nname = \"loop" + n + "\"\ndevice = \"net_ring" + n + "\"\n";
    for (const std::string end : {"a", "b"})
      text += "[[host]]\nname = \"" + end + n + "\"\naddress = \"10.0." + n + "." +
              (end == "a" ? "1" : "2") + "\"\ndevice = \"loop" + n + "\"\nrate = \"100mbit\"\n";
    text += "[[long_flows]]\nname = \"bulk" + n + "\"\nfrom = [\"a" + n + "\"]\nto = [\"b" + n +
            "\"]\ntransport = \"tcp\"\ntcp_port = 2" + n + "000\n";
  }
  for (const std::string n : {"1", "0"})
    text += "[[job]]\nname = \"train" + n + "\"\nworkers = [\"a" + n + "\"]\nservers = [\"b" + n +
            "\"]\ntransport = \"tcp\"\nburst_bytes = \"50kB\"\ncompute = \"5ms\"\ntcp_port = 500" +
            n + "\niterations = " + std::to_string(n == "1" ? iterations : iterations / 2) + "\n";
  return text;
}

struct Outcome {
  std::optional<int> status;
  GeneratorReport report;
  std::string said;
};

Outcome run(const std::string& text, const std::vector<std::string>& more, bool interrupt = false) {
  const ScratchDirectory scratch;
  std::vector<std::string> arguments{OUTRIDER_TRAFFICGEN_PROGRAM, "--config",
                                     scratch.write("hosts.toml", text), "--report",
                                     scratch / "report.json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  ProcessGuard process(arguments, scratch / "log");
  if (interrupt) {
    EXPECT_TRUE(process.says(std::regex("[0-9] s  sent .* bursts "), kPatience))
        << process.output();
    process.send(SIGINT);
  }
  Outcome result{.status = process.wait(kPatience), .report = {}, .said = process.output()};
  result.report = generator_report_from_json(read_whole(scratch / "report.json"));
  EXPECT_TRUE(result.report.ledger_balanced) << result.said;
  return result;
}

TEST(HostLcores, OneAndTwoFinishTheSameJobsInTheOrderOfTheFile) {
  const Outcome one = run(config("", 20), {});
  const Outcome two = run(config("more_lcores = [0]", 20), {"--eal", shared_lcores(2)});
  for (const Outcome* each : {&one, &two}) {
    const GeneratorReport& r = each->report;
    EXPECT_EQ(each->status, kExitOk) << each->said;
    EXPECT_TRUE(r.jobs_finished);
    ASSERT_EQ(r.jobs.size(), 2U);
    EXPECT_EQ(r.jobs[0].name, "train1");
    EXPECT_EQ(r.jobs[0].iterations, 20U);
    EXPECT_EQ(r.jobs[1].name, "train0");
    EXPECT_EQ(r.jobs[1].iterations, 10U);
    EXPECT_EQ(r.bursts.size(), 60U) << "pushed and pulled";
    ASSERT_EQ(r.flows.size(), one.report.flows.size());
    for (std::size_t i = 0; i < r.flows.size(); ++i) {
      EXPECT_EQ(r.flows[i].name, one.report.flows[i].name);
      EXPECT_GT(r.flows[i].delivered_bytes, 0U) << r.flows[i].name;
    }
  }
}

TEST(HostLcores, CtrlCEndsAllLcoresWhileBothSend) {
  const Outcome two =
      run(config("more_lcores = [0]", 100'000), {"--live", "--eal", shared_lcores(2)}, true);
  EXPECT_EQ(two.status, kExitInterrupted) << two.said;
  for (const auto& flow : two.report.flows) EXPECT_GT(flow.delivered_bytes, 0U) << flow.name;
}

// The first lcore has the device. The second has half of the hosts and owns no device at all.
TEST(HostLcores, ShareOneDevice) {
  std::string text = config("more_lcores = [0]", 20);
  const std::string second = "[[device]]\nname = \"loop1\"\ndevice = \"net_ring1\"\n";
  text.erase(text.find(second), second.size());
  text = std::regex_replace(text, std::regex("device = \"loop1\""), "device = \"loop0\"");
  const Outcome two = run(text, {"--eal", shared_lcores(2)});
  EXPECT_EQ(two.status, kExitOk) << two.said;
  const GeneratorReport& r = two.report;
  EXPECT_TRUE(r.jobs_finished);
  ASSERT_EQ(r.jobs.size(), 2U);
  EXPECT_EQ(r.jobs[0].iterations, 20U);
  EXPECT_EQ(r.jobs[1].iterations, 10U);
  for (const auto& flow : r.flows) EXPECT_GT(flow.delivered_bytes, 0U) << flow.name;
  EXPECT_EQ(r.drops[DropReason::kUnknownHost], 0U);
  EXPECT_EQ(r.drops[DropReason::kHandoverFull], 0U);
}

TEST(HostLcores, StreamsOfBothDevicesLeaveHostsToTheSecond) {
  const std::string stream =
      "[[stream]]\nname = \"probe\"\ndevice = \"loop0\"\nreceive_device = \"loop1\"\nrate = "
      "\"1kpps\"\nsource = \"10.1.0.1\"\ndestination = \"10.2.0.1\"\npackets = 10\n";
  const Outcome two = run(config("more_lcores = [0]", 20) + stream, {"--eal", shared_lcores(2)});
  EXPECT_EQ(two.status, kExitOk) << two.said;
  ASSERT_EQ(two.report.streams.streams.size(), 1U);
  EXPECT_EQ(two.report.streams.streams[0].sent, 10U);
  EXPECT_EQ(two.report.jobs.size(), 2U);
}

TEST(HostLcores, MoreThanGroupsAreRefused) {
  const ScratchDirectory scratch;
  ProcessGuard process({OUTRIDER_TRAFFICGEN_PROGRAM, "--check", "--config",
                        scratch.write("hosts.toml", config("more_lcores = [0, 0]", 20))},
                       scratch / "log");
  EXPECT_EQ(process.wait(kPatience), kExitUsage);
  EXPECT_THAT(process.output(), HasSubstr("more_lcores: 2: makes 3 lcores, but"));
}

TEST(HostLcores, StreamsRunBesideHostsOfAnotherLcore) {
  const std::string stream =
      "[[stream]]\nname = \"probe\"\ndevice = \"loop1\"\nreceive_device = \"loop1\"\nrate = "
      "\"1kpps\"\nsource = \"10.1.0.1\"\ndestination = \"10.2.0.1\"\npackets = 10\n";
  const Outcome two = run(config("more_lcores = [0]", 20) + stream, {"--eal", shared_lcores(2)});
  EXPECT_EQ(two.status, kExitOk) << two.said;
  ASSERT_EQ(two.report.streams.streams.size(), 1U);
  EXPECT_EQ(two.report.streams.streams[0].received, 10U);
  EXPECT_EQ(two.report.jobs.size(), 2U);
}

/// Streams of two rings, in an order that is not that of the lcores.
TEST(HostLcores, StreamsWithoutHostsAreSharedOutAndReportedInTheOrderOfTheFile) {
  std::string text = "lcore = 0\nmore_lcores = [0]\n";
  for (const std::string n : {"0", "1"})
    text += "[[device]]\nname = \"loop" + n + "\"\ndevice = \"net_ring" + n + "\"\n";
  for (const std::string name : {"a0", "b1", "c0"})
    text += "[[stream]]\nname = \"" + name + "\"\ndevice = \"loop" + name[1] +
            "\"\nreceive_device = \"loop" + name[1] + "\"\nrate = \"" + (name == "b1" ? "3" : "2") +
            "kpps\"\nsource = \"10.1." + name[1] + (name[0] == 'a' ? ".1" : ".2") +
            "\"\ndestination = \"10.2.0.1\"\nlatency_samples = 5\npackets = " +
            (name == "b1" ? "300" : "200") + "\n";
  const ScratchDirectory scratch;
  ProcessGuard process({OUTRIDER_TRAFFICGEN_PROGRAM, "--live", "--eal", shared_lcores(2),
                        "--config", scratch.write("streams.toml", text), "--report",
                        scratch / "report.json", "--samples", scratch / "samples.csv"},
                       scratch / "log");
  EXPECT_EQ(process.wait(kPatience), kExitOk) << process.output();
  const auto report = generator_report_from_json(read_whole(scratch / "report.json"));
  EXPECT_TRUE(report.ledger_balanced);
  EXPECT_EQ(report.sent, 700U);
  EXPECT_EQ(report.streams.ends.taken, 700U);
  ASSERT_EQ(report.streams.streams.size(), 3U);
  for (const std::size_t i : {0U, 1U, 2U}) {
    const auto& s = report.streams.streams[i];
    EXPECT_EQ(s.name, (std::vector<std::string>{"a0", "b1", "c0"})[i]);
    EXPECT_EQ(s.received, i == 1 ? 300U : 200U) << s.name;
    EXPECT_EQ(s.lost, 0U) << s.name;
  }
  const std::string samples = read_whole(scratch / "samples.csv");
  EXPECT_EQ(std::ranges::count(samples, '\n'), 1 + 3 * 5);
  EXPECT_LT(samples.find("a0,4"), samples.find("b1,0"));
  EXPECT_LT(samples.find("b1,4"), samples.find("c0,0"));
}

}  // namespace
}  // namespace outrider::host_lcores_test
