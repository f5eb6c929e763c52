"""The explorer's page in a real browser: every tool is used, and what is shown is the library's."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from browsing import browsing, first_visit, serving
from wayfield.advice import Answer
from wayfield.explorer.scene import Panel, Scene, scene_of
from wayfield.graphs.labels import label_distance

ROOT = Path(__file__).parents[2]
LARGE = wf.load_layout("large")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


class Explorer:
    """The page, as a person uses it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.wrong: list[str] = []
        self.elsewhere: list[str] = []
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("request", lambda request: self.elsewhere.append(request.url))

    def open(self, address: str, rest: str = "") -> Explorer:
        self.home = address
        self.page.goto(f"{address}/{rest}")
        self.page.wait_for_selector("#explorer[data-solved]", timeout=120_000)
        return self

    def read(self, scene: Scene, folder: Path) -> None:
        """Open a scene from a file, as its button does."""
        file = folder / "scene.json"
        file.write_text(json.dumps(scene.to_json()))
        self.after(lambda: self.role("file").set_input_files(file))

    def role(self, name: str) -> Any:
        return self.page.locator(f'[data-role="{name}"]').first

    def inside(self, script: str, *given: Any) -> Any:
        """Evaluate JavaScript with the explorer as `it`."""
        return self.page.evaluate(
            f"([given]) => {{ const it = document.querySelector('#explorer').explorer; {script} }}",
            [list(given)],
        )

    @property
    def solved(self) -> int:
        return int(self.page.get_attribute("#explorer", "data-solved"))

    def until(self, condition: str, *given: Any, seconds: float = 120.0) -> None:
        """Wait until JavaScript says so. Playwright's own wait needs eval: the page forbids it."""
        end = time.monotonic() + seconds
        while not self.inside(f"return Boolean({condition})", *given):
            assert time.monotonic() < end, f"never: {condition}"
            self.page.wait_for_timeout(30)

    def after(self, act: Callable[[], object]) -> None:
        """Do something, and wait until the field that it asks for is drawn."""
        before = self.solved
        act()
        self.until("Number(it.root.dataset.solved) > given[0]", before)
        self.settle()

    def settle(self) -> None:
        """Wait until nothing is being asked any more."""
        self.until("!Object.values(it.lanes).some((lane) => lane.running || lane.next)")

    @property
    def scene(self) -> dict[str, Any]:
        found: dict[str, Any] = self.inside("return it.scene")
        return found

    def answer(self, panel: int = 0) -> Answer:
        """What the library says about the scene of the page."""
        from wayfield.explorer.compute import answer

        return answer(Scene.from_json(self.scene), panel)

    def values(self, panel: int = 0) -> np.ndarray[Any, Any]:
        texts = self.inside("return [...it.panels[given[0]].picture.values].map(String)", panel)
        return np.array([float(text.replace("Infinity", "inf")) for text in texts])

    def agrees(self) -> None:
        """Check values, moves, outcomes and the headline against the library."""
        answer = self.answer()
        np.testing.assert_array_equal(self.values(), answer.values)
        drawn = self.inside("return [...it.panels[0].picture.successor]")
        np.testing.assert_array_equal(drawn, answer.plan.successor)
        lost = answer.plan.num_able - answer.plan.num_arrived
        head = self.role("headline").inner_text()
        assert (f"{lost:,} of {answer.plan.num_able:,} starts" in head) if lost else "All" in head

    def at(self, vertex: int, canvas: int = 0) -> tuple[float, float]:
        """Where a vertex is on the screen."""
        x, y = self.inside(
            "return it.view.toPixels(it.geometry.x[given[0]], it.geometry.y[given[0]])", vertex
        )
        box = self.page.locator('canvas[data-role="marks"]').nth(canvas).bounding_box()
        return box["x"] + x, box["y"] + y

    def click(self, vertex: int, **how: Any) -> None:
        self.page.mouse.click(*self.at(vertex), **how)

    def drag(self, *vertices: int) -> None:
        places = [self.at(vertex) for vertex in vertices]
        self.page.mouse.move(*places[0])
        self.page.mouse.down()
        for place in places[1:]:
            self.page.mouse.move(*place, steps=4)
        self.page.mouse.up()

    def tool(self, name: str) -> None:
        self.page.click(f'[data-tool="{name}"]')

    def slide(self, role: str, value: int) -> None:
        self.role(role).evaluate(
            "(box, value) => { box.value = value; box.dispatchEvent(new Event('input')); "
            "box.dispatchEvent(new Event('change')); }",
            value,
        )


@pytest.fixture
def explorer(browser: Any) -> Iterator[Explorer]:
    context = browser.new_context(
        viewport={"width": 1280, "height": 720}, accept_downloads=True, reduced_motion="reduce"
    )
    found = Explorer(context.new_page())
    yield found
    context.close()
    assert found.wrong == []
    assert all(url.startswith((found.home, "blob:", "data:")) for url in found.elsewhere)


@pytest.fixture
def opened(explorer: Explorer, address: str) -> Explorer:
    return explorer.open(address)


def pixels(explorer: Explorer, vertex: int) -> list[int]:
    """Colour of the picture at a vertex."""
    found: list[int] = explorer.inside(
        "const { base } = it.panels[0]; const [x, y] = it.view.toPixels("
        "it.geometry.x[given[0]] - 0.3, it.geometry.y[given[0]] - 0.3);"
        "return [...base.getContext('2d').getImageData("
        "Math.round(x * base.ratio), Math.round(y * base.ratio), 1, 1).data]",
        vertex,
    )
    return found


# ---------------------------------------------------------------- a first visit


def test_a_first_visit_shows_a_loop_and_what_to_try_and_the_slider_mends_it(
    opened: Explorer,
) -> None:
    opened.agrees()
    assert "never reach the goal" in opened.role("headline").inner_text()
    assert "Drag p" in opened.role("try").inner_text()
    opened.page.focus('[data-role="p"]')
    opened.after(lambda: opened.page.keyboard.press("End"))
    opened.agrees()
    assert opened.role("headline").inner_text() == "All 2,943 starts reach the goal."
    assert opened.role("p-value").inner_text() == "∞"


def test_failing_starts_are_tinted_and_those_that_arrive_are_not(opened: Explorer) -> None:
    plan = opened.answer().plan
    fails = int(np.flatnonzero(plan.basin == 0)[5])
    red, _, blue = pixels(opened, fails)[:3]
    assert red > blue  # warm
    arrives = int(np.flatnonzero(plan.reached & (plan.steps > 20))[5])
    red, _, blue = pixels(opened, arrives)[:3]
    assert blue > red
    opened.page.uncheck('[data-show="failing"]')
    red, _, blue = pixels(opened, fails)[:3]
    assert blue > red


def test_the_p_slider_goes_through_the_family(opened: Explorer) -> None:
    for step, method in ((5, "p=8"), (1, "p=2.5"), (0, "harmonic")):
        opened.after(lambda step=step: opened.slide("p", step))
        assert opened.scene["panels"][0]["method"] == method
        opened.agrees()


def test_rule_ties_and_repair_are_switches(opened: Explorer) -> None:
    opened.after(lambda: opened.role("rule").select_option("q"))
    opened.after(lambda: opened.role("ties").select_option("index"))
    opened.agrees()
    assert opened.answer().plan.ties == "index"
    opened.after(lambda: opened.role("lift").check())
    opened.agrees()
    assert opened.role("headline").inner_text().startswith("All 2,943")


def test_the_graph_distance_is_one_click_away_and_the_verdict_is_in_words(opened: Explorer) -> None:
    opened.after(lambda: opened.role("distance").click())
    truth = wf.cost_to_go(wf.grid_graph(LARGE, 8), 40)
    np.testing.assert_array_equal(opened.values(), truth)
    opened.after(lambda: opened.role("distance").click())
    assert opened.scene["panels"][0]["method"] == "harmonic"
    opened.page.wait_for_timeout(400)
    opened.settle()
    graph = wf.grid_graph(LARGE, 8)
    labels = wf.sample_labels(graph, 40, 0.02, seed=54)
    expected = wf.compare(graph, labels, 40).verdict
    assert opened.role("verdict").inner_text() == expected
    words = opened.role("words").inner_text()
    assert "1,174 of 2,943 starts reach the goal" in words


# ---------------------------------------------------------------- states and walks


def test_pointing_at_a_state_tells_all_about_it(opened: Explorer) -> None:
    opened.page.mouse.move(*opened.at(1000))
    opened.page.wait_for_selector('[data-role="state-value"]')
    opened.settle()
    answer = opened.answer()
    card = opened.role("card").inner_text()
    assert float(opened.role("state-value").inner_text()) == pytest.approx(
        answer.values[1000], 1e-6
    )
    assert float(opened.role("state-gap").inner_text()) == pytest.approx(
        answer.certificate.gap[1000], 1e-3
    )
    rows = opened.page.locator(".moves tr").all_inner_texts()[1:]
    assert len(rows) == answer.graph.neighbours(1000).size
    taken = [row for row in rows if row.startswith("→")]
    assert len(taken) == 1
    assert taken[0].split()[1] == str(answer.plan.successor[1000])
    neighbour = int(answer.graph.neighbours(1000)[0])
    assert any(f"{1.0 + answer.values[neighbour]:.4g}" in row for row in rows)
    assert "labels near" in card
    assert "bracket" in card


def test_clicking_a_start_walks_the_plan(opened: Explorer) -> None:
    opened.click(2000)
    opened.until("it.route")
    walk = opened.answer().route(2000)
    assert opened.inside("return it.route.path") == walk.path.tolist()
    told = opened.role("try").inner_text()
    assert "never arrives; it circles after" in told
    least = wf.cost_to_go(opened.answer().graph, 40)[2000]
    assert f"{walk.path.size - 1} steps (the shortest path costs {least:g})" in told
    opened.after(lambda: opened.slide("p", 14))
    opened.settle()
    opened.until("it.role('try').innerText.includes('arrives')")
    assert opened.inside("return it.route.cost") == 83.0


def test_the_certified_region_follows_the_budget(opened: Explorer) -> None:
    opened.after(lambda: opened.slide("p", 14))
    opened.after(lambda: opened.slide("budget", 30))
    scene = opened.scene
    assert scene["budget"] > 0
    answer = opened.answer()
    shown = opened.inside("return [...it.panels[0].picture.certified]")
    np.testing.assert_array_equal(np.array(shown, bool), answer.certificate.certified)
    assert (
        f"{answer.certificate.certified.sum():,} moves certified"
        in opened.role("headline").inner_text()
    )


# ---------------------------------------------------------------- painting


def test_walls_terrain_and_one_way_cells_are_painted_and_erased(opened: Explorer) -> None:
    cells = wf.load_layout("large").to_text().splitlines()
    free = wf.grid_graph(LARGE, 8)
    assert free.positions is not None

    def middle(row: int, column: int) -> tuple[float, float]:
        x, y = opened.inside("return it.view.toPixels(...given)", 8 * column + 4, 8 * row + 4)
        box = opened.page.locator('canvas[data-role="marks"]').bounding_box()
        return box["x"] + x, box["y"] + y

    row, column = next((r, c) for r in range(2, 8) for c in range(2, 10) if cells[r][c] == "#")
    opened.tool("free")
    opened.after(lambda: opened.page.mouse.click(*middle(row, column)))
    text = opened.scene["maze"]["text"].splitlines()
    assert text[row][column] == "."
    opened.agrees()
    opened.tool("terrain")
    opened.role("cost").select_option("5")
    opened.after(lambda: opened.page.mouse.click(*middle(row, column)))
    assert opened.scene["maze"]["text"].splitlines()[row][column] == "5"
    opened.agrees()
    opened.tool("oneway")
    opened.role("way").select_option("v")
    opened.after(lambda: opened.page.mouse.click(*middle(row, column)))
    assert opened.scene["maze"]["text"].splitlines()[row][column] == "v"
    assert opened.scene["panels"][0]["method"] == "amle"
    assert "one-way" in opened.role("error").inner_text()
    assert opened.role("p").is_disabled()
    assert "only p = ∞" in opened.role("p-why").inner_text()
    opened.agrees()
    opened.tool("wall")
    opened.after(lambda: opened.page.mouse.click(*middle(row, column)))
    assert opened.scene["maze"]["text"] == "\n".join(cells)
    assert opened.role("p").is_enabled()
    assert not opened.role("p-why").is_visible()
    opened.agrees()


def test_loops_that_stay_keep_their_colours(opened: Explorer) -> None:
    tints = "return Object.fromEntries(it.panels[0].tints)"
    place = (
        "const { x, y, r } = it.geometry, cell = (c) => (Math.floor(c[given[0]] / r) + 0.5) * r;"
    )
    before = opened.inside(tints)
    box = opened.page.locator('canvas[data-role="marks"]').bounding_box()
    opened.tool("wall")
    kept = 0
    for cycle in opened.answer().plan.cycles:  # a wall over a loop: the numbers of others change
        x, y = opened.inside(f"{place} return it.view.toPixels(cell(x), cell(y))", int(cycle[0]))
        opened.after(lambda x=x, y=y: opened.page.mouse.click(box["x"] + x, box["y"] + y))
        after = opened.inside(tints)
        both = before.keys() & after.keys()
        assert {key: before[key] for key in both} == {key: after[key] for key in both}
        kept += len(both)
        opened.after(lambda: opened.page.click('[data-role="undo"]'))
        assert opened.inside(tints).keys() == before.keys()
        before = opened.inside(tints)  # loops that come back may have another colour
    assert kept


def test_the_caption_is_that_of_the_picture_shown(opened: Explorer) -> None:
    caption = opened.role("caption")
    assert caption.inner_text() == "p = 2, harmonic"
    # the answer is held back: the caption must not run ahead of the picture
    opened.inside("it.hold = it.ask; it.lanes['picture-0'].ask = () => new Promise(() => {})")
    opened.slide("p", 14)
    assert opened.scene["panels"][0]["method"] == "amle"
    assert caption.inner_text() == "p = 2, harmonic"
    opened.inside("it.lanes['picture-0'].drop(); it.lanes['picture-0'].ask = it.hold")


def test_a_wall_on_the_goal_is_refused_in_words(opened: Explorer) -> None:
    opened.tool("wall")
    before = opened.scene
    opened.click(40)
    assert "The goal is in this cell" in opened.role("error").inner_text()
    assert opened.scene == before


def test_a_map_and_a_refinement_are_chosen(opened: Explorer) -> None:
    opened.after(lambda: opened.role("map").select_option("umaze"))
    opened.settle()
    opened.until("it.scene.labels.drawn")
    opened.after(lambda: opened.role("refinement").fill("4") or opened.page.keyboard.press("Tab"))
    assert opened.scene["maze"]["refinement"] == 4
    assert opened.values().size == wf.grid_graph(wf.load_layout("umaze"), 4).num_vertices
    opened.agrees()
    opened.role("refinement").fill("65")
    opened.page.keyboard.press("Tab")
    assert "from 1 to 64" in opened.role("error").inner_text()


# ---------------------------------------------------------------- labels


def test_labels_are_dropped_dragged_typed_and_deleted(opened: Explorer) -> None:
    opened.tool("label")
    count = len(opened.scene["labels"]["vertices"])
    opened.after(lambda: opened.click(1500))
    assert opened.scene["labels"]["vertices"][-1] == 1500
    opened.agrees()
    opened.after(lambda: opened.drag(1500, 1503))
    assert 1503 in opened.scene["labels"]["vertices"]
    assert 1500 not in opened.scene["labels"]["vertices"]
    opened.click(1503)
    opened.role("typed").fill("12.5")
    opened.after(lambda: opened.page.click("dialog menu button:has-text('Set')"))
    at = opened.scene["labels"]["vertices"].index(1503)
    assert opened.scene["labels"]["values"][at] == 12.5
    assert opened.values()[1503] == 12.5
    opened.agrees()
    opened.after(lambda: opened.click(1503, button="right"))
    assert len(opened.scene["labels"]["vertices"]) == count
    opened.agrees()


def test_the_goal_is_set_and_labels_are_sampled(opened: Explorer) -> None:
    opened.tool("goal")
    opened.after(lambda: opened.click(2500))
    assert opened.scene["goal"] == 2500
    assert opened.values()[2500] == 0.0
    opened.agrees()
    opened.role("fraction").fill("5")
    opened.role("seed").fill("7")
    opened.after(lambda: opened.role("sample").click())
    drawn = wf.sample_labels(wf.grid_graph(LARGE, 8), 2500, 0.05, seed=7)
    assert sorted(opened.scene["labels"]["vertices"]) == drawn.vertices.tolist()
    opened.agrees()
    opened.after(lambda: opened.role("clear").click())
    assert opened.scene["labels"]["vertices"] == [2500]


def test_noise_contradictions_and_false_sinks(opened: Explorer) -> None:
    opened.after(lambda: opened.slide("p", 14))
    opened.after(lambda: opened.slide("noise", 24))
    assert opened.scene["noise"] == {"spread": 6.0, "seed": 0}
    opened.after(lambda: opened.role("shake").click())
    assert opened.scene["noise"] == {"spread": 6.0, "seed": 1}
    opened.agrees()
    labels = opened.answer().labels
    graph = wf.grid_graph(LARGE, 8)
    opened.role("contradictions").click()
    opened.settle()
    found = wf.contradictions(graph, labels)
    assert str(found.optimistic.labels.size) in opened.role("finding").inner_text()
    assert opened.inside("return it.found.edges.length") > 0
    dropped = wf.drop_false_sinks(graph, labels, 40).dropped
    opened.after(lambda: opened.role("sinks").click())
    assert not set(dropped.tolist()) & set(opened.scene["labels"]["vertices"])
    assert opened.role("headline").inner_text().startswith("All 2,943")


def test_the_next_label_is_dropped_where_the_library_says(opened: Explorer) -> None:
    opened.after(lambda: opened.role("clear").click())
    graph, truth = wf.grid_graph(LARGE, 8), wf.cost_to_go(wf.grid_graph(LARGE, 8), 40)
    known = [40]
    for _ in range(3):
        expected = int(wf.next_labels(graph, wf.Labels(known, truth[known]), 40)[0])
        opened.after(lambda: opened.role("next").click())
        known.append(expected)
        assert sorted(opened.scene["labels"]["vertices"]) == sorted(known)
        assert f"Labelled state {expected}" in opened.role("finding").inner_text()
    opened.agrees()
    opened.after(lambda: opened.role("sample").click())
    opened.after(lambda: opened.slide("noise", 40))
    opened.role("next").click()
    opened.settle()
    assert "labels contradict the graph" in opened.role("finding").inner_text()


def test_why_this_value_draws_the_labels_that_it_rests_on(opened: Explorer) -> None:
    graph = wf.grid_graph(LARGE, 8)
    labels = wf.sample_labels(graph, 40, 0.02, seed=54)
    opened.inside("it.point(1500)")
    opened.role("why").click()
    opened.settle()
    found = wf.extend(graph, labels, wf.Harmonic()).influence(1500)
    drawn = opened.inside("return it.reasons")
    assert drawn["state"] == 1500
    assert [label for label, _ in drawn["labels"]] == found.vertices[:50].tolist()
    assert f"rests on {found.vertices.size} labels" in opened.role("because").inner_text()
    opened.after(lambda: opened.role("clear").click())
    assert opened.inside("return it.reasons") is None


# ---------------------------------------------------------------- side by side


def test_two_settings_side_by_side_and_their_difference(opened: Explorer) -> None:
    opened.after(lambda: opened.role("compare").click())
    assert opened.page.locator(".panel").count() == 3
    graph = wf.grid_graph(LARGE, 8)
    labels = wf.sample_labels(graph, 40, 0.02, seed=54)
    fields = [wf.extend(graph, labels, m).values for m in (wf.Harmonic(), wf.AMLE())]
    for number, field in enumerate([*fields, fields[1] - fields[0]]):
        np.testing.assert_array_equal(opened.values(number), field)
    both = opened.role("both").inner_text()
    assert "1,174" in both
    assert f"by {float(f'{np.abs(fields[1] - fields[0]).max():.4g}'):g}" in both.replace("−", "")
    opened.page.click('[data-panel="1"]')
    opened.after(lambda: opened.slide("p", 7))
    assert [panel["method"] for panel in opened.scene["panels"]] == ["harmonic", "p=16"]
    sixteen = wf.extend(graph, labels, wf.PLaplacian(16.0), check=False).values
    np.testing.assert_array_equal(opened.values(2), sixteen - fields[0])
    opened.after(lambda: opened.role("compare").click())
    assert opened.page.locator(".panel").count() == 1


# ---------------------------------------------------------------- keep and share


def test_undo_and_redo(opened: Explorer) -> None:
    first = opened.scene
    opened.after(lambda: opened.slide("p", 14))
    opened.tool("label")
    opened.after(lambda: opened.click(1500))
    last = opened.scene
    opened.page.focus('canvas[data-role="marks"]')
    opened.after(lambda: opened.page.keyboard.press("Control+z"))
    opened.after(lambda: opened.role("undo").click())
    assert opened.scene == first
    assert opened.role("undo").is_disabled()
    opened.after(lambda: opened.page.keyboard.press("Control+y"))
    opened.after(lambda: opened.role("redo").click())
    assert opened.scene == last
    opened.agrees()


def test_the_address_opens_the_same_picture_elsewhere(
    opened: Explorer, browser: Any, address: str
) -> None:
    opened.tool("label")
    opened.after(lambda: opened.click(1500))
    opened.after(lambda: opened.slide("p", 5))
    opened.page.wait_for_timeout(500)
    rest = opened.page.evaluate("location.hash")
    assert rest.startswith("#s=")
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    other = Explorer(context.new_page()).open(address, rest)
    assert other.scene == opened.scene
    np.testing.assert_array_equal(other.values(), opened.values())
    context.close()
    assert other.wrong == []


def test_an_address_that_is_none_is_said(explorer: Explorer, address: str) -> None:
    explorer.open(address, "#s=nonsense")
    assert "holds no scene" in explorer.role("error").inner_text() or explorer.scene["goal"] == 40


def saved(explorer: Explorer, role: str) -> Path:
    explorer.role("exports").click()
    with explorer.page.expect_download() as told:
        explorer.role(role).click()
    return Path(told.value.path())


def test_exports_are_a_picture_a_scene_and_a_program(opened: Explorer, tmp_path: Path) -> None:
    opened.after(lambda: opened.slide("p", 5))
    assert saved(opened, "png").read_bytes().startswith(b"\x89PNG")
    svg = saved(opened, "svg").read_text()
    assert svg.startswith("<svg")
    assert svg.count("<path") > 5
    assert "data:image/png" in svg
    file = saved(opened, "json")
    assert Scene.from_json(json.loads(file.read_text())) == Scene.from_json(opened.scene)
    opened.role("exports").click()
    opened.role("python").click()
    opened.page.wait_for_selector('[data-role="code"]')
    code = opened.role("code").input_value()
    assert len(code.splitlines()) <= 10
    scope: dict[str, Any] = {}
    exec(code, scope)
    np.testing.assert_array_equal(scope["answer"].values, opened.values())
    opened.page.click("dialog menu button:has-text('Close')")
    kept = tmp_path / "scene.json"
    kept.write_bytes(file.read_bytes())
    before = opened.scene
    opened.after(lambda: opened.slide("p", 0))
    opened.after(lambda: opened.role("file").set_input_files(kept))
    assert opened.scene["panels"] == before["panels"]
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    opened.role("file").set_input_files(wrong)
    opened.until("it.role('error').innerText.includes('is not a scene')")


def test_errors_of_the_server_are_said_in_words(opened: Explorer) -> None:
    opened.after(
        lambda: opened.inside("it.edit({ ...it.scene, labels: { vertices: [3], values: [1] } })")
    )
    assert "The goal has no label" in opened.role("error").inner_text()
    opened.after(lambda: opened.role("undo").click())
    assert opened.role("error").is_hidden()


# ---------------------------------------------------------------- keys, touch, phones, dark


def test_keys_do_what_the_mouse_does(opened: Explorer) -> None:
    opened.page.focus('canvas[data-role="marks"]')
    opened.page.keyboard.press("ArrowRight")
    opened.page.keyboard.press("ArrowRight")
    assert opened.inside("return it.pointed") == 41
    opened.page.keyboard.press("2")
    opened.after(lambda: opened.page.keyboard.press("Enter"))
    assert 41 in opened.scene["labels"]["vertices"]
    opened.after(lambda: opened.page.keyboard.press("Delete"))
    assert 41 not in opened.scene["labels"]["vertices"]
    opened.after(lambda: opened.page.keyboard.press("]"))
    assert opened.scene["panels"][0]["method"] == "p=2.5"
    opened.after(lambda: opened.page.keyboard.press("d"))
    assert opened.scene["panels"][0]["method"] == "distance"
    opened.page.keyboard.press("+")
    assert opened.inside("return it.view.scale / it.view.whole") == pytest.approx(1.25)
    opened.page.keyboard.press("0")
    assert opened.inside("return it.view.scale / it.view.whole") == 1.0
    opened.page.keyboard.press("?")
    assert "tools: walk" in opened.role("dialog").inner_text()


def test_pan_and_zoom(opened: Explorer) -> None:
    x, y = opened.at(1000)
    opened.page.mouse.move(x, y)
    opened.page.mouse.wheel(0, -500)
    assert opened.inside("return it.view.scale / it.view.whole") > 1.5
    assert opened.at(1000) == pytest.approx((x, y), abs=2.0)
    opened.tool("pan")
    opened.page.mouse.move(x, y)
    opened.page.mouse.down()
    opened.page.mouse.move(x + 60, y + 30, steps=3)
    opened.page.mouse.up()
    assert opened.at(1000) == pytest.approx((x + 60, y + 30), abs=2.0)


def test_dark_and_light_and_palettes(opened: Explorer) -> None:
    theme = opened.page.get_attribute("#explorer", "data-theme")
    opened.role("theme").click()
    assert opened.page.get_attribute("#explorer", "data-theme") != theme
    before = pixels(opened, 5)
    opened.role("palette").select_option("cividis")
    assert pixels(opened, 5) != before


def test_a_phone_shows_it_all_and_fingers_work(browser: Any, address: str) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
        device_scale_factor=2,
        reduced_motion="reduce",
    )
    phone = Explorer(context.new_page()).open(address)
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
    box = phone.page.locator('canvas[data-role="marks"]').bounding_box()
    assert box["width"] > 340
    assert box["y"] + box["height"] < 844
    phone.page.touchscreen.tap(*phone.at(2000))
    phone.until("it.route")
    assert phone.inside("return it.route.path[0]") == 2000
    phone.tool("label")
    far = int(np.argmax(label_distance(phone.answer().graph, phone.answer().labels)))
    phone.after(lambda: phone.page.touchscreen.tap(*phone.at(far)))
    assert len(phone.scene["labels"]["vertices"]) == 61
    context.close()
    assert phone.wrong == []


# ---------------------------------------------------------------- graphs of one's own


@pytest.fixture(scope="module")
def roads() -> Iterator[str]:
    data = ROOT / "examples" / "data"
    with serving(data / "roads.csv", data / "known.csv", "--goal", "Bern", warm=False) as found:
        yield found


def test_a_road_graph_of_one_s_own(explorer: Explorer, roads: str) -> None:
    explorer.open(roads)
    explorer.agrees()
    names = explorer.scene["graph"]["names"]
    geneva = names.index("Genève")
    explorer.page.mouse.move(*explorer.at(geneva))
    explorer.page.wait_for_selector('[data-role="state-value"]')
    explorer.settle()
    card = explorer.role("card").inner_text()
    assert "Genève" in card
    assert "Lausanne" in card
    explorer.click(geneva)
    explorer.until("it.route")
    assert explorer.inside("return it.route.path") == explorer.answer().route(geneva).path.tolist()
    explorer.tool("label")
    thun = names.index("Thun")
    explorer.after(lambda: explorer.click(thun))
    assert thun in explorer.scene["labels"]["vertices"]
    explorer.agrees()
    assert explorer.page.locator('[data-tool="wall"]').is_hidden()
    explorer.page.wait_for_timeout(500)
    assert explorer.page.evaluate("location.hash").startswith("#s=")


def test_twenty_thousand_vertices_move_smoothly(opened: Explorer, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    points = rng.uniform(size=(20_000, 2)) * 100
    from scipy.spatial import cKDTree

    pairs = cKDTree(points).query_pairs(1.0, output_type="ndarray")
    away = np.hypot(*(points[pairs[:, 0]] - points[pairs[:, 1]]).T)
    graph = wf.Graph.from_edges(pairs[:, 0], pairs[:, 1], away, 20_000, positions=points)
    piece = np.flatnonzero(graph.components == np.bincount(graph.components).argmax())
    goal = int(piece[0])
    truth = wf.cost_to_go(graph, goal)
    chosen = np.union1d(rng.choice(piece, 300, replace=False), piece[:1])
    labels = wf.Labels(chosen, truth[chosen])
    opened.read(scene_of(graph, labels, goal, panels=[Panel("harmonic")]), tmp_path)
    assert opened.values().size == 20_000
    opened.agrees()
    opened.tool("pan")
    box = opened.page.locator('canvas[data-role="marks"]').bounding_box()
    opened.page.mouse.move(box["x"] + 300, box["y"] + 200)
    opened.page.mouse.down()
    quick = opened.inside(
        "const took = []; for (let k = 0; k < 20; k++) { const began = performance.now();"
        "it.view.pan(3, 1); it.draw(true); took.push(performance.now() - began); }"
        "took.sort((a, b) => a - b); return took[10]"
    )
    opened.page.mouse.up()
    assert quick < 100.0
    opened.role("fit").click()
    opened.tool("label")
    vertex = opened.scene["labels"]["vertices"][7]
    opened.after(lambda: opened.click(vertex, button="right"))
    assert vertex not in opened.scene["labels"]["vertices"]


# ---------------------------------------------------------------- the widget, and speed


def test_the_widget_s_bundle_draws_the_same(browser: Any) -> None:
    from wayfield.explorer.api import respond
    from wayfield.explorer.notebook import bundle
    from wayfield.explorer.server import start_facts

    scene = first_visit()

    def answer(sent: dict[str, Any]) -> dict[str, Any]:
        if sent["name"] == "start":
            return {"id": sent["id"], "status": 200, "body": json.dumps(start_facts(scene))}
        reply = respond(sent["name"], sent["body"].encode())
        return {"id": sent["id"], "status": reply.status, "body": reply.body.decode()}

    page = browser.new_page(viewport={"width": 1000, "height": 700})
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.expose_function("kernel", answer)
    page.set_content("<div id='cell'></div><img class='still-7' alt='a saved picture'>")
    code = base64.b64encode(bundle().encode()).decode()
    page.evaluate(
        """async (code) => {
          const { default: widget } = await import(`data:text/javascript;base64,${code}`);
          let heard = null;
          const model = {
            on: (_, told) => { heard = told; },
            send: async (sent) => heard(await window.kernel(sent)),
            get: (name) => ({ still: "still-7" })[name],
            set: (name, value) => { window.kept = [name, value]; },
            save_changes: () => {},
          };
          window.stop = await widget.render({ model, el: document.querySelector("#cell") });
        }""",
        code,
    )
    page.wait_for_selector("#cell[data-solved]", timeout=60_000)
    assert "1,769 of 2,943 starts never reach the goal" in page.inner_text('[data-role="headline"]')
    page.wait_for_function("window.kept && window.kept[1].goal === 40")
    assert page.locator('[data-role="share"]').is_hidden()  # no address holds it
    assert page.locator(".still-7").is_hidden()  # while the widget is alive
    page.evaluate("window.stop()")
    assert page.locator(".still-7").is_visible()
    page.close()
    assert wrong == []


def test_dragging_drops_stale_answers_and_ends_at_the_newest(opened: Explorer) -> None:
    opened.tool("label")
    row = list(range(1500, 1507))
    opened.after(lambda: opened.click(row[0]))
    opened.drag(*row)
    opened.settle()
    assert row[-1] in opened.scene["labels"]["vertices"]
    opened.agrees()


def test_text_of_the_page_is_never_markup(opened: Explorer, tmp_path: Path) -> None:
    graph = wf.Graph.from_edges([0, 1], [1, 2], positions=[[0, 0], [1, 0], [2, 0]])
    evil = "<img src=x onerror=document.title='owned'>"
    opened.read(scene_of(graph, wf.Labels([0, 2], [0.0, 2.0]), 0, [evil, evil, "c"]), tmp_path)
    for vertex in (0, 1):
        opened.page.mouse.move(*opened.at(vertex))
        opened.page.wait_for_timeout(200)
        opened.settle()
    opened.tool("label")
    opened.click(2)
    assert opened.page.title() == "wayfield explorer"
    assert opened.page.locator("img").count() == 0
    assert re.search("<img", opened.role("card").inner_text())


def test_a_click_in_a_wall_is_answered_and_nothing_moves(opened: Explorer) -> None:
    """The message lies over the lower edge of the picture."""
    canvas = opened.page.locator('canvas[data-role="marks"]').first
    before = canvas.bounding_box()
    opened.page.mouse.click(before["x"] + before["width"] / 2, before["y"] + 8)
    assert "This is a wall" in opened.role("error").inner_text()
    assert canvas.bounding_box() == before


def test_on_a_telephone_no_tool_is_cut_off(opened: Explorer) -> None:
    opened.page.set_viewport_size({"width": 390, "height": 844})
    tools = opened.page.locator(".tools button:visible")
    for number in range(tools.count()):
        box = tools.nth(number).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
