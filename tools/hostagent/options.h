#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/net/udp_signal.h"

namespace outrider::agent {

enum class AgentCommand : std::uint8_t { kAnnounce, kAnswer, kRecord, kDctcp };

/// "10.0.0.2:5000": a parameter server of the job. Network byte order.
struct ServerAddress {
  std::uint32_t address = 0;
  std::uint16_t port = 0;
};

/// How START and ACK travel; the switches on the way must accept it.
enum class SignalForm : std::uint8_t {
  kUdp,  ///< common/net/udp_signal.h
  kTos,  ///< common/net/tos_signal.h
};

/// What the command line says.
struct AgentOptions {
  AgentCommand command = AgentCommand::kAnnounce;
  std::string interface;
  SignalForm form = SignalForm::kUdp;
  std::uint16_t signal_port = udp_signal::kDefaultPort;  ///< > 0; of the UDP form
  std::string report{};                                  ///< JSON file; empty: none
  bool measure_cost = false;  ///< the kernel times the program, which costs by itself

  // dctcp
  bool allow = false;  ///< also programs without CAP_NET_ADMIN may choose it

  // record
  std::string out = "recording";         ///< directory
  std::uint64_t max_bursts = 1'000'000;  ///< rows of bursts.csv, > 0

  // announce and record: one of the first two
  std::vector<ServerAddress> servers{};
  std::string cgroup{};  ///< directory of a cgroup v2: all TCP connections of its processes
  Duration idle_gap = std::chrono::milliseconds(2);  ///< > 0

  // announce
  std::uint16_t job = 0;                           ///< of the UDP form, as the worker
  std::uint16_t worker = 0;                        ///< < 32768
  std::uint16_t threshold_packets = 10;            ///< multiple of 5, 5 to 75
  Duration max_period = std::chrono::seconds(60);  ///< >= idle_gap
  Duration lead{};                                 ///< >= 0; zero: at the first byte
};

struct ParsedAgentLine {
  AgentOptions options;
  std::optional<int>
      exit_status;  ///< set if there is nothing to do: --help, or a fault that was printed
};

ParsedAgentLine parse_agent_command_line(int argc, const char* const* argv);

/// All faults, one a line. Pure.
std::vector<std::string> faults_of(const AgentOptions& options);

/// @return nothing if it is no IPv4 address and port
std::optional<ServerAddress> parse_server(const std::string& text);
std::string format_address(std::uint32_t address);

}  // namespace outrider::agent
