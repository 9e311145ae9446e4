// What happens when: the page opens, a key is pressed, the address changes.

const help = document.getElementById("help");

function isTyping(target) {
  return target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
}

function stepTrial(by) {
  const position = shown.indexOf(opened);
  const next = shown[position + by];
  if (position >= 0 && next !== undefined) replaceTrial(next);
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (isTyping(event.target)) {
    if (event.target.id !== "find") return;
    if (event.key === "Escape") { event.preventDefault(); state.find = event.target.value = ""; list(); event.target.blur(); }
    if (event.key === "ArrowDown" || event.key === "Enter") { event.preventDefault(); focusRow(); }
    return;
  }
  const isList = rowsBox.contains(event.target);
  const acts = {
    "?": () => help.showModal(),
    ...(dialog.open
      ? { j: () => stepTrial(1), k: () => stepTrial(-1), ArrowRight: () => stepTrial(1), ArrowLeft: () => stepTrial(-1) }
      : {
        // At once: a smooth way down would end where the first letter typed finds it.
        "/": () => { field("find").focus({ preventScroll: true }); field("find").select();
          field("find").closest("section").scrollIntoView({ behavior: "instant", block: "start" }); },
        j: () => step(1), k: () => step(-1),
        ...(isList ? { ArrowDown: () => step(1), ArrowUp: () => step(-1), Home: () => step(-Infinity), End: () => step(Infinity),
          PageDown: () => step(8), PageUp: () => step(-8) } : {}),
      }),
  };
  if (!Object.hasOwn(acts, event.key)) return;
  event.preventDefault();
  acts[event.key]();
}

async function start() {
  for (const table of document.querySelectorAll("table.sortable")) makeSortable(table);
  for (const box of document.querySelectorAll(".scroll, .picture")) showEdges(box);
  await loadIndex();
  document.getElementById("help-button").addEventListener("click", () => help.showModal());
  document.getElementById("help-close").addEventListener("click", () => help.close());
  startBrowser();
  startCopying();
  for (const table of document.querySelectorAll("table.flips[data-name]")) linkFlips(table);
  dialog.addEventListener("cancel", (event) => { event.preventDefault(); closeTrial(); });
  dialog.addEventListener("close", () => { if (opened !== null) closeTrial(); }); // a browser may not ask first
  for (const [box, close] of [[dialog, closeTrial], [help, () => help.close()]]) {
    box.addEventListener("click", (event) => { if (event.target === box) close(); });
  }
  document.getElementById("close").addEventListener("click", closeTrial);
  document.getElementById("previous").addEventListener("click", () => stepTrial(-1));
  document.getElementById("next").addEventListener("click", () => stepTrial(1));
  document.addEventListener("keydown", pressed);
  window.addEventListener("hashchange", (event) => {
    const was = new URL(event.oldURL).hash;
    if (location.hash.startsWith("#trial=") && !was.startsWith("#trial=")) isPushed = true;
    route();
  });
  route();
  document.documentElement.dataset.ready = "yes"; // what comes after may take its time
  setTimeout(() => {
    startConfusions();
    startFlips();
    // A part that a link leads to was not there when the browser looked for it.
    document.getElementById(location.hash.slice(1))?.closest(".live")?.scrollIntoView();
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
