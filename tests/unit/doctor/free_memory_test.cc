// Goal: what is free here is what neither the machine nor a control group has given away.
#include "common/machine/free_memory.h"

#include <gtest/gtest.h>

#include "tests/unit/doctor/fake_machine.h"

namespace outrider::free_memory_test {
namespace {

constexpr const char* kMiB = "000 kB\n";

TEST(FreeMemory, IsUnknownWithoutMeminfo) { EXPECT_FALSE(free_memory_mb(MachineTree("/absent"))); }

TEST(FreeMemory, IsTheLeastThatMachineAndControlGroupsLeave) {
  const FakeMachine machine;
  const MachineTree tree(machine.at("/"));
  machine.write("/proc/meminfo", std::string("MemFree: 1 kB\nMemAvailable:    2048") + kMiB);
  EXPECT_EQ(free_memory_mb(tree), 2000U);
  machine.write("/proc/self/cgroup", "4:memory:/other\n0::/job/step\n");
  EXPECT_EQ(free_memory_mb(tree), 2000U) << "without a limit";
  const std::string job = "/sys/fs/cgroup/job/", step = job + "step/";
  machine.write(step + "memory.max", "max\n");
  machine.write(step + "memory.current", "1\n");
  EXPECT_EQ(free_memory_mb(tree), 2000U);
  machine.write(job + "memory.max", std::to_string(1000 << 20));
  machine.write(job + "memory.current", std::to_string(900 << 20));
  EXPECT_EQ(free_memory_mb(tree), 100U) << "the limit of the group above";
  machine.write(job + "memory.stat", "active_file " + std::to_string(20 << 20) +
                                         "\ninactive_file " + std::to_string(30 << 20) + "\n");
  EXPECT_EQ(free_memory_mb(tree), 150U) << "caches can be dropped";
  machine.write(job + "memory.max", std::to_string(800 << 20));
  EXPECT_EQ(free_memory_mb(tree), 0U) << "more than the limit is used";
}

}  // namespace
}  // namespace outrider::free_memory_test
