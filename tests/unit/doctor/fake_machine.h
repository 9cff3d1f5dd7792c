#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "common/machine/machine_check.h"

namespace outrider {

/// A tree of files that stands for a machine. Begins as one on which nothing is to be
/// said: two CPUs, huge pages, IOMMU and VFIO, one NIC bound and ready.
class FakeMachine {
 public:
  FakeMachine() {
    std::string made = std::filesystem::temp_directory_path() / "fake-machine-XXXXXX";
    if (mkdtemp(made.data()) == nullptr) throw std::runtime_error("mkdtemp");
    machine_ = {.root = made,
                .march = "x86-64-v3",
                .dpdk_version = "22.11.11",
                .driver_directory = "/usr/lib/dpdk/pmds-23.0"};
    add_processors();
    add_devices();
    add_kernel();
  }
  ~FakeMachine() { std::filesystem::remove_all(machine_.root); }
  FakeMachine(const FakeMachine&) = delete;
  FakeMachine& operator=(const FakeMachine&) = delete;

  Machine& machine() { return machine_; }
  [[nodiscard]] std::filesystem::path at(std::string_view path) const {
    return machine_.root / std::filesystem::path(path).relative_path();
  }
  void write(std::string_view path, std::string_view text) const {
    std::filesystem::create_directories(at(path).parent_path());
    std::ofstream(at(path), std::ios::binary) << text;
  }
  void remove(std::string_view path) const { std::filesystem::remove_all(at(path)); }
  void mkdir(std::string_view path) const { std::filesystem::create_directories(at(path)); }
  void link(std::string_view path, const std::string& target) const {
    remove(path);
    std::filesystem::create_directories(at(path).parent_path());
    std::filesystem::create_symlink(target, at(path));
  }
  void set_flags(const std::string& flags) const {
    write("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: " + flags + "\n");
  }
  void add_nic(const std::string& address, const std::string& driver) const {
    const std::string path = "/sys/bus/pci/devices/" + address;
    write(path + "/class", "0x020000\n");
    write(path + "/numa_node", "0\n");
    if (!driver.empty()) link(path + "/driver", "../../drivers/" + driver);
  }

  [[nodiscard]] Findings check() const { return check_machine(machine_); }
  /// The finding of that name; one without a name if there is none.
  [[nodiscard]] Finding find(std::string_view name) const {
    for (const Finding& finding : check())
      if (finding.check == name) return finding;
    return {};
  }

  static constexpr const char* kFlags =
      "fpu cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3 avx avx2 bmi1 bmi2 f16c fma abm movbe "
      "constant_tsc nonstop_tsc";
  static constexpr const char* kStatus = "CapEff:\t000001ffffffffff\nCpus_allowed_list:\t0-1\n";
  static constexpr const char* kNic = "0000:3b:00.0";

 private:
  void add_processors() const {
    set_flags(kFlags);
    write("/proc/self/status", kStatus);
    write("/proc/self/limits", "Max locked memory         unlimited   unlimited    bytes\n");
    const std::string cpu = "/sys/devices/system/cpu/";
    write(cpu + "online", "0-1\n");
    write(cpu + "isolated", "1\n");
    write(cpu + "nohz_full", "1\n");
    write(cpu + "smt/active", "0\n");
    write(cpu + "intel_pstate/no_turbo", "1\n");
    for (const char* name : {"cpu0", "cpu1"})
      write(cpu + name + "/cpufreq/scaling_governor", "performance\n");
    const std::string clock = "/sys/devices/system/clocksource/clocksource0/";
    write(clock + "current_clocksource", "tsc\n");
    write(clock + "available_clocksource", "tsc hpet acpi_pm\n");
  }
  void add_devices() const {
    const std::string pages = "/sys/kernel/mm/hugepages/hugepages-2048kB/";
    write(pages + "nr_hugepages", "512\n");
    write(pages + "free_hugepages", "512\n");
    mkdir("/sys/devices/system/node/node0");
    write("/proc/cmdline", "quiet intel_iommu=on iommu=pt\n");
    write("/proc/modules", "vfio_pci 16384 0\n");
    mkdir("/sys/class/iommu/dmar0");
    mkdir("/sys/bus/pci/drivers/vfio-pci");
    write("/sys/module/vfio/parameters/enable_unsafe_noiommu_mode", "N\n");
    add_nic(kNic, "vfio-pci");
    link(std::string("/sys/bus/pci/devices/") + kNic + "/iommu_group", "../../iommu_groups/17");
    write("/dev/vfio/17", "");
  }
  void add_kernel() const {
    for (const char* driver :
         {"vhost", "virtio", "ring", "null", "memif", "pcap", "tap", "af_packet", "af_xdp", "mlx5",
          "e1000", "vmxnet3", "i40e", "ice", "ixgbe"})
      write(machine_.driver_directory + "/librte_net_" + driver + ".so.23", "");
    write("/dev/net/tun", "");
    write("/proc/sys/kernel/osrelease", "6.1.0-13-amd64\n");
    write("/proc/sys/net/core/bpf_jit_enable", "1\n");
    write("/proc/net/protocols", "protocol  size\nPACKET    1600      0\nXDP  1088 0\n");
    write("/sys/kernel/btf/vmlinux", "");
    write("/proc/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
  }

  Machine machine_;
};

}  // namespace outrider
