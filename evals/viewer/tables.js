// Tables that are sorted by a button in their head, and parts that scroll by themselves.

function makeSortable(table) {
  const heads = [...table.querySelectorAll("thead th")];
  const rows = [...table.tBodies[0].rows];
  const key = `order-${table.id}`;
  heads.forEach((head, column) => {
    const label = head.querySelector(".head");
    if (!label) return;
    const button = el("button", { type: "button", title: label.getAttribute("title") });
    button.classList.toggle("key", label.classList.contains("key"));
    button.append(...label.childNodes);
    label.replaceWith(button);
    button.addEventListener("click", () => go({ [key]: `${column}.${nextWay(rows, head, column)}` }));
  });
  showsAddress([key], () => sortBy(table, heads, rows));
}

const orderOf = (row, column) => (row.cells[column].dataset.order ?? row.cells[column].textContent.trim()).replace(/^–$/, "");
const areTexts = (rows, column) => rows.some((row) => orderOf(row, column) !== "" && Number.isNaN(Number(orderOf(row, column))));

// Figures are first asked for with the greatest on top, names from the beginning.
function nextWay(rows, head, column) {
  const begin = areTexts(rows, column) ? "ascending" : "descending";
  const other = begin === "ascending" ? "descending" : "ascending";
  return head.getAttribute("aria-sort") === begin ? other : begin;
}

// By the column in the address, else in the order in which the rows came.
function sortBy(table, heads, rows) {
  const [column, way] = (address[`order-${table.id}`] ?? "").split(".");
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  const head = heads[Number(column)];
  if (!way || !head) {
    table.tBodies[0].append(...rows);
    return;
  }
  const isText = areTexts(rows, column);
  const sign = way === "ascending" ? 1 : -1;
  table.tBodies[0].append(...[...rows].sort((one, two) => {
    const [a, b] = [orderOf(one, column), orderOf(two, column)];
    if (a === "" || b === "") return (a === "") - (b === ""); // what is not known comes last, either way
    return sign * (isText ? a.localeCompare(b, "en", { numeric: true }) : Number(a) - Number(b));
  }));
  head.setAttribute("aria-sort", way === "ascending" ? "ascending" : "descending");
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
