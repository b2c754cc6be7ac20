"""The script of the page computes what Python computes, and a reader argues with the map by mouse, key and address."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from fractions import Fraction
from importlib.resources import files
from random import Random
from typing import Any

import pytest
from argument_graphs import graph_of, strikes
from staged_pages import page_of, report_of

from disputatio.judging.scoring import round_half_up
from disputatio.judging.standing import compute_strengths, grounded_labelling
from disputatio.report.page.argument_graph import ArgumentGraph
from disputatio.report.page.exchange import Exchange
from disputatio.report.page.what_if import WhatIf, recompute, what_if_graph

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here; on Debian: apt-get install chromium"),
]
SCRIPT = files("disputatio.report.page").joinpath("templates", "what_if.js").read_text("utf-8")
DEBATES = ("complete", "cited", "degraded", "truncated", "review", "market")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
        found = running.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield found
        found.close()


@pytest.fixture(scope="module")
def rules(browser) -> Any:
    """An empty page with the script, whose rules are asked without a debate."""
    page = browser.new_page()
    page.add_script_tag(content=SCRIPT)
    return page


def as_json(found: WhatIf) -> dict[str, Any]:
    """What Python found, as the script says it: every fraction exact."""

    def exact(value: Fraction | None) -> str | None:
        return None if value is None else f"{value.numerator}/{value.denominator}"

    return {
        "arguments": {
            name: [row.computed, row.because, exact(row.strength), row.judged, row.differs]
            for name, row in found.arguments.items()
        },
        "totals": {side: exact(total) for side, total in found.totals.items()},
        "agreed": list(found.agreed),
        "quotes": dict(found.quotes),
        "differing": list(found.differing),
    }


RECOMPUTE = """(cases) => cases.map(([graph, struck]) => {
  const found = whatIf.recompute(graph, struck);
  return {
    arguments: Object.fromEntries([...found.arguments].map(([id, row]) =>
      [id, [row.computed, row.because, whatIf.text(row.strength), row.judged, whatIf.differs(row)]])),
    totals: Object.fromEntries([...found.totals].map(([side, total]) => [side, whatIf.text(total)])),
    agreed: found.agreed, quotes: Object.fromEntries(found.quotes), differing: found.differing,
  };
})"""


def test_the_script_computes_what_python_computes_on_1000_graphs(rules) -> None:
    cases: list[tuple[ArgumentGraph, tuple[str, ...]]] = []
    for seed in range(1000):
        graph = graph_of(seed)
        cases.append((graph, strikes(graph, seed)))
    found = rules.evaluate(RECOMPUTE, [[graph.as_json(), list(struck)] for graph, struck in cases])
    for seed, ((graph, struck), row) in enumerate(zip(cases, found, strict=True)):
        assert row == as_json(recompute(graph, struck)), (seed, struck)


@pytest.mark.parametrize("name", DEBATES)
def test_it_does_so_on_debates_whatever_single_item_is_struck(rules, name) -> None:
    report = report_of(name)
    graph = what_if_graph(report, Exchange.of(report))
    assert graph is not None
    cases = [(), *((each,) for each in sorted(graph.ids)), tuple(sorted(graph.ids))]
    found = rules.evaluate(RECOMPUTE, [[graph.as_json(), list(struck)] for struck in cases])
    for struck, row in zip(cases, found, strict=True):
        assert row == as_json(recompute(graph, struck)), struck


def test_grounded_labelling_agrees_on_cyclic_graphs(rules) -> None:
    random = Random(5)
    cases = []
    for _ in range(500):
        nodes = [f"n{number}" for number in range(random.randrange(1, 12))]
        cases.append((nodes, [random.choices(nodes, k=2) for _ in range(random.randrange(3 * len(nodes)))]))
    found = rules.evaluate("rows => rows.map(([a, b]) => Object.fromEntries(whatIf.groundedLabelling(a, b)))", cases)
    for (nodes, attacks), row in zip(cases, found, strict=True):
        assert row == {node: label.value for node, label in grounded_labelling(nodes, attacks).items()}
    assert {label for row in found for label in row.values()} == {"in", "out", "undecided"}


def test_strengths_are_the_same_fractions_on_acyclic_graphs(rules) -> None:
    random = Random(6)
    cases = []
    for _ in range(300):
        size = random.randrange(1, 10)
        bases = [(f"n{number}", random.randrange(9), 8) for number in range(size)]
        pairs = [sorted(random.sample(range(size), 2)) for _ in range(random.randrange(2 * size)) if size > 1]
        edges: list[list[tuple[str, str]]] = [[], []]
        for low, high in pairs:
            edges[random.randrange(2)].append((f"n{low}", f"n{high}"))
        cases.append((bases, *edges))
    found = rules.evaluate(
        """rows => rows.map(([bases, attacks, supports]) => Object.fromEntries([...whatIf.strengths(new Map(
        bases.map(([id, n, d]) => [id, whatIf.fraction(BigInt(n), BigInt(d))])), attacks, supports)].map(
        ([id, value]) => [id, whatIf.text(value)])))""",
        cases,
    )
    for (bases, attacks, supports), row in zip(cases, found, strict=True):
        exact = compute_strengths({name: Fraction(n, d) for name, n, d in bases}, attacks, supports)
        assert row == {name: f"{value.numerator}/{value.denominator}" for name, value in exact.items()}


def test_numbers_are_rounded_as_python_rounds_them(rules) -> None:
    random = Random(7)
    values = [Fraction(random.randrange(-3000, 3000), random.randrange(1, 900)) for _ in range(400)]
    values += [Fraction(1, 8), Fraction(5, 1000), Fraction(-5, 1000), Fraction(0), Fraction(10)]
    rows = [[str(value.numerator), str(value.denominator)] for value in values]
    shown = rules.evaluate(
        "rows => rows.map(([n, d]) => whatIf.rounded(whatIf.fraction(BigInt(n), BigInt(d)), 2))", rows
    )
    assert [float(text) for text in shown] == [round_half_up(value, 2) for value in values]


class Arguing:
    """A reader of the page of a debate."""

    def __init__(self, browser: Any, folder: Any, name: str, address: str = "", **screen: Any) -> None:
        file = folder / "debate.html"
        file.write_text(page_of(name), "utf-8")
        self.url, self.noises = file.as_uri(), []
        shown = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce", **screen}
        self.page = browser.new_context(**shown).new_page()
        self.page.on("console", lambda message: self.noises.append(message.text))
        self.page.on("pageerror", lambda error: self.noises.append(str(error)))
        self.page.goto(f"{self.url}{address}")
        self.bar = self.page.get_by_role("region", name="What-if, not the record")
        self.expect = playwright.expect

    def __enter__(self) -> Arguing:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            assert self.noises == []
        self.page.context.close()

    def button(self, name: str) -> Any:
        return self.page.get_by_role("button", name=f"Strike {name}", exact=True)

    @property
    def hash(self) -> str:
        return str(self.page.evaluate("location.hash"))

    @property
    def body(self) -> str:
        """What the page holds, apart from what is struck and what the script told: for comparing."""
        return str(self.page.evaluate("document.querySelector('main').outerHTML"))


def test_striking_a_response_updates_the_page(browser, tmp_path) -> None:
    with Arguing(browser, tmp_path, "complete") as reader:
        reader.expect(reader.bar).to_be_hidden()
        reader.button("PRO on CON-1").click()
        reader.expect(reader.bar).to_contain_text("Struck: PRO on CON-1.")
        reader.expect(reader.bar).to_contain_text("Standing changed: CON-1 UPHELD → UNCERTAIN.")
        reader.expect(reader.bar).to_contain_text("differ on 4 arguments (record: 3)")
        reader.expect(reader.bar).to_contain_text("Agreed: 0 points (record: 1)")
        box = reader.page.locator(".cell[data-item='CON-1'] .node")
        reader.expect(box).to_contain_text("What-if: computed UNCERTAIN, record UPHELD, differs from the judge: UPHELD")
        row = reader.page.locator("tr[data-item='CON-1']")
        reader.expect(row).to_contain_text("the other side never responded to it; strength 0.50")
        reader.expect(row).to_contain_text("Record: UPHELD, strength 0.75.")
        reader.expect(row.locator("b.differs")).to_be_visible()
        reader.expect(reader.page.locator(".agreed li")).to_have_class("gone")
        reader.expect(reader.page.locator(".sure")).to_contain_text("What-if: they differ on 4 arguments")
        reader.expect(reader.page.get_by_role("status")).to_contain_text("What-if, not the record")


@pytest.mark.parametrize("name", ["complete", "cited", "review", "market"])
def test_undo_and_reset_bring_the_record_back_to_the_letter(browser, tmp_path, name) -> None:
    with Arguing(browser, tmp_path, name) as reader:
        before = reader.body
        for button in reader.page.locator(".map .strike").all()[:6]:
            button.evaluate("button => button.click()")
        assert reader.body != before
        for left in range(5, -1, -1):
            reader.bar.get_by_role("button", name="Undo").click()
            pressed = reader.page.locator(".map [aria-pressed='true']")
            assert len(set(pressed.evaluate_all("rows => rows.map(row => row.dataset.strike)"))) == left
        assert clean(reader.body) == clean(before)
        assert reader.hash == ""
        for button in reader.page.locator(".map .strike").all()[:6]:
            button.evaluate("button => button.click()")
        reader.bar.get_by_role("button", name="Reset").click()
        assert clean(reader.body) == clean(before)
        reader.expect(reader.bar).to_be_hidden()


def clean(body: str) -> str:
    """Without empty class attributes, which a browser leaves behind."""
    return body.replace(' class=""', "")


def test_the_address_holds_what_is_struck(browser, tmp_path) -> None:
    with Arguing(browser, tmp_path, "cited") as reader:
        reader.button("PRO-2").click()
        reader.button("CON on PRO-1").click()
        address, told = reader.hash, reader.bar.inner_text()
        assert address == "#without=PRO-2,CON%20on%20PRO-1"
    with Arguing(browser, tmp_path, "cited", address) as reader:
        assert reader.bar.inner_text() == told
        assert reader.button("PRO-2").get_attribute("aria-pressed") == "true"


def test_back_and_forward_walk_through_what_was_struck(browser, tmp_path) -> None:
    with Arguing(browser, tmp_path, "complete") as reader:
        reader.button("PRO-1").click()
        reader.button("PRO-3").click()
        reader.page.go_back()
        reader.expect(reader.bar).to_contain_text("Struck: PRO-1.")
        reader.page.go_back()
        reader.expect(reader.bar).to_be_hidden()
        reader.page.go_forward()
        reader.page.go_forward()
        reader.expect(reader.bar).to_contain_text("Struck: PRO-1, PRO-3.")


def test_links_within_the_page_keep_what_is_struck(browser, tmp_path) -> None:
    with Arguing(browser, tmp_path, "complete") as reader:
        reader.button("PRO-1").click()
        reader.page.get_by_role("navigation", name="On this page").get_by_role("link", name="Trace").click()
        reader.page.wait_for_function("location.hash === '#without=PRO-1&at=trace'")
        reader.expect(reader.bar).to_contain_text("Struck: PRO-1.")
        reader.expect(reader.page.locator("#trace")).to_be_in_viewport()
        address = reader.hash
    with Arguing(browser, tmp_path, "complete", address) as reader:
        reader.expect(reader.bar).to_contain_text("Struck: PRO-1.")
        reader.expect(reader.page.locator("#trace")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("#without=PRO-9", "1 name in the address is not in this debate."),
        ("#without=PRO-1,%3Cimg%20src=x%3E,x", "2 names in the address are not in this debate."),
        ("#without=%E0%A4%A", "1 name in the address is not in this debate."),
        ("#without=", None),
        ("#without=PRO-1,PRO-1", "Struck: PRO-1."),
    ],
)
def test_a_wrong_address_is_said_and_breaks_nothing(browser, tmp_path, address, told) -> None:
    with Arguing(browser, tmp_path, "complete", address) as reader:
        if told is None:
            reader.expect(reader.bar).to_be_hidden()
        else:
            reader.expect(reader.bar).to_contain_text(told)
        assert reader.page.locator("img").count() == 0


def test_the_keyboard_strikes_undoes_and_is_never_lost(browser, tmp_path) -> None:
    with Arguing(browser, tmp_path, "complete") as reader:
        reader.button("PRO-2").focus()
        reader.page.keyboard.press("Space")
        reader.expect(reader.button("PRO-2")).to_have_attribute("aria-pressed", "true")
        reader.expect(reader.button("PRO-2")).to_be_focused()
        undo = reader.bar.get_by_role("button", name="Undo")
        undo.focus()
        reader.page.keyboard.press("Enter")
        reader.expect(reader.bar).to_be_hidden()
        reader.expect(reader.button("PRO-2")).to_be_focused()


def test_a_quote_is_struck_from_the_list_beneath_its_argument(browser, tmp_path) -> None:
    with Arguing(browser, tmp_path, "cited") as reader:
        reader.page.locator(".cell[data-item='PRO-2'] summary").click()
        reader.button("PRO-2 quote 1").click()
        reader.expect(reader.bar).to_contain_text("Quotes: 6, 3 of them verified (record: 7, 3 of them verified)")
        reader.expect(reader.bar).to_contain_text("No other standing changed.")


def test_a_copied_link_is_the_address(browser, tmp_path) -> None:
    with Arguing(browser, tmp_path, "complete", permissions=["clipboard-read", "clipboard-write"]) as reader:
        reader.button("PRO-2").click()
        reader.bar.get_by_role("button", name="Copy link").click()
        reader.expect(reader.page.get_by_role("status")).to_contain_text("The link is copied.")
        assert reader.page.evaluate("navigator.clipboard.readText()") == f"{reader.url}#without=PRO-2"


def test_without_javascript_there_is_no_dead_control(browser, tmp_path) -> None:
    with Arguing(browser, tmp_path, "complete", java_script_enabled=False) as reader:
        assert reader.page.locator("button").count() == 0
        assert "Strike an argument" not in reader.page.locator("body").inner_text()
        assert reader.page.locator(".map .node").first.is_visible()


def test_what_is_struck_stays_within_the_screen(browser, tmp_path) -> None:
    with Arguing(browser, tmp_path, "cited", "#without=PRO-1,CON%20on%20PRO-2") as reader:
        for width in (360, 390, 768, 1440):
            reader.page.set_viewport_size({"width": width, "height": 800})
            assert reader.page.evaluate("document.documentElement.scrollWidth") <= width
            assert reader.bar.bounding_box()["height"] <= 0.45 * 800 + 1
