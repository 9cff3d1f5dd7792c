#include "trafficgen/streams/search/rate_search.h"

#include <cassert>

namespace outrider::tg {

std::optional<double> RateSearch::next() const noexcept {
  if (passed_ >= 1) return std::nullopt;
  if (failed_ > 1) return 1.0;
  if (failed_ - passed_ <= config_.width) return std::nullopt;
  return (failed_ + passed_) / 2;
}

void RateSearch::on_trial(const RateTrial& trial) {
  const auto tried = next();
  assert(tried);
  trials_.push_back(trial);
  trials_.back().share = *tried;
  const bool judged = sends_enough(trial) || !loses_little(trial);
  if (!judged && retried_++ < config_.generator_retries) return;
  if (!passes(trial)) {
    failed_ = *tried;
    generator_failed_ = !judged;
  } else if (++repeated_ == config_.repeats) {
    passed_ = *tried;
  } else {
    return;
  }
  repeated_ = 0;
  retried_ = 0;
}

RateLimit RateSearch::limit() const noexcept {
  if (passed_ >= 1) return RateLimit::kMaximum;
  if (passed_ == 0) return RateLimit::kUnfound;
  return generator_failed_ ? RateLimit::kGenerator : RateLimit::kPath;
}

}  // namespace outrider::tg
