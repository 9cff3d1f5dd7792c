#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/burst_identity.h"
#include "common/core/clock.h"
#include "common/net/mlt_message.h"
#include "trafficgen/core/byte_range.h"
#include "trafficgen/core/fifo.h"
#include "trafficgen/mlt/magnitude_ranks.h"
#include "trafficgen/mlt/mlt_config.h"
#include "trafficgen/mlt/mlt_tensor.h"
#include "trafficgen/mlt/mlt_window.h"
#include "trafficgen/mlt/packet_tags.h"
#include "trafficgen/mlt/sent_tensors.h"
#include "trafficgen/transport/control/controller_slot.h"
#include "trafficgen/transport/sender/rto_estimator.h"

namespace outrider::tg {

/// The sending end of a flow of the bounded-loss transport. It sends the tensors of a burst as they
/// are handed over, until the receiver sends STOP for each. When nothing is left to send it probes
/// the tensors that were not stopped, and resends what the bitmaps report as missing.
///
/// As with TcpConnection, the sender decides and the host acts: the host asks has_message() /
/// next_message() when the NIC is free, hands in answers, and calls on_timer() when next_timer() is
/// reached. `now` never decreases.
///
/// SentTensors knows which tensor is next, MltWindow whether a packet may leave. Silence for an RTO
/// (RFC 6298, at least probe_timeout) reduces the window to one packet and sends a PROBE, whose
/// answer reports the state. After probe_limit silences in a row the sender gives up.
///
/// Sources: MLT (NSDI 2024), section on the transport, and DLCP (arXiv 2008.08445), as far as notes
/// about them describe it: Stop, Probe, Bitmap, DCTCP-like AIMD. The notes do not say how the
/// receiver reports marks, what a loss does to the window, or when silence ends; these are our
/// choices.
///
/// Nothing allocates after construction. Not thread-safe.
class MltSender {
 public:
  struct Setup {
    std::vector<MltTensor> tensors;  ///< none: an end that only receives
    std::uint32_t packet_bytes = 0;  ///< see MltLayout
    bool ecn = true;                 ///< false: no packet is ECT
    bool obeys_marks = true;         ///< false: only losses count
    std::uint64_t seed = 1;          ///< seed of the packets' drawn ranks
    bool restarts = true;            ///< the window, after an idle RTO
    bool ranks_computed = false;     ///< rank_by() is called in every burst
  };
  /// @param config,control must outlive the sender
  MltSender(const MltConfig& config, const ControllerConfig& control, const Setup& setup);
  MltSender(const MltSender&) = delete;
  MltSender& operator=(const MltSender&) = delete;

  // -- the application
  /// Begins the next burst. The rest of the last one is dropped: its receiver has enough.
  void begin(const BurstIdentity& burst, Time now) noexcept;
  /// Ranks the packets of the burst that has begun by their gradients. Packets without gradients
  /// have drawn ranks. @pre Setup::ranks_computed, nothing was handed over
  /// @param magnitude takes a ByteRange of the burst, returns the mean |g| in it or nothing
  template <class F>
  void rank_by(F&& magnitude) noexcept {
    std::uint64_t tensor_begin = 0;
    for (std::uint32_t i = 0; i < tensors_.size(); ++i) {
      if (!tensors_[i].ranks.empty()) rank(i, tensor_begin, magnitude);
      tensor_begin += tensors_[i].what.bytes;
    }
  }
  /// Hands over a whole tensor, which may leave. @pre it was not handed over in this burst
  void hand_over(std::uint32_t tensor, Time now) noexcept;

  // -- the host
  [[nodiscard]] bool has_message() const noexcept;
  struct Outgoing {
    mlt::Message message;
    std::uint8_t tos = 0;
  };
  /// Returns the message, which leaves now. @pre has_message()
  [[nodiscard]] Outgoing next_message(Time now) noexcept;
  /// @param message FEEDBACK, STOP or BITMAP
  /// @return false if it contradicts what was sent
  bool on_message(const mlt::Message& message, Time now) noexcept;
  [[nodiscard]] Time next_timer() const noexcept { return deadline_; }
  void on_timer(Time now) noexcept;

  // -- state
  [[nodiscard]] bool complete() const noexcept {
    return tensors_.count(Phase::kStopped) == tensors_.size();
  }
  /// Returns true if the receiver has reported that it has enough of the tensor.
  [[nodiscard]] bool stopped(std::uint32_t tensor) const noexcept {
    return tensor < tensors_.size() && tensors_[tensor].phase == Phase::kStopped;
  }
  [[nodiscard]] bool gave_up() const noexcept { return gave_up_; }
  /// Sequence number in the flow's stream of the current burst's first byte, and of the next one's.
  [[nodiscard]] std::uint32_t burst_sequence() const noexcept { return burst_sequence_; }
  [[nodiscard]] std::uint32_t next_burst_sequence() const noexcept {
    return burst_sequence_ + (begun_ ? tensors_.bytes() : 0);
  }
  /// Returns when the first packet of the burst left.
  [[nodiscard]] std::optional<Time> first_sent_at() const noexcept { return first_sent_at_; }
  [[nodiscard]] const MltWindow& window() const noexcept { return window_; }
  [[nodiscard]] Duration srtt() const noexcept { return rto_.srtt(); }

  /// Counts over all bursts.
  struct Counters {
    std::uint64_t data = 0;           ///< packets with values
    std::uint64_t retransmitted = 0;  ///< of these, packets sent again
    std::uint64_t probes = 0;
    std::uint64_t timeouts = 0;    ///< silences of an RTO
    std::uint64_t reductions = 0;  ///< reductions of the window by marks and losses
    std::uint64_t lost = 0;        ///< bytes that the receiver missed, an upper bound
    std::uint64_t unsent = 0;      ///< bytes that STOP made unnecessary
  };
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

 private:
  using Phase = SentTensor::Phase;

  template <class F>
  void rank(std::uint32_t tensor, std::uint64_t tensor_begin, F& magnitude) noexcept {
    SentTensor& t = tensors_[tensor];
    ranker_.clear();
    for (std::uint32_t p = 0; p < t.layout.packets(); ++p) {
      const std::uint64_t at = tensor_begin + t.layout.offset(p);
      const std::optional<double> mean = magnitude(ByteRange{at, at + t.layout.length(p)});
      if (mean) ranker_.add(p, *mean);
      else t.ranks[p] = tags_.drawn_rank(tensor, p, burst_);
    }
    ranker_.write(t.ranks);
  }
  void shuffle(std::uint32_t tensor) noexcept;
  [[nodiscard]] Outgoing next_data(Time now) noexcept;
  [[nodiscard]] Outgoing next_probe(Time now) noexcept;
  [[nodiscard]] bool on_feedback(const mlt::Message& m, Time now) noexcept;
  void on_bitmap(const mlt::Message& m) noexcept;
  void stop(std::uint32_t tensor) noexcept;

  const MltConfig& config_;
  PacketTags tags_;
  bool obeys_marks_;
  bool restarts_;
  SentTensors tensors_;
  MltWindow window_;
  MagnitudeRanks ranker_;
  BurstIdentity burst_{};
  std::uint32_t burst_sequence_ = 0;
  bool begun_ = false;
  std::optional<Time> first_sent_at_{};
  std::uint32_t probe_number_ = 0;
  std::uint32_t last_tensor_ = 0;  ///< the tensor that sent the last packet
  bool silent_ = false;            ///< a PROBE must leave, whatever the window
  bool gave_up_ = false;
  std::uint32_t silences_ = 0;  ///< in a row
  Time deadline_ = kNever;
  Time last_sent_{};
  RtoEstimator rto_;
  Counters counters_;
};

}  // namespace outrider::tg
