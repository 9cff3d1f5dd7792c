#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// The sizes of models and lists of steps, each file of which is read once.
class ModelSizes {
 public:
  struct Size {
    std::optional<std::uint64_t> bytes{};  ///< of all gradients; of a list half of what a rank
                                           ///< sends on average. Absent: it cannot be read
    Duration compute{};                    ///< of an iteration; zero if the file says none
  };
  /// Returns the size of what the job names: a model, a list, or its burst.
  Size of(const tg::JobConfig& job);

 private:
  const Size& of_model(const std::string& path);
  const Size& of_steps(const std::string& path);

  std::map<std::string, Size> sizes_{};
};

/// Returns the virtual time of a case [s], without that of its run without background. For a
/// closed loop it assumes that bursts get half of the bottleneck. Returns nothing if the model that
/// determines the time cannot be read.
std::optional<double> virtual_seconds(const Case& c, ModelSizes& models);

inline constexpr double kTrial_seconds = 2;

/// Estimates what an experiment takes, case by case, without keeping the cases.
class PlanEstimate {
 public:
  /// @param c  stands for so many cases that differ in their seeds
  void add(const Case& c, std::size_t seeds);

  /// Returns the memory [bytes] of a process that runs any of the cases.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return memory_bytes_; }
  /// Returns whether seconds() tries the first case. A larger one would take too long to begin: a
  /// small experiment says how fast this machine is.
  [[nodiscard]] bool tries_first() const noexcept { return first_.has_value(); }
  /// Returns the wall time of all cases [s] with nothing else on the machine; nothing if no
  /// estimate can be made. Runs a case for so much processor time. @throws EnvironmentError
  [[nodiscard]] std::optional<double> seconds(std::size_t jobs,
                                              double trial_seconds = kTrial_seconds) const;

 private:
  ModelSizes models_;
  std::optional<Case> first_{};
  bool unknown_ = false;  ///< the time of a case
  std::size_t cases_ = 0;
  double wire_bits_ = 0;  ///< what all cases' links carry
  std::uint64_t memory_bytes_ = 0;
};

/// Returns a small case that says how fast this machine is: a dumbbell with background that always
/// sends.
Case speed_case();

/// Returns what all links of a case carry [bits], roughly, in so much of its virtual time. A job
/// sends evenly from its first burst on.
double wire_bits(const Case& c, double of_seconds, ModelSizes& models);

/// Estimates the wall time of all cases [s]. It runs the first case for a while, and takes all
/// cases to need as much time for what their links carry.
/// @return nothing if no estimate can be made. @throws EnvironmentError
std::optional<double> estimate_seconds(const std::vector<Case>& cases, std::size_t jobs,
                                       double trial_seconds = kTrial_seconds);

/// Returns a duration as text: "40 s", "12 min", "3.5 h".
std::string duration_text(double seconds);

}  // namespace outrider::lab
