#pragma once

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "switch/regulation/policy/regulation_policy.h"

// Bindings of [switch.regulation] and its tables, see common/config/config_binding.h.

namespace outrider::sw {

inline constexpr auto kRegulationModes = [] {
  std::array<Choice<RegulationMode>, kModeRows.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = {kModeRows[i].name, kModeRows[i].mode};
  return names;
}();
inline constexpr auto kSubscriptions = choices<Subscription>({{"queue", Subscription::kQueue},
                                                              {"port", Subscription::kPort},
                                                              {"switch", Subscription::kSwitch}});
inline constexpr auto kRecoveries = choices<Recovery>({{"arrival", Recovery::kArrival},
                                                       {"burst_end", Recovery::kBurstEnd},
                                                       {"timer", Recovery::kTimer}});

inline constexpr auto kCompositions = choices<Composition>({{"min", Composition::kMin},
                                                            {"harmonic", Composition::kHarmonic},
                                                            {"demand", Composition::kDemand}});
inline constexpr auto kPredictFroms = choices<PredictFrom>({{"off", PredictFrom::kOff},
                                                            {"traffic", PredictFrom::kTraffic},
                                                            {"signals", PredictFrom::kSignals}});
inline constexpr auto kGrantOrders = choices<GrantOrder>({{"off", GrantOrder::kOff},
                                                          {"shortest", GrantOrder::kShortest},
                                                          {"first", GrantOrder::kFirst},
                                                          {"share", GrantOrder::kShare}});
inline constexpr auto kGrantParts =
    choices<GrantParts>({{"alone", GrantParts::kAlone}, {"together", GrantParts::kTogether}});
inline constexpr auto kWindowRules =
    choices<WindowRule>({{"complement", WindowRule::kComplement}, {"strict", WindowRule::kStrict}});

}  // namespace outrider::sw

// In the namespace of the policies, where argument-dependent lookup of Settings and Checks
// finds these functions.
namespace outrider {

void describe(Settings& v, RegulationPolicy& c);
void describe(Settings& v, PredictPolicy& c);
void describe(Settings& v, WindowPolicy& c);
void describe(Settings& v, RemotePolicy& c);
void describe(Settings& v, GrantPolicy& c);

/// Returns the lead as in a file; empty if there is none.
std::string shown_lead(const RegulationPolicy& policy);

/// Checks the rules that join several settings. Ranges of single settings are in describe().
void check(const Checks& at, const RegulationPolicy& policy);

/// Returns the settings that are allowed but were measured to gain nothing or to slow bursts down,
/// each with the reason.
ConfigIssues advice(const RegulationPolicy& policy);

}  // namespace outrider
