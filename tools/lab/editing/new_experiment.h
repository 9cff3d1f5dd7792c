#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider::lab {

/// What a new experiment is made of; the values are those of conf/presets/one-queue.toml.
struct NewExperiment {
  BitRate rate{10'000'000'000};
  Duration rtt = std::chrono::microseconds(100);
  std::uint64_t buffer_bytes = 1'000'000;
  std::uint32_t workers = 4;
  std::uint64_t burst_bytes = 1'000'000;  ///< of each worker, if there is no model
  std::string model{};                    ///< path, or name of a shipped one
  std::uint32_t long_flows = 4;           ///< of background
  double load = 0;                        ///< of flows that come and go; above 0: no long flows
};

/// A question that a user answers in a line.
struct NewQuestion {
  std::string_view option;  ///< of the command line: "--rate"
  std::string_view asks;    ///< the question
  std::string_view usual;   ///< the answer that an empty line stands for
  std::string_view type;    ///< what an answer is, for the help
  /// Takes an answer. @return what is wrong with it; empty if it is taken
  std::string (*take)(NewExperiment& into, const std::string& answer);
};

/// Returns the five questions in their order.
std::span<const NewQuestion> new_questions();

/// Returns the experiment's file, of at most fifteen lines.
std::string new_experiment_text(const NewExperiment& experiment);

}  // namespace outrider::lab
