// The HTML of the page. Every element that is looked up later has a data-role.

export const P_STEPS = [2, 2.5, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 1024, Infinity];
export const METHODS = {
  p: "p-extension of the labels",
  distance: "graph distance (no labels)",
  nearest: "nearest label",
  mcshane: "McShane envelope",
  whitney: "Whitney envelope",
};
export const TOOLS = [
  ["walk", "Walk", "Click a start: its walk runs. Point at a state to read it. (1)"],
  ["label", "Label", "Click to drop a label, drag to move it, click it to type a value. (2)"],
  ["goal", "Goal", "Click to set the goal. (3)"],
  ["wall", "Wall", "Paint walls. (4)", true],
  ["free", "Erase", "Erase walls, terrain and one-way cells. (5)", true],
  ["terrain", "Terrain", "Paint cells that cost more. (6)", true],
  ["oneway", "One-way", "Paint one-way cells in the chosen direction. (7)", true],
  ["pan", "Pan", "Drag the picture; the wheel zooms. (8)"],
];
const SHOW = [
  ["field", "Heat map"], ["contours", "Contours"], ["arrows", "Greedy arrows"],
  ["failing", "Failing starts"], ["cycles", "Limit cycles"], ["labels", "Labels"],
];

const tool = ([name, text, title, maze]) =>
  `<button type="button" data-tool="${name}" title="${title}"${maze ? " data-maze" : ""}>${text}</button>`;
const check = ([name, text]) =>
  `<label class="check"><input type="checkbox" data-show="${name}">${text}</label>`;
const option = ([value, text]) => `<option value="${value}">${text}</option>`;
export const button = (role, text, title = "") =>
  `<button type="button" data-role="${role}" title="${title}">${text}</button>`;

export function pageHtml(palettes) {
  return `
<header class="bar">
  <span class="brand">wayfield</span>
  <p class="headline" data-role="headline" aria-live="polite">…</p>
  <span class="actions">
    ${button("undo", "↶", "Undo (Ctrl Z)")}${button("redo", "↷", "Redo (Ctrl Y)")}
    ${button("compare", "Side by side", "Two settings and their difference (c)")}
    ${button("share", "Share", "Copy the address of this picture (s)")}
    <span class="menu">${button("exports", "Export", "Pictures, scenes, Python")}<div data-role="menu" hidden>
      ${button("png", "Picture, PNG")}${button("svg", "Picture, SVG")}
      ${button("json", "Scene, JSON")}${button("python", "Ten lines of Python")}
      ${button("load", "Load a scene …")}<input type="file" accept=".json,application/json" data-role="file" hidden>
    </div></span>
    ${button("theme", "◐", "Light or dark (t)")}${button("help", "?", "Keys (?)")}
  </span>
</header>
<div class="body">
  <section class="stage">
    <div class="tools" role="toolbar" aria-label="Tools">
      ${TOOLS.map(tool).join("")}
      <select data-role="cost" data-maze aria-label="Cost of terrain">${[2, 3, 4, 5, 6, 7, 8, 9].map((c) => option([c, `× ${c}`])).join("")}</select>
      <select data-role="way" data-maze aria-label="Direction of one-way cells">${[[">", "→"], ["<", "←"], ["^", "↑"], ["v", "↓"]].map(option).join("")}</select>
      <span class="spacer"></span>${button("fit", "Fit", "Whole picture (0)")}
    </div>
    <div class="panels" data-role="panels"></div>
    <div class="says">
      <p class="error" data-role="error" role="alert" hidden></p>
      <p class="try" data-role="try"></p>
    </div>
  </section>
  <aside class="side">
    <section>
      <h2>Field <span class="tabs" data-role="tabs" hidden><button type="button" data-panel="0">A</button><button type="button" data-panel="1">B</button></span></h2>
      <label class="row"><span>p</span><input type="range" min="0" max="${P_STEPS.length - 1}" step="1" data-role="p" aria-label="p"><output data-role="p-value"></output></label>
      <div class="ends"><span>2 harmonic</span><span>∞ AMLE</span></div>
      <p class="hint" data-role="p-why" hidden></p>
      <label class="row"><span>made by</span><select data-role="method">${Object.entries(METHODS).map(option).join("")}</select></label>
      <div class="buttons">${button("distance", "Graph distance", "The plain graph distance, and back (d)")}
        <label class="check"><input type="checkbox" data-role="lift">Lift until all arrive</label></div>
      <div class="pair"><label><span>rule</span><select data-role="rule">${[["slope", "steepest slope"], ["q", "least Q (paper)"]].map(option).join("")}</select></label>
        <label><span>ties</span><select data-role="ties">${[["exit", "nearest exit"], ["index", "lowest index"]].map(option).join("")}</select></label></div>
    </section>
    <section>
      <h2>Do the labels help?</h2>
      <p class="verdict" data-role="verdict">…</p>
    </section>
    <section class="card" data-role="card" aria-live="off"><h2>State</h2><p class="hint">Point at a state or tap it; arrow keys move to its neighbours.</p></section>
    <section>
      <h2>Show</h2>
      <div class="checks">${SHOW.map(check).join("")}</div>
      <label class="row"><span>colours</span><select data-role="palette">${palettes.map((name) => option([name, name])).join("")}</select></label>
      <label class="check"><input type="checkbox" data-show="certified">Certified moves, for errors up to</label>
      <label class="row"><input type="range" min="0" max="100" step="1" data-role="budget" aria-label="Error budget"><output data-role="budget-value"></output></label>
    </section>
    <section>
      <h2>Labels</h2>
      <div class="pair"><label><span>share, %</span><input type="number" min="0.1" max="100" step="0.1" data-role="fraction" value="2"></label>
        <label><span>seed</span><input type="number" min="0" max="4294967295" step="1" data-role="seed" value="54"></label></div>
      <div class="buttons">${button("sample", "Sample labels", "True values at newly drawn vertices")}${button("clear", "Only the goal", "Delete all labels but the goal's")}${button("next", "Next label", "Label the state whose cost-to-go is least certain")}</div>
      <label class="row"><span>noise</span><input type="range" min="0" max="40" step="1" data-role="noise" aria-label="Noise of the labels"><output data-role="noise-value"></output>${button("shake", "↻", "Other noise of the same size")}</label>
    </section>
    <section>
      <h2>Is the graph wrong?</h2>
      <div class="buttons">${button("contradictions", "Contradictions", "Labels and edges that cannot both be right")}${button("sinks", "Drop false sinks", "Drop labels that have no lower neighbour")}</div>
      <p class="finding" data-role="finding"></p>
    </section>
    <section data-maze-only>
      <h2>Maze</h2>
      <div class="pair"><label><span>map</span><select data-role="map"></select></label>
        <label><span>refinement</span><input type="number" min="1" max="64" step="1" data-role="refinement"></label></div>
    </section>
    <section>
      <h2>Summary</h2>
      <dl class="words" data-role="words"></dl>
      <p class="timing" data-role="timing"></p>
    </section>
  </aside>
</div>
<dialog data-role="dialog"><form method="dialog"><div data-role="dialog-body"></div><menu data-role="dialog-menu"></menu></form></dialog>`;
}

export const HELP = `<h2>Keys</h2><dl class="keys">
<dt>1 – 8</dt><dd>tools: walk, label, goal, wall, erase, terrain, one-way, pan</dd>
<dt>arrows</dt><dd>move to the next state; Enter uses the tool there, Delete deletes its label</dd>
<dt>[ &nbsp; ]</dt><dd>p down, p up</dd>
<dt>d</dt><dd>the plain graph distance, and back</dd>
<dt>c</dt><dd>side by side, with the difference</dd>
<dt>+ &nbsp; − &nbsp; 0</dt><dd>zoom in, zoom out, whole picture</dd>
<dt>Ctrl Z, Ctrl Y</dt><dd>undo, redo</dd>
<dt>s &nbsp; t</dt><dd>copy the address; light or dark</dd></dl>
<p>Shading: pale is far from the goal ★. Warm patches are starts that never arrive, one colour for
each loop. A loop has a solid outline, or a dashed one if it runs through a label. Discs are labels
with their true values; squares are labels with typed values.</p>`;

// A table of both fields, beside them and their difference.
export const BOTH = '<div class="both" data-role="both"></div>';

export function panelHtml(caption) {
  return `<figure class="panel"><figcaption><b>${caption}</b> <span data-role="caption"></span></figcaption>
<div class="canvases"><canvas data-role="base"></canvas><canvas data-role="marks" tabindex="0" role="application"
 aria-label="Picture of the field; arrow keys move from state to state"></canvas></div>
<div class="legend"><span data-role="unit"></span><span data-role="low"></span><i data-role="bar"></i><span data-role="high"></span></div></figure>`;
}
