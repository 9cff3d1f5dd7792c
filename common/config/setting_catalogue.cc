#include "common/config/setting_catalogue.h"

#include <algorithm>
#include <utility>

#include "common/config/toml_text.h"

namespace outrider {
namespace {

std::string_view scalar_kind(const Setting& s) {
  switch (s.kind) {
    case SettingKind::kBytes:
      return "size";
    case SettingKind::kShare:
      return "share";
    case SettingKind::kChoice:
      return "name";
    case SettingKind::kText:
      return "text";
    case SettingKind::kValue:
    case SettingKind::kDuration:
    case SettingKind::kRate:
      break;
  }
  return s.ops.type;
}

std::string kind_of(const Setting& s) {
  const std::string scalar(scalar_kind(s));
  return s.ops.list ? "list of " + scalar + 's' : scalar;
}

std::string default_of(const Setting& s, const std::optional<ConfigValue>& value) {
  if (s.about.required) return "required";
  if (!s.about.absent.empty()) return std::string(s.about.absent);
  if (!value) return "none";
  const std::string text = to_toml_text(*value);
  const bool number = value->as<std::int64_t>() || value->as<double>();
  return number ? text : '`' + text + '`';
}

std::string range_of(const Setting& s) {
  std::string text = s.about.range.text();
  for (const auto name : s.names) {
    if (!text.empty()) text += ", ";
    text.append("`\"").append(name).append("\"`");
  }
  if (!text.empty() && !s.about.accepts.empty()) text += "; ";
  return text.append(s.about.accepts);
}

/// Records every row of a struct and of the structs in it; for a list, those of its prototype.
class Cataloguer final : public Settings {
 public:
  Cataloguer(std::vector<CatalogueEntry>& out, std::string table, ReloadRule rule)
      : out_(out), table_(std::move(table)), rule_(rule) {}

  void free_table(std::string_view key, ConfigTable&, const About& about = {}) override {
    note(key, "table", about);
    out_.back().default_value = "`{}`";
    out_.back().range = about.accepts;
  }

 private:
  void row(const Setting& s) override {
    const auto value = s.ops.write(s);
    note(s.key, kind_of(s), s.about);
    out_.back().default_value = default_of(s, value);
    out_.back().range = range_of(s);
  }

  void nested(const SettingTable& t) override {
    Cataloguer inner = note_table(t.key, false, t.about);
    t.describe_in(inner, t.field);
  }

  void list(const SettingList& l) override {
    Cataloguer inner = note_table(l.key, true, l.about);
    l.describe_prototype(inner, l.prototype);
  }

  [[nodiscard]] ReloadRule resolved(const ReloadRule& own) const {
    return own.rule == ReloadRule::Rule::kAsTable ? rule_ : own;
  }

  void note(std::string_view key, std::string kind, const About& about) {
    out_.push_back({.path = join_key(table_, key),
                    .table = table_,
                    .kind = std::move(kind),
                    .help = std::string(about.help),
                    .reload = resolved(about.reload)});
  }

  Cataloguer note_table(std::string_view key, bool list, const About& about) {
    const std::string path = join_key(table_, key);
    note(key, list ? "[[" + path + "]]" : '[' + path + ']', about);
    out_.back().is_table = true;
    return {out_, path, resolved(about.reload)};
  }

  std::vector<CatalogueEntry>& out_;
  std::string table_;
  ReloadRule rule_;
};

/// Returns whether `key` is the key `at` itself or below it.
bool holds(std::string_view at, std::string_view key) {
  return key.starts_with(at) && (key.size() == at.size() || key[at.size()] == '.');
}

}  // namespace

void SettingCatalogue::add(void (*describe_in)(Settings&, void*), void* config) {
  Cataloguer cataloguer(entries_, "", top_);
  describe_in(cataloguer, config);
}

ReloadRule SettingCatalogue::reload_rule(std::string_view path) const {
  const CatalogueEntry* nearest = nullptr;
  for (const auto& e : entries_)
    if (holds(e.path, path) && (nearest == nullptr || e.path.size() > nearest->path.size()))
      nearest = &e;
  return nearest == nullptr ? top_ : nearest->reload;
}

std::string SettingCatalogue::markdown(std::string_view table, bool reloads) const {
  std::string text = "| key | kind | default | range | what it is |";
  text += reloads ? " reload |\n|---|---|---|---|---|---|\n" : "\n|---|---|---|---|---|\n";
  const auto cell = [&text](const std::string& content) {
    text += content.empty() ? " |" : ' ' + content + " |";
  };
  for (const auto& e : entries_) {
    if (e.table != table || e.is_table) continue;
    text += '|';
    cell('`' + e.path.substr(table.empty() ? 0 : table.size() + 1) + '`');
    cell(e.kind);
    cell(e.default_value);
    cell(e.range);
    cell(e.help);
    if (reloads) cell(e.reload.rule == ReloadRule::Rule::kFree ? "yes" : "no");
    text += '\n';
  }
  return text;
}

std::string SettingCatalogue::markdown(bool reloads) const {
  std::string text = "## top level\n\n" + markdown("", reloads);
  for (const auto& e : entries_) {
    const bool has_rows = std::ranges::any_of(
        entries_, [&e](const CatalogueEntry& row) { return !row.is_table && row.table == e.path; });
    if (e.is_table && has_rows) text += "\n## " + e.kind + "\n\n" + markdown(e.path, reloads);
  }
  return text;
}

std::string without_indices(std::string_view key) {
  std::string out;
  bool inside = false;
  for (const char c : key) {
    if (c == '[') inside = true;
    if (!inside) out += c;
    if (c == ']') inside = false;
  }
  return out;
}

}  // namespace outrider
