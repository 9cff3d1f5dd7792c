"use strict";
// What drawing is made of: themes, numbers, elements, axes, symbols, labels, hovering, saving.
// Everything visible is an SVG attribute, never a style of the page, so that a saved
// figure looks the same elsewhere.

const THEMES = {
  light: {
    card: "#ffffff", text: "#1b1f24", muted: "#5c6670", line: "#dfe3e7", strong: "#9aa3ac",
    off: "#4d545c", shade: "#eef1f4", better: "#00735a", worse: "#b3470a",
    arms: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255"],
    heat: ["#fbe9cf", "#e58425", "#6d0a2b"],
    parts: {
      signal: "#882255", opening: "#b9a0cc", serialisation: "#0072b2", behind_background: "#d55e00",
      behind_ddl: "#e69f00", window: "#56b4e9", recovery: "#cc79a7", rto: "#1b1f24",
      compute: "#9aa3ac", others: "#bcc3ca", held: "#009e73",
    },
  },
  dark: {
    card: "#181c21", text: "#e7eaed", muted: "#9aa5b0", line: "#2d343c", strong: "#66717c",
    off: "#c2c9d0", shade: "#20262c", better: "#3fcba4", worse: "#f59a63",
    arms: ["#4ba3e3", "#f5793a", "#2fc59b", "#e29bc4", "#f2b544", "#9ad8f7", "#d9d04a"],
    heat: ["#3d2a1b", "#c9802b", "#fff0b8"],
    parts: {
      signal: "#d9d04a", opening: "#8d7ba3", serialisation: "#4ba3e3", behind_background: "#f5793a",
      behind_ddl: "#f2b544", window: "#9ad8f7", recovery: "#e29bc4", rto: "#ffffff",
      compute: "#66717c", others: "#4a545e", held: "#2fc59b",
    },
  },
};
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "triangle-down", "cross"];

function currentTheme() {
  return matchMedia("(prefers-color-scheme: dark)").matches ? THEMES.dark : THEMES.light;
}

// -- numbers

const isNumber = (v) => typeof v === "number" && isFinite(v);

/** Three significant digits, thousands apart, a true minus. */
function number(v, digits = 3) {
  if (!isNumber(v)) return "–";
  if (v === 0) return "0";
  const size = Math.abs(v);
  let text;
  if (size >= 1e6 || size < 1e-3) {
    text = v.toExponential(digits - 1).replace("e+", "e");
  } else {
    const places = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
    text = v.toFixed(Math.min(places, 6));
    const [whole, part] = text.split(".");
    const apart = whole.replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
    text = part === undefined ? apart : apart + "." + part;
  }
  return text.replace("-", "\u2212");
}

/** A share in percent. */
function percent(v, signed = true) {
  if (!isNumber(v)) return "–";
  const p = v * 100;
  const text = Math.abs(p) < 9.95 ? p.toFixed(1) : p.toFixed(0);
  if (Number(text) === 0) return "0.0";
  return (signed && p > 0 ? "+" : "") + text.replace("-", "\u2212");
}

/** "−42 … −28" of [value, low, high], "" without an interval. */
function interval(low, high, show) {
  return isNumber(low) && isNumber(high) ? "[" + show(low) + ", " + show(high) + "]" : "";
}

/** What to measure times of this size in; `ms` is the largest. */
function timeUnit(ms) {
  if (ms >= 10000) return { name: "s", per_ms: 1e-3 };
  if (ms < 1) return { name: "µs", per_ms: 1e3 };
  return { name: "ms", per_ms: 1 };
}

/** What to measure rates of this size in; `mbit` is the largest. */
const rateUnit = (mbit) => mbit >= 2000 ? { name: "Gbit/s", per_mbit: 1e-3 } : { name: "Mbit/s", per_mbit: 1 };

// -- elements

/** An HTML element; texts are texts, whatever they hold. */
function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const key of Object.keys(attributes)) {
    if (key === "text") node.textContent = attributes[key];
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), attributes[key]);
    else node.setAttribute(key, attributes[key]);
  }
  for (const child of children) if (child) node.append(child);
  return node;
}

function newSvg(width, height, theme, label) {
  return d3.select(document.createElementNS("http://www.w3.org/2000/svg", "svg"))
    .attr({
      xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`,
      "font-family": FONT, "font-size": 12, fill: theme.text, role: "img", "aria-label": label,
    });
}

function text(parent, x, y, content, attributes = {}) {
  return parent.append("text").attr({ x, y }).attr(attributes).text(content);
}

/** Width of a text that is not drawn yet. */
const measure = (() => {
  const canvas = document.createElement("canvas").getContext("2d");
  return (content, size = 12, weight = 400) => {
    canvas.font = `${weight} ${size}px ${FONT}`;
    return canvas.measureText(content).width;
  };
})();

/** Cut so that it is no wider than `width`; the end says that it was. */
function fitted(content, width, size = 12, weight = 400) {
  if (measure(content, size, weight) <= width) return content;
  let n = content.length;
  while (n > 1 && measure(content.slice(0, n) + "…", size, weight) > width) n--;
  return content.slice(0, n) + "…";
}

// -- axes

const tickText = (scale, count) => {
  const format = scale.tickFormat ? scale.tickFormat(count) : String;
  return (v) => String(format(v)).replace(/^-/, "\u2212").replace(/,/g, "\u202f");
};

/** Lines across and numbers; `title` says the quantity and its unit. */
function axisY(g, scale, width, title, theme, options = {}) {
  const ticks = options.ticks || scale.ticks(options.count || 5);
  const show = options.format || tickText(scale, options.count || 5);
  for (const v of ticks) {
    const y = Math.round(scale(v)) + 0.5;
    g.append("line").attr({ x1: 0, x2: width, y1: y, y2: y, stroke: theme.line });
    if (options.bare) continue;
    text(g, -7, y, show(v), { dy: ".32em", "text-anchor": "end", fill: theme.muted, "font-size": 11 });
  }
  if (title) text(g, options.titleX === undefined ? -7 : options.titleX, options.titleY || -9, title,
    { fill: theme.muted, "font-size": 11, "text-anchor": options.titleAnchor || "start" });
}

function axisX(g, scale, height, width, title, theme, options = {}) {
  const count = options.count || Math.max(2, Math.min(6, Math.floor(width / 60)));
  const ticks = options.ticks || scale.ticks(count);
  const show = options.format || tickText(scale, count);
  for (const v of ticks) {
    const x = Math.round(scale(v)) + 0.5;
    if (options.grid) g.append("line").attr({ x1: x, x2: x, y1: 0, y2: height, stroke: theme.line });
    else g.append("line").attr({ x1: x, x2: x, y1: height, y2: height + 4, stroke: theme.strong });
    text(g, x, height + 16, show(v), { "text-anchor": "middle", fill: theme.muted, "font-size": 11 });
  }
  if (!options.grid)
    g.append("line").attr({ x1: 0, x2: width, y1: height + 0.5, y2: height + 0.5, stroke: theme.strong });
  const lines = title ? inTwo(title, width + 24, 11) : [];
  lines.forEach((line, i) => {
    const wide = measure(line, 11) > width + 24;  // there is room left of the axis only
    text(g, wide ? width + 12 : width / 2, height + (lines.length > 1 ? 29 + i * 12 : 33), line, { "text-anchor": wide ? "end" : "middle", fill: theme.muted, "font-size": 11 });
  });
}

/** A text as one line, or as two of about the same length if it is wider than `width`. */
function inTwo(content, width, size) {
  if (measure(content, size) <= width) return [content];
  const words = content.split(" "), first = (n) => words.slice(0, n).join(" "), rest = (n) => words.slice(n).join(" ");
  const wider = (n) => Math.max(first(n).length, rest(n).length);
  const at = d3.range(1, words.length).reduce((a, b) => wider(b) < wider(a) ? b : a);
  return [first(at), rest(at)];
}

/** Where items of these widths are beside each other, in as many lines as they need. */
function inLines(widths, room) {
  let x = 0, row = 0;
  const at = widths.map((w) => {
    if (x > 0 && x + w > room) { x = 0; row++; }
    x += w;
    return { x: x - w, row };
  });
  return { at, rows: row + 1 };
}

/** Decades and their halves, few enough to be read. */
function logTicks(scale) {
  const [low, high] = scale.domain();
  const steps = Math.log10(high / low) > 2.2 ? [1] : Math.log10(high / low) > 1.2 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 7];
  const ticks = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++)
    for (const s of steps) {
      const v = s * Math.pow(10, e);
      const clear = !ticks.length || scale(v) - scale(ticks[ticks.length - 1]) > 30;
      if (v >= low * 0.999 && v <= high * 1.001 && clear) ticks.push(Number(v.toPrecision(3)));
    }
  return ticks;
}

// -- marks

function symbolPath(arm, size = 70) {
  return d3.svg.symbol().type(SYMBOLS[arm.symbol % SYMBOLS.length]).size(size)();
}

/** How an arm looks in a legend. */
function keyOf(parent, x, y, arm, theme) {
  const g = parent.append("g").attr("transform", `translate(${x},${y})`);
  g.append("line").attr({ x1: -9, x2: 9, y1: 0, y2: 0, stroke: theme.color(arm), "stroke-width": 2,
    "stroke-dasharray": arm.dash || null });
  g.append("path").attr({ d: symbolPath(arm, 42), fill: theme.color(arm) });
}

/** Area that two boxes share. */
const over = (a, b) => Math.max(0, Math.min(a.x1, b.x1) - Math.max(a.x0, b.x0)) *
  Math.max(0, Math.min(a.y1, b.y1) - Math.max(a.y0, b.y0));

/** What labels must not cover. */
function boxesOf(points) {
  const boxes = points.map((p) => ({ x0: p.x - 6, x1: p.x + 6, y0: p.y - 6, y1: p.y + 6 }));
  for (const p of points) boxes.push(...p.bars);
  return boxes;
}

/** Puts each label beside its point where it covers least. `covers` is the area that it does cover. */
function placeLabels(points, taken, width, height, size = 12) {
  return points.map((p) => {
    const w = measure(p.name, size), h = size + 2;
    let best = null;
    for (const d of [10, 16, 26, 38, 52]) {
      for (const [dx, dy, anchor] of [[1, 0, "start"], [0, -1, "middle"], [0, 1, "middle"], [-1, 0, "end"],
        [.8, -.8, "start"], [.8, .8, "start"], [-.8, -.8, "end"], [-.8, .8, "end"]]) {
        const x = p.x + dx * d, y = p.y + dy * (d + 2);
        const x0 = anchor === "start" ? x : anchor === "end" ? x - w : x - w / 2;
        const box = { x0: x0 - 4, x1: x0 + w + 4, y0: y - h / 2, y1: y + h / 2 };
        const outside = x0 < 0 || x0 + w > width || box.y0 < 0 || box.y1 > height;
        const covers = d3.sum(taken, (t) => over(box, t)) + (outside ? 500 : 0);
        const cost = d / 4 + (dx < 0 ? 1 : 0) + covers * 2;
        if (!best || cost < best.cost) best = { cost, covers, box, x, y, anchor, d };
      }
    }
    taken.push(best.box);
    return best;
  });
}

// -- hovering

/** Lines for the tip of a node; a function is asked when it is needed. */
function tip(selection, lines) {
  selection.each(function () { this.__tip = lines; });
  return selection;
}

/** The node that has something to say, at or above the target. A finger cannot hover over a
    heading's title, so it is told that too. */
function tipNode(event) {
  for (let node = event.target; node && node !== document; node = node.parentNode)
    if (node.__tip || (event.pointerType === "touch" && node.matches("th[title]"))) return node;
  return null;
}

const hideTip = () => { document.getElementById("tip").hidden = true; };

function showTip(event) {
  const box = document.getElementById("tip");
  if (box.contains(event.target)) return;
  const node = tipNode(event), said = node && (node.__tip || node.title);
  const lines = typeof said === "function" ? said(event) : said;
  if (!lines) return hideTip();
  box.textContent = Array.isArray(lines) ? lines.join("\n") : lines;
  // A term is a link. A tap on it shows this box, which then has the link.
  const tapped = event.pointerType === "touch" && node.hash;
  if (tapped) box.append("\n", el("a", { href: node.hash, text: "In the list of terms" }));
  box.classList.toggle("tapped", Boolean(tapped));
  box.hidden = false;
  const r = box.getBoundingClientRect();
  const x = event.clientX + 14 + r.width > innerWidth ? event.clientX - 14 - r.width : event.clientX + 14;
  const y = Math.min(event.clientY + 14, innerHeight - r.height - 6);
  box.style.left = Math.max(4, x) + "px";
  box.style.top = Math.max(4, y) + "px";
}

/** The tip of what the keyboard has reached. A click or tap focuses too, but says its own. */
function showTipOfFocus() {
  const node = document.activeElement;
  if (!node.matches(":focus-visible")) return;
  const r = node.getBoundingClientRect();
  showTip({ target: node, clientX: r.left - 14, clientY: r.bottom - 8 });
}

let pointer = {};

/** A page that scrolls below a pointer at rest is told as a move, too: it shows what has come there,
    and hides nothing. */
function showTipOfMove(event) {
  const rests = event.clientX === pointer.x && event.clientY === pointer.y;
  pointer = { x: event.clientX, y: event.clientY };
  if (!rests || tipNode(event)) showTip(event);
}
document.addEventListener("pointermove", showTipOfMove);
document.addEventListener("pointerdown", showTip);
document.addEventListener("focusin", showTipOfFocus);
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
// Reaching something with the keyboard may scroll to it.
addEventListener("scroll", () => { hideTip(); showTipOfFocus(); }, { passive: true });

/** A field over a plot that says what `lines(value under the pointer)` says, and a line there. */
function hoverX(g, width, height, scale, lines, theme) {
  const cursor = g.append("line").attr({ y1: 0, y2: height, stroke: theme.strong, "stroke-dasharray": "2 2",
    visibility: "hidden", class: "cursor" });
  const field = g.append("rect").attr({ width, height, fill: "transparent" });
  field.node().__tip = (event) => {
    const x = event.clientX - field.node().getBoundingClientRect().left;
    const ratio = width / field.node().getBoundingClientRect().width;
    cursor.attr({ x1: x * ratio, x2: x * ratio, visibility: "visible" });
    return lines(scale.invert(x * ratio));
  };
  field.on("mouseleave", () => cursor.attr("visibility", "hidden"));
}

// -- saving

function fileName(experiment, id, point, ending) {
  const plain = (s) => s.replace(/[^A-Za-z0-9._=-]+/g, "-").replace(/^-+|-+$/g, "");
  return [plain(experiment), id, plain(point)].filter(Boolean).join("-") + "." + ending;
}

function download(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const asSvgText = (node) => '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(node);

function saveSvg(node, name) {
  download(new Blob([asSvgText(node)], { type: "image/svg+xml" }), name);
}

/** Three pixels for one: sharp in print. */
function savePng(node, name) {
  const width = Number(node.getAttribute("width")), height = Number(node.getAttribute("height"));
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = 3 * width;
    canvas.height = 3 * height;
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(blob, name), "image/png");
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(asSvgText(node));
}
