// What tables and figures say of arms, and the figures that compare them. `arms` of a context are
// those at the chosen point that the reader left on.

const metric = (arm, name) => arm.metrics[name] || [null, null, null, null, null, null];
/** A metric whose change is against the off of its point, whatever the arm's own baseline is. */
const againstOff = (arm, name) => arm.against_off[name] || metric(arm, name);
/** The label of what all arms of a point, or of all points, are compared with. */
function offLabel(point = null) {
  const labels = new Set(data.arms.filter((a) => a.off && (point === null || a.point === point)).map((a) => a.label));
  return labels.size === 1 ? [...labels][0] : "the baseline";
}
/** Without a job there are no bursts and no iterations. */
const hasJob = () => data.has_job;
const median = (arm) => againstOff(arm, "communication_seconds_median");
const lost = (arm) => againstOff(arm, "background_lost_fraction");

/** Bounds of numbers; others are skipped. */
function extent(values, fallback = [0, 1]) {
  const all = values.filter(isNumber);
  return all.length ? [Math.min(...all), Math.max(...all)] : fallback;
}

/** What is said of an arm wherever the pointer meets it. */
function armTip(a, unit) {
  const ms = (v) => isNumber(v) ? number(v * 1e3 * unit.per_ms) : "–";
  const [t, tl, th, d, dl, dh] = median(a), [b, bl, bh] = lost(a);
  return [a.name, `communication time ${ms(t)} ${unit.name} ${interval(tl, th, ms)}`,
    a.off ? "the arm that others are compared with" : `against ${offLabel(a.point)} ${percent(d)} % ${interval(dl, dh, percent)}`,
    `background lost ${percent(b, false)} % ${interval(bl, bh, (v) => percent(v, false))}`,
    `${a.seeds.length} seed${a.seeds.length === 1 ? "" : "s"}, ${a.complete} complete iterations`];
}

/** The value of an arm between its bounds. */
const estimate = (a, [v, low, high], y, theme) => [
  segment(low, high, y, y, { stroke: theme.color(a), "stroke-width": 2, opacity: 0.65 }),
  sign(v, y, symbolPath(a, 55), { fill: theme.color(a) })];

// -- the sweep

/** A row that can be clicked, as its ground, and a line below it. */
const pointRow = (c, p) => (node, f) => {
  node.append("rect").attr({ x: -f.names, y: f.y(-f.height / 2), width: f.names + f.w, height: f.height,
    fill: p === c.point ? c.theme.shade : "transparent" });
  bar(node, -f.names, f.w, f.y(f.height / 2), f.y(f.height / 2), { stroke: c.theme.line });
  node.on("click", () => c.choosePoint(p));
  tip(node, [c.data.points[p].name, ...c.data.points[p].answer.map((s) => s.text), "Click to show this point below."]);
};

figure({ id: "sweep", section: "answer", when: () => data.points.length > 1,
  title: "The sweep: change of communication time at each point",
  what: () => `Marks are changes of the median against ${offLabel()} at the same point, paired by seed; lines are 95 % confidence intervals. Click a row to see that point below.`,
  plot(c) {
    const compared = (p) => c.all.filter((a) => a.point === p && !a.off && c.shown(a) && isNumber(median(a)[3]));
    const points = c.data.points.map((point, p) => ({ name: point.name, p, arms: compared(p) })).filter((r) => r.arms.length);
    if (!points.length) return "No arm is compared with a baseline.";
    const arms = points.flatMap((r) => r.arms).filter((a, i, all) => all.findIndex((b) => b.name === a.name) === i);
    const change = (a) => median(a).slice(3).map((v) => isNumber(v) ? v * 100 : v), step = 13;
    const [low, high] = extent(points.flatMap((r) => r.arms.flatMap(change)).concat(0));
    return {
      label: `Change of communication time against ${offLabel()} at each point of the sweep`,
      key: keyOfArms(c, arms, 14),
      names: { width: widthOfNames(c, points.map((r) => measure(r.name, 12, 600)), { most: 300, extra: 20 }), pad: 12 },
      x: { domain: [Math.max(low, -100), Math.min(high, 300)], nice: true, clamp: true,
        title: `change of median communication time against ${offLabel()} [%]; left of 0 is shorter` },
      rows: points.map(({ name, p, arms: own }) => ({ name, bold: p === c.point ? 600 : 400, height: own.length * step + 9,
        attributes: { "class": "row", "data-point": p, cursor: "pointer" }, before: pointRow(c, p),
        marks: own.map((a, i) => thing([name, ...armTip(a, c.unit)],
          estimate(a, change(a), 0.5 + (i + 0.5 - own.length / 2) * step, c.theme))) })),
      marks: [upright(0, { stroke: c.theme.text, "stroke-width": 1 })],
    };
  } });

// -- gain against cost

figure({ id: "gain", section: "answer", when: hasJob, title: "Gain against cost",
  what: "Lines are 95 % confidence intervals over seeds.",
  plot(c) {
    const arms = c.arms.filter((a) => isNumber(median(a)[0]) && isNumber(lost(a)[0]));
    if (!arms.length) return "No arm here has both a communication time and a cost to the background.";
    const scaled = (values, k) => values.slice(0, 3).map((v) => isNumber(v) ? v * k : v);
    const cost = (a) => scaled(lost(a), 100), time = (a) => scaled(median(a), 1e3 * c.unit.per_ms);
    const off = arms.find((a) => a.off), alone = arms.map((a) => a.alone_ms).filter(isNumber);
    const [x0, x1] = extent(arms.flatMap(cost).concat(0)), [, y1] = extent(arms.flatMap(time));
    const pad = Math.max(x1 - x0, 0.5) * 0.06, levels = [];
    if (off) levels.push([time(off)[0], off.label]);
    if (alone.length) levels.push([d3.median(alone) * c.unit.per_ms, "alone, without background"]);
    return {
      label: "Communication time against what the background lost, one point an arm", height: 334,
      x: { domain: [x0 - pad, x1 + pad * 1.5],
        title: `background lost against ${offLabel(c.point)} [% of its bytes around bursts]` },
      y: { domain: [0, y1 * 1.08], title: `communication time, median [${c.unit.name}]` },
      marks: [upright(0, { stroke: c.theme.strong }),
        namedPoints(arms.map((a) => ({ arm: a, x: cost(a), y: time(a), said: armTip(a, c.unit) })), levels,
          "better: lower and further left")],
    };
  } });

// -- small multiples over time

const viewText = (view) => view === "start" ? "from START, or gradients ready where there is none" : "from gradients ready";

/** The cells of time around a burst, and their axis. */
function aroundBurst(c, view) {
  const grid = c.data.points[c.point].views[view], half = grid.step_ms / 2;
  const unit = timeUnit(Math.max(Math.abs(grid.from_ms + half), grid.from_ms + grid.cells * grid.step_ms - half));
  const cells = cellsOf(grid, unit), { edges } = cells;
  return { unit, cells, along: (...lists) => cells.middles.map((t, i) => [t, ...lists.map((list) => list[i])]),
    x: { domain: [edges[0], edges[grid.cells]], title: `time ${viewText(view)} [${unit.name}]` } };
}

figure({ id: "queue", section: "queue", when: hasJob, title: "Packets waiting in the measured queue", controls: queueControls,
  what: "Every iteration of every seed, laid on top of each other. Occupancy is the sojourn of the packets that left in each bin (Little's law), so it follows the true one by about half a sojourn; a line ends where less than half of the iterations have fine records.",
  plot(c) {
    const view = c.state.view, { unit, cells, along, x } = aroundBurst(c, view), ink = c.theme;
    const arms = c.arms.filter((a) => a.views && a.views[view].queue.mean.some(isNumber)), off = arms.find((a) => a.off);
    if (!arms.length) return "queue.csv holds no time series of these arms.";
    const [, top] = extent(arms.flatMap((a) => a.views[view].queue.high.concat(a.views[view].queue.mean)));
    const [, k] = extent(arms.flatMap((a) => a.views[view].threshold)), most = Math.max(top, k <= 1.6 * top ? k : 0) * 1.06 || 1;
    const dotted = { stroke: ink.off, "stroke-dasharray": "1.5 2.5" }, dashed = { stroke: ink.strong, "stroke-dasharray": "6 3" };
    const marks = (arm, { queue, threshold }, of) => [
      band(along(queue.low, queue.high), { "class": "mark", fill: ink.color(arm), opacity: 0.2 }),
      of && curve(along(of.mean), { ...dotted, "stroke-width": 1.2, opacity: 0.75 }),
      curve(along(threshold.map((t) => t <= most ? t : null)), { ...dashed, "stroke-width": 1.2 }),
      upright(0, { stroke: ink.text, "stroke-width": 1 }),
      curve(along(queue.mean), { "class": "mark", stroke: ink.color(arm), "stroke-width": 2 }),
      hover((value, i = cells.at(value)) => [`${arm.name}, ${number(cells.middles[i])} ${unit.name}`,
        `${number(queue.mean[i])} packets, 80 % of iterations ${interval(queue.low[i], queue.high[i], number) || "–"}`,
        `threshold for background ${number(threshold[i])}`, of ? `${off.label}: ${number(of.mean[i])} packets` : ""].filter(Boolean))];
    return { label: "Packets waiting in the measured queue around the signal, a panel an arm", x,
      y: { domain: [0, most], title: "packets" },
      key: keyAbove(c, [["mean", strokeSample(22, { stroke: ink.text, "stroke-width": 2 })],
        ["80 % of iterations", boxSample(22, 12, { fill: ink.text, opacity: 0.16 })],
        [`${offLabel(c.point)}, mean`, strokeSample(22, { ...dotted, "stroke-width": 1.4 })],
        ["lowest threshold that background met, mean", strokeSample(22, { ...dashed, "stroke-width": 1.4 })]], OF_LINES),
      facets: arms.map((arm) => ({ arm, marks: marks(arm, arm.views[view], off && arm !== off && off.views[view].queue) })) };
  } });

figure({ id: "throughput", section: "cost", when: hasJob, title: "Goodput around a burst",
  what: "Payload delivered in order, mean over all iterations; training is pushes and pulls. Zero is the instant at which gradients are ready; a line ends where less than half of the iterations have fine records.",
  plot(c) {
    const { unit, cells, along, x } = aroundBurst(c, "due"), arms = c.arms.filter((a) => a.views && a.views.due.background.some(isNumber));
    if (!arms.length) return "queue.csv holds no time series of these arms.";
    const [, top] = extent(arms.flatMap((a) => a.views.due.background.concat(a.views.due.ddl))), rate = rateUnit(top);
    const scaled = (list) => list.map((v) => isNumber(v) ? v * rate.per_mbit : null);
    const back = { stroke: c.theme.off, "stroke-width": 1.8 }, training = { stroke: c.theme.parts.serialisation, "stroke-width": 2 };
    const marks = (arm, background, ddl) => [upright(0, { stroke: c.theme.text, "stroke-width": 1 }),
      curve(along(background), { "class": "mark", ...back }), curve(along(ddl), { "class": "mark", ...training }),
      hover((value, i = cells.at(value)) => [`${arm.name}, ${number(cells.middles[i])} ${unit.name}`,
        `background ${number(background[i])} ${rate.name}`, `training ${number(ddl[i])} ${rate.name}`])];
    return { label: "Goodput of background and training around a burst, a panel an arm", x,
      y: { domain: [0, top * rate.per_mbit * 1.06], title: rate.name },
      key: keyAbove(c, [["background", strokeSample(22, { ...back, "stroke-width": 2 })], ["training", strokeSample(22, training)]], OF_LINES),
      facets: arms.map((arm) => ({ arm, marks: marks(arm, scaled(arm.views.due.background), scaled(arm.views.due.ddl)) })) };
  } });

// -- distribution of communication times

/** One step for each value, and the arm's symbol in the middle. */
function stepsOf(a, k, theme) {
  const n = a.times_ms.length, mid = Math.floor((n - 1) / 2), color = theme.color(a);
  const steps = a.times_ms.flatMap((t, i) => [[t * k, 100 * i / n], [t * k, 100 * (i + 1) / n]]);
  return [curve(steps, { "class": "mark", stroke: color, "stroke-width": 2, "stroke-dasharray": a.dash || null }),
    sign(a.times_ms[mid] * k, 100 * (mid + 0.5) / n, symbolPath(a, 50), { fill: color, stroke: theme.card })];
}

figure({ id: "cdf", section: "time", when: hasJob, title: "Distribution of communication time",
  what: "From gradients ready, before any START or wait, to the last byte delivered of the slowest worker; one step an iteration.",
  plot(c) {
    const arms = c.arms.filter((a) => a.times_ms.length), k = c.unit.per_ms;
    if (!arms.length) return "No iteration was complete.";
    const alone = arms.map((a) => a.alone_ms).filter(isNumber);
    const [low, high] = extent(arms.flatMap((a) => a.times_ms).concat(alone).map((t) => t * k)), log = low > 0 && high / low > 6;
    const within = (a, value) => number(100 * a.times_ms.filter((t) => t * k <= value).length / a.times_ms.length, 2);
    return {
      label: "Distribution of communication times, a line an arm", key: keyOfArms(c, arms, 26), height: 320,
      x: { log, domain: log ? [low / 1.05, high * 1.05] : [0, high * 1.03],
        title: `communication time [${c.unit.name}${log ? ", logarithmic" : ""}]` },
      y: { domain: [0, 100], ticks: [0, 25, 50, 75, 90, 100], title: "iterations that took no longer [%]" },
      marks: [alone.length && namedUpright(d3.median(alone) * k, "alone"), ...arms.flatMap((a) => stepsOf(a, k, c.theme)),
        hover((value) => [`within ${number(value)} ${c.unit.name}`, ...arms.map((a) => `${within(a, value)} % of ${a.name}`)])],
    };
  } });

// -- stacked bars

/** Marks of a row: a bar of parts, negative ones to the left, and their sum. */
function stackedBar(a, parts, { unit, total }, theme) {
  let left = 0, right = 0;
  const bars = [];
  for (const { name, color, value } of parts) {
    const v = value(a);
    if (!isNumber(v) || v === 0) continue;
    const from = v < 0 ? left + v : right;
    if (v < 0) left += v; else right += v;
    bars.push(thing([a.name, `${name}: ${number(v)} ${unit}`], [box(from, from + Math.abs(v), -10, 20,
      { fill: color, stroke: theme.card, "stroke-width": 0.6 }, 0.6)]));
  }
  return { left, right, marks: [...bars, words(right, 0, number(total(a)), {}, 6)] };
}

/** A bar an arm. @param parts  [{name, color, value(arm)}] */
function stacked(c, arms, parts, { label, unit, title, total }) {
  const used = parts.filter((p) => arms.some((a) => isNumber(p.value(a)) && Math.abs(p.value(a)) > 0));
  const bars = arms.map((a) => stackedBar(a, used, { unit, total }, c.theme));
  return { label, height: 28, right: 70,
    key: keyAbove(c, used.map((p) => [p.name, boxSample(13, 12, { rx: 2, fill: p.color })]), { indent: 19, gap: 17, y: 8, below: 10 }),
    names: { width: widthOfNames(c, arms.map((a) => measure(a.name))) },
    x: { domain: [Math.min(0, ...bars.map((b) => b.left)), Math.max(1e-9, ...bars.map((b) => b.right))], title },
    rows: arms.map((a, i) => ({ arm: a, name: a.name, said: [a.name, `${number(total(a))} ${unit}`], marks: bars[i].marks })),
    marks: [upright(0, { stroke: c.theme.strong })] };
}

const PART_NAMES = {
  signal: "signal and lead", opening: "handshake", serialisation: "on the wire", behind_background: "behind background",
  behind_ddl: "behind other training", window: "window", recovery: "recovery", rto: "time-out", compute: "compute",
  others: "other participants", held: "held back",
};

/** @param arms  have `attribution`, and are dressed */
function attributionBars(c, arms, label) {
  const parts = Object.keys(arms[0].attribution).map((name) => ({ name: PART_NAMES[name] || name,
    color: c.theme.parts[name] || c.theme.strong, value: (a) => a.attribution[name] * c.unit.per_ms }));
  return stacked(c, arms, parts, { label, unit: c.unit.name, title: `mean communication time of a push [${c.unit.name}]`,
    total: (a) => d3.sum(parts, (p) => p.value(a)) });
}

figure({ id: "attribution", section: "time", when: hasJob, title: "Where the communication time went",
  what: "The chain of causes behind the last arrival of each push, split without remainder.",
  plot(c) {
    const arms = c.arms.filter((a) => a.attribution);
    return arms.length ? attributionBars(c, arms, "Where the communication time went, a bar an arm")
      : "These runs did not record where the time went. Set trafficgen.attribution = true in [parameters] of the experiment (virtual time only) and run it again.";
  } });

figure({ id: "cost", section: "cost", when: hasJob, title: "What the background lost", what: costText,
  plot(c) {
    const arms = c.arms.filter((a) => !a.off && isNumber(metric(a, "background_lost_bytes_per_iteration")[0]));
    if (!arms.length) return c.arms.some((a) => isNumber(lost(a)[0])) ? "In a closed loop the cost is a rate, which the first table has: it is not split."
      : "The cost to the background needs a baseline to compare with.";
    const at = (name) => (a) => (metric(a, name)[0] || 0) * 1e-3;
    return stacked(c, arms, [
      { name: "transfer: carried by training instead", color: c.theme.parts.serialisation, value: at("background_transfer_bytes_per_iteration") },
      { name: "waste: the link idle", color: c.theme.parts.behind_background, value: at("background_waste_bytes_per_iteration") },
      { name: "unexplained: headers, packets on the way", color: c.theme.strong, value: at("background_unexplained_bytes_per_iteration") },
    ], { label: "Bytes that the background lost per iteration, a bar an arm", unit: "kB", total: at("background_lost_bytes_per_iteration"),
      title: "background lost per iteration against the arm's baseline [kB]; left of 0 is gained" });
  } });

// -- flows that come and go

const FLOW_SIZES = [["small", "at most 100 kB"], ["medium", "more than 100 kB, at most 1 MB"], ["large", "more than 1 MB"]];
const slowdown = (arm, size, statistic) => metric(arm, `${size}_flow_slowdown_${statistic}`);
const ofSize = (arms, size) => arms.filter((a) => isNumber(slowdown(a, size, "median")[0]));

/** The mark of an arm at a size: from the median, which is filled, to p99. */
function slowdownMark(a, size, title, theme) {
  const color = theme.color(a), [mid, ...around] = slowdown(a, size, "median"), [tail, ...tailAround] = slowdown(a, size, "p99");
  return thing([`${a.name}, flows of ${title}`, `slowdown, median ${number(mid)} ${interval(around[0], around[1], number)}`,
    `p99 ${number(tail)} ${interval(tailAround[0], tailAround[1], number)}`,
    `${number(metric(a, `${size}_flows_completed`)[0])} flows were delivered`],
  [segment(mid, tail, 0, 0, { stroke: color, "stroke-width": 2, opacity: 0.65 }),
    sign(tail, 0, symbolPath(a, 55), { fill: theme.card, stroke: color, "stroke-width": 1.5 }),
    sign(mid, 0, symbolPath(a, 55), { fill: color })]);
}

figure({ id: "slowdown", section: "cost", title: "Slowdown of the background's flows, by size",
  when: () => FLOW_SIZES.some(([size]) => ofSize(data.arms, size).length),
  what: "Completion time over that of an empty path, of flows that came and were delivered: 1 is as fast as the path allows, and further left is better.",
  plot(c) {
    const rows = FLOW_SIZES.flatMap(([size, title]) => ofSize(c.arms, size).flatMap((arm, i) => [...(i ? [] : [{ title, height: 24 }]),
      { arm, name: arm.name, tail: slowdown(arm, size, "p99")[0], marks: [slowdownMark(arm, size, title, c.theme)] }]));
    if (!rows.length) return "No flow of the background of these arms came and was delivered.";
    const [, most] = extent(rows.map((r) => r.tail)), log = most > 6, note = "filled: median; hollow: p99";
    return { label: "Slowdown of background's flows by their size, median and p99, a line an arm", height: 18, rows,
      key: { height: 18, draw: (svg) => text(svg, 0, 8, note, { dy: ".34em", fill: c.theme.muted, "font-size": 11 }) },
      names: { width: widthOfNames(c, rows.map((r) => measure(r.name || ""))) },
      x: { log, clamp: true, domain: [1, Math.max(most, 1.1) * 1.05], title: `completion over ideal${log ? ", logarithmic" : ""}` } };
  } });

// -- marks and drops

/** @param place  in words: where packets were counted */
function endsOf(c, key, verb, place, words) {
  const kinds = [], value = (a, e) => (a[key].find((x) => x.class === e.class && x.reason === e.reason) || { [place]: 0 })[place];
  for (const a of c.arms) for (const e of a[key])
    if (e[place] > 0 && !kinds.some((k) => k.class === e.class && k.reason === e.reason)) kinds.push(e);
  if (!kinds.length) return `No packet was ${verb} ${words.replace("all switches", "any switch")} by these arms.`;
  const p = c.theme.parts, palette = [p.serialisation, p.behind_background, p.window, p.behind_ddl, p.held, p.recovery, p.signal, p.compute];
  const parts = kinds.map((e, i) => ({ name: `${e.class}: ${e.reason.replace(/_/g, " ")}`, color: palette[i % palette.length], value: (a) => value(a, e) }));
  return stacked(c, c.arms, parts, { label: `Packets ${verb}${key === "marks" ? " CE" : ""}, by class and reason`, unit: "packets",
    title: `packets ${verb} per run ${words}`, total: (a) => d3.sum(parts, (q) => q.value(a)) });
}

const plotEnds = (key, verb) => (c) => c.state.allQueues ? endsOf(c, key, verb, "all", "in all switches")
  : endsOf(c, key, verb, "measured", "at the measured queue");

figure({ id: "marks", section: "ends", title: "Packets marked, by class and reason", controls: endsControls, plot: plotEnds("marks", "marked"),
  what: "marker: the queue's own rule; regulated threshold: the threshold that a signal lowered." });
figure({ id: "drops", section: "ends", title: "Packets dropped, by class and reason", controls: endsControls, plot: plotEnds("drops", "dropped"),
  what: "The whole run, warm-up included." });
