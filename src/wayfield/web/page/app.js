// The explorer: what is shown, what is asked, what is done with a mouse, a finger or a key.
import { unpack } from "./arrays.js";
import { encodeScene, decodeScene, History } from "./address.js";
import { Lane } from "./api.js";
import { drawBase, drawMarks } from "./draw.js";
import { asJson, asPng, asSvg, save } from "./export.js";
import { HELP, METHODS, P_STEPS, pageHtml, panelHtml } from "./layout.js";
import { DARK, gradient, LIGHT, PALETTES } from "./palette.js";
import {
  blankMaze, compact, complete, forServer, geometryOf, isDirected, labelAt, mazeParts, withCell,
  withGoal, withLabel, withLabelMoved, withMaze, withNewMaze, withoutLabels, withPanel, withSample,
  withView,
} from "./scene.js";
import { View } from "./view.js";

const IDLE = 350; // ms without an edit after which slower questions are asked
const DRAG = 5; // pixels that make a click a drag
const LARGE = 6000; // vertices above which pictures are moved as bitmaps first

export async function mount(root, ask, options = {}) {
  const explorer = new Explorer(root, ask, options);
  await explorer.start();
  return () => explorer.stop();
}

export const wordOf = (p) => (p === 2 ? "harmonic" : p === Infinity ? "amle" : `p=${p}`);

export function pOf(word) {
  if (word === "harmonic") return 2;
  if (word === "amle") return Infinity;
  return word.startsWith("p=") ? Number(word.slice(2)) : null;
}

const tell = (number, digits = 4) => {
  if (number === null || number === undefined) return "∞";
  if (!Number.isFinite(number)) return "∞";
  return String(Number(Number(number).toPrecision(digits)));
};
const counted = (n, things, thing) => `${n.toLocaleString("en")} ${n === 1 ? thing : things}`;

class Explorer {
  constructor(root, ask, options) {
    Object.assign(this, { root, ask, options, panels: [], active: 0, tool: "walk", pointed: -1 });
    Object.assign(this, { found: null, route: null, pointers: new Map(), timings: [], view: new View() });
    root.classList.add("wf");
    root.explorer = this;
    root.innerHTML = pageHtml(PALETTES);
    this.lanes = Object.fromEntries(
      ["picture-0", "picture-1", "words", "verdict", "state", "route", "button"].map((name) => [name, new Lane(ask, name)]));
  }

  role(name, within = this.root) {
    return within.querySelector(`[data-role="${name}"]`);
  }

  async start() {
    const reply = await this.ask("start", "{}");
    this.facts = JSON.parse(reply.body);
    const kept = this.options.widget ? null : location.hash.match(/^#s=(.+)$/);
    let scene = complete(compact(this.facts.scene));
    this.first = !kept;
    if (kept) {
      try {
        scene = complete(compact(await decodeScene(kept[1])));
        geometryOf(scene);
      } catch {
        scene = complete(compact(this.facts.scene));
        this.complain("the address holds no scene that can be read: this is the usual one");
      }
    }
    if (scene.graph && !scene.graph.positions) scene = await this.placed(scene);
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

  // ---------------------------------------------------------------- edits

  edit(scene, kind = "") {
    if (scene === null) {
      this.complain("the goal stands there: move it first");
      return;
    }
    if (scene === this.scene) return;
    this.first = false;
    const sound = this.defined(scene);
    this.history.record(sound, kind);
    this.apply(sound);
  }

  // One-way moves leave p = ∞ alone: say so, and go there.
  defined(scene) {
    if (!isDirected(scene)) return scene;
    const panels = scene.panels.map((panel) => {
      const fine = ["amle", "distance", "mended"].includes(panel.method);
      if (!fine) this.complain("where moves are one-way, p = ∞ alone is defined: shown is the AMLE", true);
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
    if (solve) this.found = null;
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
      this.lanes[`picture-${number}`].request("picture",
        () => ({ scene: forServer(this.scene), panel: number }),
        (answer, began, stale) => this.arrived(panel, answer, geometry, began, stale),
        (error) => this.failed(panel, error));
    });
    this.later("words", IDLE, () => this.askWords());
  }

  arrived(panel, answer, geometry, began, stale) {
    const fits = answer.vertices === this.geometry.n ? this.geometry : geometry;
    if (answer.vertices !== fits.n) return;
    panel.geometry = fits;
    panel.picture = {
      ...answer,
      values: unpack(answer.values, Float64Array),
      successor: unpack(answer.successor, Int32Array),
      basin: unpack(answer.basin, Int32Array),
      outcome: unpack(answer.outcome, Uint8Array),
      certified: unpack(answer.certified, Uint8Array),
    };
    panel.root.classList.remove("broken");
    this.complain("");
    this.difference();
    this.draw();
    this.renderAnswer();
    if (stale) return;
    if (this.scene.view.start !== null) this.askRoute();
    requestAnimationFrame(() => {
      const took = performance.now() - began;
      this.timings.push(took);
      this.role("timing").textContent = `Solved and drawn in ${Math.round(took)} ms.`;
      this.root.dataset.solved = String(Number(this.root.dataset.solved ?? 0) + 1);
    });
  }

  failed(panel, error) {
    panel.root.classList.add("broken");
    this.complain(error.message);
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

  askWords() {
    const question = () => ({ scene: forServer(this.scene), panel: this.active });
    const quiet = () => {};
    this.lanes.words.request("words", question, (answer) => {
      this.role("words").innerHTML = "";
      for (const { word, text } of answer.lines) {
        this.role("words").append(element("dt", word), element("dd", text));
      }
    }, quiet);
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
    const ends = { reached: "arrives", loop: "runs into a loop", "dead end": "ends at a state without a move", unreachable: "cannot reach the goal" };
    const least = answer.least === null ? "no way leads to the goal" : `least possible ${tell(answer.least)}`;
    this.walked = `Walk from ${this.called(answer.path[0])}: ${ends[answer.outcome]} after ` +
      `${counted(answer.path.length - 1, "steps", "step")} at cost ${tell(answer.cost)}; ${least}.`;
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

  // The buttons: each asks once, and says what was found.
  press(endpoint, more, done) {
    this.role("finding").textContent = "…";
    this.lanes.button.request(endpoint,
      () => ({ scene: forServer(this.scene), ...more }), done,
      (error) => { this.role("finding").textContent = error.message; });
  }

  findContradictions() {
    this.press("contradictions", {}, (answer) => {
      this.found = answer;
      this.role("finding").textContent = answer.finding;
      this.drawMarksOnly();
    });
  }

  mend() {
    this.press("mend", {}, (answer) => {
      this.found = answer;
      this.role("finding").textContent = answer.finding;
      if (!answer.unchanged) {
        const use = element("button", "Plan on the mended graph");
        use.onclick = () => this.edit(withPanel(this.scene, this.active, { method: "mended" }));
        this.role("finding").append(" ", use);
      }
      this.drawMarksOnly();
    });
  }

  dropSinks() {
    this.press("false-sinks", { panel: this.active }, (answer) => {
      if (answer.dropped.length) this.edit(withoutLabels(this.scene, answer.dropped));
      const count = counted(answer.dropped.length, "labels", "label");
      this.role("finding").textContent = answer.dropped.length
        ? `${count} dropped, from which there was no way down.` : "There is a way down from every label.";
    });
  }

  sample() {
    const share = Number(this.role("share").value) / 100, seed = Number(this.role("seed").value);
    this.lanes.button.request("sample", () => ({ scene: forServer(this.scene), share, seed }),
      (answer) => this.edit(withSample(this.scene, answer.vertices, share, seed)),
      (error) => this.complain(error.message));
  }

  // ---------------------------------------------------------------- drawing

  buildPanels() {
    const names = this.scene.panels.length > 1 ? ["A", "B", "B − A"] : [""];
    const kept = this.panels;
    this.role("panels").innerHTML = names.map(panelHtml).join("");
    this.role("panels").dataset.count = names.length;
    this.panels = [...this.role("panels").children].map((root, number) => {
      const [base, marks] = root.querySelectorAll("canvas");
      const old = number < 2 ? kept[number] : null;
      this.listenTo(marks, number);
      return { root, base, marks, number, picture: old?.picture ?? null, geometry: old?.geometry ?? null };
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
      pointed: this.pointed,
    };
  }

  // Sizes follow the page; a picture is drawn once now, or moved as it is and drawn a little later.
  draw(quick = false) {
    for (const panel of this.panels) {
      const { width, height } = fitCanvas(panel.base), large = this.geometry.n > LARGE;
      fitCanvas(panel.marks);
      this.view.fit(this.geometry.box, width, height);
      if (quick && large && panel.bitmap) this.moveBitmap(panel);
      else this.drawPanel(panel);
    }
    if (quick) this.later("redraw", 90, () => this.draw());
    this.drawMarksOnly();
  }

  drawPanel(panel) {
    const ctx = context(panel.base);
    drawBase(ctx, panel.geometry ?? this.geometry, panel.picture ?? {}, this.view, this.shown(panel), this.look);
    const { scale, left, top } = this.view;
    panel.bitmap = this.geometry.n > LARGE ? { image: copied(panel.base), scale, left, top } : null;
  }

  moveBitmap({ base, bitmap }) {
    const ctx = context(base), times = this.view.scale / bitmap.scale;
    ctx.fillStyle = this.look.paper;
    ctx.fillRect(0, 0, this.view.width, this.view.height);
    ctx.drawImage(bitmap.image, this.view.left - times * bitmap.left, this.view.top - times * bitmap.top,
      times * this.view.width, times * this.view.height);
  }

  drawMarksOnly() {
    for (const panel of this.panels) {
      const ctx = context(panel.marks);
      ctx.clearRect(0, 0, this.view.width, this.view.height);
      drawMarks(ctx, this.geometry, this.marks(panel), this.view, this.look);
    }
  }

  // ---------------------------------------------------------------- controls

  called(vertex) {
    return this.scene.graph?.names?.[vertex] ?? `state ${vertex}`;
  }

  theme(name) {
    this.root.dataset.theme = name;
    store("wayfield-theme", name);
    if (this.scene) this.draw();
  }

  fillMaps() {
    const maps = [...Object.keys(this.facts.layouts), "blank"];
    this.role("map").innerHTML = `<option value="">own</option>${maps.map((m) => `<option>${m}</option>`).join("")}`;
  }

  // The controls say what the scene is.
  render() {
    const { scene } = this, panel = scene.panels[this.active], p = pOf(panel.method);
    const directed = isDirected(scene);
    this.role("p").value = P_STEPS.indexOf(P_STEPS.reduce((a, b) => (Math.abs(1 / b - 1 / (p ?? Infinity)) < Math.abs(1 / a - 1 / (p ?? Infinity)) ? b : a)));
    this.role("p").disabled = p === null || directed;
    this.role("p-value").textContent = p === null ? "–" : p === Infinity ? "∞" : p;
    this.role("method").value = p === null ? panel.method : "p";
    this.role("distance").setAttribute("aria-pressed", String(panel.method === "distance"));
    for (const name of ["rule", "ties"]) this.role(name).value = panel[name];
    this.role("repair").checked = panel.repair;
    this.role("palette").value = scene.view.palette;
    this.root.querySelectorAll("[data-show]").forEach((box) => { box.checked = scene.view.show[box.dataset.show]; });
    this.role("noise").value = Math.round(scene.noise.spread * 4);
    this.role("noise-value").textContent = `± ${tell(scene.noise.spread)}`;
    this.role("budget-value").textContent = tell(scene.budget, 3);
    this.root.querySelectorAll("[data-maze-only]").forEach((part) => { part.hidden = !scene.maze; });
    this.root.querySelectorAll("[data-maze]").forEach((part) => { part.hidden = !scene.maze; });
    this.role("cost").hidden = this.tool !== "terrain";
    this.role("way").hidden = this.tool !== "oneway";
    this.root.querySelectorAll("[data-tool]").forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.tool === this.tool)));
    if (scene.maze) {
      this.role("refinement").value = scene.maze.refinement;
      const same = Object.entries(this.facts.layouts).find(([, text]) => text === scene.maze.text);
      this.role("map").value = same ? same[0] : "";
    }
    this.role("undo").disabled = !this.history.past.length;
    this.role("redo").disabled = !this.history.future.length;
    this.role("compare").setAttribute("aria-pressed", String(scene.panels.length > 1));
    this.role("tabs").hidden = scene.panels.length < 2;
    this.root.querySelectorAll("[data-panel]").forEach((b) => b.setAttribute("aria-pressed", String(Number(b.dataset.panel) === this.active)));
    if (scene.labels.drawn) {
      this.role("share").value = tell(100 * scene.labels.drawn.share);
      this.role("seed").value = scene.labels.drawn.seed;
    }
    this.panels.forEach((each, number) => {
      const settings = scene.panels[number];
      each.root.classList.toggle("active", scene.panels.length > 1 && number === this.active);
      this.role("caption", each.root).textContent = settings ? described(settings) : "difference of the values";
    });
    this.renderAnswer();
  }

  // The sentence at the top, what to try, and the legends.
  renderAnswer() {
    const { scene } = this, picture = this.panels[this.active]?.picture;
    for (const panel of this.panels) {
      const { picture: drawn } = panel;
      if (!drawn) continue;
      const [low, high] = drawn.difference ? [-drawn.most, drawn.most] : drawn.range;
      this.role("low", panel.root).textContent = tell(low);
      this.role("high", panel.root).textContent = tell(high);
      this.role("bar", panel.root).style.background = gradient(drawn.difference ? "difference" : scene.view.palette);
    }
    if (!picture) return;
    const lost = picture.can_reach - picture.reach;
    const loops = picture.cycles.filter((cycle) => picture.outcome[cycle.states[0]] !== 3);
    const through = loops.filter((cycle) => cycle.touches).length;
    const inside = loops.length - through;
    const kinds = [inside ? `${inside} inside` : "", through ? `${through} through a label` : ""].filter(Boolean);
    const told = picture.can_reach === 0 ? "No other state can reach the goal."
      : lost === 0 ? `All ${counted(picture.reach, "starts", "start")} reach the goal.`
        : `${lost.toLocaleString("en")} of ${counted(picture.can_reach, "starts", "start")} never reach the goal` +
          (loops.length ? `: ${counted(loops.length, "loops", "loop")} (${kinds.join(", ")}).` : ".");
    const sure = scene.view.show.certified
      ? ` ${counted(picture.certified_states, "moves", "move")} certified, and the routes of ${counted(picture.certified_starts, "starts", "start")}.` : "";
    const doubt = picture.converged ? "" : ` The solver missed its guarantee: ${picture.status}.`;
    this.role("headline").textContent = told + sure + doubt;
    this.role("budget").max = 100;
    this.budgetScale = Math.max(picture.largest_margin, 1e-9);
    this.role("budget").value = Math.round((100 * scene.budget) / this.budgetScale);
    this.role("try").textContent = this.route && this.walked ? this.walked : this.advice(lost, loops);
  }

  advice(lost, loops) {
    const panel = this.scene.panels[this.active], p = pOf(panel.method);
    if (lost && loops.length && p !== null && p < Infinity && !isDirected(this.scene)) {
      return "Warm patches run into loops and never reach the star. Drag p to the right, towards ∞, and watch them go.";
    }
    if (lost && loops.length && p === Infinity) return "Even the AMLE loops here: a label is too low for its place. Try “Drop false sinks”, or lift the field.";
    if (lost) return "Try another method, or lift the field until all arrive.";
    if (panel.method === "distance") return "This is the plain graph distance: no labels, every walk shortest. Press it again to come back.";
    return "Every start arrives. Click one and watch; then paint a wall, drag a label or add noise.";
  }

  // What is known about the state that is pointed at.
  renderCard(facts) {
    const card = this.role("card"), row = (name, text) => `<tr><th>${name}</th><td>${text}</td></tr>`;
    const bracket = facts.lower === null ? "none" : `${tell(facts.lower, 7)} … ${tell(facts.upper, 7)}`;
    const moves = facts.moves.map((move) =>
      `<tr class="${move.taken ? "taken" : ""}"><td>${move.taken ? "→ " : ""}${plainText(move.name)}</td><td>${tell(move.value)}</td><td>${tell(move.q)}</td><td>${move.slope === null ? "–" : tell(move.slope, 3)}</td></tr>`);
    const nearest = facts.nearest.map((label) => `${plainText(label.name)} (${tell(label.value)}, ${tell(label.distance)} away)`);
    card.innerHTML = `<h2>${plainText(this.scene.graph?.names ? facts.name : `State ${facts.name}`)}</h2><table>${
      row("value", `<b data-role="state-value">${tell(facts.value, 7)}</b>`)}${row("bracket", bracket)}${
      row("outcome", facts.outcome === "reached" ? `reached at cost ${tell(facts.cost)}, least ${tell(facts.least)}` : facts.outcome)}${
      row("gap, margin", `<span data-role="state-gap">${tell(facts.gap)}</span>, ${tell(facts.margin)}${facts.certified ? ", certified" : ""}`)}${
      row("labels near", nearest.join("; ") || "none")}</table>
      <table class="moves"><tr><th>move to</th><th>value</th><th>Q</th><th>slope</th></tr>${moves.join("")}</table>`;
  }

  complain(text, brief = false) {
    const place = this.role("error");
    place.hidden = !text;
    place.textContent = text && `${text[0].toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;
    if (brief) this.later("complaint", 6000, () => this.complain(""));
  }

  show(html, buttons = [["Close", null]]) {
    const dialog = this.role("dialog");
    this.role("dialog-body").innerHTML = html;
    this.role("dialog-menu").replaceChildren(...buttons.map(([text, done]) => {
      const made = element("button", text);
      made.onclick = () => done?.(dialog);
      return made;
    }));
    dialog.showModal();
    dialog.querySelector("input, textarea, button")?.focus();
  }

  // ---------------------------------------------------------------- wiring

  listen() {
    const on = (role, event, what) => this.role(role).addEventListener(event, what);
    const set = (change, kind) => this.edit(withPanel(this.scene, this.active, change), kind);
    on("p", "input", (e) => set({ method: wordOf(P_STEPS[e.target.value]) }, "p"));
    on("p", "change", () => this.history.pause());
    on("method", "change", (e) => set({ method: e.target.value === "p" ? "amle" : e.target.value }));
    on("distance", "click", () => this.toggleDistance());
    on("repair", "change", (e) => set({ repair: e.target.checked }));
    on("rule", "change", (e) => set({ rule: e.target.value }));
    on("ties", "change", (e) => set({ ties: e.target.value }));
    on("palette", "change", (e) => this.edit(withView(this.scene, { palette: e.target.value })));
    on("noise", "input", (e) => this.edit({ ...this.scene, noise: { seed: this.scene.noise.seed, spread: e.target.value / 4 } }, "noise"));
    on("noise", "change", () => this.history.pause());
    on("budget", "input", (e) => this.edit(withView({ ...this.scene, budget: (e.target.value / 100) * this.budgetScale }, { show: { ...this.scene.view.show, certified: true } }), "budget"));
    on("budget", "change", () => this.history.pause());
    on("sample", "click", () => this.sample());
    on("clear", "click", () => this.edit(withoutLabels(this.scene, this.scene.labels.vertices)));
    on("contradictions", "click", () => this.findContradictions());
    on("mend", "click", () => this.mend());
    on("sinks", "click", () => this.dropSinks());
    on("map", "change", (e) => this.chooseMap(e.target.value));
    on("refinement", "change", (e) => this.refine(Number(e.target.value)));
    on("undo", "click", () => this.undo());
    on("redo", "click", () => this.redo());
    on("compare", "click", () => this.toggleCompare());
    on("share", "click", () => this.share());
    on("png", "click", async () => save("wayfield.png", await asPng(this.pictures(), this.look)));
    on("svg", "click", () => save("wayfield.svg", asSvg(this.pictures(), this.look), "image/svg+xml"));
    on("json", "click", () => save("wayfield-scene.json", asJson(this.scene), "application/json"));
    on("python", "click", () => this.showPython());
    on("load", "click", () => this.role("file").click());
    on("file", "change", (e) => this.load(e.target.files[0]));
    on("theme", "click", () => this.theme(this.root.dataset.theme === "dark" ? "light" : "dark"));
    on("help", "click", () => this.show(HELP));
    on("fit", "click", () => this.fit());
    this.root.querySelectorAll("[data-tool]").forEach((b) => b.addEventListener("click", () => this.choose(b.dataset.tool)));
    this.root.querySelectorAll("[data-panel]").forEach((b) => b.addEventListener("click", () => this.activate(Number(b.dataset.panel))));
    this.root.querySelectorAll("[data-show]").forEach((box) => box.addEventListener("change", () =>
      this.edit(withView(this.scene, { show: { ...this.scene.view.show, [box.dataset.show]: box.checked } }))));
    this.root.querySelectorAll(".menu button").forEach((b) => b.addEventListener("click", () => { this.role("exports").open = false; }));
    this.root.tabIndex = -1;
    this.root.addEventListener("keydown", (event) => this.key(event));
    if (!this.options.widget) window.addEventListener("hashchange", () => this.followAddress());
  }

  choose(tool) {
    this.tool = tool;
    this.render();
  }

  activate(number) {
    this.active = number;
    this.render();
    this.askRoute();
    this.askWords();
    this.askState(this.pointed);
  }

  toggleDistance() {
    const panel = this.scene.panels[this.active], at = panel.method === "distance";
    if (!at) this.beforeDistance = panel.method;
    this.edit(withPanel(this.scene, this.active, { method: at ? (this.beforeDistance ?? "amle") : "distance" }));
  }

  toggleCompare() {
    const [first] = this.scene.panels;
    const other = { ...first, method: first.method === "amle" ? (isDirected(this.scene) ? "distance" : "harmonic") : "amle" };
    this.view.own = null;
    this.edit(withView({ ...this.scene, panels: this.scene.panels.length > 1 ? [first] : [first, other] }, { zoom: null }));
  }

  chooseMap(name) {
    if (!name) return;
    const text = name === "blank" ? blankMaze(9, 12) : this.facts.layouts[name];
    const fresh = withNewMaze(this.scene, text, Math.min(this.scene.maze.refinement, 16));
    this.edit(fresh);
    this.sample();
  }

  refine(r) {
    const size = this.geometry.n * (r / this.scene.maze.refinement) ** 2;
    if (!(r >= 1 && r <= this.facts.limits.refinement && Number.isInteger(r))) this.complain(`refinement must be a whole number from 1 to ${this.facts.limits.refinement}`);
    else if (size > this.facts.limits.vertices) this.complain(`that would be ${counted(Math.round(size), "vertices", "vertex")}, more than ${this.facts.limits.vertices.toLocaleString("en")}`);
    else this.edit(withMaze(this.scene, { ...this.scene.maze, refinement: r }));
  }

  async share() {
    await this.keepAddress();
    if (this.tooLarge) {
      this.show("<p>This graph is too large for an address. Export the scene as JSON: it opens the same picture.</p>");
      return;
    }
    try {
      await navigator.clipboard.writeText(location.href);
      this.show(`<p>The address is copied: it holds the whole picture, for anyone who runs <code>wayfield explore</code>.</p>`);
    } catch {
      this.show("<p>The address bar holds the whole picture: copy it.</p>");
    }
  }

  pictures() {
    return this.panels.filter(({ picture }) => picture).map((panel) => ({
      geometry: panel.geometry, picture: panel.picture, view: this.view, shown: this.shown(panel), marks: this.marks(panel),
    }));
  }

  showPython() {
    this.press("python", { panel: this.active }, (answer) => {
      this.role("finding").textContent = "";
      this.show(`<h2>The same in Python</h2><textarea readonly rows="12" data-role="code">${plainText(answer.code)}</textarea>`, [
        ["Close", null],
        ["Save", () => save("wayfield_scene.py", answer.code, "text/x-python")],
        ["Copy", () => navigator.clipboard?.writeText(answer.code)],
      ]);
    });
  }

  async load(file) {
    if (!file) return;
    this.role("file").value = "";
    try {
      if (file.size > 3e7) throw new Error("it is too large");
      let scene = complete(compact(JSON.parse(await file.text())));
      geometryOf(scene);
      if (scene.graph && !scene.graph.positions) scene = await this.placed(scene);
      this.view.own = null;
      this.edit(scene);
    } catch (error) {
      this.complain(`${file.name} is no scene: ${error.message}`);
    }
  }

  async followAddress() {
    const kept = location.hash.match(/^#s=(.+)$/);
    if (!kept || kept[1] === (await encodeScene(this.scene))) return;
    try {
      this.edit(complete(compact(await decodeScene(kept[1]))));
    } catch {
      this.complain("the address holds no scene that can be read");
    }
  }

  fit() {
    this.view.own = null;
    this.settle();
    this.draw();
  }

  // Where the picture lies is kept with the scene, but is no step to be undone.
  settle() {
    this.scene = withView(this.scene, { zoom: this.view.own });
    this.history.now = this.scene;
    this.later("address", 250, () => this.keepAddress());
  }

  // ---------------------------------------------------------------- pointer

  listenTo(canvas, number) {
    canvas.addEventListener("pointerdown", (event) => this.down(event, canvas, number));
    canvas.addEventListener("pointermove", (event) => this.move(event, canvas, number));
    canvas.addEventListener("pointerup", (event) => this.up(event, canvas, number));
    canvas.addEventListener("pointercancel", (event) => this.up(event, canvas, number, true));
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
    const [px, py] = pixel(event, canvas), reach = event.pointerType === "touch" ? 20 : 10;
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
    const symbol = { wall: "#", free: ".", terrain: this.role("cost").value, oneway: this.role("way").value }[this.tool];
    this.edit(withCell(this.scene, Math.floor(y / r), Math.floor(x / r), symbol), `paint ${this.stroke}`);
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

  up(event, canvas, number, cancelled = false) {
    if (!this.pointers.delete(event.pointerId)) return;
    const { moved, pan } = this.drag;
    this.stroke = (this.stroke ?? 0) + 1;
    this.history.pause();
    if (pan || moved) this.settle();
    if (!moved && !cancelled && !this.paints && event.button === 0) this.use(this.under(event, canvas), this.labelUnder(event, canvas));
  }

  // The tool, used at a state.
  use(vertex, label = -1) {
    if (vertex < 0) return;
    this.point(vertex);
    if (this.tool === "goal") this.edit(withGoal(this.scene, vertex));
    else if (this.tool === "label" && label >= 0) this.typeValue(label);
    else if (this.tool === "label") this.edit(withLabel(this.scene, vertex));
    else if (this.paints) {
      const { r, x, y } = this.geometry;
      const symbol = { wall: "#", free: ".", terrain: this.role("cost").value, oneway: this.role("way").value }[this.tool];
      this.edit(withCell(this.scene, Math.floor(y[vertex] / r), Math.floor(x[vertex] / r), symbol));
    } else this.edit(withView(this.scene, { start: vertex }), "start");
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

// ---------------------------------------------------------------- small things

function described(settings) {
  const p = pOf(settings.method);
  const field = p === null ? METHODS[settings.method] ?? settings.method : p === 2 ? "p = 2, harmonic" : p === Infinity ? "p = ∞, AMLE" : `p = ${p}`;
  const ways = [settings.rule === "q" ? "least Q" : "", settings.ties === "index" ? "ties by index" : "", settings.repair ? "lifted" : ""];
  return [field, ...ways.filter(Boolean)].join(", ");
}

function element(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

function plainText(text) {
  return String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
}

function pixel(event, canvas) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function context(canvas) {
  const ctx = canvas.getContext("2d");
  ctx.setTransform(canvas.ratio, 0, 0, canvas.ratio, 0, 0);
  return ctx;
}

function fitCanvas(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas.parentElement;
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  canvas.ratio = ratio;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  return { width, height };
}

function copied(canvas) {
  const copy = document.createElement("canvas");
  copy.width = canvas.width;
  copy.height = canvas.height;
  copy.getContext("2d").drawImage(canvas, 0, 0);
  return copy;
}

function stored(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}

function store(name, value) {
  try { localStorage.setItem(name, value); } catch { /* private windows keep nothing */ }
}
