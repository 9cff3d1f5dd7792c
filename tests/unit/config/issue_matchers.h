#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/config/config_result.h"

namespace outrider {

/// A change that breaks exactly one rule of a valid configuration.
template <class Config>
struct Breach {
  std::function<void(Config&)> change;
  std::string_view key;
  std::string_view problem;  ///< begins with
};

template <class Config, std::size_t n>
void expect_each_reported(const Breach<Config> (&breaches)[n], const Config& valid) {
  for (const auto& breach : breaches) {
    Config config = valid;
    breach.change(config);
    const auto issues = validate(std::as_const(config));
    const bool as_expected = issues.size() == 1 && issues[0].key == breach.key &&
                             issues[0].problem.starts_with(breach.problem);
    EXPECT_TRUE(as_expected) << "expected " << breach.key << ": " << breach.problem << "\ngot "
                             << format_issues("config", issues);
  }
}

/// Every element differs: a round trip of `a` tests every field.
template <class... T>
void expect_all_differ(const std::tuple<T...>& a, const std::tuple<T...>& b) {
  const auto expect_one = [](const auto& x, const auto& y, std::size_t index) {
    EXPECT_FALSE(x == y) << "field " << index << " is " << testing::PrintToString(x);
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (expect_one(std::get<i>(a), std::get<i>(b), i), ...);
  }
  (std::index_sequence_for<T...>{});
}

}  // namespace outrider
