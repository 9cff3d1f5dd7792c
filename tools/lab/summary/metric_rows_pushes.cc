#include "tools/lab/measure/roofline.h"
#include "tools/lab/summary/metric_rows.h"

// Communication over that of the network alone, and the pushes of single workers.

namespace outrider::lab {

namespace push_rows {

using enum Aggregate;
using enum Unit;

constexpr Relative kOverAlone{samples_by_job<&Samples::communication_seconds>.values,
                              [](const CaseSummary& c) -> const JobSamples& {
                                return c.network_alone.communication_seconds;
                              }};

constexpr Relative kIterationOverAlone{
    samples_by_job<&Samples::iteration_seconds>.values,
    [](const CaseSummary& c) -> const JobSamples& { return c.network_alone.iteration_seconds; }};

constexpr Relative kTailOverAlone{kOverAlone.values, kOverAlone.reference, Aggregate::kMedian};

constexpr RatioOfSums kAloneRtosPerBurst{
    [](const CaseSummary& c) { return static_cast<double>(c.alone.push_rtos); },
    [](const CaseSummary& c) { return static_cast<double>(c.alone.push_bursts); }};

constexpr Metric kRows[] = {
    {.name = "communication_over_alone_median",
     .unit = kNumber,
     .help = "earliest gradients ready to latest delivery of an iteration, over that of the first "
             "baseline without background",
     .aggregate = kMedian,
     .source = kOverAlone,
     .column = {"/ alone"}},
    {.name = "communication_over_alone_p99",
     .unit = kNumber,
     .help = "earliest gradients ready to latest delivery of an iteration, over that of the first "
             "baseline without background",
     .aggregate = kP99,
     .source = kOverAlone,
     .column = {"p99", "/ alone p99"}},
    {.name = "communication_p99_over_alone_median",
     .unit = kNumber,
     .help =
         "p99 of the communication of all iterations, first bursts included, over the median of "
         "the first baseline without background",
     .aggregate = kP99,
     .source = kTailOverAlone,
     .column = {"p99", "/ alone"}},
    {.name = "iteration_over_alone_median",
     .unit = kNumber,
     .help = "an iteration of the slowest worker, over that of the first baseline without "
             "background",
     .aggregate = kMedian,
     .source = kIterationOverAlone,
     .column = {"iteration", "/ alone"}},
    {.name = "iteration_over_roofline_median",
     .unit = kNumber,
     .help =
         "iteration of a job without servers over its roofline: computing, and then what a rank "
         "sends at the rate of its NIC",
     .aggregate = kMedian,
     .source = FromRun{&over_roofline},
     .column = {"/ roofline"}},
    {.name = "first_communication_seconds_median",
     .unit = kSeconds,
     .help = "communication of each job's first iteration, if it is measured",
     .aggregate = kMedian,
     .source = samples_by_job<&Samples::first_communication_seconds>,
     .column = {"first", "ms, median"}},
    {.name = "alone_rtos_per_burst",
     .unit = kNumber,
     .help = "retransmission time-outs of a push burst without background",
     .source = kAloneRtosPerBurst,
     .change = false,
     .column = {"alone RTOs", "/burst"}},
    {.name = "complete_iterations",
     .unit = kNumber,
     .help = "iterations with all workers' pushes delivered",
     .aggregate = kCount,
     .source = samples_by_job<&Samples::communication_seconds>,
     .change = false,
     .column = {"iterations"}},
    {.name = "push_seconds_mean",
     .unit = kSeconds,
     .help = "gradients ready to delivered of one worker's push",
     .aggregate = kMean,
     .source = samples_by_job<&Samples::push_seconds>,
     .column = {"push mean"}},
    {.name = "push_seconds_median",
     .unit = kSeconds,
     .help = "gradients ready to delivered of one worker's push",
     .aggregate = kMedian,
     .source = samples_by_job<&Samples::push_seconds>,
     .column = {"push median"}},
    {.name = "push_seconds_p99",
     .unit = kSeconds,
     .help = "gradients ready to delivered of one worker's push",
     .aggregate = kP99,
     .source = samples_by_job<&Samples::push_seconds>,
     .column = {"push p99"}},
    {.name = "push_seconds_max",
     .unit = kSeconds,
     .help = "gradients ready to delivered of one worker's push",
     .aggregate = kMost,
     .source = samples_by_job<&Samples::push_seconds>,
     .column = {"push largest"}},
    {.name = "pushes_delivered",
     .unit = kNumber,
     .help = "workers' pushes that were delivered",
     .aggregate = kCount,
     .source = samples_by_job<&Samples::push_seconds>,
     .change = false,
     .column = {"pushes"}},
    {.name = "push_delivered_share_mean",
     .unit = kShare,
     .help = "bytes of a delivered push that the servers have",
     .aggregate = kMean,
     .source = all_samples<&Samples::push_delivered_shares>,
     .change = false,
     .column = {"delivered"}},
    {.name = "push_delivered_share_least",
     .unit = kShare,
     .help = "bytes of a delivered push that the servers have",
     .aggregate = kLeast,
     .source = all_samples<&Samples::push_delivered_shares>,
     .change = false,
     .column = {"least", "% deliv."}}};

}  // namespace push_rows

std::span<const Metric> rows_of_pushes() { return push_rows::kRows; }

}  // namespace outrider::lab
