// The page: what is chosen, the table, and which figure stands where.

const MOST_AT_FIRST = 8;
const state = { point: 0, hidden: new Set(), view: "start", allQueues: false, timelineArm: null, timelineSeed: null, fabricArm: null, hostsArm: null, hostsWindow: 0 };

/** Colour, symbol and dash of each name, the same at every point. */
function dress(arms) {
  const names = [];
  for (const a of arms) if (!a.off && !names.includes(a.name)) names.push(a.name);
  for (const a of arms) {
    const i = a.off ? -1 : names.indexOf(a.name);
    a.style = i;
    a.symbol = i + 1;
    a.dash = i >= THEMES.light.arms.length ? "6 3" : "";
  }
  for (const theme of Object.values(THEMES))
    theme.color = (a) => a.style < 0 ? theme.off : theme.arms[a.style % theme.arms.length];
}

const armsHere = () => data.arms.filter((a) => a.point === state.point);
const isShown = (a) => !state.hidden.has(a.name);

/** What a figure is drawn from. */
function context(width, theme) {
  const arms = armsHere();
  const [, slowest] = extent(arms.map((a) => median(a)[0] === null ? null : median(a)[0] * 1e3));
  return { data, all: data.arms, point: state.point, arms: arms.filter(isShown), shown: isShown, theme, width,
    unit: timeUnit(slowest), state, choosePoint };
}

// -- figures

const SECTIONS = {
  roce: [roceHeading(), roceLead()],
  queue: ["Queue", "What the burst finds, and what it leaves."],
  time: ["Communication time", ""],
  "each-job": ["Jobs", "Each job by itself, under each arm that is shown."],
  collectives: ["Collectives", "What each job's collective reaches, in the words of nccl-tests."],
  groups: ["Groups of background", "What each group offered and got, under each arm that is shown."],
  cost: ["Throughput and background", ""],
  ends: ["Marks and drops", "Means over runs."],
  fabric: ["Links and jobs", "Where in the fabric the traffic is, and when each job computes and communicates."],
  lines: ["Iterations", ""],
};

function costText() {
  const cost = data.points[state.point].cost;
  if (!cost || cost.basis === "none") return "There is no baseline to compare with.";
  if (cost.basis !== "windows around bursts") return "Closed loop: rates over the whole run against the baseline's.";
  return `Bytes in [gradients ready − ${number(cost.lead_seconds * 1e3)} ms, + ${number(cost.window_seconds * 1e3)} ms] of every iteration, less than the baseline's. The number is what was lost in all.`;
}

/** Narrower than this a figure is made smaller as a whole. */
const LEAST_WIDTH = 300;
const widthOf = (figure) => Math.max(LEAST_WIDTH, Math.floor(figure.node.querySelector(".plot").clientWidth));

function chartOf(figure, width, theme) {
  const c = context(width, theme);
  return drawChart(c, figure.plot(c));
}

function drawFigure(figure) {
  const box = figure.node.querySelector(".plot");
  const width = widthOf(figure);
  const drawn = chartOf(figure, width, currentTheme());
  const none = typeof drawn === "string";
  box.replaceChildren(none ? el("p", { class: "empty", text: drawn }) : drawn);
  figure.node.querySelector(".what").textContent = typeof figure.what === "function" ? figure.what() : figure.what;
  const tools = figure.node.querySelector(".tools");
  tools.replaceChildren();
  if (figure.controls) tools.append(...figure.controls(figure));
  if (!none) tools.append(saveButton(figure, "SVG", saveSvg, "svg"), saveButton(figure, "PNG", savePng, "png"));
  figure.node.dataset.drawn = none ? "empty" : "yes";
}

/** Saved figures are light, whatever the screen is: they are for paper. */
function saveButton(figure, name, save, ending) {
  return el("button", {
    class: "plain", type: "button", text: name, "aria-label": `Save "${figure.title}" as ${name}`,
    onclick: () => {
      const node = chartOf(figure, widthOf(figure), THEMES.light);
      d3.select(node).insert("rect", ":first-child").attr({ width: "100%", height: "100%", fill: THEMES.light.card });
      const point = data.points.length > 1 && figure.id !== "sweep" ? data.points[state.point].name : "";
      save(node, fileName(data.experiment, figure.id, point, ending));
    },
  });
}

function toggle(figure, name, pressed, set) {
  return el("button", { class: "plain", type: "button", text: name, "aria-pressed": pressed,
    onclick: () => { set(); drawAll(); focusAgain(figure, name); } });
}

/** Drawing anew made the button anew. */
function focusAgain(figure, name) {
  for (const b of figure.node.querySelectorAll("button")) if (b.textContent === name) b.focus();
}

function queueControls(figure) {
  return [toggle(figure, "around the signal", state.view === "start", () => { state.view = "start"; }),
    toggle(figure, "whole burst", state.view === "due", () => { state.view = "due"; })];
}

function endsControls(figure) {
  return [toggle(figure, "measured queue", !state.allQueues, () => { state.allQueues = false; }),
    toggle(figure, "all switches", state.allQueues, () => { state.allQueues = true; })];
}

function chooser(name, options, chosen, set) {
  const select = el("select", { "aria-label": name, onchange: () => { set(select.selectedIndex); drawAll(); } });
  options.forEach((o, i) => select.append(el("option", i === chosen ? { text: o, selected: "" } : { text: o })));
  return select;
}

function timelineControls() {
  const arms = armsHere().filter(isShown), arm = arms.find((a) => a.name === state.timelineArm) || arms[0];
  if (!arm) return [];
  const seeds = [...new Set(arm.bursts.map((b) => b[0]))];
  return [chooser("Arm", arms.map((a) => a.name), arms.indexOf(arm), (i) => { state.timelineArm = arms[i].name; }),
    chooser("Seed", seeds.map((s) => `seed ${s}`), Math.max(0, seeds.indexOf(state.timelineSeed)), (i) => { state.timelineSeed = seeds[i]; })];
}

// -- the table

/** A change as a mark between its bounds, on the scale of all of them. */
function changeSvg(arm, x) {
  const theme = currentTheme(), [, , , d, dl, dh] = median(arm), svg = newSvg(96, 16, theme, "").attr({ role: null, "aria-hidden": "true" });
  bar(svg, x(0), x(0), 1, 15, { stroke: theme.strong });
  if (isNumber(dl)) bar(svg, x(dl), x(dh), 8, 8, { stroke: theme.color(arm), "stroke-width": 2, opacity: 0.6 });
  if (isNumber(d)) svg.append("path").attr({ d: symbolPath(arm, 44), transform: `translate(${x(d)},8)`, fill: theme.color(arm) });
  return svg.node();
}

/** Where the mark of the change stands in a row of the table; its number follows. */
const CHANGE_COLUMN = 6;

/** Smaller changes are not coloured, however sure they are: kLeastChange of the sentences. */
const LEAST_CHANGE = 0.001;

function changeClass(d, low, high) {
  if (!isNumber(low) || !isNumber(high) || (low <= 0 && high >= 0) || Math.abs(d) < LEAST_CHANGE) return "none";
  return d < 0 ? "better" : "worse";
}

function tailCell(a) {
  const [p99, low, high] = metric(a, "communication_p99_over_alone_median");
  return cell(number(p99), interval(low, high, (v) => number(v)), "stacked");
}

/** The change against an arm's own baseline, where that is not the one of all arms. */
function againstText(a) {
  if (!a.against) return "";
  const [, , , d, low, high] = metric(a, "communication_seconds_median");
  return ` (${percent(d)} % ${interval(low, high, percent)} against ${a.against})`;
}

function armRow(a, unit, x) {
  const [t, , , d, dl, dh] = median(a), p99 = metric(a, "communication_seconds_p99")[0];
  const [perByte, perByteLow, perByteHigh] = metric(a, "background_bytes_lost_per_burst_byte");
  const [b, bl, bh] = lost(a), ms = (s) => isNumber(s) ? number(s * 1e3 * unit.per_ms) : "–";
  const kind = changeClass(d, dl, dh);
  const row = el("tr", {}, armHead(a),
    cell(number(metric(a, "start_queue_packets_mean")[0])), cell(ms(t)), cell(ms(p99)),
    cell(number(metric(a, "communication_over_alone_median")[0])), tailCell(a));
  if (a.off) row.append(el("td", { class: "middle" }), el("td", { text: "–" }), el("td", { text: "–" }), el("td", { text: "–" }));
  else row.append(el("td", { class: "middle" }, changeSvg(a, x)), cell(percent(d), interval(dl, dh, percent) + againstText(a), kind + " stacked"),
    cell(percent(b, false), interval(bl, bh, (v) => percent(v, false)), "stacked"),
    cell(number(perByte, 2), interval(perByteLow, perByteHigh, (v) => number(v, 2)), "stacked"));
  row.append(cell(number(metric(a, "rtos_per_burst")[0], 2)));
  return row;
}

function paperRow(name, figures, changes) {
  const seconds = (s) => number(s, 3) + " s †";
  return el("tr", { class: "paper" }, el("th", { scope: "row", text: name }), cell(number(figures.start_queue_packets_mean)),
    cell(seconds(figures.burst_completion_seconds)), cell("–"), cell("–"), cell("–"), el("td"),
    cell(changes ? percent(changes.burst_completion_seconds) + " †" : "–"), cell(changes ? percent(-changes.background, false) : "–"), cell("–"), cell("–"));
}

/** On a phone the change stands beside the name, because the rest of the row is scrolled. */
function changeFirst(row) {
  const name = row.cells[0], [mark, change] = [...row.cells].slice(CHANGE_COLUMN);
  name.after(...(mark.colSpan > 1 ? [mark] : [change, mark]));
}

function drawTable() {
  const arms = armsHere(), unit = context(0, currentTheme()).unit;
  const [low, high] = extent(arms.filter((a) => !a.off).flatMap((a) => median(a).slice(3)).concat(0));
  const x = d3.scale.linear().domain([low, high]).range([7, 89]);
  const head = (name, unitName, attributes = {}) => el("th", { scope: "col", ...attributes }, document.createTextNode(name), el("span", { class: "unit", text: unitName }));
  const table = el("table", {}, el("thead", {}, el("tr", {}, head("Arm", "\u00a0"), head("Start queue", "packets, mean"), head("Communication", `${unit.name}, median`),
    head("", `${unit.name}, p99`), head("× alone", "median"), head("", "p99 / median"), head("Against " + offLabel(state.point), "", { colspan: 2 }), head("Background lost", "%"), head("", "bytes / burst byte"), head("Time-outs", "per burst"))));
  table.querySelectorAll("thead th")[CHANGE_COLUMN].querySelector(".unit").textContent = "change of median, %";
  const body = el("tbody");
  for (const a of arms) body.append(armRow(a, unit, x));
  if (data.paper && state.point === 0) {
    body.append(paperRow("paper, PCN off", data.paper.off, null), paperRow("paper, PCN on", data.paper.on, data.paper.changes));
  }
  table.append(body);
  if (matchMedia("(max-width: 640px)").matches) for (const row of table.rows) changeFirst(row);
  const box = document.getElementById("table");
  box.replaceChildren(el("div", { class: "scroll" }, table), armsExplained(), el("p", { class: "foot", text: "Start queue: background packets that an iteration's first packet finds. Communication: gradients ready, before any START or wait, to last byte delivered. p99 / median: its p99, first bursts included, over the median of the same job alone. Bytes / burst byte: what the background lost for a byte that the workers pushed. " +
    "In brackets: 95 % confidence, which resamples seeds; in grey: the interval includes 0, or there is none." }));
  if (data.paper && state.point === 0) box.append(el("p", { class: "foot", text: "† " + data.paper.source }));
}

// -- what the arms are

/** What an arm sets otherwise than its baseline, in words. */
function armText(arm) {
  const isBaseline = (a) => a.point === arm.point && (arm.against ? a.label === arm.against : a.off);
  const reference = data.arms.findIndex(isBaseline), i = data.arms.indexOf(arm);
  if (arm.off) return "the baseline: what the others are compared with";
  if (reference < 0) return "nothing to compare with at this point";
  const differing = Object.keys(data.settings.varying).filter((n) => {
    const of = data.settings.varying[n];
    return of[i] !== of[reference];
  });
  const name = data.arms[reference].label;
  if (!differing.length) return `the same settings as ${name}`;
  return `${name} with ` + differing.map((n) => `${n} = ${shownValue(data.settings.varying[n][i])}`).join(", ");
}

function armsExplained() {
  const list = el("dl", { class: "arms" });
  for (const a of armsHere()) list.append(el("dt", {}, keySvg(a), document.createTextNode(a.name)), el("dd", { text: armText(a) }));
  return el("details", armsHere().length <= 4 ? { open: "" } : {}, el("summary", { text: "What the arms are" }), list);
}

// -- jobs and iterations, as table.txt has them

const CLOSED_LOOP = [["iteration_seconds_median", "Iteration, median", true], ["first_layer_seconds_median", "First layer, median"],
  ["nic_send_idle_share_median", "Sender's NIC idle, median"]];
const SEVERAL_JOBS = [["jobs_completion_seconds_mean", "Completion of the jobs, mean", true], ["jobs_completion_seconds_range", "Jobs apart"],
  ["worker_spread_seconds_mean", "Workers apart, mean", true], ["server_nic_sending_share", "Server's NIC sends"], ["server_nic_receiving_share", "Server's NIC receives"]];
const LEARNING = [["worker_iteration_seconds_mean", "Iteration of a worker, mean"], ["update_gap_variation", "Gaps of updates, variation"],
  ["time_to_loss_seconds", "Time to the target loss", true], ["gradients_to_loss", "Gradients to it"], ["last_loss", "Last loss"]];

function isClosedLoop(arm) {
  const of = data.settings.varying.schedule;
  return (of ? of[data.arms.indexOf(arm)] : data.settings.common.schedule) === "closed_loop";
}

/** The columns of which an arm of this point has something. */
function jobColumns(arms) {
  const has = (name) => arms.some((a) => isNumber(metric(a, name)[0]));
  const all = [];
  if (arms.some(isClosedLoop)) all.push(...CLOSED_LOOP);
  if (has("jobs_completion_seconds_mean") || has("worker_spread_seconds_mean")) all.push(...SEVERAL_JOBS);
  if (has("last_loss")) all.push(...LEARNING);
  return all.filter(([name]) => has(name));
}

function drawJobs() {
  const box = document.getElementById("jobs"), arms = armsHere(), columns = jobColumns(arms);
  box.hidden = !columns.length;
  box.replaceChildren();
  if (!columns.length) return;
  const head = el("tr", {}, el("th", { scope: "col", text: "Arm" })), body = el("tbody");
  const of = (name) => data.metrics.find((m) => m.name === name);
  for (const [name, title] of columns)
    head.append(el("th", { scope: "col", title: of(name).help }, document.createTextNode(title), el("span", { class: "unit", text: of(name).unit || "\u00a0" })));
  for (const a of arms) {
    const row = el("tr", {}, armHead(a));
    for (const [name, , change] of columns) {
      const [v, , , d, dl, dh] = metric(a, name), shown = isNumber(v) ? number(v * of(name).scale) : "–";
      row.append(cell(shown, change && !a.off && isNumber(d) ? `${percent(d)} % ${interval(dl, dh, percent)}` : "", "stacked"));
    }
    body.append(row);
  }
  box.append(el("h3", { text: "Jobs and iterations" }), el("div", { class: "scroll" }, el("table", {}, el("thead", {}, head), body)),
    el("p", { class: "foot", text: "Second line: change against the arm's baseline, paired by seed, with 95 % confidence." }));
}

/** Says of each table and figure that is wider than the screen that there is more of it. */
function hintAtWhatIsCut() {
  for (const box of document.querySelectorAll(".scroll")) {
    const before = box.previousElementSibling, hint = before && before.classList.contains("cut") ? before : null;
    const cut = box.clientWidth > 0 && box.scrollWidth > box.clientWidth + 1;
    if (cut && !hint) box.before(el("p", { class: "cut", text: "Wider than this screen: scroll it sideways \u2192" }));
    if (!cut && hint) hint.remove();
  }
}

/** Every metric that an arm of this point has, as its row in the registry describes it. */
function metricRow(m, arms) {
  const scaled = (v) => number(v * m.scale);
  const row = el("tr", {}, el("th", { scope: "row" }, el("code", { text: m.name }),
    m.unit ? el("span", { class: "of", text: m.unit }) : null, el("span", { class: "help", text: `${m.help} (${m.over})` })));
  for (const a of arms) {
    const [v, low, high, d, dl, dh] = a.metrics[m.name] || [];
    const value = cell(isNumber(v) ? scaled(v) : "–", isNumber(v) ? interval(low, high, scaled) : "");
    if (m.change && !a.off && isNumber(d)) value.append(el("span", { class: "change", text: `${percent(d)} % ${interval(dl, dh, percent)}` }));
    row.append(value);
  }
  return row;
}

function drawMetrics() {
  const arms = armsHere(), head = el("tr", {}, el("th", { scope: "col", text: "Metric" }));
  for (const a of arms) head.append(el("th", { scope: "col" }, keySvg(a), document.createTextNode(a.name)));
  const body = el("tbody"), has = (m) => arms.some((a) => a.metrics[m.name] && isNumber(a.metrics[m.name][0]));
  const rows = data.metrics.filter(has);
  for (const m of rows) body.append(metricRow(m, arms));
  document.getElementById("count").textContent = `${rows.length} metrics of every arm, with definitions`;
  document.getElementById("all-metrics").replaceChildren(el("div", { class: "scroll" }, el("table", { class: "metrics" }, el("thead", {}, head), body)),
    el("p", { class: "foot", text: "In brackets: 95 % confidence interval over seeds. Second line: change against the arm's baseline, paired by seed." +
      (rows.length < data.metrics.length ? ` Not defined at this point: ${data.metrics.filter((m) => !has(m)).map((m) => m.name).join(", ")}.` : "") }));
}

// -- what heads the page

/** Intervals and percentages stay on one line. */
const unbroken = (s) => s.replace(/\[[^\]]*\]/g, (m) => m.replace(/ /g, "\u00a0")).replace(/ %/g, "\u00a0%");

function drawAnswer() {
  const box = document.getElementById("sentences"), heading = document.getElementById("point");
  if (heading) heading.textContent = "At the point: " + data.points[state.point].name;
  if (!box) return;
  box.replaceChildren();
  for (const s of data.points[state.point] ? data.points[state.point].answer : []) box.append(el("p", { class: s.kind, text: unbroken(s.text) }));
}

const usedFigures = () => FIGURES.filter((f) => !f.when || f.when());
const sectionsHere = () => Object.keys(SECTIONS).filter((id) => usedFigures().some((f) => f.section === id) || (id === "each-job" && severalJobs()) || (id === "collectives" && hasCollectives()) || (id === "groups" && hasGroups()));

function sectionLinks() {
  const nav = el("nav", { "aria-label": "Sections" });
  for (const id of sectionsHere()) nav.append(el("a", { href: "#" + id, text: SECTIONS[id][0] }));
  nav.append(el("a", { href: "#metrics", text: "All metrics" }), el("a", { href: "#settings", text: "Settings" }), el("a", { href: "#environment", text: "Environment" }),
    el("a", { href: "#terms", text: "Terms" }));
  return nav;
}

function facts() {
  const list = el("ul", { class: "facts" });
  const add = (name, value) => list.append(el("li", {}, el("b", { text: value }), document.createTextNode(" " + name)));
  add("", data.runtime === "virtual" ? "virtual time" : "two processes, real time");
  add(data.seeds === 1 ? "seed" : "seeds", String(data.seeds));
  add(data.interrupted ? "runs: interrupted" : data.cases === 1 ? "run" : "runs",
    data.interrupted ? `${data.cases} of ${data.planned_cases}` : String(data.cases));
  if (data.points.length > 1) add("points", String(data.points.length));
  if (data.queue) {
    const bits = data.queue.drain_bits_per_second;
    add(bits >= 1e9 ? `Gbit/s at ${data.queue.switch}.${data.queue.port}, the measured queue` : `Mbit/s at ${data.queue.switch}.${data.queue.port}, the measured queue`, number(bits >= 1e9 ? bits / 1e9 : bits / 1e6));
  }
  if (isNumber(data.base_rtt_seconds)) { const u = timeUnit(data.base_rtt_seconds * 1e3); add(`${u.name} base RTT`, number(data.base_rtt_seconds * 1e3 * u.per_ms)); }
  const notes = noticeLines().length;
  if (notes && data.arms.length) list.append(el("li", {}, el("a", { href: "#notices", class: "warn", text: thingsToKnow(notes) })));
  return list;
}

/** What a reader should know before the figures are believed. */
function noticeLines() {
  return data.warnings;
}

const thingsToKnow = (n) => `Before you trust these figures: ${n} ${n === 1 ? "thing" : "things"} to know`;

function notices() {
  const lines = noticeLines();
  if (!lines.length) return null;
  const list = el("ul");
  for (const l of lines.slice(0, 40)) list.append(el("li", { text: l }));
  if (lines.length > 40) list.append(el("li", { text: `and ${lines.length - 40} more in the table warnings of results.sqlite` }));
  return el("div", { class: "card notice", id: "notices" }, el("details", lines.length <= 3 || data.interrupted ? { open: "" } : {},
    el("summary", { text: thingsToKnow(lines.length) }), list));
}

function drawBar() {
  const box = document.getElementById("bar"), focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.key : null;
  box.replaceChildren();
  if (data.points.length > 1) {
    const select = el("select", { "aria-label": "Point of the matrix", "data-key": "point", onchange: () => choosePoint(select.selectedIndex) });
    data.points.forEach((p, i) => select.append(el("option", i === state.point ? { text: p.name, selected: "" } : { text: p.name })));
    box.append(el("span", { class: "name", text: "Point" }), select);
  }
  for (const a of armsHere())
    box.append(el("button", { class: "chip", type: "button", "aria-pressed": isShown(a), title: `${a.name}: ${armText(a)}. Show or hide it in the figures`, "data-key": "arm " + a.name,
      onclick: () => { if (isShown(a)) state.hidden.add(a.name); else state.hidden.delete(a.name); drawAll(); } }, keySvg(a), document.createTextNode(a.name)));
  for (const node of box.querySelectorAll("[data-key]")) if (node.dataset.key === focused) node.focus();
}

// -- settings and environment

const shownValue = (v) => v === null ? "–" : v === "" ? "(none)" : typeof v === "number" ? String(v) : String(v);

function drawSettings() {
  const names = Object.keys(data.settings.varying), here = data.arms.map((a, i) => [a, i]).filter(([a]) => a.point === state.point);
  const box = document.getElementById("varying");
  const rows = names.filter((n) => new Set(here.map(([, i]) => JSON.stringify(data.settings.varying[n][i]))).size > 1);
  box.replaceChildren();
  if (!rows.length) { box.append(el("p", { class: "lead", text: "The arms do not differ in any parameter." })); return; }
  const head = el("tr", {}, el("th", { scope: "col", text: "Parameter" }));
  for (const [a] of here) head.append(el("th", { scope: "col" }, keySvg(a), document.createTextNode(a.name)));
  const body = el("tbody"), reference = here.find(([a]) => a.off) || here[0];
  for (const n of rows) {
    const row = el("tr", {}, el("th", { scope: "row", text: n })), of = data.settings.varying[n];
    for (const [, i] of here) row.append(el("td", of[i] === of[reference[1]] ? { class: "same", text: shownValue(of[i]) } : { text: shownValue(of[i]) }));
    body.append(row);
  }
  box.append(el("div", { class: "scroll" }, el("table", { class: "settings" }, el("thead", {}, head), body)));
}

function pairs(object) {
  const box = el("div", { class: "columns" });
  for (const key of Object.keys(object)) box.append(el("div", {}, el("span", { text: key }), el("span", { text: shownValue(object[key]) })));
  return box;
}

function allSettings() {
  const out = { ...data.settings.common }, i = data.arms.findIndex((a) => a.point === state.point && a.off);
  const here = data.arms.map((a, k) => [a, k]).filter(([a]) => a.point === state.point);
  for (const n of Object.keys(data.settings.varying)) {
    const values = new Set(here.map(([, k]) => JSON.stringify(data.settings.varying[n][k])));
    out[n] = values.size === 1 ? data.settings.varying[n][here[0][1]] : "differs: see above";
  }
  return i < 0 && !here.length ? data.settings.common : out;
}

// -- all of it

function figureNode(figure) {
  figure.node = el("figure", { id: "figure-" + figure.id, "data-figure": figure.id },
    el("div", { class: "head" }, el("h3", { text: figure.title }), el("div", { class: "tools" })),
    el("p", { class: "what" }), el("div", { class: "plot scroll" }));
  return figure.node;
}

// The advice begins with its sentences; tables and settings follow, of fixed width.
function adviceNodes(text) {
  const cut = text.indexOf("\n\n"), sentences = cut < 0 ? text : text.slice(0, cut), rest = cut < 0 ? "" : text.slice(cut).trim();
  return [el("p", { text: sentences.replace(/\n/g, " ") }), rest ? el("details", { open: "" }, el("summary", { text: "What was compared, and what to set" }), el("div", { class: "scroll" }, el("pre", { text: rest }))) : null];
}

function build() {
  const page = document.getElementById("page"), used = usedFigures();
  page.append(el("header", {}, el("div", { class: "top" }, el("p", { class: "eyebrow", text: "Outrider · report of an experiment" }), data.arms.length ? sectionLinks() : null), el("h1", { text: data.experiment }),
    data.question ? el("p", { class: "question", tabindex: 0, text: data.question }) : null, facts()));
  if (!data.arms.length) {
    page.append(el("p", { class: "card", text: "No run has ended yet: there is nothing to show." }));
    return;
  }
  page.append(el("div", { class: "bar", id: "bar" }));
  const answer = el("section", { id: "answer", "aria-label": "Answer" }), of = (id) => used.filter((f) => f.id === id).map(figureNode);
  if (data.advice) answer.append(el("section", { class: "card advice", id: "advice", "aria-label": "Advice" }, el("h2", { text: "Advice" }), ...adviceNodes(data.advice)));
  if (data.sweep.length) {
    const all = el("div", { class: "card answer over" });
    for (const s of data.sweep) if (!data.advice) all.append(el("p", { class: s.kind, text: unbroken(s.text) }));
    if (!data.advice) answer.append(all);
    answer.append( ...of("sweep"), el("h2", { class: "point", id: "point" }));
  }
  // One verdict a page: the advice weighs what a remedy costs, which the answer's sentences do not.
  if (!data.advice) answer.append(el("div", { class: "card answer", id: "sentences", role: "status" }));
  const table = el("div", { class: "card", id: "table" });
  table.hidden = !data.has_job;
  answer.append(table,
    el("div", { class: "card", id: "jobs" }), ...of("gain"));
  const notice = notices();
  if (notice) answer.append(notice);
  page.append(answer);
  for (const id of sectionsHere()) {
    const section = el("section", { id }, el("h2", { text: SECTIONS[id][0] }), SECTIONS[id][1] ? el("p", { class: "lead", text: SECTIONS[id][1] }) : null);
    if (id === "roce") section.append(el("div", { class: "card", id: "roce-table" }));
    if (id === "each-job") section.append(el("div", { class: "card", id: "each-job-table" }));
    if (id === "collectives") section.append(el("div", { class: "card", id: "collectives-table" }));
    if (id === "groups") section.append(el("div", { class: "card", id: "groups-table" }));
    for (const f of used.filter((g) => g.section === id)) section.append(figureNode(f));
    if (id === "fabric") section.append(el("div", { class: "card", id: "fabric-tables" }));
    page.append(section);
  }
  page.append(el("section", { id: "metrics" }, el("h2", { text: "All metrics" }),
    el("details", { ontoggle: hintAtWhatIsCut }, el("summary", { id: "count" }), el("div", { class: "card", id: "all-metrics" }))));
  page.append(el("section", { id: "settings" }, el("h2", { text: "Settings" }), el("div", { class: "card", id: "varying" }),
    el("details", {}, el("summary", { text: "All parameters of this point" }), el("div", { id: "all-settings" }))));
  page.append(el("section", { id: "environment" }, el("h2", { text: "Environment" }), el("div", { class: "card" }, pairs(data.environment))));
  page.append(el("section", { id: "terms" }, el("h2", { text: "Terms" }), el("p", { class: "lead", text: "Terms of docs/glossary.md that this page has." }),
    el("div", { class: "card", id: "all-terms" })));
  page.append(el("footer", { text: "docs/measurement.md defines every figure. summary.json and results.sqlite beside this file, and the CSV files, hold what they are made of." }));
}

let drawnFigures = [];

function drawAll() {
  if (!data.arms.length) return;
  drawBar();
  drawAnswer();
  drawTable();
  drawJobs();
  drawRoce();
  drawEachJob();
  drawCollectives();
  drawGroups();
  drawFabricTables();
  drawMetrics();
  drawSettings();
  document.getElementById("all-settings").replaceChildren(pairs(allSettings()));
  for (const f of drawnFigures) drawFigure(f);
  defineTerms();
  hintAtWhatIsCut();
}

function choosePoint(p) {
  state.point = p;
  hideSome();
  drawAll();
}

/** A figure with more arms than this cannot be read: the reader adds what is of interest. */
function hideSome() {
  const shown = armsHere().filter(isShown);
  for (const a of shown.slice(MOST_AT_FIRST)) state.hidden.add(a.name);
}

dress(data.arms);
build();
drawnFigures = FIGURES.filter((f) => f.node);
if (data.arms.length) hideSome();
drawAll();
document.documentElement.dataset.ready = "yes";
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
// Scrolling hides and shows a phone's address bar, which changes the height alone.
let resizing = 0, drawnWidth = innerWidth;
addEventListener("resize", () => {
  clearTimeout(resizing);
  if (innerWidth !== drawnWidth) resizing = setTimeout(() => { drawnWidth = innerWidth; drawAll(); }, 120);
});
