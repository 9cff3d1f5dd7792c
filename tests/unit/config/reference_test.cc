// Goal: docs/configuration.md names every setting as the programs have it. Method: the tables
// between its markers are made from the rows. tools/dev/reference renews the page.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "switch/config/switch_settings.h"
#include "tests/support/source_path.h"
#include "trafficgen/config/generator_settings.h"

namespace outrider::reference_test {
using namespace sw;
using namespace tg;
namespace {

constexpr std::string_view kBegin = "<!-- settings of ";
constexpr std::string_view kEnd = "<!-- end of settings -->\n";

std::string read_page(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The tables of one program that have rows, "" for the top level.
std::set<std::string> tables_of(const SettingCatalogue& settings) {
  std::set<std::string> tables;
  for (const auto& e : settings.entries())
    if (!e.is_table) tables.insert(e.table);
  return tables;
}

struct Page {
  std::string text;
  std::set<std::string> shown;  ///< "outrider-switch switch.queue"
};

/// The page with the tables as they have to be. A marker: <!-- settings of PROGRAM: TABLE -->
Page renewed(const std::string& old) {
  Page page;
  std::size_t at = 0;
  for (;;) {
    const auto begin = old.find(kBegin, at);
    const auto line_end = begin == old.npos ? begin : old.find('\n', begin);
    const auto end = line_end == old.npos ? line_end : old.find(kEnd, line_end);
    if (end == old.npos) break;
    const std::string line = old.substr(begin + kBegin.size(), line_end - begin - kBegin.size());
    const auto colon = line.find(':');
    const std::string program = line.substr(0, colon);
    std::string table = line.substr(colon + 1, line.find(" -->") - colon - 1);
    table.erase(0, table.find_first_not_of(' '));
    const bool of_switch = program == "outrider-switch";
    const SettingCatalogue& settings = of_switch ? switch_settings() : generator_settings();
    page.text +=
        old.substr(at, line_end + 1 - at) + '\n' + settings.markdown(table, of_switch) + '\n';
    page.shown.insert(program + ' ' + table);
    at = end;
  }
  page.text += old.substr(at);
  return page;
}

TEST(Reference, ThePageIsWhatTheRowsSay) {
  const std::string path = source_path("docs/configuration.md");
  const std::string text = read_page(path);
  const Page page = renewed(text);
  if (std::getenv("OUTRIDER_RENEW_REFERENCE") != nullptr) std::ofstream(path) << page.text;
  else EXPECT_TRUE(page.text == text) << "docs/configuration.md is stale: run tools/dev/reference";
}

TEST(Reference, EveryTableHasAPlace) {
  const Page page = renewed(read_page(source_path("docs/configuration.md")));
  const auto expect_shown = [&page](const std::string& program, const SettingCatalogue& settings) {
    for (const auto& table : tables_of(settings)) {
      // A port and its queues have the tables of [[switch]] again.
      const bool again = table.starts_with("switch.port.");
      EXPECT_TRUE(again || page.shown.contains(program + ' ' + table))
          << "docs/configuration.md has no line \"" << kBegin << program << ": " << table
          << " -->\"";
    }
  };
  expect_shown("outrider-switch", switch_settings());
  expect_shown("outrider-trafficgen", generator_settings());
}

TEST(Reference, EveryRowSaysWhatItIs) {
  const auto expect_help = [](const SettingCatalogue& settings) {
    for (const auto& e : settings.entries()) {
      if (e.is_table) continue;
      EXPECT_FALSE(e.help.empty() && e.range.empty() && e.kind != "boolean") << e.path;
    }
  };
  expect_help(switch_settings());
  expect_help(generator_settings());
}

}  // namespace
}  // namespace outrider::reference_test
