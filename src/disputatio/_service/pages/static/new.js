"use strict";
(() => {
  // Says below the form what the debate would take, each time something in it has changed.
  const form = document.querySelector("form[data-estimate]");
  const line = document.getElementById("cost");
  let asked = null, soon = 0;
  const ask = async () => {
    asked?.abort();
    asked = new AbortController();
    try {
      const answer = await fetch(form.dataset.estimate, { method: "POST", body: new FormData(form), signal: asked.signal });
      line.textContent = answer.redirected ? "" : await answer.text();
    } catch { /* the next change asks again */ }
  };
  form.addEventListener("input", () => { clearTimeout(soon); soon = setTimeout(ask, 800); });
  if (document.getElementById("motion").value.trim()) ask();
})();
