// Hosts with everything on, in virtual time: a job with signals of either form over TCP or over
// the transport with bounded loss, a long flow and a transfer with a peer outside. Between them is
// a wire that loses what the input says, and a stranger who sends frames that fit what it has
// heard. Whatever comes, the ledger balances, every buffer comes back, and what hosts answer is
// bounded.
#include <chrono>
#include <memory>
#include <vector>

#include "common/runtime/link.h"
#include "tests/fuzz/fuzz_frames.h"
#include "tests/fuzz/fuzz_pool.h"
#include "trafficgen/apps/generator.h"

namespace outrider::fuzz {
using namespace tg;
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::uint32_t kWorker = 0x0A000101, kServer = 0x0A000301, kPeer = 0x0A000901;
constexpr std::array<std::uint32_t, 4> kAddresses{kWorker, kServer, kPeer, 0x0B000001};
constexpr std::array<std::uint16_t, 6> kTcpPorts{5000, 20'000, 30'000, 32'768, 40'000, 5900};

GeneratorConfig config_from(FuzzInput& in) {
  GeneratorConfig g;
  const std::uint16_t bits = in.take<std::uint16_t>();
  g.seed = 1 + in.byte();
  g.devices = {{.name = "device", .device = "net_null0"}};
  const BitRate rate{100'000'000};
  g.hosts = {{.name = "worker", .address = "10.0.1.1", .device = "device", .rate = rate},
             {.name = "server", .address = "10.0.3.1", .device = "device", .rate = rate}};
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
  return g;
}

class HostRun {
 public:
  HostRun(FuzzInput& in, FuzzPool& pool, const GeneratorConfig& config)
      : in_(in),
        pool_(pool),
        generator_(config, loop_, pool.mempool(),
                   {.full_payload = false, .signal_keys = {{"signal.key", kSignalKey}}}),
        network_(*this) {
    for (std::uint32_t h = 0; h < 2; ++h) {
      links_.push_back(std::make_unique<Link>(loop_, microseconds(50), network_, h));
      generator_.connect(h, *links_.back());
    }
    generator_.start(now_);
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
        return check();
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
    if (lost || (a.flow.destination_address != kWorker && a.flow.destination_address != kServer)) {
      ++gone_;
      return release(packet);
    }
    generator_.receive_from_device(0, packet, now);
  }

  void inject(std::uint32_t copies) {
    const Bytes frame = frames_.next(in_, now_);
    for (; copies > 0; --copies) {
      Packet* packet = pool_.packet_of(frame, false);
      if (packet == nullptr) return;
      ++injected_;
      generator_.receive_from_device(0, packet, now_);
    }
  }

  void check() const {
    const GeneratorReport r = generator_.report(now_);
    FUZZ_REQUIRE(r.ledger_balanced);
    std::uint64_t on_links = 0;
    for (const auto& link : links_) on_links += link->resident();
    FUZZ_REQUIRE(r.sent + injected_ == r.received + gone_ + on_links);
    FUZZ_REQUIRE(r.received == r.consumed + sum(r.drops));
    FUZZ_REQUIRE(pool_.in_use() == on_links);
    // Each answer to a START needs a START.
    FUZZ_REQUIRE(r.acks_sent <= r.received);
  }

  FuzzInput& in_;
  FuzzPool& pool_;
  EventLoop loop_;
  Generator generator_;
  Network network_;
  std::vector<std::unique_ptr<Link>> links_;
  FuzzFrames frames_{kAddresses, kTcpPorts};
  std::uint64_t injected_ = 0, gone_ = 0, passed_ = 0;
  std::uint32_t lose_ = 0;  ///< one of so many packets is lost; 0: none
  Time now_{};
};

void run(FuzzInput in) {
  const GeneratorConfig config = config_from(in);
  FUZZ_REQUIRE(validate(config).empty());
  FuzzPool& pool = FuzzPool::get();
  HostRun(in, pool, config).run();
  FUZZ_REQUIRE(pool.in_use() == 0);
}

}  // namespace
}  // namespace outrider::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  outrider::fuzz::run({data, size});
  return 0;
}
