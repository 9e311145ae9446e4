// The list of trials: filtered, sorted, and drawn only where it is looked at.

// `only`: a confusion or a case that was chosen elsewhere, as { text, passes }.
const state = { find: "", kind: "", outcome: "", arm: "", from: "", to: "", sort: "asked", only: null };
let shown = []; // places of the trials listed
let current = 0; // position among them
let waiting = 0; // for the rest of a word that is being typed
let drawn = new Map(); // position -> element
const BEYOND = 6; // rows drawn above and below what is seen
const narrow = matchMedia("(max-width: 46rem)");
const rowHeight = () => (narrow.matches ? 76 : 56);
const rowsBox = document.getElementById("rows");
const space = document.getElementById("space");

const SORTS = {
  asked: ["order asked", () => 0],
  case: ["case", (one, two) => cases[trials.case[one]].id.localeCompare(cases[trials.case[two]].id, "en", { numeric: true })],
  outcome: ["outcome", (one, two) => trials.outcome[one] - trials.outcome[two]],
  arm: ["arm", (one, two) => trials.arm[one] - trials.arm[two]],
  tokens: ["prompt tokens, most first", greatest("tokens")],
  requests: ["requests, most first", greatest("requests")],
  latency: ["latency, slowest first", greatest("latency")],
  cost: ["cost, dearest first", greatest("cost")],
};

function greatest(column) {
  return (one, two) => (trials[column][two] ?? -1) - (trials[column][one] ?? -1);
}

const FIELDS = ["find", "kind", "outcome", "arm", "from", "to", "sort"];

function startBrowser() {
  fillSelect(field("kind"), [["", "any"], ...kinds.map((kind) => [kind, kind])]);
  const present = new Set(trials.outcome);
  fillSelect(field("outcome"), [["", "any"], ["right", "right by names"], ["wrong", "wrong"], ["unscored", "unscored"],
    ...DATA.outcomes.map(([outcome], number) => [String(number), words(outcome)]).filter(([number]) => present.has(Number(number)))]);
  fillSelect(field("arm"), [["", "any"], ...armOptions()]);
  for (const id of ["from", "to"]) if (field(id)) fillSelect(field(id), [["", "–"], ...armOptions()]);
  fillSelect(field("sort"), Object.entries(SORTS).map(([key, [text]]) => [key, text]), "asked");
  for (const id of FIELDS) {
    field(id)?.addEventListener("input", () => {
      state[id] = field(id).value;
      clearTimeout(waiting);
      waiting = setTimeout(list, id === "find" ? 120 : 0);
    });
  }
  document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("filters").addEventListener("reset", () => setTimeout(() => browse({}, false)));
  document.getElementById("only").addEventListener("click", () => { state.only = null; list(); field("find").focus(); });
  let asked = false;
  rowsBox.addEventListener("scroll", () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  }, { passive: true });
  new ResizeObserver(() => { space.style.height = `${shown.length * rowHeight()}px`; draw(true); }).observe(rowsBox);
  list();
}

const field = (id) => document.getElementById(id);

// Show the trials that some filters leave, all others being cleared.
function browse(filters, go = true) {
  Object.assign(state, { find: "", kind: "", outcome: "", arm: "", from: "", to: "", sort: "asked", only: null }, filters);
  for (const id of FIELDS) if (field(id)) field(id).value = state[id];
  list();
  if (!go) return;
  document.getElementById("browser").scrollIntoView();
  focusRow();
}

function list() {
  clearTimeout(waiting);
  const passes = [];
  if (state.arm !== "") passes.push((place) => trials.arm[place] === Number(state.arm));
  if (state.kind !== "") passes.push((place) => cases[trials.case[place]].kind === state.kind);
  if (["right", "wrong", "unscored"].includes(state.outcome)) passes.push((place) => sortOf(place) === state.outcome);
  else if (state.outcome !== "") passes.push((place) => trials.outcome[place] === Number(state.outcome));
  if (state.from !== "" && state.to !== "") {
    const [old, now] = [Number(state.from), Number(state.to)];
    const flipped = flips(old, now);
    passes.push((place) => (trials.arm[place] === old || trials.arm[place] === now) && flipped.has(trials.case[place]));
  }
  if (state.only) passes.push(state.only.passes);
  passes.push(...finders(state.find));
  shown = [];
  for (let place = 0; place < trials.number.length; place += 1) {
    if (passes.every((pass) => pass(place))) shown.push(place);
  }
  if (state.sort !== "asked") shown.sort(SORTS[state.sort][1]); // keeps the order asked among equals
  current = 0;
  tell();
  rowsBox.scrollTop = 0;
  space.style.height = `${shown.length * rowHeight()}px`;
  draw(true);
}

// One test for each word looked for: in the case, or in the tools called.
function finders(text) {
  return text.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
    const inTool = tools.map((tool) => tool.toLowerCase().includes(word));
    const inCase = cases.map((of) => {
      of.hay ??= `${of.id} ${of.asked}`.toLowerCase();
      return of.hay.includes(word) || of.wanted.some((one) => inTool[one]);
    });
    return (place) => inCase[trials.case[place]] || trials.called[place].some((one) => inTool[one]);
  });
}

function tell() {
  const all = trials.number.length;
  field("count").textContent = shown.length === all ? plural(all, "trial") : `${count(shown.length)} of ${plural(all, "trial")}`;
  const chip = field("only");
  chip.hidden = !state.only;
  if (!state.only) return;
  chip.textContent = `${visible(state.only.text)} ✕`;
  chip.setAttribute("aria-label", `${visible(state.only.text)}: take this filter away`);
}

// Draw the rows that are seen; `afresh` where the list has changed.
function draw(afresh = false) {
  const height = rowHeight();
  const first = Math.max(0, Math.floor(rowsBox.scrollTop / height) - BEYOND);
  const last = Math.min(shown.length, Math.ceil((rowsBox.scrollTop + rowsBox.clientHeight) / height) + BEYOND);
  const isFocused = afresh && rowsBox.contains(document.activeElement) && document.activeElement !== rowsBox;
  if (afresh) {
    drawn = new Map();
    space.replaceChildren();
    if (!shown.length) space.append(el("p", { class: "empty" }, "No trial is like this."));
  }
  for (const [position, row] of drawn) {
    if ((position < first || position >= last) && !row.contains(document.activeElement)) {
      row.remove();
      drawn.delete(position);
    }
  }
  for (let position = first; position < last; position += 1) {
    if (drawn.has(position)) continue;
    const row = rowOf(position, height);
    drawn.set(position, row);
    space.append(row);
  }
  if (isFocused) drawn.get(current)?.firstChild.focus({ preventScroll: true });
}

function rowOf(position, height) {
  const place = shown[position];
  const of = cases[trials.case[place]];
  const called = trials.called[place].map((one) => tools[one]).join(", ") || "nothing";
  const epoch = DATA.epochs > 1 && el("span", { class: "epoch" }, `epoch ${trials.epoch[place] + 1}`);
  const link = el("a", { class: `row${position === current ? " current" : ""}`, href: `#trial=${trials.number[place]}`, tabindex: position === current ? 0 : -1 },
    el("span", { class: "what" }, el("span", { class: "id" }, name(of.id), epoch), el("span", { class: "asked", dir: "auto" }, of.asked || "–")),
    el("span", { class: "of" }, name(DATA.arms[trials.arm[place]]), el("span", { class: "did" }, "→ ", name(called))),
    el("span", { class: "outcome" }, mark(place)),
    el("span", { class: "figures" }, `${isOwnCount(place) ? "~" : ""}${tokens(trials.tokens[place])} tokens`, el("br"), seconds(trials.latency[place])));
  link.addEventListener("focus", () => choose(position));
  const row = el("div", { class: "slot", role: "listitem", "aria-setsize": shown.length, "aria-posinset": position + 1 }, link);
  row.style.transform = `translateY(${position * height}px)`;
  return row;
}

function choose(position) {
  const link = (at) => drawn.get(at)?.firstChild;
  link(current)?.classList.remove("current");
  link(current)?.setAttribute("tabindex", -1);
  current = position;
  link(current)?.classList.add("current");
  link(current)?.setAttribute("tabindex", 0);
}

function focusRow() {
  if (!shown.length) return;
  const height = rowHeight();
  const top = current * height;
  if (top < rowsBox.scrollTop) rowsBox.scrollTop = top;
  else if (top + height > rowsBox.scrollTop + rowsBox.clientHeight) rowsBox.scrollTop = top + height - rowsBox.clientHeight;
  draw();
  choose(current);
  drawn.get(current).firstChild.focus({ preventScroll: true });
}

function step(by) {
  if (!shown.length) return;
  const isInside = rowsBox.contains(document.activeElement);
  if (isInside) choose(Math.min(shown.length - 1, Math.max(0, current + by)));
  else rowsBox.scrollIntoView({ block: "nearest" });
  focusRow();
}
