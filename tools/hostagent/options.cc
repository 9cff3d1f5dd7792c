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
#include "tools/hostagent/bpf/wire.h"

namespace outrider::agent {
namespace {

constexpr const char* kHelp =
    R"(Announces the bursts of a training job that knows nothing of Outrider, from the Linux
host that it runs on. Needs root, or CAP_BPF and CAP_NET_ADMIN.

  announce  on a worker: watches what leaves for the job's servers and sends START to the
            switches on the way, at a burst's first byte or ahead of it
  answer    on a server: answers START in the kernel
  record    on a worker: writes its bursts down, and a profile that outrider-trafficgen
            replays
  dctcp     on both ends of a connection: offers DCTCP (RFC 8257) as the congestion control
            outrider_dctcp, where the kernel has none

The first three change, delay and drop no packet of the job. When an agent ends, also by
kill -9 and a restart, nothing of it stays behind.)";

constexpr const char* kFooter =
    "Exit status: 0 stopped by Ctrl-C or SIGTERM, 2 command line refused, 3 the host refuses\n"
    "(privilege, kernel, interface), 1 anything else.\n\n"
    "Examples:\n"
    "  outrider-hostagent announce --interface eth0 --server 10.0.0.9:5000 --lead 2ms\n"
    "  outrider-hostagent answer --interface eth0\n"
    "  outrider-hostagent dctcp & iperf3 -c 10.0.0.9 -C outrider_dctcp";

/// Options that CLI11 keeps as text, so that all their errors can be reported at once.
struct Texts {
  std::vector<std::string> servers{}, accept_from{};
  std::string idle_gap = "2ms", max_period = "60s", lead = "0s";
  std::string form = "udp";
  std::string signal_key{};
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
      ->capture_default_str();
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
      .add_option("--signal-key", texts.signal_key,
                  "Key file that signs STARTs, which the switches have too [unsigned]")
      ->type_name("FILE");
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
  answer
      ->add_option("--accept-from", texts.accept_from,
                   "Network whose STARTs are answered; repeat it [the interface's own networks]")
      ->type_name("PREFIX");
  auto* const record = app.add_subcommand("record", "Record the bursts of a worker");
  add_interface(*record, o);
  add_watch(*record, o, texts);
  add_record(*record, o);
  auto* const dctcp = app.add_subcommand("dctcp", "Offer DCTCP to the connections of this host");
  dctcp->add_flag("--allow", o.allow, "Programs without CAP_NET_ADMIN may choose it, too");
  for (auto* const command : {announce, answer, record, dctcp}) add_common(*command, o);
  return {{AgentCommand::kAnnounce, announce},
          {AgentCommand::kAnswer, answer},
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

std::vector<std::string> faults_of(const AgentOptions& o) {
  std::vector<std::string> faults;
  const auto require = [&faults](bool holds, std::string fault) {
    if (!holds) faults.push_back(std::move(fault));
  };
  require(o.signal_port > 0, "--signal-port: 0: must be 1 to 65535");
  if (o.command == AgentCommand::kAnswer || o.command == AgentCommand::kDctcp) return faults;
  require(o.idle_gap > Duration::zero(), "--idle-gap: 0s: must be above 0s");
  require(o.max_bursts > 0, "--max-bursts: 0: must be above 0");
  if (o.command == AgentCommand::kRecord) return faults;
  require(o.worker < 32768, "--worker: " + std::to_string(o.worker) + ": must be 0 to 32767");
  require(o.threshold_packets % 5 == 0 && o.threshold_packets >= 5 && o.threshold_packets <= 75,
          "--threshold: " + std::to_string(o.threshold_packets) +
              ": must be a multiple of 5 from 5 to 75");
  require(o.max_period >= o.idle_gap, "--max-period: " + format_duration(o.max_period) +
                                          ": must be at least --idle-gap, " +
                                          format_duration(o.idle_gap));
  return faults;
}

ParsedAgentLine parse_agent_command_line(int argc, const char* const* argv) {
  ParsedAgentLine parsed;
  AgentOptions& o = parsed.options;
  Texts texts;
  CLI::App app(kHelp, "outrider-hostagent");
  app.set_version_flag("--version", "outrider-hostagent 0.1.0");
  app.footer(kFooter);
  app.require_subcommand(1);
  const auto commands = add_commands(app, o, texts);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    parsed.exit_status = app.exit(error) == 0 ? kExitOk : kExitUsage;
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
