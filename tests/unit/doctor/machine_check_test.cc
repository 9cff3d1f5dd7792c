// Goal: each fault of a machine is found, named and mended, and its opposite is quiet.
// Method: a machine without a fault, made of files; every case changes one thing and
// says which single finding may change, and how.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <vector>

#include "tests/unit/doctor/fake_machine.h"

namespace outrider::machine_check_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::string kCpuDirectory = "/sys/devices/system/cpu/";
const std::string kClock = "/sys/devices/system/clocksource/clocksource0/";
const std::string kPool = "/sys/kernel/mm/hugepages/hugepages-2048kB/";
const std::string kNicDirectory = std::string("/sys/bus/pci/devices/") + FakeMachine::kNic;

std::map<std::string, Severity> severities(const Findings& findings) {
  std::map<std::string, Severity> all;
  for (const Finding& finding : findings) {
    EXPECT_FALSE(all.contains(finding.check)) << "twice: " << finding.check;
    all[finding.check] = finding.severity;
  }
  return all;
}

TEST(MachineCheck, HasNothingToSayOfAMachineInOrder) {
  const FakeMachine machine;
  const Findings findings = machine.check();
  EXPECT_GT(findings.size(), 20U);
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.severity, Severity::kOk) << finding.check << ": " << finding.cause;
    EXPECT_FALSE(finding.cause.empty()) << finding.check;
    EXPECT_THAT(finding.remedy, IsEmpty()) << finding.check;
  }
  EXPECT_EQ(worst_of(findings), Severity::kOk);
}

struct Fault {
  const char* name;
  std::function<void(FakeMachine&)> make;
  const char* check;
  Severity severity;
  const char* cause;   ///< part of it
  const char* remedy;  ///< part of it; empty: there is none
};

std::string without(std::string text, const std::string& word) {
  return text.erase(text.find(" " + word), word.size() + 1);
}

const Fault kFaults[] = {
    {"an old CPU", [](auto& m) { m.set_flags(without(FakeMachine::kFlags, "bmi2")); },
     "cpu.instructions", Severity::kFail, "lacks bmi2", "OUTRIDER_MARCH=x86-64-v2"},
    {"built for this machine alone", [](auto& m) { m.machine().march = "native"; },
     "cpu.instructions", Severity::kNote, "-march=native", ""},
    {"one CPU",
     [](auto& m) {
       m.write("/proc/self/status", "CapEff:\t000001ffffffffff\nCpus_allowed_list:\t0\n");
       m.write(kCpuDirectory + "online", "0\n");
     },
     "cpu.count", Severity::kWarn, "one CPU", "--runtime virtual"},
    {"confined to one CPU",
     [](auto& m) {
       m.write("/proc/self/status", "CapEff:\t000001ffffffffff\nCpus_allowed_list:\t1\n");
     },
     "cpu.count", Severity::kWarn, "confined to CPU 1 of 2", "cpuset"},
    {"a damaged status file",
     [](auto& m) {
       m.write("/proc/self/status", "CapEff:\t000001ffffffffff\nCpus_allowed_list:\t1-\n");
     },
     "cpu.count", Severity::kNote, "does not say", ""},
    {"a TSC that stops", [](auto& m) { m.set_flags(without(FakeMachine::kFlags, "nonstop_tsc")); },
     "cpu.tsc", Severity::kWarn, "lacks nonstop_tsc", "invtsc"},
    {"another clock", [](auto& m) { m.write(kClock + "current_clocksource", "hpet\n"); },
     "cpu.clocksource", Severity::kNote, "uses hpet, though", "echo tsc"},
    {"a TSC that the kernel gave up",
     [](auto& m) {
       m.write(kClock + "current_clocksource", "hpet\n");
       m.write(kClock + "available_clocksource", "hpet acpi_pm\n");
     },
     "cpu.clocksource", Severity::kWarn, "does not offer the TSC", "dmesg"},
    {"no isolated CPU", [](auto& m) { m.write(kCpuDirectory + "isolated", "\n"); }, "cpu.isolation",
     Severity::kNote, "no CPU is kept apart", "isolcpus="},
    {"isolated with a tick", [](auto& m) { m.write(kCpuDirectory + "nohz_full", "(null)\n"); },
     "cpu.isolation", Severity::kNote, "CPUs 1 are isolated, but keep", "nohz_full=1"},
    {"a governor",
     [](auto& m) { m.write(kCpuDirectory + "cpu1/cpufreq/scaling_governor", "powersave\n"); },
     "cpu.governor", Severity::kWarn, "performance on 1 CPU(s), powersave on 1",
     "cpupower frequency-set -g performance"},
    {"turbo", [](auto& m) { m.write(kCpuDirectory + "intel_pstate/no_turbo", "0\n"); }, "cpu.turbo",
     Severity::kNote, "turbo is on", "no_turbo"},
    {"SMT", [](auto& m) { m.write(kCpuDirectory + "smt/active", "1\n"); }, "cpu.smt",
     Severity::kNote, "SMT is on", "lscpu"},
    {"no huge page, and a NIC",
     [](auto& m) {
       m.write(kPool + "nr_hugepages", "0\n");
       m.write(kPool + "free_hugepages", "0\n");
     },
     "memory.huge_pages", Severity::kWarn, "no huge page is reserved", "vm.nr_hugepages=512"},
    {"huge pages in use", [](auto& m) { m.write(kPool + "free_hugepages", "31\n"); },
     "memory.huge_pages", Severity::kWarn, "62 MiB free of 1024 MiB", "vm.nr_hugepages=1024"},
    {"a file that is no number", [](auto& m) { m.write(kPool + "free_hugepages", "many\n"); },
     "memory.huge_pages", Severity::kWarn, "the kernel has no huge pages", "CONFIG_HUGETLBFS"},
    {"no IOMMU group", [](auto& m) { m.remove(kNicDirectory + "/iommu_group"); },
     "devices.0000:3b:00.0", Severity::kFail, "without a group", "--bind=vfio-pci"},
    {"no group file", [](auto& m) { m.remove("/dev/vfio/17"); }, "devices.0000:3b:00.0",
     Severity::kFail, "/dev/vfio/17 is absent", "--bind=vfio-pci"},
    {"an IOMMU for all", [](auto& m) { m.write("/proc/cmdline", "intel_iommu=on\n"); },
     "devices.iommu", Severity::kNote, "kernel's own devices", "iommu=pt"},
    {"no tun", [](auto& m) { m.remove("/dev/net/tun"); }, "kernel.tap", Severity::kNote,
     "/dev/net/tun is absent", "modprobe tun"},
    {"no packet sockets", [](auto& m) { m.write("/proc/net/protocols", "XDP 1088\n"); },
     "kernel.af_packet", Severity::kNote, "no packet sockets", "modprobe af_packet"},
    {"no XDP sockets", [](auto& m) { m.write("/proc/net/protocols", "PACKET 1600\n"); },
     "kernel.af_xdp", Severity::kNote, "no XDP sockets", "CONFIG_XDP_SOCKETS"},
    {"an old kernel", [](auto& m) { m.write("/proc/sys/kernel/osrelease", "5.3.18\n"); },
     "kernel.af_xdp", Severity::kNote, "kernel 5.3.18 is older", "newer"},
    {"a kernel of no version", [](auto& m) { m.write("/proc/sys/kernel/osrelease", "x.y\n"); },
     "kernel.af_xdp", Severity::kNote, "names no version", ""},
    {"BPF interpreted", [](auto& m) { m.write("/proc/sys/net/core/bpf_jit_enable", "0\n"); },
     "kernel.af_xdp", Severity::kNote, "interpreted", "bpf_jit_enable=1"},
    {"no BTF", [](auto& m) { m.remove("/sys/kernel/btf/vmlinux"); }, "kernel.btf", Severity::kNote,
     "absent", "CONFIG_DEBUG_INFO_BTF"},
    {"no cgroup2", [](auto& m) { m.write("/proc/mounts", "cgroup /sys cgroup rw 0 0\n"); },
     "kernel.cgroup2", Severity::kNote, "no cgroup2", "mount -t cgroup2"},
};

TEST(MachineCheck, NamesEachFaultAndChangesNothingElse) {
  const auto in_order = severities(FakeMachine().check());
  for (const Fault& fault : kFaults) {
    SCOPED_TRACE(fault.name);
    FakeMachine machine;
    fault.make(machine);
    const Finding finding = machine.find(fault.check);
    EXPECT_EQ(finding.severity, fault.severity) << finding.cause;
    EXPECT_THAT(finding.cause, HasSubstr(fault.cause));
    EXPECT_THAT(finding.remedy, HasSubstr(fault.remedy));
    EXPECT_EQ(finding.remedy.empty(), *fault.remedy == '\0') << finding.remedy;
    for (const auto& [check, severity] : severities(machine.check())) {
      const bool other = check != fault.check && in_order.contains(check);
      EXPECT_EQ(severity, other ? in_order.at(check) : severity) << check;
    }
  }
}

TEST(MachineCheck, SaysAllThatIsWantedOfAnEmptyDirectory) {
  FakeMachine machine;
  for (const char* top : {"/proc", "/sys", "/dev", "/usr"}) machine.remove(top);
  const auto found = severities(machine.check());
  EXPECT_EQ(found.at("cpu.instructions"), Severity::kNote);
  EXPECT_EQ(found.at("memory.huge_pages"), Severity::kNote) << "no NIC, no need";
  EXPECT_EQ(found.at("memory.lock_limit"), Severity::kNote);
  EXPECT_EQ(found.at("devices.vfio"), Severity::kNote);
  EXPECT_EQ(found.at("devices.pci"), Severity::kNote);
  EXPECT_EQ(found.at("dpdk.version"), Severity::kFail);
  EXPECT_EQ(found.at("leftovers.directories"), Severity::kOk);
}

TEST(MachineCheck, SaysWhichDriversOfDpdkAreAbsent) {
  FakeMachine machine;
  const std::string directory = machine.machine().driver_directory;
  machine.remove(directory + "/librte_net_vhost.so.23");
  machine.remove(directory + "/librte_net_pcap.so.23");
  EXPECT_EQ(machine.find("dpdk.driver.vhost").severity, Severity::kFail);
  EXPECT_EQ(machine.find("dpdk.driver.pcap").severity, Severity::kNote);
  EXPECT_EQ(machine.find("dpdk.driver.ring").check, "") << "it is there";
  EXPECT_EQ(machine.find("dpdk.drivers").severity, Severity::kOk);
  EXPECT_EQ(machine.find("dpdk.drivers").cause.find("pcap"), std::string::npos);
  machine.machine().driver_directory = "/usr/lib/dpdk/pmds-24.0";
  EXPECT_EQ(machine.find("dpdk.version").severity, Severity::kFail);
  EXPECT_THAT(machine.find("dpdk.version").cause, HasSubstr("not in /usr/lib/dpdk/pmds-24.0"));
}

TEST(MachineCheck, NeedsOfMemoryDependOnANic) {
  FakeMachine machine;
  machine.write("/proc/self/status", "CapEff:\t0000000000000000\nCpus_allowed_list:\t0-1\n");
  machine.write("/proc/self/limits", "Max locked memory  8388608  8388608  bytes\n");
  EXPECT_EQ(machine.find("memory.lock_limit").severity, Severity::kFail);
  EXPECT_THAT(machine.find("memory.lock_limit").cause, HasSubstr("8 MiB"));
  machine.remove(kNicDirectory);
  EXPECT_EQ(machine.find("memory.lock_limit").severity, Severity::kNote);
  machine.write(kPool + "free_hugepages", "0\n");
  EXPECT_EQ(machine.find("memory.huge_pages").severity, Severity::kNote);
  machine.write("/proc/self/limits", "Max locked memory  67108864  67108864  bytes\n");
  EXPECT_EQ(machine.find("memory.lock_limit").severity, Severity::kOk);
  machine.write("/proc/self/limits", "Max locked memory  8388608  8388608  bytes\n");
  machine.write("/proc/self/status", "CapEff:\t0000000000004000\nCpus_allowed_list:\t0-1\n");
  EXPECT_EQ(machine.find("memory.lock_limit").severity, Severity::kOk) << "CAP_IPC_LOCK";
}

TEST(MachineCheck, KnowsWhichRightsADeviceOfTheKernelNeeds) {
  const FakeMachine machine;
  machine.write("/proc/self/status", "CapEff:\t0000000000002000\nCpus_allowed_list:\t0-1\n");
  EXPECT_EQ(machine.find("kernel.tap").severity, Severity::kNote) << "no CAP_NET_ADMIN";
  EXPECT_EQ(machine.find("kernel.af_packet").severity, Severity::kOk) << "CAP_NET_RAW is enough";
  EXPECT_EQ(machine.find("kernel.af_xdp").severity, Severity::kNote);
  machine.write("/proc/self/status", "CapEff:\t0000000000001000\nCpus_allowed_list:\t0-1\n");
  EXPECT_EQ(machine.find("kernel.tap").severity, Severity::kOk);
  EXPECT_EQ(machine.find("kernel.af_packet").severity, Severity::kNote);
}

}  // namespace
}  // namespace outrider::machine_check_test
