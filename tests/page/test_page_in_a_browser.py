"""The page in a real browser: it runs nothing foreign, fetches nothing, fits, can be read and walked by keyboard."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from staged_pages import page_of

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
    """A browser with a page for each kind of screen: making one takes longer than most of what is then looked at."""

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
def chromium() -> Iterator[Screens]:
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        yield Screens(browser)
        browser.close()


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
def test_a_page_loads_with_no_error_and_no_request_but_for_itself(chromium, tmp_path, name):
    with Seen(chromium, tmp_path, page_of(name), **screen(1440)) as seen:
        for link in seen.page.locator("nav a").all():
            link.click()
        assert seen.noises == []
        assert {url.partition("#")[0] for url in seen.requests} == {seen.url}


@pytest.mark.parametrize("policy", ["with its policy", "without its policy"])
@pytest.mark.parametrize("name", POISONED)
def test_hostile_words_do_nothing_even_where_the_policy_is_taken_away(chromium, tmp_path, name, policy):
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


@pytest.mark.parametrize(("width", "drawing", "other"), [(360, "narrow", "wide"), (1440, "wide", "narrow")])
@pytest.mark.parametrize("name", ["complete", "wide", "long", "hostile"])
def test_the_map_that_fits_is_shown_and_its_words_stay_in_their_boxes(chromium, tmp_path, name, width, drawing, other):
    with Seen(chromium, tmp_path, page_of(name), **screen(width)) as seen:
        assert seen.page.locator(f"svg.map.{drawing}").is_visible()
        assert not seen.page.locator(f"svg.map.{other}").is_visible()
        outside = seen.run(
            """drawing => [...document.querySelectorAll(`svg.map.${drawing} a`)].flatMap(node => {
                 const box = node.querySelector('.box').getBoundingClientRect();
                 return [...node.querySelectorAll('text')].filter(text => {
                   const at = text.getBoundingClientRect();
                   return at.left < box.left - 1 || at.right > box.right + 1
                     || at.bottom > box.bottom + 1 || at.top < box.top - 1;
                 }).map(text => text.textContent);
               })""",
            drawing,
        )
        assert outside == []


CONTRAST = """() => {
  const numbers = colour => (colour.match(/[\\d.]+/g) || []).map(Number);
  const light = rgb => rgb.slice(0, 3).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = place => {
    for (let at = place; at; at = at.parentElement) {
      const style = getComputedStyle(at), box = at.closest('svg.map a')?.querySelector('.box');
      if (box) return numbers(getComputedStyle(box).fill);
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
    const front = light(numbers(place.closest('svg.map') ? style.fill : style.color)), back = light(behind(place));
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


def test_the_keyboard_reaches_map_table_and_every_other_link_in_reading_order_with_focus_seen(chromium, tmp_path):
    # Without smooth scrolling, so that a place is on the screen as soon as it has the focus.
    with Seen(chromium, tmp_path, page_of("sourced"), **screen(1440), reduced_motion="reduce") as seen:
        stops = "[...document.querySelectorAll('a[href], summary, [tabindex=\"0\"]')]"
        wanted = seen.run(f"{stops}.filter(stop => stop.checkVisibility()).length")
        reached: list[tuple[str, bool]] = []
        for _ in range(wanted):
            seen.page.keyboard.press("Tab")
            reached.append(
                tuple(
                    seen.run(
                        """() => {
                          const at = document.activeElement, style = getComputedStyle(at);
                          const box = at.closest('svg.map') && at.querySelector('.box');
                          const ring = box ? parseFloat(getComputedStyle(box).strokeWidth) >= 3
                            : style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
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
        assert places[:3] == ["skip", "contents", "verdict"]
        order = [places.index(place) for place in ("verdict", "map", "trace", "record")]
        assert order == sorted(order)


def test_enter_on_the_map_leads_to_the_response(chromium, tmp_path):
    with Seen(chromium, tmp_path, page_of("complete"), **screen(1440)) as seen:
        seen.page.locator("svg.map.wide a.chip.refute").focus()
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_function("document.activeElement.id === location.hash.slice(1) && location.hash !== ''")
        place = seen.page.locator(":target")
        assert "CON → PRO-2" in place.inner_text()
        playwright.expect(place).to_be_in_viewport()


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_the_way_leads_from_the_verdict_to_an_argument_a_response_a_quote_and_its_source_and_back(
    chromium, tmp_path, way
):
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
        for words in ("Verdict", "Argument map", "Argument trace", "Decision briefing", "What was said", "Sources"):
            assert seen.page.get_by_role("heading", name=words).first.is_visible()
        assert seen.page.get_by_text("Nothing else was measured.").is_visible()
        seen.page.locator("svg.map.wide a.chip.refute").click()
        playwright.expect(seen.page.locator(":target")).to_be_in_viewport()


def test_print_shows_the_transcript_on_white(chromium, tmp_path):
    with Seen(chromium, tmp_path, page_of("sourced"), **screen(1440, "dark")) as seen:
        seen.page.emulate_media(media="print", color_scheme="dark")
        assert seen.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert not seen.page.locator("nav").is_visible()
        assert seen.page.locator("svg.map.wide").is_visible()
        assert seen.page.get_by_text("Nothing else was measured.").is_visible()
        assert [row for row in seen.run(CONTRAST) if row[0] < 4.5] == []


def test_landmarks_tell_the_parts_of_the_page(chromium, tmp_path):
    with Seen(chromium, tmp_path, page_of("complete"), **screen(1440)) as seen:
        for role in ("banner", "navigation", "main", "contentinfo"):
            assert seen.page.get_by_role(role).count() == 1
        for name in (
            "Verdict",
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
