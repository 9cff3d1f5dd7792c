#include <algorithm>
#include <map>
#include <set>

#include "common/machine/machine_check.h"

namespace outrider {
namespace {

constexpr std::string_view kCpu = "/sys/devices/system/cpu";
constexpr const char* kRealTimeOnly =
    "; runs in virtual time are the same on every machine";  // added where it reassures

std::set<std::string> cpu_flags(const MachineTree& tree) {
  const auto words = words_of(tree.field("/proc/cpuinfo", "flags"));
  return {words.begin(), words.end()};
}

/// Returns the flags of /proc/cpuinfo that a level of the x86-64 psABI adds (AMD64 ABI 1.0,
/// section 3.1.1), but for `abm`, the flag of LZCNT: hypervisors hide it from processors that have
/// the instruction, and each that has BMI2 has it.
std::vector<std::string> flags_of_level(std::string_view march) {
  std::vector<std::string> flags;
  const auto add = [&flags](std::initializer_list<const char*> more) {
    flags.insert(flags.end(), more.begin(), more.end());
  };
  if (march >= "x86-64-v2") add({"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"});
  if (march >= "x86-64-v3") add({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"});
  if (march >= "x86-64-v4") add({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
  return flags;
}

Finding check_instructions(const std::set<std::string>& flags, std::string_view march) {
  constexpr const char* kCheck = "cpu.instructions";
  if (!march.starts_with("x86-64"))
    return {kCheck, Severity::kNote,
            "built with -march=" + std::string(march.empty() ? "(compiler's default)" : march) +
                ": what it needs is not known here"};
  std::vector<std::string> missing;
  for (const auto& flag : flags_of_level(march))
    if (!flags.contains(flag)) missing.push_back(flag);
  if (missing.empty()) return {kCheck, Severity::kOk, "the CPU has all of " + std::string(march)};
  return {kCheck, Severity::kFail,
          "built for " + std::string(march) + ", and the CPU lacks " + joined(missing),
          "the programs end with `Illegal instruction`",
          "cmake --preset release -DOUTRIDER_MARCH=x86-64-v2 && cmake --build --preset release"};
}

Finding check_count(const MachineTree& tree) {
  constexpr const char* kCheck = "cpu.count";
  const auto online = cpu_list(tree.line("/sys/devices/system/cpu/online"));
  const std::string allowed_text = tree.field("/proc/self/status", "Cpus_allowed_list");
  const auto allowed = cpu_list(allowed_text);
  if (!allowed || allowed->empty())
    return {kCheck, Severity::kNote, "/proc/self/status does not say which CPUs may be used"};
  const std::size_t usable = allowed->size();
  if (usable > 1)
    return {kCheck, Severity::kOk,
            std::to_string(usable) + " CPUs may be used (" + allowed_text + ")"};
  const bool confined = online && online->size() > 1;
  return {kCheck, Severity::kWarn,
          confined ? "this process is confined to CPU " + allowed_text + " of " +
                         std::to_string(online->size())
                   : "one CPU",
          "switch and generator take turns on it: `outrider-lab run --runtime loopback` refuses, "
          "and times of two processes are those of the scheduler",
          confined ? "start without taskset, or give the container more CPUs (its cpuset)"
                   : "outrider-lab run FILE --runtime virtual"};
}

Finding check_tsc(const std::set<std::string>& flags) {
  std::vector<std::string> missing;
  for (const char* flag : {"constant_tsc", "nonstop_tsc"})
    if (!flags.contains(flag)) missing.emplace_back(flag);
  if (missing.empty()) return {"cpu.tsc", Severity::kOk, "the TSC is constant and never stops"};
  return {"cpu.tsc", Severity::kWarn, "/proc/cpuinfo lacks " + joined(missing),
          std::string("time is the TSC: real-time figures stretch when the CPU changes its "
                      "frequency or sleeps") +
              kRealTimeOnly,
          "in a virtual machine: pass the host's CPU through (QEMU: -cpu host,+invtsc)"};
}

Finding check_clocksource(const MachineTree& tree) {
  constexpr const char* kCheck = "cpu.clocksource";
  const std::string base = "/sys/devices/system/clocksource/clocksource0/";
  const std::string current = tree.line(base + "current_clocksource");
  const auto available = words_of(tree.line(base + "available_clocksource"));
  if (current == "tsc") return {kCheck, Severity::kOk, "the kernel trusts the TSC (tsc)"};
  if (current.empty()) return {kCheck, Severity::kNote, "the kernel names no clock source"};
  if (std::find(available.begin(), available.end(), "tsc") != available.end())
    return {kCheck, Severity::kNote, "the kernel uses " + current + ", though it has the TSC",
            "none on figures, which are differences of the TSC; comparing them with the "
            "kernel's time stamps adds the drift between the two",
            "echo tsc > " + base + "current_clocksource"};
  return {kCheck, Severity::kWarn, "the kernel uses " + current + " and does not offer the TSC",
          std::string("the kernel may have found the TSC to be unstable, and every real-time "
                      "figure is a difference of it") +
              kRealTimeOnly,
          "dmesg | grep -i -e tsc -e clocksource    # says why"};
}

Finding check_isolation(const MachineTree& tree) {
  constexpr const char* kCheck = "cpu.isolation";
  const std::string isolated = tree.line("/sys/devices/system/cpu/isolated");
  const std::string tickless = tree.line("/sys/devices/system/cpu/nohz_full");
  const auto list = cpu_list(isolated);
  const auto quiet = cpu_list(tickless);
  if (!list || list->empty())
    return {kCheck, Severity::kNote, "no CPU is kept apart for polling",
            std::string("other tasks and the timer tick interrupt a polling lcore: the longest "
                        "poll gap of a report says for how long") +
                kRealTimeOnly,
            "boot with isolcpus=managed_irq,domain,LIST nohz_full=LIST rcu_nocbs=LIST, and set "
            "`lcore` to CPUs of LIST"};
  // A kernel with the feature, but without a list, prints "(null)".
  const bool all_tickless =
      quiet && std::includes(quiet->begin(), quiet->end(), list->begin(), list->end());
  if (all_tickless)
    return {kCheck, Severity::kOk, "CPUs " + isolated + " are isolated and without a tick"};
  return {kCheck, Severity::kNote, "CPUs " + isolated + " are isolated, but keep the timer tick",
          "each tick interrupts an lcore there",
          "boot with nohz_full=" + isolated + " rcu_nocbs=" + isolated + " as well"};
}

Finding check_governor(const MachineTree& tree) {
  constexpr const char* kCheck = "cpu.governor";
  std::map<std::string, std::size_t> governors;
  for (const auto& name : tree.names(kCpu)) {
    if (!name.starts_with("cpu") || !to_number(name.substr(3))) continue;
    const std::string governor =
        tree.line(std::string(kCpu) + "/" + name + "/cpufreq/scaling_governor");
    if (!governor.empty()) ++governors[governor];
  }
  if (governors.empty())
    return {kCheck, Severity::kOk,
            "the kernel does not scale the frequency (usual in a virtual machine)"};
  if (governors.size() == 1 && governors.contains("performance"))
    return {kCheck, Severity::kOk, "performance on all CPUs"};
  std::vector<std::string> parts;
  parts.reserve(governors.size());
  for (const auto& [governor, cpus] : governors)
    parts.push_back(governor + " on " + std::to_string(cpus) + " CPU(s)");
  return {kCheck, Severity::kWarn, "frequency governor: " + joined(parts),
          std::string("rates and latencies in real time depend on what the CPU did before; "
                      "repeats differ") +
              kRealTimeOnly,
          "cpupower frequency-set -g performance"};
}

/// Checks what changes the speed of a core at run time and can be chosen.
Findings check_speed_changes(const MachineTree& tree, const std::set<std::string>& flags) {
  Findings found;
  const std::string no_turbo = tree.line("/sys/devices/system/cpu/intel_pstate/no_turbo");
  const std::string boost = tree.line("/sys/devices/system/cpu/cpufreq/boost");
  if (no_turbo == "0" || boost == "1")
    found.push_back({"cpu.turbo", Severity::kNote, "turbo is on",
                     "cycles per packet are comparable, rates of a core depend on its "
                     "neighbours' load and the temperature",
                     no_turbo == "0" ? "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo"
                                     : "echo 0 > /sys/devices/system/cpu/cpufreq/boost"});
  else if (no_turbo == "1" || boost == "0")
    found.push_back({"cpu.turbo", Severity::kOk, "turbo is off"});
  const std::string smt = tree.line("/sys/devices/system/cpu/smt/active");
  if (smt == "1")
    found.push_back({"cpu.smt", Severity::kNote, "SMT is on: two CPUs share a core",
                     "an lcore whose sibling works is slower",
                     "lscpu -e=CPU,NODE,CORE    # choose CPUs of different cores, leave the "
                     "siblings idle"});
  else found.push_back({"cpu.smt", Severity::kOk, "no two active CPUs share a core"});
  if (flags.contains("hypervisor"))
    found.push_back({"cpu.virtual", Severity::kNote, "a virtual machine",
                     "its host can take a CPU away for milliseconds, unseen by the kernel: look "
                     "at the longest poll gap before a figure shorter than it"});
  return found;
}

}  // namespace

Findings check_processors(const MachineTree& tree, std::string_view march) {
  const auto flags = cpu_flags(tree);
  if (flags.empty())
    return {{"cpu.instructions", Severity::kNote, "/proc/cpuinfo lists no flags of an x86-64 CPU",
             "neither instructions nor clock could be checked"}};
  Findings found{check_instructions(flags, march), check_count(tree),     check_tsc(flags),
                 check_clocksource(tree),          check_isolation(tree), check_governor(tree)};
  for (auto& more : check_speed_changes(tree, flags)) found.push_back(std::move(more));
  return found;
}

}  // namespace outrider
