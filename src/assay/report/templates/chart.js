"use strict";
// Charts are drawn when the page is made. This tells the values under the pointer, and looks closer.
(() => {
  const data = document.getElementById("plots");
  const plots = data ? JSON.parse(data.textContent) : [];
  plots.forEach((plot, i) => {
    plot.x = plot.x || plots[i - 1].x;
    plot.lines = plot.lines.map((line) => (line.length === 1 ? plot.x.map(() => line[0]) : line));
  });

  const SIDE = 1000, CLOSEST = 1000, DOTS_BELOW = 30, DAY = 86400;
  const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
  const STEPS = [.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800,
    3600, 7200, 10800, 21600, 43200, DAY, 2 * DAY, 7 * DAY, 14 * DAY];

  // Ticks as svg/linear_ticks.py and svg/time_ticks.py have them: [where, label, second line].
  const multiples = (low, high, step, most, written, start = 0) => {
    const first = Math.ceil((low - start) / step - 1e-9);
    return Array.from({ length: most + 2 }, (_, i) => start + (first + i) * step)
      .filter((at) => at <= high + step * 1e-9).map((at) => [at, ...written(at)]);
  };

  const linear = (low, high, most) => {
    const raw = (high - low) / most, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * (1 - 1e-9));
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const plain = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    const short = digits < 8 && Math.max(Math.abs(low), Math.abs(high)) < 1e10;
    return multiples(low, high, step, most, (at) =>
      [(short ? (at + 0).toLocaleString("en", plain) : String(Number(at.toPrecision(15)))).replace(/^-/, "−")]);
  };

  const time = (low, high, most) => {
    if (low < -6e10 || high > 2e11) return linear(low, high, most);
    const raw = (high - low) / most;
    const step = STEPS.find((s) => s >= raw);
    const day = (at) => at.getUTCDate() + " " + MONTHS[at.getUTCMonth()];
    if (step) return multiples(low, high, step, most, (seconds) => {
      const at = new Date(Math.round(seconds * 1000));
      if (step >= DAY) return [day(at), String(at.getUTCFullYear())];
      return [at.toISOString().slice(11, step < 1 ? 23 : step < 60 ? 19 : 16), day(at) + " " + at.getUTCFullYear()];
    }, step % (7 * DAY) ? 0 : 4 * DAY);
    const months = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200].find((m) => m * 30.4 * DAY >= raw) || 12000;
    const from = new Date(low * 1000), found = [];
    for (let n = Math.floor((from.getUTCFullYear() * 12 + from.getUTCMonth()) / months) * months; ; n += months) {
      const at = new Date(0).setUTCFullYear(Math.floor(n / 12), n % 12, 1) / 1000;
      if (at > high) return found;
      if (at >= low) found.push([at, ...(months < 12 ? [MONTHS[n % 12], String(Math.floor(n / 12))] : [String(n / 12)])]);
    }
  };

  const element = (kind, name, parent) => {
    const made = document.createElement(kind);
    made.className = name;
    parent?.append(made);
    return made;
  };

  const alive = (figure) => {
    const plot = plots[Number(figure.dataset.plot)];
    const root = figure.querySelector(".line-chart");
    if (!plot || !root || !plot.x.length) return;
    const area = root.querySelector(".area"), svg = root.querySelector("svg"), legend = root.querySelector("p");
    const row = root.querySelector(".x"), lines = [...svg.querySelectorAll("g")];
    const places = [...legend.children].map((words) => { words.append(" "); return element("b", "", words); });
    const drawn = { kind: root.className, labels: [...row.children] };
    const [low, high] = root.dataset.x ? root.dataset.x.split(" ").map(Number) : [plot.x[0], plot.x[plot.x.length - 1]];
    const [bottom, top] = root.dataset.y.split(" ").map(Number);
    const pointer = element("div", "pointer", area), band = element("div", "band", area);
    let view = [low, high], at = -1, from = null;
    pointer.hidden = band.hidden = true;

    const share = (x, [a, b] = view) => (x - a) / (b - a);
    const inside = (x) => x >= view[0] && x <= view[1];
    const told = (value) => (value === null ? "–" : String(value));
    const when = (x) => {
      const date = new Date(x * 1000);
      return !plot.time || isNaN(date) ? String(x) : date.toISOString().replace("T", " ").replace(/(\.000)?Z$/, "");
    };

    const show = (index, aloud) => {
      at = index;
      const there = index >= 0 && inside(plot.x[index]);
      pointer.hidden = !there;
      if (there) pointer.style.left = share(plot.x[index]) * 100 + "%";
      legend.setAttribute("aria-live", aloud ? "polite" : "off");
      const texts = there ? [...plot.lines.map((line) => told(line[index])), when(plot.x[index])] : [];
      places.forEach((place, i) => { place.textContent = texts[i] ?? ""; });
    };

    const nearest = (x) => {
      let a = 0, b = plot.x.length - 1;
      while (b - a > 1) { const middle = (a + b) >> 1; if (plot.x[middle] <= x) a = middle; else b = middle; }
      return Math.abs(plot.x[a] - x) <= Math.abs(plot.x[b] - x) ? a : b;
    };

    // Looked at closer, lines are drawn from the values again, so that they are exact there too.
    const redrawn = () => {
      const first = plot.x.findIndex((x) => x >= view[0]) - 1, end = plot.x.findIndex((x) => x > view[1]);
      return plot.lines.map((values) => {
        const there = (n) => values[n] !== null && values[n] !== undefined;
        let line = "", dots = "";
        for (let n = Math.max(0, first); n <= (end < 0 ? plot.x.length - 1 : end); n += 1) {
          if (!there(n)) continue;
          const place = share(plot.x[n], [low, high]) * SIDE + " " + (1 - share(values[n], [bottom, top])) * SIDE;
          line += (line && there(n - 1) ? "L" : "M") + place;
          if (plot.x.length < DOTS_BELOW || !(there(n - 1) || there(n + 1))) dots += "M" + place + "h0";
        }
        const group = document.createElementNS(svg.namespaceURI, "g");
        for (const [kind, path] of [["", line], ["dots", dots]]) {
          const made = document.createElementNS(svg.namespaceURI, "path");
          made.setAttribute("class", kind);
          made.setAttribute("d", path);
          group.append(made);
        }
        return group;
      });
    };

    // As many labels as there is room for.
    const label = () => {
      for (let most = Math.min(8, Math.max(2, Math.floor(area.clientWidth / 45))); most > 1; most -= 1) {
        const ticks = (plot.time ? time : linear)(...view, most);
        const once = new Set(ticks.map((tick) => tick[2])).size === 1;
        row.replaceChildren(...ticks.map(([x, text, under], i) => {
          const left = share(x) * area.clientWidth;
          const made = element("i", area.clientWidth - left < 40 ? "end" : left < 20 ? "start" : "");
          made.style.left = share(x) * 100 + "%";
          made.append(text);
          if (under && !(once && i)) made.append(element("br", ""), under);
          return made;
        }));
        root.classList.toggle("dated", ticks.some((tick) => tick[2]));
        const boxes = [...row.children].map((made) => made.getBoundingClientRect());
        if (boxes.every((box, i) => !i || box.left >= boxes[i - 1].right + 8)) return;
      }
    };

    const look = (a, b) => {
      const width = Math.min(high - low, Math.max(b - a, (high - low) / CLOSEST));
      const start = Math.max(low, Math.min(high - width, (a + b - width) / 2));
      view = [start, start + width];
      svg.setAttribute("viewBox", [share(start, [low, high]) * SIDE, 0, width / (high - low) * SIDE, SIDE].join(" "));
      root.className = drawn.kind;
      row.replaceChildren(...drawn.labels);
      svg.querySelectorAll("g").forEach((line) => line.remove());
      const whole = width >= high - low;
      svg.append(...(whole || !isFinite(top - bottom) ? lines : redrawn()));
      root.classList.toggle("zoomed", !whole);
      if (!whole) label();
      show(at);
    };

    const under = (event) => {
      const box = svg.getBoundingClientRect();
      return view[0] + Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * (view[1] - view[0]);
    };
    area.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse" || event.button) return;
      from = { x: under(event), pixels: event.clientX };
      area.setPointerCapture(event.pointerId);
    });
    area.addEventListener("pointermove", (event) => {
      const x = under(event);
      show(nearest(x));
      band.hidden = !from || Math.abs(event.clientX - from.pixels) < 6;
      if (band.hidden) return;
      band.style.left = share(Math.min(x, from.x)) * 100 + "%";
      band.style.width = Math.abs(share(x) - share(from.x)) * 100 + "%";
    });
    area.addEventListener("pointerup", (event) => {
      if (from && !band.hidden) look(Math.min(from.x, under(event)), Math.max(from.x, under(event)));
      from = null;
      band.hidden = true;
    });
    area.addEventListener("pointercancel", () => { from = null; band.hidden = true; });
    area.addEventListener("pointerleave", () => { if (!from) show(-1); });
    area.addEventListener("dblclick", () => look(low, high));

    const last = plot.x.length - 1;
    const keys = {
      ArrowLeft: () => Math.max(0, at < 0 ? last : at - 1), ArrowRight: () => Math.min(last, at + 1), Home: () => 0, End: () => last,
    };
    figure.tabIndex = 0;
    figure.setAttribute("aria-keyshortcuts", "ArrowLeft ArrowRight Home End + - Escape");
    legend.setAttribute("aria-atomic", "true");
    figure.addEventListener("keydown", (event) => {
      const middle = at < 0 ? (view[0] + view[1]) / 2 : plot.x[at], width = view[1] - view[0];
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (keys[event.key]) {
        const index = keys[event.key](), x = plot.x[index];
        if (!inside(x)) look(x - width / 2, x + width / 2);
        show(index, true);
      } else if (event.key === "+") look(middle - width / 4, middle + width / 4);
      else if (event.key === "-") look(middle - width, middle + width);
      else if (event.key === "Escape") { look(low, high); show(-1); }
      else return;
      event.preventDefault();
    });
    figure.addEventListener("blur", () => show(-1));
    addEventListener("resize", () => { if (view[1] - view[0] < high - low) label(); });
  };

  document.querySelectorAll("figure.plot").forEach(alive);
  document.querySelectorAll("[data-scripted]").forEach((words) => { words.hidden = false; });
})();
