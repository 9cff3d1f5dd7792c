#include "tools/hostagent/options.h"

#include <arpa/inet.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "common/config/quantities.h"
#include "common/config/signal_key_file.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/option_checks.h"
#include "common/telemetry/parse_end.h"
#include "common/telemetry/version.h"
#include "tools/hostagent/bpf/wire.h"

namespace outrider::agent {
namespace {

constexpr const char* kHelp =
    R"(Announces the bursts of a training job that knows nothing of Outrider, from the Linux
host that it runs on. Needs root, or CAP_BPF and CAP_NET_ADMIN; hold and dctcp also CAP_PERFMON.

  announce  on a worker: watches what leaves for the job's servers and sends START to the
            switches on the way, at a burst's first byte or ahead of it
  answer    on a server: answers START in the kernel
  record    on a worker: writes its bursts down, and a profile that outrider-trafficgen
            replays
  hold      on a server: before a burst that START has announced, holds the senders of
            background back by the windows in this host's ACKs
  dctcp     on both ends of a connection: offers DCTCP (RFC 8257) as the congestion control
            outrider_dctcp, where the kernel has none

None changes, delays or drops a packet of the job. hold alone changes packets of others. When an
agent ends, also by kill -9 and a restart, nothing of it stays behind.)";

constexpr const char* kFooter =
    "Exit status: 0 stopped by Ctrl-C or SIGTERM, 2 command line refused, 3 the host refuses\n"
    "(privilege, kernel, interface), 1 anything else.\n\n"
    "Examples:\n"
    "  outrider-hostagent announce --interface eth0 --server 10.0.0.9:5000 --lead 2ms\n"
    "  outrider-hostagent answer --interface eth0\n"
    "  outrider-hostagent hold --interface eth0 --rate 1gbit\n"
    "  outrider-hostagent dctcp & iperf3 -c 10.0.0.9 -C outrider_dctcp";

/// Options that CLI11 keeps as text, so that all their errors can be reported at once.
struct Texts {
  std::vector<std::string> servers{}, accept_from{};
  std::string idle_gap = "2ms", max_period = "60s", lead = "0s";
  std::string form = "udp";
  std::string rate{}, rtt{}, hold_lead = "50ms", wait = "100ms", idle_end = "20ms",
                             longest = "500ms";
  std::string signal_key{}, lead_limit{};
};

void add_common(CLI::App& command, AgentOptions& o) {
  command
      .add_option("--user", o.user,
                  "Go on as this user once the programs are attached [who called sudo, otherwise "
                  "no change]")
      ->type_name("NAME");
  command.add_option("--report", o.report, "Write counters there at the end, as JSON")
      ->type_name("FILE");
  command.add_flag("--measure-cost", o.measure_cost,
                   "Let the kernel time the program, for the report; costs some ns a packet");
}

void add_interface(CLI::App& command, AgentOptions& o) {
  command.add_option("--interface", o.interface, "that the job's packets use")
      ->required()
      ->type_name("NAME");
}

void add_form(CLI::App& command, AgentOptions& o, Texts& texts) {
  command
      .add_option("--form", texts.form,
                  "How signals travel: as UDP messages, or in the TOS byte of a packet of the flow")
      ->capture_default_str()
      ->type_name("udp|tos");
  command.add_option("--signal-port", o.signal_port, "UDP port of signals, both ends")
      ->capture_default_str()
      ->type_name("PORT");
}

void add_watch(CLI::App& command, AgentOptions& o, Texts& texts) {
  command.add_option("--server", texts.servers, "Address and TCP port of a server; repeat it")
      ->type_name("ADDRESS:PORT");
  command
      .add_option("--cgroup", o.cgroup,
                  "In place of servers: the job's cgroup (v2), for all its TCP connections")
      ->type_name("DIR");
  command.add_option("--idle-gap", texts.idle_gap, "A longer pause ends a burst")
      ->capture_default_str()
      ->type_name("DURATION");
}

void add_record(CLI::App& command, AgentOptions& o) {
  command.add_option("--out", o.out, "Directory of bursts.csv and profile.toml")
      ->capture_default_str()
      ->type_name("DIR");
  command
      .add_option("--max-bursts", o.max_bursts, "Rows of bursts.csv at most; others are counted")
      ->capture_default_str()
      ->check(whole_number(1));
}

void add_announce(CLI::App& command, AgentOptions& o, Texts& texts) {
  command.add_option("--job", o.job, "Number of the job, the same on all its hosts")
      ->capture_default_str();
  command.add_option("--worker", o.worker, "Number of this worker, its own in the job")
      ->capture_default_str();
  command
      .add_option("--threshold", o.threshold_packets,
                  "Queue that the switch is asked for [packets], multiple of 5 to 75")
      ->capture_default_str();
  command.add_option("--max-period", texts.max_period, "A longer pause ends the job")
      ->capture_default_str()
      ->type_name("DURATION");
  command
      .add_option("--lead", texts.lead,
                  "START leaves so long before a burst whose period is known; 0s: at the "
                  "burst's first byte")
      ->capture_default_str()
      ->type_name("DURATION");
  command
      .add_option(
          "--lead-limit", texts.lead_limit,
          "The lead follows what switches tell in their answers, from --lead to this [fixed]")
      ->type_name("DURATION");
  command
      .add_option("--signal-key", texts.signal_key,
                  "Key file that signs STARTs, which the switches have too [unsigned]")
      ->type_name("FILE");
}

void add_accept_from(CLI::App& command, Texts& texts) {
  command
      .add_option("--accept-from", texts.accept_from,
                  "Network whose STARTs are heeded; repeat it [the interface's own networks]")
      ->type_name("PREFIX");
}

void add_duration(CLI::App& command, const char* flag, std::string& text, const char* help) {
  command.add_option(flag, text, help)->capture_default_str()->type_name("DURATION");
}

void add_hold(CLI::App& command, HoldOptions& o, Texts& texts) {
  command.add_option("--rate", texts.rate, "Rate of the link whose queue is to be short")
      ->required()
      ->type_name("RATE");
  command.add_option("--rtt", texts.rtt, "Round trip of background without queueing [measured]")
      ->type_name("DURATION");
  command.add_option("--floor", o.floor, "Share of the rate that background keeps during a burst")
      ->capture_default_str()
      ->check(usable_number());
  command
      .add_option(
          "--standing", o.standing,
          "Window of a connection that is not held while bursts are expected, as a multiple "
          "of what it lately had in flight")
      ->capture_default_str()
      ->check(usable_number());
  command
      .add_option("--job-port", o.job_ports,
                  "Local TCP port whose connections are never held; repeat it")
      ->type_name("PORT");
  add_duration(command, "--lead", texts.hold_lead, "Hold from so long before a burst is due");
  add_duration(command, "--wait", texts.wait,
               "A burst that has not come so long after it was due is not coming");
  add_duration(command, "--idle-end", texts.idle_end, "A burst that was silent so long is over");
  add_duration(command, "--longest", texts.longest, "One burst holds for at most so long");
  command
      .add_option("--sender-share", o.sender_share,
                  "Largest share of 10 s that the bursts of one sender hold")
      ->capture_default_str()
      ->check(usable_number());
  command.add_option("--budget-share", o.budget_share, "The same of all senders together")
      ->capture_default_str()
      ->check(usable_number());
  command
      .add_option("--max-connections", o.max_connections,
                  "Connections that are followed; others are left alone")
      ->capture_default_str()
      ->check(whole_number(1, HoldOptions::kMostConnections));
}

std::vector<std::pair<AgentCommand, CLI::App*>> add_commands(CLI::App& app, AgentOptions& o,
                                                             Texts& texts) {
  auto* const announce = app.add_subcommand("announce", "Announce the bursts of a worker");
  add_interface(*announce, o);
  add_form(*announce, o, texts);
  add_watch(*announce, o, texts);
  add_announce(*announce, o, texts);
  auto* const answer = app.add_subcommand("answer", "Answer announcements at a server");
  add_interface(*answer, o);
  add_form(*answer, o, texts);
  add_accept_from(*answer, texts);
  auto* const hold = app.add_subcommand("hold", "Hold background back before bursts");
  add_interface(*hold, o);
  add_form(*hold, o, texts);
  add_accept_from(*hold, texts);
  add_hold(*hold, o.hold, texts);
  auto* const record = app.add_subcommand("record", "Record the bursts of a worker");
  add_interface(*record, o);
  add_watch(*record, o, texts);
  add_record(*record, o);
  auto* const dctcp = app.add_subcommand("dctcp", "Offer DCTCP to the connections of this host");
  dctcp->add_flag("--allow", o.allow, "Programs without CAP_NET_ADMIN may choose it, too");
  for (auto* const command : {announce, answer, hold, record, dctcp}) add_common(*command, o);
  return {{AgentCommand::kAnnounce, announce},
          {AgentCommand::kAnswer, answer},
          {AgentCommand::kHold, hold},
          {AgentCommand::kRecord, record},
          {AgentCommand::kDctcp, dctcp}};
}

void read_duration(const std::string& flag, const std::string& text, Duration& value,
                   std::vector<std::string>& faults) {
  const auto parsed = parse_duration(text);
  if (parsed.value) value = *parsed.value;
  else faults.push_back(flag + ": \"" + text + "\": " + parsed.problem);
}

/// Reads --form and rejects options that this form does not use.
/// @param given  the command's options as they were given
void read_form(const std::string& text, const CLI::App& given, AgentOptions& o,
               std::vector<std::string>& faults) {
  if (text != "udp" && text != "tos")
    faults.push_back("--form: \"" + text + "\": must be udp or tos");
  if (text != "tos") return;
  o.form = SignalForm::kTos;
  for (const char* const flag : {"--signal-port", "--job", "--worker", "--signal-key"}) {
    const auto* const option = given.get_option_no_throw(flag);
    if (option != nullptr && option->count() > 0)
      faults.push_back(std::string(flag) +
                       ": the TOS byte has no room for it: leave it out with "
                       "--form tos");
  }
}

void read_key(const std::string& file, AgentOptions& o, std::vector<std::string>& faults) {
  if (file.empty() || o.form == SignalForm::kTos) return;
  const auto read = read_signal_key(file);
  o.signal_key = read.config;
  for (const auto& issue : read.issues)
    faults.push_back("--signal-key: \"" + file + "\": " + issue.problem);
}

void read_hold(const Texts& texts, HoldOptions& o, std::vector<std::string>& faults) {
  const auto rate = parse_rate(texts.rate);
  if (rate.value) o.rate = *rate.value;
  else faults.push_back("--rate: \"" + texts.rate + "\": " + rate.problem);
  if (!texts.rtt.empty()) {
    read_duration("--rtt", texts.rtt, o.rtt, faults);
    if (o.rtt == Duration::zero()) faults.emplace_back("--rtt: 0s: must be above 0s");
  }
  read_duration("--lead", texts.hold_lead, o.lead, faults);
  read_duration("--wait", texts.wait, o.wait, faults);
  read_duration("--idle-end", texts.idle_end, o.idle_end, faults);
  read_duration("--longest", texts.longest, o.longest, faults);
}

/// Reads all texts into the options. @return errors of the texts that cannot be read
std::vector<std::string> read_texts(const Texts& texts, const CLI::App& given, AgentOptions& o) {
  std::vector<std::string> faults;
  const bool watches = given.get_option_no_throw("--server") != nullptr;
  if (watches && texts.servers.empty() == o.cgroup.empty())
    faults.emplace_back("--server, --cgroup: one of them says which connections are the job's");
  read_form(texts.form, given, o, faults);
  read_key(texts.signal_key, o, faults);
  for (const auto& text : texts.servers) {
    if (const auto server = parse_server(text)) o.servers.push_back(*server);
    else
      faults.push_back("--server: \"" + text +
                       "\": must be like 10.0.0.9:5000: switches take signals over IPv4 alone");
  }
  for (const auto& text : texts.accept_from) {
    const auto prefix = parse_prefix(text);
    if (prefix.value) o.accept_from.push_back(*prefix.value);
    else faults.push_back("--accept-from: \"" + text + "\": " + prefix.problem);
  }
  if (o.accept_from.size() > AGENT_MAX_ADDRESSES)
    faults.push_back("--accept-from: " + std::to_string(o.accept_from.size()) +
                     " networks: must be at most " + std::to_string(AGENT_MAX_ADDRESSES));
  read_duration("--idle-gap", texts.idle_gap, o.idle_gap, faults);
  read_duration("--max-period", texts.max_period, o.max_period, faults);
  read_duration("--lead", texts.lead, o.lead, faults);
  if (!texts.lead_limit.empty())
    read_duration("--lead-limit", texts.lead_limit, o.lead_limit.emplace(), faults);
  if (!texts.rate.empty()) read_hold(texts, o.hold, faults);
  return faults;
}

}  // namespace

std::optional<ServerAddress> parse_server(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  in_addr address{};
  if (inet_pton(AF_INET, text.substr(0, colon).c_str(), &address) != 1) return std::nullopt;
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + colon + 1, end, port);
  if (read.ec != std::errc{} || read.ptr != end || port == 0) return std::nullopt;
  return ServerAddress{address.s_addr, htons(port)};
}

std::string format_address(std::uint32_t address) {
  std::array<char, INET_ADDRSTRLEN> text{};
  inet_ntop(AF_INET, &address, text.data(), text.size());
  return text.data();
}

ParsedAgentLine parse_agent_command_line(int argc, const char* const* argv) {
  ParsedAgentLine parsed;
  AgentOptions& o = parsed.options;
  Texts texts;
  CLI::App app(kHelp, "outrider-hostagent");
  add_version_option(app);
  app.footer(kFooter);
  app.require_subcommand(1);
  const auto commands = add_commands(app, o, texts);
  try {
    parse_arguments(app, {argv + 1, argv + argc});
  } catch (const CLI::ParseError& error) {
    parsed.exit_status = end_of_parsing(app, error);
    return parsed;
  }
  const auto given =
      std::ranges::find_if(commands, [](const auto& each) { return each.second->parsed(); });
  o.command = given->first;
  auto faults = read_texts(texts, *given->second, o);
  const auto more = faults_of(o);
  faults.insert(faults.end(), more.begin(), more.end());
  for (const auto& fault : faults) std::fprintf(stderr, "outrider-hostagent: %s\n", fault.c_str());
  if (!faults.empty()) parsed.exit_status = kExitUsage;
  return parsed;
}

}  // namespace outrider::agent
