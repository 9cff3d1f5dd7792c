// What each queue discipline decides costs a packet, alone: no packet, no queue. Each
// loop draws a random number, as the egress port does, so subtract draw.
#include <benchmark/benchmark.h>

#include "common/core/random.h"
#include "switch/aqm/codel_marker.h"
#include "switch/aqm/pie_marker.h"
#include "switch/aqm/red_marker.h"
#include "switch/aqm/scheduler.h"
#include "switch/aqm/shared_buffer.h"
#include "switch/aqm/step_marker.h"
#include "switch/regulation/regulator/period_predictor.h"

namespace {

using namespace outrider;
using namespace std::chrono_literals;

constexpr Duration kPacketTime = 1200ns;

/// Calls decide(occupancy in packets, draw, now) for a packet time after the other.
template <class Decide>
void run(benchmark::State& state, Decide&& decide) {
  RandomStream random(1, 0, RandomPurpose::kTest);
  Time now{};
  for (auto _ : state) {
    const std::uint32_t draw = random.next_u32();
    now += kPacketTime;
    benchmark::DoNotOptimize(decide(20 + draw % 64, draw, now));
  }
}

void draw(benchmark::State& state) {
  run(state, [](std::uint32_t occupancy, std::uint32_t, Time) { return occupancy; });
}
void step(benchmark::State& state) {
  run(state,
      [](std::uint32_t occupancy, std::uint32_t, Time) { return judge_step(occupancy, 40); });
}
void red(benchmark::State& state) {
  RedMarker red({.kmin = 30,
                 .kmax = 90,
                 .pmax = 0.1,
                 .weight = state.range(0) == 1 ? 1 : 0.002,
                 .packet_time = kPacketTime});
  run(state, [&](std::uint32_t occupancy, std::uint32_t draw, Time now) {
    red.on_dequeue(occupancy, now);
    return red.on_enqueue(occupancy, draw, now);
  });
}
void pie(benchmark::State& state) {
  PieMarker pie({.target = 50us, .t_update = 100us, .alpha = 37, .beta = 375});
  run(state, [&](std::uint32_t occupancy, std::uint32_t draw, Time now) {
    pie.on_dequeue(occupancy * kPacketTime, 1500, now);
    return pie.on_enqueue(occupancy * 1500, draw, now);
  });
}
void codel(benchmark::State& state) {
  CodelMarker codel({.target = 20us, .interval = 1ms, .mtu_bytes = 1500});
  run(state, [&](std::uint32_t occupancy, std::uint32_t, Time now) {
    return codel.on_dequeue(occupancy * kPacketTime, occupancy * 1500, now);
  });
}
void scheduler(benchmark::State& state) {
  Scheduler::Params params{.kind = static_cast<SchedulerKind>(state.range(0)),
                           .queues = static_cast<std::uint32_t>(state.range(1))};
  params.quantum_bytes.fill(1514);
  params.floors.fill({.bytes_per_second = 1e7, .depth_bytes = 3000});
  Scheduler scheduler(params);
  const auto all = static_cast<QueueMask>((1U << params.queues) - 1);
  run(state, [&](std::uint32_t, std::uint32_t draw, Time now) {
    const auto backlogged = static_cast<QueueMask>((draw & all) != 0 ? draw & all : all);
    const std::uint32_t q = scheduler.pick(
        backlogged, [draw](std::uint32_t) { return 60 + draw % 1024; }, now);
    scheduler.served(q, 60 + draw % 1024);
    return q;
  });
}
void shared_buffer(benchmark::State& state) {
  const std::vector<SharedBuffer::QueueShare> shares(248, {.reserved_bytes = 3000, .alpha = 1});
  SharedBuffer buffer(16'000'000, shares);
  run(state, [&](std::uint32_t, std::uint32_t draw, Time) {
    const std::size_t q = draw % shares.size();
    const BufferVerdict verdict = buffer.admits(q, 1500);
    if (verdict == BufferVerdict::kAdmit) {
      buffer.charge(q, 1500);
      buffer.release(q, 1500);
    }
    return verdict;
  });
}
void period_predictor(benchmark::State& state) {
  PeriodPredictor predictor({.idle_gap = 1ms, .max_period = 10s});
  run(state, [&](std::uint32_t, std::uint32_t, Time now) {
    predictor.on_payload(1, now);
    return &predictor;
  });
}

BENCHMARK(draw);
BENCHMARK(step);
BENCHMARK(red)->Arg(1)->Arg(0)->ArgName("instantaneous");
BENCHMARK(pie);
BENCHMARK(codel);
BENCHMARK(scheduler)
    ->ArgsProduct({{static_cast<int>(SchedulerKind::kStrict),
                    static_cast<int>(SchedulerKind::kDwrr),
                    static_cast<int>(SchedulerKind::kStrictFloor)},
                   {1, 8}})
    ->ArgNames({"kind", "queues"});
BENCHMARK(shared_buffer);
BENCHMARK(period_predictor);

}  // namespace

BENCHMARK_MAIN();
