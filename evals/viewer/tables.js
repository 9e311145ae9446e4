// Tables that are sorted by a button in their head, and parts that scroll by themselves.

function makeSortable(table) {
  const heads = [...table.querySelectorAll("thead th")];
  heads.forEach((head, column) => {
    const label = head.querySelector(".head");
    if (!label) return;
    const button = el("button", { type: "button", title: label.getAttribute("title") });
    button.classList.toggle("key", label.classList.contains("key"));
    button.append(...label.childNodes);
    label.replaceWith(button);
    button.addEventListener("click", () => sortBy(table, heads, column));
  });
}

function sortBy(table, heads, column) {
  const head = heads[column];
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const orders = rows.map((row) => (row.cells[column].dataset.order ?? row.cells[column].textContent.trim()).replace(/^–$/, ""));
  const isText = orders.some((order) => order !== "" && Number.isNaN(Number(order)));
  // Figures are first asked for with the greatest on top, names and numbers of rows from the beginning.
  const begin = isText || head.classList.contains("number") ? "ascending" : "descending";
  const other = begin === "ascending" ? "descending" : "ascending";
  const way = head.getAttribute("aria-sort") === begin ? other : begin;
  const sign = way === "ascending" ? 1 : -1;
  const key = new Map(rows.map((row, place) => [row, orders[place]]));
  rows.sort((one, two) => {
    const [a, b] = [key.get(one), key.get(two)];
    if (a === "" || b === "") return (a === "") - (b === ""); // what is not known comes last, either way
    return sign * (isText ? a.localeCompare(b, "en", { numeric: true }) : Number(a) - Number(b));
  });
  body.append(...rows);
  heads.forEach((one) => one.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", way);
}

// Tells the style sheet at which edges a part goes on, and lets the keyboard into it where it does.
function showEdges(box) {
  const tell = () => {
    const right = box.scrollWidth - box.clientWidth;
    const below = box.scrollHeight - box.clientHeight;
    box.classList.toggle("more-right", box.scrollLeft < right - 1);
    box.classList.toggle("more-below", box.scrollTop < below - 1);
    if (right > 1 || below > 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  };
  box.addEventListener("scroll", tell, { passive: true });
  const sizes = new ResizeObserver(tell);
  for (const one of [box, ...box.children]) sizes.observe(one);
}
