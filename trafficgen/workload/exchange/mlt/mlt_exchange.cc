#include "trafficgen/workload/exchange/mlt/mlt_exchange.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "trafficgen/workload/exchange/job_records.h"

namespace outrider::tg {
namespace {

/// Returns the number of layers of the model; 0 if parts are not of layers.
std::uint32_t layers_of(const ExchangeSetup& setup) noexcept {
  std::uint32_t layers = 0;
  for (const auto& lists : {std::cref(setup.pushes), std::cref(setup.pulls)})
    for (const auto& parts : lists.get())
      for (const BurstPart& part : parts)
        if (part.layer) layers = std::max(layers, *part.layer + 1);
  return layers;
}

/// Returns the most ranges that may be missing from a burst: every other packet.
std::size_t most_missing(const ExchangeSetup& setup) noexcept {
  const std::uint32_t packet_bytes = mlt_packet_bytes(setup.mtu_bytes);
  std::size_t most = 0;
  for (const auto& lists : {std::cref(setup.pushes), std::cref(setup.pulls)})
    for (const auto& parts : lists.get()) {
      std::size_t ranges = 0;
      for (const BurstPart& part : parts)
        ranges += MltLayout(part.bytes, packet_bytes).packets() / 2 + 1;
      most = std::max(most, ranges);
    }
  return most;
}

/// Assigns the layers, in forward order, to the classes in equal shares; the first layers go to the
/// first class.
std::vector<MltTensor> tensors_of(const std::vector<BurstPart>& parts, const MltConfig& config,
                                  std::uint32_t layers) {
  const std::vector<std::uint32_t>& dscps = config.class_dscps;
  const std::size_t classes = std::max<std::size_t>(dscps.size(), 1);
  std::vector<MltTensor> tensors;
  for (const BurstPart& part : parts) {
    const std::size_t urgency = part.layer ? *part.layer * classes / layers : 0;
    tensors.push_back(
        {.bytes = part.bytes,
         .urgency = static_cast<std::uint8_t>(urgency),
         .dscp = dscps.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(dscps[urgency]),
         .droppable = part.layer && (*part.layer + 0.5) / layers < config.front_share,
         .tolerance = part.parameters ? config.tolerance_pull : config.tolerance_push});
  }
  return tensors;
}

}  // namespace

struct MltExchange::Pair {
  MltEnd at_worker;
  MltEnd at_target;
};

MltExchange::MltExchange(const ExchangeSetup& setup, const MltConfig& mlt, JobRecords& records,
                         Listener& listener)
    : context_{{setup, records, listener}, mlt, {}} {
  context_.missing.reserve(most_missing(setup));
  pairs_.resize(setup.workers.size() * setup.targets);
  const std::uint32_t layers = layers_of(setup);
  for (std::uint32_t w = 0; w < setup.workers.size(); ++w) {
    targets_.push_back(setup.targets_of(w));
    for (std::uint32_t t = 0; t < targets_[w]; ++t) make_pair(w, t, layers);
  }
}

void MltExchange::make_pair(std::uint32_t worker, std::uint32_t target, std::uint32_t layers) {
  const ExchangeSetup& setup = context_.setup;
  const Lane push{worker, target, BurstDirection::kPush};
  const Lane pull{worker, target, BurstDirection::kPull};
  Host& near = *setup.workers[worker];
  Host& far = setup.end(worker, target);
  const FlowKey flow{near.address(), far.address(), near.ports().next(), setup.port};
  MltEndpoint::Setup ends;
  ends.flow = flow;
  ends.sends.tensors = tensors_of(setup.parts(push), context_.config, layers);
  ends.sends.packet_bytes = mlt_packet_bytes(setup.mtu_bytes);
  ends.sends.ecn = setup.tcp.ecn;
  ends.sends.obeys_marks = setup.tcp.obey_ece;
  ends.sends.seed = setup.seed;
  ends.sends.restarts = setup.tcp.reuse != ConnectionReuse::kKeep;
  ends.receives = tensors_of(setup.parts(pull), context_.config, layers);
  MltEndpoint::Setup back = ends;
  back.flow = flow.reversed();
  std::swap(back.sends.tensors, back.receives);
  ends.sends.ranks_computed = context_.config.magnitudes == Magnitudes::kGradient;
  auto& pair = pairs_[setup.index_of(worker, target)];
  pair.reset(new Pair{{context_, push, near, ends}, {context_, pull, far, back}});
  near.add_endpoint(pair->at_worker.endpoint(), 0, setup.tcp.priority);
  far.add_endpoint(pair->at_target.endpoint(), setup.nic_class(target), setup.tcp.priority);
  pair->at_target.expect({setup.job, static_cast<std::uint16_t>(worker), 0, BurstDirection::kPush});
}

MltExchange::~MltExchange() = default;

MltEnd& MltExchange::sender(const Lane& lane) noexcept {
  Pair& p = *pairs_[context_.setup.index_of(lane.worker, lane.target)];
  return lane.direction == BurstDirection::kPush ? p.at_worker : p.at_target;
}

const MltEnd& MltExchange::sender(const Lane& lane) const noexcept {
  const Pair& p = *pairs_[context_.setup.index_of(lane.worker, lane.target)];
  return lane.direction == BurstDirection::kPush ? p.at_worker : p.at_target;
}

FlowKey MltExchange::flow(const Lane& lane) const noexcept {
  return sender(lane).endpoint().flow();
}

BurstPlace MltExchange::next_place(const Lane& lane) noexcept {
  const MltEndpoint& endpoint = sender(lane).endpoint();
  return {endpoint.flow(), endpoint.sender().next_burst_sequence()};
}

/// Prepares the receivers for the pulls of the worker's iteration.
void MltExchange::begin_iteration(std::uint32_t worker, std::uint32_t iteration) noexcept {
  for (std::uint32_t t = 0; t < targets_[worker]; ++t)
    if (!context_.setup.parts({worker, t, BurstDirection::kPull}).empty())
      sender({worker, t, BurstDirection::kPush})
          .expect({context_.setup.job, static_cast<std::uint16_t>(worker), iteration,
                   BurstDirection::kPull});
}

void MltExchange::begin_push(const BurstLedger& burst, BurstTime, Time now) noexcept {
  const std::uint32_t worker = burst.burst().worker;
  for (std::uint32_t t = 0; t < targets_[worker]; ++t)
    sender({worker, t, BurstDirection::kPush}).begin(burst.burst(), now);
  for (std::uint32_t t = 0; t < targets_[worker]; ++t)
    sender({worker, t, BurstDirection::kPush}).tell_owed(now);
}

void MltExchange::begin_pull(const BurstLedger& burst, std::uint32_t target, Time now) noexcept {
  MltEnd& end = sender({burst.burst().worker, target, BurstDirection::kPull});
  end.begin(burst.burst(), now);
  end.tell_owed(now);
}

void MltExchange::hand_over(const Lane& lane, std::uint32_t part, std::uint64_t,
                            Time now) noexcept {
  sender(lane).hand_over(part, now);
}

void MltExchange::hand_over_all(const Lane& lane, Time now) noexcept {
  const auto parts = static_cast<std::uint32_t>(context_.setup.parts(lane).size());
  for (std::uint32_t part = 0; part < parts; ++part) sender(lane).hand_over(part, now);
}

bool MltExchange::idle(const Lane& lane) const noexcept { return sender(lane).idle(); }

std::optional<Time> MltExchange::first_sent_at(const Lane& lane) const noexcept {
  return sender(lane).endpoint().sender().first_sent_at();
}

FlowReport MltExchange::report(const Lane& lane) const {
  FlowReport report = context_.records.flow(lane).report(nullptr);
  const MltSender::Counters& c = sender(lane).endpoint().sender().counters();
  report.retransmitted += c.retransmitted;
  report.rtos_data += c.timeouts;
  report.ece_reductions += c.reductions;
  return report;
}

void MltExchange::note_last() noexcept {
  for (auto& p : pairs_) {
    if (p == nullptr) continue;
    p->at_worker.note();
    p->at_target.note();
  }
}

}  // namespace outrider::tg
