// Goal: what is printed, in which form, and how the program ends. Method: findings
// given, and the program's own functions on trees of files.
#include "tools/doctor/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/machine/advice.h"
#include "common/telemetry/exit_status.h"
#include "tests/unit/doctor/fake_machine.h"
#include "tools/doctor/cli.h"

namespace outrider::doctor_report_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const Findings kFindings = {
    {"cpu.count", Severity::kOk, "2 CPUs", "", ""},
    {"cpu.governor", Severity::kWarn, "powersave", "rates differ", "cpupower x"},
    {"memory.huge_pages", Severity::kNote, "none", "slower", "sysctl y"},
    {"kernel.tap", Severity::kNote, "no right", "refused", "run as root"},
};

TEST(DoctorReport, IsPlainTextInGroups) {
  EXPECT_EQ(findings_text(kFindings, false), R"(cpu
  [ok]   count: 2 CPUs
  [warn] governor: powersave
         effect: rates differ
         mend:   cpupower x

memory
  [note] huge_pages: none
         effect: slower
         mend:   sysctl y

kernel
  [note] tap: no right
         effect: refused
         mend:   run as root

1 ok, 2 notes, 1 warning, 0 failures.
What mends the machine needs root, mostly.
)");
}

TEST(DoctorReport, HasColoursOnATerminalOnly) {
  EXPECT_THAT(findings_text(kFindings, false), Not(HasSubstr("\033")));
  EXPECT_THAT(findings_text(kFindings, true), HasSubstr("[\033[33mwarn\033[0m] governor"));
}

TEST(DoctorReport, BreaksLongEffectsAndNeverCommands) {
  std::string words, command;
  for (int i = 0; i < 60; ++i) words += "word ", command += "part ";
  std::istringstream lines(
      findings_text({{"a.b", Severity::kNote, "c", words + "end", command + "end"}}, false));
  int broken = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("mend:") != std::string::npos) {
      EXPECT_THAT(line, HasSubstr(command + "end"));
      continue;
    }
    EXPECT_LE(line.size(), 100U);
    broken += line.starts_with(std::string(17, ' ') + "word");
  }
  EXPECT_EQ(broken, 3);
}

TEST(DoctorReport, IsJsonThatHoldsEverything) {
  const auto document = nlohmann::json::parse(findings_json(kFindings));
  EXPECT_EQ(document["schema_version"], 1);
  EXPECT_EQ(document["worst"], "warn");
  EXPECT_EQ(document["exit_status"], 1);
  ASSERT_EQ(document["findings"].size(), kFindings.size());
  EXPECT_EQ(document["findings"][1]["check"], "cpu.governor");
  EXPECT_EQ(document["findings"][1]["severity"], "warn");
  EXPECT_EQ(document["findings"][1]["remedy"], "cpupower x");
}

TEST(DoctorReport, IsJsonEvenIfTheMachineSpeaksNoUtf8) {
  const auto text = findings_json({{"a.b", Severity::kNote, "\xff\xfe", "", ""}});
  EXPECT_TRUE(nlohmann::json::accept(text));
}

TEST(DoctorReport, StatusIsThatOfTheWorst) {
  const auto status = [](Severity severity) {
    return exit_status_of({{"a.a", Severity::kOk, "", "", ""}, {"a.b", severity, "", "", ""}});
  };
  EXPECT_EQ(status(Severity::kOk), kExitOk);
  EXPECT_EQ(status(Severity::kNote), kExitOk);
  EXPECT_EQ(status(Severity::kWarn), kExitFailure);
  EXPECT_EQ(status(Severity::kFail), kExitFailure);
  EXPECT_EQ(exit_status_of({}), kExitOk);
}

/// How the program would end, and what it prints.
std::pair<int, std::string> run(FakeMachine& machine, std::vector<const char*> arguments) {
  const std::string root = machine.machine().root;
  arguments.insert(arguments.begin(), {"outrider-doctor", "--root", root.c_str()});
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const auto parsed =
      parse_doctor_command_line(static_cast<int>(arguments.size()), arguments.data());
  const int status =
      parsed.exit_status ? *parsed.exit_status : run_doctor(parsed.options, machine.machine());
  const std::string errors = testing::internal::GetCapturedStderr();
  return {status, testing::internal::GetCapturedStdout() + errors};
}

TEST(DoctorProgram, EndsAsTheMachineIs) {
  FakeMachine machine;
  EXPECT_EQ(run(machine, {}).first, kExitOk);
  EXPECT_THAT(run(machine, {}).second, HasSubstr(" 0 notes, 0 warnings, 0 failures.\n"));
  machine.write("/sys/devices/system/cpu/isolated", "\n");
  EXPECT_EQ(run(machine, {}).first, kExitOk) << "a note";
  machine.write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  EXPECT_EQ(run(machine, {}).first, kExitFailure) << "a warning";
  const auto json = nlohmann::json::parse(run(machine, {"--json"}).second);
  EXPECT_EQ(json["worst"], "warn");
  EXPECT_EQ(run(machine, {"--json"}).first, kExitFailure) << "in every form";
}

TEST(DoctorProgram, PrintsLeftoversForXargs) {
  FakeMachine machine;
  EXPECT_EQ(run(machine, {"--leftovers"}), std::pair(0, std::string()));
  machine.mkdir("/tmp/outrider-lab-abcdef");
  EXPECT_EQ(run(machine, {"--leftovers"}), std::pair(0, std::string("/tmp/outrider-lab-abcdef\n")));
}

TEST(DoctorProgram, RefusesWhatItDoesNotKnow) {
  FakeMachine machine;
  EXPECT_EQ(run(machine, {"--jason"}).first, kExitUsage);
  EXPECT_THAT(run(machine, {"--jason"}).second, HasSubstr("--jason"));
  EXPECT_EQ(run(machine, {"--json", "--leftovers"}).first, kExitUsage);
  EXPECT_EQ(run(machine, {"--help"}).first, kExitOk);
  EXPECT_THAT(run(machine, {"--help"}).second, HasSubstr("Exit status: 0 nothing worse"));
}

TEST(Advice, IsWhatTheWordsOfDpdkPointTo) {
  EXPECT_THAT(advice_for(kFindings, "EAL: Cannot get hugepage information."),
              HasSubstr("memory.huge_pages: none; slower\n    mend: sysctl y"));
  EXPECT_THAT(advice_for(kFindings, "EAL: Cannot get hugepage information."),
              Not(HasSubstr("kernel.tap")));
  const std::string only_pointer = "\n  `outrider-doctor` checks the whole machine.";
  EXPECT_EQ(advice_for(kFindings, "unrecognized option"), only_pointer);
  EXPECT_EQ(advice_for({}, "anything"), only_pointer);
}

TEST(Advice, DoesNotCountTheCpusOfAThreadThatEalHasPinned) {
  const Findings findings = {{"cpu.count", Severity::kWarn, "confined to CPU 0", "", ""}};
  EXPECT_THAT(advice_for(findings, "EAL: Detected CPU lcores: 2"), Not(HasSubstr("confined")));
}

TEST(Advice, NeverKeepsAFailureToItself) {
  const Findings findings = {{"dpdk.version", Severity::kFail, "absent", "", "apt-get"}};
  EXPECT_THAT(advice_for(findings, "unrecognized option"), HasSubstr("dpdk.version: absent\n"));
}

}  // namespace
}  // namespace outrider::doctor_report_test
