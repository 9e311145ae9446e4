// Confusions of an arm: the tools that were wanted × those that were called, the commonest first.

const MOST_TOOLS = 14; // wanted, and called
const STEPS = 20; // of the colours in the style sheet
const DARK_FROM = 10; // confusions that have the darkest of them, if none is more frequent
const heatTable = document.getElementById("confusion-table");

function startConfusions() {
  const select = field("confusion-arm");
  fillSelect(select, [["all", "all arms"], ...armOptions()]);
  select.addEventListener("change", () => go({ confused: select.value === String(DATA.first) ? "" : select.value }));
  heatTable.addEventListener("keydown", roveHeat);
  showsAddress(["confused"], showConfusions);
}

function countConfusions(arm) {
  const counts = new Map();
  for (let place = 0; place < trials.number.length; place += 1) {
    if (arm !== "all" && trials.arm[place] !== Number(arm)) continue;
    for (const [wanted, called] of confusions(place)) {
      const key = `${wanted} ${called}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return [...counts].map(([key, times]) => [...key.split(" ").map(Number), times]).sort((one, two) => two[2] - one[2]);
}

function showConfusions() {
  const select = field("confusion-arm");
  select.value = address.confused ?? DATA.first;
  if (select.selectedIndex === -1) select.value = String(DATA.first);
  const found = countConfusions(select.value);
  const wanted = new Map(); // tool -> trials
  const called = new Map();
  for (const [one, other] of found) {
    if ((wanted.has(one) || wanted.size < MOST_TOOLS) && (called.has(other) || called.size < MOST_TOOLS)) {
      wanted.set(one, wanted.get(one) ?? 0);
      called.set(other, called.get(other) ?? 0);
    }
  }
  const inside = found.filter(([one, other]) => wanted.has(one) && called.has(other));
  for (const [one, other, times] of inside) {
    wanted.set(one, wanted.get(one) + times);
    called.set(other, called.get(other) + times);
  }
  const times = new Map(inside.map(([one, other, number]) => [`${one} ${other}`, number]));
  const [rows, columns] = [wanted, called].map((of) => [...of].sort((one, two) => two[1] - one[1]).map(([tool]) => tool));
  const most = found.length ? found[0][2] : 1;
  heatTable.querySelector("thead").replaceChildren(el("tr", {}, el("th", { scope: "col", class: "name" }, "wanted ↓ called →"),
    columns.map((tool) => el("th", { scope: "col" }, el("span", { class: "upright" }, heatName(tool)))), el("td", { class: "rest" })));
  heatTable.querySelector("tbody").replaceChildren(...rows.map((one) => el("tr", {}, el("th", { scope: "row", class: "name" }, heatName(one)),
    columns.map((other) => heatCell(one, other, times.get(`${one} ${other}`) ?? 0, most, select.value)), el("td", { class: "rest" }))));
  heatTable.querySelector("button")?.setAttribute("tabindex", 0);
  heatTable.closest(".scroll").hidden = !found.length;
  const sum = (pairs) => pairs.reduce((all, [, , number]) => all + number, 0);
  const more = found.length - inside.length;
  field("confusion-note").textContent = !found.length ? "No tool was confused with another."
    : more > 0 ? `The most frequent pairs: ${count(sum(inside))} of ${plural(sum(found), "confusion")}. ${plural(more, "rarer pair")} left out.` : `All ${plural(sum(found), "confusion")} are shown.`;
}

const heatName = (tool) => (tool === NONE ? el("i", { class: "muted" }, "nothing") : name(tools[tool]));

function heatCell(wanted, called, times, most, arm) {
  if (!times) return el("td", {});
  const pair = JSON.stringify([wanted, called].map((tool) => (tool === NONE ? "" : tools[tool])));
  // One confusion is pale, however few there are: dark is for many, ten at least.
  const step = 2 + Math.round((STEPS - 2) * Math.sqrt((times - 1) / (Math.max(most, DARK_FROM) - 1)));
  const button = el("button", { type: "button", tabindex: -1, onclick: () => follow(formatAddress({ view: "list", confusion: pair, arm: arm === "all" ? "" : arm })) }, count(times));
  button.setAttribute("aria-label", `${plural(times, "trial")}: wanted ${visible(toolName(wanted))}, called ${visible(toolName(called))}. Show them`);
  return el("td", { class: `heat h${step}` }, button);
}

// Arrow keys lead from one confusion to the next in their direction.
function roveHeat(event) {
  const ways = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
  const from = event.target.closest("td");
  if (!from || !ways[event.key]) return;
  event.preventDefault();
  const [down, right] = ways[event.key];
  const at = { row: from.parentElement.rowIndex, column: from.cellIndex };
  const buttons = [...heatTable.querySelectorAll("tbody button")].map((button) => ({ button, row: button.closest("tr").rowIndex, column: button.closest("td").cellIndex }));
  const ahead = buttons.filter(({ row, column }) => (down ? Math.sign(row - at.row) === down : Math.sign(column - at.column) === right));
  const far = ({ row, column }) => (down ? 100 * Math.abs(row - at.row) + Math.abs(column - at.column) : 100 * Math.abs(column - at.column) + 99 * Math.abs(row - at.row));
  const next = ahead.sort((one, two) => far(one) - far(two))[0];
  if (!next) return;
  event.target.closest("button")?.setAttribute("tabindex", -1);
  next.button.setAttribute("tabindex", 0);
  next.button.focus();
}
