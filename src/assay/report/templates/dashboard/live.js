"use strict";
(() => {
  const place = document.getElementById("live");
  const name = place.dataset.session;
  let ended = place.dataset.ended;

  const reload = async () => {
    const answer = await fetch(location.href);
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
    if (fresh) place.replaceChildren(...fresh.childNodes);
  };

  const ask = async () => {
    try {
      const answer = await fetch("/live?name=" + encodeURIComponent(name));
      const now = await answer.json();
      if (now.status !== "running" || String(now.ended) !== ended) {
        ended = String(now.ended);
        await reload();
      }
      const log = document.getElementById("live-log");
      if (log && log.textContent !== now.log) {
        const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
        log.textContent = now.log;
        document.getElementById("live-entry").textContent = now.entry;
        if (atEnd) log.scrollTop = log.scrollHeight;
      }
      if (now.status !== "running") return;
    } catch (error) {
      // The server was stopped, or is busy: ask again.
    }
    setTimeout(ask, 1000);
  };
  setTimeout(ask, 500);
})();
