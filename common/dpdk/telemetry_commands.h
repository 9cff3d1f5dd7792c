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

/// What a telemetry command may answer: a number, a text, a list of texts or a table.
/// Names in a table are of [A-Za-z0-9_/]: rte_telemetry refuses others.
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

/// Commands of DPDK's telemetry socket, which dpdk-telemetry.py asks. Each is called by a
/// thread of DPDK's own, one at a time: it may lock and allocate, and must not touch what
/// an lcore owns.
///
/// The socket cannot forget a command: when this object has gone, it answers that the
/// program ends. A reply holds 16 KiB; what is longer must be asked for in parts.
class TelemetryCommands {
 public:
  /// @param parameters  what follows the first comma; what is thrown becomes the answer
  using Answer = std::function<TelemetryValue(std::string_view parameters)>;

  TelemetryCommands() = default;
  ~TelemetryCommands();
  TelemetryCommands(const TelemetryCommands&) = delete;
  TelemetryCommands& operator=(const TelemetryCommands&) = delete;

  /// @param name  "/outrider/port": of [a-z0-9_/]
  /// @throws DpdkError
  void add(const std::string& name, const std::string& help, Answer answer);

 private:
  std::vector<std::string> names_;
};

}  // namespace outrider
