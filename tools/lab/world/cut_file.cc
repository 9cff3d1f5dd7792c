#include "tools/lab/world/cut_file.h"

#include <map>
#include <string>
#include <utility>

#include "common/config/suggestion.h"
#include "trafficgen/import/text_lines.h"

namespace outrider::lab {
namespace {

constexpr std::size_t kMostFaults = 20;  ///< a case may have thousands of switches

std::string quoted_name(std::string_view name) { return "\"" + std::string(name) + "\""; }

class CutFileReader {
 public:
  CutFileReader(const CutNodes& nodes, std::uint32_t ranks, ConfigIssues& issues)
      : nodes_(nodes), issues_(issues), line_of_(nodes.names.size()), has_line_(ranks) {
    for (std::size_t n = 0; n < nodes.names.size(); ++n) node_by_name_.emplace(nodes.names[n], n);
  }

  void take(std::size_t line, const std::vector<std::string_view>& words) {
    if (words.size() != 2) return fault(line, "must hold a name and a rank");
    const auto rank = rank_of(line, words[1]);
    if (rank) has_line_[*rank] = true;
    const auto node = node_by_name_.find(words[0]);
    if (node == node_by_name_.end())
      return fault(line, quoted_name(words[0]) + ": is no switch and no host of the case" +
                             suggestion(words[0], nodes_.names));
    std::size_t& before = line_of_[node->second];
    if (before != 0)
      return fault(line, quoted_name(words[0]) + ": has its rank in line " +
                             std::to_string(before) + " already");
    before = line;
    if (rank) named_.push_back({line, node->second, *rank});
  }

  std::optional<std::vector<std::uint32_t>> made() {
    for (std::size_t s = 0; s < nodes_.switches; ++s)
      if (line_of_[s] == 0) fault("", "switch " + quoted_name(nodes_.names[s]) + " has no line");
    for (std::size_t rank = 0; rank < has_line_.size(); ++rank)
      if (!has_line_[rank])
        fault("", "rank " + std::to_string(rank) + " has no switch and no host");
    place_units();
    if (!issues_.empty()) return std::nullopt;
    std::vector<std::uint32_t> ranks;
    for (std::size_t u = 0; u < nodes_.home_of_unit.size(); ++u)
      ranks.push_back(named_[speaker_of(u)].rank);
    return ranks;
  }

 private:
  static constexpr std::size_t kNobody = SIZE_MAX;

  struct Named {
    std::size_t line = 0;
    std::size_t node = 0;
    std::uint32_t rank = 0;
  };

  void fault(const std::string& place, const std::string& problem) {
    if (issues_.size() < kMostFaults) issues_.push_back({place, problem});
  }
  void fault(std::size_t line, const std::string& problem) {
    fault("line " + std::to_string(line), problem);
  }

  std::optional<std::uint32_t> rank_of(std::size_t line, std::string_view word) {
    const auto rank = tg::whole_number_of(word);
    if (rank && *rank < has_line_.size()) return static_cast<std::uint32_t>(*rank);
    fault(line, "rank " + quoted_name(word) + ": must be 0" +
                    (has_line_.size() == 1 ? "" : " to " + std::to_string(has_line_.size() - 1)));
    return std::nullopt;
  }

  /// Finds the first line that speaks of each unit, and those that disagree with it.
  void place_units() {
    first_.assign(nodes_.home_of_unit.size(), kNobody);
    for (std::size_t i = 0; i < named_.size(); ++i) {
      std::size_t& first = first_[nodes_.unit_of[named_[i].node]];
      if (first == kNobody) first = i;
      else if (named_[first].rank != named_[i].rank) disagree(named_[i], named_[first]);
    }
  }

  void disagree(const Named& later, const Named& first) {
    const auto group_of = [this](const Named& n) {
      return n.node < nodes_.switches
                 ? std::nullopt
                 : std::optional(nodes_.group_of_host[n.node - nodes_.switches]);
    };
    const std::string first_text = quoted_name(nodes_.names[first.node]) + ", which line " +
                                   std::to_string(first.line) + " puts on rank " +
                                   std::to_string(first.rank);
    const bool share = group_of(later) && group_of(later) == group_of(first);
    fault(later.line,
          quoted_name(nodes_.names[later.node]) +
              (share ? ": shares traffic with " + first_text + ": such hosts are on one rank"
                     : ": is joined by wires without delay to " + first_text +
                           ": such wires are not cut"));
  }

  /// Returns which line places a unit. @pre every switch has one
  [[nodiscard]] std::size_t speaker_of(std::size_t unit) const {
    return first_[unit] != kNobody ? first_[unit]
                                   : first_[nodes_.unit_of[nodes_.home_of_unit[unit]]];
  }

  const CutNodes& nodes_;
  ConfigIssues& issues_;
  std::map<std::string_view, std::size_t> node_by_name_;  ///< a switch goes before a host
  std::vector<std::size_t> line_of_;                      ///< [nodes] 0: none
  std::vector<bool> has_line_;                            ///< [ranks]
  std::vector<Named> named_;
  std::vector<std::size_t> first_;  ///< [units] in named_
};

}  // namespace

std::optional<std::vector<std::uint32_t>> ranks_by_file(std::string_view text,
                                                        const CutNodes& nodes, std::uint32_t ranks,
                                                        ConfigIssues& issues) {
  CutFileReader reader(nodes, ranks, issues);
  tg::for_each_line(text, [&](std::size_t line, const auto& words) { reader.take(line, words); });
  return reader.made();
}

}  // namespace outrider::lab
