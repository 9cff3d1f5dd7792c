#include "trafficgen/config/controller_config.h"

#include "common/config/quantities.h"

namespace outrider::tg {

void check(const Checks& at, const ControllerConfig& control) {
  const bool hystart = control.hystart != HyStartKind::kOff;
  at.require(!hystart || control.controller != Controller::kUnresponsive, "hystart",
             control.hystart == HyStartKind::kLinux ? "\"linux\"" : "\"rfc9406\"",
             "controller \"unresponsive\" has no slow start");
  at.require(control.hystart != HyStartKind::kLinux || control.controller == Controller::kCubic ||
                 control.controller == Controller::kUnresponsive,
             "hystart", "\"linux\"",
             "is a part of Linux's CUBIC: the other controllers have none there, or \"rfc9406\"");
  at.require(control.timely_t_high >= control.timely_t_low, "timely_t_high",
             format_duration(control.timely_t_high),
             "must not be shorter than timely_t_low, " + format_duration(control.timely_t_low));
  const bool unresponsive = control.controller == Controller::kUnresponsive;
  if (control.rate) {
    at.require(unresponsive, "rate", format_rate(*control.rate),
               "is for controller \"unresponsive\" only: the others find theirs");
  } else if (unresponsive) {
    at.fault("rate", "is required with controller \"unresponsive\"");
  }
}

void describe_kind(Settings& v, ControllerConfig& c) {
  v.choice(
      "controller", c.controller, kControllers,
      {.help = "congestion control. Prague is TCP Prague with a virtual round trip of 25 ms and "
               "DCTCP's settings. TIMELY follows round trips instead of marks. Unresponsive "
               "ignores marks and losses and paces its payload at "
               "`rate`; its window, twice `rate` times the round trip, does not limit it"});
}

namespace {

void describe_timely(Settings& v, ControllerConfig& c) {
  v.duration("timely_t_low", c.timely_t_low,
             {.range = durations_above_zero(),
              .help = "shorter round trips let TIMELY's rate grow by `timely_step`"});
  v.duration("timely_t_high", c.timely_t_high,
             {.accepts = "at least `timely_t_low`",
              .help = "longer ones reduce it in proportion to the excess; between the two the "
                      "gradient of the round trip decides"});
  v.rate("timely_step", c.timely_step,
         {.range = link_rates(), .help = "by which the rate grows for a window of data"});
}

}  // namespace

void describe_parameters(Settings& v, ControllerConfig& c) {
  v.value("initial_window_segments", c.initial_window_segments,
          {.range = integers(1, 1000),
           .absent = "10, of those beyond 1,460 bytes as many as fit 14,600 bytes, at least 2",
           .help = "full segments of the connection that leave at once at its begin, and after an "
                   "idle time; absent: RFC 6928. Linux sends 10 of any size"});
  v.value("dctcp_min_window_segments", c.dctcp_min_window_segments,
          {.range = integers(1, 1000),
           .help = "marks reduce the window to no less; RFC 8257 does not say"});
  v.choice("hystart", c.hystart, kHyStartKinds,
           {.accepts = "`\"off\"` with `unresponsive`, `\"linux\"` with `cubic` alone",
            .help = "what ends slow start before a loss or a mark does: nothing; HyStart++ (RFC "
                    "9406, earlier `true`), if the first one's round trips lengthen; or the "
                    "classic HyStart as Linux 6.1 has it, if they do or a train of ACKs lasts for "
                    "half a round trip. With it CUBIC also grows by a twentieth per round trip "
                    "until the first reduction, and by half a segment where Reno would be faster, "
                    "however large the window has become, as there"});
  v.duration("hystart_min_rtt_threshold", c.hystart_min_rtt_threshold,
             {.range = durations_up_to(kHyStartMaxRttThreshold),
              .help = "smallest rise of the round trip that counts; above it an eighth of the last "
                      "round trip does, up to 16 ms. The RFC's 4 ms never occurs where round trips "
                      "take 100 us: lower it there"});
  v.choice("idle_restart", c.idle_restart, kIdleRestarts,
           {.help = "the window of a connection that was idle for longer than an RTO, where "
                    "`connections` restarts it: at most the initial window (RFC 5681, 4.1); or as "
                    "Linux has it, half the window for each further RTO, down to the initial one, "
                    "and three quarters of the old window as ssthresh"});
  describe_timely(v, c);
  v.rate("rate", c.rate,
         {.range = link_rates(),
          .absent = "none",
          .help = "of payload; required with `unresponsive`, refused with others"});
}

void describe(Settings& v, ControllerConfig& c) {
  describe_kind(v, c);
  describe_parameters(v, c);
}

}  // namespace outrider::tg
