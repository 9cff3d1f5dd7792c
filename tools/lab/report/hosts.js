// Time line of hosts: who sent and received around one iteration, when the measured queue was
// regulated, and when background was slow.

const MOST_HOSTS = 24;  // of the iteration's own job
const MOST_HOST_ROWS = 40;  // of all jobs
/** Background below this share of its mean over the run is called slow. */
const SLOW_SHARE = 0.5;
const HOST_ROW = 20, HOST_PANEL = 58, HOST_HEAD = 20;

const WINDOW_NAMES = { median: "median", slowest: "slowest", incomplete: "incomplete" };

function hostsArm(c) {
  return c.arms.find((a) => a.name === c.state.hostsArm && a.hosts) || c.arms.find((a) => a.hosts);
}
const hostsWindow = (arm) => arm.hosts.windows[Math.min(state.hostsWindow, arm.hosts.windows.length - 1)];

const jobNameOf = (hosts, job) => (hosts.jobs[job] && hosts.jobs[job].name) || `job ${job}`;
const severalIn = (hosts) => new Set(hosts.windows.map((w) => w.job)).size > 1;
const windowName = (hosts, w) => `${severalIn(hosts) ? jobNameOf(hosts, w.job) + ", " : ""}iteration ${w.iteration} (${w.why.map((name) => WINDOW_NAMES[name]).join(", ")})`;

function hostsControls() {
  const arms = armsHere().filter((a) => isShown(a) && a.hosts), arm = hostsArm({ arms, state });
  if (!arm) return [];
  return [chooser("Arm", arms.map((a) => a.name), arms.indexOf(arm), (i) => { state.hostsArm = arms[i].name; }),
    chooser("Iteration", arm.hosts.windows.map((w) => windowName(arm.hosts, w)), arm.hosts.windows.indexOf(hostsWindow(arm)), (i) => { state.hostsWindow = i; })];
}

/** When the threshold of the queue was lower than the run's highest, by cell. A marker without a
    threshold of its own has one only while it is lowered. */
const loweredCells = (hosts, w) => w.threshold.map((t) => isNumber(t) && (hosts.highest_threshold === null || t < hosts.highest_threshold));

/** What the results do not hold is said, and not drawn. */
function hostsWhat() {
  const parts = ["A bar is from the first byte sent to the last byte delivered: when the last byte was sent is not recorded. All servers of a job are one row: bursts.csv does not tell them apart."];
  const arm = hostsArm(context(0, currentTheme()));
  if (!arm) return parts[0];
  const { hosts } = arm, w = hostsWindow(arm);
  if (hosts.regulated_share > 0 && !loweredCells(hosts, w).includes(true))
    parts.push(`The queue was regulated for ${percent(hosts.regulated_share, false)} % of this run, but here not by a lower threshold: the results do not say when.`);
  if (w.left_out) parts.push(`${w.left_out} bursts that were under way too are not drawn.`);
  return parts.join(" ");
}

/** [from, to) of the runs of cells that are true. */
function spansOf(cells) {
  const spans = [];
  for (let from = 0, to = 0; from < cells.length; from = to + 1) {
    for (to = from; to < cells.length && cells[to];) to++;
    if (to > from) spans.push([from, to]);
  }
  return spans;
}

// -- rows

const BURST_KEYS = ["job", "iteration", "worker", "push", "due", "start", "ack", "first", "delivered", "rtos"];

/** The workers of which there is room: those whose push came last. */
function slowestWorkers(bursts, most) {
  const last = new Map();
  for (const b of bursts) last.set(b.worker, Math.max(last.get(b.worker) || 0, b.push ? (b.delivered === null ? Infinity : b.delivered) : 0));
  return [...last.keys()].sort((a, b) => last.get(b) - last.get(a) || a - b).slice(0, most).sort((a, b) => a - b);
}

/** {title} or {name, bursts, server}: the rows of a job. */
function rowsOfJob(hosts, job, bursts, most, several) {
  const known = hosts.jobs[job], rows = several ? [{ title: jobNameOf(hosts, job) }] : [];
  const servers = known ? known.servers : 1, workers = known ? known.workers : new Set(bursts.map((b) => b.worker)).size;
  if (servers) rows.push({ name: servers > 1 ? `${servers} servers` : "server", bursts, server: true });
  const shown = slowestWorkers(bursts, most);
  for (const worker of shown) rows.push({ name: `worker ${worker}`, bursts: bursts.filter((b) => b.worker === worker) });
  const sent = new Set(bursts.map((b) => b.worker)).size;
  if (sent > shown.length) rows.push({ title: `workers that were faster: ${sent - shown.length}` });
  if (workers > sent) rows.push({ title: `workers without a burst: ${workers - sent}` });
  return rows;
}

function hostRows(hosts, w) {
  const bursts = w.bursts.map((r) => Object.fromEntries(BURST_KEYS.map((key, i) => [key, r[i]])));
  const others = [...new Set(bursts.map((b) => b.job))].filter((j) => j !== w.job), several = others.length > 0 || severalIn(hosts);
  const of = (job, most) => rowsOfJob(hosts, job, bursts.filter((b) => b.job === job), most, several);
  const rows = of(w.job, MOST_HOSTS), each = Math.max(1, Math.floor((MOST_HOST_ROWS - rows.length) / Math.max(1, others.length)) - 3);
  let hidden = 0;
  for (const job of others) {
    if (rows.length < MOST_HOST_ROWS) rows.push(...of(job, each));
    else hidden++;
  }
  if (hidden) rows.push({ title: `other jobs: ${hidden}` });
  return rows;
}

// -- what both time lines draw

const startSign = d3.svg.symbol().type("triangle-up").size(46)();
/** The sign of a START, which points to the right. */
const startAt = (x, y, fill) => (g, f) => isNumber(x) &&
  g.append("path").attr({ d: startSign, transform: `translate(${f.x(x)},${f.y(y)}) rotate(90)`, fill });
const PIXELS = { x: (v) => v, y: (v) => v };
const startSample = (fill) => (g, x, y) => startAt(x + 8, y, fill)(g, PIXELS);
const uprightSample = (half, stroke) => (g, x, y) => bar(g, x + 8, x + 8, y - half, y + half, { stroke, "stroke-width": 2 });
const untilReady = "time from the iteration's gradients ready";

// -- hosts

const hostsKey = (c, { text: ink, strong, parts: p } = c.theme) => keyAbove(c, [
  ["START", startSample(ink)], ["ready to be sent", uprightSample(6, ink)], ["waits", strokeSample(17, { stroke: strong, "stroke-width": 3 })],
  ["push", boxSample(17, 10, { fill: p.serialisation, opacity: 0.85 })], ["pull", boxSample(17, 10, { fill: p.behind_ddl, opacity: 0.9 })],
  ["threshold lowered", boxSample(17, 10, { fill: p.signal, opacity: 0.22 })],
  ["background below half of its mean", boxSample(17, 10, { fill: p.behind_background, opacity: 0.5 })]], { gap: 14 });

function burstTip(hosts, b, unit) {
  const show = (v) => v === null ? "–" : `${number(v * unit.per_ms, 4)} ${unit.name}`;
  return [`${jobNameOf(hosts, b.job)}, iteration ${b.iteration}, ${b.push ? "push of" : "pull to"} worker ${b.worker}`, `${b.push ? "gradients" : "parameters"} ready ${show(b.due)}`,
    ...(b.start === null ? [] : [`START ${show(b.start)}, ACK ${show(b.ack)}`]), `first byte sent ${show(b.first)}`,
    b.delivered === null ? "not delivered" : `last byte delivered ${show(b.delivered)}`, ...(b.rtos ? [`${b.rtos} retransmission time-outs`] : [])];
}

/** A burst in a lane of a row, cut at the ends of the plot: on a worker's row with its signal and wait. */
const burstMarks = (b, server, k, [left, right], theme) => {
  const at = (ms) => Math.max(left, Math.min(right, ms === null ? Infinity : ms * k)), lane = b.push ? -4 : 4;
  const seen = (ms) => ms !== null && ms * k >= left && ms * k <= right, from = b.start === null ? b.due : Math.min(b.start, b.due);
  return [!server && at(b.first) > at(from) && segment(at(from), at(b.first), lane, lane, { stroke: theme.strong, "stroke-width": 3 }),
    b.first !== null && box(at(b.first), at(b.delivered), lane - 3.5, 7,
      { fill: b.push ? theme.parts.serialisation : theme.parts.behind_ddl, opacity: b.delivered === null ? 0.35 : server ? 0.5 : 0.9 }),
    !server && seen(b.due) && ((g, f) => bar(g, f.x(at(b.due)), f.x(at(b.due)), f.y(lane - 4), f.y(lane + 4), { stroke: theme.text, "stroke-width": 1.5 })),
    !server && seen(b.start) && startAt(at(b.start), lane, theme.text)];
};

/** Spans of cells as boxes. */
const spanBoxes = (cells, edges, y, height, style) => spansOf(cells).map(([from, to]) => box(edges[from], edges[to], y, height, style));

/** A quantity by cell: an area, of which the cells in `strong` have another colour. */
function cellArea(g, values, strong, f, edges, colors) {
  const paths = [[], []], at = (i) => f.x(edges[i]).toFixed(1);
  values.forEach((v, i) => { if (isNumber(v)) paths[strong[i] ? 1 : 0].push(`M${at(i)} ${f.h}V${f.y(v).toFixed(1)}H${at(i + 1)}V${f.h}Z`); });
  paths.forEach((parts, i) => { if (parts.length) g.append("path").attr({ "class": "mark", d: parts.join(""), fill: colors[i], opacity: 0.75, "shape-rendering": "crispEdges" }); });
}

/** A panel below the rows. @param of  {title, values, strong, color (of the strong), levels (by cell), lines(i)} */
const panelBelow = (cells, down, of) => (parent, { x, w, rows, theme }) => {
  const g = parent.append("g").attr("transform", `translate(0,${rows + down})`), h = HOST_PANEL, { edges } = cells;
  const [, top] = extent(of.values), [, level] = extent(of.levels, [0, 0]), most = (Math.max(top, level <= 2 * top ? level : 0) || 1) * 1.08;
  const f = { x, y: scaleOf({ domain: [0, most] }, [h, 0]), w, h, theme }, steps = of.levels.map((v) => v <= most ? v : null);
  axisY(g, f.y, w, null, theme, { count: 2 });
  text(g, 0, -6, fitted(of.title, w, 11), { "font-size": 11, fill: theme.muted });
  // A value of zero has no area: the slices of interest have a background too.
  draw(g, spanBoxes(of.strong, edges, most, h, { "class": "strong", fill: of.color, opacity: 0.2 }), f);
  cellArea(g, of.values, of.strong, f, edges, [theme.strong, of.color]);
  draw(g, [curve(steps.flatMap((v, i) => [[edges[i], v], [edges[i + 1], v]]), { stroke: theme.text, "stroke-width": 1.2, "stroke-dasharray": "5 3" }),
    hover((value) => of.lines(cells.at(value)))], f);
};

function hostPanels(hosts, w, cells, unit, { parts }) {
  const lowered = loweredCells(hosts, w), mean = hosts.background_mbit, rate = rateUnit(mean), { edges } = cells;
  const scaled = (v) => isNumber(v) ? v * rate.per_mbit : null, when = (i) => `${number(edges[i])} to ${number(edges[i + 1])} ${unit.name}`;
  return [panelBelow(cells, HOST_HEAD, { title: "measured queue [packets]; dashed: threshold", values: w.queue, strong: lowered, color: parts.signal, levels: w.threshold,
    lines: (i) => [when(i), `${number(w.queue[i])} packets`, `lowest threshold ${number(w.threshold[i])}${lowered[i] ? ", lowered" : ""}`] }),
  panelBelow(cells, 2 * HOST_HEAD + HOST_PANEL + 4, { title: `background [${rate.name}]; dashed: mean of the run`, values: w.background.map(scaled),
    strong: w.background.map((v) => isNumber(v) && isNumber(mean) && v < SLOW_SHARE * mean), color: parts.behind_background, levels: w.background.map(() => scaled(mean)),
    lines: (i) => [when(i), `background ${number(scaled(w.background[i]))} ${rate.name}`, `mean over the run ${number(scaled(mean))} ${rate.name}`] })];
}

figure({ id: "hosts", section: "lines", when: hasJob, title: "Hosts and jobs around a burst", controls: hostsControls, what: hostsWhat,
  plot(c) {
    const arm = hostsArm(c);
    if (!arm) return "No iteration of these arms was recorded.";
    const { hosts } = arm, w = hostsWindow(arm), rows = hostRows(hosts, w), unit = timeUnit(Math.max(-w.from_ms, w.from_ms + w.cells * w.step_ms));
    const cells = cellsOf(w, unit), domain = [cells.edges[0], cells.edges[w.cells]], key = hostsKey(c), said = `${arm.name}, seed ${hosts.seed}, ${windowName(hosts, w)}`;
    const marks = (b, server) => thing(burstTip(hosts, b, unit), burstMarks(b, server, unit.per_ms, domain, c.theme));
    return { label: `Time line of hosts, ${said}`, height: HOST_ROW, right: 10, under: 2 * (HOST_HEAD + HOST_PANEL) + 4,
      key: { height: key.height + 20, draw: (svg) => { key.draw(svg); text(svg, 0, key.height + 8, fitted(said, c.width, 12, 600), { dy: ".34em", "font-weight": 600 }); } },
      names: { width: Math.max(34, ...rows.map((r) => r.name ? measure(r.name, 11) : 0)) + 12, size: 11 },
      x: { domain, title: `${untilReady} [${unit.name}]` },
      behind: [(g, f) => draw(g, spanBoxes(loweredCells(hosts, w), cells.edges, 0, f.rows, { fill: c.theme.parts.signal, opacity: 0.14 }), { ...f, y: (v) => v })],
      rows: rows.map((r) => r.title ? r : { ...r, marks: [(g, f) => bar(g, 0, f.w, f.y(9.5), f.y(9.5), { stroke: c.theme.line }), ...r.bursts.map((b) => marks(b, r.server))] }),
      marks: hostPanels(hosts, w, cells, unit, c.theme) };
  } });

// -- bursts

const LINE_KEYS = ["seed", "job", "iteration", "worker", "due", "start", "ack", "first", "queue", "delivered", "rtos"];

const burstsKey = (c, color, ink = c.theme.text) => keyAbove(c, [["START", startSample(ink)], ["gradients ready", uprightSample(7, ink)],
  ["ready to first byte sent", strokeSample(17, { stroke: c.theme.strong, "stroke-width": 3 })],
  ["first byte sent to last delivered", boxSample(17, 10, { rx: 2, fill: color })],
  ["first packet at the queue", (g, x, y) => circle(x + 8, y, 3.2, { fill: c.theme.card, stroke: ink, "stroke-width": 1.4 })(g, PIXELS)]]);

/** What a row shows of a burst; times in the units of the axis, up to `high`. */
function burstLine({ due, start, first, queue, delivered }, high, step, color, theme) {
  return [start !== null && start < due && segment(start, due, 0, 0, { stroke: theme.strong, "stroke-dasharray": "2 2" }),
    segment(due, first, 0, 0, { stroke: theme.strong, "stroke-width": 3 }),
    first !== null && box(first, delivered === null ? high : delivered, -step * 0.28, step * 0.56, { rx: 2, fill: color, opacity: delivered === null ? 0.35 : 0.85 }),
    segment(due, due, -step * 0.36, step * 0.36, { stroke: theme.text, "stroke-width": 2 }), startAt(start, 0, theme.text),
    circle(queue, 0, 2.8, { fill: theme.card, stroke: theme.text, "stroke-width": 1.2 })];
}

/** Names of bursts: long ones, or where these are too wide numbers below a heading. */
function burstNames(bursts, size, most) {
  const jobs = new Set(bursts.map((b) => b.job)).size > 1, several = new Set(bursts.map((b) => b.worker)).size > 1;
  const long = (b) => (jobs ? `job ${b.job}, ` : "") + `iteration ${b.iteration}` + (several ? `, worker ${b.worker}` : "");
  const short = (b) => [...(jobs ? [b.job] : []), b.iteration, ...(several ? [b.worker] : [])].join(" / ");
  const widest = Math.max(...bursts.map((b) => measure(long(b), size))), heading = short({ job: "job", iteration: "iteration", worker: "worker" });
  return widest > most ? { long, shown: short, heading, width: measure(heading, 11) + 10 } : { long, shown: long, width: widest + 14 };
}

function lineTip(arm, b, name, unit) {
  const show = (v) => v === null ? "–" : `${number(v)} ${unit.name}`;
  return [`${arm.name}, seed ${b.seed}, ${name}`, `gradients ready ${show(b.due)}`, `START ${show(b.start)}, ACK ${show(b.ack)}`, `first byte sent ${show(b.first)}`,
    `first packet at the queue ${show(b.queue)}`, `last byte delivered ${show(b.delivered)}`, `${b.rtos} retransmission time-outs`];
}

figure({ id: "timeline", section: "lines", when: hasJob, title: "Time line of bursts", controls: timelineControls,
  what: "One row a burst of a worker; the number at its end is its communication time.",
  plot(c) {
    const arm = c.arms.find((a) => a.name === c.state.timelineArm) || c.arms[0];
    if (!arm || !arm.bursts.length) return "No burst of this arm was recorded.";
    const seeds = arm.bursts.map((b) => b[0]), seed = seeds.includes(c.state.timelineSeed) ? c.state.timelineSeed : seeds[0];
    const own = arm.bursts.filter((b) => b[0] === seed).slice(0, 48), times = own.flatMap((r) => [r[4], r[5], r[6], r[7], r[9]]);
    const [low, high] = extent(times), unit = timeUnit(high), k = unit.per_ms, step = own.length > 24 ? 15 : 22, size = step < 20 ? 10 : 12;
    const bursts = own.map((r) => Object.fromEntries(LINE_KEYS.map((key, i) => [key, i > 3 && i < 10 && isNumber(r[i]) ? r[i] * k : r[i]])));
    const ending = (b) => b.delivered === null ? "not delivered" : number(b.delivered) + (b.rtos ? ` · ${b.rtos} RTO` : "");
    const names = burstNames(bursts, size, c.width * 0.3), color = c.theme.color(arm), key = burstsKey(c, color), { heading } = names;
    return { label: `Time line of the bursts of ${arm.name}, seed ${seed}`, height: step, right: Math.max(...bursts.map((b) => measure(ending(b), 11))) + 16,
      key: { height: key.height + (heading ? 14 : 0), draw: (svg) => { key.draw(svg); if (heading) text(svg, 0, key.height + 7, heading, { fill: c.theme.muted, "font-size": 11 }); } },
      names: { width: names.width, size, pad: 10 }, x: { domain: [Math.min(low, 0) * k, high * k], title: `${untilReady} [${unit.name}]` },
      rows: bursts.map((b) => ({ name: names.shown(b), attributes: { "class": "mark" }, before: (node, f) => tip(node, lineTip(arm, b, names.long(b), unit))
        .append("rect").attr({ x: 0, y: f.y(-step / 2), width: f.w, height: step, fill: "transparent" }),
      marks: [...burstLine(b, high * k, step, color, c.theme), (g, f) => text(g, f.w + 8, f.y(0), ending(b), { dy: ".34em", fill: c.theme.muted, "font-size": 11 })] })) };
  } });
