// Files of other simulators that a user is given: topologies, connection matrices, traces of jobs,
// and lists of steps. A file is either refused with a reason, or what is made of it obeys the rules
// of what reads it next. The first byte of an input says which reader gets the rest.
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz_main.h"
#include "tools/lab/fabric/topology_file.h"
#include "tools/lab/import/aicb_workload.h"
#include "tools/lab/import/chakra_trace.h"
#include "tools/lab/import/connection_matrix.h"
#include "tools/lab/import/simai_workload.h"
#include "tools/lab/import/tier_topology.h"
#include "trafficgen/workload/collective/schedule/collective_schedule.h"

namespace outrider::fuzz {
using namespace lab;
namespace {

/// Each message waits for earlier ones alone, which its rank sent or got, so that none waits for
/// ever. Of large lists only the reading is tried.
void schedule(const tg::StepList& list) {
  constexpr std::uint64_t kMostTried = 20'000;
  std::uint64_t messages = 0;
  for (const tg::JobStep& step : list.steps)
    messages += tg::messages_of(step.kind, step.ranks.size());
  if (messages > kMostTried) return;
  const auto made = tg::steps_schedule(list);
  FUZZ_REQUIRE(made.messages.size() <= messages);
  for (std::size_t i = 0; i < made.messages.size(); ++i) {
    const auto& m = made.messages[i];
    FUZZ_REQUIRE(m.from < list.ranks && m.to < list.ranks && (m.from == m.to) == (m.bytes == 0));
    for (const std::uint32_t needed : m.needs) {
      FUZZ_REQUIRE(needed < i);
      const auto& before = made.messages[needed];
      FUZZ_REQUIRE(before.from == m.from || before.to == m.from);
    }
  }
}

void read_steps(std::string_view text) {
  const auto read = tg::parse_step_list(text);
  FUZZ_REQUIRE(read.config.has_value() == read.issues.empty());
  if (!read) return;
  FUZZ_REQUIRE(tg::validate(*read.config).empty());
  const std::string written = tg::step_list_text(*read.config);
  const auto again = tg::parse_step_list(written);
  FUZZ_REQUIRE(again && tg::step_list_text(*again.config) == written);
  schedule(*read.config);
}

/// The steps of a trace are valid, or say what is missing, such as a rank that sends nothing.
void take_trace(const ConfigResult<JobTrace>& read) {
  FUZZ_REQUIRE(read.config.has_value() == read.issues.empty());
  if (!read) return;
  if (!tg::validate(read.config->list).empty()) return;
  const auto again = tg::parse_step_list(tg::step_list_text(read.config->list));
  FUZZ_REQUIRE(again && again.config->ranks == read.config->list.ranks);
  schedule(read.config->list);
}

/// The first byte of two ranks' files is the length of the first.
void read_chakra(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t length = static_cast<std::uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  take_trace(
      parse_chakra_trace({bytes.substr(0, length), bytes.substr(std::min(length, bytes.size()))}));
}

void read_topology(std::string_view text, bool node_link) {
  ConfigIssues issues;
  const auto fabric = node_link ? parse_node_link(text, issues) : parse_hpcc_topology(text, issues);
  FUZZ_REQUIRE(fabric.has_value() == issues.empty());
  if (!fabric) return;
  for (const auto& slot : fabric->slots) FUZZ_REQUIRE(slot.at_switch < fabric->switches.size());
}

void read_tiers(std::string_view text) {
  const auto tiers = parse_tier_topology(text);
  FUZZ_REQUIRE(tiers.config.has_value() == tiers.issues.empty());
}

void read_matrix(std::string_view text) {
  const auto matrix = parse_connection_matrix(text);
  FUZZ_REQUIRE(matrix.config.has_value() == matrix.issues.empty());
  if (!matrix) return;
  Duration before{};
  for (const tg::ListedFlow& flow : matrix.config->flows) {
    FUZZ_REQUIRE(flow.from < matrix.config->nodes && flow.to < matrix.config->nodes);
    FUZZ_REQUIRE(flow.from != flow.to && flow.bytes > 0 && flow.at >= before);
    before = flow.at;
  }
}

}  // namespace

void run(FuzzInput in) {
  const std::uint8_t reader = in.byte();
  const std::string_view text = in.text();
  if (reader == 'l') return read_steps(text);
  if (reader == 's') return take_trace(parse_simai_workload(text));
  if (reader == 'a') return take_trace(parse_aicb_workload(text));
  if (reader == 'e') return read_chakra(text);
  if (reader == 'h') return read_topology(text, false);
  if (reader == 'j') return read_topology(text, true);
  if (reader == 't') return read_tiers(text);
  if (reader == 'm') return read_matrix(text);
}

}  // namespace outrider::fuzz
