// Mouse, fingers and keys.
import { Controls } from "./controls.js";
import { HELP, P_STEPS } from "./layout.js";
import {
  labelAt, withCell, withGoal, withLabel, withLabelMoved, withoutLabels, withPanel, withView,
} from "./scene.js";
import { pixel, plainText, wordOf } from "./small.js";

const DRAG = 5; // pixels that make a click a drag

export class Hands extends Controls {
  listenTo(canvas, number) {
    canvas.addEventListener("pointerdown", (event) => this.down(event, canvas, number));
    canvas.addEventListener("pointermove", (event) => this.move(event, canvas));
    canvas.addEventListener("pointerup", (event) => this.up(event, canvas));
    canvas.addEventListener("pointercancel", (event) => this.up(event, canvas, true));
    canvas.addEventListener("pointerleave", () => { if (!this.pointers.size) this.point(-1); });
    canvas.addEventListener("contextmenu", (event) => { event.preventDefault(); this.deleteLabel(this.under(event, canvas)); });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const [px, py] = pixel(event, canvas);
      this.view.zoom(Math.exp(-0.0015 * event.deltaY), px, py);
      this.draw(true);
      this.later("settle", 200, () => this.settle());
    }, { passive: false });
  }

  under(event, canvas) {
    const place = this.view.toPlace(...pixel(event, canvas));
    return this.geometry.vertexAt(...place, Math.max(1.2 * this.geometry.spacing, 14 / this.view.scale));
  }

  // A label within reach of a finger, the nearest first.
  labelUnder(event, canvas) {
    const [px, py] = pixel(event, canvas), reach = event.pointerType === "touch" ? 14 : 9;
    let best = -1, least = reach;
    for (const v of this.scene.labels.vertices) {
      const [x, y] = this.view.toPixels(this.geometry.x[v], this.geometry.y[v]);
      const away = Math.hypot(x - px, y - py);
      if (away < least) [best, least] = [v, away];
    }
    return best;
  }

  down(event, canvas, number) {
    if (event.button > 1) return;
    canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, pixel(event, canvas));
    if (number < this.scene.panels.length && number !== this.active) this.activate(number);
    this.drag = { at: pixel(event, canvas), moved: false, pan: this.tool === "pan" || event.button === 1, label: -1 };
    if (this.tool === "label" || this.tool === "goal") this.drag.label = this.labelUnder(event, canvas);
    if (this.pointers.size > 1) this.drag.pan = true;
    if (this.paints) this.paint(event, canvas);
  }

  get paints() {
    return this.scene.maze && ["wall", "free", "terrain", "oneway"].includes(this.tool);
  }

  paint(event, canvas) {
    if (this.pointers.size > 1) return;
    const [x, y] = this.view.toPlace(...pixel(event, canvas)), { r } = this.geometry;
    this.edit(withCell(this.scene, Math.floor(y / r), Math.floor(x / r), this.symbol), `paint ${this.stroke}`);
  }

  get symbol() {
    return { wall: "#", free: ".", terrain: this.role("cost").value, oneway: this.role("way").value }[this.tool];
  }

  move(event, canvas) {
    const held = this.pointers.get(event.pointerId), now = pixel(event, canvas);
    if (!held) {
      if (event.pointerType !== "touch") this.point(this.under(event, canvas));
      return;
    }
    if (this.pointers.size > 1) this.pinch(event.pointerId, now);
    else if (this.drag.moved || Math.hypot(now[0] - this.drag.at[0], now[1] - this.drag.at[1]) > DRAG) {
      this.drag.moved = true;
      this.dragTo(event, canvas, held, now);
    }
    this.pointers.set(event.pointerId, now);
  }

  dragTo(event, canvas, held, now) {
    if (this.drag.label >= 0) {
      const to = this.under(event, canvas);
      if (to < 0 || to === this.drag.label || labelAt(this.scene, to) >= 0) return;
      this.edit(withLabelMoved(this.scene, this.drag.label, to), `drag ${this.stroke}`);
      this.drag.label = to;
    } else if (this.paints && !this.drag.pan) this.paint(event, canvas);
    else {
      this.drag.pan = true;
      this.view.pan(now[0] - held[0], now[1] - held[1]);
      this.draw(true);
    }
  }

  // Two fingers move and stretch the picture.
  pinch(id, now) {
    const other = [...this.pointers.entries()].find(([key]) => key !== id)[1], before = this.pointers.get(id);
    const long = ([x, y]) => Math.hypot(x - other[0], y - other[1]) || 1;
    this.view.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    this.view.zoom(long(now) / long(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    this.drag.moved = true;
    this.draw(true);
  }

  up(event, canvas, cancelled = false) {
    if (!this.pointers.delete(event.pointerId)) return;
    const { moved, pan } = this.drag;
    this.stroke = (this.stroke ?? 0) + 1;
    this.history.pause();
    if (pan || moved) this.settle();
    if (!moved && !cancelled && !this.paints && event.button === 0) this.use(this.under(event, canvas), this.labelUnder(event, canvas));
  }

  // The tool, used at a state.
  use(vertex, label = -1) {
    if (vertex < 0) {
      if (this.scene.maze) this.complain("this is a wall: choose a free cell, or remove the wall with the tool Erase", true);
      return;
    }
    this.point(vertex);
    if (this.tool === "goal") this.edit(withGoal(this.scene, vertex));
    else if (this.tool === "label" && label >= 0) this.typeValue(label);
    else if (this.tool === "label") this.edit(withLabel(this.scene, vertex));
    else if (this.paints) {
      const { r, x, y } = this.geometry;
      this.edit(withCell(this.scene, Math.floor(y[vertex] / r), Math.floor(x[vertex] / r), this.symbol));
    } else if (this.tool === "walk") this.edit(withView(this.scene, { start: vertex }), "start");
  }

  deleteLabel(vertex) {
    if (vertex === this.scene.goal) this.complain("the goal needs its label", true);
    else if (labelAt(this.scene, vertex) >= 0) this.edit(withoutLabels(this.scene, [vertex]));
  }

  typeValue(vertex) {
    const value = this.scene.labels.values[labelAt(this.scene, vertex)];
    const known = this.panels[this.active].picture?.labels;
    const shown = value ?? known?.values[known.vertices.indexOf(vertex)] ?? "";
    this.show(`<h2>Label of ${plainText(this.called(vertex))}</h2><label class="row"><span>value</span><input type="number" step="any" data-role="typed" value="${shown}"></label>`, [
      ["Set", (dialog) => {
        const text = this.role("typed", dialog).value;
        if (text !== "" && Number.isFinite(Number(text))) this.edit(withLabel(this.scene, vertex, Number(text)));
      }],
      ["True value", () => this.edit(withLabel(this.scene, vertex, null))],
      ["Delete", () => this.deleteLabel(vertex)],
      ["Cancel", null],
    ]);
  }

  point(vertex) {
    if (vertex === this.pointed) return;
    this.pointed = vertex;
    this.drawMarksOnly();
    if (vertex >= 0) this.later("state", 40, () => this.askState(vertex));
  }

  // ---------------------------------------------------------------- keys

  key(event) {
    const typing = event.target.closest("input, select, textarea, dialog");
    if (event.ctrlKey || event.metaKey) {
      const key = event.key.toLowerCase();
      if (typing || !["z", "y"].includes(key)) return;
      event.preventDefault();
      if (key === "y" || event.shiftKey) this.redo();
      else this.undo();
      return;
    }
    if (typing || event.altKey) return;
    const tools = [...this.root.querySelectorAll("[data-tool]")].map((b) => b.dataset.tool);
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const middle = [this.view.width / 2, this.view.height / 2];
    const keys = {
      "[": () => this.stepP(-1), "]": () => this.stepP(1), d: () => this.toggleDistance(),
      c: () => this.toggleCompare(), s: () => this.share(), "?": () => this.show(HELP), 0: () => this.fit(),
      t: () => this.theme(this.root.dataset.theme === "dark" ? "light" : "dark"),
      "+": () => { this.view.zoom(1.25, ...middle); this.settle(); this.draw(); },
      "-": () => { this.view.zoom(0.8, ...middle); this.settle(); this.draw(); },
      Delete: () => this.deleteLabel(this.pointed), Backspace: () => this.deleteLabel(this.pointed),
      Escape: () => this.edit(withView(this.scene, { start: null })),
    };
    const onCanvas = event.target.tagName === "CANVAS";
    if (arrows[event.key] && onCanvas) this.step(arrows[event.key]);
    else if ((event.key === "Enter" || event.key === " ") && onCanvas) this.use(this.pointed, labelAt(this.scene, this.pointed) >= 0 ? this.pointed : -1);
    else if (/^[1-8]$/.test(event.key)) this.choose(tools[event.key - 1]);
    else if (keys[event.key]) keys[event.key]();
    else return;
    event.preventDefault();
  }

  stepP(by) {
    const at = Number(this.role("p").value) + by;
    if (!this.role("p").disabled && P_STEPS[at] !== undefined) this.edit(withPanel(this.scene, this.active, { method: wordOf(P_STEPS[at]) }), "p");
  }

  // The state that lies nearest in a direction.
  step([dx, dy]) {
    const { x, y, n, maze } = this.geometry, from = this.pointed < 0 ? this.scene.goal : this.pointed;
    if (this.pointed < 0) return this.point(from);
    if (maze) {
      const beside = this.geometry.vertexAt(x[from] + dx, y[from] + dy);
      if (beside >= 0) this.point(beside);
      return undefined;
    }
    let best = -1, least = Infinity;
    for (let v = 0; v < n; v++) {
      const along = (x[v] - x[from]) * dx + (y[v] - y[from]) * dy;
      const aside = Math.abs((x[v] - x[from]) * dy - (y[v] - y[from]) * dx);
      if (along > 0 && along + 2 * aside < least) [best, least] = [v, along + 2 * aside];
    }
    return best >= 0 ? this.point(best) : undefined;
  }
}
