#include "tools/lab/cli/cli_cut.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include "common/config/suggestion.h"
#include "common/config/text_file.h"
#include "trafficgen/import/text_lines.h"

namespace outrider::lab {
namespace {

constexpr std::array<std::string_view, 3> kCutWords{"blocks", "turns", "metis"};
constexpr std::array kCutKinds{CutKind::kBlocks, CutKind::kTurns, CutKind::kMetis};
static_assert(kCutWords.size() == kCutKinds.size());

}  // namespace

Cut cut_named(const std::string& word) {
  const auto found = std::ranges::find(kCutWords, word);
  if (found == kCutWords.end()) return CutFile{.path = word};
  return kCutKinds[static_cast<std::size_t>(found - kCutWords.begin())];
}

std::string read_cut(Cut& cut) {
  auto* const file = std::get_if<CutFile>(&cut);
  if (file == nullptr) return {};
  auto text = read_text_file(file->path, tg::kMaxImportMib);
  if (!text)
    return "--cut " + file->path + ": is none of blocks, turns and metis, and as a file it " +
           text.issues.front().problem + suggestion(file->path, kCutWords);
  file->text = std::move(*text.config);
  return {};
}

}  // namespace outrider::lab
