#include "tools/lab/advise/cluster_experiment.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "common/config/choices.h"
#include "common/config/quantities.h"
#include "switch/config/queue_config.h"

namespace outrider::lab {
namespace {

constexpr std::uint32_t kFewestSenders = 3;  ///< of flows that come and go
constexpr int kWarmUp_rtts = 600;
constexpr int kStartSpread_rtts = 200;
/// The background is compared from the lead to here: nearly a period.
constexpr double kCostWindow_periods = 0.9;

/// A round trip whose parts are whole nanoseconds.
struct Delays {
  explicit Delays(Duration rtt) : host(rtt / 10), link(rtt / 2 - 2 * host) {}
  [[nodiscard]] Duration rtt() const { return 2 * (link + 2 * host); }

  Duration host;
  Duration link;
};

/// Returns the nearest smaller threshold that a START can carry, see can_encode_threshold().
std::uint64_t announced_h(std::uint64_t packets) {
  constexpr std::uint64_t kStep = 5, kMost = 75;
  return std::clamp(packets / kStep * kStep, kStep, kMost);
}

/// Collects the lines of a file.
class Lines {
 public:
  void add(const std::string& line) { text_ += line + '\n'; }
  void text(std::string_view key, const std::string& value) {
    add(std::string(key) + " = \"" + value + '"');
  }
  void number(std::string_view key, std::uint64_t value) {
    add(std::string(key) + " = " + std::to_string(value));
  }
  void number(std::string_view key, double value) {
    add(std::string(key) + " = " + std::to_string(value));
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_{};
};

/// Returns the word of a file for a value.
template <class E, std::size_t n>
std::string word(const std::array<Choice<E>, n>& words, E value) {
  return std::string(std::ranges::find(words, value, &Choice<E>::value)->name);
}

std::uint64_t frames_of(std::uint64_t bytes) {
  return std::max<std::uint64_t>(bytes / sw::kFullFrameBytes, 1);
}

std::uint32_t senders_of(const ClusterBackground& background) {
  return background.long_flows > 0 ? background.long_flows : kFewestSenders;
}

void add_hosts(Lines& out, const char* name, const std::string& count, const char* at,
               const ClusterNetwork& network, bool spread) {
  out.add("\n[[hosts]]");
  out.text("name", name);
  out.add("count = " + count);
  out.text("switch", at);
  out.text("rate", format_rate(network.rate));
  out.text("delay", format_duration(Delays(network.rtt).host));
  if (spread) out.number("delay_spread", 0.2);
}

void add_network(Lines& out, const Cluster& c) {
  const Delays delays(c.network.rtt);
  out.add("\n[network]");
  out.text("measured", "leaf_a.to_leaf_b");
  out.text("rtt", format_duration(delays.rtt()));
  for (const char* name : {"leaf_a", "leaf_b"}) {
    out.add("\n[[switch]]");
    out.text("name", name);
  }
  out.add("\n[[link]]");
  out.text("a", "leaf_a");
  out.text("b", "leaf_b");
  out.text("rate", format_rate(c.network.rate));
  out.text("delay", format_duration(delays.link));
  add_hosts(out, "worker", "\"workers\"", "leaf_a", c.network, false);
  add_hosts(out, "server", "\"servers\"", "leaf_b", c.network, false);
  const std::string senders = std::to_string(senders_of(c.background));
  add_hosts(out, "sender", senders, "leaf_a", c.network, true);
  add_hosts(out, "receiver", senders, "leaf_b", c.network, true);
  out.add("\n[background]");
  out.text("from", "sender");
  out.text("to", "receiver");
}

void add_queue(Lines& out, const ClusterNetwork& network) {
  const std::uint64_t room = frames_of(network.buffer_bytes);
  const std::uint64_t most = room - 1;  // a threshold is below the room
  const std::uint64_t mark = std::min(frames_of(mark_at(network)), most);
  const std::uint64_t h = announced_h(mark / 4);
  out.number("switch.queue.limit_packets", room);
  // At the end of the queue a threshold marks nothing but what is nearly lost: as good as none.
  out.number("switch.marker.threshold_packets", network.marks ? mark : most);
  out.number("switch.marker.red.kmin_packets", static_cast<double>(h));
  out.number("switch.marker.red.kmax_packets", static_cast<double>(mark + 1));
  out.number("h_packets", h);
}

void add_job(Lines& out, const ClusterJob& job) {
  out.number("workers", std::uint64_t{job.workers});
  out.number("servers", std::uint64_t{job.servers});
  if (!job.model.empty()) {
    out.text("model", job.model);
    out.text("schedule", "closed_loop");
    out.number("iterations", std::uint64_t{3});
    out.number("skip_iterations", std::uint64_t{1});
  } else {
    out.text("burst_bytes", std::to_string(*job.burst_bytes) + "B");
    out.number("period_seconds", seconds(*job.period));
    out.number("cost_window_seconds", kCostWindow_periods * seconds(*job.period));
    out.number("iterations", std::uint64_t{8});
    out.number("skip_iterations", std::uint64_t{2});
  }
  if (job.policy != tg::SendPolicyKind::kFifo)
    out.text("job.send_policy", word(tg::kSendPolicies, job.policy));
}

void add_background(Lines& out, const ClusterBackground& b) {
  out.number("background_flows_per_pair", std::uint64_t{b.long_flows > 0 ? 1U : 0U});
  if (b.load > 0) {
    out.number("background_load", b.load);
    out.text("background_sizes", b.sizes);
  }
  out.text("background.transport.controller", word(tg::kControllers, b.controller));
  if (!b.ecn) out.add("background.transport.ecn = false");
}

}  // namespace

std::string experiment_text(const Cluster& c, const ClusterQuestion& question,
                            const std::filesystem::path& conf) {
  Lines out;
  out.add("# Made by `outrider-lab advise`.");
  out.text("name", question.name);
  out.text("question", question.question);
  out.text("rivals", (conf / "remedies.toml").string());
  add_network(out, c);
  out.add("\n[parameters]");
  add_queue(out, c.network);
  add_job(out, c.job);
  out.text("transport.stack", "linux");
  out.text("transport.segment_bursts", "linux");
  out.text("transport.controller", word(tg::kControllers, c.job.controller));
  out.text("connection", "idle_restart");
  add_background(out, c.background);
  out.number("warm_up_seconds", kWarmUp_rtts * seconds(c.network.rtt));
  out.number("start_spread_seconds", kStartSpread_rtts * seconds(c.network.rtt));
  // `off` does not wait for its START either. Grants let a worker wait for its turn.
  out.text("signal_form", "udp");
  out.text("lead_source", "overlap");
  out.text("recovery", "burst_end");
  out.add("lead_rtts = 2");
  out.number("switch.regulation.budget_share", 1.0);
  out.text("job.announce.ack_timeout", "500ms");
  out.number("job.announce.repeats", std::uint64_t{4});
  out.text("job.announce.repeat_after", "4ms");
  for (const std::string& line : question.parameters) out.add(line);
  out.add("\n[[arm]]");
  out.text("label", "off");
  return out.take();
}

}  // namespace outrider::lab
