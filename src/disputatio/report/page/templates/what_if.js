"use strict";
// The rules by which standings are computed, as disputatio.report.page.what_if has them. Every number is an exact fraction.
globalThis.whatIf = (() => {
  const gcd = (a, b) => { while (b) [a, b] = [b, a % b]; return a < 0n ? -a : a; };
  const fraction = (n, d = 1n) => { const by = gcd(n, d) || 1n; return { n: n / by, d: d / by }; };
  const text = (value) => (value === null ? null : `${value.n}/${value.d}`);
  const ZERO = fraction(0n), ONE = fraction(1n), HALF = fraction(1n, 2n);
  const minus = (a, b) => fraction(a.n * b.d - b.n * a.d, a.d * b.d);
  const plus = (a, b) => (a.d === b.d ? fraction(a.n + b.n, a.d) : fraction(a.n * b.d + b.n * a.d, a.d * b.d));
  const times = (a, b) => fraction(a.n * b.n, a.d * b.d);
  const below = (a, b) => a.n * b.d < b.n * a.d;

  // Half up, as disputatio.judging.scoring.rounded; a text with so many decimals.
  const rounded = (value, places) => {
    const scale = 10n ** BigInt(places), negative = value.n < 0n, size = negative ? -value.n : value.n;
    const whole = (2n * size * scale + value.d) / (2n * value.d);
    const digits = whole.toString().padStart(places + 1, "0");
    const shown = places ? `${digits.slice(0, -places)}.${digits.slice(-places)}` : digits;
    return negative && whole ? `-${shown}` : shown;
  };
  const mean = (values) => {
    if (!values.length) return null;
    const sum = values.reduce(plus, ZERO);
    return fraction(sum.n, sum.d * BigInt(values.length));
  };

  // The grounded labelling of an argumentation framework: in, out or undecided for every node.
  const groundedLabelling = (nodes, attacks) => {
    const labels = new Map(nodes.map((node) => [node, "undecided"]));
    const attackers = new Map(nodes.map((node) => [node, []]));
    for (const [attacker, target] of attacks) attackers.get(target).push(attacker);
    for (let changed = true; changed; ) {
      changed = false;
      for (const [node, label] of labels) {
        if (label !== "undecided") continue;
        const sources = attackers.get(node).map((attacker) => labels.get(attacker));
        if (sources.every((source) => source === "out")) labels.set(node, "in");
        else if (sources.includes("in")) labels.set(node, "out");
        else continue;
        changed = true;
      }
    }
    return labels;
  };

  const aggregate = (values) => minus(ONE, values.reduce((left, value) => times(left, minus(ONE, value)), ONE));
  const combine = (base, attack, support) => below(attack, support)
    ? plus(base, times(minus(ONE, base), minus(support, attack)))
    : minus(base, times(base, minus(attack, support)));
  // The DF-QuAD strengths of an acyclic graph, from its base scores.
  const strengths = (bases, attacks, supports) => {
    const into = (edges) => {
      const found = new Map([...bases.keys()].map((node) => [node, []]));
      for (const [source, target] of edges) found.get(target).push(source);
      return found;
    };
    const attackers = into(attacks), supporters = into(supports), found = new Map();
    const strengthOf = (node) => {
      if (!found.has(node)) {
        const [attack, support] = [attackers, supporters].map((rows) => aggregate(rows.get(node).map(strengthOf)));
        found.set(node, combine(bases.get(node), attack, support));
      }
      return found.get(node);
    };
    for (const node of bases.keys()) strengthOf(node);
    return found;
  };

  const hasAnswer = (reply) => reply.answered && reply.mark !== "evaded";
  const unmet = (replies) => (replies.every((reply) => reply.answered) ? "was evaded" : "went unanswered");
  const TARGETS = { refute: ["core", "rest"], challenge: ["core", "rest"], partial: ["rest"], concede: [] };
  const framework = (replies) => {
    const nodes = ["core", "rest"], attacks = [];
    replies.forEach((reply, number) => {
      const against = TARGETS[reply.kind].map((target) => [target, `response-${number}-${target}`]);
      for (const [target, response] of against) { nodes.push(response); attacks.push([response, target]); }
      if (!hasAnswer(reply)) return;
      const answer = `answer-${number}`;
      nodes.push(answer);
      for (const [target, response] of against) {
        if (reply.mark === "partly_met" && target !== "core") continue;
        attacks.push([answer, response]);
        if (reply.mark === "unmarked" || (reply.mark === null && reply.kind === "refute")) {
          attacks.push([response, answer]);
        }
      }
    });
    return [nodes, attacks];
  };
  const computedStanding = (replies, hold) => {
    if (hold === "withdrawn") return ["REFUTED", "its own side withdrew it"];
    if (!replies.length) return ["UNCERTAIN", "the other side never responded to it"];
    const labels = groundedLabelling(...framework(replies)), core = labels.get("core"), rest = labels.get("rest");
    const open = replies.filter((reply) => !hasAnswer(reply));
    const refuting = open.filter((reply) => reply.kind === "refute");
    const marked = (mark) => replies.some((reply) => reply.mark === mark);
    if (core === "undecided") {
      return ["UNCERTAIN", marked("unmarked") ? "no judge said whether the answers meet the questions"
        : "a refutation was answered and neither prevails"];
    }
    if (core === "out") {
      return refuting.length ? ["REFUTED", `a refutation ${unmet(refuting)}`]
        : ["UNCERTAIN", `a challenge to its evidence ${unmet(open)}`];
    }
    if (hold === "narrowed") return ["PARTIALLY_UPHELD", "its own side narrowed it"];
    if (rest !== "in") {
      return ["PARTIALLY_UPHELD", marked("partly_met") ? "an objection was met in part"
        : "its degree or scope was disputed and not defended"];
    }
    if (replies.every((reply) => reply.kind === "concede")) return ["UPHELD", "the other side conceded it"];
    const judged = replies.some((reply) => reply.mark !== null);
    return ["UPHELD", judged ? "every objection was met" : "every objection was answered"];
  };

  const FORCE = { refute: HALF, challenge: HALF, partial: fraction(1n, 4n), concede: HALF };
  const DEFENCE = { met: ONE, partly_met: HALF, evaded: ZERO, unmarked: HALF, null: HALF };
  const exchangeStrength = (replies, hold) => {
    if (hold === "withdrawn") return ZERO;
    const bases = new Map([["argument", HALF]]), attacks = [], supports = [];
    replies.forEach((reply, number) => {
      const response = `response-${number}`, answer = `answer-${number}`;
      bases.set(response, FORCE[reply.kind]);
      (reply.kind === "concede" ? supports : attacks).push([response, "argument"]);
      if (reply.answered && reply.kind !== "concede") {
        bases.set(answer, DEFENCE[reply.mark]);
        attacks.push([answer, response]);
      }
    });
    return strengths(bases, attacks, supports).get("argument");
  };

  // Few exchanges differ in anything but their words.
  const known = new Map();
  const exchange = (replies, hold) => {
    const rows = replies.map(({ kind, answered, mark }) => ({ kind, answered, mark }));
    const key = JSON.stringify([rows, hold]);
    if (!known.has(key)) known.set(key, [...computedStanding(rows, hold), exchangeStrength(rows, hold)]);
    return known.get(key);
  };

  const left = (quotes, gone) => quotes.filter((row) => !gone.has(row.id));
  const SOUND = new Set(["verified", "repaired", "inferred"]);
  const inMarket = (node, gone) => {
    const rows = node.drew.filter((row) => !gone.has(row.id));
    const sound = rows.map((row) => left(row.quotes, gone).every((quote) => SOUND.has(quote.status)));
    let [standing, because, strength] = exchange(rows.filter((_, place) => sound[place]), node.hold);
    if (standing === "PARTIALLY_UPHELD") standing = "WEAKENED";
    if (sound.length && !sound.includes(true) && standing === "UNCERTAIN") {
      [standing, because] = ["UPHELD", "all that was said against it rests on what the base does not say"];
    }
    const statuses = left(node.quotes, gone).map((quote) => quote.status);
    const count = (status) => statuses.filter((each) => each === status).length;
    const verified = count("verified"), wrong = statuses.length - verified - count("inferred");
    if (wrong && !verified) [standing, because] = ["REFUTED", "the knowledge base bears out none of its figures"];
    else if (standing === "UPHELD" && (wrong || node.has_false_words)) {
      [standing, because] = ["WEAKENED", "the knowledge base does not bear out all that it says"];
    } else if (standing === "UPHELD" && !verified) {
      [standing, because] = ["WEAKENED", "it rests on inferences alone"];
    }
    return { computed: standing, because, strength, judged: node.judged };
  };

  const computedOfCriticism = (kind) => {
    if (kind === null) return ["UPHELD", "nobody answered it"];
    if (kind === "concede") return ["UPHELD", "the rebuttal conceded it"];
    if (kind === "partial") return ["PARTIALLY_UPHELD", "the rebuttal accepted it in part"];
    return ["UNCERTAIN", "the rebuttal contests it, and the critic has no further word"];
  };
  const standingUnder = (rows) => {
    if (!rows.length) return ["UPHELD", "no criticism that stands aims at it"];
    const having = (wanted) => rows.filter(([, standing]) => standing === wanted).map(([row]) => row);
    const upheld = having("UPHELD"), partly = having("PARTIALLY_UPHELD"), open = having("UNCERTAIN");
    const fatal = upheld.filter((row) => ["misread_evidence", "hidden_assumption"].includes(row.attack));
    const names = (found) => found.map((row) => row.id).join(", ");
    if (fatal.length) return ["REFUTED", `${names(fatal)} stands and takes away what it rests on`];
    if (upheld.length) return ["PARTIALLY_UPHELD", `${names(upheld)} stands beside it`];
    if (partly.length) return ["PARTIALLY_UPHELD", `${partly[0].id} holds in part`];
    return open.length ? ["UNCERTAIN", `${open[0].id} is contested`] : ["UPHELD", "every criticism of it was met"];
  };
  const without = (computed, because) => ({ computed, because, strength: null, judged: null });
  const outOfReview = (node, gone) => {
    if (gone.has(node.id)) return without("STRUCK", "you struck it");
    if (node.computed === "VOID") return without("VOID", "the rules of the debate struck it");
    const uncited = node.rests_on_evidence && !left(node.quotes, gone).length;
    return uncited ? without("VOID", "uncited evidence: it says that it rests on evidence and cites none") : null;
  };
  const review = (graph, gone) => {
    const out = new Map(graph.nodes.map((node) => [node.id, outOfReview(node, gone)]));
    const computed = new Map(), aiming = new Map();
    for (const node of graph.nodes) {
      if (!node.target || out.get(node.id)) continue;
      const answers = node.drew.filter((row) => !gone.has(row.id));
      computed.set(node.id, computedOfCriticism(answers.length ? answers[0].kind : null));
      aiming.set(node.target, [...(aiming.get(node.target) ?? []), node]);
    }
    const found = new Map();
    for (const node of graph.nodes) {
      const against = aiming.get(node.id) ?? [];
      if (out.get(node.id)) found.set(node.id, out.get(node.id));
      else if (node.target) {
        const [standing, because] = computed.get(node.id);
        found.set(node.id, { computed: standing, because, strength: null, judged: node.judged });
      } else {
        const [standing, because] = standingUnder(against.map((row) => [row, computed.get(row.id)[0]]));
        const settled = against.filter((row) => row.judged !== null).map((row) => [row, row.judged]);
        const judged = node.judged === null ? null : standingUnder(settled)[0];
        found.set(node.id, { computed: standing, because, strength: null, judged });
      }
    }
    return found;
  };
  const exchanges = (graph, gone) => new Map(graph.nodes.map((node) => {
    if (gone.has(node.id)) return [node.id, without("STRUCK", "you struck it")];
    if (graph.family === "market") return [node.id, inMarket(node, gone)];
    const [computed, because, strength] = exchange(node.drew.filter((row) => !gone.has(row.id)), node.hold);
    return [node.id, { computed, because, strength, judged: node.judged }];
  }));

  const differs = (row) => row.judged !== null && row.judged !== row.computed;
  const recompute = (graph, struck) => {
    const gone = new Set(struck);
    const found = graph.family === "review" ? review(graph, gone) : exchanges(graph, gone);
    const scores = new Map(graph.nodes.map((node) => [node.id, node.score]));
    const totals = new Map(Object.entries(graph.totals).map(([side, ids]) => {
      const counted = ids.filter((id) => !gone.has(id) && scores.get(id) !== null);
      return [side, mean(counted.map((id) => fraction(BigInt(scores.get(id)), 10000n)))];
    }));
    const agreedBefore = new Set(graph.agreed), quotes = new Map(), agreed = [];
    for (const node of graph.nodes) {
      const out = ["STRUCK", "VOID"].includes(found.get(node.id).computed);
      const conceded = node.drew.some((row) => row.kind === "concede" && !gone.has(row.id));
      if (agreedBefore.has(node.id) && !out && conceded) agreed.push(node.id);
      if (gone.has(node.id)) continue;
      const cited = [node.quotes, ...node.drew.filter((row) => !gone.has(row.id)).map((row) => row.quotes)];
      for (const quote of left(cited.flat(), gone)) quotes.set(quote.status, (quotes.get(quote.status) ?? 0) + 1);
    }
    const differing = [...found].filter(([, row]) => differs(row)).map(([id]) => id);
    return { arguments: found, totals, agreed, quotes, differing };
  };
  return Object.freeze({ fraction, text, rounded, groundedLabelling, strengths, computedStanding, recompute, differs });
})();

// The page: a reader strikes items of the map, and what follows from that is shown beside the record.
(() => {
  const held = document.getElementById("argument-graph");
  if (!held) return;
  const graph = JSON.parse(held.textContent), recorded = whatIf.recompute(graph, []);
  const SHOWN = 3, PREFIX = "#without=";
  const spoken = (word) => word.replaceAll("_", " ");
  const make = (tag, name, ...children) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.append(...children);
    return made;
  };
  const icon = (name) => {
    const drawn = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
    use.setAttribute("href", `#icon-${name}`);
    for (const [key, value] of [["class", `icon ${name}`], ["width", 15], ["height", 15], ["aria-hidden", "true"]]) {
      drawn.setAttribute(key, value);
    }
    drawn.append(use);
    return drawn;
  };
  const CLASSES = { UPHELD: "upheld", PARTIALLY_UPHELD: "partially_upheld", WEAKENED: "partially_upheld",
    REFUTED: "refuted", UNCERTAIN: "uncertain" };
  const classOf = (word) => CLASSES[word] ?? "other";
  const number = (value) => (value === null ? "none" : whatIf.rounded(value, 2));

  // What can be struck, by name, with the words for it and the argument that it belongs to.
  const items = new Map(), quotesOf = new Map();
  for (const node of graph.nodes) {
    const quotes = [], add = (rows, name) => rows.forEach((row) => quotes.push([row, name]));
    items.set(node.id, { owner: node.id });
    add(node.quotes, node.id);
    for (const row of node.drew) { items.set(row.id, { owner: node.id }); add(row.quotes, row.id); }
    for (const [row] of quotes) items.set(row.id, { owner: node.id });
    if (quotes.length) quotesOf.set(node.id, quotes);
  }
  const buttons = new Map(), boxes = new Map(), rows = new Map(), lists = new Map();
  const striker = (id, text) => {
    const button = make("button", "strike", text);
    button.type = "button";
    button.dataset.strike = id;
    button.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-label", `Strike ${id}`);
    button.title = `Strike ${id}: a what-if, not the record`;
    buttons.set(id, [...(buttons.get(id) ?? []), button]);
    return button;
  };
  const keep = (element) => element && { element, name: element.className, label: element.getAttribute("aria-label"),
    content: [...element.childNodes] };
  for (const place of document.querySelectorAll("[data-item]")) {
    const id = place.dataset.item;
    if (!items.has(id)) continue;
    if (place.matches("tr")) {
      rows.set(id, { row: place, cell: keep(place.querySelector(".computed")) });
    } else if (place.matches("li")) {
      place.append(striker(id, "×"));
    } else {
      boxes.set(id, { box: keep(place.querySelector(".node")), stood: keep(place.querySelector(".stood")) });
      place.classList.add("arguable");
      place.append(striker(id, "×"));
      const quotes = quotesOf.get(id);
      if (quotes) place.append(quoteList(quotes));
    }
  }
  function quoteList(quotes) {
    const list = make("ul");
    for (const [quote, about] of quotes) {
      const link = quote.place ? make("a", "", quote.text) : make("span", "", quote.text);
      if (quote.place) link.href = `#${quote.place}`;
      const row = make("li", "", `${about}, ${spoken(quote.status)}: `, link, " ", striker(quote.id, "strike"));
      row.dir = "auto";
      lists.set(quote.id, row);
      list.append(row);
    }
    const summary = make("summary", "", quotes.length === 1 ? "1 quote" : `${quotes.length} quotes`);
    return make("details", "quotes", summary, list);
  }

  const bar = make("section", "what-if");
  bar.hidden = true;
  bar.setAttribute("aria-labelledby", "what-if-title");
  const title = make("h2", "", "What-if, not the record");
  title.id = "what-if-title";
  const told = make("p", "told"), effects = make("ul"), status = make("p", "unseen"), acts = make("p", "acts");
  status.setAttribute("role", "status");
  const act = (text, work) => {
    const button = make("button", "", text);
    button.type = "button";
    button.addEventListener("click", work);
    acts.append(button);
  };
  let struck = [], shown = recorded, strangers = 0, expected = null;
  act("Undo", () => go(struck.slice(0, -1)));
  act("Reset", () => go([]));
  act("Copy link", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      say("The link is copied.");
    } catch {
      say("The browser does not let a page copy: the link is in the address bar.");
    }
  });
  const fork = held.dataset.fork ? make("a", "", "Ask again without these") : null;
  if (fork) acts.append(fork);
  bar.append(title, told, effects, acts);
  document.body.append(bar, status);
  const say = (text) => { status.textContent = text; };
  const intro = document.querySelector("#map .intro");
  intro?.append(" Strike an argument, a response or a quote with ×: standings are computed again at once. "
    + "That is a what-if, and changes nothing in the record.");

  const address = (place) => {
    const state = struck.length ? `${PREFIX}${struck.map(encodeURIComponent).join(",")}` : "";
    if (!state) return place ? `#${place}` : location.pathname + location.search;
    return place ? `${state}&at=${place}` : state;
  };
  const read = () => {
    if (!location.hash.startsWith(PREFIX)) return [];
    try {
      const names = location.hash.slice(PREFIX.length).split("&")[0].split(",").filter(Boolean).map(decodeURIComponent);
      const known = [...new Set(names)].filter((name) => items.has(name));
      strangers = new Set(names).size - known.length;
      return known;
    } catch {
      strangers = 1;
      return [];
    }
  };
  // A focus that the bar takes with it goes to what was struck last.
  const go = (next) => {
    const last = struck.at(-1), inside = bar.contains(document.activeElement);
    strangers = 0;
    struck = next;
    history.pushState(null, "", address(""));
    render();
    if (inside && bar.hidden) buttons.get(last)?.[0].focus();
  };
  const same = (one, other) => one === other || whatIf.text(one) === whatIf.text(other);
  const alike = (one, other) => one.computed === other.computed && one.because === other.because
    && one.judged === other.judged && same(one.strength, other.strength);
  const changed = (id) => !alike(recorded.arguments.get(id), shown.arguments.get(id));

  const restore = (kept) => {
    if (!kept) return;
    kept.element.className = kept.name;
    if (kept.label !== null) kept.element.setAttribute("aria-label", kept.label);
    kept.element.replaceChildren(...kept.content);
  };
  const inWords = (id) => {
    const before = recorded.arguments.get(id), now = shown.arguments.get(id);
    if (now.computed === "STRUCK") return "struck by you";
    const was = before.computed === now.computed ? "" : `, record ${spoken(before.computed)}`;
    const judge = whatIf.differs(now) ? `, differs from the judge: ${spoken(now.judged)}` : "";
    return `computed ${spoken(now.computed)}${was}${judge}`;
  };
  const paintBox = (id) => {
    const kept = boxes.get(id);
    if (!kept?.box) return;
    const { box, stood } = kept, now = shown.arguments.get(id);
    if (!changed(id)) {
      box.element.className = box.name;
      box.element.setAttribute("aria-label", box.label);
      box.element.closest(".exchange").classList.remove("gone");
      restore(stood);
      return;
    }
    const name = classOf(now.computed), plain = box.name.split(" ").filter((word) => !Object.values(CLASSES)
      .includes(word) && word !== "agreed");
    if (box.name.includes("agreed") && shown.agreed.includes(id)) plain.push("agreed");
    const out = now.computed === "STRUCK";
    box.element.className = [...plain, ...(out ? ["gone"] : [name, "again"])].join(" ");
    box.element.closest(".exchange").classList.toggle("gone", out);
    box.element.setAttribute("aria-label", `${box.label}; what-if: ${inWords(id)}`);
    stood?.element.replaceChildren(icon(name), make("span", "", make("b", "", "What-if: "), inWords(id)));
  };
  // What the first sections say of an argument, and of judge and computation, is of the record: the what-if stands after.
  const after = (line, text) => {
    line.querySelector(".now")?.remove();
    if (text) line.append(make("span", "why now", `What-if: ${text}.`));
  };
  const turns = new Map([...document.querySelectorAll("[data-turn]")].map((line) => [line.dataset.turn, line]));
  const differing = [...document.querySelectorAll(".sure li")].find((line) => / and computed standing (differ|agree) /
    .test(line.textContent));
  const paintRow = (id) => {
    const turn = turns.get(id);
    if (turn) after(turn, changed(id) ? inWords(id) : "");
    const kept = rows.get(id);
    if (!kept) return;
    const now = shown.arguments.get(id), again = changed(id);
    kept.row.classList.toggle("gone", now.computed === "STRUCK");
    kept.row.classList.toggle("differs", whatIf.differs(now));
    if (!again || !kept.cell) { restore(kept.cell); return; }
    const strength = now.strength === null ? "" : `; strength ${number(now.strength)}`;
    const before = recorded.arguments.get(id);
    const was = before.strength === null ? "" : `, strength ${number(before.strength)}`;
    const standing = make("span", `standing ${classOf(now.computed)}`, icon(classOf(now.computed)),
      spoken(now.computed));
    kept.cell.element.replaceChildren(standing, whatIf.differs(now) ? make("b", "differs", "differs") : "",
      make("span", "why", `What-if: ${now.because}${strength}. Record: ${spoken(before.computed)}${was}.`));
  };
  const paintItem = (id) => {
    const gone = painted.has(id);
    for (const button of buttons.get(id) ?? []) {
      button.setAttribute("aria-pressed", String(gone));
      const place = button.closest("li");
      if (place) place.classList.toggle("gone", gone);
    }
  };

  const several = (count, word) => (count === 1 ? `1 ${word}` : `${count} ${word}s`);
  const listed = (names) => names.slice(0, SHOWN).join(", ") + (names.length > SHOWN
    ? ` and ${names.length - SHOWN} more` : "");
  const quoted = (counts) => {
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
    return `${all}${all ? `, ${counts.get("verified") ?? 0} of them verified` : ""}`;
  };
  const followings = () => {
    const moved = graph.nodes.map((node) => node.id).filter((id) => {
      const [before, now] = [recorded, shown].map((row) => row.arguments.get(id).computed);
      return now !== before && now !== "STRUCK";
    });
    const found = [moved.length ? `Standing changed: ${listed(moved.map((id) => `${id} ${spoken(
      recorded.arguments.get(id).computed)} → ${spoken(shown.arguments.get(id).computed)}`))}.`
      : "No other standing changed."];
    const told = new Set([...moved, ...struck]);
    const stronger = graph.nodes.map((node) => node.id).filter((id) => !told.has(id)
      && !same(recorded.arguments.get(id).strength, shown.arguments.get(id).strength));
    if (stronger.length) {
      found.push(`Strength changed: ${listed(stronger.map((id) => `${id} ${number(recorded.arguments.get(id)
        .strength)} → ${number(shown.arguments.get(id).strength)}`))}.`);
    }
    const totals = [...shown.totals].filter(([side, total]) => !same(total, recorded.totals.get(side)));
    for (const [side, total] of totals) {
      found.push(`Mean score of ${spoken(side)}: ${number(recorded.totals.get(side))} → ${number(total)}.`);
    }
    if (shown.differing.join() !== recorded.differing.join()) {
      found.push(`Judge and computed standing differ on ${several(shown.differing.length, "argument")} `
        + `(record: ${recorded.differing.length}).`);
    }
    if (shown.agreed.length !== recorded.agreed.length) {
      found.push(`Agreed: ${several(shown.agreed.length, "point")} (record: ${recorded.agreed.length}).`);
    }
    const quotes = [recorded, shown].map((row) => quoted(row.quotes));
    if (quotes[0] !== quotes[1]) found.push(`Quotes: ${quotes[1]} (record: ${quotes[0]}).`);
    return found;
  };
  const sum = (side) => document.querySelector(`.map [data-side="${CSS.escape(side)}"] .sum`);
  const sums = new Map([...recorded.totals.keys()].map((side) => [side, keep(sum(side))]));

  const render = () => {
    const before = shown, paintedBefore = new Set(painted);
    shown = struck.length ? whatIf.recompute(graph, struck) : recorded;
    painted = new Set(struck);
    for (const id of new Set([...paintedBefore, ...painted])) paintItem(id);
    for (const [id, now] of shown.arguments) {
      if (alike(before.arguments.get(id), now)) continue;
      paintBox(id);
      paintRow(id);
    }
    for (const line of document.querySelectorAll("[data-agreed]")) {
      line.classList.toggle("gone", struck.length > 0 && !shown.agreed.includes(line.dataset.agreed));
    }
    for (const [side, kept] of sums) {
      if (!kept) continue;
      const total = shown.totals.get(side);
      if (same(total, recorded.totals.get(side))) restore(kept);
      else kept.element.replaceChildren(`what-if ${number(total)}`);
    }
    const parting = shown.differing.join() !== recorded.differing.join();
    if (differing) {
      after(differing, parting ? `they differ on ${several(shown.differing.length, "argument")}`
        + (shown.differing.length ? ` (${shown.differing.join(", ")})` : "") : "");
    }
    const waiting = !struck.length && !strangers;
    bar.hidden = waiting;
    document.documentElement.classList.toggle("arguing", !waiting);
    if (waiting) { if (before !== shown) say("Nothing is struck: the page shows the record."); return; }
    const lost = strangers ? ` ${several(strangers, "name")} in the address ${strangers === 1 ? "is" : "are"} `
      + "not in this debate." : "";
    told.replaceChildren(struck.length ? "Struck: " : "Nothing is struck.", listed(struck), lost || (struck.length
      ? "." : ""));
    const following = struck.length ? followings() : [];
    effects.replaceChildren(...following.map((row) => make("li", "", row)));
    if (fork) {
      fork.hidden = !struck.length;
      fork.href = `${held.dataset.fork}?${struck.map((id) => `strike=${encodeURIComponent(id)}`).join("&")}`;
    }
    say(`What-if, not the record. Struck: ${listed(struck) || "nothing"}. ${following[0] ?? ""}${lost}`);
  };
  let painted = new Set();

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-strike]");
    if (button) {
      const id = button.dataset.strike;
      go(struck.includes(id) ? struck.filter((each) => each !== id) : [...struck, id]);
      return;
    }
    const link = event.target.closest('a[href^="#"]');
    const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.button;
    if (link && struck.length && !elsewhere) expected = link.hash;
  });
  // A link within the page keeps what is struck; every other change of the address says what is.
  addEventListener("hashchange", () => {
    if (expected !== null && location.hash === expected) {
      history.replaceState(null, "", address(location.hash.slice(1)));
    } else {
      strangers = 0;
      struck = read();
      render();
    }
    expected = null;
  });
  struck = read();
  if (struck.length || strangers) render();
})();
