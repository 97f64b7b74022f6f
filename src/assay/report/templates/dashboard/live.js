"use strict";
// Asks once a second how a running session is doing, and writes it where the page has it.
(() => {
  const follow = (card) => {
    const name = card.dataset.live;
    const find = (what) => card.querySelector("[data-" + what + "]");
    let ended = card.dataset.ended;
    const log = find("log"), followed = find("follow");
    followed.closest("label").hidden = false;
    const toEnd = () => { if (followed.checked) log.scrollTop = log.scrollHeight; };
    toEnd();
    followed.addEventListener("change", toEnd);
    // Who scrolls up to read is not pulled away; who comes back to the end follows again.
    log.addEventListener("scroll", () => {
      followed.checked = log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
    });

    const whole = document.getElementById("live");
    const reload = async () => {
      if (!whole) { location.reload(); return false; }
      const answer = await fetch(location.href);
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
      if (!fresh) return false;
      whole.replaceChildren(...fresh.childNodes);
      const next = whole.querySelector("[data-live]");
      if (next) follow(next);
      return false;
    };

    const show = (now) => {
      for (const [word, text] of Object.entries(now.words)) {
        card.querySelectorAll('[data-word="' + word + '"]').forEach((place) => { place.textContent = text || "–"; });
      }
      find("done").style.flexGrow = now.ended;
      find("rest").style.flexGrow = Math.max(0, now.total - now.ended);
      card.querySelector("[role=progressbar]").setAttribute("aria-valuenow", now.ended);
      find("entry").textContent = now.entry ? now.entry.name : "–";
      const said = now.entry ? now.entry.log : "";
      if (log.textContent !== said) {
        log.textContent = said;
        toEnd();
      }
    };

    const ask = async () => {
      try {
        const answer = await fetch("/live?name=" + encodeURIComponent(name));
        const now = await answer.json();
        if (now.status !== "running" || (whole && String(now.ended) !== ended)) return await reload();
        show(now);
      } catch (error) {
        // The server was stopped, or is busy: ask again.
      }
      setTimeout(ask, 1000);
      return true;
    };
    setTimeout(ask, 500);
  };
  document.querySelectorAll("[data-live]").forEach(follow);
})();
