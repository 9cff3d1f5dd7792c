// The figures. Each draws itself from a context {data, point, arms, theme, width, unit}
// into a new SVG element, or returns a sentence that says why there is nothing to draw.
// `arms` are those at the chosen point that the reader left on.

const MARGIN = { left: 56, right: 18, top: 22, bottom: 44 };

const metric = (arm, name) => arm.metrics[name] || [null, null, null, null, null, null];
/** A metric whose change is against the off of its point, whatever the arm's own baseline is. */
const againstOff = (arm, name) => arm.against_off[name] || metric(arm, name);
/** The label of what all arms of a point, or of all points, are compared with. */
function offLabel(point = null) {
  const labels = new Set(data.arms.filter((a) => a.off && (point === null || a.point === point)).map((a) => a.label));
  return labels.size === 1 ? [...labels][0] : "the baseline";
}
const median = (arm) => againstOff(arm, "communication_seconds_median");
const lost = (arm) => againstOff(arm, "background_lost_fraction");

/** Bounds of numbers; others are skipped. */
function extent(values, fallback = [0, 1]) {
  const all = values.filter(isNumber);
  return all.length ? [Math.min(...all), Math.max(...all)] : fallback;
}

function bar(parent, x0, x1, y0, y1, attributes) {
  return parent.append("line").attr({ x1: x0, x2: x1, y1: y0, y2: y1 }).attr(attributes);
}

// -- gain against cost

function drawGain(c) {
  const height = 400, m = MARGIN, w = c.width - m.left - m.right, h = height - m.top - m.bottom;
  const arms = c.arms.filter((a) => isNumber(median(a)[0]) && isNumber(lost(a)[0]));
  if (!arms.length) return "No arm here has both a communication time and a cost to the background.";
  const k = 1e3 * c.unit.per_ms;
  const alone = arms.map((a) => a.alone_ms).filter(isNumber);
  const off = arms.find((a) => a.off);
  const [x0, x1] = extent(arms.flatMap((a) => lost(a).slice(0, 3).map((v) => isNumber(v) ? v * 100 : v)).concat(0));
  const [, y1] = extent(arms.flatMap((a) => median(a).slice(0, 3).map((v) => isNumber(v) ? v * k : v)));
  const pad = Math.max(x1 - x0, 0.5) * 0.06;
  const x = d3.scale.linear().domain([x0 - pad, x1 + pad * 1.5]).range([0, w]);
  const y = d3.scale.linear().domain([0, y1 * 1.08]).range([h, 0]);
  const svg = newSvg(c.width, height, c.theme, "Communication time against what the background lost, one point an arm");
  const g = svg.append("g").attr("transform", `translate(${m.left},${m.top})`);
  axisY(g, y, w, `communication time, median [${c.unit.name}]`, c.theme, { titleX: -m.left + 2 });
  axisX(g, x, h, w, `background lost against ${offLabel(c.point)} [% of its bytes around bursts]`, c.theme, { grid: true });
  bar(g, x(0), x(0), 0, h, { stroke: c.theme.strong });
  const points = arms.map((a) => {
    const px = x(lost(a)[0] * 100), py = y(median(a)[0] * k), bars = [];
    const [, tl, th] = median(a), [, bl, bh] = lost(a);
    if (isNumber(tl)) bars.push({ x0: px - 1, x1: px + 1, y0: y(th * k), y1: y(tl * k) });
    if (isNumber(bl)) bars.push({ x0: x(bl * 100), x1: x(bh * 100), y0: py - 1, y1: py + 1 });
    return { arm: a, name: fitted(a.name, w * 0.6), x: px, y: py, bars };
  });
  const better = "better: lower and further left";
  const taken = boxesOf(points).concat({ x0: w - 4 - measure(better, 11), x1: w, y0: h - 20, y1: h });
  text(g, w - 4, h - 8, better, { "text-anchor": "end", fill: c.theme.muted, "font-size": 11, "font-style": "italic" });
  const reference = (v, name) => {
    bar(g, 0, w, y(v), y(v), { stroke: c.theme.strong, "stroke-dasharray": "5 4" });
    // Where the line is free: from the right end, or below it.
    const length = measure(name, 11);
    let best = null;
    for (const under of [0, 16]) for (let end = w - 2; end > length + Math.min(80, w / 20); end -= Math.min(40, w / 16)) {
      const box = { x0: end - length, x1: end, y0: y(v) - 16 + under, y1: y(v) - 2 + under };
      const cost = d3.sum(taken, (t) => over(box, t)) + (w - end) / 200 + under / 20;
      if (!best || cost < best.cost) best = { cost, box, end, under };
    }
    taken.push({ x0: 0, x1: w, y0: y(v) - 1.5, y1: y(v) + 1.5 });
    if (!best) return;
    taken.push(best.box);
    text(g, best.end, y(v) - 5 + best.under, name, { "text-anchor": "end", fill: c.theme.muted, "font-size": 11 });
  };
  if (off) reference(median(off)[0] * k, off.label);
  if (alone.length) reference(d3.median(alone) * c.unit.per_ms, "alone, without background");
  for (const p of points) {
    const stroke = { stroke: c.theme.color(p.arm), "stroke-width": 1.5, opacity: 0.6 };
    for (const b of p.bars) {
      const flat = b.y1 - b.y0 <= 2;
      bar(g, flat ? b.x0 : p.x, flat ? b.x1 : p.x, flat ? p.y : b.y0, flat ? p.y : b.y1, stroke);
    }
  }
  // Where a name would cover another one, a point, a line or the margin, as on a phone, a key below
  // has them all.
  const tried = placeLabels(points, taken, w, h);
  const places = tried.some((at) => at.covers > 30) ? null : tried;
  if (!places) {
    const below = height + legend(svg, 8, height + 14, c.width - 16, arms, c.theme) + 12;
    svg.attr({ height: below, viewBox: `0 0 ${c.width} ${below}` });
  }
  points.forEach((p, i) => {
    const at = places && places[i];
    if (at && at.d > 20) bar(g, p.x, (at.box.x0 + at.box.x1) / 2, p.y, at.y, { stroke: c.theme.strong, "stroke-width": 0.7 });
    const node = g.append("g").attr("class", "mark");
    node.append("path").attr({ d: symbolPath(p.arm, 95), transform: `translate(${p.x},${p.y})`,
      fill: c.theme.color(p.arm), stroke: c.theme.card, "stroke-width": 1.2 });
    if (at) text(node, at.x, at.y, p.name, { dy: ".35em", "text-anchor": at.anchor, "paint-order": "stroke",
      stroke: c.theme.card, "stroke-width": 3, "stroke-linejoin": "round", fill: c.theme.text });
    tip(node, armTip(p.arm, c.unit));
  });
  return svg.node();
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

// -- the sweep

function drawSweep(c) {
  const rows = c.data.points.map((point, p) => ({
    point, p, arms: c.all.filter((a) => a.point === p && !a.off && c.shown(a) && isNumber(median(a)[3])),
  })).filter((r) => r.arms.length);
  if (!rows.length) return "No arm is compared with a baseline.";
  const names = Math.min(300, c.width * 0.4, Math.max(...rows.map((r) => measure(r.point.name, 12, 600))) + 20);
  const arms = rows.flatMap((r) => r.arms).filter((a, i, all) => all.findIndex((b) => b.name === a.name) === i);
  const probe = newSvg(c.width, 10, c.theme, "");
  const top = legend(probe, 0, 8, c.width, arms, c.theme) + 14, step = 13;
  const heights = rows.map((r) => r.arms.length * step + 9);
  const h = d3.sum(heights), w = c.width - names - 24, height = top + h + 44;
  const all = rows.flatMap((r) => r.arms.flatMap((a) => median(a).slice(3).filter(isNumber)));
  const [low, high] = extent(all.map((v) => v * 100).concat(0));
  const x = d3.scale.linear().domain([Math.max(low, -100), Math.min(high, 300)]).nice().clamp(true).range([0, w]);
  const svg = newSvg(c.width, height, c.theme, `Change of communication time against ${offLabel()} at each point of the sweep`);
  legend(svg, 0, 8, c.width, arms, c.theme);
  const g = svg.append("g").attr("transform", `translate(${names},${top})`);
  axisX(g, x, h, w, `change of median communication time against ${offLabel()} [%]; left of 0 is shorter`, c.theme, { grid: true });
  let y = 0;
  rows.forEach((r, i) => {
    const row = g.append("g").attr({ "class": "row", "data-point": r.p, cursor: "pointer" });
    row.append("rect").attr({ x: -names, y, width: names + w, height: heights[i],
      fill: r.p === c.point ? c.theme.shade : "transparent" });
    row.on("click", () => c.choosePoint(r.p));
    tip(row, [r.point.name, ...r.point.answer.map((s) => s.text), "Click to show this point below."]);
    bar(g, -names, w, y + heights[i], y + heights[i], { stroke: c.theme.line });
    text(row, -12, y + heights[i] / 2, fitted(r.point.name, names - 20, 12, 600), { dy: ".34em", "text-anchor": "end",
      "font-weight": r.p === c.point ? 600 : 400 });
    r.arms.forEach((a, j) => {
      const at = y + 5 + (j + 0.5) * step, [, , , d, dl, dh] = median(a);
      const node = g.append("g").attr("class", "mark");
      if (isNumber(dl)) bar(node, x(dl * 100), x(dh * 100), at, at, { stroke: c.theme.color(a), "stroke-width": 2, opacity: 0.65 });
      node.append("path").attr({ d: symbolPath(a, 55), transform: `translate(${x(d * 100)},${at})`, fill: c.theme.color(a) });
      tip(node, [r.point.name, ...armTip(a, c.unit)]);
    });
    y += heights[i];
  });
  bar(g, x(0), x(0), 0, h, { stroke: c.theme.text, "stroke-width": 1 });
  return svg.node();
}

// -- small multiples over time

function gridTimes(view) {
  return d3.range(view.cells).map((i) => view.from_ms + (i + 0.5) * view.step_ms);
}

/**
 * A panel an arm, alike in both axes.
 * @param draw  (g, arm, x, y, w, h): the panel's content
 */
function facets(c, options) {
  const least = 236, gap = 22, left = 44, m = { top: options.top + 10, bottom: 34 };
  const n = options.arms.length;
  const fit = Math.max(1, Math.floor((c.width - left + gap) / (least + gap)));
  const columns = Math.ceil(n / Math.ceil(n / Math.min(n, fit, 4)));  // rows of equal length
  const w = (c.width - left - (columns - 1) * gap - 14) / columns, h = n <= 3 ? 210 : 150;
  const rows = Math.ceil(n / columns), head = 28, stepY = h + head + 22;
  const svg = newSvg(c.width, m.top + rows * stepY + m.bottom - 6, c.theme, options.label);
  const x = d3.scale.linear().domain(options.x).range([0, w]);
  const y = d3.scale.linear().domain(options.y).range([h, 0]);
  options.arms.forEach((arm, i) => {
    const column = i % columns, row = Math.floor(i / columns), last = i + columns >= n;
    const g = svg.append("g").attr({ "class": "panel", transform: `translate(${left + column * (w + gap)},${m.top + row * stepY + head})` });
    axisY(g, y, w, column === 0 && row === 0 ? options.yTitle : null, c.theme,
      { count: 4, bare: column !== 0, titleX: -left + 2, titleY: -head + 4 });
    axisX(g, x, h, w, null, c.theme, { count: Math.max(3, Math.floor(w / 70)) });
    keyOf(g, 10, -11, arm, c.theme);
    text(g, 25, -11, fitted(arm.name, w - 25, 12, 600), { dy: ".34em", "font-weight": 600 });
    if (last && column === 0) inTwo(options.xTitle, c.width - left, 11).forEach((line, k) => text(g, 0, h + 33 + k * 12, line, { fill: c.theme.muted, "font-size": 11 }));
    options.draw(g, arm, x, y, w, h);
  });
  return svg;
}

const line = (times, x, y) => d3.svg.line().defined((v) => v !== null).x((v, i) => x(times[i])).y((v) => y(v));

function viewText(view) {
  return view === "start" ? "from START, or gradients ready where there is none" : "from gradients ready";
}

function drawQueue(c) {
  const view = c.state.view, grid = c.data.points[c.point].views[view], times = gridTimes(grid);
  const arms = c.arms.filter((a) => a.views && a.views[view].queue.mean.some(isNumber));
  if (!arms.length) return "queue.csv holds no time series of these arms.";
  const off = arms.find((a) => a.off);
  const unit = timeUnit(Math.max(Math.abs(times[0]), times[times.length - 1]));
  const [, top] = extent(arms.flatMap((a) => a.views[view].queue.high.concat(a.views[view].queue.mean)));
  const [, k] = extent(arms.flatMap((a) => a.views[view].threshold));
  const key = lineLegend(c, [["mean", { stroke: c.theme.text, "stroke-width": 2 }], ["80 % of iterations", null],
    [`${offLabel(c.point)}, mean`, { stroke: c.theme.off, "stroke-dasharray": "1.5 2.5", "stroke-width": 1.4 }],
    ["lowest threshold that background met, mean", { stroke: c.theme.strong, "stroke-dasharray": "6 3", "stroke-width": 1.4 }]]);
  const svg = facets(c, {
    arms, top: key.height, label: "Packets waiting in the measured queue around the signal, a panel an arm",
    x: [grid.from_ms * unit.per_ms, (grid.from_ms + grid.cells * grid.step_ms) * unit.per_ms],
    y: [0, Math.max(top, k <= 1.6 * top ? k : 0) * 1.06 || 1], yTitle: "packets",
    xTitle: `time ${viewText(view)} [${unit.name}]`,
    draw: (g, arm, x, y, w, h) => {
      const v = arm.views[view], at = times.map((t) => t * unit.per_ms), color = c.theme.color(arm);
      g.append("path").attr({ "class": "mark", fill: color, opacity: 0.2, d: d3.svg.area().defined((q, i) => v.queue.low[i] !== null)
        .x((q, i) => x(at[i])).y0((q, i) => y(v.queue.low[i])).y1((q, i) => y(v.queue.high[i]))(v.queue.low) });
      if (off && arm !== off)
        g.append("path").attr({ fill: "none", stroke: c.theme.off, "stroke-width": 1.2, opacity: 0.75, "stroke-dasharray": "1.5 2.5", d: line(at, x, y)(off.views[view].queue.mean) });
      g.append("path").attr({ fill: "none", stroke: c.theme.strong, "stroke-width": 1.2, "stroke-dasharray": "6 3", d: line(at, x, y)(v.threshold.map((t) => t !== null && t <= y.domain()[1] ? t : null)) });
      bar(g, x(0), x(0), 0, h, { stroke: c.theme.text, "stroke-width": 1 });
      g.append("path").attr({ "class": "mark", fill: "none", stroke: color, "stroke-width": 2, d: line(at, x, y)(v.queue.mean) });
      hoverX(g, w, h, x, (value) => {
        const i = Math.max(0, Math.min(at.length - 1, Math.floor((value / unit.per_ms - grid.from_ms) / grid.step_ms)));
        return [`${arm.name}, ${number(at[i])} ${unit.name}`, `${number(v.queue.mean[i])} packets, 80 % of iterations ${interval(v.queue.low[i], v.queue.high[i], number) || "–"}`,
          `threshold for background ${number(v.threshold[i])}`, off && arm !== off ? `${off.label}: ${number(off.views[view].queue.mean[i])} packets` : ""].filter(Boolean);
      }, c.theme);
    },
  });
  key.draw(svg);
  return svg.node();
}

/** Names of line styles above small multiples: {height, draw(svg)}. */
function lineLegend(c, items) {
  const { at, rows } = inLines(items.map(([name]) => 28 + measure(name) + 20), c.width + 20);
  const draw = (svg) => items.forEach(([name, style], i) => {
    const x = at[i].x, y = 10 + at[i].row * 18;
    if (style) bar(svg, x, x + 22, y, y, style);
    else svg.append("rect").attr({ x, y: y - 6, width: 22, height: 12, fill: c.theme.text, opacity: 0.16 });
    text(svg, x + 28, y, name, { dy: ".34em", fill: c.theme.muted });
  });
  return { height: 8 + rows * 18, draw };
}

function drawThroughput(c) {
  const view = "due", grid = c.data.points[c.point].views[view], times = gridTimes(grid);
  const arms = c.arms.filter((a) => a.views && a.views[view].background.some(isNumber));
  if (!arms.length) return "queue.csv holds no time series of these arms.";
  const unit = timeUnit(Math.max(Math.abs(times[0]), times[times.length - 1]));
  const at = times.map((t) => t * unit.per_ms);
  const [, top] = extent(arms.flatMap((a) => a.views[view].background.concat(a.views[view].ddl)));
  const gbit = top >= 2000, k = gbit ? 1e-3 : 1, name = gbit ? "Gbit/s" : "Mbit/s";
  const back = c.theme.off;
  const key = lineLegend(c, [["background", { stroke: back, "stroke-width": 2 }], ["training", { stroke: c.theme.parts.serialisation, "stroke-width": 2 }]]);
  const svg = facets(c, {
    arms, top: key.height, label: "Goodput of background and training around a burst, a panel an arm",
    x: [grid.from_ms * unit.per_ms, (grid.from_ms + grid.cells * grid.step_ms) * unit.per_ms],
    y: [0, top * k * 1.06], yTitle: name, xTitle: `time ${viewText(view)} [${unit.name}]`,
    draw: (g, arm, x, y, w, h) => {
      const v = arm.views[view], scaled = (list) => list.map((q) => q === null ? null : q * k);
      bar(g, x(0), x(0), 0, h, { stroke: c.theme.text, "stroke-width": 1 });
      g.append("path").attr({ "class": "mark", fill: "none", stroke: back, "stroke-width": 1.8, d: line(at, x, y)(scaled(v.background)) });
      g.append("path").attr({ "class": "mark", fill: "none", stroke: c.theme.parts.serialisation, "stroke-width": 2, d: line(at, x, y)(scaled(v.ddl)) });
      hoverX(g, w, h, x, (value) => {
        const i = Math.max(0, Math.min(at.length - 1, Math.floor((value / unit.per_ms - grid.from_ms) / grid.step_ms)));
        const show = (q) => isNumber(q) ? number(q * k) : "–";
        return [`${arm.name}, ${number(at[i])} ${unit.name}`, `background ${show(v.background[i])} ${name}`, `training ${show(v.ddl[i])} ${name}`];
      }, c.theme);
    },
  });
  key.draw(svg);
  return svg.node();
}

// -- distribution of communication times

function drawCdf(c) {
  const arms = c.arms.filter((a) => a.times_ms.length);
  if (!arms.length) return "No iteration was complete.";
  const k = c.unit.per_ms;
  const alone = arms.map((a) => a.alone_ms).filter(isNumber);
  const [low, high] = extent(arms.flatMap((a) => a.times_ms).concat(alone).map((t) => t * k));
  const log = low > 0 && high / low > 6;
  const probe = newSvg(c.width, 10, c.theme, "");
  const top = legend(probe, 0, 8, c.width, arms, c.theme) + 26, height = top + 320 + 44;
  const w = c.width - MARGIN.left - MARGIN.right, h = 320;
  const x = (log ? d3.scale.log().domain([low / 1.05, high * 1.05]) : d3.scale.linear().domain([0, high * 1.03])).range([0, w]);
  const y = d3.scale.linear().domain([0, 100]).range([h, 0]);
  const svg = newSvg(c.width, height, c.theme, "Distribution of communication times, a line an arm");
  legend(svg, 0, 8, c.width, arms, c.theme);
  const g = svg.append("g").attr("transform", `translate(${MARGIN.left},${top})`);
  axisY(g, y, w, "iterations that took no longer [%]", c.theme, { titleX: -MARGIN.left + 2, ticks: [0, 25, 50, 75, 90, 100] });
  axisX(g, x, h, w, `communication time [${c.unit.name}${log ? ", logarithmic" : ""}]`, c.theme,
    log ? { ticks: logTicks(x), format: (v) => number(v, 2), grid: true } : { grid: true });
  if (alone.length) {
    const at = x(d3.median(alone) * k);
    bar(g, at, at, 0, h, { stroke: c.theme.strong, "stroke-dasharray": "5 4" });
    const left = at + 5 + measure("alone", 11) > w;
    text(g, left ? at - 5 : at + 5, 12, "alone", { fill: c.theme.muted, "font-size": 11, "text-anchor": left ? "end" : "start" });
  }
  for (const a of arms) {
    const n = a.times_ms.length;
    const steps = [[x(a.times_ms[0] * k), y(0)]];
    a.times_ms.forEach((t, i) => steps.push([x(t * k), y(100 * i / n)], [x(t * k), y(100 * (i + 1) / n)]));
    g.append("path").attr({ "class": "mark", fill: "none", stroke: c.theme.color(a), "stroke-width": 2,
      "stroke-dasharray": a.dash || null, d: d3.svg.line()(steps) });
    const mid = Math.floor((n - 1) / 2);
    g.append("path").attr({ d: symbolPath(a, 50), fill: c.theme.color(a), stroke: c.theme.card,
      transform: `translate(${x(a.times_ms[mid] * k)},${y(100 * (mid + 0.5) / n)})` });
  }
  hoverX(g, w, h, x, (value) => [`within ${number(value)} ${c.unit.name}`, ...arms.map((a) =>
    `${number(100 * a.times_ms.filter((t) => t * k <= value).length / a.times_ms.length, 2)} % of ${a.name}`)], c.theme);
  return svg.node();
}

// -- stacked bars

/**
 * A bar an arm.
 * @param parts  [{name, color, value(arm)}]; negative values go left
 */
function stacked(c, arms, parts, options) {
  const used = parts.filter((p) => arms.some((a) => isNumber(p.value(a)) && Math.abs(p.value(a)) > 0));
  const names = Math.min(260, c.width * 0.4, Math.max(...arms.map((a) => measure(a.name))) + 34);
  const { at: place, rows } = inLines(used.map((p) => 20 + measure(p.name) + 16), c.width + 16);
  const top = rows * 18 + 10, step = 28, h = arms.length * step, w = c.width - names - 70;
  const svg = newSvg(c.width, top + h + 44, c.theme, options.label);
  used.forEach((p, i) => {
    svg.append("rect").attr({ x: place[i].x, y: place[i].row * 18 + 2, width: 13, height: 12, rx: 2, fill: p.color });
    text(svg, place[i].x + 19, place[i].row * 18 + 8, p.name, { dy: ".36em", fill: c.theme.muted });
  });
  const sums = arms.map((a) => used.reduce((s, p) => {
    const v = p.value(a) || 0;
    return v < 0 ? [s[0] + v, s[1]] : [s[0], s[1] + v];
  }, [0, 0]));
  const x = d3.scale.linear().domain([Math.min(0, d3.min(sums, (s) => s[0])), Math.max(d3.max(sums, (s) => s[1]), 1e-9)]).range([0, w]);
  const g = svg.append("g").attr("transform", `translate(${names},${top})`);
  axisX(g, x, h, w, options.xTitle, c.theme, { grid: true });
  arms.forEach((a, i) => {
    const y = i * step + 4;
    keyOf(svg, 10, top + y + 10, a, c.theme);
    tip(text(svg, 26, top + y + 10, fitted(a.name, names - 34), { dy: ".34em" }), [a.name, `${number(options.total(a))} ${options.unit}`]);
    let left = 0, right = 0;
    for (const p of used) {
      const v = p.value(a);
      if (!isNumber(v) || v === 0) continue;
      const from = v < 0 ? left + v : right;
      if (v < 0) left += v; else right += v;
      tip(g.append("rect").attr({ "class": "mark", x: x(from), y, width: Math.max(x(from + Math.abs(v)) - x(from), 0.6), height: step - 8,
        fill: p.color, stroke: c.theme.card, "stroke-width": 0.6 }), [a.name, `${p.name}: ${number(v)} ${options.unit}`]);
    }
    const total = options.total(a);
    text(g, x(sums[i][1]) + 6, y + 10, number(total), { dy: ".34em", fill: c.theme.muted, "font-size": 11 });
  });
  bar(g, x(0), x(0), 0, h, { stroke: c.theme.strong });
  return svg.node();
}

const PART_NAMES = {
  signal: "signal and lead", opening: "handshake", serialisation: "on the wire", behind_background: "behind background",
  behind_ddl: "behind other training", window: "window", recovery: "recovery", rto: "time-out", compute: "compute",
  others: "other participants", held: "held back",
};

function drawAttribution(c) {
  const arms = c.arms.filter((a) => a.attribution);
  if (!arms.length)
    return "These runs did not record where the time went. Set trafficgen.attribution = true in [parameters] of the experiment (virtual time only) and run it again.";
  return attributionBars(c, arms, "Where the communication time went, a bar an arm");
}

/** @param arms  have `attribution`, and are dressed */
function attributionBars(c, arms, label) {
  const k = c.unit.per_ms;
  const parts = Object.keys(arms[0].attribution).map((name) => ({
    name: PART_NAMES[name] || name, color: c.theme.parts[name] || c.theme.strong, value: (a) => a.attribution[name] * k,
  }));
  return stacked(c, arms, parts, { label, unit: c.unit.name,
    xTitle: `mean communication time of a push [${c.unit.name}]`, total: (a) => d3.sum(parts, (p) => p.value(a)) });
}

function drawCost(c) {
  const arms = c.arms.filter((a) => !a.off && isNumber(metric(a, "background_lost_bytes_per_iteration")[0]));
  if (!arms.length) return c.arms.some((a) => isNumber(lost(a)[0])) ? "In a closed loop the cost is a rate, which the first table has: it is not split."
    : "The cost to the background needs a baseline to compare with.";
  const at = (name) => (a) => { const v = metric(a, name)[0]; return isNumber(v) ? v * 1e-3 : 0; };
  const parts = [
    { name: "transfer: carried by training instead", color: c.theme.parts.serialisation, value: at("background_transfer_bytes_per_iteration") },
    { name: "waste: the link idle", color: c.theme.parts.behind_background, value: at("background_waste_bytes_per_iteration") },
    { name: "unexplained: headers, packets on the way", color: c.theme.strong, value: at("background_unexplained_bytes_per_iteration") },
  ];
  return stacked(c, arms, parts, { label: "Bytes that the background lost per iteration, a bar an arm", unit: "kB",
    xTitle: "background lost per iteration against the arm's baseline [kB]; left of 0 is gained", total: at("background_lost_bytes_per_iteration") });
}

// -- flows that come and go

const FLOW_SIZES = [["small", "at most 100 kB"], ["medium", "more than 100 kB, at most 1 MB"], ["large", "more than 1 MB"]];
const slowdown = (arm, size, statistic) => metric(arm, `${size}_flow_slowdown_${statistic}`);
const hasSlowdown = (arm) => FLOW_SIZES.some(([size]) => isNumber(slowdown(arm, size, "median")[0]));

/** The mark of an arm at a size: from the median, which is filled, to p99. */
function slowdownMark(g, a, size, title, x, y, theme) {
  const node = g.append("g").attr("class", "mark"), color = theme.color(a);
  const [mid, low, high] = slowdown(a, size, "median"), [tail, tailLow, tailHigh] = slowdown(a, size, "p99");
  const symbol = (v, attributes) => node.append("path").attr({ d: symbolPath(a, 55), transform: `translate(${x(v)},${y})`, ...attributes });
  bar(node, x(mid), x(tail), y, y, { stroke: color, "stroke-width": 2, opacity: 0.65 });
  symbol(tail, { fill: theme.card, stroke: color, "stroke-width": 1.5 });
  symbol(mid, { fill: color });
  tip(node, [`${a.name}, flows of ${title}`, `slowdown, median ${number(mid)} ${interval(low, high, number)}`, `p99 ${number(tail)} ${interval(tailLow, tailHigh, number)}`,
    `${number(metric(a, `${size}_flows_completed`)[0])} flows were delivered`]);
}

function drawSlowdown(c) {
  const arms = c.arms.filter(hasSlowdown);
  if (!arms.length) return "No flow of the background of these arms came and was delivered.";
  const sizes = FLOW_SIZES.map(([size, title]) => ({ size, title, arms: arms.filter((a) => isNumber(slowdown(a, size, "median")[0])) })).filter((s) => s.arms.length);
  const step = 18, head = 24, top = 18, names = Math.min(260, c.width * 0.4, Math.max(...arms.map((a) => measure(a.name))) + 34);
  const h = d3.sum(sizes, (s) => head + s.arms.length * step), w = c.width - names - 24;
  const [, most] = extent(sizes.flatMap((s) => s.arms.map((a) => slowdown(a, s.size, "p99")[0])));
  const log = most > 6;
  const x = (log ? d3.scale.log() : d3.scale.linear()).domain([1, Math.max(most, 1.1) * 1.05]).clamp(true).range([0, w]);
  const svg = newSvg(c.width, top + h + 44, c.theme, "Slowdown of background's flows by their size, median and p99, a line an arm");
  text(svg, 0, 8, "filled: median; hollow: p99", { dy: ".34em", fill: c.theme.muted, "font-size": 11 });
  const g = svg.append("g").attr("transform", `translate(${names},${top})`);
  axisX(g, x, h, w, `completion over ideal${log ? ", logarithmic" : ""}`, c.theme, { grid: true, ...(log ? { ticks: logTicks(x), format: (v) => number(v, 2) } : {}) });
  let y = 0;
  for (const { size, title, arms: own } of sizes) {
    text(g, -names, y + head - 9, title, { "font-size": 11, "font-weight": 600 });
    y += head;
    for (const a of own) {
      keyOf(g, -names + 10, y + step / 2, a, c.theme);
      text(g, -names + 26, y + step / 2, fitted(a.name, names - 34), { dy: ".34em" });
      slowdownMark(g, a, size, title, x, y + step / 2, c.theme);
      y += step;
    }
  }
  return svg.node();
}

// -- marks and drops

function drawEnds(c, key) {
  const drops = key === "drops", place = c.state.allQueues ? "all" : "measured";
  const value = (a, e) => { const f = a[key].find((x) => x.class === e.class && x.reason === e.reason); return f ? f[place] : 0; };
  const kinds = [];
  for (const a of c.arms) for (const e of a[key])
    if (e[place] > 0 && !kinds.some((k) => k.class === e.class && k.reason === e.reason)) kinds.push(e);
  if (!kinds.length)
    return drops ? `No packet was dropped ${place === "all" ? "in any switch" : "at the measured queue"} by these arms.`
      : `No packet was marked ${place === "all" ? "in any switch" : "at the measured queue"} by these arms.`;
  const p = c.theme.parts, palette = [p.serialisation, p.behind_background, p.window, p.behind_ddl, p.held, p.recovery, p.signal, p.compute];
  const parts = kinds.map((e, i) => ({ name: `${e.class}: ${e.reason.replace(/_/g, " ")}`, color: palette[i % palette.length], value: (a) => value(a, e) }));
  return stacked(c, c.arms, parts, { label: drops ? "Packets dropped, by class and reason" : "Packets marked CE, by class and reason", unit: "packets",
    xTitle: `packets ${drops ? "dropped" : "marked"} per run ${place === "all" ? "in all switches" : "at the measured queue"}`, total: (a) => d3.sum(parts, (q) => q.value(a)) });
}

// -- time lines

const startMark = (x, y, fill) => ({ d: d3.svg.symbol().type("triangle-up").size(46)(), transform: `translate(${x},${y}) rotate(90)`, fill });

function timelineLegend(c, color) {
  const ink = c.theme.text, items = [
    ["START", (svg, x, y) => svg.append("path").attr(startMark(x + 8, y, ink))],
    ["gradients ready", (svg, x, y) => bar(svg, x + 8, x + 8, y - 7, y + 7, { stroke: ink, "stroke-width": 2 })],
    ["ready to first byte sent", (svg, x, y) => bar(svg, x, x + 17, y, y, { stroke: c.theme.strong, "stroke-width": 3 })],
    ["first byte sent to last delivered", (svg, x, y) => svg.append("rect").attr({ x, y: y - 5, width: 17, height: 10, rx: 2, fill: color })],
    ["first packet at the queue", (svg, x, y) => svg.append("circle").attr({ cx: x + 8, cy: y, r: 3.2, fill: c.theme.card, stroke: ink, "stroke-width": 1.4 })]];
  const { at, rows } = inLines(items.map(([name]) => 22 + measure(name) + 18), c.width + 18);
  const draw = (svg) => items.forEach(([name, mark], i) => {
    const x = at[i].x, y = 10 + at[i].row * 18;
    mark(svg, x, y);
    text(svg, x + 22, y, name, { dy: ".34em", fill: c.theme.muted });
  });
  return { height: 12 + rows * 18, draw };
}

function drawTimeline(c) {
  const arm = c.arms.find((a) => a.name === c.state.timelineArm) || c.arms[0];
  if (!arm || !arm.bursts.length) return "No burst of this arm was recorded.";
  const seeds = [...new Set(arm.bursts.map((b) => b[0]))];
  const seed = seeds.includes(c.state.timelineSeed) ? c.state.timelineSeed : seeds[0];
  const rows = arm.bursts.filter((b) => b[0] === seed).slice(0, 48);
  const keys = ["seed", "job", "iteration", "worker", "due", "start", "ack", "first", "queue", "delivered", "rtos"];
  const bursts = rows.map((r) => Object.fromEntries(keys.map((key, i) => [key, r[i]])));
  const several = new Set(bursts.map((b) => b.worker)).size > 1, jobs = new Set(bursts.map((b) => b.job)).size > 1;
  const [low, high] = extent(bursts.flatMap((b) => [b.due, b.start, b.ack, b.first, b.delivered]));
  const unit = timeUnit(high), k = unit.per_ms, step = bursts.length > 24 ? 15 : 22, size = step < 20 ? 10 : 12;
  const ending = (b) => b.delivered === null ? "not delivered" : number(b.delivered * k) + (b.rtos ? ` · ${b.rtos} RTO` : "");
  const longName = (b) => (jobs ? `job ${b.job}, ` : "") + `iteration ${b.iteration}` + (several ? `, worker ${b.worker}` : "");
  const numbersOf = (job, iteration, worker) => [...(jobs ? [job] : []), iteration, ...(several ? [worker] : [])].join(" / ");
  const widest = Math.max(...bursts.map((b) => measure(longName(b), size))), numbers = widest > c.width * 0.3;
  const names = numbers ? measure(numbersOf("job", "iteration", "worker"), 11) + 10 : widest + 14;
  const color = c.theme.color(arm), key = timelineLegend(c, color), top = key.height + (numbers ? 14 : 0);
  const h = bursts.length * step, w = c.width - names - Math.max(...bursts.map((b) => measure(ending(b), 11))) - 16;
  const x = d3.scale.linear().domain([Math.min(low, 0) * k, high * k]).range([0, w]);
  const svg = newSvg(c.width, top + h + 44, c.theme, `Time line of the bursts of ${arm.name}, seed ${seed}`);
  key.draw(svg);
  if (numbers) text(svg, 0, top - 7, numbersOf("job", "iteration", "worker"), { fill: c.theme.muted, "font-size": 11 });
  const g = svg.append("g").attr("transform", `translate(${names},${top})`);
  axisX(g, x, h, w, `time from the iteration's gradients ready [${unit.name}]`, c.theme, { grid: true });
  bursts.forEach((b, i) => {
    const y = (i + 0.5) * step, node = g.append("g").attr("class", "mark");
    text(node, -10, y, numbers ? numbersOf(b.job, b.iteration, b.worker) : longName(b), { dy: ".34em", "text-anchor": "end", "font-size": size });
    node.append("rect").attr({ x: 0, y: y - step / 2, width: w, height: step, fill: "transparent" });
    if (b.start !== null && b.start < b.due) bar(node, x(b.start * k), x(b.due * k), y, y, { stroke: c.theme.strong, "stroke-dasharray": "2 2" });
    if (b.first !== null) {
      bar(node, x(b.due * k), x(b.first * k), y, y, { stroke: c.theme.strong, "stroke-width": 3 });
      const end = b.delivered === null ? high : b.delivered;
      node.append("rect").attr({ x: x(b.first * k), y: y - step * 0.28, width: Math.max(1, x(end * k) - x(b.first * k)), height: step * 0.56, rx: 2,
        fill: color, opacity: b.delivered === null ? 0.35 : 0.85 });
    }
    bar(node, x(b.due * k), x(b.due * k), y - step * 0.36, y + step * 0.36, { stroke: c.theme.text, "stroke-width": 2 });
    if (b.start !== null) node.append("path").attr(startMark(x(b.start * k), y, c.theme.text));
    if (b.queue !== null) node.append("circle").attr({ cx: x(b.queue * k), cy: y, r: 2.8, fill: c.theme.card, stroke: c.theme.text, "stroke-width": 1.2 });
    text(node, w + 8, y, ending(b), { dy: ".34em", fill: c.theme.muted, "font-size": 11 });
    const show = (v) => v === null ? "–" : `${number(v * k)} ${unit.name}`;
    tip(node, [`${arm.name}, seed ${b.seed}, ${longName(b)}`, `gradients ready ${show(b.due)}`, `START ${show(b.start)}, ACK ${show(b.ack)}`, `first byte sent ${show(b.first)}`,
      `first packet at the queue ${show(b.queue)}`, `last byte delivered ${show(b.delivered)}`, `${b.rtos} retransmission time-outs`]);
  });
  return svg.node();
}
