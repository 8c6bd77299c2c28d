"use strict";
(() => {
  // Light, dark, or what the system prefers. A file's storage may be refused.
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const stored = () => {
    try { return localStorage.getItem("sateen-theme"); } catch { return null; }
  };
  const show = theme => {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
    button.textContent = "Theme: " + (root.dataset.theme || "system");
  };
  const dark = () => root.dataset.theme
    ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  show(stored());
  button.hidden = false;
  button.addEventListener("click", () => {
    const next = dark() ? "light" : "dark";
    show(next);
    try { localStorage.setItem("sateen-theme", next); } catch { /* Not kept. */ }
  });

  // A cell's value: what the page says, or its text.
  const value = (row, index) => {
    const cell = row.cells[index];
    return cell ? (cell.dataset.v ?? cell.textContent) : "";
  };
  const number = text => {
    const n = parseFloat(text);
    return Number.isNaN(n) ? Infinity : n;
  };
  const sort = (table, head, index) => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const numeric = head.classList.contains("n");
    const body = table.tBodies[0];
    const keyed = Array.from(body.rows, row => {
      const text = value(row, index);
      return [numeric ? number(text) : text, row];
    });
    const words = new Intl.Collator("en", { numeric: true });
    const compare = numeric ? (a, b) => a - b : words.compare;
    // Cells without a number stay at the end in both directions.
    keyed.sort(([a], [b]) => {
      if (a === b) return 0;
      if (a === Infinity || b === Infinity) return a === Infinity ? 1 : -1;
      return up ? compare(a, b) : compare(b, a);
    });
    body.append(...keyed.map(([, row]) => row));
  };
  let searches = 0;
  const search = (table) => {
    const box = document.createElement("div");
    box.className = "search";
    const label = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("span");
    input.type = "search";
    input.id = "search" + searches++;
    label.htmlFor = input.id;
    label.textContent = "Search";
    count.className = "faint";
    count.setAttribute("role", "status");
    const rows = Array.from(table.tBodies[0].rows);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every(word => text.includes(word));
        if (!row.hidden) shown += 1;
      }
      count.textContent = words.length ? shown + " of " + rows.length + " rows" : "";
    });
    box.append(label, input, count);
    table.parentNode.before(box);
  };
  for (const table of document.querySelectorAll("table.sort")) {
    Array.from(table.tHead.rows[0].cells).forEach((head, index) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head, index));
      head.append(button);
    });
    if (table.dataset.long !== undefined) search(table);
  }
})();
