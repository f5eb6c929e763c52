"""Pages of a report, read as a browser would: whole, and with nothing to load."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "img", "br", "input"}


class Outline(HTMLParser):
    """Complains about tags that do not match; keeps the text, and what the page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.sources: list[str] = []
        self.targets: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = {name: value or "" for name, value in attrs}
        self.sources += [given["src"]] if "src" in given else []
        self.targets += [given["href"]] if "href" in given else []
        self.ids += [given["id"]] if "id" in given else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["style"], ["script"]):
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join("".join(self.text).split())


def outline(page: str) -> Outline:
    parser = Outline()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser
