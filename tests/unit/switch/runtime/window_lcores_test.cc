// Goal: queues that hold windows work with several lcores as with one: an answer that leaves
// by another lcore's port has passed them first. Method: as in several_lcores_test.cc, with a
// literal timeline of three flows and one packet per poll, so that every lcore sees a packet at
// the same instant as a single lcore. The windows that answers carry are compared.
#include <map>

#include "switch/regulation/windows/window_counters.h"
#include "tests/unit/switch/runtime/lcores_bench.h"

namespace outrider::window_lcores_test {
using namespace sw;
namespace {

constexpr std::uint32_t kSegment = 1460;
constexpr std::uint16_t kTrueWindow = 32768;   // of 128 B: 4 MiB
constexpr std::uint32_t kServer = 0x0A000001;  // behind port 0; 10.0.<p>.2 behind port p

SwitchProcessConfig held_ports() {
  SwitchProcessConfig c = four_ports();
  SwitchConfig& sw = c.switches[0];
  sw.signals.accept_tos = true;
  sw.signals.accept_from = {"10.0.0.0/8"};
  for (auto& port : sw.ports) {
    port.drain_rate = BitRate{1'000'000'000};  // a segment in 12.3 us
    port.regulation = {.mode = RegulationMode::kWindow,
                       .recovery = Recovery::kBurstEnd,
                       .idle_end = 200us,
                       .expiry = 2ms};
    port.regulation.window.rule = WindowRule::kStrict;
  }
  return c;
}

struct Event {
  std::uint32_t port = 0;  ///< ingress port
  FrameSpec frame;
};
/// One packet per poll. If two fall on one poll, the later takes the next.
using Timeline = std::map<std::uint32_t, Event>;

void add(Timeline& t, std::uint32_t poll, std::uint32_t port, const FrameSpec& frame) {
  while (t.contains(poll)) ++poll;
  t.emplace(poll, Event{port, frame});
}

/// Adds a background flow from the server to port p: a handshake, then a segment every 12 us that
/// is acknowledged 60 us later. In the middle a burst is announced and arrives.
void add_flows_of(Timeline& t, std::uint32_t p) {
  const FlowKey data{kServer, 0x0A000002 + (p << 8), static_cast<std::uint16_t>(1000 + p), 80};
  const std::vector<std::uint8_t> scale{3, 3, 7, 0};
  add(t, 10 * p, 0, {.flow = data, .tcp_flags = kTcpSyn, .tcp_options = scale});
  add(t, 10 * p + 40, p,
      {.flow = data.reversed(),
       .acknowledgment = 1,
       .tcp_flags = kTcpSyn | kTcpAck,
       .tcp_options = scale});
  add(t, 10 * p + 60, 0, {.flow = data, .sequence = 1, .acknowledgment = 1});
  for (std::uint32_t i = 0; i < 300; ++i) {
    const std::uint32_t at = 200 + 12 * i + p;
    add(t, at, 0, {.flow = data, .sequence = 1 + i * kSegment, .payload_bytes = kSegment});
    add(t, at + 60, p,
        {.flow = data.reversed(), .acknowledgment = 1 + (i + 1) * kSegment, .window = kTrueWindow});
  }
  const FlowKey burst{kServer, data.destination_address, static_cast<std::uint16_t>(2000 + p),
                      5000};
  add(t, 1500 + p, 0, {.flow = burst, .tos = start_tos(10), .sequence = 1, .tcp_flags = 0});
  for (std::uint32_t i = 0; i < 60; ++i) {
    const std::uint32_t at = 1600 + 12 * i + p;
    add(t, at, 0, {.flow = burst, .sequence = 1 + i * kSegment, .payload_bytes = kSegment});
    add(t, at + 60, p, {.flow = burst.reversed(), .acknowledgment = 1 + (i + 1) * kSegment});
  }
}

struct Seen {
  /// Packets that left by port 0, by flow: acknowledgment number, window.
  std::map<std::uint16_t, std::vector<std::pair<std::uint32_t, std::uint16_t>>> told;
  /// Packets that left by the other ports, in order: port, flow, sequence.
  std::map<std::uint32_t, std::vector<std::pair<std::uint16_t, std::uint32_t>>> data;
  std::vector<WindowCounters> windows;  ///< [queues]
};

/// @param watcher  copies what leaves, if there is one
Seen run(std::uint32_t lcores, PortCapture* watcher = nullptr) {
  Timeline timeline;
  for (std::uint32_t p = 1; p < kPorts; ++p) add_flows_of(timeline, p);
  LcoresBench bench(held_ports(), lcores);
  if (watcher != nullptr) bench.capture(*watcher);
  Seen seen;
  for (std::uint32_t poll = 0; poll < timeline.rbegin()->first + 1000; ++poll) {
    if (const auto event = timeline.find(poll); event != timeline.end())
      bench.arrive(event->second.port, event->second.frame);
    bench.poll();
    bench.collect([&seen](const Arrival& a) {
      if (a.port == 0) seen.told[a.flow.destination_port].emplace_back(a.acknowledgment, a.window);
      else seen.data[a.port].emplace_back(a.flow.source_port, a.sequence);
    });
  }
  const SwitchReport report = bench.report();
  EXPECT_TRUE(report.ledger_balanced);
  EXPECT_EQ(report.transmitted, bench.arrived());
  for (const auto& queue : report.queues) seen.windows.push_back(queue.window);
  return seen;
}

TEST(WindowOnSeveralLcores, AnswersPassTheWindowsBeforeTheyGoToAnotherLcore) {
  const Seen one = run(1);
  ASSERT_EQ(one.windows.size(), kPorts);
  const auto answers = [&one](std::uint32_t p, WindowReason why) {
    return one.windows[p].answers[static_cast<std::size_t>(why)];
  };
  for (std::uint32_t p = 1; p < kPorts; ++p) {
    EXPECT_GT(answers(p, WindowReason::kHeld), 50U);
    EXPECT_GT(answers(p, WindowReason::kReleasing), 0U);
    EXPECT_GT(answers(p, WindowReason::kStanding), 50U);
    EXPECT_GT(one.windows[p].rewritten, 200U);
  }
  for (const std::uint32_t lcores : {2U, 3U, 4U}) {
    const Seen several = run(lcores);
    EXPECT_EQ(several.told, one.told) << lcores;
    EXPECT_EQ(several.data, one.data) << lcores;
    for (std::uint32_t p = 0; p < kPorts; ++p) {
      EXPECT_EQ(several.windows[p].answers, one.windows[p].answers) << lcores << " port " << p;
      EXPECT_EQ(several.windows[p].rewritten, one.windows[p].rewritten);
      EXPECT_EQ(several.windows[p].releases, one.windows[p].releases);
    }
  }
}

// With a capture a port does every check for every packet; without one it takes the short path.
// Both must hold windows equally, and see each packet once.
TEST(WindowOnSeveralLcores, APortHoldsWindowsAlikeWatchedOrNot) {
  PortCapture capture(64, 16);
  const Seen watched = run(1, &capture), unwatched = run(1);
  EXPECT_GT(capture.missed(), 0U) << "it was watched";
  EXPECT_EQ(watched.told, unwatched.told);
  EXPECT_EQ(watched.data, unwatched.data);
  for (std::uint32_t p = 0; p < kPorts; ++p) {
    const WindowCounters &a = watched.windows[p], &b = unwatched.windows[p];
    EXPECT_EQ(a.answers, b.answers) << p;
    EXPECT_EQ(a.rewritten, b.rewritten) << p;
    EXPECT_EQ(a.flows_added, b.flows_added) << p;
    EXPECT_EQ(a.segments_out_of_window, b.segments_out_of_window) << p;
    EXPECT_EQ(a.spared_marks, b.spared_marks) << p;
  }
}

}  // namespace
}  // namespace outrider::window_lcores_test
