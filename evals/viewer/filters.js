// Which trials are shown, as a grid of cases and arms or as a list, and in which order.

const FIELDS = ["find", "kind", "cases", "outcome", "arm", "from", "to", "sort"];
const FILTERS = [...FIELDS, "confusion", "flips"];
const VIEWS = ["grid", "list"];
const field = (id) => document.getElementById(id);
const flipTables = []; // of a comparison: { text, passes }
let shown = []; // places of the trials shown, in order
let waiting = 0; // for the rest of a word that is being typed

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

const CASES = {
  disagree: ["arms disagree", (shares) => new Set(shares.filter((share) => share !== null)).size > 1],
  wrong: ["right in no arm", (shares) => shares.includes(0) && !shares.some((share) => share > 0)],
  right: ["right in every arm", (shares) => shares.every((share) => share === 1)],
};

function greatest(column) {
  return (one, two) => (trials[column][two] ?? -1) - (trials[column][one] ?? -1);
}

function fillSelect(select, options, chosen = "") {
  select.replaceChildren(...options.map(([value, text]) => el("option", { value }, text)));
  select.value = String(chosen);
}

const armOptions = () => DATA.arms.map((text, number) => [number, text]);
const view = () => (VIEWS.includes(address.view) ? address.view : VIEWS[DATA.arms.length > 1 ? 0 : 1]);

function startFilters() {
  fillSelect(field("kind"), [["", "any"], ...kinds.map((kind) => [kind, kind])]);
  const present = new Set(trials.outcome);
  fillSelect(field("outcome"), [["", "any"], ["right", "right by names"], ["wrong", "wrong"], ["unscored", "unscored"],
    ...DATA.outcomes.filter((_, number) => present.has(number)).map(([outcome]) => [outcome, words(outcome)])]);
  fillSelect(field("arm"), [["", "any"], ...armOptions()]);
  if (field("cases")) fillSelect(field("cases"), [["", "all"], ...Object.entries(CASES).map(([key, [text]]) => [key, text])]);
  for (const id of ["from", "to"]) if (field(id)) fillSelect(field(id), [["", "–"], ...armOptions()]);
  fillSelect(field("sort"), Object.entries(SORTS).map(([key, [text]]) => [key, text]), "asked");
  for (const id of FIELDS) {
    field(id)?.addEventListener("input", () => {
      clearTimeout(waiting);
      const isTyped = id === "find";
      waiting = setTimeout(() => go({ [id]: valueOf(id) }, isTyped ? "replace" : "push"), isTyped ? 120 : 0);
    });
  }
  for (const choice of VIEWS) field(`view-${choice}`).addEventListener("change", () => go({ view: choice }));
  field("filters").addEventListener("submit", (event) => event.preventDefault());
  field("filters").addEventListener("reset", (event) => { event.preventDefault(); go(Object.fromEntries(FILTERS.map((key) => [key, ""]))); });
  field("only").addEventListener("click", () => { go({ confusion: "", flips: "" }); field("find").focus(); });
  showsAddress([...FILTERS, "view"], showTrials);
}

const valueOf = (id) => (id === "sort" && field(id).value === "asked" ? "" : field(id).value);

function showTrials() {
  clearTimeout(waiting);
  for (const id of FIELDS) {
    const control = field(id);
    if (!control || control === document.activeElement && id === "find") continue;
    control.value = address[id] ?? (id === "sort" ? "asked" : "");
    if (control.selectedIndex === -1) control.selectedIndex = 0; // an address may hold anything
  }
  const only = chosenElsewhere();
  const passes = filtersOf(only);
  shown = [];
  for (let place = 0; place < trials.number.length; place += 1) {
    if (passes.every((pass) => pass(place))) shown.push(place);
  }
  const sort = field("sort").value;
  if (sort !== "asked") shown.sort(SORTS[sort][1]); // keeps the order asked among equals
  tellCount(only);
  for (const choice of VIEWS) {
    field(`view-${choice}`).checked = choice === view();
    field(`${choice}-view`).hidden = choice !== view();
  }
  if (view() === "grid") listCases();
  else listRows();
}

function filtersOf(only) {
  const passes = [];
  const [arm, kind, outcome] = ["arm", "kind", "outcome"].map((id) => field(id).value);
  if (arm !== "") passes.push((place) => trials.arm[place] === Number(arm));
  if (kind !== "") passes.push((place) => cases[trials.case[place]].kind === kind);
  if (["right", "wrong", "unscored"].includes(outcome)) passes.push((place) => sortOf(place) === outcome);
  else if (outcome !== "") passes.push((place) => outcomeOf(place) === outcome);
  const some = field("cases")?.value;
  if (some) {
    const alike = cases.map((of) => CASES[some][1](usableArms().map((number) => rightShare(of, number))));
    passes.push((place) => alike[trials.case[place]]);
  }
  const [old, now] = [field("from")?.value ?? "", field("to")?.value ?? ""];
  if (old !== "" && now !== "") {
    const flipped = flips(Number(old), Number(now));
    passes.push((place) => (view() === "grid" || trials.arm[place] === Number(old) || trials.arm[place] === Number(now)) && flipped.has(trials.case[place]));
  }
  if (only) passes.push(only.passes);
  passes.push(...finders(address.find ?? ""));
  return passes;
}

// Oracles know the answer: that they disagree with the others says nothing.
function usableArms() {
  const all = DATA.arms.map((_, number) => number);
  const usable = all.filter((number) => !DATA.oracles.includes(number));
  return usable.length > 1 ? usable : all;
}

// A confusion, or what flipped in a comparison, as { text, passes }; `null` if the address has none.
function chosenElsewhere() {
  if (address.flips) return flipTables[Number(address.flips)] ?? null;
  if (!address.confusion) return null;
  let pair = [];
  try {
    pair = [JSON.parse(address.confusion)].flat().map(String);
  } catch {
    return null;
  }
  const [wanted, called] = pair.map((text) => (text === "" ? NONE : tools.indexOf(text) < 0 ? null : tools.indexOf(text)));
  return {
    text: `wanted ${pair[0] || "nothing"}, called ${pair[1] || "nothing"}`,
    passes: (place) => confusions(place).some(([one, other]) => one === wanted && other === called),
  };
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

function tellCount(only) {
  const all = trials.number.length;
  field("count").textContent = shown.length === all ? plural(all, "trial") : `${count(shown.length)} of ${plural(all, "trial")}`;
  const chip = field("only");
  chip.hidden = !only;
  if (!only) return;
  chip.textContent = `${visible(only.text)} ✕`;
  chip.setAttribute("aria-label", `${visible(only.text)}: remove this filter`);
}

// The trial of a case that explains a result best is marked in the view that is shown.
const chooseTrial = (place) => (view() === "grid" ? chooseCellOf(place) : chooseRowOf(place));
const focusTrial = () => (view() === "grid" ? focusCell() : focusRow());
