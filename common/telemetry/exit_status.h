#pragma once

namespace outrider {

/// Exit status of all programs of this project; part of their interface (see --help).
enum ExitStatus : int {
  kExitOk = 0,
  kExitFailure = 1,        ///< any other error
  kExitUsage = 2,          ///< configuration or command line refused
  kExitEnvironment = 3,    ///< EAL, CPU, device, socket or memory
  kExitLedger = 4,         ///< packets are not accounted for: a bug of this program
  kExitTransfer = 5,       ///< a transfer failed, or payload differs from what was sent
  kExitChanged = 6,        ///< outrider-lab compare --fail-on-change: something changed
  kExitStalled = 7,        ///< outrider-trafficgen --stall: packets were sent, and none came
  kExitInterrupted = 130,  ///< stopped by a signal before the work was done
};

inline constexpr const char* kExitStatusHelp =
    "Exit status: 0 done, 2 configuration or command line refused, 3 environment (EAL, CPU,\n"
    "device, socket, memory), 4 ledger not balanced, 5 a transfer failed or its payload was\n"
    "wrong, 7 stalled (--stall), 130 interrupted before the jobs were finished, 1 anything else.";

}  // namespace outrider
