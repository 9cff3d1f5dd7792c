// Groups of background: what each offered, got and completed under each arm of the point.

/** More rows than this are not read: they are folded away. */
const MOST_GROUP_ROWS = 48;
/** Figures whose change against the baseline stands below them. */
const GROUP_CHANGES = ["goodput_bits_per_second", "flow_completion_seconds_p99", "request_latency_seconds_p99"];

const hasGroups = () => data.arms.some((a) => a.groups);

/** {group, arm, first (of its group)}: the arms of a group stand together, to be compared. */
function groupRows(arms) {
  const rows = [], having = arms.filter((a) => a.groups);
  for (const name of new Set(having.flatMap((a) => a.groups.map((g) => g.name))))
    for (const arm of having) {
      const group = arm.groups.find((g) => g.name === name);
      if (group) rows.push({ group, arm, first: !rows.length || rows[rows.length - 1].group.name !== name });
    }
  return rows;
}

function groupCell(figure, group, arm) {
  const [v, low, high, d, dl, dh] = group.figures[figure.name], scaled = (x) => number(x * figure.scale);
  if (!isNumber(v)) return cell("–");
  const change = GROUP_CHANGES.includes(figure.name) && !arm.off && isNumber(d) ? `${percent(d)} % ${interval(dl, dh, percent)}` : "";
  return cell(scaled(v), [interval(low, high, scaled), change].filter(Boolean).join(" "), "stacked");
}

function groupsTable(rows) {
  const columns = data.group_figures.filter((f) => rows.some((r) => isNumber(r.group.figures[f.name][0]))), body = el("tbody");
  for (const { group, arm, first } of rows) {
    const row = el("tr", first ? { class: "first" } : {});
    if (first) row.append(el("th", { scope: "rowgroup", rowspan: rows.filter((r) => r.group.name === group.name).length, text: group.name }));
    row.append(el("th", { scope: "row", class: "arm" }, keySvg(arm), document.createTextNode(arm.name)), ...columns.map((f) => groupCell(f, group, arm)));
    body.append(row);
  }
  const title = (f) => f.heading[0].toUpperCase() + f.heading.slice(1);
  return el("table", {}, definedHead([["Group", ""], ["Arm", ""], ...columns.map((f) => [title(f), f.unit, f.help])]), body);
}

function drawGroups() {
  const box = document.getElementById("groups-table"), rows = groupRows(armsHere().filter(isShown));
  if (!box) return;
  if (!rows.length) return box.replaceChildren(el("p", { class: "empty", text: "The arms that are shown have no groups of background." }));
  const table = el("div", { class: "scroll" }, groupsTable(rows));
  const folded = rows.length > MOST_GROUP_ROWS ? el("details", { ontoggle: hintAtWhatIsCut }, el("summary", { text: `${rows.length} rows: each group under each arm` }), table) : table;
  box.replaceChildren(folded, el("p", { class: "foot", text: "Means of the seeds, over the whole run. In brackets: 95 % confidence, which resamples seeds; where a change stands behind it, against the arm's baseline. –: this kind of traffic has no such figure. groups.csv has those of each seed." }));
}
