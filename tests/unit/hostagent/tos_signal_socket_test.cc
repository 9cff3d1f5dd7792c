// Goal: a START of the TOS form is a packet of the announced flow that TCP ignores.
#include "tools/hostagent/signals/tos_signal_socket.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

namespace outrider::tos_signal_socket_test {
namespace {

using namespace agent;

TEST(TosStart, IsASegmentOfTheFlowWithoutFlagOrPayload) {
  const AgentFlowKey flow{.source_address = htonl(0x0A000001),
                          .destination_address = htonl(0x0A000009),
                          .source_port = htons(40000),
                          .destination_port = htons(5000)};
  // Both checksums were summed by hand, in another language.
  constexpr TosStart kExpected = {
      0x45, 0x88, 0x00, 0x28, 0x00, 0x00, 0x00, 0x00, 0x40, 0x06,  // START, code 2; TTL, TCP
      0x66, 0x3f, 0x0a, 0x00, 0x00, 0x01, 0x0a, 0x00, 0x00, 0x09,  // checksum, addresses
      0x9c, 0x40, 0x13, 0x88, 0x01, 0x02, 0x03, 0x04, 0x00, 0x00,  // ports, sequence number
      0x00, 0x00, 0x50, 0x00, 0x00, 0x00, 0xe8, 0x0c, 0x00, 0x00,  // no flag, checksum
  };
  EXPECT_EQ(make_tos_start(flow, 0x01020304, 10), kExpected);
}

}  // namespace
}  // namespace outrider::tos_signal_socket_test
