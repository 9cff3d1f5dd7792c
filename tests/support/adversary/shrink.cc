#include "tests/support/adversary/shrink.h"

#include <algorithm>
#include <array>

namespace outrider {
namespace {

class Shrinker {
 public:
  Shrinker(const Scenario& scenario, const std::function<bool(const Scenario&)>& fails,
           std::uint32_t limit)
      : smallest_(scenario), fails_(fails), left_(limit) {}

  Scenario run() {
    remove_acts();
    for (bool smaller = true; smaller && left_ > 0;) smaller = simplify_acts();
    return smallest_;
  }

 private:
  /// Keeps the candidate if it fails as well.
  bool take(const Scenario& candidate) {
    if (left_ == 0) return false;
    --left_;
    if (!fails_(candidate)) return false;
    smallest_ = candidate;
    return true;
  }

  void remove_acts() {
    for (std::size_t chunk = smallest_.acts.size(); chunk > 0; chunk /= 2) {
      for (std::size_t at = 0; at < smallest_.acts.size() && left_ > 0;) {
        Scenario candidate = smallest_;
        const auto from = candidate.acts.begin() + static_cast<std::ptrdiff_t>(at);
        const auto length = std::min(chunk, candidate.acts.size() - at);
        candidate.acts.erase(from, from + static_cast<std::ptrdiff_t>(length));
        if (!take(candidate)) at += chunk;
      }
    }
  }

  /// @return whether any parameter became smaller
  bool simplify_acts() {
    constexpr std::array kParameters{&HarmfulAct::choice, &HarmfulAct::count, &HarmfulAct::gap_us};
    bool smaller = false;
    for (std::size_t i = 0; i < smallest_.acts.size(); ++i)
      for (const auto parameter : kParameters)
        for (const std::uint32_t divisor : {0U, 4U, 2U}) {
          Scenario candidate = smallest_;
          std::uint32_t& value = candidate.acts[i].*parameter;
          const std::uint32_t simpler = divisor == 0 ? least_of(parameter) : value / divisor;
          if (simpler >= value || simpler < least_of(parameter)) continue;
          value = simpler;
          smaller |= take(candidate);
        }
    return smaller;
  }

  static std::uint32_t least_of(std::uint32_t HarmfulAct::*parameter) {
    return parameter == &HarmfulAct::choice ? 0 : 1;
  }

  Scenario smallest_;
  const std::function<bool(const Scenario&)>& fails_;
  std::uint32_t left_;
};

}  // namespace

Scenario shrink(const Scenario& scenario, const std::function<bool(const Scenario&)>& fails,
                std::uint32_t limit) {
  return Shrinker(scenario, fails, limit).run();
}

}  // namespace outrider
