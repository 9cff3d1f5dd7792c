// Bursts over RoCEv2 and priority flow control (PFC): what queue pairs and pauses did under each
// arm. The arms of all points stand together: few have a lossless queue.

/** More rows than this are not read: they are folded away in the table, and left out of the figure. */
const MOST_ROCE_ROWS = 48;
const ROCE_COLUMNS = [["roce_queue_pairs", "Queue pairs"], ["roce_cnps_per_burst", "CNPs"], ["roce_naks_per_burst", "NAKs"], ["roce_retransmitted_per_burst", "Sent again"],
  ["pauses_per_burst", "Pauses"], ["host_paused_seconds_per_burst", "Hosts paused"]];
const PAUSE_PANELS = [["pauses_per_burst", "pauses that switches asked for, per burst"], ["host_paused_seconds_per_burst", "time that hosts were paused, per burst"],
  ["roce_cnps_per_burst", "CNPs that responders sent, per burst"]];

const someHas = (arms, name) => arms.some((a) => isNumber(metric(a, name)[0]));
const hasPauses = () => someHas(data.arms, "pauses_per_burst");
const hasRoce = () => ROCE_COLUMNS.some(([name]) => someHas(data.arms, name));
const roceHeading = () => [someHas(data.arms, "roce_cnps_per_burst") ? "RoCEv2" : "", hasPauses() ? "pauses" : ""].filter(Boolean).join(" and ");
const roceLead = () => [someHas(data.arms, "roce_cnps_per_burst") ? "What queue pairs sent beside data." : "", hasPauses() ? "How often switches paused their neighbours, and how long hosts were kept from sending." : ""].filter(Boolean).join(" ");
const pausesTitle = () => hasPauses() ? (someHas(data.arms, "roce_cnps_per_burst") ? "Pauses and CNPs by arm" : "Pauses by arm") : "CNPs by arm";

/** {arm, point: what distinguishes it from other arms of its name, short: without the tables of keys}. */
function roceRows() {
  const arms = data.arms.filter((a) => isShown(a) && ROCE_COLUMNS.some(([name]) => isNumber(metric(a, name)[0])));
  const point = (arm) => arms.filter((a) => a.name === arm.name).length > 1 ? data.points[arm.point].name : "";
  return arms.map((arm) => ({ arm, point: point(arm), short: point(arm).replace(/[a-z_]+\.(?=[a-z_.]+=)/g, "") }));
}

function drawRoce() {
  const box = document.getElementById("roce-table"), rows = roceRows();
  if (!box) return;
  if (!rows.length) return box.replaceChildren(el("p", { class: "empty", text: "No arm that is shown is over RoCEv2 or has a lossless queue." }));
  const of = (name) => data.metrics.find((m) => m.name === name), columns = ROCE_COLUMNS.filter(([name]) => someHas(data.arms, name));
  const head = [["Arm", ""], ...columns.map(([name, title]) => [title, name === "roce_queue_pairs" ? "of a run" : `${of(name).unit || "number"} per burst`, of(name).help])];
  const body = el("tbody");
  for (const { arm, point, short } of rows) {
    const scaled = (name) => (v) => number(v * of(name).scale);
    const row = el("tr", {}, el("th", { scope: "row" }, keySvg(arm), document.createTextNode(arm.name), point ? el("span", { class: "of", title: point, text: short }) : null));
    for (const [name] of columns) {
      const [v, low, high] = metric(arm, name);
      row.append(cell(!isNumber(v) ? "–" : name === "roce_queue_pairs" ? String(v) : scaled(name)(v), isNumber(v) && name !== "roce_queue_pairs" ? interval(low, high, scaled(name)) : "", "stacked"));
    }
    body.append(row);
  }
  const table = el("div", { class: "scroll" }, el("table", {}, definedHead(head), body));
  box.replaceChildren(rows.length > MOST_ROCE_ROWS ? el("details", { ontoggle: hintAtWhatIsCut }, el("summary", { text: `${rows.length} rows, of the arms of all points` }), table) : table,
    el("p", { class: "foot", text: "Counts of a whole run, of pulls and first bursts too, over its push bursts. –: the arm has no queue pair, or no lossless queue. In brackets: 95 % confidence, which resamples seeds. docs/pfc.md says how to see the same in a switch that runs." }));
}

/** A panel with a bar for each row. */
function pausePanel(c, g, rows, name, title, w, step) {
  const { unit, scale } = data.metrics.find((m) => m.name === name), value = (r) => metric(r.arm, name).slice(0, 3).map((v) => isNumber(v) ? v * scale : v);
  const [, most] = extent(rows.flatMap(value).concat(0)), h = rows.length * step;
  const x = d3.scale.linear().domain([0, most || 1]).range([0, w - 48]);
  axisX(g, x, h, w - 48, unit && unit !== "packets" ? `${title} [${unit}]` : title, c.theme, { grid: true, count: Math.max(2, Math.floor(w / 90)) });
  rows.forEach((r, i) => {
    const [v, low, high] = value(r), y = i * step + step / 2;
    if (!isNumber(v)) return text(g, 5, y, "–", { dy: ".34em", fill: c.theme.muted, "font-size": 11 });
    const node = g.append("g").attr("class", "mark");
    node.append("rect").attr({ x: 0, y: y - 6, width: Math.max(x(v), 0.6), height: 12, fill: c.theme.color(r.arm) });
    if (isNumber(low)) bar(node, x(low), x(high), y, y, { stroke: c.theme.text, "stroke-width": 1.2 });
    tip(node, [r.point ? `${r.arm.name}, ${r.point}` : r.arm.name, `${title}: ${number(v)} ${unit || ""} ${interval(low, high, number)}`]);
    text(g, x(isNumber(high) ? Math.max(v, high) : v) + 5, y, number(v), { dy: ".34em", fill: c.theme.muted, "font-size": 11 });
  });
  bar(g, 0, 0, 0, h, { stroke: c.theme.strong });
}

/** Panels beside each other, or below each other where the page is narrow. */
function drawPauses(c) {
  const rows = roceRows().slice(0, MOST_ROCE_ROWS), panels = PAUSE_PANELS.filter(([name]) => someHas(rows.map((r) => r.arm), name));
  if (!panels.length) return "No arm that is shown is over RoCEv2 or has a lossless queue.";
  const names = Math.min(300, c.width * 0.4, Math.max(...rows.map((r) => Math.max(measure(r.arm.name), measure(r.short, 11)))) + 34);
  const beside = c.width >= 700 ? panels.length : 1, step = rows.some((r) => r.point) ? 32 : 22, height = rows.length * step + 60, gap = 20,
    w = (c.width - names - gap * (beside - 1)) / beside;
  const svg = newSvg(c.width, height * panels.length / beside, c.theme, "Pauses, the time that hosts were paused, and CNPs, of a burst, a bar an arm");
  panels.forEach(([name, title], i) => {
    const top = (beside > 1 ? 0 : i * height) + 8, left = names + (beside > 1 ? i * (w + gap) : 0);
    if (i === 0 || beside === 1) rows.forEach((r, k) => {
      const y = top + (k + 0.5) * step - (r.point ? 7 : 0);
      keyOf(svg, 10, y, r.arm, c.theme);
      tip(text(svg, 26, y, fitted(r.arm.name, names - 34), { dy: ".34em" }), [r.arm.name, r.point].filter(Boolean));
      if (r.point) tip(text(svg, 26, y + 14, fitted(r.short, names - 34, 11), { dy: ".34em", fill: c.theme.muted, "font-size": 11 }), [r.point]);
    });
    pausePanel(c, svg.append("g").attr("transform", `translate(${left},${top})`), rows, name, title, w, step);
  });
  return svg.node();
}
