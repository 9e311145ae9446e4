// What is seen of the page is kept in its address: filters, sorting, columns, the open trial. A link shows the same.

let address = parseAddress(location.hash);
const parts = []; // of the page: { keys, show, shown }
const KEPT = /^(columns|confused|order-.*)$/; // are not changed by a link that does not name them

// `#arms` is a place in the page, `#kind=single&at=arms` what is seen of it and a place.
function parseAddress(hash) {
  const text = hash.slice(1);
  if (text.includes("=")) return Object.fromEntries(new URLSearchParams(text));
  try {
    return text ? { at: decodeURIComponent(text) } : {};
  } catch {
    return {};
  }
}

function formatAddress(values) {
  const kept = Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  if (kept.length === 1 && kept[0][0] === "at") return `#${encodeURIComponent(kept[0][1])}`;
  return `#${new URLSearchParams(kept.map(([key, value]) => [key, String(value)]))}`;
}

// The address with some changes, for a link.
const addressWith = (changes) => formatAddress({ ...address, at: "", ...changes });

// Changes the address, as a step for the Back button or in place of the current one, and shows what has changed.
function go(changes, how = "push") {
  visit({ ...address, at: "", ...changes }, how);
}

function visit(next, how) {
  const to = formatAddress(next);
  if (to !== formatAddress(address)) {
    if (how === "push") history.pushState({ opens: Boolean(next.trial) && !address.trial }, "", to);
    else history.replaceState(history.state, "", to);
  }
  address = next;
  showAddress();
}

// A part of the page that depends on some keys of the address: `show` is called when one of them has changed.
function showsAddress(keys, show) {
  parts.push({ keys, show, shown: null });
}

function showAddress() {
  for (const part of parts) {
    const wanted = JSON.stringify(part.keys.map((key) => address[key] ?? ""));
    if (wanted === part.shown) continue;
    part.shown = wanted;
    part.show();
  }
}

// Where a link leads: to a place, keeping all filters; or to a view, whose filters replace those there are.
function follow(hash) {
  const wanted = parseAddress(hash);
  if (Object.keys(wanted).join() === "at") visit({ ...address, trial: "", ...wanted }, "push");
  else {
    const next = { ...Object.fromEntries(Object.entries(address).filter(([key]) => KEPT.test(key))), ...wanted };
    visit({ ...next, trial: "" }, "push"); // so that closing the trial leads to where it is listed
    if (wanted.trial) visit(next, "push");
  }
  seekPlace(wanted);
}

// Scrolls to what the address is about, unfolded, and lets the keyboard go on from there.
function seekPlace(wanted) {
  if (wanted.trial) return;
  const isFiltered = Object.keys(wanted).some((key) => FILTERS.includes(key) || key === "view");
  const target = document.getElementById(wanted.at ?? (isFiltered ? "trials" : ""));
  if (!target) return;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target.scrollIntoView();
  if (!target.matches("a, button, input, select, summary, [tabindex]")) target.tabIndex = -1;
  target.focus({ preventScroll: true });
}

function clicked(event) {
  const link = event.target instanceof Element ? event.target.closest("a[href^='#']") : null;
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (link.classList.contains("skip")) document.getElementById("content").focus();
  else follow(link.getAttribute("href"));
}

function startAddress() {
  document.addEventListener("click", clicked);
  window.addEventListener("hashchange", () => { address = parseAddress(location.hash); showAddress(); });
}
