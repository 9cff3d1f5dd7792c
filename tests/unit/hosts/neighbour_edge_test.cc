// Goal: what a device's edge sends and keeps: ARP both ways, ICMP echo, packets
// that wait for an address. Method: frames written byte by byte from RFC 826 and
// RFC 792; a pool that misses what is not given back.
#include "trafficgen/neighbours/neighbour_edge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "common/core/random.h"
#include "tests/support/frames.h"
#include "tests/support/pool.h"
#include "trafficgen/frames/arp.h"
#include "trafficgen/frames/frame.h"

namespace outrider::neighbour_edge_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t kHost = 0x0A000001;
constexpr std::uint32_t kPeer = 0x0A000002;
const Bytes kPeerMac{0x02, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE};
const Bytes kHostMac{0x02, 0x00, 0x0A, 0x00, 0x00, 0x01};

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Bytes address(std::uint32_t a) {
  return {static_cast<std::uint8_t>(a >> 24), static_cast<std::uint8_t>(a >> 16),
          static_cast<std::uint8_t>(a >> 8), static_cast<std::uint8_t>(a)};
}

/// RFC 826 for IPv4 over Ethernet, 42 bytes as Linux sends it.
Bytes arp(std::uint8_t operation, const Bytes& to, const Bytes& sender_mac, std::uint32_t sender,
          const Bytes& target_mac, std::uint32_t target) {
  return to + sender_mac + Bytes{0x08, 0x06, 0, 1, 0x08, 0x00, 6, 4, 0, operation} + sender_mac +
         address(sender) + target_mac + address(target);
}
Bytes request(std::uint32_t target) {
  return arp(1, Bytes(6, 0xFF), kPeerMac, kPeer, Bytes(6, 0), target);
}

class NeighbourEdgeTest : public testing::Test {
 protected:
  NeighbourEdgeTest() { edge_->connect(out_); }

  /// @return whether the edge took it
  bool arrive(const Bytes& frame, Time now = Time{}) {
    Packet* packet = packet_of(pool_.get(), frame);
    if (edge_->take(packet, now)) return true;
    release(packet);
    return false;
  }
  void send(std::uint32_t to, std::uint16_t port, Time now = Time{}) {
    edge_->receive(
        0, make_packet(pool_.get(), {.flow = {kHost, to, port, 5000}, .tcp_flags = kTcpSyn}), now);
  }
  [[nodiscard]] Bytes destination(std::size_t i) const {
    return {out_.arrivals[i].bytes.begin(), out_.arrivals[i].bytes.begin() + 6};
  }
  [[nodiscard]] NeighbourhoodReport report() const {
    NeighbourhoodReport r;
    edge_->fill(r);
    return r;
  }

  TestPool pool_{64};
  EventLoop loop_;
  Collector out_;
  std::unique_ptr<NeighbourEdge> edge_ = std::make_unique<NeighbourEdge>(
      NeighbourEdge::Setup{
          .device = "eth", .table = {.ask = true}, .hosts = {kHost, kHost + 0x100}, .own = {kHost}},
      loop_, pool_.get());
};

TEST_F(NeighbourEdgeTest, AnswersForItsHostsAndLearnsFromTheRequest) {
  ASSERT_TRUE(arrive(request(kHost)));
  ASSERT_EQ(out_.size(), 1U);
  EXPECT_EQ(out_.arrivals[0].bytes, arp(2, kPeerMac, kHostMac, kHost, kPeerMac, kPeer));
  send(kPeer, 1);
  ASSERT_EQ(out_.size(), 2U) << "no request of ours: we know who asked";
  EXPECT_EQ(destination(1), kPeerMac);
  EXPECT_EQ(edge_->totals().arp_answered, 1U);
}

TEST_F(NeighbourEdgeTest, LeavesRequestsForOthersAlone) {
  EXPECT_TRUE(arrive(request(kHost + 7)));
  EXPECT_TRUE(arrive(request(kHost + 0x100))) << "a host of another device";
  EXPECT_EQ(out_.size(), 0U);
  EXPECT_EQ(edge_->totals().arp_ignored, 2U);
  send(kPeer, 1);
  ASSERT_EQ(out_.size(), 1U);
  EXPECT_EQ(destination(0), Bytes(6, 0xFF)) << "not learned: we were not the target";
}

TEST_F(NeighbourEdgeTest, HoldsTheLatestPacketUntilTheAnswer) {
  send(kPeer, 1);
  ASSERT_EQ(out_.size(), 1U);
  EXPECT_EQ(out_.arrivals[0].bytes,
            arp(1, Bytes(6, 0xFF), kHostMac, kHost, Bytes(6, 0), kPeer) + Bytes(18, 0));
  send(kPeer, 2);
  send(kPeer, 3);
  EXPECT_EQ(out_.size(), 1U);
  EXPECT_EQ(edge_->held(), 1U);
  ASSERT_TRUE(arrive(arp(2, kHostMac, kPeerMac, kPeer, kHostMac, kHost)));
  ASSERT_EQ(out_.size(), 2U);
  EXPECT_EQ(out_.arrivals[1].flow.source_port, 3);
  EXPECT_EQ(destination(1), kPeerMac);
  EXPECT_EQ(edge_->unresolved(), 2U);
  EXPECT_EQ(edge_->passed(), 1U);
  EXPECT_EQ(edge_->held(), 0U);
  loop_.run_until(Time{10s});
  EXPECT_EQ(out_.size(), 2U) << "nobody is asked again";
}

TEST_F(NeighbourEdgeTest, NamesAPeerThatNeverAnswers) {
  send(kPeer, 1);
  loop_.run_until(Time{8s});
  EXPECT_EQ(out_.size(), NeighbourTable::kRequests);
  send(kPeer, 2, Time{8s});
  EXPECT_EQ(edge_->unresolved(), 2U);
  const auto r = report();
  ASSERT_EQ(r.neighbours.size(), 1U);
  EXPECT_EQ(r.neighbours[0].address, "10.0.0.2");
  EXPECT_EQ(r.neighbours[0].state, "silent");
  EXPECT_EQ(r.neighbours[0].requests, 3U);
  EXPECT_EQ(r.neighbours[0].unresolved, 2U);
  EXPECT_EQ(r.totals.arp_requested, 3U);
}

TEST_F(NeighbourEdgeTest, EmulatedHostsKeepTheirRuleAndNobodyMayTakeIt) {
  EXPECT_TRUE(arrive(arp(2, kHostMac, kPeerMac, kHost + 0x100, kHostMac, kHost)));
  EXPECT_TRUE(arrive(arp(1, Bytes(6, 0xFF), kPeerMac, kHost, Bytes(6, 0), kHost)));
  send(kHost + 0x100, 1);
  ASSERT_EQ(out_.size(), 2U) << "an answer and the packet";
  EXPECT_EQ(destination(1), (Bytes{0x02, 0x00, 0x0A, 0x00, 0x01, 0x01}));
  EXPECT_EQ(edge_->totals().address_conflicts, 1U);
}

TEST_F(NeighbourEdgeTest, IgnoresWhatIsNotIpv4OverEthernet) {
  const Bytes good = request(kHost);
  for (const std::size_t byte : {15U, 16U, 18U, 19U, 20U, 21U}) {
    Bytes bad = good;
    bad[byte] ^= 0x40;
    EXPECT_TRUE(arrive(bad)) << byte;
  }
  EXPECT_TRUE(arrive(Bytes(good.begin(), good.end() - 1))) << "truncated";
  EXPECT_EQ(edge_->totals().arp_ignored, 7U);
  EXPECT_EQ(out_.size(), 0U);
  const auto& t = edge_->totals();
  EXPECT_EQ(t.arp_received, t.arp_answered + t.arp_learned_from + t.arp_ignored);
}

// -- ICMP

Bytes echo_request(std::uint32_t to, std::size_t payload) {
  Bytes icmp{8, 0, 0, 0, 0x12, 0x34, 0, 1};
  for (std::size_t i = 0; i < payload; ++i) icmp.push_back(static_cast<std::uint8_t>(i * 7));
  const std::uint16_t sum = internet_checksum(icmp);
  icmp[2] = static_cast<std::uint8_t>(sum >> 8);
  icmp[3] = static_cast<std::uint8_t>(sum);
  const std::size_t ip_bytes = 20 + icmp.size();
  Bytes frame = kHostMac + kPeerMac + Bytes{0x08, 0x00} +
                Bytes{0x45,
                      0,
                      static_cast<std::uint8_t>(ip_bytes >> 8),
                      static_cast<std::uint8_t>(ip_bytes),
                      0x77,
                      0x77,
                      0x40,
                      0,
                      64,
                      1,
                      0,
                      0} +
                address(kPeer) + address(to) + icmp;
  reseal_ipv4(frame);
  return frame;
}

TEST_F(NeighbourEdgeTest, AnswersPings) {
  for (const std::size_t payload : {0U, 1U, 56U, 57U}) {
    const Bytes asked = echo_request(kHost, payload);
    ASSERT_TRUE(arrive(asked));
    Bytes answer = out_.arrivals.back().bytes;
    EXPECT_EQ(Bytes(answer.begin(), answer.begin() + 12), kPeerMac + kHostMac);
    EXPECT_EQ(Bytes(answer.begin() + 26, answer.begin() + 34), address(kHost) + address(kPeer));
    EXPECT_TRUE(out_.arrivals.back().checksum_valid);
    EXPECT_EQ(answer[34], 0) << "echo reply";
    EXPECT_EQ(internet_checksum({answer.begin() + 34, answer.end()}), 0);
    EXPECT_TRUE(std::equal(answer.begin() + 38, answer.end(), asked.begin() + 38)) << "the data";
  }
  EXPECT_EQ(edge_->totals().echoes_answered, 4U);
}

TEST_F(NeighbourEdgeTest, LeavesOtherFramesToTheHosts) {
  EXPECT_FALSE(arrive(bytes_of({.flow = {kPeer, kHost, 1, 2}})));
  EXPECT_FALSE(arrive(echo_request(kHost + 1, 8))) << "for nobody here";
  Bytes damaged = echo_request(kHost, 8);
  damaged[45] ^= 1;
  EXPECT_FALSE(arrive(damaged)) << "ICMP checksum";
  Bytes reply = echo_request(kHost, 8);
  reply[34] = 0;
  EXPECT_FALSE(arrive(reply));
  Bytes fragment = echo_request(kHost, 8);
  fragment[20] = 0x20;
  reseal_ipv4(fragment);
  EXPECT_FALSE(arrive(fragment));
  const Bytes whole = echo_request(kHost, 8);
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_FALSE(arrive(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)))) << n;
  EXPECT_EQ(out_.size(), 0U);
}

TEST_F(NeighbourEdgeTest, SurvivesAnyBytes) {
  RandomStream random(1, 0, RandomPurpose::kTest);
  for (int i = 0; i < 20'000; ++i) {
    Bytes frame = i % 2 == 0 ? request(kHost) : echo_request(kHost, 20);
    frame.resize(random.next_u32() % (frame.size() + 1));
    for (std::uint32_t n = random.next_u32() % 3; n != 0 && !frame.empty(); --n)
      frame[random.next_u32() % frame.size()] = static_cast<std::uint8_t>(random.next_u32());
    arrive(frame, Time{Duration{i}});
  }
  const auto& t = edge_->totals();
  EXPECT_GT(t.arp_answered, 100U);
  EXPECT_GT(t.arp_ignored, 100U);
  EXPECT_GT(t.echoes_answered, 50U);
  EXPECT_EQ(t.arp_received, t.arp_answered + t.arp_learned_from + t.arp_ignored);
}

}  // namespace
}  // namespace outrider::neighbour_edge_test
