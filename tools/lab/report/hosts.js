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

// -- drawing

function hostsLegend(c) {
  const ink = c.theme.text, p = c.theme.parts, box = (fill, opacity) => (svg, x, y) => svg.append("rect").attr({ x, y: y - 5, width: 17, height: 10, fill, opacity });
  const items = [
    ["START", (svg, x, y) => svg.append("path").attr(startMark(x + 8, y, ink))],
    ["ready to be sent", (svg, x, y) => bar(svg, x + 8, x + 8, y - 6, y + 6, { stroke: ink, "stroke-width": 2 })],
    ["waits", (svg, x, y) => bar(svg, x, x + 17, y, y, { stroke: c.theme.strong, "stroke-width": 3 })],
    ["push", box(p.serialisation, 0.85)], ["pull", box(p.behind_ddl, 0.9)],
    ["threshold lowered", box(p.signal, 0.22)], ["background below half of its mean", box(p.behind_background, 0.5)]];
  const { at, rows } = inLines(items.map(([name]) => 22 + measure(name) + 14), c.width + 14);
  const draw = (svg) => items.forEach(([name, mark], i) => {
    const x = at[i].x, y = 10 + at[i].row * 18;
    mark(svg, x, y);
    text(svg, x + 22, y, name, { dy: ".34em", fill: c.theme.muted });
  });
  return { height: 12 + rows * 18, draw };
}

function burstTip(c, hosts, b, unit) {
  const show = (v) => v === null ? "–" : `${number(v * unit.per_ms, 4)} ${unit.name}`;
  return [`${jobNameOf(hosts, b.job)}, iteration ${b.iteration}, ${b.push ? "push of" : "pull to"} worker ${b.worker}`, `${b.push ? "gradients" : "parameters"} ready ${show(b.due)}`,
    ...(b.start === null ? [] : [`START ${show(b.start)}, ACK ${show(b.ack)}`]), `first byte sent ${show(b.first)}`,
    b.delivered === null ? "not delivered" : `last byte delivered ${show(b.delivered)}`, ...(b.rtos ? [`${b.rtos} retransmission time-outs`] : [])];
}

/** A burst in a lane of a row: on a worker's with its signal and wait. */
function drawHostBurst(g, c, b, y, x, server) {
  const k = x.per_ms, [left, right] = x.range(), at = (ms) => Math.max(left, Math.min(right, x(ms * k)));
  const seen = (ms) => ms !== null && x(ms * k) >= left && x(ms * k) <= right, lane = y + (b.push ? 6 : 14);
  if (!server) {
    const from = b.start === null ? b.due : Math.min(b.start, b.due);
    if (at(b.first === null ? Infinity : b.first) > at(from)) bar(g, at(from), at(b.first === null ? Infinity : b.first), lane, lane, { stroke: c.theme.strong, "stroke-width": 3 });
  }
  if (b.first !== null)
    g.append("rect").attr({ x: at(b.first), y: lane - 3.5, width: Math.max(1, at(b.delivered === null ? Infinity : b.delivered) - at(b.first)), height: 7,
      fill: b.push ? c.theme.parts.serialisation : c.theme.parts.behind_ddl, opacity: b.delivered === null ? 0.35 : server ? 0.5 : 0.9 });
  if (!server && seen(b.due)) bar(g, at(b.due), at(b.due), lane - 4, lane + 4, { stroke: c.theme.text, "stroke-width": 1.5 });
  if (!server && b.start !== null && seen(b.start)) g.append("path").attr(startMark(at(b.start), lane, c.theme.text));
}

function drawHostRows(g, c, hosts, rows, x, names, unit) {
  const w = x.range()[1];
  rows.forEach((row, i) => {
    const y = i * HOST_ROW;
    if (row.title) {
      text(g, -names, y + HOST_ROW / 2, fitted(row.title, names + w, 11, 600), { dy: ".34em", "font-size": 11, "font-weight": 600 });
      return;
    }
    bar(g, 0, w, y + HOST_ROW - 0.5, y + HOST_ROW - 0.5, { stroke: c.theme.line });
    text(g, -8, y + HOST_ROW / 2, fitted(row.name, names - 8, 11), { dy: ".34em", "text-anchor": "end", "font-size": 11 });
    for (const b of row.bursts) {
      const node = g.append("g").attr("class", "mark");
      drawHostBurst(node, c, b, y, x, row.server);
      tip(node, burstTip(c, hosts, b, unit));
    }
  });
}

/** A quantity by cell: an area, of which the cells in `strong` have another colour. */
function cellArea(g, values, strong, x, y, h, times, colors) {
  const paths = [[], []];
  values.forEach((v, i) => {
    if (isNumber(v)) paths[strong[i] ? 1 : 0].push(`M${x(times[i]).toFixed(1)} ${h}V${y(v).toFixed(1)}H${x(times[i + 1]).toFixed(1)}V${h}Z`);
  });
  paths.forEach((parts, i) => { if (parts.length) g.append("path").attr({ "class": "mark", d: parts.join(""), fill: colors[i], opacity: 0.75, "shape-rendering": "crispEdges" }); });
}

/** @param of  {title, values, strong, colors, reference (a level or levels by cell), lines(i)} */
function hostPanel(g, c, x, times, of) {
  const w = x.range()[1], h = HOST_PANEL, levels = Array.isArray(of.reference) ? of.reference : of.values.map(() => of.reference);
  const [, top] = extent(of.values), [, level] = extent(levels, [0, 0]);
  const y = d3.scale.linear().domain([0, (Math.max(top, level <= 2 * top ? level : 0) || 1) * 1.08]).range([h, 0]);
  axisY(g, y, w, null, c.theme, { count: 2 });
  text(g, 0, -6, fitted(of.title, w, 11), { "font-size": 11, fill: c.theme.muted });
  // A value of zero has no area: the slices of interest have a background too.
  for (const [from, to] of spansOf(of.strong))
    g.append("rect").attr({ "class": "strong", x: x(times[from]), width: Math.max(1, x(times[to]) - x(times[from])), y: 0, height: h, fill: of.colors[1], opacity: 0.2 });
  cellArea(g, of.values, of.strong, x, y, h, times, of.colors);
  const steps = d3.svg.line().defined((v) => isNumber(v[1]) && v[1] <= y.domain()[1]).x((v) => x(v[0])).y((v) => y(v[1]));
  g.append("path").attr({ fill: "none", stroke: c.theme.text, "stroke-width": 1.2, "stroke-dasharray": "5 3", d: steps(levels.flatMap((v, i) => [[times[i], v], [times[i + 1], v]])) });
  hoverX(g, w, h, x, (value) => of.lines(Math.max(0, Math.min(of.values.length - 1, d3.bisectRight(times, value) - 1))), c.theme);
}

function drawHostPanels(g, c, hosts, w, x, times, unit) {
  const lowered = loweredCells(hosts, w), mean = hosts.background_mbit, gbit = mean >= 2000, k = gbit ? 1e-3 : 1, name = gbit ? "Gbit/s" : "Mbit/s";
  const slow = w.background.map((v) => isNumber(v) && isNumber(mean) && v < SLOW_SHARE * mean);
  const when = (i) => `${number(times[i])} to ${number(times[i + 1])} ${unit.name}`;
  hostPanel(g.append("g").attr("transform", `translate(0,${HOST_HEAD})`), c, x, times, { title: "measured queue [packets]; dashed: threshold", values: w.queue,
    strong: lowered, colors: [c.theme.strong, c.theme.parts.signal], reference: w.threshold,
    lines: (i) => [when(i), `${number(w.queue[i])} packets`, `lowest threshold ${number(w.threshold[i])}${lowered[i] ? ", lowered" : ""}`] });
  hostPanel(g.append("g").attr("transform", `translate(0,${2 * HOST_HEAD + HOST_PANEL + 4})`), c, x, times, { title: `background [${name}]; dashed: mean of the run`,
    values: w.background.map((v) => isNumber(v) ? v * k : v), strong: slow, colors: [c.theme.strong, c.theme.parts.behind_background], reference: isNumber(mean) ? mean * k : null,
    lines: (i) => [when(i), `background ${number(isNumber(w.background[i]) ? w.background[i] * k : null)} ${name}`, `mean over the run ${number(isNumber(mean) ? mean * k : null)} ${name}`] });
}

function drawHosts(c) {
  const arm = hostsArm(c);
  if (!arm) return "No iteration of these arms was recorded.";
  const { hosts } = arm, w = hostsWindow(arm), rows = hostRows(hosts, w);
  const to = w.from_ms + w.cells * w.step_ms, unit = timeUnit(Math.max(-w.from_ms, to));
  const names = Math.max(34, ...rows.map((r) => r.name ? measure(r.name, 11) : 0)) + 12, width = c.width - names - 10;
  const key = hostsLegend(c), top = key.height + 20, h = rows.length * HOST_ROW, panels = 2 * (HOST_HEAD + HOST_PANEL) + 4;
  const svg = newSvg(c.width, top + h + panels + 44, c.theme, `Time line of hosts, ${arm.name}, seed ${hosts.seed}, ${windowName(hosts, w)}`);
  key.draw(svg);
  text(svg, 0, key.height + 8, fitted(`${arm.name}, seed ${hosts.seed}, ${windowName(hosts, w)}`, c.width, 12, 600), { dy: ".34em", "font-weight": 600 });
  const g = svg.append("g").attr("transform", `translate(${names},${top})`);
  const x = d3.scale.linear().domain([w.from_ms * unit.per_ms, to * unit.per_ms]).range([0, width]);
  x.per_ms = unit.per_ms;
  const times = d3.range(w.cells + 1).map((i) => (w.from_ms + i * w.step_ms) * unit.per_ms);
  axisX(g, x, h + panels, width, `time from the iteration's gradients ready [${unit.name}]`, c.theme, { grid: true });
  for (const [from, until] of spansOf(loweredCells(hosts, w)))
    g.append("rect").attr({ x: x(times[from]), width: Math.max(1, x(times[until]) - x(times[from])), y: 0, height: h, fill: c.theme.parts.signal, opacity: 0.14 });
  drawHostRows(g, c, hosts, rows, x, names, unit);
  drawHostPanels(g.append("g").attr("transform", `translate(0,${h})`), c, hosts, w, x, times, unit);
  return svg.node();
}
