// Goal: the regulator's cached state, its lazy ends and its budget equal a model that derives
// everything again, nanosecond by nanosecond, from a list of live entries. Method: random
// STARTs, copies, payload, FINs and silences on few flows and a small table, with and without
// due times and lengths. The regulator is called only now and then, so that it finds several
// ends at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "common/core/random.h"
#include "switch/regulation/regulator/regulator.h"

namespace outrider::regulator_model_test {
namespace {

constexpr std::int64_t kLength = 3000;  // [ns] of a run
constexpr std::int64_t kWindow = 400;
constexpr std::int64_t kFurthestDue = 150;

class Model {
 public:
  explicit Model(const RegulationPolicy& p)
      : policy_(p),
        allowances_{of_window(p.budget_share), of_window(sender_share_of(p)),
                    of_window(queue_share_of(p))} {}

  /// Ends every entry that is over by `t`.
  void begin_tick(std::int64_t t) {
    now_ = t;
    if (t % kWindow == 0) held_.clear();
    std::erase_if(live_, [&](const Entry& e) {
      std::uint64_t* why = due(e);
      if (why != nullptr) ++*why;
      return why != nullptr;
    });
    std::erase_if(live_, [&](Entry& e) {
      if (e.begun || e.begin > now_) return false;
      e.begun = has_budget(e.flow);
      ++(e.begun ? begun_later : n.budget_exhausted);
      return !e.begun;
    });
  }
  /// Accounts for [t, t + 1).
  void end_tick() {
    if (std::ranges::any_of(live_, &Entry::begun)) ++regulated_;
    std::set<Account> used;
    for (const Entry& e : live_)
      if (e.begun)
        for (std::size_t level = 0; level < 3; ++level) used.insert(account(level, e.flow));
    for (const Account& account : used) ++held_[account];
  }

  void start(const StartSignal& s) {
    const auto& [flow, sequence, threshold, bytes, due_at, signer] = s;
    std::int64_t begin = now_;
    if (due_at && policy_.lead)
      begin = std::max(now_, (due_at->time_since_epoch() - *policy_.lead->value).count());
    const auto same_flow = [&s](const auto& e) { return e.flow == s.flow; };
    const auto it = std::ranges::find_if(live_, same_flow);
    const auto seen = std::ranges::find_if(seen_, same_flow);
    if (it == live_.end() ? seen != seen_.end() && behind(sequence, seen->sequence)
                          : behind(sequence, it->sequence)) {
      ++n.starts_stale;
      return;
    }
    if (it != live_.end() && it->sequence == sequence) {
      const bool tighter = tighten(*it, threshold, bytes, begin);
      ++(tighter ? n.starts_tightened : n.starts_repeated);
      if (tighter) begin_tick(now_);
      return;
    }
    if (it == live_.end() && seen != seen_.end() && seen->sequence == sequence) {
      ++n.starts_repeated;
      return;
    }
    if (it != live_.end()) {
      ++n.replaced;
      live_.erase(it);
    }
    if (begin == now_ && !has_budget(flow)) ++n.starts_refused_budget;
    else if (entries_of(flow.source_address) ==
             std::min(max_entries_per_sender_of(policy_), policy_.max_entries))
      ++n.starts_refused_sender;
    else if (live_.size() == policy_.max_entries && !evict_for(flow.source_address))
      ++n.starts_refused_table;
    else {
      ++n.starts_armed;
      live_.push_back(
          {flow, sequence, threshold, begin, begin, begin == now_, false, bytes.value_or(0)});
    }
  }

  void payload(const FlowKey& flow, std::uint32_t sequence, std::uint32_t bytes, bool fin) {
    const auto it = std::ranges::find_if(live_, [&](const Entry& e) { return e.flow == flow; });
    if (it == live_.end()) return;
    if (!it->in_burst && static_cast<std::int32_t>(sequence + bytes - it->sequence) <= 0) return;
    if (!it->in_burst) remember(flow, it->sequence);
    it->in_burst = true;
    it->active = now_;
    if (policy_.recovery == Recovery::kArrival) {
      ++n.recovered_arrival;
      live_.erase(it);
    } else if (policy_.recovery == Recovery::kBurstEnd &&
               (fin ||
                (it->bytes != 0 && static_cast<std::int32_t>(sequence + bytes - it->sequence) >=
                                       static_cast<std::int64_t>(it->bytes)))) {
      ended_by_bytes += !fin;
      ++n.recovered_burst_end;
      live_.erase(it);
    }
  }

  [[nodiscard]] std::optional<std::uint16_t> threshold() const {
    std::optional<std::uint16_t> lowest;
    for (const auto& e : live_)
      if (e.begun) lowest = std::min(lowest.value_or(e.threshold), e.threshold);
    return lowest;
  }
  [[nodiscard]] std::size_t live() const { return live_.size(); }
  [[nodiscard]] Duration regulated() const { return Duration{regulated_}; }

  RegulatorCounters n;
  std::uint64_t begun_later = 0;
  std::uint64_t ended_by_bytes = 0;

 private:
  struct Entry {
    FlowKey flow;
    std::uint32_t sequence;
    std::uint16_t threshold;
    std::int64_t begin, active;
    bool begun, in_burst;
    std::uint64_t bytes;  // 0: not announced
  };
  struct Seen {
    FlowKey flow;
    std::uint32_t sequence;
  };

  std::size_t entries_of(std::uint32_t sender) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        live_, [=](const Entry& e) { return e.flow.source_address == sender; }));
  }
  /// Evicts the oldest waiting entry of the other sender, if more of it wait than this one has.
  bool evict_for(std::uint32_t sender) {
    const auto victim = [=](const Entry& e) { return !e.begun && e.flow.source_address != sender; };
    if (static_cast<std::size_t>(std::ranges::count_if(live_, victim)) <= entries_of(sender))
      return false;
    live_.erase(std::ranges::find_if(live_, victim));
    ++n.evicted;
    return true;
  }

  /// Level, sender and server port.
  using Account = std::tuple<std::size_t, std::uint32_t, std::uint32_t>;

  static std::int64_t of_window(double share) {
    return static_cast<std::int64_t>(share * static_cast<double>(kWindow));
  }
  static Account account(std::size_t level, const FlowKey& f) {
    return {level, level == 2 ? 0 : f.source_address, level == 0 ? f.destination_port : 0};
  }
  bool has_budget(const FlowKey& flow) {
    for (std::size_t level = 0; level < 3; ++level)
      if (held_[account(level, flow)] >= allowances_[level]) return false;
    return true;
  }

  static bool behind(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int32_t>(a - b) < 0;
  }

  static bool tighten(Entry& e, std::uint16_t threshold, std::optional<std::uint64_t> bytes,
                      std::int64_t begin) {
    const Entry was = e;
    e.threshold = std::min(e.threshold, threshold);
    if (e.bytes != 0) e.bytes = std::max(e.bytes, bytes.value_or(0));
    if (!e.begun) e.begin = std::min(e.begin, begin);
    if (!e.in_burst) e.active = e.begin;
    return e.threshold != was.threshold || e.bytes != was.bytes || e.begin != was.begin;
  }

  // Returns the counter of the reason that ends `e` now, or nullptr.
  std::uint64_t* due(const Entry& e) {
    const auto passed = [&](std::int64_t since, Duration d) { return now_ >= since + d.count(); };
    if (passed(std::max(e.active, e.begin), policy_.expiry)) return &n.expired;
    if (policy_.recovery == Recovery::kTimer && passed(e.begin, policy_.hold))
      return &n.recovered_timer;
    if (policy_.recovery == Recovery::kBurstEnd && e.in_burst && passed(e.active, policy_.idle_end))
      return &n.recovered_burst_end;
    if (e.begun && !has_budget(e.flow)) return &n.budget_exhausted;
    return nullptr;
  }

  void remember(const FlowKey& flow, std::uint32_t sequence) {
    const auto it = std::ranges::find_if(seen_, [&](const Seen& s) { return s.flow == flow; });
    if (it != seen_.end()) {
      it->sequence = sequence;
      return;
    }
    if (seen_.size() == policy_.max_entries) seen_.erase(seen_.begin());
    seen_.push_back({flow, sequence});
  }

  RegulationPolicy policy_;
  std::array<std::int64_t, 3> allowances_;  ///< of job, sender, queue
  std::int64_t now_ = 0;
  std::int64_t regulated_ = 0;
  std::vector<Entry> live_;
  std::vector<Seen> seen_;
  std::map<Account, std::int64_t> held_;  // [ns] of the window
};

RegulationPolicy random_policy(RandomStream& random) {
  const bool leads = random.next_u32() % 2 == 0;
  return {.mode = RegulationMode::kMark,
          .recovery = static_cast<Recovery>(random.next_u32() % 3),
          .hold = Duration{20 + random.next_u32() % 150},
          .idle_end = Duration{5 + random.next_u32() % 60},
          .expiry = Duration{40 + random.next_u32() % 150},
          .budget_share = random.next_u32() % 3 == 0 ? 1.0 : 0.25,
          .budget_sender_share = random.next_u32() % 2 == 0 ? std::optional(0.35) : std::nullopt,
          .budget_queue_share = random.next_u32() % 2 == 0 ? std::optional(0.5) : std::nullopt,
          .budget_window = Duration{kWindow},
          .max_entries = 4 + random.next_u32() % 4,
          .max_entries_per_sender = 3 + random.next_u32() % 4,
          .lead = leads ? std::optional(Duration{random.next_u32() % 40}) : std::nullopt};
}

StartSignal random_start(const FlowKey& flow, std::uint32_t sequence, Time now,
                         RandomStream& random) {
  StartSignal start{flow, sequence, static_cast<std::uint16_t>(5 * (1 + random.next_u32() % 15))};
  if (random.next_u32() % 2 == 0) start.bytes = 1 + random.next_u32() % 3000;
  if (random.next_u32() % 2 == 0) start.due = now + Duration{random.next_u32() % kFurthestDue};
  return start;
}

std::uint64_t ended(const RegulatorCounters& c) {
  return c.recovered_arrival + c.recovered_burst_end + c.recovered_timer + c.expired +
         c.budget_exhausted + c.replaced + c.evicted;
}

void expect_same(const RegulatorCounters& a, const RegulatorCounters& b) {
  EXPECT_EQ(a.starts_armed, b.starts_armed);
  EXPECT_EQ(a.starts_repeated, b.starts_repeated);
  EXPECT_EQ(a.starts_tightened, b.starts_tightened);
  EXPECT_EQ(a.starts_stale, b.starts_stale);
  EXPECT_EQ(a.starts_refused_budget, b.starts_refused_budget);
  EXPECT_EQ(a.starts_refused_table, b.starts_refused_table);
  EXPECT_EQ(a.starts_refused_sender, b.starts_refused_sender);
  EXPECT_EQ(a.recovered_arrival, b.recovered_arrival);
  EXPECT_EQ(a.recovered_burst_end, b.recovered_burst_end);
  EXPECT_EQ(a.recovered_timer, b.recovered_timer);
  EXPECT_EQ(a.expired, b.expired);
  EXPECT_EQ(a.budget_exhausted, b.budget_exhausted);
  EXPECT_EQ(a.replaced, b.replaced);
  EXPECT_EQ(a.evicted, b.evicted);
}

void add(RegulatorCounters& sum, const RegulatorCounters& c) {
  sum.starts_armed += c.starts_armed;
  sum.starts_repeated += c.starts_repeated;
  sum.starts_tightened += c.starts_tightened;
  sum.starts_stale += c.starts_stale;
  sum.starts_refused_budget += c.starts_refused_budget;
  sum.starts_refused_table += c.starts_refused_table;
  sum.starts_refused_sender += c.starts_refused_sender;
  sum.recovered_arrival += c.recovered_arrival;
  sum.recovered_burst_end += c.recovered_burst_end;
  sum.recovered_timer += c.recovered_timer;
  sum.expired += c.expired;
  sum.budget_exhausted += c.budget_exhausted;
  sum.replaced += c.replaced;
  sum.evicted += c.evicted;
}

/// The counters of a run, and events that they do not show.
struct Ran {
  RegulatorCounters counters;
  std::uint64_t begun_later = 0;
  std::uint64_t ended_by_bytes = 0;
};

Ran run(std::uint64_t seed) {
  RandomStream random(seed, 0, RandomPurpose::kTest);
  const RegulationPolicy policy = random_policy(random);
  Regulator regulator(policy);
  Model model(policy);
  const std::uint32_t base = random.next_u32();  // some runs wrap around
  std::map<FlowKey, std::uint32_t> iteration;
  const std::uint32_t pace = 8 + random.next_u32() % 40;
  for (std::int64_t t = 0; t < kLength; ++t) {
    const Time now{Duration{t}};
    model.begin_tick(t);
    while (random.next_u32() % pace == 0) {
      const std::uint32_t w = random.next_u32() % 10;
      // Two jobs of two senders: with no more accounts than entries, none is forgotten.
      const FlowKey flow{0x0A000101U + w % 2, 0x0A000301, static_cast<std::uint16_t>(40'000 + w),
                         static_cast<std::uint16_t>(5000 + w / 2 % 2)};
      const std::uint32_t announced = base + iteration[flow] * 100'000;
      switch (random.next_u32() % 6) {
        case 0:
          ++iteration[flow];
          [[fallthrough]];
        case 1:
        case 2: {
          const std::uint32_t late = random.next_u32() % 8 == 0 ? 2 : 0;
          const std::uint32_t sequence = base + (iteration[flow] - late) * 100'000;
          const StartSignal start = random_start(flow, sequence, now, random);
          regulator.on_start(start, now);
          model.start(start);
          break;
        }
        default: {
          const std::uint32_t bytes = 1 + random.next_u32() % 1460;
          const std::uint32_t sequence = announced + random.next_u32() % 3000 - 1500;
          const bool fin = random.next_u32() % 6 == 0;
          regulator.on_payload(flow, sequence, bytes, fin, now);
          model.payload(flow, sequence, bytes, fin);
        }
      }
      EXPECT_EQ(regulator.counters().starts_armed,
                ended(regulator.counters()) + regulator.live_entries());
    }
    if (random.next_u32() % 40 == 0) {
      EXPECT_EQ(regulator.regulated(now), model.regulated()) << "seed " << seed << " t " << t;
      EXPECT_EQ(regulator.threshold(now), model.threshold()) << "seed " << seed << " t " << t;
      EXPECT_EQ(regulator.live_entries(), model.live()) << "seed " << seed << " t " << t;
      expect_same(regulator.counters(), model.n);
    }
    model.end_tick();
    if (testing::Test::HasFailure()) return {};
  }
  // After silence every run ends idle, whatever was lost before.
  const Time end{Duration{kLength + kFurthestDue} + policy.expiry};
  EXPECT_EQ(regulator.threshold(end), std::nullopt) << "seed " << seed;
  EXPECT_EQ(regulator.live_entries(), 0U);
  EXPECT_EQ(regulator.counters().starts_armed, ended(regulator.counters()));
  return {regulator.counters(), model.begun_later, model.ended_by_bytes};
}

TEST(RegulatorModel, EqualsAModelThatDerivesEverythingAnewAndEndsIdle) {
  RegulatorCounters sum;
  std::uint64_t begun_later = 0, ended_by_bytes = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Ran ran = run(seed);
    add(sum, ran.counters);
    begun_later += ran.begun_later;
    ended_by_bytes += ran.ended_by_bytes;
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  // The comparison is only meaningful if every branch was taken.
  EXPECT_GT(sum.starts_armed, 5'000U);
  EXPECT_GT(sum.starts_repeated, 1'000U);
  EXPECT_GT(sum.starts_tightened, 200U);
  EXPECT_GT(sum.starts_stale, 200U);
  EXPECT_GT(sum.starts_refused_budget, 500U);
  EXPECT_GT(sum.starts_refused_table, 100U);
  EXPECT_GT(sum.starts_refused_sender, 30U);
  EXPECT_GT(sum.evicted, 3U);
  EXPECT_GT(sum.recovered_arrival, 300U);
  EXPECT_GT(sum.recovered_burst_end, 300U);
  EXPECT_GT(sum.recovered_timer, 500U);
  EXPECT_GT(sum.expired, 200U);
  EXPECT_GT(sum.budget_exhausted, 200U);
  EXPECT_GT(sum.replaced, 200U);
  EXPECT_GT(begun_later, 500U);
  EXPECT_GT(ended_by_bytes, 50U);
}

}  // namespace
}  // namespace outrider::regulator_model_test
