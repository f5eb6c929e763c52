"""Hooks of the documentation site: formulas without scripts, and a gallery that is run.

Formulas. ``$…$`` and ``$$…$$`` become MathML while the site is built, so that pages need no script
and nothing from elsewhere.

Nothing from elsewhere. A page that would load a script, a style or a picture from another server is
a warning, and so an error of a strict build. So is a formula that cannot be converted.

Reference. A line ``<!-- reference: room -->`` becomes an entry for every public name of that room
which the page does not list itself, so that a new method needs no line there.

Commands. A line ``<!-- help: plan -->`` becomes what ``wayfield plan --help`` prints.

Theorems. A line ``<!-- theorems -->`` becomes the list of `docs/theorems.py`, made from the Coq
sources.

Checker. A line ``<!-- checker -->`` becomes a place to drop proofs on. The site then holds
`wayfield_verify` and Pyodide, a Python for browsers, from npm. Without npm the page says so.

Gallery. A line ``<!-- example: name -->`` becomes the picture that ``examples/name.py`` draws, what
it prints, and the script itself. Pictures lie in ``build/gallery`` and are drawn again when the
script or the library is newer. An example whose extra is not installed says so instead.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import zipfile
from html import unescape
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File

import wayfield
from wayfield import public_names
from wayfield.errors import WayfieldError

ROOT = Path(__file__).parents[1]
CACHE = ROOT / "build" / "gallery"
EXAMPLE = re.compile(r"<!-- example: (\w+) -->")
REFERENCE = re.compile(r"<!-- reference: (\w+) -->")
HELP = re.compile(r"<!-- help: ([\w ]+) -->")
THEOREMS = "<!-- theorems -->"
CHECKER = "<!-- checker -->"
PYODIDE = ROOT / "build" / "pyodide"
PYODIDE_VERSION = "314.0.7"
PYODIDE_PARTS = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip",
                 "pyodide-lock.json")  # fmt: skip
DROP = """<label id="check">Drop a .proof here, or choose one<input type="file"></label>
<div id="check-answer" role="status" markdown="0"></div>
<script type="module" src="assets/check.js"></script>
"""
MISSING = """!!! note
    This copy of the site was built without npm, so it has no checker in the browser. Use
    `python -m wayfield_verify FILE`.
"""
EXTERNAL = re.compile(r'<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)="?(https?:)?//[^\s">]+')
FORMULA = re.compile(
    r'<(span|div) class="arithmatex">\s*\\([(\[])(.*?)\\[)\]]\s*</\1>', flags=re.DOTALL
)

log = logging.getLogger("mkdocs.hooks.wayfield")


def on_files(files: Any, config: Any) -> Any:
    """Draw the pictures that are out of date, and add them all to the site."""
    CACHE.mkdir(parents=True, exist_ok=True)
    sources = (*(ROOT / "src").rglob("*.py"), *(ROOT / "study" / "src").rglob("*.py"))
    library = max(path.stat().st_mtime for path in sources)
    for script in sorted((ROOT / "examples").glob("*.py")):
        picture, printed = _outputs(script.stem)
        newest = max(library, script.stat().st_mtime)
        if not (printed.exists() and printed.stat().st_mtime > newest):
            printed.write_text(_run(script, picture), encoding="utf-8")
        uri = f"gallery/{picture.name}"
        if not picture.exists():
            continue
        files.append(File.generated(config, uri, abs_src_path=str(picture)))
    for part in browser_checker():
        files.append(File.generated(config, f"pyodide/{part.name}", abs_src_path=str(part)))
    return files


def browser_checker() -> list[Path]:
    """Return the files of the checker in the browser; none if npm can't bring Pyodide."""
    if not all((PYODIDE / part).exists() for part in PYODIDE_PARTS):
        PYODIDE.mkdir(parents=True, exist_ok=True)
        npm = shutil.which("npm")
        command = [npm or "npm", "pack", f"pyodide@{PYODIDE_VERSION}", "--silent"]
        if npm is None or subprocess.run(command, cwd=PYODIDE, check=False).returncode:
            log.info("the page that checks proofs has no checker: npm did not bring Pyodide")
            return []
        with tarfile.open(PYODIDE / f"pyodide-{PYODIDE_VERSION}.tgz") as packed:
            for part in PYODIDE_PARTS:
                content = packed.extractfile(f"package/{part}")
                assert content is not None
                (PYODIDE / part).write_bytes(content.read())
    sources = PYODIDE / "wayfield_verify.zip"
    with zipfile.ZipFile(sources, "w") as archive:
        for path in sorted((ROOT / "src" / "wayfield_verify").glob("*.py")):
            archive.write(path, f"wayfield_verify/{path.name}")
    return [*(PYODIDE / part for part in PYODIDE_PARTS), sources]


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Put each example where its name stands; tell what is typed from what is answered."""
    markdown = markdown.replace("```python\n>>> ", "```pycon\n>>> ")
    markdown = with_reference(markdown)
    markdown = HELP.sub(lambda found: f"```text\n{help_of(found[1])}\n```", markdown)
    if CHECKER in markdown:
        there = "pyodide/pyodide.mjs" in files.src_uris
        missing = (
            "!!! note\n    This copy of the site was built without npm, so it has no checker. "
        )
        missing += "Use `python -m wayfield_verify FILE`.\n"
        markdown = markdown.replace(CHECKER, DROP if there else missing)
    if THEOREMS in markdown:
        listed = runpy.run_path(str(ROOT / "docs" / "theorems.py"))
        markdown = markdown.replace(THEOREMS, listed["as_markdown"]())
    return EXAMPLE.sub(lambda found: _shown(found[1]), markdown)


def with_reference(markdown: str) -> str:
    """Return a page with an entry for each public name of the rooms that its markers name."""
    listed = set(re.findall(r"^::: wayfield\.(\w+)$", markdown, flags=re.MULTILINE))
    homes = {
        name: home.lstrip(".")
        for name, home in public_names(wayfield.__name__).items()
        if home != "."
    }
    return REFERENCE.sub(
        lambda found: "\n\n".join(
            f"::: wayfield.{name}"
            for name, home in homes.items()
            if home == found[1] or home.startswith(f"{found[1]}.")
            if name not in listed
        ),
        markdown,
    )


def help_of(command: str) -> str:
    """Return what a command prints for ``--help``, without what varies between terminals."""
    code = "import sys; from wayfield.cli import main; sys.argv[0] = 'wayfield'; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *command.split(), "--help"],
        env=os.environ | {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Turn formulas into MathML."""
    return FORMULA.sub(_mathml, html)


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Complain about anything a browser would fetch from another server."""
    for found in EXTERNAL.finditer(output):
        log.warning("%s loads something from elsewhere: %s", page.file.src_uri, found[0])
    return output


def _outputs(name: str) -> tuple[Path, Path]:
    return CACHE / f"{name}.png", CACHE / f"{name}.txt"


def _run(script: Path, picture: Path) -> str:
    """Run an example in this process, as a reader would from the shell; return what it prints."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    arguments, sys.argv = sys.argv, [str(script), str(picture)]
    try:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            runpy.run_path(str(script), run_name="__main__")
    except WayfieldError as error:  # an extra is missing
        picture.unlink(missing_ok=True)
        return f"Not drawn here: {error}"
    finally:
        sys.argv = arguments
        plt.close("all")
    return printed.getvalue()


def _shown(name: str) -> str:
    drawn, printed = _outputs(name)
    said = printed.read_text(encoding="utf-8").strip()
    script = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8").strip()
    quoted = f"\n```text\n{said}\n```\n" if said else ""
    folded = "\n".join(f"    {line}".rstrip() for line in ["```python", *script.split("\n"), "```"])
    caption = script.removeprefix('"""').partition("\n")[0]
    picture = f"![{caption}](gallery/{name}.png)" if drawn.exists() else ""
    return f'{picture}\n{quoted}\n??? example "examples/{name}.py"\n\n{folded}\n'


def _mathml(found: re.Match[str]) -> str:
    _, bracket, formula = found.groups()
    converted = convert(unescape(formula), display="block" if bracket == "[" else "inline")
    if "\\" in converted:
        log.warning("a command of the formula %s is not known", formula.strip())
    return converted
