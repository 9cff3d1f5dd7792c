#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string_view>
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

}  // namespace outrider
