#pragma once

// Only main.cc includes this file, because CLI11 is slow to compile.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "common/config/quantities.h"
#include "common/runtime/poll_program.h"
#include "common/telemetry/option_checks.h"
#include "switch/control/capture_file.h"

namespace outrider::sw {

/// The options of --capture as the user gave them.
struct CaptureArguments {
  std::vector<std::string> ports;  ///< PORT=FILE
  CaptureOptions bounds;
  std::string max_bytes = "100MB";
};

inline void add_capture_options(CLI::App& app, CaptureArguments& arguments) {
  app.add_option("--capture", arguments.ports,
                 "Write what leaves a port to a pcapng file, with the state of its queue as "
                 "comments; may be repeated")
      ->type_name("SWITCH.PORT=FILE");
  auto* const packets =
      app.add_option("--capture-packets", arguments.bounds.max_packets, "At most so many [100000]")
          ->type_name("N")
          ->check(whole_number(1));
  auto* const bytes =
      app.add_option("--capture-bytes", arguments.max_bytes, "Largest file, e.g. 1GB [100MB]")
          ->type_name("BYTES");
  auto* const snap =
      app.add_option("--capture-snap", arguments.bounds.snap_bytes, "Bytes kept of each [128]")
          ->type_name("BYTES")
          ->check(CLI::Range(14U, kLargestFrameBytes));
  for (auto* const bound : {packets, bytes, snap}) bound->needs(app.get_option("--capture"));
}

/// Returns the captures that the options ask for. @throws UsageError
inline std::vector<CaptureOptions> captures_of(const CaptureArguments& arguments,
                                               const SwitchProcessConfig& config) {
  constexpr std::uint64_t kAroundPacket_bytes = 1024;  // head of the file, comment
  const Parsed<std::uint64_t> bytes = parse_bytes(arguments.max_bytes);
  if (!bytes.value)
    throw UsageError("--capture-bytes " + arguments.max_bytes + ": " + bytes.problem);
  CaptureOptions bounds = arguments.bounds;
  bounds.max_bytes = *bytes.value;
  if (bounds.max_bytes < bounds.snap_bytes + kAroundPacket_bytes)
    throw UsageError("--capture-bytes " + arguments.max_bytes + ": must be at least " +
                     std::to_string(bounds.snap_bytes + kAroundPacket_bytes) +
                     "B: a packet of --capture-snap " + std::to_string(bounds.snap_bytes) +
                     " has to fit");
  return captures_of(arguments.ports, bounds, config);
}

}  // namespace outrider::sw
