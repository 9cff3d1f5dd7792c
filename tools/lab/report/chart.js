// Figures as data. A figure is declared by `figure({...})`; its `plot(c)` returns what is drawn,
// or a sentence that says why there is nothing to draw:
//   {label, key, x, y, marks}                 one panel with both axes
//   {label, key, x, y, facets}                a panel for each arm, alike in both axes
//   {label, key, x, rows: [{name, marks}]}    rows below each other over one axis
//   {label, panels: [{x, marks(row)}], rows}  the same, several axes beside each other
// A mark is a function of a group and of the frame {x, y, w, h, theme} in which it is drawn. The
// functions below make marks of values in the units of the frame's scales. In rows, y counts
// pixels from the middle of the row.

const data = JSON.parse(document.getElementById("data").textContent);
const FIGURES = [];
const figure = (of) => FIGURES.push(of);

const MARGIN = { left: 56, right: 18, top: 22, bottom: 44 };

// -- marks

function bar(parent, x0, x1, y0, y1, attributes) {
  return parent.append("line").attr({ x1: x0, x2: x1, y1: y0, y2: y1 }).attr(attributes);
}

const draw = (g, marks, f) => { for (const mark of marks) if (mark) mark(g, f); };
const numbers = (...values) => values.every(isNumber);

const segment = (x0, x1, y0, y1, style) => (g, f) =>
  numbers(x0, x1, y0, y1) && bar(g, f.x(x0), f.x(x1), f.y(y0), f.y(y1), style);
const upright = (x, style) => (g, f) => bar(g, f.x(x), f.x(x), 0, f.h, style);
const box = (x0, x1, y0, height, style, least = 1) => (g, f) => g.append("rect")
  .attr({ x: f.x(x0), y: f.y(y0), width: Math.max(least, f.x(x1) - f.x(x0)), height }).attr(style);
const sign = (x, y, d, style) => (g, f) => isNumber(x) &&
  g.append("path").attr({ d, transform: `translate(${f.x(x)},${f.y(y)})` }).attr(style);
const circle = (x, y, r, style) => (g, f) => isNumber(x) &&
  g.append("circle").attr({ cx: f.x(x), cy: f.y(y), r }).attr(style);
/** A text `dx` right of a value. */
const words = (x, y, content, style, dx = 0) => (g, f) =>
  text(g, f.x(x) + dx, f.y(y), content, { dy: ".34em", fill: f.theme.muted, "font-size": 11, ...style });

/** A line through [x, y]; where y is no number it has a gap. */
const curve = (points, style) => (g, f) => g.append("path").attr({ fill: "none", ...style,
  d: d3.svg.line().defined((p) => isNumber(p[1])).x((p) => f.x(p[0])).y((p) => f.y(p[1]))(points) });
/** An area between [x, low, high]. */
const band = (points, style) => (g, f) => g.append("path").attr({ ...style, d: d3.svg.area()
  .defined((p) => isNumber(p[1])).x((p) => f.x(p[0])).y0((p) => f.y(p[1])).y1((p) => f.y(p[2]))(points) });

/** Marks that are one thing to the reader, of which the tip says `lines`. */
const thing = (lines, marks) => (g, f) => {
  const node = g.append("g").attr("class", "mark");
  draw(node, marks, f);
  tip(node, lines);
};
/** Wherever the pointer is over the plot, the tip says `lines(value of x)`. */
const hover = (lines) => (g, f) => hoverX(g, f.w, f.h, f.x, lines, f.theme);

/** Numbers of cells of time in `unit`, of a series that begins at `from_ms`: their middles. */
function cellsOf({ from_ms, step_ms, cells }, unit) {
  return {
    middles: d3.range(cells).map((i) => (from_ms + (i + 0.5) * step_ms) * unit.per_ms),
    edges: d3.range(cells + 1).map((i) => (from_ms + i * step_ms) * unit.per_ms),
    at: (value) => Math.max(0, Math.min(cells - 1, Math.floor((value / unit.per_ms - from_ms) / step_ms))),
  };
}

/** A line at x with its name beside it. */
const namedUpright = (x, name) => (g, f) => {
  const at = f.x(x), left = at + 5 + measure(name, 11) > f.w;
  bar(g, at, at, 0, f.h, { stroke: f.theme.strong, "stroke-dasharray": "5 4" });
  text(g, left ? at - 5 : at + 5, 12, name, { fill: f.theme.muted, "font-size": 11, "text-anchor": left ? "end" : "start" });
};

/** A line across at y, with its name where the line is free: from the right end, or below it. */
function namedLevel(g, f, y, name, taken) {
  const length = measure(name, 11), { w } = f;
  bar(g, 0, w, y, y, { stroke: f.theme.strong, "stroke-dasharray": "5 4" });
  let best = null;
  for (const under of [0, 16]) for (let end = w - 2; end > length + Math.min(80, w / 20); end -= Math.min(40, w / 16)) {
    const box = { x0: end - length, x1: end, y0: y - 16 + under, y1: y - 2 + under };
    const cost = d3.sum(taken, (t) => over(box, t)) + (w - end) / 200 + under / 20;
    if (!best || cost < best.cost) best = { cost, box, end, under };
  }
  taken.push({ x0: 0, x1: w, y0: y - 1.5, y1: y + 1.5 });
  if (!best) return;
  taken.push(best.box);
  text(g, best.end, y - 5 + best.under, name, { "text-anchor": "end", fill: f.theme.muted, "font-size": 11 });
}

/**
 * Arms with their bounds in both directions, and with their names beside them. Where a name would
 * cover another one, a point, a line or the margin, as on a phone, a key below has them all.
 * @param points  [{arm, x: [value, low, high], y, said}]
 * @param levels  [[y, name]]
 * @param corner  what is said in the lower right corner
 */
const namedPoints = (points, levels, corner) => (g, f) => {
  const { w, h, theme } = f, taken = [];
  const places = points.map(({ arm, x, y }) => {
    const px = f.x(x[0]), py = f.y(y[0]), bars = [];
    if (isNumber(y[1])) bars.push({ x0: px - 1, x1: px + 1, y0: f.y(y[2]), y1: f.y(y[1]) });
    if (isNumber(x[1])) bars.push({ x0: f.x(x[1]), x1: f.x(x[2]), y0: py - 1, y1: py + 1 });
    return { name: fitted(arm.name, w * 0.6), x: px, y: py, bars };
  });
  taken.push(...boxesOf(places), { x0: w - 4 - measure(corner, 11), x1: w, y0: h - 20, y1: h });
  text(g, w - 4, h - 8, corner, { "text-anchor": "end", fill: theme.muted, "font-size": 11, "font-style": "italic" });
  for (const [y, name] of levels) namedLevel(g, f, f.y(y), name, taken);
  for (const { arm, x, y } of points) {
    const style = { stroke: theme.color(arm), "stroke-width": 1.5, opacity: 0.6 };
    draw(g, [segment(x[0], x[0], y[1], y[2], style), segment(x[1], x[2], y[0], y[0], style)], f);
  }
  const tried = placeLabels(places, taken, w, h), named = tried.every((at) => at.covers <= 30);
  if (!named) f.keyBelow(points.map((p) => p.arm));
  points.forEach(({ arm, x, y, said }, i) => {
    const at = tried[i], p = places[i];
    if (named && at.d > 20) bar(g, p.x, (at.box.x0 + at.box.x1) / 2, p.y, at.y, { stroke: theme.strong, "stroke-width": 0.7 });
    thing(said, [sign(x[0], y[0], symbolPath(arm, 95), { fill: theme.color(arm), stroke: theme.card, "stroke-width": 1.2 }),
      named && ((node) => text(node, at.x, at.y, p.name, { dy: ".35em", "text-anchor": at.anchor, "paint-order": "stroke",
        stroke: theme.card, "stroke-width": 3, "stroke-linejoin": "round", fill: theme.text }))])(g, f);
  });
};

// -- keys

/** A key above a figure, of [name, draw(svg, x, y)]: names stand `indent` right of their samples. */
function keyAbove(c, items, { indent = 22, gap = 18, y = 10, below = 12, ...style } = {}) {
  const { at, rows } = inLines(items.map(([name]) => indent + measure(name) + gap), c.width + gap);
  return { height: rows * 18 + below, draw: (svg) => items.forEach(([name, sample, said], i) => {
    const g = svg.append("g"), top = y + at[i].row * 18;
    sample(g, at[i].x, top);
    text(g, at[i].x + indent, top, name, { dy: ".34em", fill: c.theme.muted, ...style });
    if (said) tip(g, said);
  }) };
}

const strokeSample = (width, style) => (g, x, y) => bar(g, x, x + width, y, y, style);
const boxSample = (width, height, style) => (g, x, y) =>
  g.append("rect").attr({ x, y: y - height / 2, width, height, ...style });

const OF_LINES = { indent: 28, gap: 20, below: 8 };

/** A key of arms, in one line or in several. */
const keyOfArms = (c, arms, below = 0) => keyAbove(c, arms.map((arm) => [fitted(arm.name, Math.min(c.width - 42, 360)),
  (g, x, y) => keyOf(g, x + 10, y, arm, c.theme)]), { indent: 25, gap: 17, y: 8, below, fill: null });

// -- frames

function scaleOf({ domain, log, nice, clamp }, range) {
  const scale = (log ? d3.scale.log() : d3.scale.linear()).domain(domain);
  return (nice ? scale.nice() : scale).clamp(Boolean(clamp)).range(range);
}

const logAxis = (log, scale) => log ? { ticks: logTicks(scale), format: (v) => number(v, 2) } : {};

function drawPanel(c, of) {
  const m = MARGIN, w = c.width - m.left - m.right, h = of.height, top = of.key ? of.key.height : m.top;
  const svg = newSvg(c.width, top + h + m.bottom, c.theme, of.label);
  if (of.key) of.key.draw(svg);
  const g = svg.append("g").attr("transform", `translate(${m.left},${top})`);
  const f = { x: scaleOf(of.x, [0, w]), y: scaleOf(of.y, [h, 0]), w, h, theme: c.theme };
  axisY(g, f.y, w, of.y.title, c.theme, { titleX: -m.left + 2, ticks: of.y.ticks });
  axisX(g, f.x, h, w, of.x.title, c.theme, { grid: true, ...logAxis(of.x.log, f.x) });
  /** Puts a key below the figure, for marks that have no room for their names. */
  f.keyBelow = (arms) => {
    const key = keyOfArms({ ...c, width: c.width - 16 }, arms, 12), end = top + h + m.bottom + key.height;
    key.draw(svg.append("g").attr("transform", `translate(8,${end - key.height + 6})`));
    svg.attr({ height: end, viewBox: `0 0 ${c.width} ${end}` });
  };
  draw(g, of.marks, f);
  return svg.node();
}

/** Rows of equal length, of panels that are no narrower than can be read. */
function drawFacets(c, of) {
  const least = 236, gap = 22, left = 44, n = of.facets.length, top = of.key.height + 10;
  const fit = Math.max(1, Math.floor((c.width - left + gap) / (least + gap)));
  const columns = Math.ceil(n / Math.ceil(n / Math.min(n, fit, 4)));
  const w = (c.width - left - (columns - 1) * gap - 14) / columns, h = n <= 3 ? 210 : 150;
  const head = 28, stepY = h + head + 22;
  const svg = newSvg(c.width, top + Math.ceil(n / columns) * stepY + 28, c.theme, of.label);
  const f = { x: scaleOf(of.x, [0, w]), y: scaleOf(of.y, [h, 0]), w, h, theme: c.theme };
  of.facets.forEach(({ arm, marks }, i) => {
    const column = i % columns, row = Math.floor(i / columns);
    const g = svg.append("g").attr({ "class": "panel",
      transform: `translate(${left + column * (w + gap)},${top + row * stepY + head})` });
    axisY(g, f.y, w, i === 0 ? of.y.title : null, c.theme,
      { count: 4, bare: column !== 0, titleX: -left + 2, titleY: -head + 4 });
    axisX(g, f.x, h, w, null, c.theme, { count: Math.max(3, Math.floor(w / 70)) });
    keyOf(g, 10, -11, arm, c.theme);
    text(g, 25, -11, fitted(arm.name, w - 25, 12, 600), { dy: ".34em", "font-weight": 600 });
    if (i + columns >= n && column === 0) inTwo(of.x.title, c.width - left, 11).forEach((line, k) =>
      text(g, 0, h + 33 + k * 12, line, { fill: c.theme.muted, "font-size": 11 }));
    draw(g, marks, f);
  });
  of.key.draw(svg);
  return svg.node();
}

// -- rows

/** Width of names left of rows, with room for the keys of arms. */
const widthOfNames = (c, widths, { most = 260, extra = 34 } = {}) => Math.min(most, c.width * 0.4, Math.max(...widths) + extra);

function nameRow(g, row, y, names, of, theme) {
  const { size = null, pad = 8, fill = null } = of.names, style = { dy: ".34em", "font-size": size, fill };
  if (row.title) {
    const whole = fitted(row.title, names + of.width, 11, 600);
    return tip(text(g, -names, y, whole, { ...style, "font-size": 11, "font-weight": 600, fill: null }), row.said);
  }
  const up = row.more ? 7 : 0;
  if (row.arm) keyOf(g, 10 - names, y - up, row.arm, theme);
  const room = names - (row.arm ? 34 : pad), name = fitted(row.name, room, size || 12, row.bold);
  tip(text(g, row.arm ? 26 - names : -pad, y - up, name, { ...style, "font-weight": row.bold || null,
    "text-anchor": row.arm ? null : "end" }), row.said);
  if (row.more) tip(text(g, 26 - names, y + up, fitted(row.more, room, 11),
    { dy: ".34em", fill: theme.muted, "font-size": 11 }), row.said);
}

/** Rows of `height` each, or of their own, and `under` pixels of more below them, over one axis. */
function drawRows(c, of) {
  const panels = of.panels || [{ x: of.x, marks: (row) => row.marks || [] }], names = of.names.width;
  const { right = 24, gap = 20, bottom = 44, under = 0, key } = of, top = (key ? key.height : 0) + (of.top || 0);
  const heightOf = (row) => row.height || of.height, rows = d3.sum(of.rows, heightOf), h = rows + under;
  const beside = c.width >= 700 ? panels.length : 1, w = (c.width - names - gap * (beside - 1)) / beside - right;
  const step = top + h + bottom;
  const svg = newSvg(c.width, step * panels.length / beside, c.theme, of.label);
  if (key) key.draw(svg);
  panels.forEach((panel, i) => {
    const [left, down] = beside > 1 ? [i * (w + right + gap), 0] : [0, i * step];
    const g = svg.append("g").attr("transform", `translate(${names + left},${top + down})`);
    const f = { x: scaleOf(panel.x, [0, w]), w, h, rows, names, theme: c.theme };
    axisX(g, f.x, h, w, panel.x.title, c.theme, { grid: true, ...logAxis(panel.x.log, f.x), ...(panel.x.axis && panel.x.axis(w)) });
    draw(g, of.behind || [], f);
    let y = 0;
    for (const row of of.rows) {
      const height = heightOf(row), middle = y + height / 2, at = { ...f, y: (v) => middle + v, height };
      const node = g.append("g").attr(row.attributes || {});
      if (row.before) row.before(node, at);
      if (left === 0) nameRow(node, row, middle, names, { ...of, width: w }, c.theme);
      draw(node, panel.marks(row), at);
      y += height;
    }
    draw(g, of.marks || [], f);
  });
  return svg.node();
}

/** @return a new SVG element, or the sentence that says why there is none */
function drawChart(c, of) {
  if (typeof of === "string") return of;
  return of.rows ? drawRows(c, of) : of.facets ? drawFacets(c, of) : drawPanel(c, of);
}
