#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config/addresses.h"
#include "common/core/clock.h"
#include "common/core/signal_key.h"
#include "common/core/units.h"
#include "common/net/udp_signal.h"

namespace outrider::agent {

enum class AgentCommand : std::uint8_t { kAnnounce, kAnswer, kRecord, kDctcp, kHold };

/// The address of a parameter server, given as "10.0.0.2:5000". Network byte order.
struct ServerAddress {
  std::uint32_t address = 0;
  std::uint16_t port = 0;
};

/// The form in which START and ACK are sent. The switches on the path must accept it.
enum class SignalForm : std::uint8_t {
  kUdp,  ///< common/net/udp_signal.h
  kTos,  ///< common/net/tos_signal.h
};

/// The options of `hold`.
struct HoldOptions {
  BitRate rate{};                                  ///< of the bottleneck, > 0, at most 100 Gbit/s
  Duration rtt{};                                  ///< base round trip, at most 1 s; zero: measured
  double floor = 0.05;                             ///< share of `rate`, in [0, 1]
  double standing = 1.25;                          ///< of what was in flight, in [1, 10]
  Duration lead = std::chrono::milliseconds(50);   ///< >= 0
  Duration wait = std::chrono::milliseconds(100);  ///< > 0
  Duration idle_end = std::chrono::milliseconds(20);  ///< > 0
  Duration longest = std::chrono::milliseconds(500);  ///< > lead
  double sender_share = 0.5;                          ///< of kWindow, in (0, 1]
  double budget_share = 0.75;                         ///< of kWindow, in (0, 1]
  std::vector<std::uint16_t> job_ports{};             ///< local TCP ports, > 0
  std::uint32_t max_connections = 4096;               ///< 1 to kMostConnections

  /// The kernel makes room for all of them at once, some 200 MB.
  static constexpr std::uint32_t kMostConnections = 1U << 20;
  /// Over which the shares count.
  static constexpr Duration kWindow = std::chrono::seconds(10);
};

/// The options of the command line.
struct AgentOptions {
  AgentCommand command = AgentCommand::kAnnounce;
  std::string interface;
  SignalForm form = SignalForm::kUdp;
  std::uint16_t signal_port = udp_signal::kDefaultPort;  ///< port of the UDP form, > 0
  std::string report{};                                  ///< JSON file; empty: none
  std::string user{};                                    ///< to go on as; empty: see Privileges
  bool measure_cost = false;  ///< the kernel times the program, which itself costs time

  // answer and hold
  /// Networks whose STARTs are heeded; none: those of the interface.
  std::vector<Prefix> accept_from{};

  HoldOptions hold{};

  // dctcp
  bool allow = false;  ///< programs without CAP_NET_ADMIN may choose it, too

  // record
  std::string out = "recording";         ///< directory
  std::uint64_t max_bursts = 1'000'000;  ///< rows of bursts.csv, > 0

  // announce and record; exactly one of `servers` and `cgroup` is given
  std::vector<ServerAddress> servers{};
  std::string cgroup{};  ///< directory of a cgroup v2 whose processes' TCP connections count
  Duration idle_gap = std::chrono::milliseconds(2);  ///< > 0

  // announce
  std::uint16_t job = 0;                           ///< UDP form only
  std::uint16_t worker = 0;                        ///< UDP form only, < 32768
  std::uint16_t threshold_packets = 10;            ///< multiple of 5, 5 to 75
  Duration max_period = std::chrono::seconds(60);  ///< >= idle_gap
  Duration lead{};                                 ///< >= 0; zero: announce at the first byte
  /// UDP form only. The lead follows what switches tell in ACKs, from `lead` to this, >= lead > 0.
  /// Absent: it is fixed.
  std::optional<Duration> lead_limit{};
  std::optional<SignalKey> signal_key{};  ///< UDP form only; signs STARTs
};

struct ParsedAgentLine {
  AgentOptions options;
  std::optional<int>
      exit_status;  ///< set if there is nothing to do: --help, or an error that was printed
};

/// Parses the command line, and prints help and errors.
ParsedAgentLine parse_agent_command_line(int argc, const char* const* argv);

/// Returns all errors of the options, each a line of text. Pure.
std::vector<std::string> faults_of(const AgentOptions& options);

/// Parses "ADDRESS:PORT". Returns nothing if it is no IPv4 address and port.
std::optional<ServerAddress> parse_server(const std::string& text);
std::string format_address(std::uint32_t address);

}  // namespace outrider::agent
