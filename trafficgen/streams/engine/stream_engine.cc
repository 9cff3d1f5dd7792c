#include "trafficgen/streams/engine/stream_engine.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "trafficgen/streams/engine/sender_report.h"

namespace outrider::tg {
namespace {

std::optional<std::size_t> index_of(const std::vector<StreamDevice>& devices,
                                    const std::string& name) {
  const auto found = std::ranges::find(devices, name, &StreamDevice::name);
  if (found == devices.end()) return std::nullopt;
  return static_cast<std::size_t>(found - devices.begin());
}

void fill_received_counts(StreamReceivedCounts& r, const StreamReceiveCounters& c) noexcept {
  r.received = c.taken;
  r.distinct = c.distinct;
  r.lost = c.missing();
  r.reordered = c.reordered;
  r.duplicated = c.duplicated;
  r.beyond_window = c.beyond_window;
  r.max_reorder_extent = c.max_extent;
  r.ce_marked = c.ce_marked;
  r.received_frame_bytes = c.frame_bytes;
}

void fill_received(StreamReport& r, const StreamReceiver& receiver, std::size_t stream) {
  const StreamReceiveCounters& c = receiver.counters(stream);
  fill_received_counts(r, c);
  r.receives = true;
  if (r.sends) r.lost = r.sent > c.distinct ? r.sent - c.distinct : 0;
  r.latency_ns = receiver.latency(stream);
  r.samples_kept = receiver.samples(stream).size();
  r.samples_not_kept = c.samples_not_kept;
  if (const HopTracker* hops = receiver.hops(stream)) r.hops = hops->report();
}

void add_ends(StreamEndsReport& ends, const StreamReceiver& receiver) noexcept {
  ends.arrived += receiver.arrived();
  ends.taken += receiver.ended(StreamEnd::kTaken);
  ends.foreign += receiver.ended(StreamEnd::kForeign);
  ends.truncated += receiver.ended(StreamEnd::kTruncated);
  ends.bad_checksum += receiver.ended(StreamEnd::kBadChecksum);
  ends.unknown_flow += receiver.ended(StreamEnd::kUnknownFlow);
  ends.wrong_flow += receiver.ended(StreamEnd::kWrongFlow);
  ends.bad_stamp += receiver.ended(StreamEnd::kBadStamp);
}

std::uint32_t longest(const StreamConfig& s) { return std::ranges::max(size_order(s).sizes); }

/// Returns the L1 rate [bit/s] while the stream sends the frames that use most of it.
double peak_wire_rate(const StreamConfig& s, BitRate line_rate) {
  const double value = static_cast<double>(s.rate->value);
  if (s.rate->unit == StreamRate::Unit::kPackets) return value * 8 * (longest(s) + kL1OverFcsBytes);
  if (s.rate->unit == StreamRate::Unit::kShare)
    return value * 1e-6 * static_cast<double>(line_rate.bits_per_second);
  if (s.layer == RateLayer::kL1) return value;
  const double shortest = std::ranges::min(size_order(s).sizes);
  return value * (shortest + kL1OverFcsBytes) / shortest;
}

double mean_wire_rate(const StreamConfig& s, BitRate line_rate) {
  const StreamSchedule schedule({.stream = s, .line_rate = line_rate});
  return 8 * schedule.packets_per_second() * (schedule.mean_frame_bytes() + kL1OverFcsBytes);
}

}  // namespace

StreamEngine::StreamEngine(const Setup& setup, rte_mempool& pool)
    : streams_(setup.streams),
      sending_of_(streams_.size(), kNone),
      received_of_(streams_.size(), kNone) {
  std::vector<StreamReceiver::Expected> expected;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (!setup.own.empty() && std::ranges::find(setup.own, i) == setup.own.end()) continue;
    const StreamConfig& s = streams_[i];
    auto flows = std::make_shared<const StreamFlows>(s);
    if (!s.receive_device.empty()) {
      expected.push_back({id_of(s, i), flows, !s.device.empty(), s.latency_samples, s.hops != 0});
      received_of_[i] = static_cast<std::uint16_t>(received_.size());
      received_.push_back(i);
      const auto device = *index_of(setup.devices, s.receive_device);
      if (std::ranges::find(receive_devices_, device) == receive_devices_.end())
        receive_devices_.push_back(device);
    }
    if (!s.device.empty()) add_sender(setup, i, std::move(flows), pool);
  }
  for (const PauseConfig& pause : setup.pauses) {
    const auto device = *index_of(setup.devices, pause.device);
    pausing_.push_back(
        {device, std::make_unique<PauseSender>(pause, setup.devices[device].line_rate, pool)});
  }
  receiver_ = StreamReceiver(expected, setup.ticks_per_second);
}

StreamConfig until_end(const StreamEngine::Setup& setup, std::size_t index) {
  StreamConfig stream = setup.streams[index];
  if (!setup.duration) return stream;
  const Duration left =
      std::max(*setup.duration - stream.start.value_or(Duration::zero()), Duration::zero());
  stream.duration = stream.duration ? std::min(*stream.duration, left) : left;
  return stream;
}

BitRate line_rate_of(const StreamEngine::Setup& setup, std::size_t index) {
  return setup.devices[*index_of(setup.devices, setup.streams[index].device)].line_rate;
}

void StreamEngine::add_sender(const Setup& setup, std::size_t index,
                              std::shared_ptr<const StreamFlows> flows, rte_mempool& pool) {
  const StreamConfig stream = until_end(setup, index);
  const std::uint32_t id = id_of(stream, index);
  const StreamSchedule::Setup schedule{
      .stream = stream, .line_rate = line_rate_of(setup, index), .seed = setup.seed, .index = id};
  sending_of_[index] = static_cast<std::uint16_t>(sending_.size());
  sending_.push_back(
      {index, *index_of(setup.devices, stream.device),
       std::make_unique<StreamSender>(stream, id, std::move(flows), schedule, pool)});
}

bool StreamEngine::done(Time now) const noexcept {
  return std::ranges::all_of(sending_, [now](const Sending& s) { return s.sender->over(now); }) &&
         std::ranges::all_of(pausing_, [](const Pausing& p) { return p.sender->done(); });
}

void StreamEngine::obey(StreamOrder& order, Time now) noexcept {
  using Kind = StreamOrder::Kind;
  Sending& s = sending_[sending_of_[order.stream]];
  StreamSchedule& schedule = s.sender->schedule();
  order.outcome = StreamOrder::Outcome::kEnded;
  if (finished_ || schedule.over(now)) return;
  order.outcome = StreamOrder::Outcome::kAlready;
  if (order.kind == Kind::kRate) {
    schedule.exchange_rate(*order.schedule, now);
    ++s.rate_changes;
  } else if (schedule.stopped() == (order.kind == Kind::kStop)) {
    return;
  } else if (order.kind == Kind::kStop) {
    schedule.stop();
    ++s.stops;
  } else {
    schedule.begin(now);
    ++s.starts;
  }
  order.outcome = StreamOrder::Outcome::kDone;
}

void StreamEngine::fill_counts_of(StreamSentCounts& r, const Sending& s) noexcept {
  fill_counts(r, *s.sender);
  r.stops = s.stops;
  r.starts = s.starts;
  r.rate_changes = s.rate_changes;
}

StreamSnapshot StreamEngine::snapshot(std::size_t stream, Time now) const noexcept {
  using Sender = StreamSnapshot::Sender;
  StreamSnapshot taken;
  if (const std::uint16_t at = sending_of_[stream]; at != kNone) {
    const Sending& s = sending_[at];
    fill_counts_of(taken.sent, s);
    if (finished_ || s.sender->over(now)) taken.sender = Sender::kEnded;
    else if (s.sender->schedule().stopped()) taken.sender = Sender::kStopped;
  }
  if (const std::uint16_t at = received_of_[stream]; at != kNone)
    fill_received_counts(taken.received, receiver_.counters(at));
  return taken;
}

Time StreamEngine::next() const noexcept {
  Time next = kNever;
  for (const Sending& s : sending_) next = std::min(next, s.sender->next());
  for (const Pausing& p : pausing_) next = std::min(next, p.sender->next());
  return next;
}

void StreamEngine::finish() noexcept {
  for (Sending& s : sending_) s.sender->finish();
  for (Pausing& p : pausing_) p.sender->finish();
  finished_ = true;
}

void StreamEngine::add_to(TrafficLive& live) const noexcept {
  for (const Sending& s : sending_) {
    live.add_sent(s.device, s.sender->counters().sent, s.sender->counters().frame_bytes);
  }
  for (std::size_t i = 0; i < received_.size(); ++i) {
    live.stream_received += receiver_.counters(i).taken;
    live.received_bytes += receiver_.counters(i).frame_bytes;
    live.stream_lost += receiver_.counters(i).missing();
  }
  live.received += receiver_.arrived();
  live.consumed += receiver_.ended(StreamEnd::kTaken);
  add_ends(live.stream_ends, receiver_);
  for (const Pausing& p : pausing_) live.stream_pauses.pause_frames += p.sender->counters().sent;
}

template <class Act>
void StreamEngine::for_received(std::span<const StreamEngine* const> parts, Act act) {
  for (std::size_t stream = 0; stream < parts.front()->streams_.size(); ++stream)
    for (const StreamEngine* part : parts)
      if (const std::uint16_t r = part->received_of_[stream]; r != kNone) act(*part, r);
}

StreamsReport StreamEngine::report() const {
  const std::array parts{this};
  return report(parts);
}

StreamsReport StreamEngine::report(std::span<const StreamEngine* const> parts) {
  const std::vector<StreamConfig>& streams = parts.front()->streams_;
  StreamsReport report;
  report.streams.resize(streams.size());
  for (std::size_t i = 0; i < streams.size(); ++i) {
    StreamReport& r = report.streams[i];
    r.name = streams[i].name;
    r.id = id_of(streams[i], i);
    r.layer = streams[i].layer == RateLayer::kL1 ? "l1" : "l2";
    r.flows = streams[i].flows;
  }
  for (const StreamEngine* part : parts) {
    for (const Sending& s : part->sending_) {
      fill_sent(report.streams[s.stream], *s.sender, streams[s.stream].layer);
      fill_counts_of(report.streams[s.stream], s);
    }
    for (const Pausing& p : part->pausing_) report.pauses.pause_frames += p.sender->counters().sent;
    add_ends(report.ends, part->receiver_);
  }
  for_received(parts, [&](const StreamEngine& engine, std::size_t r) {
    fill_received(report.streams[engine.received_[r]], engine.receiver_, r);
  });
  return report;
}

std::string StreamEngine::samples_csv(std::span<const StreamEngine* const> parts) {
  std::string text = "stream,sample,latency_ns,ce\n";
  for_received(parts, [&](const StreamEngine& engine, std::size_t r) {
    std::uint64_t number = 0;
    for (const StreamSample& sample : engine.receiver_.samples(r))
      text += engine.streams_[engine.received_[r]].name + ',' + std::to_string(number++) + ',' +
              std::to_string(sample.latency_ns) + (sample.ce ? ",1\n" : ",0\n");
  });
  return text;
}

std::string StreamEngine::hops_csv(std::span<const StreamEngine* const> parts) {
  std::string text =
      "stream,flow,sequence,latency_ns,hop,switch,port,queue,sojourn_ns,left_packets,left_bytes\n";
  for_received(parts, [&](const StreamEngine& engine, std::size_t r) {
    if (const HopTracker* hops = engine.receiver_.hops(r))
      text += hops->csv_lines(engine.streams_[engine.received_[r]].name);
  });
  return text;
}

void check_line_rates(const Checks& root, const std::vector<StreamConfig>& streams,
                      const std::vector<StreamDevice>& devices) {
  constexpr double kRounding = 1 + 1e-9;
  constexpr std::uint64_t kShareOfAll = 1'000'000;  ///< shares are millionths
  std::vector<double> sums(devices.size());
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const StreamConfig& s = streams[i];
    const auto device = index_of(devices, s.device);
    if (!device || !s.rate || s.rate->value == 0) continue;
    const auto at = root.below("stream", i);
    const BitRate line = devices[*device].line_rate;
    const auto shown = Checks::quoted(format_stream_rate(*s.rate));
    if (line.bits_per_second == 0) {
      at.require(s.rate->unit != StreamRate::Unit::kShare, "rate", shown,
                 "needs line_rate of device \"" + s.device + "\", which has no link of its own");
      continue;
    }
    if (!at.require(s.rate->unit != StreamRate::Unit::kShare ||
                        s.rate->value * line.bits_per_second >= kShareOfAll,
                    "rate", shown, "of " + format_rate(line) + " is less than 1bit a second"))
      continue;
    const double limit = static_cast<double>(line.bits_per_second) * kRounding;
    const std::string rule =
        "is beyond the line rate of device \"" + s.device + "\", " + format_rate(line) + " at L1";
    if (!at.require(peak_wire_rate(s, line) <= limit, "rate", shown, rule)) continue;
    sums[*device] += mean_wire_rate(s, line);
    at.require(sums[*device] <= limit, "rate", shown,
               "together with the streams before it " + rule);
  }
}

std::uint32_t stream_mbufs(const std::vector<StreamConfig>& streams, std::uint64_t descriptors) {
  constexpr std::uint64_t kPoolCache = 512;
  const std::uint64_t mbufs = descriptors + streams.size() * 2 * kBatchPackets + 2 * kPoolCache;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(mbufs, std::numeric_limits<std::uint32_t>::max()));
}

std::uint32_t longest_stream_frame(const std::vector<StreamConfig>& streams) {
  std::uint32_t bytes = kMinStreamFrameBytes;
  for (const auto& s : streams) bytes = std::max(bytes, longest(s));
  return bytes;
}

}  // namespace outrider::tg
