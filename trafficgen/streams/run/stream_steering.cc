#include "trafficgen/streams/run/stream_steering.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

namespace outrider::tg {
namespace {

/// Checks the stream at `index` with its rate, alone and beside the others of its device.
/// @throws std::invalid_argument with the first rule that is broken
void require_rate(const StreamEngine::Setup& setup, std::size_t index) {
  ConfigIssues issues;
  const Checks root(issues);
  check(root.below("stream", index), setup.streams[index]);
  if (issues.empty()) check_line_rates(root, setup.streams, setup.devices);
  if (!issues.empty()) throw std::invalid_argument(issues[0].key + ": " + issues[0].problem);
}

}  // namespace

StreamSteering::StreamSteering(StreamEngine::Setup setup, std::vector<std::uint32_t> owners,
                               std::uint32_t lcores)
    : setup_(std::move(setup)),
      owners_(std::move(owners)),
      orders_(lcores),
      published_(setup_.streams.size()) {}

void StreamSteering::look(std::uint32_t lcore, StreamEngine& engine, Time now) noexcept {
  orders_[lcore].poll([&](StreamOrder& order) { engine.obey(order, now); });
  for (std::size_t i = 0; i < published_.size(); ++i)
    if (owners_[i] == lcore) published_[i].write(engine.snapshot(i, now));
}

std::size_t StreamSteering::sent_stream(std::string_view name) const {
  const auto found = std::ranges::find(setup_.streams, name, &StreamConfig::name);
  if (found == setup_.streams.end())
    throw std::invalid_argument("no such stream: \"" + std::string(name) +
                                "\"; /outrider/streams lists them");
  if (found->device.empty())
    throw std::invalid_argument("stream \"" + found->name + "\" is only received here");
  return static_cast<std::size_t>(found - setup_.streams.begin());
}

void StreamSteering::stop(std::string_view name) {
  const std::lock_guard lock(mutex_);
  give(sent_stream(name), StreamOrder::Kind::kStop);
}

void StreamSteering::start(std::string_view name) {
  const std::lock_guard lock(mutex_);
  give(sent_stream(name), StreamOrder::Kind::kStart);
}

void StreamSteering::set_rate(std::string_view name, std::string_view rate) {
  const std::lock_guard lock(mutex_);
  const std::size_t stream = sent_stream(name);
  const auto parsed = parse_stream_rate(rate);
  if (!parsed.value)
    throw std::invalid_argument("rate \"" + std::string(rate) + "\" " + parsed.problem);
  const auto before = std::exchange(setup_.streams[stream].rate, parsed.value);
  try {
    require_rate(setup_, stream);
    const StreamConfig bounded = until_end(setup_, stream);
    order_.schedule.emplace(StreamSchedule::Setup{.stream = bounded,
                                                  .line_rate = line_rate_of(setup_, stream),
                                                  .seed = setup_.seed,
                                                  .index = id_of(bounded, stream)});
    give(stream, StreamOrder::Kind::kRate);
  } catch (...) {
    setup_.streams[stream].rate = before;
    throw;
  }
}

/// Hands the order to the stream's lcore and waits until it is taken.
void StreamSteering::give(std::size_t stream, StreamOrder::Kind kind) {
  const std::string name = "stream \"" + setup_.streams[stream].name + "\" ";
  OfferCell<StreamOrder>& cell = orders_[owners_[stream]];
  if (attached_) {
    order_.stream = stream;
    order_.kind = kind;
    cell.offer(order_);
  }
  while (attached_ && cell.pending()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (!attached_) throw std::invalid_argument("the program ends");
  if (order_.outcome == StreamOrder::Outcome::kEnded)
    throw std::invalid_argument(name + "has ended");
  if (order_.outcome == StreamOrder::Outcome::kAlready)
    throw std::invalid_argument(
        name + (kind == StreamOrder::Kind::kStop ? "is stopped already" : "is not stopped"));
}

std::vector<StreamSteering::Stream> StreamSteering::read() const {
  const std::lock_guard lock(mutex_);
  std::vector<Stream> streams;
  for (std::size_t i = 0; i < published_.size(); ++i) {
    const StreamConfig& s = setup_.streams[i];
    streams.push_back({.name = s.name,
                       .sends = !s.device.empty(),
                       .receives = !s.receive_device.empty(),
                       .rate = s.rate.value_or(StreamRate{}),
                       .counts = published_[i].read()});
  }
  return streams;
}

void StreamSteering::detach() noexcept { attached_ = false; }

}  // namespace outrider::tg
