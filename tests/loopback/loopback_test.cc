// Goal: the two programs work together over vhost and virtio-user, survive each
// other's death, and say what is wrong with their surroundings. Method: real
// processes with one core each, ended by what they say and write, never by a
// measured time.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/telemetry/exit_status.h"
#include "switch/report/report_json.h"
#include "tests/loopback/process_guard.h"
#include "tests/loopback/test_cpus.h"
#include "trafficgen/report/report_json.h"

namespace outrider::loopback_test {
using namespace sw;
using namespace tg;
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr const char* kSwitchConfig = R"(
[[device]]
name = "left"
device = "net_vhost0,iface=@left,client=1"
[[device]]
name = "right"
device = "net_vhost1,iface=@right,client=1"
[[switch]]
name = "s"
[[switch.port]]
name = "left"
device = "left"
drain_rate = "200mbit"
delay = "20us"
[[switch.port]]
name = "right"
device = "right"
drain_rate = "200mbit"
delay = "20us"
record = true
[[switch.route]]
prefix = "198.18.1.0/24"
port = "left"
[[switch.route]]
prefix = "198.18.2.0/24"
port = "right"
)";

constexpr const char* kGeneratorConfig = R"(
[[device]]
name = "left"
device = "net_virtio_user0,path=@left,server=1"
[[device]]
name = "right"
device = "net_virtio_user1,path=@right,server=1"
[[host]]
name = "worker"
address = "198.18.1.1"
device = "left"
rate = "1gbit"
[[host]]
name = "bulk"
address = "198.18.1.2"
device = "left"
rate = "1gbit"
[[host]]
name = "server"
address = "198.18.2.1"
device = "right"
rate = "1gbit"
[[host]]
name = "sink"
address = "198.18.2.2"
device = "right"
rate = "1gbit"
[[transport]]
name = "tcp"
min_rto = "50ms"
[[job]]
name = "train"
workers = ["worker"]
servers = ["server"]
transport = "tcp"
burst_bytes = "50kB"
iterations = @iterations
compute = "20ms"
[[long_flows]]
name = "background"
from = ["bulk"]
to = ["sink"]
transport = "tcp"
)";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

class Loopback : public testing::Test {
 protected:
  std::string with_sockets(const std::string& text) const {
    return replaced(replaced(text, "@left", directory_ / "l"), "@right", directory_ / "r");
  }
  std::string switch_config() const {
    return directory_.write("switch.toml", with_sockets(kSwitchConfig));
  }
  std::string generator_config(int iterations) const {
    return directory_.write("gen.toml", replaced(with_sockets(kGeneratorConfig), "@iterations",
                                                 std::to_string(iterations)));
  }
  std::unique_ptr<ProcessGuard> start_switch(const std::string& name) const {
    return start({OUTRIDER_SWITCH_PROGRAM, "--config", switch_config(), "--lcore", cpus_.first,
                  "--report", directory_ / (name + ".json")},
                 name);
  }
  std::unique_ptr<ProcessGuard> start_generator(const std::string& name, int iterations) const {
    return start({OUTRIDER_TRAFFICGEN_PROGRAM, "--config", generator_config(iterations), "--lcore",
                  cpus_.second, "--report", directory_ / (name + ".json"), "--csv",
                  directory_ / (name + "-tables")},
                 name);
  }
  std::unique_ptr<ProcessGuard> start(const std::vector<std::string>& arguments,
                                      const std::string& name) const {
    return std::make_unique<ProcessGuard>(arguments, directory_ / (name + ".log"));
  }
  /// Exit status and output of a run that ends by itself.
  std::pair<int, std::string> run(const std::vector<std::string>& arguments) const {
    const auto process = start(arguments, "run");
    const auto status = process->wait(kPatience);
    return {status.value_or(-1), process->output()};
  }
  SwitchReport switch_report(const std::string& name) const {
    return switch_report_from_json(read_whole(directory_ / (name + ".json")));
  }
  GeneratorReport generator_report(const std::string& name) const {
    return generator_report_from_json(read_whole(directory_ / (name + ".json")));
  }
  /// Ends a switch as a user would. @return its exit status
  static int interrupt(ProcessGuard& process) {
    process.send(SIGINT);
    return process.wait(kPatience).value_or(-1);
  }

  ScratchDirectory directory_;
  std::pair<std::string, std::string> cpus_ = two_cpus();
};

TEST_F(Loopback, TrainsBesideALongFlowAndBothLedgersClose) {
  constexpr int kIterations = 10;
  const auto sw = start_switch("switch");
  const auto gen = start_generator("gen", kIterations);
  ASSERT_EQ(gen->wait(kPatience), kExitOk) << gen->output();
  ASSERT_EQ(interrupt(*sw), kExitOk) << sw->output();

  const GeneratorReport g = generator_report("gen");
  const SwitchReport s = switch_report("switch");
  EXPECT_TRUE(g.ledger_balanced);
  EXPECT_TRUE(s.ledger_balanced);
  EXPECT_TRUE(g.jobs_finished);
  EXPECT_EQ(g.bursts.size(), 2U * kIterations) << "push and pull";
  EXPECT_GT(g.flows.size(), 1U);
  EXPECT_LE(g.received, s.transmitted);
  EXPECT_LE(s.received, g.sent);

  const auto right = std::ranges::find(s.queues, "right", &QueueReport::port_name);
  ASSERT_NE(right, s.queues.end());
  std::set<BurstIdentity> seen;
  for (const auto& burst : right->bursts) seen.insert(burst.identity);
  for (const auto& burst : g.bursts) {
    EXPECT_NE(burst.delivered_ns, kNotYet_ns);
    EXPECT_EQ(seen.contains(burst.identity), burst.identity.direction == BurstDirection::kPush)
        << "iteration " << burst.identity.iteration;
  }
}

TEST_F(Loopback, SwitchSurvivesTheGeneratorsDeathAndServesTheNext) {
  const auto sw = start_switch("switch");
  const auto first = start_generator("first", 1'000'000);
  ASSERT_TRUE(first->says("sending", kPatience)) << first->output();
  first->kill_now();
  const auto second = start_generator("second", 3);
  EXPECT_EQ(second->wait(kPatience), kExitOk) << second->output();
  EXPECT_TRUE(sw->running()) << sw->output();
  EXPECT_EQ(interrupt(*sw), kExitOk) << sw->output();
  EXPECT_THAT(sw->output(), HasSubstr("link is down"));
  EXPECT_TRUE(switch_report("switch").ledger_balanced);
  EXPECT_TRUE(generator_report("second").jobs_finished);
}

TEST_F(Loopback, GeneratorSurvivesTheSwitchsDeathAndPicksUpTheNext) {
  auto sw = start_switch("first");
  const auto gen = start_generator("gen", 30);  // over 600 ms: outlives the switch
  ASSERT_TRUE(gen->says("sending", kPatience)) << gen->output();
  sw->kill_now();
  ASSERT_TRUE(gen->says("link is down", kPatience)) << gen->output();
  sw = start_switch("second");
  EXPECT_EQ(gen->wait(kPatience), kExitOk) << gen->output();
  EXPECT_EQ(interrupt(*sw), kExitOk) << sw->output();
  EXPECT_TRUE(generator_report("gen").jobs_finished);
  EXPECT_TRUE(generator_report("gen").ledger_balanced);
  EXPECT_GT(switch_report("second").received, 0U);
}

TEST_F(Loopback, GeneratorEndsInGoodOrderWhileItsSwitchIsDead) {
  const auto sw = start_switch("switch");
  const auto gen = start_generator("gen", 1'000'000);
  ASSERT_TRUE(gen->says("sending", kPatience)) << gen->output();
  sw->kill_now();
  ASSERT_TRUE(gen->says("link is down", kPatience)) << gen->output();
  EXPECT_EQ(interrupt(*gen), kExitInterrupted) << gen->output();
  EXPECT_TRUE(generator_report("gen").ledger_balanced);
  EXPECT_THAT(read_whole(directory_ / "gen-tables/flows.csv"), HasSubstr("\nbackground 0,"));
}

// The lcore that checks the links must not wait for whoever reads the log.
TEST_F(Loopback, AStalledReaderOfTheLogStopsNoPackets) {
  const std::string path = directory_ / "stderr";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int fd = open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  const auto sw =
      start({"/bin/sh", "-c", "exec \"$0\" \"$@\" 2>" + path, OUTRIDER_SWITCH_PROGRAM, "--config",
             switch_config(), "--lcore", cpus_.first, "--report", directory_ / "switch.json"},
            "switch");
  std::string said;
  char part[4096];
  while (said.find("telemetry socket") == std::string::npos && sw->running())
    if (const ssize_t n = read(fd, part, sizeof part); n > 0)
      said.append(part, static_cast<std::size_t>(n));
  while (write(fd, part, sizeof part) > 0 || write(fd, part, 1) > 0) {
  }
  const auto gen = start_generator("gen", 3);  // its devices bring the links up
  EXPECT_EQ(gen->wait(kPatience), kExitOk) << gen->output();
  EXPECT_EQ(interrupt(*sw), kExitOk) << sw->output();
  close(fd);
  EXPECT_TRUE(switch_report("switch").ledger_balanced);
  EXPECT_TRUE(generator_report("gen").jobs_finished);
}

TEST_F(Loopback, AnInterruptedRunWritesItsReport) {
  const auto sw = start_switch("switch");
  const auto gen = start_generator("gen", 1'000'000);
  ASSERT_TRUE(gen->says("sending", kPatience)) << gen->output();
  EXPECT_EQ(interrupt(*gen), kExitInterrupted) << gen->output();
  EXPECT_EQ(interrupt(*sw), kExitOk) << sw->output();
  EXPECT_FALSE(generator_report("gen").jobs_finished);
  EXPECT_TRUE(generator_report("gen").ledger_balanced);
  EXPECT_TRUE(switch_report("switch").ledger_balanced);
  EXPECT_THAT(sw->output(), HasSubstr("longest gap between two polls"));
}

TEST_F(Loopback, AGeneratorWithoutPeerCanBeInterruptedAndGivesUp) {
  const auto waiting = start_generator("waiting", 1);
  ASSERT_TRUE(waiting->says("waiting for a peer", kPatience));
  EXPECT_EQ(interrupt(*waiting), kExitInterrupted) << waiting->output();

  const auto [status, said] = run({OUTRIDER_TRAFFICGEN_PROGRAM, "--config", generator_config(1),
                                   "--lcore", cpus_.second, "--wait-for-peer", "0.2"});
  EXPECT_EQ(status, kExitEnvironment) << said;
  EXPECT_THAT(said, HasSubstr("no peer connected to " + (directory_ / "l")));
}

// -- what the programs refuse

TEST_F(Loopback, RefusesBadConfigurationAndCommandLine) {
  for (const std::string program : {OUTRIDER_SWITCH_PROGRAM, OUTRIDER_TRAFFICGEN_PROGRAM}) {
    const auto [missing, about_missing] = run({program, "--config", directory_ / "absent.toml"});
    EXPECT_EQ(missing, kExitUsage);
    EXPECT_THAT(about_missing, HasSubstr("absent.toml"));

    const auto [option, about_option] = run({program, "--bogus"});
    EXPECT_EQ(option, kExitUsage);
    EXPECT_THAT(about_option, HasSubstr("--bogus"));

    const auto [none, about_none] = run({program});
    EXPECT_EQ(none, kExitUsage);
    EXPECT_THAT(about_none, HasSubstr("--config"));

    const auto [help, about_help] = run({program, "--help"});
    EXPECT_EQ(help, kExitOk);
    EXPECT_THAT(about_help, HasSubstr("Exit status"));
  }
  const auto typo = directory_.write("typo.toml", "lcoer = 0\n" + with_sockets(kSwitchConfig));
  const auto [status, said] = run({OUTRIDER_SWITCH_PROGRAM, "--config", typo});
  EXPECT_EQ(status, kExitUsage);
  EXPECT_THAT(said, HasSubstr("lcoer"));

  const auto [time, about_time] =
      run({OUTRIDER_SWITCH_PROGRAM, "--config", switch_config(), "--duration", "5 fortnights"});
  EXPECT_EQ(time, kExitUsage);
  EXPECT_THAT(about_time, HasSubstr("--duration"));

  const auto [report, about_report] = run(
      {OUTRIDER_SWITCH_PROGRAM, "--config", switch_config(), "--report", directory_ / "no/r.json"});
  EXPECT_EQ(report, kExitUsage);
  EXPECT_THAT(about_report, HasSubstr("--report"));
}

TEST_F(Loopback, ChecksAndPrintsTheResolvedConfiguration) {
  const auto [status, resolved] =
      run({OUTRIDER_SWITCH_PROGRAM, "--config", switch_config(), "--check"});
  ASSERT_EQ(status, kExitOk) << resolved;
  EXPECT_THAT(resolved, HasSubstr("limit_packets"));
  const std::string again = directory_.write("resolved.toml", resolved);
  EXPECT_EQ(run({OUTRIDER_SWITCH_PROGRAM, "--config", again, "--check"}).second, resolved);
}

TEST_F(Loopback, NamesWhatIsMissingAroundIt) {
  const auto [cpu, about_cpu] =
      run({OUTRIDER_SWITCH_PROGRAM, "--config", switch_config(), "--lcore", "100"});
  EXPECT_EQ(cpu, kExitEnvironment);
  EXPECT_THAT(about_cpu, HasSubstr("CPU 100 does not exist; usable are"));

  const std::string nic = directory_.write(
      "nic.toml", replaced(with_sockets(kSwitchConfig),
                           "net_vhost0,iface=" + (directory_ / "l") + ",client=1", "ffff:ff:1f.7"));
  const auto [pci, about_pci] =
      run({OUTRIDER_SWITCH_PROGRAM, "--config", nic, "--lcore", cpus_.first});
  EXPECT_EQ(pci, kExitEnvironment);
  EXPECT_THAT(about_pci, HasSubstr("ffff:ff:1f.7: no such PCI device"));

  const auto [eal, about_eal] = run({OUTRIDER_SWITCH_PROGRAM, "--no-such-eal-option", "--",
                                     "--config", switch_config(), "--lcore", cpus_.first});
  EXPECT_EQ(eal, kExitEnvironment);
  EXPECT_THAT(about_eal, HasSubstr("--no-such-eal-option"));
}

TEST_F(Loopback, RefusesASocketInUse) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (directory_ / "l").c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  const auto [status, said] =
      run({OUTRIDER_TRAFFICGEN_PROGRAM, "--config", generator_config(1), "--lcore", cpus_.second});
  close(fd);
  EXPECT_EQ(status, kExitEnvironment) << said;
  EXPECT_THAT(said, HasSubstr((directory_ / "l") + " is in use"));
}

}  // namespace
}  // namespace outrider::loopback_test
