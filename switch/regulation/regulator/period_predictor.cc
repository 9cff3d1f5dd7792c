#include "switch/regulation/regulator/period_predictor.h"

#include <algorithm>
#include <cassert>

namespace outrider {

PeriodPredictor::PeriodPredictor(const Params& params) : params_(params) {
  assert(params.idle_gap > Duration::zero() && params.max_period >= params.idle_gap);
  assert(params.tolerance > 0 && params.tolerance < 0.5);
  assert(params.missed_limit >= 1 && params.max_jobs >= 1);
  jobs_.reserve(params.max_jobs);
}

bool PeriodPredictor::on_payload(std::uint64_t key, Time now) noexcept {
  Job* job = find(key);
  if (job == nullptr) {
    const bool added = add(key, now) != nullptr;
    ++(added ? counters_.onsets : counters_.refused);
    return added;
  }
  roll(*job, now);
  return see(*job, now);
}

bool PeriodPredictor::on_announced(std::uint64_t key, Time due, Time now) noexcept {
  if (due <= now) return on_payload(key, now);
  if (due - now > params_.max_period) return false;
  Job* job = find(key);
  if (job == nullptr) {
    job = add(key, now);
    if (job == nullptr) {
      ++counters_.refused;
      return false;
    }
    job->anchored = false;
    job->last_payload = now - params_.idle_gap;  // none yet: the first is an onset
    job->announced = due;
    return true;
  }
  roll(*job, now);
  if (job->locked)
    return due <= job->last_onset + job->period + tolerance_of(job->period) && see(*job, due);
  // Within idle_gap of the other instant it is the same burst.
  const Time before = job->announced == kNever ? kNever : job->announced - params_.idle_gap;
  if (due > before || due - job->last_payload < params_.idle_gap) return false;
  job->announced = due;
  return true;
}

/// Handles payload, or its announced instant. @return true if it was an onset
bool PeriodPredictor::see(Job& job, Time now) noexcept {
  const bool onset = now - job.last_payload >= params_.idle_gap;
  if (onset) on_onset(job, now);
  job.last_payload = std::max(job.last_payload, now);
  return onset;
}

std::optional<PeriodPredictor::Prediction> PeriodPredictor::next(Time now) noexcept {
  std::optional<Prediction> first;
  for (Job& job : jobs_) {
    roll(job, now);
    if (!job.locked) continue;
    const Prediction mine = prediction_of(job);
    if (!first || mine.due < first->due) first = mine;
  }
  return first;
}

PeriodPredictor::Prediction PeriodPredictor::prediction_of(const Job& job) const noexcept {
  const Time due = job.last_onset + job.period;
  return {job.key, due, job.period, due + tolerance_of(job.period) + Duration{1}, job.bytes};
}

std::optional<PeriodPredictor::Prediction> PeriodPredictor::take(Time now, Duration lead) noexcept {
  for (Job& job : jobs_) {
    roll(job, now);
    if (!job.locked || job.taken) continue;
    const Prediction prediction = prediction_of(job);
    if (prediction.due - lead > now) continue;
    job.taken = true;
    return prediction;
  }
  return std::nullopt;
}

Time PeriodPredictor::next_take(Duration lead) const noexcept {
  Time next = kNever;
  for (const Job& job : jobs_) {
    next = std::min(next, job.announced);
    if (!job.locked) continue;
    const Prediction expected = prediction_of(job);
    // A taken one may be missed; the one after it is expected then.
    const Time at = job.taken ? std::max(expected.given_up_at, expected.due + job.period - lead)
                              : expected.due - lead;
    next = std::min(next, at);
  }
  return next;
}

PeriodPredictor::State PeriodPredictor::state_of(std::uint64_t key, Time now) noexcept {
  Job* job = find(key);
  if (job == nullptr) return State::kUnknown;
  roll(*job, now);
  if (job->locked) return State::kLocked;
  return job->known_spans < kIntervals ? State::kLearning : State::kIrregular;
}

PeriodPredictor::Job* PeriodPredictor::find(std::uint64_t key) noexcept {
  if (last_used_ < jobs_.size() && jobs_[last_used_].key == key) return &jobs_[last_used_];
  const auto it = std::ranges::find(jobs_, key, &Job::key);
  if (it == jobs_.end()) return nullptr;
  last_used_ = static_cast<std::size_t>(it - jobs_.begin());
  return &*it;
}

/// A job that has been silent for longer than any period is replaced if the table is full.
PeriodPredictor::Job* PeriodPredictor::add(std::uint64_t key, Time now) noexcept {
  const Job job{.key = key, .last_payload = now, .last_onset = now};
  if (jobs_.size() < params_.max_jobs) return &jobs_.emplace_back(job);
  Job& oldest = *std::ranges::min_element(jobs_, {}, &Job::last_payload);
  roll(oldest, now);
  if (oldest.locked || now - oldest.last_payload <= params_.max_period) return nullptr;
  oldest = job;
  return &oldest;
}

/// @pre roll(job, now)
void PeriodPredictor::on_onset(Job& job, Time now) noexcept {
  job.announced = kNever;  // a nearer onset than that
  ++counters_.onsets;
  if (job.locked) return on_locked_onset(job, now);
  const Duration span = now - job.last_onset;
  job.last_onset = now;
  job.bytes = 0;
  if (!job.anchored || span > params_.max_period) {
    forget_spans(job);
    return;
  }
  learn(job, span);
  const Duration period = median(job);
  if (job.known_spans < kIntervals || !agrees(job, period)) return;
  job.locked = true;
  job.taken = false;
  job.period = period;
  ++counters_.locked;
}

void PeriodPredictor::on_locked_onset(Job& job, Time now) noexcept {
  const Time due = job.last_onset + job.period;
  if (now < due - tolerance_of(job.period)) {
    ++counters_.early;
    job.early_in_cycle = true;
    return;
  }
  ++counters_.hits;
  job.bytes = 0;
  job.early_cycles = job.early_in_cycle ? job.early_cycles + 1 : 0;
  job.early_in_cycle = false;
  if (job.early_cycles >= params_.missed_limit) {
    ++counters_.relearned;
    job.last_onset = now;
    return forget_spans(job);
  }
  // After a miss the span is counted from the expected time of the missed onset, because the
  // periods before it are assumed to equal the median.
  learn(job, now - job.last_onset);
  job.missed = 0;
  job.taken = false;
  job.last_onset = now;
  job.period = median(job);
}

void PeriodPredictor::roll(Job& job, Time now) noexcept {
  if (job.announced <= now) {
    const Time at = job.announced;
    job.announced = kNever;
    see(job, at);
  }
  while (job.locked && now > job.last_onset + job.period + tolerance_of(job.period)) {
    ++counters_.missed;
    job.last_onset += job.period;
    job.taken = false;
    if (++job.missed < params_.missed_limit) continue;
    ++counters_.ended;
    forget_spans(job);
    job.anchored = false;
  }
}

void PeriodPredictor::learn(Job& job, Duration span) noexcept {
  job.spans[job.next_span] = span;
  job.next_span = (job.next_span + 1) % kIntervals;
  job.known_spans = std::min(job.known_spans + 1, kIntervals);
}

void PeriodPredictor::forget_spans(Job& job) noexcept {
  job.known_spans = job.next_span = job.missed = job.early_cycles = 0;
  job.early_in_cycle = job.locked = false;
  job.anchored = true;
}

/// Returns the median of the known spans, the mean of the middle two if their number is even.
/// An insertion sort is enough for so few.
Duration PeriodPredictor::median(const Job& job) noexcept {
  assert(job.known_spans > 0);
  std::array<Duration, kIntervals> sorted{};
  for (std::size_t i = 0; i < job.known_spans; ++i) {
    std::size_t at = i;
    for (; at > 0 && sorted[at - 1] > job.spans[i]; --at) sorted[at] = sorted[at - 1];
    sorted[at] = job.spans[i];
  }
  const std::size_t middle = job.known_spans / 2;
  if (job.known_spans % 2 == 1) return sorted[middle];
  return (sorted[middle - 1] + sorted[middle]) / 2;
}

bool PeriodPredictor::agrees(const Job& job, Duration period) const noexcept {
  const Duration tolerance = tolerance_of(period);
  return std::ranges::all_of(job.spans, [&](Duration span) {
    return span >= period - tolerance && span <= period + tolerance;
  });
}

Duration PeriodPredictor::tolerance_of(Duration period) const noexcept {
  return Duration{
      static_cast<std::int64_t>(static_cast<double>(period.count()) * params_.tolerance)};
}

}  // namespace outrider
