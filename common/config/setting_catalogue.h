#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/config/settings.h"

namespace outrider {

/// A row as a reader of the reference sees it. Texts are Markdown.
struct CatalogueEntry {
  std::string path;   ///< "switch.port.queue.limit_packets"; no indices
  std::string table;  ///< "switch.port.queue"; empty at the top level of a file
  bool is_table = false;
  std::string kind;             ///< "integer", "list of durations"; of a table "[x]" or "[[x]]"
  std::string default_value{};  ///< of the struct's initializer; "required" if there is none
  std::string range{};
  std::string help;
  ReloadRule reload;  ///< the table's, where the row has none
};

/// Every row of a file, in the order of describe(), the tables among them.
class SettingCatalogue {
 public:
  /// @param top  what rows refuse that say nothing, at the top level of the file
  template <class T>
  static SettingCatalogue of(T config, ReloadRule top) {
    SettingCatalogue catalogue(top);
    catalogue.add([](Settings& v, void* c) { describe(v, *static_cast<T*>(c)); }, &config);
    return catalogue;
  }

  [[nodiscard]] const std::vector<CatalogueEntry>& entries() const noexcept { return entries_; }

  /// May a running program take another value? A key without a row has the rule of the
  /// nearest table above it. @param path  without indices
  [[nodiscard]] ReloadRule reload_rule(std::string_view path) const;

  /// The rows of one table as a table in Markdown. @param reloads  with the column on reload
  [[nodiscard]] std::string markdown(std::string_view table, bool reloads) const;

  /// Every table under a line "## [[switch.port]]".
  [[nodiscard]] std::string markdown(bool reloads) const;

 private:
  explicit SettingCatalogue(ReloadRule top) : top_(top) {}
  void add(void (*describe_in)(Settings&, void*), void* config);

  ReloadRule top_;
  std::vector<CatalogueEntry> entries_;
};

/// "switch[0].port[1].delay" -> "switch.port.delay"
std::string without_indices(std::string_view key);

}  // namespace outrider
