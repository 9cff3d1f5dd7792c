// Each job by itself, where an experiment has several: a row, or a bar, for each job and arm.

const JOB_DEFINITIONS = {
  iterations: "Measured iterations in which the push of every worker was delivered, of all seeds.",
  iteration: "Begin to end of an iteration, the slowest worker.",
  communication: meaningOf("communication time"),
  completion: "From the begin of the job's first iteration to the end of its last.",
  part: "The largest part of the time of the job's pushes, and its share.",
  longest: "The port in whose queues packets of the job's bursts waited longest; with several seeds that of the first, and how many others there are.",
};

const severalJobs = () => data.arms.some((a) => a.jobs);
const jobsAttributed = () => data.arms.some((a) => a.jobs && a.jobs.some((j) => j.attribution));

function largestPart(job) {
  const all = d3.sum(d3.values(job.attribution)), [name, ms] = d3.entries(job.attribution).map((e) => [e.key, e.value]).reduce((a, b) => b[1] > a[1] ? b : a);
  return [PART_NAMES[name] || name, `${percent(ms / all, false)} %`];
}

/** {head, cells(job)}: the columns of which a job has something. */
function jobColumnsOf(rows) {
  const of = (name) => rows.map((r) => r.one[name]), has = (name) => of(name).some((v) => v !== null && v !== undefined);
  const times = (title, median, p99, definition) => {
    const unit = timeUnit(Math.max(...of(p99).filter(isNumber)) * 1e3);
    return [[title, median, "median", definition], ["", p99, "p99", definition]].map(([head, name, statistic]) => ({
      head: [head, statistic ? `${unit.name}, ${statistic}` : unit.name, definition], cell: (j) => cell(number(j[name] === null ? null : j[name] * 1e3 * unit.per_ms)) }));
  };
  const whole = timeUnit(Math.max(...of("completion_seconds").filter(isNumber)) * 1e3);
  const columns = [{ head: ["Iterations", "complete", JOB_DEFINITIONS.iterations], cell: (j) => cell(String(j.iterations)) },
    ...times("Iteration", "iteration_seconds_median", "iteration_seconds_p99", JOB_DEFINITIONS.iteration),
    ...times("Communication", "communication_seconds_median", "communication_seconds_p99", JOB_DEFINITIONS.communication),
    { head: ["Completion", whole.name, JOB_DEFINITIONS.completion], cell: (j) => cell(number(j.completion_seconds === null ? null : j.completion_seconds * 1e3 * whole.per_ms)) }];
  if (has("attribution")) columns.push({ head: ["Most of it went", "share of the time", JOB_DEFINITIONS.part], cell: (j) => j.attribution ? cell(...largestPart(j)) : cell("–") });
  if (has("worst_links")) columns.push(
    { head: ["Its bursts wait longest", "port", JOB_DEFINITIONS.longest], cell: (j) => cell(j.worst_links[0] || "–", j.worst_links.length > 1 ? `+ ${j.worst_links.length - 1}` : "") },
    { head: ["Start queue", "packets, mean", DEFINITIONS.start], cell: (j) => cell(...startText(j)) });
  return columns;
}

function drawEachJob() {
  const box = document.getElementById("each-job-table"), rows = thingsByArm(armsHere().filter(isShown), "jobs");
  if (!box) return;
  if (!rows.length) return box.replaceChildren(el("p", { class: "empty", text: "The arms that are shown have one job only." }));
  box.replaceChildren(tableByArm("Job", jobColumnsOf(rows), rows, ": each job under each arm"), el("p", { class: "foot", text: "Medians and p99 are of one run, and means over the seeds. Point at a heading, or tap it, for what it means." }));
}

const hasCollectives = () => data.arms.some((a) => a.collectives);

const COLLECTIVE_DEFINITIONS = {
  size: "What a rank has, of an iteration: S.",
  time: "Median of the communication times of all iterations: t.",
  algbw: "S / t, in GB/s as nccl-tests prints it.",
  busbw: "algbw x 2 (n - 1) / n of an all-reduce among n ranks, x (n - 1) / n of an all-to-all: what the slowest link carries, whatever n is.",
};

/** All points together: sizes are compared there. */
function collectiveColumns() {
  const times = (factor, name) => (c) => cell(number(c[name] === null ? null : c[name] * factor)), left = (text) => el("td", { class: "word", text });
  const point = { head: ["Point", ""], cell: (c, a) => left(data.points[a.point].name) };
  return [...(data.points.length > 1 ? [point] : []),
    { head: ["Collective", "job.collective"], cell: (c) => left(c.collective) }, { head: ["Ranks", "n"], cell: (c) => cell(String(c.ranks)) },
    { head: ["Size", "B", COLLECTIVE_DEFINITIONS.size], cell: (c) => cell(c.size_bytes === null ? "–" : String(c.size_bytes)) },
    { head: ["Time", "µs, median", COLLECTIVE_DEFINITIONS.time], cell: times(1e6, "seconds") },
    { head: ["algbw", "GB/s", COLLECTIVE_DEFINITIONS.algbw], cell: times(1 / 8e9, "algbw_bits_per_second") },
    { head: ["busbw", "GB/s", COLLECTIVE_DEFINITIONS.busbw], cell: times(1 / 8e9, "busbw_bits_per_second") },
    { head: ["", "Gbit/s", COLLECTIVE_DEFINITIONS.busbw], cell: times(1e-9, "busbw_bits_per_second") }];
}

function drawCollectives() {
  const box = document.getElementById("collectives-table");
  if (!box) return;
  const rows = data.points.flatMap((_, p) => thingsByArm(data.arms.filter((a) => a.point === p && isShown(a)), "collectives"));
  box.replaceChildren(rows.length ? tableByArm("Job", collectiveColumns(), rows, ": each collective under each arm at each point")
    : el("p", { class: "empty", text: "The arms that are shown have no collective." }),
    el("p", { class: "foot", text: "All points; medians of the iterations of all seeds. Both bandwidths count payload." }));
}

figure({ id: "jobs-attribution", section: "each-job", when: jobsAttributed, title: "Where the communication time of each job went",
  what: `The chain of causes behind the last arrival of each push of the job, split without remainder. At most ${MOST_ROWS} bars are drawn.`,
  plot(c) {
    const rows = thingsByArm(c.arms, "jobs").filter((r) => r.one.attribution).slice(0, MOST_ROWS);
    if (!rows.length) return "The arms that are shown have one job only, or did not record where the time went.";
    const bars = rows.map((r) => ({ ...r.arm, name: `${r.one.name}, ${r.arm.name}`, attribution: r.one.attribution }));
    return attributionBars(c, bars, "Where the communication time of each job went, a bar for each job and arm");
  } });
