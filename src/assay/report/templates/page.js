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
