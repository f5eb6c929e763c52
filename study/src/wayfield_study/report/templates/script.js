// Filter and sort the table of all figures. Without this script the page shows all of them.
(() => {
  const table = document.getElementById("claims");
  if (!table) return;
  const body = table.tBodies[0], rows = [...body.rows];
  const controls = document.getElementById("controls");
  controls.hidden = false;
  const search = controls.querySelector("input");
  const buttons = [...controls.querySelectorAll("button")];
  const count = controls.querySelector("output");
  let mark = "";

  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = (mark && row.dataset.mark !== mark) || !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    count.textContent = `${shown} of ${rows.length}`;
  };
  for (const button of buttons) {
    button.addEventListener("click", () => {
      mark = button.dataset.mark;
      buttons.forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
      show();
    });
  }
  search.addEventListener("input", show);

  const key = (row, column) => {
    const cell = row.cells[column];
    if (!cell.classList.contains("num")) return cell.textContent;
    return "value" in cell.dataset ? Number(cell.dataset.value) : Infinity;
  };
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.tabIndex = 0;
    head.setAttribute("role", "button");
    const sort = () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b
        : String(a).localeCompare(String(b), undefined, { numeric: true }));
      rows.sort((a, b) => (down ? -1 : 1) * compare(key(a, column), key(b, column)));
      body.append(...rows);
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
  });
  show();
})();
