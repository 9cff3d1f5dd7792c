// Goal: a cause that a driver names badly has a remedy. Method: lines as DPDK 22.11 logs them.
#include "common/dpdk/port/attach_remedy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace outrider::attach_remedy_test {
namespace {

TEST(AttachRemedy, NamesTheCollisionOfFanoutGroups) {
  EXPECT_THAT(attach_remedy("rte_pmd_init_internals(): net_af_packet0: could not set PACKET_FANOUT "
                            "on AF_PACKET socket for eth1: Invalid argument"),
              testing::HasSubstr("Start this program again"));
  EXPECT_EQ(attach_remedy("Invalid argument"), "");
}

TEST(AttachRemedy, NamesAnUnknownDriver) {
  EXPECT_THAT(attach_remedy("EAL: failed to parse device \"vdev:net_foo0\""),
              testing::HasSubstr("DPDK has no driver of this name here"));
}

TEST(AttachRemedy, NamesAMissingRight) {
  for (const char* said :
       {"open_packet_iface(): Could not open AF_PACKET socket",
        "open_iface_live(): Couldn't open v: You don't have permission to perform this capture on "
        "that device (socket: Operation not permitted)",
        "tun_alloc(): Unable to set TUNSETIFF for t: Operation not permitted"})
    EXPECT_THAT(attach_remedy(said), testing::HasSubstr("Run as root")) << said;
}

}  // namespace
}  // namespace outrider::attach_remedy_test
