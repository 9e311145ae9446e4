// What happens when: the page opens, a key is pressed, the address changes.

const help = document.getElementById("help");

function isTyping(target) {
  return target instanceof HTMLInputElement && target.type === "search" || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
}

const toEnd = (by) => (view() === "grid" ? stepCell(0, by) : stepRow(by));
const stepBy = (by) => (view() === "grid" ? stepCell(by) : stepRow(by));

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (isTyping(event.target)) {
    if (event.target.id !== "find") return;
    if (event.key === "Escape") { event.preventDefault(); clearTimeout(waiting); event.target.value = ""; event.target.blur(); go({ find: "" }, "replace"); }
    if (event.key === "ArrowDown" || event.key === "Enter") { event.preventDefault(); focusTrial(); }
    return;
  }
  const isGrid = gridSpace.contains(event.target);
  const acts = {
    "?": () => help.showModal(),
    ...(dialog.open
      ? { j: () => stepTrial(1), k: () => stepTrial(-1), ArrowRight: () => stepTrial(1), ArrowLeft: () => stepTrial(-1) }
      : {
        // At once: a smooth way down would end where the first letter typed finds it.
        "/": () => { field("find").focus({ preventScroll: true }); field("find").select();
          field("find").closest("section").scrollIntoView({ behavior: "instant", block: "start" }); },
        j: () => stepBy(1), k: () => stepBy(-1),
        ...(isGrid || rowsBox.contains(event.target) ? { ArrowDown: () => stepBy(1), ArrowUp: () => stepBy(-1),
          Home: () => toEnd(-Infinity), End: () => toEnd(Infinity), PageDown: () => stepBy(8), PageUp: () => stepBy(-8) } : {}),
        ...(isGrid ? { ArrowRight: () => stepCell(0, 1), ArrowLeft: () => stepCell(0, -1) } : {}),
      }),
  };
  if (!Object.hasOwn(acts, event.key)) return;
  event.preventDefault();
  acts[event.key]();
}

async function start() {
  for (const table of document.querySelectorAll("table.sortable")) makeSortable(table);
  for (const box of document.querySelectorAll(".scroll, .picture")) showEdges(box);
  startColumns();
  await loadIndex();
  field("help-button").addEventListener("click", () => help.showModal());
  field("help-close").addEventListener("click", () => help.close());
  for (const table of document.querySelectorAll("table.flips[data-name]")) linkFlips(table);
  startFilters();
  startGrid();
  startRows();
  startTrial();
  startCopying();
  for (const [box, close] of [[dialog, closeTrial], [help, () => help.close()]]) {
    box.addEventListener("click", (event) => { if (event.target === box) close(); });
  }
  document.addEventListener("keydown", pressed);
  startAddress();
  showAddress();
  document.documentElement.dataset.ready = "yes"; // what comes after may take its time
  setTimeout(() => {
    startConfusions();
    showAddress();
    seekPlace(address);
    showGone();
  });
}

start().catch((error) => {
  for (const part of document.querySelectorAll(".live")) part.hidden = true;
  const unshown = document.getElementById("unshown");
  unshown.hidden = false;
  unshown.textContent = typeof DecompressionStream === "undefined"
    ? "This browser is too old to unpack the trials: Chrome and Edge can from 80 on, Firefox from 113, Safari from 16.4. Everything above is complete without them."
    : `The trials cannot be shown: ${visible(error)}. Is the file complete?`;
  console.error(error);
});
