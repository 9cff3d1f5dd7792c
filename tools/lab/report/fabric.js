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

/** The cells of a tier as a path for each level: thousands of elements would be slow. */
function heatCells(g, tier, x, y0, step, links, theme) {
  const paths = Array.from({ length: LEVELS + 1 }, () => []);
  tier.rows.forEach((row, i) => {
    for (let from = 0, to = 0; from < row.cells.length; from = to) {
      const level = levelOf(row.cells[from]);
      while (to < row.cells.length && levelOf(row.cells[to]) === level) to++;
      const x0 = x(from * links.step_ms), x1 = x(Math.min(to * links.step_ms, links.end_ms));
      paths[level].push(`M${x0.toFixed(1)} ${y0 + i * step}H${x1.toFixed(1)}V${y0 + (i + 1) * step - 1}H${x0.toFixed(1)}Z`);
    }
  });
  paths.forEach((parts, level) => { if (parts.length) g.append("path").attr({ "class": "mark", d: parts.join(""), fill: levelColor(theme, level) }); });
}

function heatTip(tier, links, x, y0, step, unit) {
  return function (event) {
    const node = this.node(), box = node.getBoundingClientRect(), [w, h] = [Number(node.getAttribute("width")), Number(node.getAttribute("height"))];
    const ms = x.invert((event.clientX - box.left) * w / box.width);
    const row = tier.rows[Math.min(tier.rows.length - 1, Math.max(0, Math.floor((event.clientY - box.top) * h / box.height / step)))];
    const i = Math.min(row.cells.length - 1, Math.max(0, Math.floor(ms / links.step_ms)));
    const at = (t) => number(Math.min(t, links.end_ms) * unit.per_ms, 4);
    return [`${rowName(row)}, ${tier.tier}`, `${at(i * links.step_ms)} to ${at((i + 1) * links.step_ms)} ${unit.name}`,
      `utilisation ${number(row.cells[i] / 10)} %, in the whole run ${number(d3.mean(row.cells) / 10)} %`];
  };
}

function heatLabel(arm) {
  const said = arm.links.tiers.map((t) => `${t.tier}: ${number(t.utilisation_mean * 100)} % on average, ${t.busiest} most with ${number(t.utilisation_max * 100)} %`);
  return `Utilisation of links over time, ${arm.name}, seed ${arm.links.seed}. ${said.join(". ")}.`;
}

function drawHeat(c) {
  const arm = fabricArm(c);
  if (!arm) return "No arm that is shown has results of links.";
  const links = arm.links, tiers = links.tiers.filter((t) => t.rows.length);
  if (!tiers.length) return "These runs did not record links over time: that needs virtual time, and the first seed.";
  const unit = timeUnit(links.end_ms), step = 10, head = 20, top = 38;
  const names = namesWidth(arm, c.width), w = c.width - names - 12;
  const h = d3.sum(tiers, (t) => head + t.rows.length * step + 4);
  const svg = newSvg(c.width, top + h + 40, c.theme, heatLabel(arm));
  const x = d3.scale.linear().domain([0, links.end_ms]).range([0, w]);
  heatLegend(svg, 0, c.theme);
  const g = svg.append("g").attr("transform", `translate(${names},${top})`);
  const shown = d3.scale.linear().domain([0, links.end_ms * unit.per_ms]).range([0, w]);
  let y = 0;
  for (const tier of tiers) {
    const kept = d3.sum(tier.rows, (r) => r.link === "others" ? 0 : 1);
    const title = kept < tier.links ? `${tier.tier}, the ${kept} busiest of ${tier.links} links` : `${tier.tier}, ${tier.links} links`;
    tip(text(g, -names, y + 12, fitted(title, c.width, 11, 600), { "font-size": 11, "font-weight": 600 }), [title, DEFINITIONS.tier]);
    y += head;
    const field = g.append("g");
    heatCells(field, tier, x, y, step, links, c.theme);
    const cover = field.append("rect").attr({ x: 0, y, width: w, height: tier.rows.length * step, fill: "transparent" });
    cover.node().__tip = heatTip(tier, links, x, y, step, unit).bind(cover);
    tier.rows.forEach((row, i) => {
      const label = text(g, -6, y + (i + 0.5) * step - 0.5, fitted(rowName(row), names - 8, 9), { dy: ".34em", "text-anchor": "end", "font-size": 9, fill: c.theme.muted });
      tip(label, [rowName(row), row.link === "others" ? DEFINITIONS.others : tier.tier, `utilisation in the whole run ${number(d3.mean(row.cells) / 10)} %`]);
    });
    y += tier.rows.length * step + 4;
  }
  axisX(g, shown, h, w, `time since the run began [${unit.name}]`, c.theme, { count: Math.max(3, Math.floor(w / 80)) });
  return svg.node();
}

// -- jobs over time

function jobsLegend(svg, width, arm, theme) {
  const items = [["computing", { y: 3, height: 4, fill: theme.parts.compute }], ["communicating", { y: -3, height: 7, fill: theme.color(arm) }]];
  const { at, rows } = inLines(items.map(([name]) => 24 + measure(name) + 16), width + 16);
  items.forEach(([name, attributes], i) => {
    const g = svg.append("g").attr("transform", `translate(${at[i].x},${8 + at[i].row * 18})`);
    g.append("rect").attr({ width: 18, ...attributes });
    text(g, 24, 2, name, { dy: ".34em", fill: theme.muted });
    tip(g, [DEFINITIONS[name]]);
  });
  return rows * 18 + 4;
}

function drawJobLines(c) {
  const arm = fabricArm(c);
  if (!arm) return "No arm that is shown ran in a fabric.";
  const own = arm.jobs_over_time, jobs = own.jobs.filter((j) => j.iterations && j.iterations.length);
  if (!jobs.length) return "No iteration of this arm was recorded.";
  const unit = timeUnit(own.end_ms), step = 22;
  const names = namesWidth(arm, c.width), w = c.width - names - 12;
  const count = (j) => j.iterations.length;
  const svg = newSvg(c.width, 10, c.theme, `Time line of ${jobs.length} jobs, ${arm.name}, seed ${own.seed}: ` +
    jobs.map((j) => `${j.name} has ${count(j)} iterations`).join(", "));
  const top = jobsLegend(svg, c.width, arm, c.theme) + 4, h = jobs.length * step;
  svg.attr({ height: top + h + 44, viewBox: `0 0 ${c.width} ${top + h + 44}` });
  const x = d3.scale.linear().domain([0, own.end_ms]).range([0, w]);
  const g = svg.append("g").attr("transform", `translate(${names},${top})`);
  axisX(g, d3.scale.linear().domain([0, own.end_ms * unit.per_ms]).range([0, w]), h, w, `time since the run began [${unit.name}]`, c.theme,
    { count: Math.max(3, Math.floor(w / 80)), grid: true });
  const at = (ms) => ms === null ? "–" : `${number(ms * unit.per_ms, 4)} ${unit.name}`;
  const part = (node, from, to, attributes) => {
    if (from === null) return;
    const end = to === null ? own.end_ms : to;
    node.append("rect").attr({ x: x(from), width: Math.max(0.8, x(end) - x(from)), opacity: to === null ? 0.4 : 1 }).attr(attributes);
  };
  jobs.forEach((job, i) => {
    const y = i * step;
    tip(text(g, -8, y + step / 2, fitted(job.name, names - 10, 11), { dy: ".34em", "text-anchor": "end", "font-size": 11 }),
      [job.name, `${count(job)} iterations` + (job.left_out ? `, and ${job.left_out} that are not drawn` : "")]);
    for (const [iteration, begin, first, ready, there, end] of job.iterations) {
      const node = g.append("g").attr("class", "mark");
      // Workers of an iteration may end after others have begun the next one: an edge keeps them apart.
      part(node, begin, ready, { y: y + step - 8, height: 5, fill: c.theme.parts.compute, stroke: c.theme.card, "stroke-width": 0.8 });
      part(node, first, there, { y: y + 3, height: 11, fill: c.theme.color(arm), stroke: c.theme.card, "stroke-width": 1, "fill-opacity": iteration % 2 ? 0.7 : 1 });
      tip(node, [`${job.name}, iteration ${iteration}`, `began ${at(begin)}, first gradient ${at(first)}, all gradients ${at(ready)}`,
        `all parameters there ${at(there)}, ended ${at(end)}`]);
    }
  });
  return svg.node();
}

const jobsWhat = () => {
  const left = d3.sum(armsHere().filter((a) => a.jobs_over_time), (a) => d3.sum(a.jobs_over_time.jobs, (j) => j.left_out || 0));
  return "A row a job, the whole run, one seed: above when it communicates, below when it computes. Both overlap where gradients leave while others are computed." +
    (left ? ` The last ${left} iterations of these arms are not drawn; iterations.csv has them.` : "");
};

// -- links in figures

function definedHead(cells) {
  const row = el("tr");
  for (const [name, unit, definition] of cells)
    row.append(el("th", definition ? { scope: "col", title: definition } : { scope: "col" }, document.createTextNode(name), el("span", { class: "unit", text: unit || "\u00a0" })));
  return el("thead", {}, row);
}

const startText = (of) => [number(of.worker_start_queue_packets_mean), isNumber(of.worker_start_queue_total_packets_mean) ? `[${number(of.worker_start_queue_total_packets_mean)}]` : ""];

function tiersTable(arm) {
  const body = el("tbody");
  for (const t of arm.links.tiers) {
    const share = (v) => isNumber(v) ? number(v * 100) : "–";
    body.append(el("tr", {}, el("th", { scope: "row", text: t.tier }), cell(String(t.links)), cell(String(t.joined)), cell(share(t.utilisation_mean)),
      cell(share(t.utilisation_max), t.busiest), cell(number(t.ce_marks)), cell(number(t.drops)), cell(t.longest_wait || "–"), cell(...startText(t))));
  }
  return el("table", {}, definedHead([["Tier", "", DEFINITIONS.tier], ["Links", ""], ["Joined", "", DEFINITIONS.joined], ["Utilisation", "%, mean", DEFINITIONS.utilisation],
    ["Busiest", "%, port", DEFINITIONS.utilisation], ["Marked", "packets", DEFINITIONS.marks], ["Dropped", "packets", DEFINITIONS.drops],
    ["Bursts wait longest", "port", DEFINITIONS.longest], ["Start queue", "packets, mean", DEFINITIONS.start]]), body);
}

function drawFabricTables() {
  const box = document.getElementById("fabric-tables");
  if (!box) return;
  const arm = fabricArm(context(0, currentTheme()));
  box.hidden = !arm;
  box.replaceChildren();
  if (!arm) return;
  box.append(el("h3", { text: `Links of ${arm.name}, seed ${arm.links.seed}` }), el("div", { class: "scroll" }, tiersTable(arm)));
  box.append(el("p", { class: "foot", text: "Of one seed, the whole run. links.csv has each link of every seed. Point at a heading for what it means." }));
}
