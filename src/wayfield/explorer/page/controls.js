// The controls beside the picture: what they say, and what they do.
import { decodeScene, encodeScene } from "./address.js";
import { Core } from "./core.js";
import { asJson, asPng, asSvg, save } from "./export.js";
import { button, HELP, P_STEPS } from "./layout.js";
import { gradient } from "./palette.js";
import {
  blankMaze, compact, complete, geometryOf, isDirected, withMaze, withNewMaze, withoutLabels,
  withPanel, withView,
} from "./scene.js";
import { counted, described, element, plainText, pOf, store, tell, wordOf } from "./small.js";

// Whether some states have no path to the goal.
const apart = (picture) => picture.can_reach < picture.vertices - 1;

export class Controls extends Core {
  theme(name) {
    this.root.dataset.theme = name;
    store("wayfield-theme", name);
    if (this.scene) this.draw();
  }

  fillMaps() {
    const maps = [...Object.keys(this.facts.layouts), "blank"];
    this.role("map").innerHTML = `<option value="">own</option>${maps.map((m) => `<option>${m}</option>`).join("")}`;
  }

  // Set the controls to the scene.
  render() {
    const { scene } = this, panel = scene.panels[this.active], p = pOf(panel.method);
    const directed = isDirected(scene);
    this.role("p").value = P_STEPS.indexOf(P_STEPS.reduce((a, b) => (Math.abs(1 / b - 1 / (p ?? Infinity)) < Math.abs(1 / a - 1 / (p ?? Infinity)) ? b : a)));
    this.role("p").disabled = p === null || directed;
    const why = directed ? "Some moves are one-way: only p = ∞, the AMLE, is defined there."
      : p === null ? "This field does not depend on p." : "";
    this.role("p-why").textContent = this.role("p").title = why;
    this.role("p-why").hidden = !why;
    this.role("p-value").textContent = p === null ? "–" : p === Infinity ? "∞" : p;
    this.role("method").value = p === null ? panel.method : "p";
    this.role("distance").setAttribute("aria-pressed", String(panel.method === "distance"));
    for (const name of ["rule", "ties"]) this.role(name).value = panel[name];
    this.role("lift").checked = panel.lift;
    this.role("palette").value = scene.view.palette;
    this.root.querySelectorAll("[data-show]").forEach((box) => { box.checked = scene.view.show[box.dataset.show]; });
    this.role("noise").value = Math.round(scene.noise.spread * 4);
    this.role("shake").disabled = !scene.noise.spread;
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
    this.role("share").hidden = Boolean(this.options.widget);
    this.role("undo").disabled = !this.history.past.length;
    this.role("redo").disabled = !this.history.future.length;
    this.role("compare").setAttribute("aria-pressed", String(scene.panels.length > 1));
    this.role("tabs").hidden = scene.panels.length < 2;
    this.root.querySelectorAll("[data-panel]").forEach((b) => b.setAttribute("aria-pressed", String(Number(b.dataset.panel) === this.active)));
    if (scene.labels.drawn) {
      this.role("fraction").value = tell(100 * scene.labels.drawn.share);
      this.role("seed").value = scene.labels.drawn.seed;
    }
    this.panels.forEach((each, number) => {
      const settings = scene.panels[number];
      each.root.classList.toggle("active", scene.panels.length > 1 && number === this.active);
      const caption = settings ? each.caption ?? described(settings) : "difference of the values";
      this.role("caption", each.root).textContent = caption;
    });
    this.renderAnswer();
  }

  // Write the sentence at the top, what to try, and the legends.
  renderAnswer() {
    const { scene } = this, picture = this.panels[this.active]?.picture;
    for (const panel of this.panels) {
      const { picture: drawn } = panel;
      if (!drawn) continue;
      const [low, high] = drawn.difference ? [-drawn.most, drawn.most] : drawn.range;
      this.role("unit", panel.root).textContent = drawn.difference ? "B − A" : "value";
      this.role("low", panel.root).textContent = tell(low);
      this.role("high", panel.root).textContent = tell(high);
      this.role("bar", panel.root).style.background = gradient(drawn.difference ? "difference" : scene.view.palette);
    }
    this.renderBoth();
    if (!picture) return;
    const lost = picture.can_reach - picture.reach;
    const loops = picture.cycles.filter((cycle) => picture.outcome[cycle.states[0]] !== 3);
    const through = loops.filter((cycle) => cycle.touches).length;
    const inside = loops.length - through;
    const kinds = [inside ? `${inside} without a label` : "", through ? `${through} through a label` : ""].filter(Boolean);
    const outcome = picture.can_reach === 0 ? "No other state can reach the goal."
      : lost === 0 && apart(picture) ? `All ${counted(picture.reach, "starts", "start")} with a path to the goal reach it.`
      : lost === 0 ? `All ${counted(picture.reach, "starts", "start")} reach the goal.`
        : `${lost.toLocaleString("en")} of ${counted(picture.can_reach, "starts", "start")} never reach the goal` +
          (loops.length ? `: ${counted(loops.length, "loops", "loop")} (${kinds.join(", ")}).` : ".");
    const sure = scene.view.show.certified
      ? ` ${counted(picture.certified_states, "moves", "move")} certified, and the routes of ${counted(picture.certified_starts, "starts", "start")}.` : "";
    const doubt = picture.converged ? "" : ` The solver missed its guarantee: ${picture.status}.`;
    const valueless = picture.left_out
      ? ` ${counted(picture.left_out, "labels have", "label has")} no path to the goal, and no value.` : "";
    this.role("headline").textContent = outcome + sure + doubt + valueless;
    this.budgetScale = Math.max(picture.largest_margin, 1e-9);
    this.role("budget").value = Math.round((100 * scene.budget) / this.budgetScale);
    this.role("try").textContent = this.route && this.walked ? this.walked : this.advice(picture, lost, loops);
  }

  // Both settings in figures.
  renderBoth() {
    const [a, b, last] = this.panels.map((panel) => panel.picture), table = this.role("both");
    if (!table || !a || !b || !last) return;
    const loops = (picture, touches) => picture.cycles.filter((cycle) => cycle.touches === touches && picture.outcome[cycle.states[0]] !== 3).length;
    const at = last.values.reduce((best, d, v) => (Number.isFinite(d) && Math.abs(d) > Math.abs(last.values[best]) ? v : best), 0);
    const rows = [
      ["starts that reach the goal", a.reach.toLocaleString("en"), b.reach.toLocaleString("en")],
      ["of the starts that can", a.can_reach.toLocaleString("en"), b.can_reach.toLocaleString("en")],
      ["loops without a label", loops(a, false), loops(b, false)],
      ["loops through a label", loops(a, true), loops(b, true)],
    ];
    if (this.scene.view.show.certified) {
      rows.push(["moves certified", a.certified_states.toLocaleString("en"), b.certified_states.toLocaleString("en")]);
    }
    table.innerHTML = `<table><tr><th></th><th>A</th><th>B</th></tr>${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("")}</table>
      <p>The fields differ most at ${plainText(this.called(at))}: by ${tell(last.values[at])}.</p>`;
  }

  advice(picture, lost, loops) {
    const panel = this.scene.panels[this.active], p = pOf(panel.method);
    if (lost && loops.length && p !== null && p < Infinity && !isDirected(this.scene)) {
      return "White dots are known costs to the star, colours the costs estimated between them, arrows the plan. Starts in warm patches run into loops and never reach the star. Drag p to the right, towards ∞, and watch them disappear.";
    }
    if (lost && loops.length && p === Infinity) return "Even the AMLE has loops here: a label is lower than all its neighbours. Press “Drop false sinks”, or check “Lift until all arrive”.";
    if (lost) return "Try another method, or check “Lift until all arrive”.";
    if (panel.method === "distance") return "This is the plain graph distance: it uses no labels, and every walk is a shortest path. Press the button again to go back.";
    const more = this.scene.maze ? "paint a wall, drag a label" : "drag a label";
    const who = apart(picture) ? "Grey states have no path to the goal; every other start arrives." : "Every start arrives.";
    return `${who} Click one and watch; then ${more} or add noise.`;
  }

  // Write the card of the state under the pointer.
  renderCard(facts) {
    const card = this.role("card"), row = (name, text) => `<tr><th>${name}</th><td>${text}</td></tr>`;
    const bracket = facts.lower === null ? "none" : `${tell(facts.lower, 7)} … ${tell(facts.upper, 7)}`;
    const moves = facts.moves.map((move) =>
      `<tr class="${move.taken ? "taken" : ""}"><td>${move.taken ? "→ " : ""}${plainText(move.name)}</td><td>${tell(move.value)}</td><td>${tell(move.q)}</td><td>${move.slope === null ? "–" : tell(move.slope, 3)}</td></tr>`);
    const nearest = facts.nearest.map((label) => `${plainText(label.name)} (${tell(label.value)}, ${tell(label.distance)} away)`);
    card.innerHTML = `<h2>${plainText(this.scene.graph?.names ? facts.name : `State ${facts.name}`)}</h2><table>${
      row("value", `<b data-role="state-value">${tell(facts.value, 7)}</b>`)}${row("bracket", bracket)}${
      row("outcome", facts.outcome === "reached" ? `reached at cost ${tell(facts.cost)}, least ${tell(facts.least)}` : facts.outcome)}${
      row("gap, margin", `<span data-role="state-gap">${tell(facts.gap)}</span>, ${tell(facts.margin)}${facts.certified && this.scene.budget ? `, certified for errors up to ${tell(this.scene.budget, 3)}` : ""}`)}${
      row("labels near", nearest.join("; ") || "none")}</table>
      <table class="moves"><tr><th>move to</th><th>value</th><th>Q</th><th>slope</th></tr>${moves.join("")}</table>
      <div class="buttons">${button("why", "Why this value?", "Show the labels that it rests on, and their weights")}</div>
      <p class="hint" data-role="because"></p>`;
    this.role("why").onclick = () => this.why(facts.state, this.role("because"));
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
    on("lift", "change", (e) => set({ lift: e.target.checked }));
    on("rule", "change", (e) => set({ rule: e.target.value }));
    on("ties", "change", (e) => set({ ties: e.target.value }));
    on("palette", "change", (e) => this.edit(withView(this.scene, { palette: e.target.value })));
    on("noise", "input", (e) => this.edit({ ...this.scene, noise: { seed: this.scene.noise.seed, spread: e.target.value / 4 } }, "noise"));
    on("noise", "change", () => this.history.pause());
    on("shake", "click", () => this.edit({ ...this.scene, noise: { ...this.scene.noise, seed: this.scene.noise.seed + 1 } }));
    on("budget", "input", (e) => this.edit(withView({ ...this.scene, budget: (e.target.value / 100) * this.budgetScale }, { show: { ...this.scene.view.show, certified: true } }), "budget"));
    on("budget", "change", () => this.history.pause());
    on("sample", "click", () => this.sample());
    on("next", "click", () => this.nextLabel());
    on("clear", "click", () => this.edit(withoutLabels(this.scene, this.scene.labels.vertices)));
    on("contradictions", "click", () => this.findContradictions());
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
    on("exports", "click", (event) => { event.stopPropagation(); this.role("menu").hidden = !this.role("menu").hidden; });
    this.root.addEventListener("click", () => { this.role("menu").hidden = true; });
    const heard = this.options.widget ? this.root : document;
    heard.addEventListener("keydown", (event) => this.key(event));
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

  // A notebook's address is not the picture's.
  async share() {
    if (this.options.widget) return;
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

  // The exported pictures: every panel, with a caption above it.
  pictures() {
    const outcome = ({ reach, can_reach: most }) => `${reach.toLocaleString("en")} of ${counted(most, "starts", "start")} reach the goal`;
    return this.panels.filter(({ picture }) => picture).map((panel) => ({
      caption: panel.picture.difference ? "Difference of the values" : `${panel.caption}: ${outcome(panel.picture)}`,
      geometry: panel.geometry, picture: panel.picture, view: this.view, shown: this.shown(panel), marks: this.marks(panel),
    }));
  }

  showPython() {
    this.press("python", { panel: this.active }, "Writing the program …", (answer) => {
      this.role("finding").textContent = "";
      this.show(`<h2>The same in Python</h2><textarea readonly rows="${Math.min(14, answer.code.split("\n").length)}" data-role="code">${plainText(answer.code)}</textarea>`, [
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
      this.complain(`${file.name} is not a scene: ${error.message}`);
    }
  }

  async followAddress() {
    const kept = location.hash.match(/^#s=(.+)$/);
    if (!kept || kept[1] === (await encodeScene(this.scene))) return;
    try {
      this.edit(complete(compact(await decodeScene(kept[1]))));
    } catch {
      this.complain("the address does not hold a readable scene");
    }
  }

  fit() {
    this.view.own = null;
    this.settle();
    this.draw();
  }

  // The position of the picture is kept with the scene, but it is not an edit that can be undone.
  settle() {
    this.scene = withView(this.scene, { zoom: this.view.own });
    this.history.now = this.scene;
    this.later("address", 250, () => this.keepAddress());
  }
}
