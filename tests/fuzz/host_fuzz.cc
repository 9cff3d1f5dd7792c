// Hosts with everything on, in virtual time: a job with signals of either form over TCP or over
// the transport with bounded loss, a long flow, a transfer with a peer outside and a stream beside
// them. One more host listens for anybody. Between them is a wire that loses what the input says,
// and a stranger who sends frames that fit what it has heard. Whatever comes, the ledger balances,
// every buffer comes back, and what hosts answer is bounded, as are their half-open connections.
#include <chrono>
#include <memory>
#include <set>
#include <vector>

#include "common/runtime/link.h"
#include "tests/fuzz/fuzz_frames.h"
#include "tests/fuzz/fuzz_main.h"
#include "tests/fuzz/fuzz_pool.h"
#include "trafficgen/apps/generator.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/streams/engine/virtual_streams.h"

namespace outrider::fuzz {
using namespace tg;
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::uint32_t kWorker = 0x0A000101, kServer = 0x0A000301, kPeer = 0x0A000901,
                        kOpen = 0x0A000401;
constexpr std::array<std::uint32_t, 5> kAddresses{kWorker, kServer, kPeer, 0x0B000001, kOpen};
constexpr std::array<std::uint16_t, 6> kTcpPorts{5000, 20'000, 30'000, 32'768, 40'000, 5900};
constexpr std::array<std::uint8_t, 4> kOpenBytes{10, 0, 4, 1};
constexpr std::uint32_t kMostHalfOpen = 8;
constexpr std::size_t kStreamLink = 2;
constexpr BitRate kRate{100'000'000};

GeneratorConfig config_from(FuzzInput& in) {
  GeneratorConfig g;
  const std::uint16_t bits = in.take<std::uint16_t>();
  g.seed = 1 + in.byte();
  g.devices = {{.name = "device", .device = "net_null0"}};
  g.hosts = {{.name = "worker", .address = "10.0.1.1", .device = "device", .rate = kRate},
             {.name = "server", .address = "10.0.3.1", .device = "device", .rate = kRate}};
  if ((bits & 1) != 0) g.hosts[0].tso_bytes = 16'384;
  TransportConfig tcp;
  tcp.name = "tcp";
  tcp.tcp.control.controller = (bits & 2) != 0 ? Controller::kCubic : Controller::kDctcp;
  tcp.tcp.min_rto = milliseconds(2);
  tcp.tcp.initial_rto = milliseconds(5);
  tcp.tcp.max_rto = milliseconds(20);
  tcp.tcp.delayed_ack = milliseconds(1);
  tcp.tcp.time_wait = milliseconds(4);
  if ((bits & 4) != 0) tcp.tcp.reuse = ConnectionReuse::kKeep;
  if ((bits & 8) != 0) tcp.tcp.loss_detection = LossDetection::kRackTlp;
  TransportConfig job = tcp;
  job.name = "job";
  if ((bits & 16) != 0) {
    job.protocol = TransportProtocol::kMlt;
    job.tcp = {};
    job.tcp.control.controller = Controller::kDctcp;
  }
  g.transports = {tcp, job};
  JobConfig j;
  j.name = "job";
  j.workers = {"worker"};
  j.servers = {"server"};
  j.transport = "job";
  j.burst_bytes = 20'000;
  j.iterations = 3;
  j.schedule = Schedule::kFixed;
  j.first_due = milliseconds(2);
  j.period = milliseconds(5);
  j.pull = (bits & 32) != 0;
  j.announce.signal_form = (bits & (16 | 64)) != 0 ? SignalForm::kUdp : SignalForm::kTos;
  if ((bits & 128) != 0 && j.announce.signal_form == SignalForm::kUdp)
    j.announce.signal_key = "signal.key";
  j.announce.lead = milliseconds(1);
  j.announce.ack_timeout = milliseconds(2);
  g.jobs = {j};
  g.long_flows = {{.name = "flow", .from = {"worker"}, .to = {"server"}, .transport = "tcp"}};
  TransferConfig t{.name = "transfer", .from = "server", .to = "10.0.9.1", .bytes = 9000};
  if ((bits & 256) != 0) std::swap(t.from, t.to);
  t.opener = (bits & 512) != 0 ? Opener::kReceiver : Opener::kSender;
  t.transport = "tcp";
  t.timeout = milliseconds(50);
  g.transfers = {t};
  if ((bits & 1024) != 0) {
    TransportConfig rdma{.name = "rdma", .tcp = {}, .protocol = TransportProtocol::kRoce};
    rdma.tcp.priority = 3;  // so pause frames are obeyed
    g.transports.push_back(rdma);
    t.name = "rdma";
    t.transport = "rdma";
    t.opener = Opener::kSender;
    t.queue_pair = {.own = 17, .peer = 18};
    g.transfers.push_back(t);
  }
  return g;
}

/// UDP packets from one host's address to the other's, that pass the same wire.
StreamConfig stream_from(FuzzInput& in) {
  StreamConfig s;
  s.name = "stream";
  s.device = s.receive_device = "device";
  const std::uint8_t bits = in.byte();
  s.rate = StreamRate{StreamRate::Unit::kPackets, 1000ULL << bits % 8};
  s.pattern = static_cast<StreamPattern>((bits >> 3) % 3);
  s.burst_packets = s.pattern == StreamPattern::kOnOff ? 1 + in.byte() % 8U : 1;
  if (s.pattern == StreamPattern::kOnOff) s.gap = milliseconds(1);
  s.frame_bytes = 64 + in.byte() * 4U;
  s.flows = 1 + in.byte() % 16U;
  if ((bits & 32) != 0) s.udp_checksum = UdpChecksum::kFull;
  if ((bits & 64) != 0) s.hops = 2;
  if (s.hops != 0) s.frame_bytes = *s.frame_bytes + 128;
  s.packets = 1 + in.byte();
  s.source = "10.0.1.1";
  s.destination = "10.0.3.1";
  return s;
}

/// A server for anybody: notes what becomes of the connections that strangers open.
class OpenServer final : public Acceptor, public ConnectionListener {
 public:
  OpenServer() {
    config_.initial_rto = config_.min_rto = milliseconds(5);
    config_.max_rto = milliseconds(20);
  }
  Offer accept(const FlowKey&) noexcept override { return {&config_, this, 0}; }
  void on_accepted(TcpConnection& c) noexcept override { half_open_.insert(&c); }
  void on_established(TcpConnection& c, Time) noexcept override {
    FUZZ_REQUIRE(half_open_.erase(&c) == 1 && established_.insert(&c).second);
  }
  void on_delivered(TcpConnection&, Time) noexcept override {}
  void on_closed(TcpConnection& c, Time) noexcept override {
    FUZZ_REQUIRE(half_open_.erase(&c) + established_.erase(&c) == 1);
  }
  [[nodiscard]] std::size_t half_open() const { return half_open_.size(); }

 private:
  TcpConfig config_;
  std::set<const TcpConnection*> half_open_, established_;
};

class HostRun {
 public:
  HostRun(FuzzInput& in, FuzzPool& pool, const GeneratorConfig& config)
      : in_(in),
        pool_(pool),
        generator_(config, loop_, pool.mempool(),
                   {.full_payload = false, .signal_keys = {{"signal.key", kSignalKey}}}),
        streams_({stream_from(in)}, {{"device"}}, 1, std::nullopt, loop_,
                 FuzzPool::second().mempool()),
        open_({.name = "open", .address = kOpen, .rate = kRate, .max_half_open = kMostHalfOpen},
              loop_, pool.mempool(), memory_),
        network_(*this) {
    for (std::uint32_t h = 0; h < 4; ++h)
      links_.push_back(std::make_unique<Link>(loop_, microseconds(50), network_, h));
    for (std::uint32_t h = 0; h < 2; ++h) generator_.connect(h, *links_[h]);
    streams_.connect(0, *links_[kStreamLink]);
    open_.nic().connect(*links_[3]);
    open_.connections().listen(5000, server_);
    generator_.start(now_);
    streams_.start();
  }
  ~HostRun() {
    for (auto& link : links_) link->flush();
    pool_.unguard();
  }

  void run() {
    while (!in_.empty()) step(in_.byte());
    wait(milliseconds(100));
    check();
  }

 private:
  /// Hands on what hosts send, or loses it.
  struct Network final : Node {
    explicit Network(HostRun& of) : run(of) {}
    void receive(std::uint32_t, Packet* packet, Time now) noexcept override {
      run.pass(packet, now);
    }
    HostRun& run;
  };

  void wait(Duration d) {
    now_ += d;
    loop_.run_until(now_);
  }

  void step(std::uint8_t what) {
    switch (what % 8) {
      case 0:
        lose_ = what / 8;
        return;
      case 1:
        return what >= 128 ? open_connections(1 + in_.byte() % 32U) : check();
      case 2:
        return wait(microseconds(in_.byte() * 8));
      case 3:
        return wait(microseconds(in_.byte()));
      case 4:
        return inject(1 + in_.byte() % 100U);
      default:
        return inject(1);
    }
  }

  void pass(Packet* packet, Time now) {
    const Arrival a = arrival_of(*packet, 0, now);
    frames_.hear(a);
    const bool lost = lose_ != 0 && ++passed_ % lose_ == 0;
    const std::uint32_t to = a.flow.destination_address;
    if (lost || (to != kWorker && to != kServer && to != kOpen)) {
      ++gone_;
      return release(packet);
    }
    hand_over(packet, now);
  }

  void hand_over(Packet* packet, Time now) {
    const auto frame = buffer(*packet);
    constexpr std::size_t kDestination = sizeof(EthernetHeader) + 16;
    const bool to_open = frame.size() >= kDestination + 4 &&
                         std::ranges::equal(frame.subspan(kDestination, 4), kOpenBytes);
    if (streams_.take(packet, now)) ++taken_;
    else if (to_open) open_.receive(0, packet, now);
    else generator_.receive_from_device(0, packet, now);
    FUZZ_REQUIRE(server_.half_open() <= kMostHalfOpen);
  }

  /// A stranger opens connections from one port after the other, and never answers.
  void open_connections(std::uint32_t connections) {
    const std::uint16_t first = in_.take<std::uint16_t>();
    for (std::uint32_t i = 0; i < connections; ++i) {
      FrameSpec spec{.flow = {kPeer, kOpen, static_cast<std::uint16_t>(first + i), 5000}};
      spec.tcp_flags = kTcpSyn;
      spec.payload_bytes = 0;
      send(bytes_of(spec));
    }
  }

  void inject(std::uint32_t copies) {
    const Bytes frame = frames_.next(in_, now_);
    for (; copies > 0; --copies) send(frame);
  }

  void send(const Bytes& frame) {
    Packet* packet = pool_.packet_of(frame, false);
    if (packet == nullptr) return;
    ++injected_;
    hand_over(packet, now_);
  }

  void check() const {
    const GeneratorReport r = generator_.report(now_);
    FUZZ_REQUIRE(r.ledger_balanced);
    std::uint64_t on_links = 0;
    for (const auto& link : links_) on_links += link->resident();
    const StreamsReport streams = streams_.report();
    FUZZ_REQUIRE(balanced(streams));
    FUZZ_REQUIRE(streams.ends.arrived == taken_);
    const HostCounters& open = open_.counters();
    FUZZ_REQUIRE(open.received ==
                 open.to_connections + open.signals_taken + open.datagrams_taken + sum(open.drops));
    FUZZ_REQUIRE(r.sent + open.sent + streams.streams[0].sent + injected_ ==
                 r.received + open.received + taken_ + gone_ + on_links);
    FUZZ_REQUIRE(r.received == r.consumed + sum(r.drops));
    FUZZ_REQUIRE(pool_.in_use() == on_links - links_[kStreamLink]->resident());
    // Each answer to a START needs a START.
    FUZZ_REQUIRE(r.acks_sent <= r.received);
  }

  FuzzInput& in_;
  FuzzPool& pool_;
  EventLoop loop_;
  Generator generator_;
  VirtualStreams streams_;
  TransportMemory memory_{{.flights = 64, .segments = 1024, .disorders = 64}};
  OpenServer server_;
  Host open_;
  Network network_;
  std::vector<std::unique_ptr<Link>> links_;
  FuzzFrames frames_{kAddresses, kTcpPorts};
  std::uint64_t injected_ = 0, gone_ = 0, passed_ = 0, taken_ = 0;
  std::uint32_t lose_ = 0;  ///< one of so many packets is lost; 0: none
  Time now_{};
};

}  // namespace

void run(FuzzInput in) {
  run_in_pool<HostRun>(in, config_from(in));
  FUZZ_REQUIRE(FuzzPool::second().in_use() == 0);
}

}  // namespace outrider::fuzz
