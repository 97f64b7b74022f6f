"use strict";
// Filters the grid while somebody types, and keeps what is asked for in the address.
(() => {
  const form = document.getElementById("grid-filter"), grid = document.getElementById("grid");
  if (!form || !grid) return;
  const body = grid.tBodies[0], count = document.getElementById("grid-count");
  const files = (grid.dataset.more || "").split(" ").filter(Boolean);
  let whole = !files.length;
  const total = count.textContent.split(" of ")[1];

  // A published site has the rows of a large grid in several files: those behind the first are fetched when asked for.
  const more = async () => {
    whole = true;
    for (const file of files) {
      const page = new DOMParser().parseFromString(await (await fetch(file)).text(), "text/html");
      body.append(...page.querySelectorAll("#grid tbody tr"));
    }
    if (button) button.remove();
  };
  let button = null;
  if (files.length) {
    button = document.createElement("button");
    button.type = "button";
    button.textContent = "Show all " + total;
    button.addEventListener("click", () => more().then(apply));
    grid.parentElement.after(button);
  }

  const asked = () => Object.fromEntries(["name", "tag", "machine"].map((key) => [key, form.elements[key]?.value || ""]));
  const apply = () => {
    const { name, tag, machine } = asked(), wanted = name.trim().toLowerCase();
    let shown = 0;
    for (const row of body.rows) {
      if (row.dataset.name === undefined) continue;
      const words = [row.dataset.name, ...row.dataset.tags.split(" ")];
      row.hidden = !(words.some((word) => word.toLowerCase().includes(wanted))
        && (!tag || row.dataset.tags.split(" ").includes(tag)) && (!machine || row.dataset.machine === machine));
      if (!row.hidden) shown += 1;
    }
    count.textContent = shown + " of " + total;
  };
  const keep = () => {
    const address = new URLSearchParams(location.search);
    for (const [key, value] of Object.entries(asked())) { if (value) address.set(key, value); else address.delete(key); }
    address.delete("page");
    history.replaceState(null, "", address.size ? "?" + address : location.pathname);
  };

  const onServer = !grid.hasAttribute("data-more");
  const paged = document.querySelector("nav.pager");
  if (onServer && (paged || location.search)) {
    // Only some rows are here: the server filters.
    form.addEventListener("change", (event) => { if (event.target.name !== "name") form.requestSubmit(); });
    return;
  }
  form.querySelectorAll("[data-unscripted]").forEach((one) => { one.hidden = true; });
  const changed = () => { const ready = whole ? Promise.resolve() : more(); ready.then(() => { apply(); keep(); }); };
  form.addEventListener("input", (event) => {
    if (event.target.name === "metric") form.requestSubmit(); else changed();
  });
  form.addEventListener("submit", (event) => {
    if (onServer && event.submitter === null) return;
    event.preventDefault();
    changed();
  });
  if (!onServer && location.search) {
    const address = new URLSearchParams(location.search);
    for (const key of ["name", "tag", "machine"]) if (address.get(key) && form.elements[key]) form.elements[key].value = address.get(key);
    changed();
  }
})();
