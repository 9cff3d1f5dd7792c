#include "switch/egress/marker_list.h"

#include <cmath>

#include "common/core/random.h"
#include "switch/aqm/codel_marker.h"
#include "switch/aqm/pi2_marker.h"
#include "switch/aqm/pie_marker.h"
#include "switch/aqm/red_marker.h"

namespace outrider::sw {

namespace {

constexpr std::uint64_t kMeanPacketBytes = 1500;

RandomStream draws_of(const MarkerSetup& setup) {
  return {setup.seed, setup.entity, RandomPurpose::kMarker};
}

PieMarker::Params pie_of(const PieConfig& config) {
  const PiGains gains = gains_of(config);
  return {.target = config.target,
          .t_update = gains.t_update,
          .alpha = gains.alpha,
          .beta = gains.beta,
          .burst_allowance = burst_allowance_of(config),
          .spared_bytes = 2 * kMeanPacketBytes,
          .mark_ecnth = config.mark_ecnth};
}

/// Adapts an AQM that judges the packet at the head of the queue.
template <class Aqm>
class AtDequeue final : public Marker {
 public:
  explicit AtDequeue(const typename Aqm::Params& params) : aqm_(params) {}
  MarkVerdict at_dequeue(Duration sojourn, Occupancy left, Time now) noexcept override {
    return aqm_.on_dequeue(sojourn, left.bytes, now);
  }

 private:
  Aqm aqm_;
};

/// Adapts an AQM that draws for every arrival and learns the delay from departures.
template <class Aqm>
class AtEnqueue final : public Marker {
 public:
  AtEnqueue(const typename Aqm::Params& params, const MarkerSetup& setup)
      : aqm_(params), random_(draws_of(setup)) {}
  MarkVerdict at_enqueue(Occupancy found, Time now) noexcept override {
    return aqm_.on_enqueue(found.bytes, random_.next_u32(), now);
  }
  MarkVerdict at_dequeue(Duration sojourn, Occupancy left, Time now) noexcept override {
    aqm_.on_dequeue(sojourn, left.bytes, now);
    return MarkVerdict::kPass;
  }

 private:
  Aqm aqm_;
  RandomStream random_;
};

/// Adapts RED, which judges the occupancy in packets at enqueue or at dequeue.
class Red final : public Marker {
 public:
  Red(const RedConfig& c, MarkAt at, const MarkerSetup& setup)
      : red_({.kmin = c.kmin_packets,
              .kmax = c.kmax_packets,
              .pmax = c.pmax,
              .weight = c.weight,
              .packet_time = setup.packet_time,
              .spacing = c.spacing}),
        at_(at),
        random_(draws_of(setup)) {}
  MarkVerdict at_enqueue(Occupancy found, Time now) noexcept override {
    return at_ == MarkAt::kEnqueue ? judge(found, now) : MarkVerdict::kPass;
  }
  MarkVerdict at_dequeue(Duration /*sojourn*/, Occupancy left, Time now) noexcept override {
    const auto verdict = at_ == MarkAt::kDequeue ? judge(left, now) : MarkVerdict::kPass;
    red_.on_dequeue(left.packets, now);
    return verdict;
  }
  std::uint32_t threshold_packets() const noexcept override {
    return static_cast<std::uint32_t>(std::ceil(red_.params().kmax));
  }

 private:
  MarkVerdict judge(Occupancy met, Time now) noexcept {
    return red_.on_enqueue(met.packets, random_.next_u32(), now);
  }

  RedMarker red_;
  MarkAt at_;
  RandomStream random_;
};

}  // namespace

std::unique_ptr<Marker> make_marker(const MarkerConfig& config, const MarkerSetup& setup) {
  switch (config.kind) {
    case MarkerKind::kTailDrop:
    case MarkerKind::kStep:
      break;
    case MarkerKind::kRed:
      return std::make_unique<Red>(config.red, config.at, setup);
    case MarkerKind::kPie:
      return std::make_unique<AtEnqueue<PieMarker>>(pie_of(config.pie), setup);
    case MarkerKind::kPi2: {
      const PiGains gains = gains_of(config.pi2);
      return std::make_unique<AtDequeue<Pi2Marker>>(Pi2Marker::Params{.target = config.pi2.target,
                                                                      .t_update = gains.t_update,
                                                                      .alpha = gains.alpha,
                                                                      .beta = gains.beta});
    }
    case MarkerKind::kCodel:
      return std::make_unique<AtDequeue<CodelMarker>>(
          CodelMarker::Params{.target = config.codel.target,
                              .interval = config.codel.interval,
                              .mtu_bytes = kMeanPacketBytes});
  }
  return nullptr;
}

}  // namespace outrider::sw
