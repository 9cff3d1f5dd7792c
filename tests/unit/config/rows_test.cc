// Goal: every row of both programs' files does what it says. Method: a visitor that changes
// the n-th row of a configuration, for every n; no row is named here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>
#include <typeinfo>

#include "common/config/config_file.h"
#include "common/config/process_checks.h"
#include "switch/config/config_toml.h"
#include "switch/config/regulation_config.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::rows_test {
using namespace sw;
using namespace tg;
namespace {

/// Calls `act` for the n-th row; lists get an element, so that their rows are met too.
class AtRow final : public Settings {
 public:
  struct Progress {
    std::size_t left;
    std::string path{};  ///< of the row, once met
    std::function<void(const Setting&)> act;
  };

  AtRow(Progress& progress, std::string path) : progress_(progress), path_(std::move(path)) {}

  void free_table(std::string_view, ConfigTable&, const About& = {}) override {}

 private:
  void row(const Setting& setting) override {
    if (!progress_.path.empty() || progress_.left-- != 0) return;
    progress_.path = join_key(path_, setting.key);
    if (setting.ops.list) progress_.path += "[0]";
    progress_.act(setting);
  }
  void nested(const SettingTable& table) override {
    if (table.only_defaults) return;
    AtRow inner(progress_, join_key(path_, table.key));
    table.describe_in(inner, table.field);
  }
  void list(const SettingList& list) override {
    AtRow inner(progress_, join_key(path_, list.key, 0));
    if (list.size(list.list) == 0) list.describe_new(inner, list.list, list.prototype);
    else list.describe_at(inner, list.list, 0);
  }

  Progress& progress_;
  std::string path_;
};

/// Changes the n-th row. @return its path; empty if there are no more
template <class Config>
std::string change(Config& config, std::size_t n, std::function<void(const Setting&)> act) {
  AtRow::Progress progress{.left = n, .act = std::move(act)};
  AtRow visitor(progress, "");
  describe(static_cast<Settings&>(visitor), config);
  return progress.path;
}

ConfigValue value_of(const SettingRange& range, bool high) {
  const std::uint64_t bound = high ? range.high : range.low;
  switch (range.of) {
    case SettingRange::Of::kReals:
      return ConfigValue(high ? range.real_high : range.real_low);
    case SettingRange::Of::kDurations:
      return ConfigValue(format_duration(Duration(static_cast<Duration::rep>(bound))));
    case SettingRange::Of::kRates:
      return ConfigValue(format_rate({bound}));
    default:
      return ConfigValue(static_cast<std::int64_t>(bound));
  }
}

/// The nearest values that the range refuses, of those that can be written at all.
std::vector<ConfigValue> just_outside(const SettingRange& range) {
  std::vector<ConfigValue> values;
  if (range.of == SettingRange::Of::kAnything) return values;
  const bool reals = range.of == SettingRange::Of::kReals;
  for (const bool high : {false, true}) {
    if (high && (reals ? !std::isfinite(range.real_high) : range.high == range.kUnbounded))
      continue;
    SettingRange bound = range;
    const bool itself = high ? range.below_high : range.above_low;
    if (!itself && !high && !reals && range.low == 0) continue;  // has no sign to write
    const double far =
        high ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    if (!itself) {
      bound.real_high = std::nextafter(range.real_high, far);
      bound.real_low = std::nextafter(range.real_low, far);
      bound.high += 1;
      bound.low -= 1;
    }
    const ConfigValue value = value_of(bound, high);
    const auto* integer = value.as<std::int64_t>();
    if (integer == nullptr || *integer >= 0) values.push_back(value);
  }
  return values;
}

/// Another value than the row has, that it allows by itself.
std::optional<ConfigValue> another(const Setting& s) {
  const SettingRange& range = s.about.range;
  const auto now = s.ops.write(s);
  std::vector<ConfigValue> candidates;
  for (const auto name : s.names) candidates.emplace_back(std::string(name));
  if (range.of != SettingRange::Of::kAnything)
    for (const bool high : {false, true})
      if (!(high && range.high == range.kUnbounded && range.of != SettingRange::Of::kReals))
        candidates.push_back(value_of(range, high));
  for (const char* text :
       {"x", "7ms", "3gbit", "7B", "5001-5002", "10mpps", "64:1", "64-128:64", "tcp"})
    candidates.emplace_back(std::string(text));
  candidates.emplace_back(std::int64_t{7});
  candidates.emplace_back(0.5);
  candidates.emplace_back(true);
  candidates.emplace_back(false);
  for (const auto& candidate : candidates) {
    const ConfigValue value =
        s.ops.list ? ConfigValue(ConfigValue::Array{candidate, candidate}) : candidate;
    if (s.ops.read(s, value).empty() && s.ops.write(s) != now) return s.ops.write(s);
  }
  return std::nullopt;
}

/// With an element in every list.
template <class Config>
Config filled() {
  Config config{};
  change(config, std::numeric_limits<std::size_t>::max(), [](const Setting&) {});
  return config;
}

std::multiset<std::string> lines_of(const std::string& text) {
  std::multiset<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

/// Lines of `a` that `b` has not.
std::size_t lines_without(const std::multiset<std::string>& a,
                          const std::multiset<std::string>& b) {
  std::vector<std::string> rest;
  std::ranges::set_difference(a, b, std::back_inserter(rest));
  return rest.size();
}

template <class Config>
struct RowsOf : testing::Test {};
using Files = testing::Types<SwitchProcessConfig, GeneratorConfig>;
TYPED_TEST_SUITE(RowsOf, Files);

TYPED_TEST(RowsOf, WhatIsWrittenReadsBack) {
  std::size_t rows = 0;
  for (;; ++rows) {
    TypeParam config = filled<TypeParam>();
    std::optional<ConfigValue> wanted;
    std::string path = change(config, rows, [&](const Setting& s) { wanted = another(s); });
    if (path.empty()) break;
    ASSERT_TRUE(wanted) << path << ": no value to try";
    const auto table = parse_toml(write_config(config));
    ASSERT_TRUE(table) << path;
    if (path.ends_with("[0]")) path.resize(path.size() - 3);
    const ConfigValue* written = find(*table.config, path);
    ASSERT_NE(written, nullptr) << path;
    EXPECT_EQ(*written, *wanted) << path;
    const auto before = lines_of(write_config(filled<TypeParam>()));
    const auto after = lines_of(write_config(config));
    // Other settings of a transport begin as these three say, see transport_stack_test.cc.
    const bool others_follow = path == "transport[0].stack" || path == "transport[0].protocol" ||
                               path == "transport[0].controller";
    if (!others_follow) {
      EXPECT_LE(lines_without(before, after), 1U) << path << " changes another key too";
      EXPECT_EQ(lines_without(after, before), 1U) << path << " changes another key too";
    }
    TypeParam again{};
    ConfigIssues issues;
    read_config(*table.config, "", again, issues);
    EXPECT_TRUE(issues.empty()) << format_issues(path, issues);
    // Queues inherit what their port has: what the row itself says counts.
    const auto table_again = parse_toml(write_config(again));
    const ConfigValue* read = find(*table_again.config, path);
    ASSERT_NE(read, nullptr) << path;
    EXPECT_EQ(*read, *wanted) << path;
  }
  EXPECT_GT(rows, 100U);
}

TYPED_TEST(RowsOf, WhatARangeExcludesIsRefusedByKey) {
  std::size_t refused = 0;
  for (std::size_t row = 0;; ++row) {
    std::vector<ConfigValue> outside;
    TypeParam untouched = filled<TypeParam>();
    const std::string path = change(
        untouched, row, [&outside](const Setting& s) { outside = just_outside(s.about.range); });
    if (path.empty()) break;
    for (const auto& value : outside) {
      TypeParam config = filled<TypeParam>();
      bool readable = true;
      change(config, row, [&](const Setting& s) {
        readable =
            s.ops.read(s, s.ops.list ? ConfigValue(ConfigValue::Array{value}) : value).empty();
      });
      if (!readable) continue;  // the field is too narrow for it: the reader's own rule
      std::size_t found = 0;
      for (const auto& issue : validate(config)) found += issue.key == path;
      EXPECT_EQ(found, 1U) << path << " = " << to_toml_text(value);
      ++refused;
    }
  }
  EXPECT_GT(refused, 60U);
}

/// Values beyond the bound of the setting's kind, as a file would have them; none for texts and
/// for integers with a bound of their own, such as seeds.
std::vector<ConfigValue> beyond_its_kind(const Setting& s) {
  const auto text = [](const char* t) { return ConfigValue(std::string(t)); };
  const ConfigValue largest(std::numeric_limits<std::int64_t>::max());
  const SettingRange& range = s.about.range;
  if (s.kind == SettingKind::kChoice || s.kind == SettingKind::kText) return {};
  if (s.ops.type.starts_with("duration")) return {text("9223372036854775807ns"), text("10000001s")};
  if (s.ops.type == "rate") return {text("18446744073709551615bit"), text("400000000001bit")};
  if (s.kind == SettingKind::kBytes) return {text("18446744073709551615B"), largest};
  if (s.ops.type.starts_with("number")) return {ConfigValue(1e300), ConfigValue(1e-320), largest};
  const bool seed = range.of == SettingRange::Of::kIntegers && range.high == kLargestTomlInteger;
  return s.ops.type == "integer" && !seed ? std::vector{largest} : std::vector<ConfigValue>{};
}

TYPED_TEST(RowsOf, NoValueIsBeyondTheBoundOfItsKind) {
  std::size_t refused = 0;
  for (std::size_t row = 0;; ++row) {
    std::vector<ConfigValue> beyond;
    TypeParam untouched = filled<TypeParam>();
    const std::string path =
        change(untouched, row, [&beyond](const Setting& s) { beyond = beyond_its_kind(s); });
    if (path.empty()) break;
    for (const auto& value : beyond) {
      TypeParam config = filled<TypeParam>();
      bool readable = true;
      change(config, row, [&](const Setting& s) {
        readable =
            s.ops.read(s, s.ops.list ? ConfigValue(ConfigValue::Array{value}) : value).empty();
      });
      if (!readable) {
        ++refused;
        continue;
      }
      std::size_t found = 0;  // a bound of its own may be what refuses it
      for (const auto& issue : validate(config)) found += issue.key == path;
      EXPECT_GE(found, 1U) << path << " = " << to_toml_text(value);
    }
  }
  EXPECT_GT(refused, 60U);
}

/// Stands for a value of any type but an optional, whose constructor takes it.
struct Anything {
  template <class T>
  requires(!detail::kIsOptional<T>) operator T()
      const {  // NOLINT(google-explicit-constructor): aggregates convert it
    return T{};
  }
};

template <class T, std::size_t... i>
constexpr bool made_of(std::index_sequence<i...>) {
  return requires { T{(static_cast<void>(i), Anything{})...}; };
}

/// Members of an aggregate: the longest list that initialises it.
template <class T, std::size_t n = 40>
constexpr std::size_t members() {
  if constexpr (n == 0 || made_of<T>(std::make_index_sequence<n>())) return n;
  else return members<T, n - 1>();
}

/// An optional OrAuto takes both what converts to itself and what converts to its value.
template <bool optional_or_auto>
using Initialiser = std::conditional_t<optional_or_auto, std::nullopt_t, Anything>;

template <class T, std::size_t or_auto, std::size_t... i>
constexpr bool made_with(std::index_sequence<i...>) {
  return requires { T{std::declval<Initialiser<i == or_auto>>()...}; };
}
template <class T, std::size_t... i>
constexpr bool made_with_one(std::index_sequence<i...> all) {
  return (made_with<T, i>(all) || ...);
}

/// Members of an aggregate of which one is an optional OrAuto.
template <class T, std::size_t n = 40>
constexpr std::size_t members_with_or_auto() {
  if constexpr (n == 0 || made_with_one<T>(std::make_index_sequence<n>())) return n;
  else return members_with_or_auto<T, n - 1>();
}

class CountRows final : public Settings {
 public:
  std::size_t count = 0;
  void free_table(std::string_view, ConfigTable&, const About& = {}) override { ++count; }

 private:
  void row(const Setting&) override { ++count; }
  void nested(const SettingTable& table) override { count += !table.only_defaults; }
  void list(const SettingList&) override { ++count; }
};

template <class T>
std::size_t rows() {
  T config{};
  CountRows counter;
  describe(static_cast<Settings&>(counter), config);
  return counter.count;
}

/// @tparam Inlined  a member whose rows stand beside the others
template <class T, class... Inlined>
void expect_a_row_for_each_member() {
  EXPECT_EQ(rows<T>(), members<T>() + ((rows<Inlined>() - 1) + ... + std::size_t{0}))
      << typeid(T).name();
}

TEST(Rows, EveryMemberHasOne) {
  expect_a_row_for_each_member<QueueConfig>();
  expect_a_row_for_each_member<LosslessConfig>();
  expect_a_row_for_each_member<RedConfig>();
  expect_a_row_for_each_member<PieConfig>();
  expect_a_row_for_each_member<Pi2Config>();
  expect_a_row_for_each_member<CodelConfig>();
  expect_a_row_for_each_member<MarkerConfig>();
  expect_a_row_for_each_member<WindowPolicy>();
  expect_a_row_for_each_member<GrantPolicy>();
  expect_a_row_for_each_member<PredictPolicy>();
  EXPECT_EQ(rows<RegulationPolicy>() + 1, members_with_or_auto<RegulationPolicy>())
      << "all but the signers'";
  expect_a_row_for_each_member<PortQueueConfig, QueueConfig>();
  expect_a_row_for_each_member<DeviceConfig>();
  expect_a_row_for_each_member<SignalConfig>();
  expect_a_row_for_each_member<TrustedConfig>();
  EXPECT_EQ(rows<SignerConfig>() + 1, members<SignerConfig>()) << "all but the keys as read";
  expect_a_row_for_each_member<SwitchPortConfig>();
  expect_a_row_for_each_member<BufferConfig>();
  expect_a_row_for_each_member<HopRecordConfig>();
  expect_a_row_for_each_member<ClassesConfig>();
  expect_a_row_for_each_member<RuleConfig>();
  expect_a_row_for_each_member<RouteConfig>();
  expect_a_row_for_each_member<L2Config>();
  expect_a_row_for_each_member<SwitchConfig>();
  expect_a_row_for_each_member<SwitchLinkConfig>();
  expect_a_row_for_each_member<TelemetryConfig>();
  expect_a_row_for_each_member<SwitchProcessConfig>();
  expect_a_row_for_each_member<GeneratorDeviceConfig, ArpConfig>();
  expect_a_row_for_each_member<HostConfig>();
  expect_a_row_for_each_member<ControllerConfig>();
  expect_a_row_for_each_member<TcpConfig, ControllerConfig>();
  expect_a_row_for_each_member<TransportConfig, TcpConfig>();
  expect_a_row_for_each_member<MltConfig>();
  expect_a_row_for_each_member<RoceConfig>();
  expect_a_row_for_each_member<DcqcnConfig>();
  expect_a_row_for_each_member<SwiftConfig>();
  expect_a_row_for_each_member<HpccConfig>();
  expect_a_row_for_each_member<TransportMemoryConfig>();
  expect_a_row_for_each_member<PolicyConfig>();
  expect_a_row_for_each_member<LearnerConfig>();
  expect_a_row_for_each_member<MessageConfig>();
  expect_a_row_for_each_member<R2spConfig>();
  expect_a_row_for_each_member<SignalFaultsConfig>();
  expect_a_row_for_each_member<TensorLightsConfig>();
  expect_a_row_for_each_member<AnnounceConfig>();
  expect_a_row_for_each_member<StragglerConfig>();
  expect_a_row_for_each_member<JobConfig>();
  expect_a_row_for_each_member<LongFlowsConfig>();
  expect_a_row_for_each_member<RequestFlowsConfig>();
  expect_a_row_for_each_member<FlowsConfig>();
  expect_a_row_for_each_member<CaptureConfig>();
  expect_a_row_for_each_member<TransferConfig>();
  expect_a_row_for_each_member<StreamConfig>();
  expect_a_row_for_each_member<GeneratorConfig>();
}

}  // namespace
}  // namespace outrider::rows_test
