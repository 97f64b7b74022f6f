"use strict";
(() => {
  // A table that is wider than the page is scrolled by keyboard too; one that is not needs no stop.
  const reachable = () => document.querySelectorAll(".scroll").forEach((box) => {
    if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  });
  reachable();
  document.addEventListener("toggle", reachable, true);

  let waiting;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(reachable, 150); });

  // What is folded is not printed otherwise.
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
  });

  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (target.closest("details")) target.scrollIntoView({ behavior: "instant" });
  };
  addEventListener("hashchange", unfold);
  unfold();

  // Columns are sorted by `data-sort` where a cell has it, otherwise by what it says.
  document.querySelectorAll("table[data-sortable]").forEach((table) => {
    const body = table.tBodies[0], rows = [...body.rows];
    const value = (row, column) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
    const order = (a, b) => (isNaN(a) || isNaN(b) || a === "" || b === "" ? a.localeCompare(b) : a - b);
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (rows.some((row) => row.cells[column].querySelector("svg"))) return;
      // No <button>: where a table's head is repeated on the next sheet of paper, Chromium leaves buttons out.
      const button = document.createElement("span");
      button.setAttribute("role", "button");
      button.tabIndex = 0;
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        button.click();
      });
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        body.append(...rows.toSorted((a, b) => (down ? -1 : 1) * order(value(a, column), value(b, column))));
      });
    });
  });

  const filter = document.getElementById("filter");
  if (filter) {
    const count = document.getElementById("filter-count");
    const apply = () => {
      const wanted = filter.value.trim().toLowerCase();
      let shown = 0;
      document.querySelectorAll("[data-name]").forEach((item) => {
        item.hidden = !item.dataset.name.toLowerCase().includes(wanted);
        if (!item.hidden && item.tagName === "TR") shown += 1;
      });
      count.textContent = wanted ? shown + " shown" : "";
    };
    filter.addEventListener("input", apply);
    addEventListener("keydown", (event) => {
      if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
        event.preventDefault();
        filter.focus();
      }
    });
  }
  document.getElementById("unfold")?.addEventListener("click", (event) => {
    const open = event.target.getAttribute("aria-pressed") !== "true";
    event.target.setAttribute("aria-pressed", String(open));
    event.target.textContent = open ? "Fold all" : "Unfold all";
    document.querySelectorAll("details.entry").forEach((fold) => { fold.open = open; });
  });
})();
