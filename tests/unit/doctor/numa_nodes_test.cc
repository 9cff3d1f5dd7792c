#include "common/machine/numa_nodes.h"

#include <gmock/gmock.h>

#include "tests/unit/doctor/fake_machine.h"

namespace outrider::numa_nodes_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A machine whose even CPUs are at node 0 and whose odd ones are at node 1.
class NumaNodes : public testing::Test {
 protected:
  NumaNodes() {
    machine_.write("/sys/devices/system/node/node0/cpulist", "0,2,4\n");
    machine_.write("/sys/devices/system/node/node1/cpulist", "1,3,5\n");
    machine_.write("/sys/devices/system/node/online", "0-1\n");
  }
  [[nodiscard]] MachineTree tree() { return MachineTree(machine_.machine().root); }

  FakeMachine machine_;
};

TEST_F(NumaNodes, AreNumberedAndKnowTheirCpus) {
  EXPECT_THAT(numa_nodes(tree()), ElementsAre(0U, 1U));
  EXPECT_EQ(node_of_cpu(tree(), 4), 0U);
  EXPECT_EQ(node_of_cpu(tree(), 5), 1U);
  EXPECT_EQ(node_of_cpu(tree(), 6), std::nullopt) << "no node has it";
}

TEST_F(NumaNodes, NothingIsSaidOfWhatIsNearOrNotKnown) {
  EXPECT_THAT(
      numa_crossings(tree(), {{"near", 1, 1}, {"virtual", {}, 1}, {"small pages", 1, {}}}, {1, 3}),
      IsEmpty());
}

TEST_F(NumaNodes, AnLcoreElsewhereIsNamedWithTheCpusToTake) {
  EXPECT_THAT(numa_crossings(tree(), {{"left", 1, 1}, {"right", 0, 0}}, {1, 2}),
              ElementsAre("device left is at NUMA node 1 and polled from CPU 2 at NUMA node 0: its "
                          "packets cross between the nodes. Take `lcore` and `more_lcores` from "
                          "its node's CPUs: 1,3,5",
                          HasSubstr("device right is at NUMA node 0 and polled from CPU 1 at")));
}

TEST_F(NumaNodes, ThatDpdkNeedsHugePagesOfAreNamedIfTheyHaveNone) {
  const std::string nodes = "/sys/devices/system/node/";
  machine_.write(nodes + "node0/hugepages/hugepages-2048kB/free_hugepages", "7\n");
  machine_.write(nodes + "node1/hugepages/hugepages-2048kB/free_hugepages", "0\n");
  machine_.write("/sys/bus/pci/devices/0000:81:00.0/numa_node", "1\n");
  machine_.write("/sys/bus/pci/devices/0000:01:00.0/numa_node", "-1\n");
  EXPECT_THAT(nodes_without_huge_pages(tree(), 0, {"0000:01:00.0"}), IsEmpty());
  EXPECT_THAT(nodes_without_huge_pages(tree(), {}, {}), IsEmpty());
  EXPECT_THAT(nodes_without_huge_pages(tree(), 3, {"0000:81:00.0", "0000:01:00.0"}),
              ElementsAre("NUMA node 1, which has CPU 3, 0000:81:00.0, has no free huge page. "
                          "Reserve some: echo 512 > " +
                          nodes + "node1/hugepages/hugepages-2048kB/nr_hugepages"));
}

TEST_F(NumaNodes, OfAContainerThatShowsNoHugePagesAreNotComplainedOf) {
  EXPECT_THAT(nodes_without_huge_pages(tree(), 3, {}), IsEmpty());
}

TEST_F(NumaNodes, BuffersElsewhereAreNamedWithTheNodeThatLacksHugePages) {
  EXPECT_THAT(numa_crossings(tree(), {{"left", 1, 0}}, {1}),
              ElementsAre(HasSubstr("device left is at NUMA node 1 and its packet buffers are at "
                                    "NUMA node 0")));
}

}  // namespace
}  // namespace outrider::numa_nodes_test
