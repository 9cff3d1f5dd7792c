// Goal: a command line is taken as it is meant or refused with all its faults.
#include "tools/hostagent/options.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "common/config/signal_key_file.h"
#include "common/telemetry/exit_status.h"

namespace outrider::options_test {
namespace {

using namespace agent;

using namespace std::chrono_literals;
using testing::HasSubstr;

template <std::size_t kWords>
ParsedAgentLine parse(const std::array<const char*, kWords>& words) {
  return parse_agent_command_line(static_cast<int>(words.size()), words.data());
}

TEST(AgentOptions, Announce) {
  const auto parsed =
      parse(std::array{"outrider-hostagent", "announce", "--interface", "eth0", "--server",
                       "10.0.0.9:5000", "--server", "10.0.0.10:5001", "--lead", "1.5ms", "--job",
                       "7", "--worker", "3", "--threshold", "20", "--idle-gap", "4ms"});
  ASSERT_FALSE(parsed.exit_status);
  const AgentOptions& o = parsed.options;
  EXPECT_EQ(o.command, AgentCommand::kAnnounce);
  EXPECT_EQ(o.interface, "eth0");
  ASSERT_EQ(o.servers.size(), 2U);
  EXPECT_EQ(format_address(o.servers[1].address), "10.0.0.10");
  EXPECT_EQ(ntohs(o.servers[1].port), 5001);
  EXPECT_EQ(o.lead, 1500us);
  EXPECT_EQ(o.idle_gap, 4ms);
  EXPECT_EQ(o.job, 7);
  EXPECT_EQ(o.worker, 3);
  EXPECT_EQ(o.threshold_packets, 20);
  EXPECT_EQ(o.signal_port, udp_signal::kDefaultPort);
}

TEST(AgentOptions, Hold) {
  const auto parsed = parse(std::array{"outrider-hostagent", "hold", "--interface", "eth0",
                                       "--rate", "1gbit", "--rtt", "200us", "--floor", "0.1",
                                       "--job-port", "5000", "--lead", "5ms", "--longest", "1s"});
  ASSERT_FALSE(parsed.exit_status);
  const HoldOptions& o = parsed.options.hold;
  EXPECT_EQ(parsed.options.command, AgentCommand::kHold);
  EXPECT_EQ(o.rate.bits_per_second, 1'000'000'000U);
  EXPECT_EQ(o.rtt, 200us);
  EXPECT_EQ(o.floor, 0.1);
  EXPECT_EQ(o.job_ports, std::vector<std::uint16_t>{5000});
  EXPECT_EQ(o.lead, 5ms);
  EXPECT_EQ(o.longest, 1s);
}

TEST(AgentOptions, HoldIsRefusedWithAllItsFaults) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(parse(std::array{"outrider-hostagent",
                             "hold",
                             "--interface",
                             "eth0",
                             "--rate",
                             "200gbit",
                             "--rtt",
                             "2s",
                             "--floor",
                             "1.5",
                             "--job-port",
                             "0",
                             "--lead",
                             "1s",
                             "--longest",
                             "1s",
                             "--wait",
                             "0s",
                             "--idle-end",
                             "0s",
                             "--sender-share",
                             "0",
                             "--budget-share",
                             "2",
                             "--standing",
                             "0.5"})
                .exit_status,
            kExitUsage);
  const std::string text = testing::internal::GetCapturedStderr();
  for (const char* const fault :
       {"--rate: 200gbit: must be", "--rtt: 2s: must be", "--floor: 1.5", "--job-port: 0",
        "--longest: 1s: must be above --lead, 1s", "--wait: 0s", "--idle-end: 0s",
        "--sender-share: 0", "--budget-share: 2", "--standing: 0.5"})
    EXPECT_THAT(text, HasSubstr(fault));
}

TEST(AgentOptions, ValuesThatMeanNothingAreRefused) {
  const auto said = [](const char* command, const char* option, const char* value) {
    testing::internal::CaptureStderr();
    const bool holds = std::string_view(command) == "hold";
    const auto parsed =
        parse(std::array{"outrider-hostagent", command, "--interface", "eth0",
                         holds ? "--accept-from" : "--server", holds ? "10.0.0.0/8" : "10.0.0.9:5",
                         holds ? "--rate" : "--idle-gap", holds ? "1gbit" : "2ms", option, value});
    const std::string text = testing::internal::GetCapturedStderr();
    return parsed.exit_status == kExitUsage ? text : "taken: " + text;
  };
  for (const char* option : {"--floor", "--standing", "--sender-share", "--budget-share"})
    for (const char* value : {"nan", "-nan", "inf", "-inf", "1e-320", "1e-13", "1e16", "-1"})
      EXPECT_THAT(said("hold", option, value), HasSubstr(option + std::string(": "))) << value;
  for (const char* value : {"0", "-1", "nan", "1048577", "4294967295", "-18446744073709551615"})
    EXPECT_THAT(said("hold", "--max-connections", value),
                HasSubstr("must be a whole number from 1 to 1048576"))
        << value;
  for (const char* value : {"0", "-1", "1000000000000001"})
    EXPECT_THAT(said("record", "--max-bursts", value), HasSubstr("must be a whole number from 1"));
  EXPECT_THAT(said("announce", "--lead", "61s"),
              HasSubstr("--lead: 61s: must be at most --max-period, 60s"));
  EXPECT_THAT(said("announce", "--lead", "-1s"), HasSubstr("must not be negative"));
  EXPECT_THAT(said("hold", "--lead", "10000001s"), HasSubstr("must be at most 10000000s"));
}

TEST(AgentOptions, AToldLeadNeedsSomebodyToTellIt) {
  const auto faults = [](auto&& change) {
    AgentOptions o;
    o.command = AgentCommand::kAnnounce;
    o.lead = 5ms;
    o.lead_limit = 20ms;
    change(o);
    std::string all;
    for (const auto& fault : faults_of(o)) all += fault + '\n';
    return all;
  };
  EXPECT_EQ(faults([](AgentOptions&) {}), "");
  EXPECT_THAT(faults([](AgentOptions& o) { o.lead_limit = 4ms; }),
              HasSubstr("--lead-limit: 4ms: must be at least --lead, 5ms"));
  EXPECT_THAT(faults([](AgentOptions& o) { o.lead = 0ms; }), HasSubstr("needs --lead above 0s"));
  EXPECT_THAT(faults([](AgentOptions& o) { o.form = SignalForm::kTos; }),
              HasSubstr("needs --form udp"));
  EXPECT_THAT(faults([](AgentOptions& o) { o.signal_key.emplace(); }),
              HasSubstr("needs no --signal-key"));
}

TEST(AgentOptions, AnswersAreForTheNetworksThatAreNamed) {
  const auto parsed =
      parse(std::array{"outrider-hostagent", "answer", "--interface", "eth0", "--accept-from",
                       "10.1.0.0/16", "--accept-from", "10.2.0.3/32"});
  ASSERT_FALSE(parsed.exit_status);
  EXPECT_EQ(parsed.options.accept_from, (std::vector<Prefix>{{0x0A010000, 16}, {0x0A020003, 32}}));
  testing::internal::CaptureStderr();
  EXPECT_EQ(parse(std::array{"outrider-hostagent", "answer", "--interface", "eth0", "--accept-from",
                             "10.1.0.1/16"})
                .exit_status,
            kExitUsage);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("--accept-from: \"10.1.0.1/16\""));
}

TEST(AgentOptions, TheTosFormIsRefusedWhatItHasNoRoomFor) {
  EXPECT_EQ(
      parse(std::array{"outrider-hostagent", "answer", "--interface", "eth0", "--form", "tos"})
          .options.form,
      SignalForm::kTos);
  testing::internal::CaptureStderr();
  const auto parsed =
      parse(std::array{"outrider-hostagent", "announce", "--interface", "eth0", "--server",
                       "10.0.0.9:5000", "--form", "tos", "--worker", "0"});
  EXPECT_EQ(parsed.exit_status, kExitUsage);
  parse(std::array{"outrider-hostagent", "answer", "--interface", "eth0", "--form", "ip"});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("--worker: the TOS byte has no room for it"));
  EXPECT_THAT(said, HasSubstr("--form: \"ip\": must be udp or tos"));
}

TEST(AgentOptions, AKeyIsReadOrRefusedWithItsCause) {
  const std::string file = testing::TempDir() + "agent_options.key";
  const auto parse_it = [&file](const char* form) {
    return parse(std::array{"outrider-hostagent", "announce", "--interface", "eth0", "--server",
                            "10.0.0.9:5000", "--form", form, "--signal-key", file.c_str()});
  };
  std::ofstream(file) << signal_key_text({.id = 7, .secret = {0xAB, 1}});
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  const auto parsed = parse_it("udp");
  ASSERT_FALSE(parsed.exit_status);
  ASSERT_TRUE(parsed.options.signal_key);
  EXPECT_EQ(parsed.options.signal_key->id, 7);
  EXPECT_EQ(parsed.options.signal_key->secret[0], 0xAB);

  testing::internal::CaptureStderr();
  EXPECT_EQ(parse_it("tos").exit_status, kExitUsage);
  std::filesystem::permissions(file, std::filesystem::perms::group_read,
                               std::filesystem::perm_options::add);
  EXPECT_EQ(parse_it("udp").exit_status, kExitUsage);
  std::filesystem::remove(file);
  EXPECT_EQ(parse_it("udp").exit_status, kExitUsage);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("--signal-key: the TOS byte has no room for it"));
  EXPECT_THAT(said, HasSubstr("--signal-key: \"" + file + "\": may be used by others"));
  EXPECT_THAT(said, HasSubstr("cannot be opened: No such file"));
  EXPECT_THAT(said, testing::Not(HasSubstr("ab01")));
}

TEST(AgentOptions, TheJobIsNamedByServersOrByItsCgroup) {
  const auto parsed = parse(std::array{"outrider-hostagent", "record", "--interface", "eth0",
                                       "--cgroup", "/sys/fs/cgroup/job"});
  ASSERT_FALSE(parsed.exit_status);
  EXPECT_EQ(parsed.options.cgroup, "/sys/fs/cgroup/job");
  EXPECT_TRUE(parsed.options.servers.empty());
  testing::internal::CaptureStderr();
  EXPECT_EQ(parse(std::array{"outrider-hostagent", "record", "--interface", "eth0"}).exit_status,
            kExitUsage);
  EXPECT_EQ(parse(std::array{"outrider-hostagent", "announce", "--interface", "eth0", "--cgroup",
                             "/c", "--server", "10.0.0.9:5000"})
                .exit_status,
            kExitUsage);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("--server, --cgroup: one of them"));
}

TEST(AgentOptions, DctcpHasNoInterface) {
  const auto parsed = parse(std::array{"outrider-hostagent", "dctcp", "--allow"});
  ASSERT_FALSE(parsed.exit_status);
  EXPECT_EQ(parsed.options.command, AgentCommand::kDctcp);
  EXPECT_TRUE(parsed.options.allow);
  testing::internal::CaptureStderr();
  EXPECT_EQ(parse(std::array{"outrider-hostagent", "dctcp", "--interface", "eth0"}).exit_status,
            kExitUsage);
  testing::internal::GetCapturedStderr();
}

TEST(AgentOptions, SaysAllFaultsAtOnce) {
  testing::internal::CaptureStderr();
  const auto parsed = parse(std::array{"outrider-hostagent", "announce", "--interface", "eth0",
                                       "--server", "10.0.0.9", "--lead", "2", "--threshold", "7"});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(parsed.exit_status, kExitUsage);
  EXPECT_THAT(said, HasSubstr("--server: \"10.0.0.9\": must be like 10.0.0.9:5000"));
  EXPECT_THAT(said, HasSubstr("--lead: \"2\": "));
  EXPECT_THAT(said, HasSubstr("--threshold: 7: must be a multiple of 5 from 5 to 75"));
}

TEST(AgentOptions, RulesOfRanges) {
  AgentOptions o;
  EXPECT_TRUE(faults_of(o).empty());
  o.worker = 32768;
  o.signal_port = 0;
  o.max_period = 1ms;
  EXPECT_THAT(faults_of(o), testing::ElementsAre(HasSubstr("--signal-port"), HasSubstr("--worker"),
                                                 HasSubstr("--max-period: 1ms: must be at least")));
  o.command = AgentCommand::kAnswer;
  EXPECT_EQ(faults_of(o).size(), 1U) << "the rest is of announce";
}

TEST(AgentOptions, Servers) {
  for (const char* text : {"", ":", "10.0.0.9", "10.0.0.9:", "10.0.0.9:0", "10.0.0.9:70000",
                           "10.0.0.9:50x", "host:5000", "10.0.0:5000", "::1:5000"})
    EXPECT_FALSE(parse_server(text)) << text;
  EXPECT_TRUE(parse_server("192.168.1.2:65535"));
}

}  // namespace
}  // namespace outrider::options_test
