"use strict";
(() => {
  // Follows one debate: what was said comes from the server ready to be shown, so nothing is put together here.
  const place = document.getElementById("live");
  const debate = place.dataset.debate;
  const base = `/debates/${encodeURIComponent(debate)}`;
  const source = new EventSource(`/v1${base}/events?text=true&after=${place.dataset.after}`);
  const writers = document.getElementById("writers");
  const writing = document.getElementById("writing");
  const texts = new Map();
  let due = 0;

  const fetched = async (name) => {
    const answer = await fetch(`${base}/${name}`, { headers: { Accept: "text/html" } });
    return answer.ok ? answer.text() : null;
  };
  const refresh = async () => {
    due = 0;
    const [said, asked] = await Promise.all([fetched("transcript"), fetched("asked")]);
    if (asked !== null) document.getElementById("asked").innerHTML = asked;
    if (said === null) return;
    const box = document.getElementById("said");
    const open = new Set([...box.querySelectorAll("details[open]")].map((one) => one.parentElement.id));
    const made = new DOMParser().parseFromString(said, "text/html");
    document.getElementById("standing").textContent = made.body.firstElementChild.dataset.standing;
    box.replaceChildren(...made.body.firstElementChild.childNodes);
    for (const one of box.querySelectorAll("details")) if (open.has(one.parentElement.id)) one.open = true;
  };
  const soon = () => { due = due || setTimeout(refresh, 250); };
  const tell = (words) => { document.getElementById("told").textContent = words; };

  const drop = (path) => {
    texts.get(path)?.box.remove();
    texts.delete(path);
    writing.hidden = texts.size === 0;
  };
  // The server reads an answer that is only half there; nothing of its notation comes here.
  const show = ({ path, seat, said }) => {
    if (!said) return;
    let one = texts.get(path);
    if (!one) {
      const box = document.createElement("div");
      const who = document.createElement("b");
      const words = document.createElement("p");
      box.className = `writer ${seat.startsWith("pro") ? "pro" : seat.startsWith("con") ? "con" : "judge"}`;
      who.textContent = path.replaceAll("/", " · ");
      box.append(who, words);
      one = { box, words };
      texts.set(path, one);
      writers.append(box);
    }
    const shown = document.createElement("span");
    shown.dir = "auto";
    shown.textContent = said;
    one.words.replaceChildren(shown);
    writing.hidden = false;
  };

  const on = (kind, act) => source.addEventListener(kind, (event) => act(JSON.parse(event.data)));
  for (const kind of ["DebateOpened", "DebateResumed", "BudgetReached", "DebateInterrupted", "ScoreGiven", "VoteCounted", "PenaltyGiven"]) on(kind, soon);
  // A worker lays its question to a person open a moment after it has written that it asks.
  on("TurnAsked", () => { soon(); setTimeout(soon, 2000); });
  on("TurnTaken", (event) => { drop(event.body.path); tell(`${event.body.seat} has spoken: ${event.body.phase}`); soon(); });
  on("Abstained", (event) => { drop(event.body.path); tell(`${event.body.seat} took no turn: ${event.body.phase}`); soon(); });
  on("AnswerRejected", (event) => { drop(event.body.path); soon(); });
  on("text", show);
  on("end", () => { source.close(); location.reload(); });
})();
