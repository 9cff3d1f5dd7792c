// Goal: whatever arrives, what docs/reliability.md promises holds. Method: seeded scenarios of
// attacks and bad luck in a small world, whose judges look on all the while. A failure prints the
// scenario in its smallest form; OUTRIDER_ADVERSARY="seed 7; forge ..." plays it again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/support/adversary/scenario.h"
#include "tests/support/adversary/shrink.h"
#include "tests/support/adversary/world.h"
#include "tests/support/world.h"

namespace outrider::adversary_test {
namespace {

constexpr std::uint32_t kGroups = 16;
constexpr std::uint32_t kMbufs = 4096;

/// Seeds are dealt to the groups in turn. OUTRIDER_ADVERSARY_SEEDS="FIRST COUNT" chooses others.
struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t count = seeds(320, 100'000);
};

Seeds chosen_seeds() {
  Seeds chosen;
  if (const char* text = std::getenv("OUTRIDER_ADVERSARY_SEEDS")) {
    char* end = nullptr;
    chosen.first = std::strtoull(text, &end, 10);
    chosen.count = std::strtoull(end, nullptr, 10);
  }
  return chosen;
}

std::string report_of(const Scenario& scenario, rte_mempool& pool) {
  const auto fails = [&pool](const Scenario& s) { return violation_of(s, pool).has_value(); };
  const Scenario smallest = shrink(scenario, fails);
  return violation_of(smallest, pool).value_or("not again") + "\nOUTRIDER_ADVERSARY=\"" +
         to_text(smallest) + "\"";
}

class Adversary : public testing::TestWithParam<std::uint32_t> {
 protected:
  Mempool pool_ = make_test_pool(kMbufs);
};

TEST_P(Adversary, BreaksNoPromise) {
  const Seeds chosen = chosen_seeds();
  AdversaryWorld::Seen all;
  for (std::uint64_t n = GetParam(); n < chosen.count; n += kGroups) {
    const Scenario scenario = draw_scenario(chosen.first + n);
    std::optional<std::string> violation;
    {
      AdversaryWorld world(scenario, *pool_);
      violation = world.run();
      all.injected += world.seen().injected;
      all.windows_lowered += world.seen().windows_lowered;
      all.starts_judged += world.seen().starts_judged;
      all.armed += world.seen().armed;
    }
    ASSERT_FALSE(violation) << "seed " << scenario.seed << ": " << *violation << '\n'
                            << report_of(scenario, *pool_);
  }
  std::cout << all.injected << " injected, " << all.windows_lowered << " lowered, "
            << all.starts_judged << " judged, " << all.armed << " armed\n";
}
INSTANTIATE_TEST_SUITE_P(Seeds, Adversary, testing::Range(0U, kGroups));

TEST(AdversaryReplay, PlaysWhatTheEnvironmentSays) {
  const char* text = std::getenv("OUTRIDER_ADVERSARY");
  if (text == nullptr) GTEST_SKIP() << "OUTRIDER_ADVERSARY is not set";
  const Mempool pool = make_test_pool(kMbufs);
  EXPECT_EQ(violation_of(scenario_from(text), *pool), std::nullopt);
}

}  // namespace
}  // namespace outrider::adversary_test
