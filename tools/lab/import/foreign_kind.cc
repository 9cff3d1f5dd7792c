#include "tools/lab/import/foreign_kind.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include "trafficgen/import/text_lines.h"

namespace outrider::lab {
namespace {

constexpr std::size_t kHeadBytes = 4096;  ///< of a file; more is not looked at
constexpr std::size_t kHeadLines = 8;

std::string in_lower_case(std::string_view word) {
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

using HeadLines = std::vector<std::vector<std::string_view>>;

HeadLines first_lines_of(std::string_view text) {
  HeadLines lines;
  tg::for_each_line(text.substr(0, kHeadBytes), [&lines](std::size_t, const auto& words) {
    if (lines.size() < kHeadLines) lines.push_back(words);
  });
  return lines;
}

/// Says whether a line has as many words as wanted, all of them whole numbers.
bool is_of_numbers(const std::vector<std::string_view>& words, std::size_t least,
                   std::size_t most) {
  return words.size() >= least && words.size() <= most &&
         std::ranges::all_of(words,
                             [](std::string_view w) { return tg::whole_number_of(w).has_value(); });
}

/// Says whether one of the first lines begins with the word, whatever its case.
bool begins_a_line(const HeadLines& lines, std::string_view word) {
  return std::ranges::any_of(
      lines, [word](const auto& words) { return in_lower_case(words.front()) == word; });
}

}  // namespace

ForeignKind foreign_kind_of(std::string_view text, const std::filesystem::path& path) {
  if (path.extension() == ".et") return ForeignKind::kChakraTrace;
  if (text.find('\0') < kHeadBytes) return ForeignKind::kUnknown;
  const HeadLines lines = first_lines_of(text);
  if (lines.empty()) return ForeignKind::kUnknown;
  const auto& first = lines.front();
  if (first.front().starts_with('{')) return ForeignKind::kNodeLink;
  if (begins_a_line(lines, "tiers") || begins_a_line(lines, "podsize")) return ForeignKind::kTiers;
  if (begins_a_line(lines, "connections")) return ForeignKind::kConnectionMatrix;
  for (const auto& words : lines)
    if (words.front().starts_with("comm_type,")) return ForeignKind::kAicbWorkload;
  if (std::ranges::find(first, "model_parallel_NPU_group:") != first.end())
    return ForeignKind::kSimaiWorkload;
  if (first.front().find(',') != std::string_view::npos &&
      std::string_view(first.front().data(), text.data() + text.size())
              .substr(0, kHeadBytes)
              .find("start_seconds") != std::string_view::npos)
    return ForeignKind::kFlowTable;
  if (is_of_numbers(first, 1, 1)) return ForeignKind::kFlowList;
  if (is_of_numbers(first, 3, 4)) return ForeignKind::kTopology;
  if (first.size() == 6 && !tg::whole_number_of(first.back()) &&
      is_of_numbers({first.begin(), first.end() - 1}, 5, 5))
    return ForeignKind::kGpuTopology;
  return ForeignKind::kUnknown;
}

std::string_view name_of(ForeignKind kind) noexcept {
  constexpr std::array<std::string_view, 11> kNames{"a file of no form that is known here",
                                                    "a topology of HPCC's or ns-3's form",
                                                    "a topology as node-link JSON",
                                                    "a list of flows of HPCC's form",
                                                    "a list of flows with named columns",
                                                    "a connection matrix of htsim",
                                                    "a topology of htsim",
                                                    "a topology of SimAI",
                                                    "a workload of SimAI",
                                                    "a workload of AICB",
                                                    "a trace of Chakra"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace outrider::lab
