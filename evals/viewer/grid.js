// Cases × arms, grouped by kind, drawn only where it is looked at. A cell opens the trial that explains it best.

const gridBox = document.getElementById("grid");
const gridSpace = document.getElementById("grid-space");
const gridHead = document.getElementById("grid-head");
const LINE = 34; // height of a row, as in the style sheet
const MOST_LEVEL = 7; // arms whose names are written level; those of more, or with longer words, stand upright
const LONGEST_WORD = 14;
let lines = []; // { kind, cases } or { of }: what the rows are
let lineOfCase = new Map(); // number of a case -> position of its row
let drawnLines = new Map(); // position -> element
let cell = { line: 1, arm: 0 }; // the one that the keyboard is in

function startGrid() {
  gridBox.style.setProperty("--arms", DATA.arms.length);
  gridBox.setAttribute("aria-colcount", DATA.arms.length + 1);
  const several = new Set(DATA.models).size > 1;
  const labels = several ? DATA.toolsets : DATA.arms;
  const longest = Math.max(0, ...labels.flatMap((label) => label.split(BREAKS)).flatMap((part) => part.split(/[- ]/)).map((word) => word.length));
  gridBox.classList.toggle("upright-heads", labels.length > MOST_LEVEL || longest > LONGEST_WORD);
  gridHead.replaceChildren(el("div", { class: "corner", role: "columnheader", "aria-colindex": 1 }, "case"), ...(several ? modelHeads() : []),
    ...DATA.arms.map((arm, at) => el("div", { class: `arm${beginsModel(at) ? " begins" : ""}`, role: "columnheader", "aria-colindex": at + 2, "aria-label": several ? visible(arm) : null, title: visible(arm) },
      el("span", {}, name(labels[at])))));
  drawsOnScroll(gridBox, drawLines, () => drawLines(true));
}

// The models above their arms, for the eye: the heading of each arm names its model, too.
function modelHeads() {
  const firsts = DATA.models.map((_, at) => at).filter(beginsModel);
  return firsts.map((first, at) => {
    const head = el("div", { class: "model begins", "aria-hidden": "true", title: visible(DATA.models[first]) }, el("span", {}, name(DATA.models[first])));
    head.style.gridColumn = `${first + 2} / ${(firsts[at + 1] ?? DATA.models.length) + 2}`;
    return head;
  });
}

const beginsModel = (at) => new Set(DATA.models).size > 1 && DATA.models[at] !== DATA.models[at - 1];

// Lists the cases of the trials shown, kind by kind.
function listCases() {
  const places = new Map(); // of the trials of a case
  for (const place of shown) {
    if (!places.has(trials.case[place])) places.set(trials.case[place], []);
    places.get(trials.case[place]).push(place);
  }
  const byKind = new Map();
  for (const number of places.keys()) {
    const { kind } = cases[number];
    if (!byKind.has(kind)) byKind.set(kind, []);
    byKind.get(kind).push(number);
  }
  lines = [];
  lineOfCase = new Map();
  for (const [kind, own] of [...byKind].sort(([one], [two]) => one.localeCompare(two, "en", { numeric: true }))) {
    lines.push({ kind, cases: own });
    for (const number of own) {
      lineOfCase.set(number, lines.length);
      lines.push({ of: cases[number] });
    }
  }
  shown = [...lineOfCase.keys()].flatMap((number) => places.get(number)); // the next of a trial is what stands next to it
  cell = { line: 1, arm: 0 };
  gridBox.scrollTop = 0;
  gridBox.setAttribute("aria-rowcount", lines.length + 1);
  gridSpace.style.height = `${Math.max(1, lines.length) * LINE}px`;
  drawLines(true);
}

function drawLines(afresh = false) {
  if (view() !== "grid") return;
  const head = gridHead.offsetHeight;
  const first = Math.max(0, Math.floor(gridBox.scrollTop / LINE) - BEYOND);
  const last = Math.min(lines.length, Math.ceil((gridBox.scrollTop + gridBox.clientHeight - head) / LINE) + BEYOND);
  const isFocused = afresh && gridSpace.contains(document.activeElement);
  if (afresh) {
    drawnLines = new Map();
    gridSpace.replaceChildren();
    if (!lines.length) gridSpace.append(el("p", { class: "empty" }, "No case is like this."));
  }
  for (const [position, row] of drawnLines) {
    if ((position < first || position >= last) && !row.contains(document.activeElement)) {
      row.remove();
      drawnLines.delete(position);
    }
  }
  for (let position = first; position < last; position += 1) {
    if (drawnLines.has(position)) continue;
    const row = lines[position].of ? caseLine(lines[position].of, position) : kindLine(lines[position], position);
    row.style.transform = `translateY(${position * LINE}px)`;
    drawnLines.set(position, row);
    gridSpace.append(row);
  }
  if (isFocused) cellAt(cell)?.focus({ preventScroll: true });
}

function kindLine({ kind, cases: own }, position) {
  const rated = DATA.arms.map((_, arm) => own.map((number) => rightShare(cases[number], arm)).filter((share) => share !== null));
  const mean = (shares) => shares.reduce((sum, share) => sum + share, 0) / shares.length;
  return el("div", { class: "line kind", role: "row", "aria-rowindex": position + 2 },
    el("div", { class: "what", role: "rowheader", "aria-colindex": 1 }, name(kind || "no kind"), el("span", { class: "muted" }, ` ${plural(own.length, "case")}`)),
    rated.map((shares, arm) => el("div", { role: "gridcell", "aria-colindex": arm + 2, title: `of ${plural(shares.length, "case")}` },
      known(shares.length ? mean(shares) : null, (value) => `${Math.round(100 * value)}%`), shares.length && shares.length < own.length ? el("span", { class: "of" }, `of ${count(shares.length)}`) : "")));
}

function caseLine(of, position) {
  return el("div", { class: "line", role: "row", "aria-rowindex": position + 2 },
    el("div", { class: "what", role: "rowheader", "aria-colindex": 1, title: visible(`${of.id}: ${of.asked}`) }, el("b", {}, shortened(of)), " ", el("span", { class: "muted", dir: "auto" }, of.asked)),
    DATA.arms.map((_, arm) => el("div", { role: "gridcell", "aria-colindex": arm + 2 }, cellOf(of, arm, position))));
}

// The id of a case; where there is little room, without the kind that it begins with.
function shortened(of) {
  const prefix = `${of.kind}-`;
  if (!of.kind || !of.id.startsWith(prefix) || of.id === prefix) return name(of.id);
  return el("bdi", {}, el("span", { class: "prefix" }, prefix), of.id.slice(prefix.length));
}

function cellOf(of, arm, line) {
  const own = of.trials.filter((place) => trials.arm[place] === arm);
  const tabindex = line === cell.line && arm === cell.arm ? 0 : -1;
  const onfocus = () => chooseCell({ line, arm });
  if (!own.length) return el("span", { class: "cell none", tabindex, onfocus, "aria-label": `${visible(DATA.arms[arm])}: not run` });
  const place = tellingTrial(own);
  const right = own.filter((one) => sortOf(one) === "right").length;
  const asked = own.filter(isAsked).length;
  const isMixed = right > 0 && right < asked;
  const sort = isMixed ? "mixed" : signOf(place);
  const text = isMixed ? `${right}/${asked}` : MARKS[sort];
  const said = `${visible(DATA.arms[arm])}: ${isMixed ? `right by names in ${right} of ${asked} epochs, ` : ""}${words(outcomeOf(place))}${isCovered(place) ? "" : ", could not be reached"}`;
  return el("a", { class: `cell ${sort}${sort === "wrong" && !isCovered(place) ? " beyond" : ""}`, href: addressWith({ trial: trials.number[place] }), tabindex, onfocus,
    "aria-label": said, title: said }, text);
}

// Of a case's epochs in one arm: the first that is wrong, else not quite right, else the first that was scored.
function tellingTrial(own) {
  const ranks = { wrong: 0, near: 1, right: 2, unscored: 3 };
  return own.reduce((best, place) => (ranks[signOf(place)] < ranks[signOf(best)] ? place : best));
}

const cellAt = ({ line, arm }) => drawnLines.get(line)?.children[arm + 1]?.firstElementChild;

function chooseCell(next) {
  cellAt(cell)?.setAttribute("tabindex", -1);
  cell = next;
  cellAt(cell)?.setAttribute("tabindex", 0);
}

function chooseCellOf(place) {
  const line = lineOfCase.get(trials.case[place]);
  if (line !== undefined) chooseCell({ line, arm: trials.arm[place] });
}

function focusCell() {
  if (!lines.length) return;
  reveal(gridBox, cell.line * LINE, LINE, gridHead.offsetHeight);
  drawLines();
  chooseCell(cell);
  const target = cellAt(cell);
  target.focus({ preventScroll: true });
  target.scrollIntoView({ behavior: "instant", block: "nearest", inline: "nearest" });
}

// By so many cases down and arms to the right; the rows of kinds are passed over.
function stepCell(down, right = 0) {
  if (!lines.length) return;
  if (!gridSpace.contains(document.activeElement)) {
    gridBox.scrollIntoView({ block: "nearest" });
    focusCell();
    return;
  }
  const sign = Math.sign(down);
  let line = Math.min(lines.length - 1, Math.max(1, cell.line + down));
  if (lines[line].kind !== undefined) line += line > 1 ? sign : 1;
  const arm = Math.min(DATA.arms.length - 1, Math.max(0, cell.arm + right));
  chooseCell({ line: Math.min(lines.length - 1, Math.max(1, line)), arm });
  focusCell();
}
