"use strict";
(() => {
  // Keeps what is written in this browser until the turn is given, and counts its words.
  const form = document.querySelector("form[data-draft]");
  const key = `disputatio draft ${form.dataset.draft}`;
  const fields = () => [...form.querySelectorAll("textarea, input:not([type=hidden]), select")];
  const count = document.getElementById("count");
  const empty = fields().every((one) => !one.value);
  try {
    const kept = JSON.parse(localStorage.getItem(key) || "{}");
    if (empty) for (const one of fields()) if (kept[one.name]) {
      one.value = kept[one.name];
      for (let box = one.parentElement; box; box = box.parentElement) if (box.tagName === "DETAILS") box.open = true;
    }
  } catch { /* storage may be off */ }
  const tally = () => {
    const words = fields().filter((one) => one.tagName !== "SELECT").flatMap((one) => one.value.trim().split(/\s+/).filter(Boolean)).length;
    const most = Number(count.dataset.most);
    count.textContent = most ? `About ${words} of ${most} words` : `About ${words} words`;
    count.classList.toggle("over", most > 0 && words > most);
  };
  form.addEventListener("input", () => {
    tally();
    try { localStorage.setItem(key, JSON.stringify(Object.fromEntries(fields().map((one) => [one.name, one.value])))); } catch { /* storage may be off */ }
  });
  form.addEventListener("submit", () => { addEventListener("pagehide", () => { try { localStorage.removeItem(key); } catch { /* as above */ } }); });
  tally();
  document.getElementById("problem")?.focus();
})();
