"use strict";
(() => {
// The page over a store. The address holds everything after `#`: the token, and what is shown. It is sent to nobody.
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const figures = new Map(); // by run
let list = null; // of runs, the latest first
let shown = 0; // counts what was begun to be shown: what arrives late is of no use
let frameUrl = "";

const place = () => new URLSearchParams(location.hash.slice(1));

function addressOf(values) {
  return "#" + new URLSearchParams({ token: place().get("token") ?? "", ...values });
}

function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// A bundle holds every answer; reports and comparisons are pages beside it.
const bundle = byId("bundle") && JSON.parse(byId("bundle").textContent);
const pageOf = {
  report: (run) => bundle ? `reports/${run}.html` : addressOf({ show: "report", run }),
  compare: (sides) => bundle ? `comparisons/${sides.old}..${sides.new}.html` : addressOf({ show: "compare", ...sides }),
};

async function ask(path) {
  if (bundle) return { json: async () => bundle.answers[path] };
  let response;
  try {
    response = await fetch(path, { headers: { Authorization: `Bearer ${place().get("token")}` } });
  } catch {
    throw new Error("The server has ended. Start it again with: toolbelt view");
  }
  if (response.ok) return response;
  if (response.status === 401) throw new Error("This address is of a server that has ended. Open the one that toolbelt view prints now.");
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  throw new Error(isJson ? (await response.json()).error : `The server answers ${response.status}.`);
}

function tell(text, isBad = false) {
  const status = byId("status");
  status.textContent = text;
  status.classList.toggle("bad", isBad);
}

async function show() {
  const turn = ++shown;
  const now = place();
  const what = now.get("show");
  const framed = what === "report" || what === "compare";
  document.documentElement.removeAttribute("data-ready");
  document.body.classList.toggle("framed", framed);
  byId("overview").hidden = true;
  byId("frame").hidden = true;
  byId("back").hidden = !framed;
  byId("back").firstElementChild.href = addressOf({});
  const title = what === "report" ? `Report of ${now.get("run")}` : framed ? `${now.get("new")} against ${now.get("old")}` : "Runs";
  byId("title").textContent = title;
  document.title = `${title} · toolbelt view`;
  try {
    if (framed) await showFrame(turn, what, now, title);
    else await showOverview(turn, now);
    if (turn === shown) document.documentElement.dataset.ready = "";
  } catch (error) {
    if (turn === shown) tell(error.message, true);
  }
}

async function showFrame(turn, what, now, title) {
  tell(what === "report" ? "Making the report …" : "Comparing …");
  const path = what === "report"
    ? `/runs/${encodeURIComponent(now.get("run"))}/report`
    : `/comparison?${new URLSearchParams({ old: now.get("old"), new: now.get("new") })}`;
  const page = await (await ask(path)).blob();
  if (turn !== shown) return;
  URL.revokeObjectURL(frameUrl);
  frameUrl = URL.createObjectURL(page);
  const frame = byId("frame");
  frame.title = title;
  frame.hidden = false;
  // Not `src`, which would be a step of its own for the browser's back button.
  const fresh = frame.cloneNode();
  fresh.src = frameUrl;
  frame.replaceWith(fresh);
  tell("");
}

async function showOverview(turn, now) {
  tell("Reading the runs …");
  const data = await (await ask("/runs")).json();
  if (turn !== shown) return;
  list = data.runs;
  byId("store").textContent = data.store;
  if (!list.length) {
    tell("Nothing has been run here yet; try: toolbelt eval run");
    return;
  }
  byId("overview").hidden = false;
  fillList();
  fillChoices(now);
  tell("");
  await drawCharts(turn);
  await fillAllFigures(turn);
}

// The list

const when = (created) => {
  const date = new Date(created);
  return Number.isNaN(date.getTime()) ? created : date.toISOString().slice(0, 16).replace("T", " ");
};

function armLabel(arm) {
  return [arm.toolset, arm.variant].filter(Boolean).join(" · ");
}

function fillList() {
  const heads = ["old", "new", "run", "begun (UTC)", "dataset", "best arm", "accuracy", "prompt tokens", "cost", "models", "toolsets", "trials", "status", "commit", "note"];
  const beside = (name, value, attributes = {}) => el("td", { "data-label": name, ...attributes }, value);
  const head = el("tr", {}, ...heads.map((name, at) => el("th", { scope: "col", class: at < 2 ? "choice" : null }, name)));
  const rows = list.map((run) => {
    const choices = ["old", "new"].map((side) =>
      el("td", { class: "choice", "data-label": side }, el("input", { type: "radio", name: side, value: run.run, "aria-label": `${run.run} as the ${side} run` })));
    const link = run.finished ? el("a", { href: pageOf.report(run.run) }, run.run) : run.run;
    const toolsets = [...new Set(run.arms.map(armLabel))].join(", ");
    const trials = run.finished === run.planned ? run.planned.toLocaleString("en") : `${run.finished.toLocaleString("en")} of ${run.planned.toLocaleString("en")}`;
    return el("tr", {}, ...choices, el("th", { scope: "row" }, link), beside("begun", when(run.created)),
      beside("dataset", el("bdi", {}, run.dataset.name)),
      ...["best arm", "accuracy", "prompt tokens", "cost"].map((name) => beside(name, "", { class: "figure", "data-run": run.run })),
      beside("models", el("bdi", {}, run.models.join(", ")), { class: "names" }),
      beside("toolsets", el("bdi", {}, toolsets), { class: "names" }), beside("trials", trials, { class: "figure" }),
      beside("status", run.status, { title: run.reason || null }), beside("commit", run.commit ? el("code", { title: run.commit }, run.commit.slice(0, 8)) : "–"),
      beside("note", el("bdi", {}, run.note), { class: "names" }));
  });
  byId("runs").replaceChildren(el("thead", {}, head), el("tbody", {}, ...rows));
  choose();
}

// The figures of a run are those of its most accurate arm that can be used; the cost is that of all arms.
function fillFigures(run, data) {
  const usable = data.arms.filter((arm) => arm.scored && !arm.is_for_orientation);
  const best = usable.reduce((one, arm) => !one || (arm.right_of_asked.value ?? 0) > (one.right_of_asked.value ?? 0) ? arm : one, null);
  const costs = data.arms.map((arm) => arm.scored ? arm.cost_usd : 0);
  const cost = costs.includes(null) ? null : data.arms.reduce((sum, arm, at) => sum + costs[at] * arm.scored, 0);
  const texts = [best?.label ?? "–", best ? `${(100 * best.accuracy.value).toFixed(1)}%` : "–", best && best.prompt_tokens !== null ? short(best.prompt_tokens) : "–",
    cost === null ? "–" : `$${cost.toFixed(2)}`];
  document.querySelectorAll(`td[data-run="${CSS.escape(run)}"]`).forEach((cell, at) => { cell.replaceChildren(el("bdi", {}, texts[at])); });
}

async function readFigures(run) {
  // What grows is asked for again.
  const key = `${run.run} ${run.finished} ${run.status}`;
  if (!figures.has(key)) figures.set(key, await (await ask(`/runs/${encodeURIComponent(run.run)}`)).json());
  fillFigures(run.run, figures.get(key));
  return figures.get(key);
}

async function fillAllFigures(turn) {
  for (const run of list.filter((one) => one.finished).slice(0, MOST)) {
    try {
      await readFigures(run);
    } catch { /* its row stays empty; its report says why */ }
    if (turn !== shown) return;
  }
}

function chosenRuns() {
  const form = new FormData(byId("compare"));
  return { old: form.get("old"), new: form.get("new") };
}

function choose() {
  const sides = chosenRuns();
  const isTwo = Boolean(sides.old && sides.new && sides.old !== sides.new);
  const isReady = isTwo && (!bundle || bundle.comparisons.includes(`${sides.old}..${sides.new}`));
  byId("compare").querySelector("button").disabled = !isReady;
  byId("chosen").textContent = isTwo && !isReady ? "This bundle does not compare these two: toolbelt view does." : isReady ? `${sides.new} against ${sides.old}`
    : sides.old && sides.old === sides.new ? "Choose two runs; the arms of one are compared in its report." : "Choose an old and a new run below.";
}

// Over time

const every = "all";

function fillChoices(now) {
  const datasets = [...new Set(list.map((run) => run.dataset.name))];
  fillSelect(byId("dataset"), datasets, now.get("dataset"));
  const described = new Map(list.flatMap((run) => [...new Set(run.arms.map((arm) => arm.model))].map((model, at) => [model, run.models[at]])));
  const models = new Set(list.filter((run) => run.dataset.name === byId("dataset").value).flatMap((run) => run.arms.map((arm) => arm.model)));
  fillSelect(byId("model"), [every, ...models], now.get("model"), described);
}

function fillSelect(select, names, wanted, words = new Map()) {
  select.replaceChildren(...names.map((name) => el("option", { value: name }, words.get(name) ?? name)));
  select.value = names.includes(wanted) ? wanted : names[0];
}

async function drawCharts(turn) {
  const dataset = byId("dataset").value;
  const runs = list.filter((run) => run.dataset.name === dataset && run.finished).slice(0, MOST).reverse();
  const read = [];
  for (const run of runs) {
    try {
      read.push({ ...await readFigures(run), created: run.created });
    } catch (error) {
      tell(`${run.run} is left out: ${error.message}`, true);
    }
    if (turn !== shown) return;
  }
  const model = byId("model").value;
  const isOne = model !== every;
  const series = new Map();
  read.forEach((run, at) => run.arms.forEach((arm) => {
    if (!arm.scored || (isOne && arm.model !== model)) return;
    if (!series.has(arm.label)) series.set(arm.label, []);
    series.get(arm.label).push({ at, arm, run });
  }));
  const changes = read.map((run, at) => at ? changed(read[at - 1].versions, run.versions) : []);
  const lines = changes.flatMap((names, at) => names.length ? [el("li", {}, `${when(read[at].created)}, ${read[at].run}: ${names.join("; ")}`)] : []);
  byId("charts").replaceChildren(
    chart("Accuracy, with its 95% interval", read, series, changes, (arm) => arm.accuracy.value, (value) => `${(100 * value).toFixed(1)}%`, 1, (arm) => [arm.accuracy.low, arm.accuracy.high]),
    chart("Prompt tokens per trial", read, series, changes, (arm) => arm.prompt_tokens, short, 0, () => [null, null]),
    ...(lines.length ? [el("h3", {}, "What changed between runs (dashed lines)"), el("ul", { class: "versions" }, ...lines)] : []));
}

const MOST = 100; // runs in a chart
const WORDS = { cases: "other cases", catalog: "another catalog or other loadouts", toolbelt: "toolbelt", commit: "commit", changed: "changes not committed" };

function changed(before, after) {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => before[name] !== after[name])
    .map((name) => name === "cases" || name === "catalog" ? WORDS[name] : `${WORDS[name] ?? name} ${(after[name] ?? "unknown").slice(0, 12)}`);
}

function short(value) {
  return value >= 1e6 ? `${(value / 1e6).toFixed(1)}M` : value >= 1000 ? `${(value / 1000).toFixed(1)}k` : String(Math.round(value));
}

function niceTop(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((top) => top >= value);
}

function joined(points) {
  const parts = [];
  for (const point of points) {
    const last = parts.at(-1);
    if (last && last.at(-1).run.asked === point.run.asked) last.push(point);
    else parts.push([point]);
  }
  return parts;
}

function chart(title, runs, series, changes, valueOf, format, top, boundsOf) {
  const width = Math.min(1024, Math.max(340, byId("charts").clientWidth));
  const [height, left, right, upper, lower] = [260, 52, width < 700 ? 130 : 210, 12, 34];
  const points = [...series.values()].flat().map(({ arm }) => valueOf(arm)).filter((value) => value !== null);
  const most = top || niceTop(Math.max(1, ...points));
  const x = (at) => left + (runs.length > 1 ? at / (runs.length - 1) : .5) * (width - left - right);
  const y = (value) => upper + (1 - value / most) * (height - upper - lower);
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": title });
  for (let step = 0; step <= 4; step++) {
    const value = most * step / 4;
    picture.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      svg("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, format(value).replace(".0%", "%")));
  }
  changes.forEach((names, at) => {
    if (!names.length) return;
    const mark = (x(at) + x(at - 1)) / 2;
    picture.append(svg("line", { class: "version", x1: mark, x2: mark, y1: upper, y2: height - lower }, svg("title", {}, names.join("; "))));
  });
  const dated = Math.ceil(runs.length / Math.floor((width - left - right) / 90 + 1));
  runs.forEach((run, at) => {
    if (at % dated === 0) picture.append(svg("text", { x: x(at), y: height - 12, "text-anchor": "middle" }, when(run.created).slice(5)));
  });
  const labels = [];
  const isEarlier = (point) => point.at < runs.length - 1;
  const names = [...series.keys()];
  const models = new Set([...series.values()].flat().map(({ arm }) => arm.model));
  names.forEach((name, number) => {
    const known = series.get(name).filter(({ arm }) => valueOf(arm) !== null);
    if (!known.length) return;
    const group = svg("g", { class: `s${number % 8}` });
    // Runs over other cases are not joined: a difference between them says nothing.
    for (const part of joined(known)) group.append(svg("polyline", { class: "series", points: part.map(({ at, arm }) => `${x(at)},${y(valueOf(arm))}`).join(" ") }));
    for (const { at, arm, run } of known) {
      const [low, high] = boundsOf(arm);
      if (low !== null && high !== null) group.append(svg("line", { class: "whisker", x1: x(at), x2: x(at), y1: y(low), y2: y(high) }));
      const said = `${name}, ${when(run.created)}: ${format(valueOf(arm))}`;
      group.append(svg("a", { href: pageOf.report(run.run), "aria-label": `${said}; open the report of ${run.run}` },
        svg("circle", { class: "dot", cx: x(at), cy: y(valueOf(arm)), r: 4 }), svg("title", {}, said)));
    }
    picture.append(group);
    const last = known[known.length - 1];
    const label = models.size > 1 ? name : name.slice(last.arm.model.length + 3);
    labels.push({ group, from: x(last.at) + 10, y: y(valueOf(last.arm)) + 4, text: `${label.length > right / 10 ? label.slice(0, right / 10 - 1) + "…" : label} ${format(valueOf(last.arm))}${isEarlier(last) ? " *" : ""}` });
  });
  // Labels keep apart, in the order of their lines.
  labels.sort((one, two) => one.y - two.y);
  labels.forEach((label, at) => {
    if (at) label.y = Math.max(label.y, labels[at - 1].y + 14);
  });
  const over = labels.length ? Math.max(0, labels[labels.length - 1].y - (height - lower + 4)) : 0;
  for (const label of labels) label.group.append(svg("text", { class: "label", x: width - right + 10, y: label.y - over }, label.text));
  return el("figure", { class: "chart" }, el("figcaption", {}, labels.some((label) => label.text.endsWith(" *")) ? `${title}; * of an earlier run` : title), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, picture));
}

byId("compare").addEventListener("change", choose);
byId("compare").addEventListener("submit", (event) => {
  event.preventDefault();
  location.assign(pageOf.compare(chosenRuns()));
});
for (const id of ["dataset", "model"]) byId(id).addEventListener("change", () => {
  const values = { dataset: byId("dataset").value, ...(id === "model" ? { model: byId("model").value } : {}) };
  history.replaceState(null, "", addressOf(values));
  fillChoices(place());
  drawCharts(shown);
});
byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address keeps the token
  byId("content").focus();
});
let resizing = 0;
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => byId("overview").hidden || drawCharts(shown), 100);
});
addEventListener("hashchange", show);
show();
})();
