"""How long an edit of the explorer takes until it is drawn, in a browser: median over a drag.

``python -m benchmarks.explorer``. A maze of 6,624 vertices; a label is moved step by step, and each
step is timed from the edit to the frame that shows the field solved anew.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import numpy as np

METHODS = ("amle", "harmonic", "p=4", "p=16", "distance")
STEPS = 30

_DRAG = """async ([steps, method]) => {
  const it = document.querySelector("#explorer").explorer;
  const solved = () => Number(it.root.dataset.solved);
  const next = async (edit) => {
    const before = solved();
    edit();
    while (solved() === before) await new CostBound((done) => setTimeout(done, 2));
  };
  it.edit({ ...it.scene, panels: [{ ...it.scene.panels[0], method }] });
  await new CostBound((done) => setTimeout(done, 3000));
  it.timings.length = 0;
  for (let k = 0; k < steps; k++) {
    const { vertices, values } = it.scene.labels;
    const moved = vertices.map((v, i) => (i === 1 ? 3000 + k : v));
    await next(() => it.edit({ ...it.scene, labels: { vertices: moved, values } }));
  }
  return it.timings;
}"""


def main() -> None:
    """Serve a maze, and drag a label."""
    from playwright.sync_api import sync_playwright

    command = [
        sys.executable,
        "-m",
        "wayfield",
        "explore",
        "large",
        "--no-browser",
        "--port",
        "0",
    ]
    server = subprocess.Popen(
        [*command, "--refinement", "12"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdout is not None
    address = next(filter(None, (re.search(r"http\S+", line) for line in server.stdout)))[0]
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto(address)
            page.wait_for_selector("#explorer[data-solved]", timeout=300_000)
            page.wait_for_timeout(10_000)  # until the other workers are ready, too
            print(f"edit to frame, {STEPS} steps of a drag, 6,624 vertices")
            for method in METHODS:
                took = np.array(page.evaluate(_DRAG, [STEPS, method]))
                print(f"{method:10} median {np.median(took):6.0f} ms, fastest {took.min():6.0f} ms")
            browser.close()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
