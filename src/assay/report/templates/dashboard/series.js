"use strict";
// A click chooses the nearest session; with a second one, what lies between the two is told. Enter does so by keyboard.
(() => {
  const figure = document.querySelector("figure.series"), place = document.getElementById("selection");
  const written = document.getElementById("points");
  if (!figure || !written || !place) return;
  const points = JSON.parse(written.textContent), [plot] = JSON.parse(document.getElementById("plots").textContent);
  const values = plot.lines[0].length === 1 ? plot.x.map(() => plot.lines[0][0]) : plot.lines[0];
  const root = figure.querySelector(".line-chart"), area = root.querySelector(".area"), svg = root.querySelector("svg");
  const [low, high] = root.dataset.x ? root.dataset.x.split(" ").map(Number) : [plot.x[0], plot.x[plot.x.length - 1]];
  const [bottom, top] = root.dataset.y.split(" ").map(Number);
  const published = document.querySelector("nav.site .published");
  let chosen = [];

  const element = (kind, text, parent, href) => {
    const made = document.createElement(kind);
    made.textContent = text;
    if (href) made.href = href;
    parent.append(made);
    return made;
  };
  const link = (parent, text, href) => (published ? element("b", text, parent) : element("a", text, parent, href));
  const told = (index) => String(values[index] === null ? "–" : Number(values[index].toPrecision(5))) + (points.unit ? " " + points.unit : "");
  const when = (x) => new Date(x * 1000).toISOString().slice(0, 16).replace("T", " ");
  const session = (parent, index) => {
    link(parent, points.sessions[index], "/session?name=" + encodeURIComponent(points.sessions[index]));
    parent.append(" " + when(plot.x[index]) + ", " + told(index));
    const commit = points.names[points.commits[index]];
    if (commit) { parent.append(", commit "); link(parent, commit, "/sessions?commit=" + commit); }
  };

  const show = () => {
    svg.querySelectorAll(".chosen").forEach((mark) => mark.remove());
    for (const index of chosen) {
      const mark = document.createElementNS(svg.namespaceURI, "path");
      mark.setAttribute("class", "chosen");
      const x = (plot.x[index] - low) / (high - low) * 1000, y = (1 - (values[index] - bottom) / (top - bottom)) * 1000;
      mark.setAttribute("d", "M" + x + " " + y + "h0");
      svg.append(mark);
    }
    place.replaceChildren();
    place.hidden = !chosen.length;
    for (const index of chosen) session(element("p", "", place), index);
    if (chosen.length < 2) {
      if (chosen.length) element("p", "Choose another session to see what lies between.", place).className = "soft small";
      return;
    }
    const [a, b] = chosen;
    const change = element("p", "", place);
    if (values[a] > 0 && values[b] > 0) change.append("Change: " + ((values[b] / values[a] - 1) * 100).toFixed(1) + "%. ");
    if (!published) element("a", "Compare the two sessions", change, "/compare?base=" + encodeURIComponent(points.sessions[a]) + "&head=" + encodeURIComponent(points.sessions[b]));
    const between = [...new Set(points.commits.slice(a + 1, b + 1))].filter((at) => at >= 0 && at !== points.commits[a]).map((at) => points.names[at]);
    const list = element("p", between.length + (between.length === 1 ? " commit" : " commits") + " measured after the first, up to the second" + (between.length ? ": " : ""), place);
    between.slice(0, 40).forEach((commit, i) => { if (i) list.append(", "); link(list, commit, "/sessions?commit=" + commit); });
    if (between.length > 40) list.append(" and " + (between.length - 40) + " more");
    points.environments.filter(([at]) => at > plot.x[a] && at <= plot.x[b]).slice(-10).forEach(([at, words]) => element("p", when(at) + ": " + words, place));
  };

  const choose = (index) => {
    chosen = chosen.length === 1 && chosen[0] !== index ? [chosen[0], index].sort((a, b) => a - b) : [index];
    const address = new URLSearchParams(location.search);
    ["from", "to"].forEach((key, i) => { if (chosen[i] === undefined) address.delete(key); else address.set(key, chosen[i]); });
    history.replaceState(null, "", "?" + address);
    show();
  };

  // The script of the chart says which value is under the pointer; its time is what stands last in the legend.
  const pointed = () => {
    const at = root.querySelector("p > :last-child b")?.textContent;
    if (!at) return -1;
    const seconds = Date.parse(at.replace(" ", "T") + "Z") / 1000;
    return plot.x.findIndex((x) => Math.abs(x - seconds) < .01);
  };
  let from = null;
  area.addEventListener("pointerdown", (event) => { from = event.clientX; }, true);
  area.addEventListener("click", (event) => {
    const index = from !== null && Math.abs(event.clientX - from) < 6 ? pointed() : -1;
    if (index >= 0) choose(index);
  });
  figure.addEventListener("keydown", (event) => {
    const index = event.key === "Enter" ? pointed() : -1;
    if (index >= 0) { choose(index); event.preventDefault(); }
  });
  const address = new URLSearchParams(location.search);
  chosen = ["from", "to"].filter((key) => address.has(key)).map((key) => Number(address.get(key)))
    .filter((index) => Number.isInteger(index) && index >= 0 && index < plot.x.length);
  if (chosen.length) show();
})();
