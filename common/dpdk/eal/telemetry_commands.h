#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace outrider {

/// An answer to a telemetry command: a number, a text, a list of texts or a table. Names in a
/// table consist of [A-Za-z0-9_/]: rte_telemetry rejects others.
struct TelemetryMember;
struct TelemetryValue {
  using List = std::vector<std::string>;
  using Table = std::vector<TelemetryMember>;
  std::variant<std::uint64_t, std::string, List, Table> data;
};
struct TelemetryMember {
  std::string name;
  TelemetryValue value;
};

/// Commands on DPDK's telemetry socket, which dpdk-telemetry.py sends. A thread of DPDK's own
/// runs them, one at a time. A command may lock and allocate, but must not touch what an
/// lcore owns.
///
/// The socket cannot remove a command: after this object is destroyed, the command answers
/// that the program ends. A reply holds at most 16 KiB; longer ones must be requested in parts.
class TelemetryCommands {
 public:
  /// @param parameters  text after the first comma; an exception's text becomes the answer
  using Answer = std::function<TelemetryValue(std::string_view parameters)>;

  TelemetryCommands() = default;
  ~TelemetryCommands();
  TelemetryCommands(const TelemetryCommands&) = delete;
  TelemetryCommands& operator=(const TelemetryCommands&) = delete;

  /// @param name  such as "/outrider/port", of [a-z0-9_/]
  /// @throws DpdkError
  void add(const std::string& name, const std::string& help, Answer answer);

 private:
  std::vector<std::string> names_;
};

}  // namespace outrider
