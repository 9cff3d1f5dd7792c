// A whole switch in virtual time: frames that strangers make, at any port and instant, while its
// policy is reloaded and buffers run out; some switches have lossless classes, and strangers pause
// them. Whatever comes, its ledger balances, every packet leaves or has a named end, every buffer
// comes back, no queue is regulated for longer than its share, no pause frame is forwarded, and
// nothing behind the end of a frame is read.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "common/runtime/link.h"
#include "switch/report/snapshots.h"
#include "switch/runtime/reload_plan.h"
#include "switch/runtime/switch.h"
#include "tests/fuzz/fuzz_frames.h"
#include "tests/fuzz/fuzz_main.h"
#include "tests/fuzz/fuzz_pool.h"

namespace outrider::fuzz {
using namespace sw;
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::uint32_t kPorts = 4;
constexpr std::array<std::uint32_t, 8> kAddresses{
    0x0A000101, 0x0A000102, 0x0A000201, 0x0A000301,   // workers, background, the server
    0x0A000302, 0x0A000901, 0x0A0003FE, 0x0B000001};  // a stranger, the switch, no route
constexpr std::array<std::uint16_t, 6> kTcpPorts{5000, 40'000, 5001, 20'000, 5900, kProbePort};

RegulationPolicy policy_from(FuzzInput& in) {
  using enum RegulationMode;
  RegulationPolicy p;
  const std::uint16_t bits = in.take<std::uint16_t>();
  p.mode = std::array{kMark, kPace, kMarkPace, kWindow, kMarkWindow, kOff}[bits % 6];
  p.recovery = static_cast<Recovery>((bits >> 3) % 3);
  if (holds_windows(p.mode) && p.recovery == Recovery::kArrival) p.recovery = Recovery::kBurstEnd;
  p.spare_ddl = (bits & 32) != 0;
  p.hold = p.idle_end = milliseconds(1 + in.byte() % 16);
  p.expiry = p.idle_end + milliseconds(in.byte() % 64);
  p.budget_share = (1 + in.byte() % 8) / 8.0;
  p.budget_window = milliseconds(4 + in.byte());
  p.max_entries = 2U << (bits >> 6) % 5;  // a signer has one
  p.composition = static_cast<Composition>((bits >> 9) % 3);
  p.window.rule = (bits & 2048) != 0 ? WindowRule::kStrict : WindowRule::kComplement;
  p.window.max_flows = 1 + (bits >> 12) % 4U;
  if ((bits & 0x4000) != 0) p.lead = milliseconds(in.byte() % 8);
  if ((bits & 0x8000) == 0 || p.mode == kOff) return p;
  p.lead = milliseconds(4);
  p.predict = {.from = in.byte() % 2 != 0 ? PredictFrom::kTraffic : PredictFrom::kSignals,
               .idle_gap = milliseconds(2),
               .max_jobs = 1 + in.byte() % 4U};
  return p;
}

SwitchPortConfig port_from(FuzzInput& in, const char* name) {
  SwitchPortConfig port;
  port.name = name;
  port.device = "device";
  port.drain_rate = BitRate{(1 + in.byte() % 16U) * 10'000'000ULL};
  const std::uint8_t bits = in.byte();
  PortQueueConfig queue;
  queue.queue.limit_packets = 2 + bits % 64U;
  queue.marker.kind = static_cast<MarkerKind>((bits >> 2) % 6);
  queue.marker.threshold_packets = 1;
  queue.marker.red.kmin_packets = 1;
  queue.marker.red.kmax_packets = 2;
  queue.regulation = policy_from(in);
  if ((bits & 128) != 0) {
    port.queues = {queue, queue};
    port.scheduler = static_cast<SchedulerKind>(bits % 3);
    return port;
  }
  port.queue = queue.queue;
  port.marker = queue.marker;
  port.regulation = queue.regulation;
  return port;
}

SignalConfig signals_from(FuzzInput& in) {
  SignalConfig c;
  const std::uint8_t bits = in.byte();
  c.accept_tos = c.accept_udp = true;
  c.accept_from = {"10.0.1.0/24"};
  if ((bits & 1) != 0) c.accept_from = {"0.0.0.0/0"};
  c.tokens_per_second = 1000;
  c.token_burst = 1 + bits / 8;
  c.due_limit = milliseconds(50);
  if ((bits & 4) == 0) return c;
  c.require_signed = (bits & 2) != 0;
  c.signers.push_back({.name = "signer",
                       .keys = {"signer.key"},
                       .accept_from = {"10.0.0.0/16"},
                       .budget_share = 0.0625,
                       .max_entries = 1,
                       .read_keys = {{.key = kSignalKey}}});
  return c;
}

/// Makes the first queue of some ports lossless, with little room.
void make_lossless(FuzzInput& in, SwitchConfig& s) {
  const std::uint8_t which = in.byte();
  LosslessConfig how;
  how.headroom_bytes = in.byte() * std::uint64_t{64};
  how.pause_quanta = std::max(kLeastPauseQuanta, in.take<std::uint16_t>());
  const std::uint8_t threshold = in.byte(), below = in.byte();
  if ((which & 16) != 0) {
    how.xoff_alpha = 0.25 * (1 + threshold % 16);
    if (below != 0) how.xon_offset_bytes = below * std::uint64_t{32};
    if (!s.buffer.total_bytes) s.buffer.total_bytes = 65'536;
  } else {
    how.xoff_bytes = 1 + threshold * std::uint64_t{64};
    if (below != 0) how.xon_bytes = how.xoff_bytes * below / 256;
  }
  if ((which & 32) != 0) how.watchdog = milliseconds(1 + in.byte());
  const auto first_queue = [](SwitchPortConfig& port) -> QueueConfig& {
    return port.queues.empty() ? port.queue : port.queues[0].queue;
  };
  for (std::size_t p = 0; p < kPorts; ++p)
    if ((which >> p & 1) != 0) first_queue(s.ports[p]).lossless = how;
  if (s.buffer.total_bytes) *s.buffer.total_bytes += lossless_own_bytes(s);
  // Full frames fit; smaller packets may still fill a queue.
  const auto full = static_cast<std::uint32_t>(lossless_room_bytes(s, 0) / kFullFrameBytes + 1);
  for (auto& port : s.ports)
    first_queue(port).limit_packets = std::max(first_queue(port).limit_packets, full);
}

SwitchProcessConfig config_from(FuzzInput& in) {
  SwitchProcessConfig c;
  c.devices.push_back({.name = "device", .device = "net_null0"});
  SwitchConfig& s = c.switches.emplace_back();
  s.name = "switch";
  for (const char* name : {"workers", "others", "server", "stranger"})
    s.ports.push_back(port_from(in, name));
  s.routes = {{"10.0.1.0/24", "workers"}, {"10.0.2.0/24", "others"}, {"10.0.9.0/24", "stranger"}};
  const std::uint8_t bits = in.byte();
  if ((bits & 1) != 0) s.routes.push_back({.prefix = "10.0.3.0/24", .ports = {"server", "others"}});
  else s.routes.push_back({"10.0.3.0/24", "server"});
  s.routes.back().spray = (bits & 3) == 3;
  if ((bits & 33) == 33 && !s.routes.back().spray) s.routes.back().flowlet_gap = microseconds(50);
  s.routes.push_back({"2001:db8::/32", "server"});
  s.addresses = {{.address = "10.0.3.254", .port = {}}};
  s.mac = "02:00:00:00:00:fe";
  s.l2 = {.learning = (bits & 4) != 0, .ageing = milliseconds(20), .max_entries = 4};
  if ((bits & 8) != 0) s.buffer.total_bytes = 65'536;
  if ((bits & 16) != 0) s.classes.learned_flows = 2;
  s.hop_records = {.udp_port = kProbePort, .id = {}, .roce = true};
  s.signals = signals_from(in);
  for (auto& port : s.ports) {
    port.record = (bits & 32) != 0;
    port.loss = (bits & 64) != 0 ? 0.25 : 0;
  }
  if ((bits & 128) != 0) make_lossless(in, s);
  return c;
}

/// A run of one input, which ends when nothing is on its way any more.
class SwitchRun {
 public:
  SwitchRun(FuzzInput& in, FuzzPool& pool, const SwitchProcessConfig& config)
      : in_(in),
        pool_(pool),
        config_(config),
        switch_(config_.switches[0], loop_,
                {.tap = {.bursts = 4, .bins = 16, .bin = milliseconds(1)}}),
        lossless_(has_lossless(config.switches[0])) {
    for (std::uint32_t p = 0; p < kPorts; ++p) {
      links_.push_back(std::make_unique<Link>(loop_, microseconds(10), exit_, p));
      switch_.port(p).transmitter().output().connect(*links_.back());
      for (const auto& queue : queues_of(config.switches[0].ports[p]))
        cap_.push_back({queue_share_of(queue.regulation), queue.regulation.budget_window});
    }
  }
  ~SwitchRun() {
    switch_.flush();
    for (auto& link : links_) link->flush();
    for (Packet* packet : drained_) release(packet);
    pool_.unguard();
  }

  void run() {
    while (!in_.empty()) step(in_.byte());
    if (lossless_) drain(kNone);  // without a buffer a port tries again every 10 us
    wait(std::chrono::seconds(10));
    settle();
  }

 private:
  static constexpr std::uint8_t kNone = 255;

  /// Returns whether a frame is one that pauses priorities, without the code under test.
  static bool is_pause(std::span<const std::uint8_t> frame) {
    constexpr std::array<std::uint8_t, 6> kTo{1, 0x80, 0xC2, 0, 0, 1};
    constexpr std::array<std::uint8_t, 4> kPfc{0x88, 0x08, 1, 1};
    return frame.size() >= 34 && std::ranges::equal(frame.first(6), kTo) &&
           std::ranges::equal(frame.subspan(12, 4), kPfc);
  }
  /// Counts what leaves.
  struct Exit final : Node {
    void receive(std::uint32_t, Packet* packet, Time) noexcept override {
      ++left;
      pauses_left += is_pause(buffer(*packet));
      release(packet);
    }
    std::uint64_t left = 0, pauses_left = 0;
  };
  struct Cap {
    double share = 1;
    Duration window{};
  };

  void wait(Duration d) {
    now_ += d;
    loop_.run_until(now_);
  }

  void step(std::uint8_t what) {
    const std::uint32_t port = (what >> 4) % kPorts;
    switch (what % 16) {
      case 0:
        return reload();
      case 1:
        return checks_++ < 8 ? static_cast<void>(check()) : void();
      case 2:
        return drain(in_.byte());
      case 3:
        return wait(milliseconds(in_.byte()));
      case 4:
      case 5:
        return wait(microseconds(in_.byte()));
      case 6:
      case 7:
        return inject(port, 1 + in_.byte() % 32U);
      case 8:
      case 9:
        if (lossless_) return inject(port, 1, FuzzFrames::pause(in_));
        [[fallthrough]];
      default:
        return inject(port, 1);
    }
  }

  void inject(std::uint32_t port, std::uint32_t copies) {
    inject(port, copies, frames_.next(in_, now_));
  }

  void inject(std::uint32_t port, std::uint32_t copies, const Bytes& frame) {
    // A switch that makes packets of its own may write where a guarded frame ended.
    const bool makes_packets = config_.switches[0].l2.learning || lossless_;
    for (; copies > 0; --copies) {
      Packet* packet = pool_.packet_of(frame, !makes_packets);
      if (packet == nullptr) return;
      ++injected_;
      pauses_in_ += lossless_ && is_pause(frame);
      switch_.receive(port, packet, now_);
    }
  }

  /// Leaves that many buffers, or gives all back.
  void drain(std::uint8_t leave) {
    for (Packet* packet : drained_) release(packet);
    drained_.clear();
    if (leave >= 64) return;
    while (rte_mempool_avail_count(&pool_.mempool()) > leave)
      drained_.push_back(rte_pktmbuf_alloc(&pool_.mempool()));
  }

  void reload() {
    if (reloads_++ >= 4) return;  // they take most of the time
    SwitchProcessConfig wanted = config_;
    RegulationPolicy& policy = wanted.switches[0].ports[in_.byte() % kPorts].regulation;
    const std::uint8_t bits = in_.byte();
    if (!holds_windows(policy.mode)) policy.mode = static_cast<RegulationMode>(bits % 4);
    policy.recovery = (bits & 4) != 0 ? Recovery::kTimer : Recovery::kBurstEnd;
    policy.expiry = milliseconds(1 + bits / 8);
    policy.max_threshold_packets = 1 + bits / 4;
    wanted.switches[0].signals.require_signed ^= (bits & 64) != 0;
    if (!validate(wanted).empty() || !plan_reload(config_, wanted, 1U << 20).refused.empty())
      return;
    auto change = switch_.prepare(config_.switches[0], wanted.switches[0]);
    switch_.apply(change, now_);
    switch_.retire(change);
    config_ = wanted;
  }

  SwitchReport check() {
    SwitchReport r;
    r.ledger_balanced = true;
    switch_.fill(r, now_);
    FUZZ_REQUIRE(r.ledger_balanced && r.received == injected_);
    std::uint64_t on_links = 0;
    for (const auto& link : links_) on_links += link->resident();
    FUZZ_REQUIRE(r.received + r.copied + r.pause_frames ==
                 exit_.left + on_links + sum(r.drops) + r.pauses_taken + r.resident);
    check_pauses(r);
    // What is resident is one packet for each: those in service count as sent.
    FUZZ_REQUIRE(pool_.in_use() == on_links + r.resident + drained_.size());
    for (std::size_t q = 0; q < r.queues.size(); ++q) {
      const Cap& cap = cap_[q];
      const auto windows = 1 + now_.time_since_epoch() / cap.window;
      const double most = cap.share * static_cast<double>(cap.window.count() * windows);
      FUZZ_REQUIRE(static_cast<double>(r.queues[q].regulated_ns) <=
                   most + static_cast<double>(windows));
      FUZZ_REQUIRE(r.queues[q].regulated_ns <= now_.time_since_epoch().count());
    }
    return r;
  }

  void check_pauses(const SwitchReport& r) const {
    FUZZ_REQUIRE(r.pauses_taken == pauses_in_);
    FUZZ_REQUIRE(exit_.pauses_left <= r.pause_frames);
    std::uint64_t told = 0;
    for (const auto& queue : r.queues) {
      const PauseCounters& c = queue.pause;
      told += c.pauses_sent + c.resumes_sent;
      FUZZ_REQUIRE(c.held_bytes <= c.most_held_bytes);
      FUZZ_REQUIRE(c.pauses_received + c.resumes_received <= r.pauses_taken);
      FUZZ_REQUIRE(c.watchdog_releases <= c.pauses_received);
      FUZZ_REQUIRE(c.paused_ns <= static_cast<std::uint64_t>(now_.time_since_epoch().count()));
    }
    // A frame tells of the lossless queue of its port, and there is one.
    FUZZ_REQUIRE(told == r.pause_frames);
    FUZZ_REQUIRE(lossless_ || r.pause_frames == 0);
  }

  /// Ten seconds after the last frame nothing waits and nothing is regulated.
  void settle() {
    for (std::uint32_t p = 0; p < kPorts; ++p) {
      PortCells cells(switch_.port(p).queues().size());
      for (int packet = 0; packet < 4; ++packet) publish_counts(switch_.port(p), cells, now_);
    }
    const SwitchReport r = check();
    FUZZ_REQUIRE(r.resident == 0 && pool_.in_use() == drained_.size());
    for (const auto& queue : r.queues) FUZZ_REQUIRE(queue.pause.held_bytes == 0);
    for (const auto& queue : r.queues)
      FUZZ_REQUIRE(queue.entries_left == 0 && queue.held_packets == 0 && queue.resident_bytes == 0);
  }

  FuzzInput& in_;
  FuzzPool& pool_;
  SwitchProcessConfig config_;
  EventLoop loop_;
  Exit exit_;
  Switch switch_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<Cap> cap_;  ///< [queues], in the order of reports
  FuzzFrames frames_{kAddresses, kTcpPorts};
  std::vector<Packet*> drained_;
  bool lossless_;
  std::uint64_t injected_ = 0, pauses_in_ = 0;
  std::uint32_t checks_ = 0, reloads_ = 0;
  Time now_{};
};

}  // namespace

void run(FuzzInput in) { run_in_pool<SwitchRun>(in, config_from(in)); }

}  // namespace outrider::fuzz
