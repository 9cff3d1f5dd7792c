// Groups of background: what each offered, got and completed under each arm of the point.

/** Figures whose change against the baseline stands below them. */
const GROUP_CHANGES = ["goodput_bits_per_second", "flow_completion_seconds_p99", "request_latency_seconds_p99"];

const hasGroups = () => data.arms.some((a) => a.groups);

function groupCell(figure, group, arm) {
  const [v, low, high, d, dl, dh] = group.figures[figure.name], scaled = (x) => number(x * figure.scale);
  if (!isNumber(v)) return cell("–");
  const change = GROUP_CHANGES.includes(figure.name) && !arm.off && isNumber(d) ? `${percent(d)} % ${interval(dl, dh, percent)}` : "";
  return cell(scaled(v), [interval(low, high, scaled), change].filter(Boolean).join(" "), "stacked");
}

function groupColumns(rows) {
  const title = (f) => f.heading[0].toUpperCase() + f.heading.slice(1);
  return data.group_figures.filter((f) => rows.some((r) => isNumber(r.one.figures[f.name][0])))
    .map((f) => ({ head: [title(f), f.unit, f.help], cell: (group, arm) => groupCell(f, group, arm) }));
}

function drawGroups() {
  const box = document.getElementById("groups-table"), rows = thingsByArm(armsHere().filter(isShown), "groups");
  if (!box) return;
  if (!rows.length) return box.replaceChildren(el("p", { class: "empty", text: "The arms that are shown have no groups of background." }));
  box.replaceChildren(tableByArm("Group", groupColumns(rows), rows, ": each group under each arm"), el("p", { class: "foot", text: "Means of the seeds, over the whole run. In brackets: 95 % confidence, which resamples seeds; where a change stands behind it, against the arm's baseline. –: this kind of traffic has no such figure. groups.csv has those of each seed." }));
}
