"use strict";
(() => {
  // Where a link leads into something folded, it is unfolded; the same before printing.
  const unfold = (place) => {
    for (let box = place; box; box = box.parentElement) if (box.tagName === "DETAILS") box.open = true;
  };
  const decoded = (name) => {
    try { return decodeURIComponent(name); } catch { return name; }
  };
  const arrive = () => {
    // An address that says what is struck names its place behind that: "#without=PRO-1&at=trace".
    const name = location.hash.startsWith("#without=") ? location.hash.split("&at=")[1] ?? "" : location.hash.slice(1);
    const place = document.getElementById(decoded(name));
    if (!place) return;
    unfold(place);
    place.scrollIntoView();
    if (place.tabIndex >= -1 && place.hasAttribute("tabindex")) place.focus({ preventScroll: true });
  };
  // What scrolls within its box can be reached by keyboard.
  for (const box of document.querySelectorAll(".first .text")) box.tabIndex = box.classList.contains("long") ? 0 : -1;
  addEventListener("hashchange", arrive);
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((box) => (box.open = true)));
  if (location.hash) arrive();
})();
