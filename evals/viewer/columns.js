// Which columns of the table of arms are seen. The style sheet hides the others, without a script, too.

function startColumns() {
  const boxes = [...document.querySelectorAll("[data-column]")];
  const read = () => boxes.filter((box) => box.checked).map((box) => box.dataset.column).join(".");
  for (const box of boxes) box.checked = box.defaultChecked; // a browser may remember another choice
  const atFirst = read();
  for (const box of boxes) box.addEventListener("change", () => go({ columns: read() === atFirst ? "" : read() || "none" }, "replace"));
  showsAddress(["columns"], () => {
    const wanted = (address.columns ?? "").split(".");
    for (const box of boxes) box.checked = address.columns ? wanted.includes(box.dataset.column) : box.defaultChecked;
  });
}
