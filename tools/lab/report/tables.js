// Tables: a row has cells of numbers with their intervals, and a heading says what its column means.

/** More rows than this are not read: of a table they are folded away, of a figure left out. */
const MOST_ROWS = 48;

function keySvg(arm) {
  const svg = newSvg(20, 14, currentTheme(), "").attr({ role: null, "aria-hidden": "true" });
  keyOf(svg, 10, 7, arm, currentTheme());
  return el("span", { class: "key" }, svg.node());
}

function cell(main, more = "", kind = "") {
  return el("td", kind ? { class: kind } : {}, el("b", { text: main }), more ? el("span", { class: "interval", text: more }) : null);
}

const armHead = (arm, more, kind) => el("th", kind ? { scope: "row", class: kind } : { scope: "row" }, keySvg(arm), document.createTextNode(arm.name), more);

/** @param cells  [heading, unit, definition] of each column */
function definedHead(cells) {
  const row = el("tr");
  for (const [name, unit, definition] of cells)
    row.append(el("th", definition ? { scope: "col", title: definition } : { scope: "col" }, document.createTextNode(name), el("span", { class: "unit", text: unit || "\u00a0" })));
  return el("thead", {}, row);
}

/** A table that is scrolled where it is wider than the screen, and folded away if it is long. */
function foldedTable(columns, rows, what) {
  const table = el("div", { class: "scroll" }, el("table", {}, definedHead(columns), el("tbody", {}, ...rows)));
  return rows.length <= MOST_ROWS ? table
    : el("details", { ontoggle: hintAtWhatIsCut }, el("summary", { text: `${rows.length} rows${what}` }), table);
}

/** {one, arm, of (their number)}: things of arms, such as jobs, by name. The arms of a thing stand
    together, to be compared; the first one has `of`. */
function thingsByArm(arms, things) {
  const having = arms.filter((a) => a[things]), names = [...new Set(having.flatMap((a) => a[things].map((t) => t.name)))];
  return names.flatMap((name) => having.flatMap((arm) => arm[things].filter((t) => t.name === name).slice(0, 1).map((one) => ({ one, arm })))
    .map((row, i, own) => ({ ...row, of: i ? 0 : own.length })));
}

/** A row for each thing and arm. @param columns  {head, cell(thing, arm)} */
const tableByArm = (title, columns, rows, what) => foldedTable([[title, ""], ["Arm", ""], ...columns.map((c) => c.head)],
  rows.map(({ one, arm, of }) => el("tr", of ? { class: "first" } : {}, of ? el("th", { scope: "rowgroup", rowspan: of, text: one.name }) : null,
    armHead(arm, null, "arm"), ...columns.map((c) => c.cell(one, arm)))), what);
