// Bursts over RoCEv2 and priority flow control (PFC): what queue pairs and pauses did under each
// arm. The arms of all points stand together: few have a lossless queue.

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
  const figureCell = (arm) => ([name]) => {
    const [v, low, high] = metric(arm, name), scaled = (x) => number(x * of(name).scale);
    if (!isNumber(v)) return cell("–", "", "stacked");
    return name === "roce_queue_pairs" ? cell(String(v), "", "stacked") : cell(scaled(v), interval(low, high, scaled), "stacked");
  };
  const row = ({ arm, point, short }) => el("tr", {}, armHead(arm, point ? el("span", { class: "of", title: point, text: short }) : null), ...columns.map(figureCell(arm)));
  box.replaceChildren(foldedTable(head, rows.map(row), ", of the arms of all points"),
    el("p", { class: "foot", text: "Counts of a whole run, of pulls and first bursts too, over its push bursts. –: the arm has no queue pair, or no lossless queue. In brackets: 95 % confidence, which resamples seeds. docs/pfc.md says how to see the same in a switch that runs." }));
}

/** What a panel draws of a row: a bar with its bounds, and its number. */
const pauseMarks = (name, title, { unit, scale }, theme) => ({ arm, point }) => {
  const [v, low, high] = metric(arm, name).slice(0, 3).map((x) => isNumber(x) ? x * scale : x);
  if (!isNumber(v)) return [words(0, 0, "–", {}, 5)];
  return [thing([point ? `${arm.name}, ${point}` : arm.name, `${title}: ${number(v)} ${unit || ""} ${interval(low, high, number)}`],
    [box(0, v, -6, 12, { fill: theme.color(arm) }, 0.6), segment(low, high, 0, 0, { stroke: theme.text, "stroke-width": 1.2 })]),
  words(isNumber(high) ? Math.max(v, high) : v, 0, number(v), {}, 5)];
};

figure({ id: "pauses", section: "roce", when: hasRoce, title: pausesTitle(),
  what: "Counts of a whole run over its push bursts, of the arms of all points; lines are 95 % confidence intervals over seeds.",
  plot(c) {
    const rows = roceRows().slice(0, MOST_ROWS), shown = PAUSE_PANELS.filter(([name]) => someHas(rows.map((r) => r.arm), name));
    if (!shown.length) return "No arm that is shown is over RoCEv2 or has a lossless queue.";
    const panels = shown.map(([name, title]) => {
      const of = data.metrics.find((m) => m.name === name), { unit, scale } = of;
      const [, most] = extent(rows.flatMap((r) => metric(r.arm, name).slice(0, 3).map((v) => isNumber(v) ? v * scale : v)).concat(0));
      return { marks: pauseMarks(name, title, of, c.theme), x: { domain: [0, most || 1], axis: (w) => ({ count: Math.max(2, Math.floor((w + 48) / 90)) }),
        title: unit && unit !== "packets" ? `${title} [${unit}]` : title } };
    });
    return { label: "Pauses, the time that hosts were paused, and CNPs, of a burst, a bar an arm", panels, top: 8, bottom: 52, right: 48,
      names: { width: widthOfNames(c, rows.flatMap((r) => [measure(r.arm.name), measure(r.short, 11)]), { most: 300 }) },
      height: rows.some((r) => r.point) ? 32 : 22,
      rows: rows.map((r) => ({ ...r, name: r.arm.name, more: r.short, said: [r.arm.name, r.point].filter(Boolean) })),
      marks: [upright(0, { stroke: c.theme.strong })] };
  } });
