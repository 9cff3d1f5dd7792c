#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/config/settings.h"

namespace outrider {

/// A row as the reference of the configuration shows it. Texts are Markdown.
struct CatalogueEntry {
  std::string path;   ///< "switch.port.queue.limit_packets"; no indices
  std::string table;  ///< "switch.port.queue"; empty at the top level of a file
  bool is_table = false;
  std::string kind;             ///< "integer", "list of durations"; for a table "[x]" or "[[x]]"
  std::string default_value{};  ///< the struct's initializer; "required" if there is none
  std::string range{};
  std::string help;
  ReloadRule reload;  ///< that of the table, if the row has none
};

/// Lists every row of a file, tables included, in the order of describe().
class SettingCatalogue {
 public:
  /// @param top  the rule of rows at the top level of the file that state none
  template <class T>
  static SettingCatalogue of(T config, ReloadRule top) {
    SettingCatalogue catalogue(top);
    catalogue.add([](Settings& v, void* c) { describe(v, *static_cast<T*>(c)); }, &config);
    return catalogue;
  }

  [[nodiscard]] const std::vector<CatalogueEntry>& entries() const noexcept { return entries_; }

  /// Returns whether a running program may take another value. A key without a row has the rule
  /// of the nearest table above it. @param path  without indices
  [[nodiscard]] ReloadRule reload_rule(std::string_view path) const;

  /// Returns the rows of one table in Markdown. @param reloads  adds the column on reload
  [[nodiscard]] std::string markdown(std::string_view table, bool reloads) const;

  /// Returns all tables, each below a line "## [[switch.port]]".
  [[nodiscard]] std::string markdown(bool reloads) const;

 private:
  explicit SettingCatalogue(ReloadRule top) : top_(top) {}
  void add(void (*describe_in)(Settings&, void*), void* config);

  ReloadRule top_;
  std::vector<CatalogueEntry> entries_;
};

/// Returns a path without indices: "switch[0].port[1].delay" -> "switch.port.delay".
std::string without_indices(std::string_view key);

}  // namespace outrider
