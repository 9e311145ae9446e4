// Tables that are sorted by a button in their head.

function makeSortable(table) {
  const heads = [...table.querySelectorAll("thead th")];
  heads.forEach((head, column) => {
    const label = head.querySelector(".head");
    if (!label) return;
    const button = el("button", { type: "button", title: label.getAttribute("title") });
    button.append(...label.childNodes);
    label.replaceWith(button);
    button.addEventListener("click", () => sortBy(table, heads, column));
  });
}

function sortBy(table, heads, column) {
  const head = heads[column];
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const orders = rows.map((row) => row.cells[column].dataset.order ?? row.cells[column].textContent.trim());
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
