"use strict";
(() => {
  // Where a link leads into something folded, it is unfolded; the same before printing.
  const unfold = (place) => {
    for (let box = place; box; box = box.parentElement) if (box.tagName === "DETAILS") box.open = true;
  };
  const arrive = () => {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!place) return;
    unfold(place);
    place.scrollIntoView();
    if (place.tabIndex >= -1 && place.hasAttribute("tabindex")) place.focus({ preventScroll: true });
  };
  addEventListener("hashchange", arrive);
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((box) => (box.open = true)));
  if (location.hash) arrive();
})();
