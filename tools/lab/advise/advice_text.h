#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/lab/advise/recommendation.h"

namespace outrider::lab {

/// The advice where one thing is other than the file says.
struct WhatIfAnswer {
  std::string text;   ///< WhatIf::text
  std::string label;  ///< of the remedy that is advised then
  Estimate change{};  ///< of its time, against nothing
};

/// The gain of one remedy on the LoopbackTwin, in both runtimes.
struct Confirmation {
  std::string label;  ///< of the remedy: the advised one, or the best besides nothing
  double slower = 1;  ///< LoopbackTwin::slower
  double smaller_bursts = 1;
  Estimate virtual_change{};            ///< of its time, against nothing
  Estimate loopback_change{};           ///< the same, between two processes
  std::vector<std::string> warnings{};  ///< that make the latter doubtful
};

/// All that `outrider-lab advise` knows at its end, or at Ctrl-C.
struct Advice {
  std::vector<Remedy> remedies{};  ///< of which one is advised
  std::vector<Remedy> screened{};  ///< others, which only the search has seen
  AdviceGoal goal{};
  std::vector<std::string> by_default{};  ///< needs_by_default() of the chosen one
  bool verified = false;                  ///< with seeds that the search did not see
  std::string arm{};                      ///< arm_text() of the chosen one; empty: today's
  std::string elsewhere{};       ///< settings_elsewhere() and settings_of_hosts(), and of NICs
  bool always_settings = false;  ///< `elsewhere` is told too if nothing is advised
  unsigned smaller = 1;  ///< bursts, and the times between them, are that many times smaller
  std::optional<Confirmation> confirmation{};
  std::vector<WhatIfAnswer> answers{};
  std::vector<std::string> not_asked{};  ///< WhatIf::text of those for which there was no time
  std::vector<std::string> warnings{};   ///< that make today's or the advised figures doubtful
  std::vector<std::string> assumed{};    ///< AdvisedFile::assumed
  std::vector<std::string> left_out{};   ///< UsableArms::left_out
  std::string table{};                   ///< command that prints the times which judge remedies
};

/// Returns the recommendation in three sentences, the best remedy of each kind, what would turn
/// the recommendation, and what to set, for a terminal. Pure. @pre remedies has an "off"
[[nodiscard]] std::string advice_text(const Advice& advice);

}  // namespace outrider::lab
