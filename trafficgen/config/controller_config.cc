#include "trafficgen/config/controller_config.h"

#include "common/config/quantities.h"

namespace outrider {

void check(const Checks& at, const ControllerConfig& control) {
  at.in_range("initial_window_segments", control.initial_window_segments, 1, 1000);
  at.in_interval("dctcp_gain", control.dctcp_gain, 0, 1, false);
  at.in_interval("dctcp_initial_alpha", control.dctcp_initial_alpha, 0, 1, true);
  at.in_range("dctcp_min_window_segments", control.dctcp_min_window_segments, 1, 1000);
  at.require(!control.hystart || control.controller != Controller::kUnresponsive, "hystart", "true",
             "controller \"unresponsive\" has no slow start");
  at.positive("hystart_min_rtt_threshold", control.hystart_min_rtt_threshold);
  at.require(control.hystart_max_rtt_threshold >= control.hystart_min_rtt_threshold,
             "hystart_max_rtt_threshold", format_duration(control.hystart_max_rtt_threshold),
             "must not be shorter than hystart_min_rtt_threshold, " +
                 format_duration(control.hystart_min_rtt_threshold));
  const bool unresponsive = control.controller == Controller::kUnresponsive;
  if (control.rate) {
    at.require(unresponsive, "rate", format_rate(*control.rate),
               "is for controller \"unresponsive\" only: the others find theirs");
    at.rate("rate", *control.rate);
  } else if (unresponsive) {
    at.fault("rate", "is required with controller \"unresponsive\"");
  }
}

}  // namespace outrider
