#include "trafficgen/workload/config/job_config.h"

namespace outrider::tg {

void describe(Settings& v, AnnounceConfig& c) {
  v.choice("lead_source", c.lead_source, kLeadSources,
           {.help = "no START; START when the gradients are ready, which then wait; START `lead` "
                    "before they are due"});
  v.duration(
      "lead", c.lead,
      {.range = durations_from(Duration::zero()),
       .accepts = "with `overlap` not longer than `compute`, or than `first_due` and `period`",
       .help = "from START to the burst, at least"});
  v.duration(
      "lead_limit", c.lead_limit,
      {.range = durations_from(Duration::zero()),
       .accepts = "not shorter than `lead`; with `overlap` not longer than `compute` or "
                  "`period`; needs STARTs, `signal_form = \"udp\"` and no `signal_key`",
       .absent = "the lead is fixed",
       .help = "the lead follows what switches with `lead = \"auto\"` tell in their answers: "
               "`lead` until the first, and never less than that nor more than this"});
  v.value("threshold_packets", c.threshold_packets,
          {.accepts = "multiple of 5, 5 to 75",
           .help = "h, the threshold that is asked for; also checked when nothing is announced"});
  v.duration("ack_timeout", c.ack_timeout,
             {.range = durations_above_zero(), .help = "then the burst leaves anyway"});
  v.value("repeats", c.repeats,
          {.range = integers(0, kMostRepeats),
           .help = "a START whose answer does not come leaves again so many times, as long as the "
                   "burst waits"});
  v.duration("repeat_after", c.repeat_after,
             {.range = durations_above_zero(),
              .accepts = "with `repeats` shorter than `ack_timeout`",
              .help = "from a START to its first repeat; the next come after twice, four times, "
                      "... as long"});
  v.choice("signal_form", c.signal_form, kSignalForms,
           {.help = "START in the TOS byte of an empty segment of the announced flow, or as a UDP "
                    "message that also says how many bytes come and when; see "
                    "[jobs](announcements.md#what-a-start-looks-like)"});
  v.value("signal_port", c.signal_port,
          {.range = integers(1, 65535), .help = "of the UDP message, at both ends"});
  v.value(
      "signal_key", c.signal_key,
      {.accepts = "needs `signal_form = \"udp\"`; a key file that only its owner may use",
       .absent = "STARTs are not signed",
       .help =
           "path of the key that signs the job's STARTs, relative to this file; switches need the "
           "same key"});
  v.value("pulls", c.pulls,
          {.accepts = "with `true` parameter servers that `pull`",
           .help = "servers announce their parameters, too: from the last gradient, `aggregate` "
                   "before they are due"});
  v.table("faults", c.faults);
}

void describe(Settings& v, StragglerConfig& c) {
  v.value("workers", c.workers,
          {.accepts = "workers of the job", .absent = "all", .help = "whom it may slow"});
  v.share(
      "share", c.share,
      {.range = reals_above(0, 1), .help = "of iterations, drawn for each worker and iteration"});
  v.value("factor", c.factor,
          {.range = reals(1, kMaxJobFactor),
           .accepts = "above 1 needs `closed_loop`",
           .help = "multiplies the compute time"});
  v.duration("delay", c.delay,
             {.range = durations_from(Duration::zero()),
              .accepts = "one of `factor` and `delay` is required",
              .help = "is added; with `fixed` to the due time"});
  v.choice("shape", c.shape, kStragglerShapes,
           {.help = "`factor` - 1 and `delay` are multiplied by 1, a uniform draw of 0 to 2, or an "
                    "exponential one of mean 1"});
}

void describe(Settings& v, JobConfig& c) {
  v.value("name", c.name, {.required = true, .accepts = "unique"});
  v.value("workers", c.workers, {.required = true, .accepts = "1 to 256 hosts, each once"});
  v.value(
      "servers", c.servers,
      {.accepts = "hosts, each once, none a worker of the job; at least one with `ps`, none with "
                  "another `collective`",
       .absent = "none",
       .help = "parameter servers"});
  v.value("transport", c.transport, {.required = true, .accepts = "name of a `[[transport]]`"});
  v.choice("collective", c.collective, kCollectives,
           {.help = "parameter servers, or a [collective among the "
                    "workers](jobs.md#collectives-among-the-workers) in the order of `workers`; "
                    "it needs 2 workers, kept connections, and the defaults of "
                    "`synchronisation`, `shard_by`, `pull`, `aggregate`"});
  v.choice("synchronisation", c.synchronisation, kSynchronisations,
           {.accepts = "the last needs `closed_loop`",
            .help = "[whom a worker waits for](jobs.md#who-waits-for-whom)"});
  v.value("staleness_bound", c.staleness_bound,
          {.accepts = "0 and above; required with `ssp`, refused otherwise",
           .absent = "none",
           .help = "iterations that a worker may be ahead of the slowest"});
  v.choice("shard_by", c.shard_by, kShardRules,
           {.accepts = "the last two need a `model` with a tensor for each server",
            .help = "equal bytes for each server, or whole tensors: in turn in forward order, or "
                    "the largest first to the server that holds least"});
  v.choice("send_policy", c.send_policy, kSendPolicies,
           {.accepts = "all but the first need a `model` with compute times, `closed_loop` and "
                       "`ps`, all but the first two [`granularity = \"tensor\"`](#jobpolicy)",
            .help = "[when gradients leave](jobs.md#when-gradients-leave)"});
  v.value("model", c.model,
          {.accepts = "path of a profile, relative to this file",
           .absent = "none",
           .help = "exactly one of `model`, `burst_bytes` and `steps`"});
  v.bytes("burst_bytes", c.burst_bytes,
          {.accepts =
               "size, a byte for each server (`ps`), micro-batch (`pipeline`) or worker, to 1 PiB",
           .absent = "none",
           .help = "a synthetic burst per worker; with `pipeline` all activations of an iteration "
                   "between two stages"});
  v.value("steps", c.steps,
          {.accepts = "path of a [list of steps](jobs.md#a-list-of-steps), relative to this file; "
                      "needs `collective = \"steps\"`",
           .absent = "none",
           .help = "what each worker computes and sends in an iteration"});
  v.value("pull", c.pull, {.help = "servers send the parameters back"});
  v.value("iterations", c.iterations,
          {.accepts = "1 to 4194304 / workers", .help = "at most; records of all are kept"});
  v.duration(
      "start", c.start,
      {.range = durations_from(Duration::zero()), .help = "of the job, from the start of the run"});
  v.duration("stop_after", c.stop_after,
             {.range = durations_above_zero(),
              .absent = "none",
              .help = "from its start: no iteration begins later"});
  v.duration("arrivals", c.arrivals,
             {.range = durations_above_zero(),
              .help = "the job comes again at each of these, from `start`, on the TCP ports "
                      "`tcp_port` + 1, + 2, ..."});
  v.choice(
      "schedule", c.schedule, kSchedules,
      {.help = "an iteration begins when the last has ended, or bursts are due at fixed times"});
  v.duration(
      "first_due", c.first_due,
      {.range = durations_from(Duration::zero()),
       .help = "fixed: gradients of iteration 0 are due, from `start`; a closed loop ignores it"});
  v.duration("period", c.period,
             {.range = durations_from(Duration::zero()),
              .accepts = "above 0 with `fixed`",
              .help = "between due times"});
  v.duration("due_jitter", c.due_jitter,
             {.range = durations_from(Duration::zero()),
              .accepts = "with `fixed` shorter than `period`",
              .help = "uniform delay of each due time"});
  v.duration(
      "compute", c.compute,
      {.range = durations_from(Duration::zero()),
       .accepts = "required in a closed loop with `burst_bytes`, or if the profile has no times",
       .absent = "the model's",
       .help = "of an iteration"});
  v.share("compute_jitter", c.compute_jitter,
          {.accepts = "share, 0 to below 1",
           .help = "size of a random factor of `compute`, drawn for each worker and iteration"});
  v.choice("compute_shape", c.compute_shape, kJitterShapes,
           {.help = "its distribution, see [jobs](jobs.md#how-long-a-worker-computes)"});
  v.share("batch_jitter", c.batch_jitter,
          {.accepts = "share, 0 to below 1; needs `closed_loop`",
           .help = "the same, one draw for all workers of an iteration"});
  v.value("compute_factors", c.compute_factors,
          {.range = reals_above(0, kMaxJobFactor),
           .accepts = "one for each worker; needs `closed_loop`",
           .absent = "all 1",
           .help = "multiplies `compute`: machines of different speed"});
  v.duration("aggregate", c.aggregate,
             {.range = durations_from(Duration::zero()),
              .help = "server: last gradient to first parameter"});
  v.value(
      "tcp_port", c.tcp_port,
      {.range = integers(1, 65535),
       .help = "of the servers, or of the workers without them; jobs and long flows that share a "
               "receiving host need ports of their own"});
  v.value("queue_pairs", c.queue_pairs,
          {.range = integers(1, kMostQueuePairsOfBursts),
           .accepts = "above 1 needs a transport with protocol `\"roce\"`",
           .help = "between a worker and each of its targets: [what is handed over is cut into "
                   "messages](roce.md#several-queue-pairs-for-a-burst) that take them in turn"});
  v.table("policy", c.policy);
  v.table("message", c.message);
  v.table("announce", c.announce);
  v.table("learner", c.learner);
  v.table("r2sp", c.r2sp);
  v.table("all_to_all", c.all_to_all);
  v.table("pipeline", c.pipeline);
  v.tables("straggler", c.stragglers);
}

}  // namespace outrider::tg
