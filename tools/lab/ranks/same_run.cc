#include "tools/lab/ranks/same_run.h"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tools/lab/run/run_store.h"
#include "tools/lab/simulation/partition.h"

namespace outrider::lab {
namespace {

std::string own_machine() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "an unnamed machine";
}

constexpr std::string RankIdentity::*kFields[] = {&RankIdentity::machine, &RankIdentity::program,
                                                  &RankIdentity::cases, &RankIdentity::cut,
                                                  &RankIdentity::fault};

/// A line of each field; the last one may have several.
std::string to_text(const RankIdentity& of) {
  std::string text;
  for (const auto field : kFields) text += of.*field + '\n';
  return text;
}

RankIdentity identity_from(const std::string& text) {
  RankIdentity of;
  std::size_t at = 0;
  for (const auto field : kFields) {
    const bool last = field == &RankIdentity::fault;
    const std::size_t end = last ? text.size() - 1 : text.find('\n', at);
    of.*field = text.substr(at, end - at);
    at = end + 1;
  }
  return of;
}

/// Returns a line on a rank that cannot run with rank 0; empty: it can.
std::string line_on(std::size_t rank, const RankIdentity& it, const RankIdentity& first) {
  const std::string who = "rank " + std::to_string(rank) + " on " + it.machine;
  const auto other = [&](const char* what, const char* mend) {
    return who + " has " + what + " than rank 0 on " + first.machine + ": " + mend + '\n';
  };
  if (it.program != first.program)
    return other("another program", "copy the directory of outrider-lab to both");
  if (it.fault == first.fault && !it.fault.empty()) return {};  // rank 0 says it
  if (!it.fault.empty()) return who + ": " + it.fault + '\n';
  if (!first.fault.empty()) return {};  // there is nothing to compare with
  if (it.cases != first.cases)
    return other("another experiment",
                 "copy the file, and the files that it names, to the same place on both");
  if (it.cut != first.cut)
    return other("another cut", "give all the same --cut, and install the same METIS");
  return {};
}

}  // namespace

RankIdentity rank_identity(const std::vector<Case>& cases, const RankOptions& options) {
  std::string ranks;
  for (const Case& c : cases) {
    const Partition cut =
        make_partition(c.switches, c.traffic, options.ranks, options.cut, options.tiles);
    for (const auto* of : {&cut.of_switch, &cut.of_host})
      for (const std::uint32_t rank : *of) ranks += std::to_string(rank) + ' ';
  }
  return {.machine = own_machine(),
          .program = program_identity(),
          .cases = plan_fingerprint(cases),
          .cut = std::to_string(content_hash(ranks)),
          .fault = {}};
}

RankIdentity rank_identity(std::string fault) {
  return {.machine = own_machine(),
          .program = program_identity(),
          .cases = {},
          .cut = {},
          .fault = std::move(fault)};
}

std::optional<std::string> difference(Peers& peers, const RankIdentity& mine) {
  std::vector<RankIdentity> all;
  for (const std::string& text : peers.gather(to_text(mine))) all.push_back(identity_from(text));
  std::string lines;
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    lines += line_on(rank, all[rank], all.front());
  if (peers.least(lines.empty() && mine.fault.empty() ? 1 : 0) == 1) return std::nullopt;
  return lines;
}

}  // namespace outrider::lab
