"""Take the documentation's pictures of the explorer: ``python tests/explorer_pictures.py``.

Five states of the page, as a reader will meet them, each small enough for a repository.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

from browsing import browsing, serving
from explorer.test_page import Explorer

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
DATA = ROOT / "examples" / "data"
DESK = {"viewport": {"width": 1280, "height": 720}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def main() -> None:
    """Take all of them."""
    with browsing() as browser:
        with serving() as address:
            take(browser, address, "first", DESK, lambda page: page.page.wait_for_timeout(1500))
            take(browser, address, "loop", DESK, show_a_loop)
            take(browser, address, "compare", DESK, put_side_by_side)
            take(browser, address, "phone", PHONE | {"color_scheme": "dark"}, slide_on_a_phone)
        with serving(DATA / "roads.csv", DATA / "known.csv", "--goal", "Bern") as roads:
            take(browser, roads, "roads", DESK, walk_the_roads)


def take(
    browser: Any,
    address: str,
    name: str,
    look: dict[str, Any],
    prepare: Callable[[Explorer], object],
) -> None:
    """Take one picture, without loss."""
    context = browser.new_context(reduced_motion="reduce", **look)
    page = Explorer(context.new_page()).open(address)
    prepare(page)
    page.settle()
    page.page.wait_for_timeout(900)
    page.settle()
    picture = Image.open(io.BytesIO(page.page.screenshot())).convert("RGB")
    file = IMAGES / f"explore_{name}.webp"
    picture.save(file, lossless=True, quality=100, method=6)
    print(f"{file.name}: {file.stat().st_size / 1e3:.0f} kB")
    context.close()


def show_a_loop(page: Explorer) -> None:
    """Walk into a loop, and point at it."""
    page.click(2000)
    page.until("it.route")
    page.page.mouse.move(*page.at(int(page.inside("return it.route.path.at(-1)"))))


def put_side_by_side(page: Explorer) -> None:
    """Show harmonic and AMLE beside each other."""
    page.after(lambda: page.role("compare").click())


def slide_on_a_phone(page: Explorer) -> None:
    """Go to p = 4 on a phone."""
    page.after(lambda: page.slide("p", 3))


def walk_the_roads(page: Explorer) -> None:
    """Walk on a road graph, and point at a junction on the way."""
    page.click(page.scene["graph"]["names"].index("Genève"))
    page.until("it.route")
    page.page.mouse.move(*page.at(int(page.inside("return it.route.path[1]"))))


if __name__ == "__main__":
    main()
