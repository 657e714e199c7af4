"""What a page or a terminal shows, for tests."""

from __future__ import annotations

from html.parser import HTMLParser

from rich.console import Console


def text_of(renderables) -> str:
    console = Console(width=200, record=True, file=None, quiet=False)
    with console.capture() as capture:
        for renderable in renderables:
            console.print(renderable)
    return capture.get()


VOID = ("meta", "br", "rect", "path", "link")


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.classes: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attributes if name in ("src", "href", "data", "action")]
        self.classes += [value or "" for name, value in attributes if name == "class"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag
