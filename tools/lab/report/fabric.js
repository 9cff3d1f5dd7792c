// Figures of a fabric: its links over time, and its jobs over time, both of one arm's first seed.

const DEFINITIONS = {
  utilisation: "Utilisation: bytes that left the port, with what its rate counts beside the frames, over what it could have sent in that time.",
  tier: meaningOf("tier"),
  others: "others: the links of this tier that were less busy over the whole run, taken together.",
  computing: "Computing: from the begin of an iteration, of its first worker, until the last worker has all its gradients.",
  communicating: "Communicating: from the first gradient of any worker until the last worker has all parameters.",
  joined: "Without a line of their own in links.csv: they share the line “others”.",
  marks: "Packets that queues of these ports gave the mark CE (congestion experienced), whole run.",
  drops: "Packets that these ports dropped, whole run.",
  longest: "The port in whose queues packets of bursts waited longest, all taken together. Only ports with records are seen: all of them with measured = \"worst\".",
  start: "Start queue: background packets that the first packet of a worker's burst finds there, mean over measured iterations; in brackets packets of all classes.",
};

const fabricArm = (c) => c.arms.find((a) => a.name === c.state.fabricArm && a.links) || c.arms.find((a) => a.links);
const fabricHere = () => data.arms.some((a) => a.links);

function fabricControls() {
  const arms = armsHere().filter((a) => isShown(a) && a.links);
  const at = arms.findIndex((a) => a.name === state.fabricArm);
  return arms.length ? [chooser("Arm", arms.map((a) => a.name), Math.max(0, at), (i) => { state.fabricArm = arms[i].name; })] : [];
}

/** Names left of rows: as wide as the longest, but no more than a part of the width. Both figures
    have the same, so that their times stand below each other. */
function namesWidth(arm, width) {
  const names = arm.links.tiers.flatMap((t) => t.rows.map((r) => measure(rowName(r), 9))).concat(arm.jobs_over_time.jobs.map((j) => measure(j.name, 11)));
  return Math.min(width * 0.36, Math.max(60, ...names) + 10);
}

const LEVELS = 10;
/** Level 0 is idle, the others are tenths of the capacity. */
const levelOf = (thousandths) => thousandths === 0 ? 0 : Math.min(LEVELS, 1 + Math.floor(thousandths * LEVELS / 1000));
function levelColor(theme, level) {
  return level === 0 ? theme.shade : d3.scale.linear().domain([1, LEVELS * 0.6, LEVELS]).range(theme.heat).interpolate(d3.interpolateLab)(level);
}

// -- heat map

const rowName = (row) => row.links > 1 || row.link === "others" ? `${row.links} others` : row.link;

function heatLegend(svg, x, theme) {
  const label = "share of capacity", step = 14;
  const g = svg.append("g").attr("transform", `translate(${x},0)`);
  tip(g, [DEFINITIONS.utilisation]);
  text(g, 0, 9, label, { dy: ".34em", fill: theme.muted, "font-size": 11 });
  const from = measure(label, 11) + 10;
  for (let level = 0; level <= LEVELS; level++)
    g.append("rect").attr({ x: from + level * step, y: 3, width: step, height: 11, fill: levelColor(theme, level) });
  text(g, from, 26, "idle", { fill: theme.muted, "font-size": 10 });
  text(g, from + (LEVELS / 2 + 1) * step, 26, "50 %", { fill: theme.muted, "font-size": 10, "text-anchor": "middle" });
  text(g, from + (LEVELS + 1) * step, 26, "100 %", { fill: theme.muted, "font-size": 10, "text-anchor": "end" });
}

/** The cells of a link as a path for each level: an element for each would be slow. */
const heatCells = (row, links, per_ms) => (g, f) => {
  const paths = Array.from({ length: LEVELS + 1 }, () => []), x = (cell) => f.x(Math.min(cell * links.step_ms, links.end_ms) * per_ms);
  for (let from = 0, to = 0; from < row.cells.length; from = to) {
    const level = levelOf(row.cells[from]);
    while (to < row.cells.length && levelOf(row.cells[to]) === level) to++;
    paths[level].push(`M${x(from).toFixed(1)} ${f.y(-5)}H${x(to).toFixed(1)}V${f.y(4)}H${x(from).toFixed(1)}Z`);
  }
  paths.forEach((parts, level) => { if (parts.length) g.append("path").attr({ "class": "mark", d: parts.join(""), fill: levelColor(f.theme, level) }); });
};

/** The whole row says what the cell below the pointer is. */
const heatTip = (row, tier, links, unit) => (g, f) => {
  const cover = g.append("rect").attr({ x: 0, y: f.y(-5), width: f.w, height: f.height, fill: "transparent" }).node();
  cover.__tip = (event) => {
    const of = cover.getBoundingClientRect(), ms = f.x.invert((event.clientX - of.left) * f.w / of.width) / unit.per_ms;
    const i = Math.min(row.cells.length - 1, Math.max(0, Math.floor(ms / links.step_ms)));
    const at = (t) => number(Math.min(t, links.end_ms) * unit.per_ms, 4);
    return [`${rowName(row)}, ${tier.tier}`, `${at(i * links.step_ms)} to ${at((i + 1) * links.step_ms)} ${unit.name}`,
      `utilisation ${number(row.cells[i] / 10)} %, in the whole run ${number(d3.mean(row.cells) / 10)} %`];
  };
};

/** Rows of a tier, below its title. */
function tierRows(tier, i, links, unit) {
  const kept = d3.sum(tier.rows, (r) => r.link === "others" ? 0 : 1);
  const title = kept < tier.links ? `${tier.tier}, the ${kept} busiest of ${tier.links} links` : `${tier.tier}, ${tier.links} links`;
  return [{ title, said: [title, DEFINITIONS.tier], height: i ? 24 : 20 }, ...tier.rows.map((row) => ({ name: rowName(row),
    said: [rowName(row), row.link === "others" ? DEFINITIONS.others : tier.tier, `utilisation in the whole run ${number(d3.mean(row.cells) / 10)} %`],
    marks: [heatCells(row, links, unit.per_ms), heatTip(row, tier, links, unit)] }))];
}

function heatLabel(arm) {
  const said = arm.links.tiers.map((t) => `${t.tier}: ${number(t.utilisation_mean * 100)} % on average, ${t.busiest} most with ${number(t.utilisation_max * 100)} %`);
  return `Utilisation of links over time, ${arm.name}, seed ${arm.links.seed}. ${said.join(". ")}.`;
}

/** The axis that both figures have. */
const sinceBegin = (end_ms, unit, grid) => ({ domain: [0, end_ms * unit.per_ms], title: `time since the run began [${unit.name}]`,
  axis: (w) => ({ count: Math.max(3, Math.floor(w / 80)), grid }) });

figure({ id: "links", section: "fabric", when: fabricHere, title: "Links over time", controls: fabricControls,
  what: "Share of its capacity that each link used in each slice of the run, a row a link, one seed.",
  plot(c) {
    const arm = fabricArm(c), { links } = arm || {}, tiers = arm ? links.tiers.filter((t) => t.rows.length) : [];
    if (!arm) return "No arm that is shown has results of links.";
    if (!tiers.length) return "These runs did not record links over time: that needs virtual time, and the first seed.";
    const unit = timeUnit(links.end_ms);
    return { label: heatLabel(arm), height: 10, right: 12, under: 4, bottom: 40, x: sinceBegin(links.end_ms, unit, false),
      key: { height: 38, draw: (svg) => heatLegend(svg, 0, c.theme) },
      names: { width: namesWidth(arm, c.width), size: 9, pad: 6, fill: c.theme.muted },
      rows: tiers.flatMap((tier, i) => tierRows(tier, i, links, unit)) };
  } });

// -- jobs over time

const jobsWhat = () => {
  const left = d3.sum(armsHere().filter((a) => a.jobs_over_time), (a) => d3.sum(a.jobs_over_time.jobs, (j) => j.left_out || 0));
  return "A row a job, the whole run, one seed: above when it communicates, below when it computes. Both overlap where gradients leave while others are computed." +
    (left ? ` The last ${left} iterations of these arms are not drawn; iterations.csv has them.` : "");
};

/** An iteration of a job: above when it communicates, below when it computes. */
function iterationMark(job, [iteration, begin, first, ready, there, end], end_ms, unit, color, theme) {
  const at = (ms) => ms === null ? "–" : `${number(ms * unit.per_ms, 4)} ${unit.name}`;
  // Workers of an iteration may end after others have begun the next one: an edge keeps them apart.
  const part = (from, to, y, height, style) => from !== null && box(from * unit.per_ms, (to === null ? end_ms : to) * unit.per_ms, y, height,
    { opacity: to === null ? 0.4 : 1, stroke: theme.card, ...style }, 0.8);
  return thing([`${job.name}, iteration ${iteration}`, `began ${at(begin)}, first gradient ${at(first)}, all gradients ${at(ready)}`,
    `all parameters there ${at(there)}, ended ${at(end)}`],
  [part(begin, ready, 3, 5, { fill: theme.parts.compute, "stroke-width": 0.8 }),
    part(first, there, -8, 11, { fill: color, "stroke-width": 1, "fill-opacity": iteration % 2 ? 0.7 : 1 })]);
}

figure({ id: "jobs-over-time", section: "fabric", when: fabricHere, title: "Jobs over time", controls: fabricControls, what: jobsWhat,
  plot(c) {
    const arm = fabricArm(c), own = arm && arm.jobs_over_time, jobs = arm ? own.jobs.filter((j) => j.iterations && j.iterations.length) : [];
    if (!arm) return "No arm that is shown ran in a fabric.";
    if (!jobs.length) return "No iteration of this arm was recorded.";
    const unit = timeUnit(own.end_ms), color = c.theme.color(arm), count = (j) => `${j.iterations.length} iterations`;
    return { label: `Time line of ${jobs.length} jobs, ${arm.name}, seed ${own.seed}: ${jobs.map((j) => `${j.name} has ${count(j)}`).join(", ")}`,
      key: keyAbove(c, [["computing", (g, x, y) => boxSample(18, 4, { fill: c.theme.parts.compute })(g, x, y + 3), [DEFINITIONS.computing]],
        ["communicating", (g, x, y) => boxSample(18, 7, { fill: color })(g, x, y - 1.5), [DEFINITIONS.communicating]]], { indent: 24, gap: 16, below: 8 }),
      names: { width: namesWidth(arm, c.width), size: 11 }, height: 22, right: 12, x: sinceBegin(own.end_ms, unit, true),
      rows: jobs.map((job) => ({ name: job.name, said: [job.name, count(job) + (job.left_out ? `, and ${job.left_out} that are not drawn` : "")],
        marks: job.iterations.map((i) => iterationMark(job, i, own.end_ms, unit, color, c.theme)) })) };
  } });

// -- links in figures

const startText = (of) => [number(of.worker_start_queue_packets_mean), isNumber(of.worker_start_queue_total_packets_mean) ? `[${number(of.worker_start_queue_total_packets_mean)}]` : ""];

function tiersTable(arm) {
  const share = (v) => isNumber(v) ? number(v * 100) : "–";
  const row = (t) => el("tr", {}, el("th", { scope: "row", text: t.tier }), cell(String(t.links)), cell(String(t.joined)), cell(share(t.utilisation_mean)),
    cell(share(t.utilisation_max), t.busiest), cell(number(t.ce_marks)), cell(number(t.drops)), cell(t.longest_wait || "–"), cell(...startText(t)));
  return foldedTable([["Tier", "", DEFINITIONS.tier], ["Links", ""], ["Joined", "", DEFINITIONS.joined], ["Utilisation", "%, mean", DEFINITIONS.utilisation],
    ["Busiest", "%, port", DEFINITIONS.utilisation], ["Marked", "packets", DEFINITIONS.marks], ["Dropped", "packets", DEFINITIONS.drops],
    ["Bursts wait longest", "port", DEFINITIONS.longest], ["Start queue", "packets, mean", DEFINITIONS.start]],
  arm.links.tiers.map(row), ": each tier");
}

function drawFabricTables() {
  const box = document.getElementById("fabric-tables");
  if (!box) return;
  const arm = fabricArm(context(0, currentTheme()));
  box.hidden = !arm;
  box.replaceChildren();
  if (!arm) return;
  box.append(el("h3", { text: `Links of ${arm.name}, seed ${arm.links.seed}` }), tiersTable(arm));
  box.append(el("p", { class: "foot", text: "Of one seed, the whole run. links.csv has each link of every seed. Point at a heading for what it means." }));
}
