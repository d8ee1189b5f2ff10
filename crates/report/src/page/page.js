// What the page can do with scripts beside its charts: sort tables, and change its theme. Without them all is there.
(() => {
  "use strict";
  const root = document.documentElement;
  const sheet = name => getComputedStyle(root).getPropertyValue(name).trim();

  // Tables: a click, or Enter on the focused head, sorts; again turns the order round.
  const key = cell => {
    const by = cell.dataset.by;
    return by === undefined ? null : Number(by);
  };
  const sort = (table, head, column) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const compare = (one, other) => {
      const [a, b] = [one.cells[column], other.cells[column]];
      const [x, y] = [key(a), key(b)];
      if (x !== null && y !== null) return down ? y - x : x - y;
      // What has no figure comes last in either order.
      if (x !== null || y !== null) return x === null ? 1 : -1;
      const order = a.textContent.localeCompare(b.textContent, "en", { numeric: true });
      return down ? -order : order;
    };
    body.append(...[...body.rows].sort(compare));
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.title = "Sort by " + head.textContent;
      button.addEventListener("click", () => sort(table, head, column));
      head.replaceChildren(button);
    });
  }

  // Theme: what the system says, until the button says something else.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const themed = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-pressed", String(isDark()));
  };
  button.hidden = false;
  button.setAttribute("aria-label", "Dark theme");
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    themed();
  });
  dark.addEventListener("change", themed);

  themed();
})();
