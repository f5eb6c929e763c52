// The explorer's middle: the scene and its edits, the questions asked about it, and the drawing.
import { decodeScene, encodeScene, History } from "./address.js";
import { Lane } from "./api.js";
import { unpack } from "./arrays.js";
import { drawBase, drawMarks } from "./draw.js";
import { BOTH, pageHtml, panelHtml } from "./layout.js";
import { DARK, LIGHT, LOOPS, PALETTES } from "./palette.js";
import {
  compact, complete, forServer, geometryOf, isDirected, withLabel, withoutLabels, withSample,
} from "./scene.js";
import { context, copied, counted, described, element, fitCanvas, stored, tell } from "./small.js";
import { View } from "./view.js";

const IDLE = 350; // ms without an edit after which slower questions are asked
const LARGE = 6000; // vertices above which pictures are moved as bitmaps first

// A loop is the same loop in the next picture if it passes the same places.
const loopKey = ({ states }, { x, y }) => states.map((v) => `${x[v]},${y[v]}`).sort().join(" ");

// Tint of every loop, by its key: loops that were there before keep theirs, others get free ones.
function loopTints(cycles, geometry, before = new Map()) {
  const keys = cycles.map((cycle) => loopKey(cycle, geometry));
  const tints = new Map(keys.filter((key) => before.has(key)).map((key) => [key, before.get(key)]));
  const used = new Set([...tints.values()].map((tint) => tint % LOOPS.length));
  let next = 0;
  for (const key of keys) {
    if (tints.has(key)) continue;
    while (used.size < LOOPS.length && used.has(next % LOOPS.length)) next++;
    used.add(next % LOOPS.length);
    tints.set(key, next++);
  }
  return tints;
}

export class Core {
  constructor(root, ask, options) {
    Object.assign(this, { root, ask, options, panels: [], active: 0, tool: "walk", pointed: -1 });
    Object.assign(this, { found: null, route: null, pointers: new Map(), timings: [], view: new View() });
    root.classList.add("wf");
    root.explorer = this;
    root.innerHTML = pageHtml(PALETTES);
    this.lanes = Object.fromEntries(
      ["picture-0", "picture-1", "words", "verdict", "state", "route", "button"].map((name) => [name, new Lane(ask, name, name.startsWith("picture"))]));
  }

  role(name, within = this.root) {
    return within.querySelector(`[data-role="${name}"]`);
  }

  async start() {
    const reply = await this.ask("start", "{}");
    this.facts = JSON.parse(reply.body);
    const kept = this.options.widget ? null : location.hash.match(/^#s=(.+)$/);
    let scene = complete(compact(this.facts.scene));
    if (kept) {
      try {
        scene = complete(compact(await decodeScene(kept[1])));
        geometryOf(scene);
      } catch {
        scene = complete(compact(this.facts.scene));
        this.complain("the address does not hold a readable scene: this is the first one");
      }
    }
    if (scene.graph && !scene.graph.positions) scene = await this.placed(scene);
    scene = this.defined(scene);
    this.history = new History(scene);
    this.theme(stored("wayfield-theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
    this.fillMaps();
    this.listen();
    this.apply(scene);
  }

  stop() {
    this.observer?.disconnect();
    cancelAnimationFrame(this.frame);
    Object.values(this.lanes).forEach((lane) => lane.drop());
  }

  // A graph without positions gets some, once.
  async placed(scene) {
    const reply = await this.ask("layout", JSON.stringify({ scene: forServer(scene) }));
    const answer = JSON.parse(reply.body);
    if (reply.status !== 200) throw new Error(answer.error);
    return { ...scene, graph: { ...scene.graph, positions: answer.positions } };
  }

  complain(text, brief = false) {
    const place = this.role("error");
    place.hidden = !text;
    place.textContent = text && `${text[0].toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;
    this.brief = brief;
    clearTimeout(this.timers?.complaint);
    if (brief) this.later("complaint", 6000, () => this.complain(""));
  }

  called(vertex) {
    return this.scene.graph?.names?.[vertex] ?? `state ${vertex}`;
  }

  // ---------------------------------------------------------------- edits

  edit(scene, kind = "") {
    if (scene === null) {
      this.complain("the goal is in this cell: move it first, then paint the wall", true);
      return;
    }
    if (scene === this.scene) return;
    const sound = this.defined(scene);
    this.history.record(sound, kind);
    this.apply(sound);
  }

  // On directed graphs only p = ∞ is defined: report it, and use that.
  defined(scene) {
    if (!isDirected(scene)) return scene;
    const panels = scene.panels.map((panel) => {
      const fine = ["amle", "distance"].includes(panel.method);
      if (!fine) this.complain("with one-way moves only p = ∞ is defined: this is the AMLE", true);
      return fine ? panel : { ...panel, method: "amle" };
    });
    return panels.some((panel, i) => panel !== scene.panels[i]) ? { ...scene, panels } : scene;
  }

  apply(scene) {
    const before = this.scene;
    this.scene = scene;
    const changed = (key) => !before || before[key] !== scene[key];
    if (changed("maze") || changed("graph")) {
      this.geometry = geometryOf(scene);
      if (!this.geometry.maze || this.geometry.n <= this.pointed) this.pointed = -1;
    }
    const solve = ["maze", "graph", "goal", "labels", "noise", "panels", "budget"].some(changed);
    if (solve) this.found = this.reasons = null;
    if (this.panels.length !== scene.panels.length + (scene.panels.length > 1)) this.buildPanels();
    if (before && before.view.zoom !== scene.view.zoom) this.view.own = scene.view.zoom;
    if (!before) this.view.own = scene.view.zoom ?? null;
    this.render();
    if (solve) this.solve();
    else this.draw();
    if (before && before.view.start !== scene.view.start) this.askRoute();
    this.later("address", 250, () => this.keepAddress());
  }

  undo() {
    const scene = this.history.undo();
    if (scene) this.apply(scene);
  }

  redo() {
    const scene = this.history.redo();
    if (scene) this.apply(scene);
  }

  later(name, wait, what) {
    this.timers ??= {};
    clearTimeout(this.timers[name]);
    this.timers[name] = setTimeout(what, wait);
  }

  async keepAddress() {
    this.options.kept?.(forServer(this.scene));
    if (this.options.widget) return;
    const text = await encodeScene(this.scene);
    this.tooLarge = text === null;
    window.history.replaceState(null, "", text === null ? location.pathname : `#s=${text}`);
  }

  // ---------------------------------------------------------------- questions

  solve() {
    const { scene, geometry } = this;
    scene.panels.forEach((_, number) => {
      const panel = this.panels[number];
      let asked = null; // the settings at the moment of asking: the caption of this answer
      this.lanes[`picture-${number}`].request("picture",
        () => {
          asked = this.scene.panels[number] ?? scene.panels[number];
          return { scene: forServer(this.scene), panel: number };
        },
        (answer, began, stale) => this.arrived(panel, answer, geometry, began, stale, described(asked)),
        (error) => this.failed(panel, error));
    });
    this.later("busy", 400, () => this.busy("timing", "Solving …"));
    this.later("words", IDLE, () => this.askWords());
  }

  // A spinner, and what it stands for.
  busy(role, text) {
    this.role(role).textContent = text;
    this.role(role).classList.add("busy");
  }

  idle(role) {
    this.role(role).classList.remove("busy");
  }

  arrived(panel, answer, geometry, began, stale, caption) {
    const fits = answer.vertices === this.geometry.n ? this.geometry : geometry;
    if (answer.vertices !== fits.n) return;
    panel.caption = caption;
    const tints = loopTints(answer.cycles, fits, panel.tints);
    panel.geometry = fits;
    panel.tints = tints;
    panel.picture = {
      ...answer,
      values: unpack(answer.values, Float64Array),
      successor: unpack(answer.successor, Int32Array),
      basin: unpack(answer.basin, Int32Array),
      outcome: unpack(answer.outcome, Uint8Array),
      certified: unpack(answer.certified, Uint8Array),
      tints: answer.cycles.map((cycle) => tints.get(loopKey(cycle, fits))),
    };
    this.role("caption", panel.root).textContent = caption;
    panel.root.classList.remove("broken");
    if (!this.brief) this.complain("");
    this.difference();
    this.draw();
    this.renderAnswer();
    if (stale) return;
    if (this.scene.view.start !== null) this.askRoute();
    clearTimeout(this.timers.busy);
    this.idle("timing");
    requestAnimationFrame(() => {
      const took = performance.now() - began, first = this.options.widget && !this.timings.length;
      this.timings.push(took);
      // the first solve of a notebook compiles the kernels: its time says nothing about solving
      this.role("timing").textContent = first ? "The first picture took longer because of compiling; later ones are faster."
        : `Solved and drawn in ${Math.round(took)} ms.`;
      this.root.dataset.solved = String(Number(this.root.dataset.solved ?? 0) + 1);
    });
  }

  failed(panel, error) {
    panel.root.classList.add("broken");
    clearTimeout(this.timers.busy);
    this.idle("timing");
    this.role("timing").textContent = "";
    this.complain(error.message);
    this.role("try").textContent = "The picture is the one before this edit; ↶ undoes the edit.";
    this.root.dataset.solved = String(Number(this.root.dataset.solved ?? 0) + 1);
  }

  // The second field less the first.
  difference() {
    if (this.scene.panels.length < 2) return;
    const [a, b, last] = this.panels;
    if (!a.picture || !b.picture || a.picture.vertices !== b.picture.vertices) return;
    const values = b.picture.values.map((value, v) => value - a.picture.values[v]);
    const most = values.reduce((m, d) => (Number.isFinite(d) ? Math.max(m, Math.abs(d)) : m), 0);
    last.picture = { values, difference: true, most, vertices: values.length };
    last.geometry = a.geometry;
  }

  // Slower questions are asked once nothing changes any more, one after the other.
  askWords() {
    const question = () => ({ scene: forServer(this.scene), panel: this.active });
    this.lanes.words.request("words", question, (answer) => {
      this.role("words").innerHTML = "";
      for (const { word, text } of answer.lines) {
        this.role("words").append(element("dt", word), element("dd", text));
      }
      this.askVerdict(question);
    }, (error) => { this.role("verdict").textContent = error.message; });
  }

  askVerdict(question) {
    this.lanes.verdict.request("verdict", question, (answer) => {
      this.role("verdict").textContent = [answer.verdict, ...answer.remarks].join(" ");
    }, (error) => { this.role("verdict").textContent = error.message; });
  }

  askRoute() {
    const start = this.scene.view.start;
    if (start === null) {
      this.route = null;
      this.drawMarksOnly();
      return;
    }
    this.lanes.route.request("route",
      () => ({ scene: forServer(this.scene), panel: this.active, start }),
      (answer) => this.walk(answer), (error) => this.complain(error.message));
  }

  walk(answer) {
    const same = this.route && this.route.path.length === answer.path.length &&
      this.route.path.every((v, i) => v === answer.path[i]);
    this.route = { ...answer, progress: same ? 1 : 0 };
    const ends = { loop: "circles", "dead end": "ends at a state without a move" };
    const steps = counted(answer.path.length - 1, "steps", "step");
    const least = answer.least === null ? "" : ` (the shortest path costs ${tell(answer.least)})`;
    const from = `Walk from ${this.called(answer.path[0])}`;
    this.walked = answer.outcome === "unreachable" ? `${from}: no path leads to the goal.`
      : answer.outcome === "reached" ? `${from}: arrives after ${steps} at cost ${tell(answer.cost)}${least}.`
        : `${from}: never arrives; it ${ends[answer.outcome]} after ${steps}${least}.`;
    this.renderAnswer();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const began = performance.now(), whole = Math.min(2500, 250 + 22 * answer.path.length);
    const step = (now) => {
      if (!this.route) return;
      this.route.progress = same || still ? 1 : Math.min(1, (now - began) / whole);
      this.drawMarksOnly();
      if (this.route.progress < 1) this.frame = requestAnimationFrame(step);
    };
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(step);
  }

  askState(vertex) {
    if (vertex < 0) return;
    this.lanes.state.request("state",
      () => ({ scene: forServer(this.scene), panel: this.active, state: vertex }),
      (answer) => { if (this.pointed === answer.state) this.renderCard(answer); }, () => {});
  }

  // The buttons: each asks once, with a spinner and the reason for the wait, and shows the finding.
  press(endpoint, more, reason, done) {
    this.busy("finding", reason);
    this.lanes.button.request(endpoint,
      () => ({ scene: forServer(this.scene), ...more }),
      (answer) => { this.idle("finding"); done(answer); },
      (error) => { this.idle("finding"); this.role("finding").textContent = error.message; });
  }

  // The state with the widest bounds on its cost-to-go gets its true value.
  nextLabel() {
    this.press("next-label", {}, "Bounding every cost-to-go …", ({ state }) => {
      if (state !== null) this.edit(withLabel(this.scene, state));
      this.role("finding").textContent = state === null
        ? "The labels determine all costs-to-go." : `Labelled ${this.called(state)}: its cost-to-go was the least certain.`;
    });
  }

  // The labels that the value of a state rests on, with lines to them; the larger the weight, the broader.
  why(state, told) {
    told.textContent = "Tracing the value back to its labels …";
    this.lanes.button.request("why",
      () => ({ scene: forServer(this.scene), panel: this.active, state }),
      (answer) => {
        told.textContent = answer.text;
        this.reasons = { state, labels: answer.labels };
        this.drawMarksOnly();
      }, (error) => { told.textContent = error.message; });
  }

  findContradictions() {
    this.press("contradictions", {}, "Comparing the labels with shortest paths …", (answer) => {
      this.found = answer;
      this.role("finding").textContent = answer.finding;
      this.drawMarksOnly();
    });
  }

  dropSinks() {
    this.press("false-sinks", { panel: this.active }, "Looking for false sinks …", (answer) => {
      if (answer.dropped.length) this.edit(withoutLabels(this.scene, answer.dropped));
      const count = counted(answer.dropped.length, "labels", "label");
      this.role("finding").textContent = answer.dropped.length
        ? `${count} dropped: no neighbour was lower.` : "There are no false sinks: every label has a lower neighbour.";
    });
  }

  sample() {
    const share = Number(this.role("fraction").value) / 100, seed = Number(this.role("seed").value);
    this.lanes.button.request("sample", () => ({ scene: forServer(this.scene), share, seed }),
      (answer) => this.edit(withSample(this.scene, answer.vertices, share, seed)),
      (error) => this.complain(error.message));
  }

  // ---------------------------------------------------------------- drawing

  buildPanels() {
    const names = this.scene.panels.length > 1 ? ["A", "B", "B − A"] : [""];
    const kept = this.panels;
    this.role("panels").innerHTML = names.map(panelHtml).join("") + (names.length > 1 ? BOTH : "");
    this.role("panels").dataset.count = names.length;
    this.panels = [...this.role("panels").querySelectorAll(".panel")].map((root, number) => {
      const [base, marks] = root.querySelectorAll("canvas");
      const old = number < 2 ? kept[number] : null;
      this.listenTo(marks, number);
      return { root, base, marks, number, picture: old?.picture ?? null, geometry: old?.geometry ?? null,
        caption: old?.caption, tints: old?.tints };
    });
    this.active = Math.min(this.active, this.scene.panels.length - 1);
    this.observer?.disconnect();
    this.observer = new ResizeObserver(() => this.draw());
    this.panels.forEach(({ marks }) => this.observer.observe(marks.parentElement));
  }

  get look() {
    const dark = this.root.dataset.theme === "dark";
    return { ...(dark ? DARK : LIGHT), text: dark ? "#e8edf2" : "#16212c" };
  }

  shown(panel) {
    const { view } = this.scene, shown = { ...view.show, palette: view.palette };
    return panel.picture?.difference ? { ...shown, arrows: false, cycles: false, certified: false } : shown;
  }

  marks(panel) {
    const { scene } = this;
    return {
      labels: scene.view.show.labels ? scene.labels : null,
      goal: scene.goal,
      edges: this.found?.edges, wrong: this.found?.labels,
      route: panel.number === this.active ? this.route : null,
      reasons: panel.number === this.active && this.reasons?.state === this.pointed ? this.reasons : null,
      pointed: this.pointed,
    };
  }

  // Sizes follow the page. With `quick`, a large picture is moved as a bitmap first and drawn later.
  draw(quick = false) {
    for (const panel of this.panels) {
      const { width, height } = fitCanvas(panel.base), large = this.geometry.n > LARGE;
      fitCanvas(panel.marks);
      this.view.fit(this.geometry.box, width, height);
      if (quick && large && panel.drawn) this.moveBitmap(panel);
      else this.drawPanel(panel);
    }
    if (quick) this.later("redraw", 90, () => this.draw());
    this.drawMarksOnly();
  }

  drawPanel(panel) {
    const ctx = context(panel.base);
    drawBase(ctx, panel.geometry ?? this.geometry, panel.picture ?? {}, this.view, this.shown(panel), this.look);
    const { scale, left, top } = this.view;
    panel.drawn = { scale, left, top, image: null };
  }

  // Move and scale the picture as it was drawn last.
  moveBitmap({ base, drawn }) {
    drawn.image ??= copied(base);
    const ctx = context(base), times = this.view.scale / drawn.scale;
    ctx.fillStyle = this.look.paper;
    ctx.fillRect(0, 0, this.view.width, this.view.height);
    ctx.drawImage(drawn.image, this.view.left - times * drawn.left, this.view.top - times * drawn.top,
      times * this.view.width, times * this.view.height);
  }

  drawMarksOnly() {
    for (const panel of this.panels) {
      const ctx = context(panel.marks);
      ctx.clearRect(0, 0, this.view.width, this.view.height);
      drawMarks(ctx, this.geometry, this.marks(panel), this.view, this.look);
    }
  }
}
