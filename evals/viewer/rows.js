// The list of trials, drawn only where it is looked at.

let current = 0; // position among those shown
let drawn = new Map(); // position -> element
const BEYOND = 6; // rows drawn above and below what is seen
const narrow = matchMedia("(max-width: 46rem)");
const rowHeight = () => (narrow.matches ? 76 : 56);
const rowsBox = document.getElementById("rows");
const space = document.getElementById("space");

// Calls `draw` at most once a frame while a part scrolls, and when its size changes.
function drawsOnScroll(box, draw, afresh) {
  let isAsked = false;
  box.addEventListener("scroll", () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => { isAsked = false; draw(); });
  }, { passive: true });
  new ResizeObserver(afresh).observe(box);
}

function startRows() {
  drawsOnScroll(rowsBox, drawRows, () => {
    space.style.height = `${shown.length * rowHeight()}px`;
    drawRows(true);
  });
}

function listRows() {
  current = 0;
  rowsBox.scrollTop = 0;
  space.style.height = `${shown.length * rowHeight()}px`;
  drawRows(true);
}

// Draw the rows that are seen; `afresh` where the list has changed.
function drawRows(afresh = false) {
  if (view() !== "list") return;
  const height = rowHeight();
  const first = Math.max(0, Math.floor(rowsBox.scrollTop / height) - BEYOND);
  const last = Math.min(shown.length, Math.ceil((rowsBox.scrollTop + rowsBox.clientHeight) / height) + BEYOND);
  const isFocused = afresh && rowsBox.contains(document.activeElement) && document.activeElement !== rowsBox;
  if (afresh) {
    drawn = new Map();
    space.replaceChildren();
    if (!shown.length) space.append(el("p", { class: "empty", role: "listitem" }, "No trial is like this."));
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
  const link = el("a", { class: `row${position === current ? " current" : ""}`, href: addressWith({ trial: trials.number[place] }), tabindex: position === current ? 0 : -1 },
    el("span", { class: "what" }, el("span", { class: "id" }, name(of.id), epoch), el("span", { class: "asked", dir: "auto" }, of.asked || "–")),
    el("span", { class: "of" }, name(DATA.arms[trials.arm[place]]), el("span", { class: "did" }, "→ ", name(called))),
    el("span", { class: "outcome" }, mark(place)),
    el("span", { class: "figures" }, `${isOwnCount(place) ? "~" : ""}${tokens(trials.tokens[place])} tokens`, el("br"), seconds(trials.latency[place])));
  link.addEventListener("focus", () => choose(position));
  const row = el("div", { class: "slot", role: "listitem", "aria-setsize": shown.length, "aria-posinset": position + 1 }, link);
  row.style.transform = `translateY(${position * height}px)`;
  return row;
}

function chooseRowOf(place) {
  const position = shown.indexOf(place);
  if (position >= 0) choose(position);
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
  reveal(rowsBox, current * rowHeight(), rowHeight());
  drawRows();
  choose(current);
  drawn.get(current).firstChild.focus({ preventScroll: true });
}

// Scrolls a part as little as it takes to see what is at `top` in it, below a head of it.
function reveal(box, top, height, head = 0) {
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + height > box.scrollTop + box.clientHeight - head) box.scrollTop = top + height - box.clientHeight + head;
}

function stepRow(by) {
  if (!shown.length) return;
  const isInside = rowsBox.contains(document.activeElement);
  if (isInside) choose(Math.min(shown.length - 1, Math.max(0, current + by)));
  else rowsBox.scrollIntoView({ block: "nearest" });
  focusRow();
}
