// Goal: what the EAL would report badly is found before it, and named.
#include "common/dpdk/eal/eal_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/dpdk/eal/eal.h"
#include "common/dpdk/eal/error.h"

namespace outrider::eal_check_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string made = fs::temp_directory_path() / "outrider-check-XXXXXX";
    if (mkdtemp(made.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = made;
  }
  ~TemporaryDirectory() { fs::remove_all(path_); }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

/// A socket file; its owner listens until close().
class Listener {
 public:
  explicit Listener(const std::string& path) : fd_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(fd_, 1), 0);
  }
  ~Listener() { die(); }
  void die() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const EnvironmentError& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

TEST(EalCheck, TellsPciAddressesFromVirtualDevices) {
  EXPECT_TRUE(is_pci_address("0000:03:00.0"));
  EXPECT_TRUE(is_pci_address("af:1f.7"));
  EXPECT_FALSE(is_pci_address("net_null0"));
  EXPECT_FALSE(is_pci_address("0000:03:00"));
  EXPECT_FALSE(is_pci_address("0000-03:00.0"));
  EXPECT_FALSE(is_pci_address(""));
}

TEST(EalCheck, NamesTheUsableCpusWhenOneDoesNotExist) {
  const std::string said = message_of([] { check_cpu(100'000); });
  EXPECT_THAT(said, HasSubstr("CPU 100000 does not exist; usable are: "));
  EXPECT_THAT(said, HasSubstr("--lcore"));
}

// A CPU that isolcpus= names is one that no process inherits, though it may go there.
TEST(EalCheck, TakesCpusThatWereNotInherited) {
  cpu_set_t inherited;
  ASSERT_EQ(sched_getaffinity(0, sizeof(inherited), &inherited), 0);
  std::vector<std::uint32_t> cpus;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &inherited)) cpus.push_back(cpu);
  if (cpus.size() < 2) GTEST_SKIP() << "one CPU alone";
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpus.front(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_NO_THROW(check_cpu(cpus.back()));
  cpu_set_t after;
  ASSERT_EQ(sched_getaffinity(0, sizeof(after), &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&after, &one)) << "it was moved back";
  ASSERT_EQ(sched_setaffinity(0, sizeof(inherited), &inherited), 0);
}

TEST(EalCheck, NamesTheNetworkControllersThatArePresent) {
  const TemporaryDirectory bus;
  for (const auto& [name, kind] :
       {std::pair{"0000:01:00.0", "0x020000"}, {"0000:02:00.0", "0x030000"}}) {
    fs::create_directory(bus / name);
    std::ofstream(fs::path(bus / name) / "class") << kind;
  }
  EXPECT_NO_THROW(check_pci_device("01:00.0", bus / ""));
  EXPECT_THAT(message_of([&] { check_pci_device("0000:09:00.0", bus / ""); }),
              HasSubstr("network controllers present: 0000:01:00.0."));
}

TEST(EalCheck, FindsTheSocketAndWhoBindsIt) {
  EXPECT_EQ(socket_of("net_vhost0,iface=/tmp/s,client=1"), "/tmp/s");
  EXPECT_EQ(socket_of("net_virtio_user0,server=1,path=/tmp/s"), "/tmp/s");
  EXPECT_EQ(socket_of("net_virtio_user0,path=/dev/vhost-net"), "");
  EXPECT_EQ(socket_of("net_null0,path=/tmp/s"), "");
  EXPECT_FALSE(binds_socket("net_vhost0,iface=/tmp/s,client=1"));
  EXPECT_TRUE(binds_socket("net_vhost0,iface=/tmp/s"));
  EXPECT_TRUE(binds_socket("net_virtio_user0,path=/tmp/s,server=1"));
  EXPECT_FALSE(binds_socket("net_virtio_user0,path=/tmp/s"));
}

TEST(EalCheck, RefusesASocketThatSomebodyListensOnAndRemovesADeadOne) {
  const TemporaryDirectory directory;
  const std::string device = "net_virtio_user0,path=" + (directory / "s") + ",server=1";
  Listener listener(directory / "s");
  EXPECT_THAT(message_of([&] { check_socket(device); }), HasSubstr("is in use"));
  EXPECT_NO_THROW(check_socket("net_vhost0,client=1,iface=" + (directory / "s")));
  EXPECT_TRUE(fs::exists(directory / "s"));
  listener.die();
  EXPECT_NO_THROW(check_socket(device));
  EXPECT_FALSE(fs::exists(directory / "s"));
}

TEST(EalCheck, RefusesSocketPathsThatCannotWork) {
  const TemporaryDirectory directory;
  EXPECT_THAT(message_of([&] { check_socket("net_vhost0,iface=" + (directory / "no/s")); }),
              HasSubstr("does not exist"));
  EXPECT_THAT(message_of([&] { check_socket("net_vhost0,iface=/" + std::string(200, 'x')); }),
              HasSubstr("107 bytes"));
  std::ofstream(directory / "file") << "precious";
  EXPECT_THAT(message_of([&] { check_socket("net_vhost0,iface=" + (directory / "file")); }),
              HasSubstr("not a socket"));
  EXPECT_TRUE(fs::exists(directory / "file"));
}

TEST(EalCheck, AddsUpFreeHugepagesOfAllSizes) {
  const TemporaryDirectory root;
  fs::create_directory(root / "hugepages-2048kB");
  fs::create_directory(root / "hugepages-1048576kB");
  std::ofstream(root / "hugepages-2048kB/free_hugepages") << 10;
  std::ofstream(root / "hugepages-1048576kB/free_hugepages") << 2;
  EXPECT_EQ(free_hugepages_mb(root / ""), 20U + 2048U);
  EXPECT_EQ(free_hugepages_mb(root / "absent"), 0U);
}

// Drivers give -1 for whatever fails, which reads "Operation not permitted".
TEST(EalCheck, NamesWhatAVirtualDeviceLacks) {
  const auto said = [](const std::string& device) {
    return message_of([&] { check_vdev("d", device); });
  };
  for (const char* device :
       {"net_af_packet0,iface=absent0", "net_af_xdp0,iface=absent0", "net_pcap0,iface=absent0",
        "eth_pcap0,rx_iface=lo,tx_iface=absent0", "net_pcap0,rx_iface=lo,rx_iface=absent0",
        "net_pcap0,rx_iface_in=absent0", "net_tap0,iface=t0,remote=absent0"}) {
    EXPECT_THAT(said(device), HasSubstr("no network interface absent0 is in this")) << device;
    EXPECT_THAT(said(device), HasSubstr("`ip link` lists")) << device;
  }
  EXPECT_THAT(said("net_af_packet0"), HasSubstr("add iface=NAME"));
  EXPECT_THAT(said("net_pcap0"), HasSubstr("add iface=NAME, or rx_pcap=FILE"));
  EXPECT_THAT(said("net_pcap0,rx_pcap=/absent/file"),
              HasSubstr("/absent/file: No such file or directory"));
  EXPECT_THAT(said("net_pcap0,rx_iface=lo,tx_pcap=/absent/file"),
              HasSubstr("/absent: No such file or directory"));
  for (const char* device :
       {"net_af_packet0,iface=lo", "net_pcap0,iface=lo", "net_tap0,iface=t0", "net_null0",
        "net_ring0", "net_vhost0,iface=/tmp/s", "net_virtio_user0,path=/tmp/s", "net_", "eth"})
    EXPECT_NO_THROW(check_vdev("d", device)) << device;
}

TEST(EalCheck, RefusesMemoryThatIsNotFreeWithTheSettingThatAsksForIt) {
  const TemporaryDirectory root;
  fs::create_directory(root / "proc");
  std::ofstream(root / "proc/meminfo") << "MemFree: 9 kB\nMemAvailable:  204800 kB\n";
  const MachineTree machine(root / "");
  EXPECT_NO_THROW(check_free_memory(200, "`mbufs`", machine));
  EXPECT_EQ(message_of([&] { check_free_memory(201, "`mbufs`", machine); }),
            "memory: packet buffers and tables need 201 MiB, and 200 MiB are free here. Lower "
            "`mbufs`, or end other programs.");
  EXPECT_NO_THROW(check_free_memory(201, "`mbufs`", MachineTree(root / "absent")));
}

TEST(EalCheck, RefusesALimitOfFilesThatDpdkWouldAbortAt) {
  EXPECT_NO_THROW(check_open_files(1));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{.rlim_cur = 20, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_THAT(message_of([] { check_open_files(20); }),
              testing::AllOf(HasSubstr("may have 20 open"), HasSubstr("ulimit -n")));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

bool holds(const std::vector<std::string>& arguments, const std::string& wanted) {
  return std::find(arguments.begin(), arguments.end(), wanted) != arguments.end();
}

TEST(EalArguments, TakesHugepagesOnlyIfEnoughAreFree) {
  const EalOptions options{.program = "p", .cpus = {3}, .memory_mb = 100};
  const auto huge = eal_arguments(options, 100, 7);
  EXPECT_TRUE(holds(huge, "--in-memory"));
  EXPECT_FALSE(holds(huge, "--no-huge"));
  const auto ordinary = eal_arguments(options, 99, 7);
  EXPECT_FALSE(holds(ordinary, "--in-memory")) << "EAL refuses it together with --no-huge";
  for (const char* wanted : {"--no-huge", "--no-shconf", "100", "0@3", "p-7", "--no-pci"})
    EXPECT_TRUE(holds(ordinary, wanted)) << wanted;
}

TEST(EalArguments, ScansPciOnlyForConfiguredDevices) {
  const auto arguments = eal_arguments({.program = "p", .pci_devices = {"0000:01:00.0"}}, 0, 7);
  EXPECT_FALSE(holds(arguments, "--no-pci"));
  EXPECT_TRUE(holds(arguments, "0000:01:00.0"));
}

TEST(EalArguments, LetsTheUserOverride) {
  const auto arguments = eal_arguments({.program = "p", .extra = {"-l", "1", "-m", "300"}}, 0, 7);
  EXPECT_FALSE(holds(arguments, "--lcores"));
  EXPECT_EQ(std::count(arguments.begin(), arguments.end(), "-m"), 1);
  EXPECT_EQ(arguments.back(), "300");
}

}  // namespace
}  // namespace outrider::eal_check_test
