"""The page in a real browser: it runs nothing foreign, fetches nothing, fits, can be read and walked by keyboard."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from staged_pages import page_of

from browser_fonts import FAMILIES, Family, only

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here; on Debian: apt-get install chromium"),
]
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
SHOWN = ("complete", "cited", "freeform", "degraded", "hostile", "long", "wide", "poisoned cited", "poisoned whole")
POISONED = ("hostile", "hostile freeform", "poisoned cited", "poisoned whole", "poisoned freeform")


class Screens:
    """A browser that sees one family of fonts, with a page for each kind of screen.

    Making a page takes longer than most of what is then looked at.
    """

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._pages: dict[str, Any] = {}

    def page(self, **screen: Any) -> Any:
        """An empty page. Files keep nothing in a browser that the next one could find."""
        kind = repr(sorted(screen.items()))
        if kind not in self._pages:
            self._pages[kind] = self._browser.new_context(**screen).new_page()
        page = self._pages[kind]
        page.set_viewport_size(screen["viewport"])
        page.emulate_media(media="screen", color_scheme=screen["color_scheme"])
        return page


@pytest.fixture(scope="module")
def seeing(tmp_path_factory) -> Iterator[Callable[[Family], Screens]]:
    """The browser that sees a family of fonts and no other; started when it is first asked for."""
    with playwright.sync_playwright() as running, ExitStack() as browsers:

        @cache
        def screens(family: Family) -> Screens:
            try:
                environment = only(family, tmp_path_factory.mktemp(family.name))
            except LookupError as missing:
                pytest.skip(str(missing))
            browser = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split(), env=environment)
            browsers.callback(browser.close)
            return Screens(browser)

        yield screens


@pytest.fixture(scope="module")
def chromium(seeing) -> Screens:
    """A browser with the widest family that is here."""
    return seeing(next((family for family in FAMILIES if family.where()), FAMILIES[0]))


class Seen:
    """A page opened from a file, and everything it did that nobody asked for."""

    def __init__(self, chromium: Screens, folder: Path, text: str, **screen: Any) -> None:
        file = folder / "debate.html"
        file.write_text(text, "utf-8")
        self.url = file.as_uri()
        self.page = chromium.page(**screen)
        self.noises: list[str] = []
        self.requests: list[str] = []
        self._heard = {
            "console": lambda message: self.noises.append(message.text),
            "pageerror": lambda error: self.noises.append(str(error)),
            "dialog": lambda dialog: (self.noises.append(dialog.message), dialog.dismiss()),
            "popup": lambda other: self.noises.append(other.url),
            "request": lambda request: self.requests.append(request.url),
        }
        for event, noted in self._heard.items():
            self.page.on(event, noted)
        self.page.goto(self.url)

    def __enter__(self) -> Seen:
        return self

    def __exit__(self, *_: object) -> None:
        self.page.goto("about:blank")
        for event, noted in self._heard.items():
            self.page.remove_listener(event, noted)

    def run(self, script: str, value: Any = None) -> Any:
        return self.page.evaluate(script, value)


def screen(width: int, scheme: str = "light") -> dict[str, Any]:
    return {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}


@pytest.mark.parametrize("name", SHOWN)
def test_a_page_loads_without_errors_or_requests(chromium, tmp_path, name):
    with Seen(chromium, tmp_path, page_of(name), **screen(1440)) as seen:
        for link in seen.page.locator("nav a").all():
            link.click()
        assert seen.noises == []
        assert {url.partition("#")[0] for url in seen.requests} == {seen.url}


@pytest.mark.parametrize("policy", ["with its policy", "without its policy"])
@pytest.mark.parametrize("name", POISONED)
def test_hostile_words_do_nothing_without_the_policy(chromium, tmp_path, name, policy):
    text = page_of(name)
    if policy == "without its policy":
        text, found = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
        assert found == 1
    with Seen(chromium, tmp_path, text, **screen(1440)) as seen:
        seen.run("document.querySelectorAll('details').forEach(box => box.open = true)")
        for place in seen.page.locator("body :is(a, p, mark, summary, [tabindex])").all()[::25]:
            place.dispatch_event("mouseover")
            place.dispatch_event("focus")
        seen.page.locator("nav a").last.click()
        assert seen.run("'canary' in window") is False
        assert (seen.noises, len({url.partition("#")[0] for url in seen.requests})) == ([], 1)
        assert seen.run("getComputedStyle(document.body).display") == "block"
        assert seen.run("document.querySelectorAll('iframe, img, form, input, base, object, embed, link').length") == 0


def test_a_planted_script_would_be_noticed(chromium, tmp_path):
    text = page_of("complete").replace("</h1>", "</h1><script>window.canary=1</script>", 1)
    stripped = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    with Seen(chromium, tmp_path, stripped, **screen(1440)) as seen:
        assert seen.run("window.canary") == 1
    with Seen(chromium, tmp_path, text, **screen(1440)) as seen:
        assert seen.run("'canary' in window") is False
        assert any("Content Security Policy" in noise for noise in seen.noises)


@pytest.mark.parametrize("name", [*SHOWN, "unjudged", "failed", "truncated"])
def test_no_page_scrolls_sideways(chromium, tmp_path, name):
    with Seen(chromium, tmp_path, page_of(name), **screen(360)) as seen:
        seen.run("document.querySelectorAll('details').forEach(box => box.open = true)")
        for width in (360, 768, 1440):
            seen.page.set_viewport_size({"width": width, "height": 900})
            assert seen.run("innerWidth") == width
            assert seen.run("Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)") <= width


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_page_is_shown_in_the_fonts_of_its_family_alone(seeing, tmp_path, family):
    with Seen(seeing(family), tmp_path, page_of("complete"), **screen(1440)) as seen:
        devtools = seen.page.context.new_cdp_session(seen.page)
        devtools.send("DOM.enable")
        devtools.send("CSS.enable")
        root = devtools.send("DOM.getDocument")["root"]["nodeId"]
        for selector, face in (("#verdict .decision .text", "Serif"), (".map .name", "Sans")):
            place = devtools.send("DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"]
            fonts = devtools.send("CSS.getPlatformFontsForNode", {"nodeId": place})["fonts"]
            assert {row["familyName"] for row in fonts} == {f"{family.name} {face}"}


# Where words leave their box. What a line clamp hides is clipped, so it is out of nobody's box.
OUTSIDE = """() => [...document.querySelectorAll('.map .box, .map .side')].flatMap(box => {
  const found = [], edge = box.getBoundingClientRect(), within = (at, by) => at.left >= by.left - 1
    && at.right <= by.right + 1 && at.top >= by.top - 1 && at.bottom <= by.bottom + 1;
  const walk = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode, range = document.createRange();
    const clip = text.parentElement.closest('.claim')?.getBoundingClientRect();
    range.selectNodeContents(text);
    for (const at of range.getClientRects()) {
      if (clip && at.top >= clip.bottom - 1) continue;
      if (!within(at, clip ?? edge) || !within(at, edge)) found.push(text.textContent);
    }
  }
  const inner = [...box.querySelectorAll('*')].filter(row => !within(row.getBoundingClientRect(), edge));
  return [...found, ...inner.map(row => row.outerHTML)];
})"""
# Which boxes lie over each other, and which wires do not lead from their response to their argument.
DISJOINT = """() => {
  const boxes = [...document.querySelectorAll('.map .box')].map(row => [row, row.getBoundingClientRect()]);
  const over = boxes.flatMap(([row, a], at) => boxes.slice(at + 1).filter(([, b]) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
    .map(([other]) => [row.textContent, other.textContent]));
  const loose = [...document.querySelectorAll('.drawn li')].filter(row => {
    const [wire, chip] = ['.wire', '.chip'].map(name => row.querySelector(name).getBoundingClientRect());
    const node = row.closest('.exchange').querySelector('.node').getBoundingClientRect();
    const beside = chip.left > node.right || chip.right < node.left;
    const near = (one, other) => Math.abs(one - other) < 3;
    const answers = near(wire.right, chip.left) || near(wire.left, chip.right);
    const attacks = beside ? near(wire.left, node.right) || near(wire.right, node.left)
      : wire.left > node.left && wire.left < node.left + 30 && chip.top > node.bottom;
    const level = Math.abs((wire.top + wire.bottom) / 2 - (chip.top + chip.bottom) / 2) < 2;
    return !(answers && attacks && level);
  }).map(row => row.textContent);
  return {over, loose};
}"""


MAPS = ("complete", "wide", "long", "hostile", "scripts", "review", "market")


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@pytest.mark.parametrize("name", MAPS)
def test_words_of_the_map_stay_in_their_boxes(seeing, tmp_path, name, family):
    with Seen(seeing(family), tmp_path, page_of(name), **screen(360)) as seen:
        for width in (360, 390, 700, 862, 1440):
            seen.page.set_viewport_size({"width": width, "height": 900})
            assert seen.page.locator(".map .node").first.is_visible()
            assert seen.run(OUTSIDE) == []
            assert seen.run(DISJOINT) == {"over": [], "loose": []}
            assert seen.run("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_words_of_the_map_stay_in_their_boxes_when_printed(seeing, tmp_path, family):
    """At the width of A4 and of US letter, less their margins, in CSS pixels."""
    with Seen(seeing(family), tmp_path, page_of("wide"), **screen(718)) as seen:
        seen.page.emulate_media(media="print")
        for width in (718, 740):
            seen.page.set_viewport_size({"width": width, "height": 1000})
            assert seen.run(OUTSIDE) == []
            assert seen.run(DISJOINT) == {"over": [], "loose": []}


def test_words_that_leave_a_box_would_be_noticed(chromium, tmp_path):
    text = page_of("complete").replace(".node .claim {", ".stood { white-space: nowrap; } .node .claim {")
    assert text != page_of("complete")
    unsafe = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    with Seen(chromium, tmp_path, unsafe.replace("PARTIALLY UPHELD", "PARTIALLY UPHELD " * 9), **screen(1440)) as seen:
        assert any("PARTIALLY UPHELD" in row for row in seen.run(OUTSIDE))


@pytest.mark.parametrize("name", ["complete", "long"])
def test_a_long_claim_is_cut_after_its_fourth_line(chromium, tmp_path, name):
    with Seen(chromium, tmp_path, page_of(name), **screen(360)) as seen:
        rows = seen.run(
            "[...document.querySelectorAll('.map .claim')].map(row => [row.clientHeight / "
            "parseFloat(getComputedStyle(row).lineHeight), row.scrollHeight > row.clientHeight + 1])"
        )
        assert all(round(lines, 1) in {1, 2, 3, 4} for lines, _ in rows)
        assert any(cut for _, cut in rows) is (name == "long")


CONTRAST = """() => {
  const numbers = colour => (colour.match(/[\\d.]+/g) || []).map(Number);
  const light = rgb => rgb.slice(0, 3).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = place => {
    for (let at = place; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      const colour = numbers(style.backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    throw new Error('nothing is behind the text');
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const place = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || !place.checkVisibility()) continue;
    if (place.closest('script, style, title')) continue;
    const style = getComputedStyle(place);
    const front = light(numbers(style.color)), back = light(behind(place));
    const ratio = (Math.max(front, back) + .05) / (Math.min(front, back) + .05);
    const named = place.className.baseVal ?? place.className;
    found.push([Math.round(ratio * 100) / 100, named, walk.currentNode.textContent.slice(0, 40)]);
  }
  return found.sort((a, b) => a[0] - b[0]);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("name", "width"), [("cited", 1440), ("cited", 360), ("degraded", 1440), ("hostile", 1440)])
def test_every_text_has_a_contrast_of_at_least_four_and_a_half(chromium, tmp_path, name, width, scheme):
    with Seen(chromium, tmp_path, page_of(name), **screen(width, scheme)) as seen:
        seen.run("document.querySelectorAll('details').forEach(box => box.open = true)")
        found = seen.run(CONTRAST)
        assert len(found) > 200
        assert [row for row in found if row[0] < 4.5] == []


def test_dark_and_light_are_different_pages(chromium, tmp_path):
    grounds = {}
    for scheme in ("light", "dark"):
        with Seen(chromium, tmp_path, page_of("complete"), **screen(1440, scheme)) as seen:
            grounds[scheme] = seen.run("getComputedStyle(document.body).backgroundColor")
    assert grounds == {"light": "rgb(250, 248, 244)", "dark": "rgb(20, 22, 25)"}


def test_the_keyboard_reaches_every_link_in_order(chromium, tmp_path):
    # Without smooth scrolling, so that a place is on the screen as soon as it has the focus.
    with Seen(chromium, tmp_path, page_of("sourced"), **screen(1440), reduced_motion="reduce") as seen:
        stops = "[...document.querySelectorAll('a[href], button, summary, [tabindex=\"0\"]')]"
        wanted = seen.run(f"{stops}.filter(stop => stop.checkVisibility()).length")
        reached: list[tuple[str, bool]] = []
        for _ in range(wanted):
            seen.page.keyboard.press("Tab")
            reached.append(
                tuple(
                    seen.run(
                        """() => {
                          const at = document.activeElement, style = getComputedStyle(at);
                          const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
                          const area = at.getBoundingClientRect();
                          const onScreen = area.bottom > 0 && area.top < innerHeight;
                          const where = at.closest('section[id], nav, a.skip');
                          return [where ? where.id || where.className : at.tagName, ring && onScreen];
                        }"""
                    )
                )
            )
        places = list(dict.fromkeys(place for place, _ in reached))
        assert [place for place, focused in reached if not focused] == []
        assert places[:3] == ["skip", "verdict", "contents"]
        order = [places.index(place) for place in ("verdict", "map", "trace", "record")]
        assert order == sorted(order)


def test_enter_on_the_map_leads_to_the_response(chromium, tmp_path):
    with Seen(chromium, tmp_path, page_of("complete"), **screen(1440)) as seen:
        seen.page.locator(".map a.chip.refute").focus()
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_function("document.activeElement.id === location.hash.slice(1) && location.hash !== ''")
        place = seen.page.locator(":target")
        assert "CON → PRO-2" in place.inner_text()
        playwright.expect(place).to_be_in_viewport()


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_links_lead_from_verdict_to_source_and_back(chromium, tmp_path, way):
    quote = "The study covers one company with 140 engineers."
    with Seen(chromium, tmp_path, page_of("cited"), **screen(1000), reduced_motion="reduce") as seen:

        def follow(link: str) -> Any:
            found = seen.page.locator(link).first
            if way == "keyboard":
                found.focus()
                seen.page.keyboard.press("Enter")
            else:
                found.click()
            place = seen.page.locator(":target")
            assert place.is_visible()
            assert seen.run("document.querySelector(':target').getBoundingClientRect().top < innerHeight")
            return place

        seen.page.goto(f"{seen.url}#verdict")
        argument = follow("#trace a.mark[href='#argument-PRO-1']")
        assert "Independent deployment" in argument.text_content()
        response = follow(":target .trail a[href^='#response']")
        assert quote in response.text_content()
        passage = follow(":target .citations a")
        assert (passage.evaluate("place => place.tagName"), passage.text_content()) == ("MARK", quote)
        cited = follow(":target a")
        assert (cited.evaluate("place => place.tagName"), quote in cited.text_content()) == ("LI", True)
        assert "verified" in cited.text_content()
        assert seen.noises == []


def test_a_link_into_something_folded_unfolds_it(chromium, tmp_path):
    with Seen(chromium, tmp_path, page_of("sourced"), **screen(1440)) as seen:
        seen.run("document.querySelectorAll('details').forEach(box => box.open = false)")
        quote = seen.page.locator("p.evidence mark a").first
        quote.click()
        playwright.expect(seen.page.locator("details.source mark")).to_be_in_viewport()


def test_everything_can_be_read_without_javascript(chromium, tmp_path):
    with Seen(chromium, tmp_path, page_of("sourced"), **screen(1440), java_script_enabled=False) as seen:
        for words in ("How sure", "Argument map", "Argument trace", "Decision briefing", "What was said", "Sources"):
            assert seen.page.get_by_role("heading", name=words).first.is_visible()
        assert seen.page.get_by_text("Nothing else was measured.").is_visible()
        seen.page.locator(".map a.chip.refute").click()
        playwright.expect(seen.page.locator(":target")).to_be_in_viewport()


def test_print_shows_the_transcript_on_white(chromium, tmp_path):
    with Seen(chromium, tmp_path, page_of("sourced"), **screen(1440, "dark")) as seen:
        seen.page.emulate_media(media="print", color_scheme="dark")
        assert seen.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert not seen.page.locator("nav").is_visible()
        assert seen.page.locator(".map .node").first.is_visible()
        assert seen.page.get_by_text("Nothing else was measured.").is_visible()
        assert [row for row in seen.run(CONTRAST) if row[0] < 4.5] == []


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("name", [*SHOWN[:7], "unjudged", "truncated", "failed", "review", "market"])
def test_decision_and_worst_doubt_stand_in_the_first_700_pixels(chromium, tmp_path, name, width):
    with Seen(chromium, tmp_path, page_of(name), **screen(width)) as seen:
        for place in (".first > div:first-child", ".first .doubt"):
            top = seen.run("place => document.querySelector(place).getBoundingClientRect().top", place)
            assert top < 660, place
        if name not in {"hostile", "long", "wide"}:
            assert seen.run("document.querySelector('.first .doubt').getBoundingClientRect().bottom") <= 700


def test_landmarks_tell_the_parts_of_the_page(chromium, tmp_path):
    with Seen(chromium, tmp_path, page_of("complete"), **screen(1440)) as seen:
        for role in ("banner", "navigation", "main", "contentinfo"):
            assert seen.page.get_by_role(role).count() == 1
        for name in (
            "Result",
            "Argument map",
            "Argument trace",
            "Decision briefing",
            "What was said",
            "Record and cost",
        ):
            assert seen.page.get_by_role("region", name=name, exact=True).count() >= 1
        nameless = seen.page.locator("a").evaluate_all(
            "links => links.filter(a => !(a.textContent.trim() || a.ariaLabel)).length"
        )
        assert nameless == 0
