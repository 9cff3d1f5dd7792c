#pragma once

#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "common/core/burst_identity.h"
#include "common/core/clock.h"
#include "common/core/service_clock.h"

namespace outrider {

/// Categories of a burst's communication time; see docs/bursts.md, "Attribution".
enum class BurstTime : std::uint8_t {
  kSignal,            ///< from START to ACK, the lead, and waiting behind signals in queues
  kOpening,           ///< the connection's handshake
  kSerialisation,     ///< the wire: this worker's frames on it, and propagation
  kBehindBackground,  ///< in a queue or NIC while background was served
  kBehindDdl,         ///< the same while other workers' packets were served
  kWindow,            ///< the window kept the sender silent until acknowledgments came
  kRecovery,          ///< from a lost segment's departure to its retransmission, without a time-out
  kRto,               ///< from a lost segment's departure to its retransmission time-out
  kCompute,           ///< later gradients of the burst were not ready
  kOthers,            ///< other participants had not delivered what the burst passes on
  kHeld,              ///< held back while the wire was free: pacing, send jitter, no memory
};

inline constexpr std::size_t kBurstTimes = 11;
inline constexpr std::array<std::string_view, kBurstTimes> kBurstTimeNames{
    "signal",     "opening", "serialisation", "behind_background",
    "behind_ddl", "window",  "recovery",      "rto",
    "compute",    "others",  "held"};

/// A duration per category [ns].
struct BurstTimes {
  std::array<std::int64_t, kBurstTimes> ns{};

  constexpr std::int64_t& operator[](BurstTime t) noexcept {
    return ns[static_cast<std::size_t>(t)];
  }
  constexpr std::int64_t operator[](BurstTime t) const noexcept {
    return ns[static_cast<std::size_t>(t)];
  }
  [[nodiscard]] constexpr std::int64_t sum() const noexcept {
    std::int64_t total = 0;
    for (const auto one : ns) total += one;
    return total;
  }
  bool operator==(const BurstTimes&) const = default;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, BurstTimes>
void fields(V& v, R& r) {
  for (std::size_t i = 0; i < kBurstTimes; ++i) v.value(kBurstTimeNames[i].data(), r.ns[i]);
}

/// Records the chain of causes from a burst's readiness to an instant, as time spent per
/// category. It travels with the packets: whatever a packet causes continues with the
/// packet's ledger. Invariant: times().sum() == at() - ready.
class BurstLedger {
 public:
  BurstLedger() = default;
  BurstLedger(const BurstIdentity& burst, Time ready) noexcept
      : burst_(burst), at_(ready), valid_(true) {}

  [[nodiscard]] bool valid() const noexcept { return valid_; }
  [[nodiscard]] bool same_burst(const BurstLedger& other) const noexcept {
    return valid_ && other.valid_ && burst_ == other.burst_;
  }
  [[nodiscard]] const BurstIdentity& burst() const noexcept { return burst_; }
  [[nodiscard]] Time at() const noexcept { return at_; }
  [[nodiscard]] const BurstTimes& times() const noexcept { return times_; }

  /// Attributes the time up to `to` to `what`. @pre to >= at()
  void advance(Time to, BurstTime what) noexcept {
    assert(to >= at_);
    times_[what] += (to - at_).count();
    at_ = to;
  }

  /// Attributes the time up to `to` to waiting for a transmitter.
  /// @param from,until the transmitter's readings for the burst's owner at at() and at `to`
  void wait(Time to, const ServiceClock::Reading& from,
            const ServiceClock::Reading& until) noexcept {
    assert(to >= at_);
    const Duration background = until.background - from.background;
    const Duration signal = until.signal - from.signal;
    const Duration ddl = until.ddl - from.ddl;
    const Duration own = until.own - from.own;
    const Duration idle = to - at_ - background - signal - ddl;
    assert(own >= Duration::zero() && ddl >= own && idle >= Duration::zero());
    times_[BurstTime::kBehindBackground] += background.count();
    times_[BurstTime::kSignal] += signal.count();
    times_[BurstTime::kBehindDdl] += (ddl - own).count();
    times_[BurstTime::kSerialisation] += own.count();
    times_[BurstTime::kHeld] += idle.count();
    at_ = to;
  }

 private:
  BurstIdentity burst_{};
  Time at_{};
  BurstTimes times_{};
  bool valid_ = false;
};

}  // namespace outrider
