// Goal: a NIC's way to a program is judged as a whole: driver, IOMMU, VFIO, group file,
// node, and whether somebody is connected through it. Method: trees of files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/machine/advice.h"
#include "common/machine/network_devices.h"
#include "tests/unit/doctor/fake_machine.h"

namespace outrider::devices_check_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kPort = "0000:5e:00.1";
const std::string kPortCheck = std::string("devices.") + kPort;
const std::string kPortDirectory = std::string("/sys/bus/pci/devices/") + kPort;
const std::string kNicCheck = std::string("devices.") + FakeMachine::kNic;

TEST(DevicesCheck, ListsNetworkControllersAlone) {
  const FakeMachine machine;
  machine.add_nic(kPort, "ice");
  machine.write("/sys/bus/pci/devices/0000:00:1f.2/class", "0x010601\n");
  EXPECT_THAT(network_controllers(machine.at("/sys/bus/pci/devices")),
              ElementsAre(FakeMachine::kNic, kPort));
  EXPECT_THAT(network_controllers(machine.at("/absent")), IsEmpty());
}

TEST(DevicesCheck, WarnsOfTakingAnInterfaceThatIsUsed) {
  const FakeMachine machine;
  machine.add_nic(kPort, "ice");
  machine.mkdir(kPortDirectory + "/net/ens1");
  Finding finding = machine.find(kPortCheck);
  EXPECT_THAT(finding.cause, HasSubstr("ice, interface ens1, node 0: no address"));
  EXPECT_EQ(finding.remedy, "dpdk-devbind.py --bind=vfio-pci 0000:5e:00.1");

  const std::string link_local = "fe800000000000000000000000000001 04 40 20 80     ens1\n";
  machine.write("/proc/net/if_inet6", link_local);
  EXPECT_THAT(machine.find(kPortCheck).cause, HasSubstr("no address")) << "every interface has it";
  machine.write("/proc/net/if_inet6",
                link_local + "fd000000000000000000000000000002 04 40 00 82     ens1\n");
  finding = machine.find(kPortCheck);
  EXPECT_THAT(finding.cause, HasSubstr("in use"));
  EXPECT_THAT(finding.effect, HasSubstr("ens1: do not"));
  EXPECT_THAT(finding.remedy, IsEmpty()) << "no command that cuts somebody off";
  EXPECT_EQ(finding.severity, Severity::kNote) << "nothing is wrong";
}

TEST(DevicesCheck, SeesRoutesBridgesAndVirtioInterfaces) {
  FakeMachine machine;
  machine.add_nic(kPort, "virtio-pci");
  machine.mkdir(kPortDirectory + "/virtio2/net/eth0");
  EXPECT_THAT(machine.find(kPortCheck).cause, HasSubstr("interface eth0"));
  machine.write("/proc/net/route", "Iface\tDestination\neth01\t00000000\t010200C0\n");
  EXPECT_THAT(machine.find(kPortCheck).cause, HasSubstr("no address")) << "another interface";
  machine.write("/proc/net/route", "Iface\tDestination\neth0\t00000000\t010200C0\n");
  EXPECT_THAT(machine.find(kPortCheck).cause, HasSubstr("in use"));
  machine.remove("/proc/net/route");
  machine.mkdir("/sys/class/net/eth0/master");
  EXPECT_THAT(machine.find(kPortCheck).cause, HasSubstr("in use"));
}

TEST(DevicesCheck, LeavesMellanoxToItsDriver) {
  const FakeMachine machine;
  machine.add_nic(kPort, "mlx5_core");
  EXPECT_EQ(machine.find(kPortCheck).severity, Severity::kOk);
  EXPECT_THAT(machine.find(kPortCheck).remedy, IsEmpty());
}

TEST(DevicesCheck, OffersToBindWhatHasNoDriver) {
  const FakeMachine machine;
  machine.add_nic(kPort, "");
  EXPECT_EQ(machine.find(kPortCheck).severity, Severity::kNote);
  EXPECT_THAT(machine.find(kPortCheck).remedy, HasSubstr("--bind=vfio-pci"));
}

TEST(DevicesCheck, ABoundDeviceNeedsAnIommuOrTheUnsafeMode) {
  const FakeMachine machine;
  EXPECT_EQ(machine.find("devices.vfio").severity, Severity::kOk);
  machine.remove("/sys/class/iommu");
  EXPECT_EQ(machine.find("devices.iommu").cause, "asked for at boot, and not there");
  EXPECT_THAT(machine.find("devices.iommu").remedy, HasSubstr("BIOS"));
  EXPECT_EQ(machine.find("devices.vfio").severity, Severity::kFail);
  EXPECT_THAT(machine.find("devices.vfio").remedy, HasSubstr("enable_unsafe_noiommu_mode"));
  EXPECT_EQ(machine.find(kNicCheck).severity, Severity::kFail);

  machine.write("/sys/module/vfio/parameters/enable_unsafe_noiommu_mode", "Y\n");
  EXPECT_EQ(machine.find("devices.vfio").severity, Severity::kNote);
  EXPECT_EQ(machine.find(kNicCheck).severity, Severity::kFail) << "bound before the mode was on";
  machine.write("/dev/vfio/noiommu-17", "");
  EXPECT_EQ(machine.find(kNicCheck).severity, Severity::kOk);
}

TEST(DevicesCheck, IsNotConcernedWithoutABoundDevice) {
  const FakeMachine machine;
  machine.add_nic(FakeMachine::kNic, "ice");
  machine.remove("/sys/class/iommu");
  machine.write("/proc/cmdline", "quiet\n");
  EXPECT_EQ(machine.find("devices.vfio").severity, Severity::kNote);
  EXPECT_THAT(machine.find("devices.iommu").remedy, HasSubstr("intel_iommu=on iommu=pt"));
  machine.remove("/sys/bus/pci/drivers/vfio-pci");
  EXPECT_EQ(machine.find("devices.vfio").remedy, "modprobe vfio-pci");
  EXPECT_THAT(machine.find(kNicCheck).remedy, HasSubstr("modprobe vfio-pci && dpdk-devbind.py"));
  machine.remove("/proc/modules");
  EXPECT_THAT(machine.find("devices.vfio").remedy, HasSubstr("CONFIG_VFIO_PCI"));
  EXPECT_THAT(machine.find(kNicCheck).remedy, IsEmpty()) << "no command can do it";
}

TEST(DevicesCheck, ADeviceWhoseGroupIsSharedWithTheKernelCannotBeOpened) {
  const FakeMachine machine;
  const std::string nic = std::string("/sys/bus/pci/devices/") + FakeMachine::kNic;
  machine.add_nic(kPort, "ice");
  machine.add_nic("0000:3a:00.0", "pcieport");
  machine.mkdir("/groups/17/devices/" + std::string(FakeMachine::kNic));
  machine.mkdir("/groups/17/devices/0000:3a:00.0");
  machine.link(nic + "/iommu_group", machine.at("/groups/17"));
  EXPECT_EQ(machine.find(kNicCheck).severity, Severity::kOk) << "a bridge is no harm";
  machine.mkdir("/groups/17/devices/" + std::string(kPort));
  const Finding finding = machine.find(kNicCheck);
  EXPECT_EQ(finding.severity, Severity::kFail);
  EXPECT_THAT(finding.cause, HasSubstr("have 0000:5e:00.1 of the same IOMMU group 17"));
  EXPECT_THAT(finding.remedy, HasSubstr("--bind=vfio-pci 0000:5e:00.1 "));
  EXPECT_THAT(device_advice(machine.check(), FakeMachine::kNic), HasSubstr("mend: dpdk-devbind"));
  machine.remove(kPortDirectory + "/driver");
  EXPECT_EQ(machine.find(kNicCheck).severity, Severity::kOk) << "nobody has the other device";
  EXPECT_THAT(device_advice(machine.check(), FakeMachine::kNic), IsEmpty());
}

TEST(DevicesCheck, SaysWhoFiltersForAVirtualFunction) {
  const FakeMachine machine;
  const std::string nic = std::string("/sys/bus/pci/devices/") + FakeMachine::kNic;
  machine.add_nic(kPort, "igb");
  machine.mkdir(kPortDirectory + "/net/ens1");
  machine.link(kPortDirectory + "/virtfn0", "../0000:5e:10.1");
  machine.link(kPortDirectory + "/virtfn1", std::string("../") + FakeMachine::kNic);
  machine.link(nic + "/physfn", std::string("../") + kPort);
  const Finding finding = machine.find(kNicCheck);
  EXPECT_EQ(finding.severity, Severity::kNote);
  EXPECT_THAT(finding.effect, HasSubstr("its physical function 0000:5e:00.1 decides"));
  EXPECT_THAT(finding.remedy, HasSubstr("ip link set ens1 vf 1 trust on spoofchk off"));
}

TEST(NodesCheck, WantsHugePagesAtTheNodeOfTheNic) {
  const FakeMachine machine;
  const std::string node = "/sys/devices/system/node/node";
  machine.mkdir(node + "1");
  machine.write(node + "0/cpulist", "0\n");
  machine.write(node + "1/cpulist", "1\n");
  machine.write(node + "1/hugepages/hugepages-2048kB/free_hugepages", "512\n");
  machine.write(node + "0/hugepages/hugepages-2048kB/free_hugepages", "0\n");
  EXPECT_THAT(machine.find("numa.nodes").cause, HasSubstr("node1 has CPUs 1"));
  EXPECT_EQ(machine.find("numa.huge_pages").severity, Severity::kFail);
  EXPECT_THAT(machine.find("numa.huge_pages").remedy, HasSubstr("node0/hugepages"));
  machine.write(std::string("/sys/bus/pci/devices/") + FakeMachine::kNic + "/numa_node", "1\n");
  EXPECT_EQ(machine.find("numa.huge_pages").check, "") << "the NIC is where the pages are";
}

}  // namespace
}  // namespace outrider::devices_check_test
