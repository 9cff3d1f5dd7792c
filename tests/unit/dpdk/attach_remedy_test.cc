// Goal: a cause that a driver names badly has a remedy. Method: lines as DPDK 22.11 logs them.
#include "common/dpdk/attach_remedy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace outrider::attach_remedy_test {
namespace {

TEST(AttachRemedy, NamesTheCollisionOfFanoutGroups) {
  EXPECT_THAT(attach_remedy("rte_pmd_init_internals(): net_af_packet0: could not set PACKET_FANOUT "
                            "on AF_PACKET socket for eth1: Invalid argument"),
              testing::HasSubstr("Start this program again"));
  EXPECT_EQ(attach_remedy("could not set PACKET_FANOUT: Operation not permitted"), "");
  EXPECT_EQ(attach_remedy("Invalid argument"), "");
}

// The errno that DPDK hands on is that of a missing permission.
TEST(AttachRemedy, NamesAnAbsentInterface) {
  EXPECT_THAT(attach_remedy("rte_pmd_init_internals(): net_af_packet0: ioctl failed "
                            "(SIOCGIFINDEX):No such device"),
              testing::HasSubstr("No network interface of this name"));
}

}  // namespace
}  // namespace outrider::attach_remedy_test
