// The other end of rdma_end.py: the generator's queue pair over a packet socket. Both ends put
// their numbers into files, so the peer may be any host that speaks RoCEv2. A sender sends zeros,
// as the generator does; a receiver compares every byte with the pattern of docs/linux-hosts.md.
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>

#include "common/config/addresses.h"
#include "common/net/roce.h"
#include "trafficgen/frames/ipv4_frame.h"
#include "trafficgen/frames/roce_key.h"
#include "trafficgen/roce/queue_pair.h"

namespace outrider::tg {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

struct Options {
  std::string role, interface, address, own, peer, peer_mac;
  std::uint64_t bytes = 65536;
  std::uint32_t count = 16;
  std::uint16_t queue_pair = 4660;
  std::uint32_t first_psn = 0xFFFFF0;  // PSNs wrap soon
  std::uint32_t limit_s = 120;
};

Time now() {
  static const auto kBegin = std::chrono::steady_clock::now();
  return Time{std::chrono::steady_clock::now() - kBegin};
}

/// IPv4 packets to and from one neighbour. The kernel's own stack gets what arrives as well, and
/// drops it.
class Wire {
 public:
  Wire(const std::string& interface, const MacAddress& peer)
      : socket_(::socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP))) {
    to_.sll_family = AF_PACKET;
    to_.sll_protocol = htons(ETH_P_IP);
    to_.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
    to_.sll_halen = sizeof peer;
    std::memcpy(to_.sll_addr, peer.data(), sizeof peer);
    if (::bind(socket_, reinterpret_cast<const sockaddr*>(&to_), sizeof to_) != 0)
      throw std::runtime_error("cannot bind a packet socket to " + interface);
  }
  ~Wire() { ::close(socket_); }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  void send(const FlowKey& flow, const OutgoingDatagram& d) {
    const std::uint32_t udp_bytes = static_cast<std::uint32_t>(sizeof(UdpHeader)) + d.head_bytes +
                                    d.value_bytes + roce::kIcrcBytes;
    const std::size_t bytes = sizeof(Ipv4Header) + udp_bytes;
    buffer_.fill(0);
    write_ipv4(buffer_.data(), flow, kIpProtocolUdp, d.tos, static_cast<std::uint16_t>(bytes));
    auto& udp = *reinterpret_cast<UdpHeader*>(buffer_.data() + sizeof(Ipv4Header));
    udp.source_port.set(flow.source_port);
    udp.destination_port.set(flow.destination_port);
    udp.length.set(static_cast<std::uint16_t>(udp_bytes));
    std::memcpy(buffer_.data() + kPayload, d.head.data(), d.head_bytes);
    const std::uint32_t icrc = roce::icrc(buffer_, static_cast<std::uint32_t>(bytes) - 4);
    std::memcpy(buffer_.data() + bytes - roce::kIcrcBytes, &icrc, roce::kIcrcBytes);
    // What the socket does not take is lost, as on any network.
    (void)::sendto(socket_, buffer_.data(), bytes, MSG_DONTWAIT,
                   reinterpret_cast<const sockaddr*>(&to_), sizeof to_);
  }

  /// @return false if no datagram for port 4791 came before the wait was over
  bool receive(ReceivedDatagram& d, std::chrono::milliseconds wait) {
    pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, static_cast<int>(wait.count())) <= 0) return false;
    sockaddr_ll from{};
    socklen_t size = sizeof from;
    const ssize_t got = ::recvfrom(socket_, buffer_.data(), buffer_.size(), 0,
                                   reinterpret_cast<sockaddr*>(&from), &size);
    if (got < static_cast<ssize_t>(kPayload) || from.sll_pkttype != PACKET_HOST) return false;
    const auto& ip = *reinterpret_cast<const Ipv4Header*>(buffer_.data());
    const auto& udp = *reinterpret_cast<const UdpHeader*>(buffer_.data() + sizeof ip);
    if (ip.protocol != kIpProtocolUdp || udp.destination_port.get() != roce::kPort) return false;
    const std::size_t bytes = ip.total_length.get();
    if (bytes > static_cast<std::size_t>(got) || bytes < kPayload + roce::kIcrcBytes) return false;
    d.flow = {ip.source.get(), ip.destination.get(), udp.source_port.get(),
              udp.destination_port.get()};
    d.ecn = ecn_of(ip.tos);
    d.ip = std::span(buffer_).first(bytes);
    d.present = d.ip.subspan(kPayload);
    d.payload_bytes = static_cast<std::uint32_t>(d.present.size());
    std::memcpy(&d.trailer, d.ip.data() + bytes - roce::kIcrcBytes, roce::kIcrcBytes);
    return true;
  }

 private:
  static constexpr std::size_t kPayload = sizeof(Ipv4Header) + sizeof(UdpHeader);
  int socket_;
  sockaddr_ll to_{};
  std::array<std::uint8_t, 2048> buffer_{};
};

/// Returns the byte at that place of the pattern.
std::uint8_t pattern_at(std::uint64_t place) {
  const auto word = static_cast<std::uint32_t>((place / 4 + 1) * 0x9E3779B1U);
  return static_cast<std::uint8_t>(word >> (8 * (place % 4)));
}

std::uint64_t wrong_bytes(std::span<const std::uint8_t> payload, std::uint64_t place) {
  std::uint64_t wrong = 0;
  for (const std::uint8_t byte : payload) wrong += byte != pattern_at(place++);
  return wrong;
}

class End final : private QueuePairListener {
 public:
  End(const Options& o, const json& peer)
      : options_(o),
        wire_(o.interface, *parse_mac(o.peer_mac).value),
        pair_(config(), setup_of(o, peer), *this) {}

  bool run() {
    const bool sends = options_.role == "send";
    const std::uint64_t all = options_.bytes * options_.count;
    const auto done = [&] {
      const auto total = sends ? pair_.requester().requests().acknowledged_bytes() : delivered();
      return total == all;
    };
    const Time end = now() + std::chrono::seconds(options_.limit_s);
    for (std::uint32_t sent = 0; !done() && !gave_up_ && now() < end;) {
      if (sends && pair_.requester().requests().idle() && sent < options_.count)
        pair_.requester().append(options_.bytes, sent++, now());
      turn();
    }
    // The peer may ask again for an acknowledgment that was lost.
    for (const Time quiet = now() + 2s; now() < quiet;) turn();
    return done() && wrong_ == 0 && pair_.counters().balanced();
  }

  [[nodiscard]] json found() const {
    const RoceCounters& c = pair_.counters();
    return {{"compared_bytes", compared_},
            {"wrong_bytes", wrong_},
            {"sent", c.sent},
            {"retransmitted", c.retransmitted},
            {"acks_sent", c.acks_sent},
            {"naks_sent", c.naks_sent},
            {"cnps_sent", c.cnps_sent},
            {"timeouts", c.timeouts},
            {"in_order", c.in_order},
            {"out_of_order", c.out_of_order},
            {"duplicate", c.duplicate},
            {"acks_received", c.acks_received},
            {"naks_received", c.naks_received},
            {"cnps_received", c.cnps_received},
            {"bad_icrc", c.bad_icrc},
            {"malformed", c.malformed},
            {"refused", c.refused},
            {"marked", c.marked}};
  }

 private:
  static const RoceConfig& config() {
    static const RoceConfig kConfig{
        .window_packets = 64, .timeout = 500ms, .retry_limit = 20};  // longer than a guest's pauses
    return kConfig;
  }

  static QueuePair::Setup setup_of(const Options& o, const json& peer) {
    QueuePair::Setup s;
    s.flow = {*parse_ipv4(o.address).value, *parse_ipv4(peer["host"].get<std::string>()).value,
              o.queue_pair, roce::kPort};
    s.own_queue_pair = o.queue_pair;
    s.peer_queue_pair = peer["queue_pair"];
    s.first_psn = o.first_psn;
    s.peer_first_psn = peer["first_psn"];
    s.peer_key = peer["key"];
    s.peer_address = peer["address"];
    s.line = BitRate{50'000'000};
    return s;
  }

  [[nodiscard]] std::uint64_t delivered() const { return pair_.responder().delivered_bytes(); }

  /// Sends what may leave and takes what has come.
  void turn() {
    OutgoingDatagram out;
    while (pair_.has_datagram(now())) {
      out = {};
      pair_.next_datagram(out, now());
      wire_.send(pair_.flow(), out);
    }
    const bool timed = pair_.next_timer() != kNever;
    for (ReceivedDatagram d; wire_.receive(d, timed ? 0ms : 10ms); d = {}) take(d);
    if (pair_.next_timer() <= now()) pair_.on_timer(now());
  }

  void take(const ReceivedDatagram& d) {
    if (key_of(d) != pair_.key()) return;
    const std::uint64_t before = delivered();
    (void)pair_.on_datagram(d, now());
    const std::uint64_t fresh = delivered() - before;
    if (fresh == 0) return;
    const auto payload = d.present.subspan(roce::header_bytes(d.present[0]), fresh);
    wrong_ += wrong_bytes(payload, before);
    compared_ += fresh;
  }

  void on_received(QueuePair&, Time) noexcept override {}
  void on_acknowledged(QueuePair&, Time) noexcept override {}
  void on_gave_up(QueuePair&, Time) noexcept override { gave_up_ = true; }

  const Options& options_;
  Wire wire_;
  QueuePair pair_;
  std::uint64_t compared_ = 0;
  std::uint64_t wrong_ = 0;
  bool gave_up_ = false;
};

/// Waits for the file of the peer's numbers.
json awaited(const std::string& path) {
  while (!std::filesystem::exists(path)) std::this_thread::sleep_for(100ms);
  return json::parse(std::ifstream(path));
}

/// The file is whole as soon as it is there. What is written goes to its place in the stream, so
/// the address of this end's memory is 0.
void put_own(const Options& o) {
  std::ofstream(o.own + ".new") << json{{"host", o.address},
                                        {"queue_pair", o.queue_pair},
                                        {"first_psn", o.first_psn},
                                        {"key", o.queue_pair},
                                        {"address", 0}};
  std::filesystem::rename(o.own + ".new", o.own);
}

int run(int argc, char** argv) {
  CLI::App app("One end of a reliable connection of RoCEv2: the generator's queue pair");
  Options o;
  app.add_option("role", o.role)->required()->check(CLI::IsMember({"send", "receive"}));
  app.add_option("interface", o.interface)->required();
  app.add_option("address", o.address)->required();
  app.add_option("own", o.own, "file for the numbers of this end")->required();
  app.add_option("peer", o.peer, "file with those of the peer")->required();
  app.add_option("--peer-mac", o.peer_mac)->required();
  app.add_option("--bytes", o.bytes, "of a message");
  app.add_option("--count", o.count, "of messages");
  app.add_option("--limit", o.limit_s, "seconds");
  CLI11_PARSE(app, argc, argv);
  put_own(o);
  End end(o, awaited(o.peer));
  std::cout << "connected" << std::endl;
  const bool right = end.run();
  std::cout << end.found().dump() << std::endl;
  return right ? 0 : 1;
}

}  // namespace
}  // namespace outrider::tg

int main(int argc, char** argv) { return outrider::tg::run(argc, argv); }
