"use strict";
(() => {
  const data = document.getElementById("plots");
  const plots = data ? JSON.parse(data.textContent) : [];
  plots.forEach((plot, i) => { plot.x = plot.x || plots[i - 1].x; });
  const drawn = new Map();
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const shown = (value) => (value === null || value === undefined ? "" : String(Number(value.toPrecision(4))));

  const draw = (figure) => {
    const plot = plots[Number(figure.dataset.plot)];
    const place = figure.querySelector(".canvas");
    if (!plot || !window.uPlot || !place.clientWidth) return;
    drawn.get(figure)?.destroy();
    const soft = colour("--soft"), line = colour("--line");
    const axis = { stroke: soft, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "11px system-ui, sans-serif" };
    const marks = plot.marks || [];
    const options = {
      width: place.clientWidth,
      height: plot.height || 150,
      scales: { x: { time: Boolean(plot.time) }, y: { range: (u, low, high) => range(low, high, plot.zero !== false) } },
      cursor: { drag: { x: true, y: false } },
      legend: { show: true, live: true },
      axes: [{ ...axis }, { ...axis, size: 56 }],
      hooks: { draw: [(u) => drawMarks(u, marks)] },
      series: [
        { label: plot.time ? "at" : plot.xName || "x", ...(plot.time ? {} : { value: (u, v) => shown(v) }) },
        ...plot.lines.map((_, i) => ({
          label: plot.names[i] + (plot.unit ? " (" + plot.unit + ")" : ""),
          stroke: colour("--series-" + ((i % 4) + 1)),
          value: (u, v) => shown(v),
          width: 1.5,
          points: { show: plot.x.length < 40, size: 5 },
        })),
      ],
    };
    drawn.set(figure, new uPlot(options, [plot.x, ...plot.lines], place));
    place.querySelector("canvas").setAttribute("aria-hidden", "true");
  };

  // What a program used is read against nothing; a trend is read against itself.
  const range = (low, high, zero) => {
    if (low === null) return [0, 1];
    const pad = (high - low || Math.abs(high) || 1) * 0.08;
    return zero && low >= 0 ? [0, high + pad] : [low - pad, high + pad];
  };

  const drawMarks = (u, marks) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.strokeStyle = colour("--series-2");
    ctx.setLineDash([4, 4]);
    for (const mark of marks) {
      const x = u.valToPos(mark, "x", true);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  };

  // A table that is wider than the page is scrolled by keyboard too; one that is not needs no stop.
  const reachable = () => document.querySelectorAll(".scroll").forEach((box) => {
    if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  });
  reachable();
  document.addEventListener("toggle", reachable, true);

  const figures = [...document.querySelectorAll("figure.plot")];
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting && !drawn.has(entry.target)) draw(entry.target);
  }, { rootMargin: "200px" });
  figures.forEach((figure) => seen.observe(figure));
  const redraw = () => [...drawn.keys()].forEach(draw);
  let waiting;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(() => { redraw(); reachable(); }, 150); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

  // What is folded is not printed otherwise.
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
    figures.forEach(draw);
  });

  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") { target.open = true; target.scrollIntoView({ behavior: "instant" }); }
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
