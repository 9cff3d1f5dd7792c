#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace outrider::tg {

/// The result of a trial at one rate.
struct RateTrial {
  double share = 0;  ///< of the configured rates
  double requested_packets_per_second = 0;
  double achieved_packets_per_second = 0;
  double achieved_bits_per_second = 0;  ///< of each stream at its layer
  std::uint64_t sent = 0;
  std::uint64_t lost = 0;

  [[nodiscard]] double loss() const noexcept {
    return sent == 0 ? 1 : static_cast<double>(lost) / static_cast<double>(sent);
  }
};

/// The reason why the found rate is not higher.
enum class RateLimit : std::uint8_t {
  kPath,       ///< above it more packets are lost
  kGenerator,  ///< above it the generator did not send at the requested rate
  kMaximum,    ///< none: the configured rates passed
  kUnfound,    ///< even the lowest rate tried failed
};

/// Finds the highest rate at which at most a given share of packets is lost. It halves the interval
/// between the highest rate that passed and the lowest that did not, beginning with the maximum
/// (RFC 2544, section 26.1). A rate passes if each of `repeats` trials passes. The first failed
/// trial decides, so that chance losses make the result lower, never higher.
///
/// Pure: the caller runs the trials, at most (repeats + generator_retries) * (2 + log2(1 / width))
/// of them.
class RateSearch {
 public:
  struct Config {
    double max_loss = 0;        ///< share of packets, 0: no-drop rate; [0, 1)
    double width = 0.01;        ///< of the last interval, share of the maximum; (0, 1)
    std::uint32_t repeats = 1;  ///< >= 1
    /// A trial that sent less than this share of its rate, without too much loss, shows nothing
    /// about the path. It is repeated; after that the generator is the limit.
    double min_achieved = 0.995;
    std::uint32_t generator_retries = 3;
  };
  explicit RateSearch(const Config& config) : config_(config) {}

  /// Returns the share of the configured rates to try next; nothing if the search is over.
  [[nodiscard]] std::optional<double> next() const noexcept;

  /// Records the result of the trial at next(). @pre next() has a value
  void on_trial(const RateTrial& trial);

  /// Returns the highest share that passed; 0 if none did.
  [[nodiscard]] double found() const noexcept { return passed_; }
  [[nodiscard]] RateLimit limit() const noexcept;
  /// Returns all trials, in order.
  [[nodiscard]] const std::vector<RateTrial>& trials() const noexcept { return trials_; }
  [[nodiscard]] bool passes(const RateTrial& trial) const noexcept {
    return sends_enough(trial) && loses_little(trial);
  }

 private:
  [[nodiscard]] bool sends_enough(const RateTrial& trial) const noexcept {
    return trial.achieved_packets_per_second >=
           config_.min_achieved * trial.requested_packets_per_second;
  }
  [[nodiscard]] bool loses_little(const RateTrial& trial) const noexcept {
    return trial.sent != 0 && trial.loss() <= config_.max_loss;
  }

  Config config_;
  double passed_ = 0;
  double failed_ = 2;              ///< 2: nothing has failed
  bool generator_failed_ = false;  ///< the generator caused the failure at failed_
  std::uint32_t repeated_ = 0;     ///< trials that passed at the current rate
  std::uint32_t retried_ = 0;      ///< trials at it that the generator made invalid
  std::vector<RateTrial> trials_;
};

}  // namespace outrider::tg
