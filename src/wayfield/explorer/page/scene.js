// Scenes are plain data and never changed: an edit returns a new one. See web/scene.py.
import { pack, typed } from "./arrays.js";

const ARROWS = "^v<>";
export const SHOWN = {
  field: true, contours: true, arrows: true, failing: true, cycles: true, certified: false,
  labels: true, edges: true, names: true,
};

// Whatever is missing in a scene that was written by hand.
export function complete(scene) {
  const view = scene.view ?? {};
  return {
    ...scene,
    noise: scene.noise ?? { spread: 0, seed: 0 },
    budget: scene.budget ?? 0,
    panels: (scene.panels ?? [{}]).map((panel) => ({
      method: "amle", rule: "slope", ties: "exit", lift: false, ...panel,
    })),
    labels: {
      ...scene.labels,
      vertices: Array.from(typed(scene.labels.vertices, Int32Array)),
      values: [...scene.labels.values],
    },
    view: { palette: "blue", start: null, ...view, show: { ...SHOWN, ...view.show } },
  };
}

// ---------------------------------------------------------------- places

// Where the vertices lie: x to the right and y down, and what is drawn between them.
export function geometryOf(scene) {
  return scene.maze ? mazeGeometry(scene.maze) : graphGeometry(scene.graph);
}

export function mazeParts(text) {
  const lines = text.split("\n");
  const end = lines.findIndex((line) => line.includes("->"));
  const cut = end < 0 ? lines.length : end;
  const rows = lines.slice(0, cut).filter((line) => line.trim() !== "");
  return { rows: rows.map((row) => row.replace(/[O SRGC]/g, ".")), jumps: lines.slice(cut).filter(Boolean) };
}

function mazeGeometry({ text, refinement: r }) {
  const { rows } = mazeParts(text);
  const height = rows.length * r, width = rows[0].length * r;
  const place = new Int32Array(height * width).fill(-1);
  let n = 0;
  for (let row = 0; row < height; row++) {
    const cells = rows[Math.floor(row / r)];
    for (let column = 0; column < width; column++) {
      if (cells[Math.floor(column / r)] !== "#") place[row * width + column] = n++;
    }
  }
  const x = new Float64Array(n), y = new Float64Array(n);
  for (let at = 0; at < place.length; at++) {
    if (place[at] < 0) continue;
    x[place[at]] = (at % width) + 0.5;
    y[place[at]] = Math.floor(at / width) + 0.5;
  }
  const vertexAt = (px, py) => {
    const column = Math.floor(px), row = Math.floor(py);
    if (row < 0 || column < 0 || row >= height || column >= width) return -1;
    return place[row * width + column];
  };
  const box = [0, 0, width, height];
  return { maze: true, n, x, y, place, width, height, r, rows, vertexAt, box, spacing: 1 };
}

function graphGeometry(graph) {
  const n = graph.vertices;
  const positions = typed(graph.positions ?? new Array(2 * n).fill(0), Float64Array);
  const x = new Float64Array(n), y = new Float64Array(n);
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let v = 0; v < n; v++) {
    x[v] = positions[2 * v];
    y[v] = -positions[2 * v + 1];
    left = Math.min(left, x[v]); right = Math.max(right, x[v]);
    top = Math.min(top, y[v]); bottom = Math.max(bottom, y[v]);
  }
  const tails = typed(graph.tails, Int32Array), heads = typed(graph.heads, Int32Array);
  const size = Math.max(right - left, bottom - top) || 1;
  const spacing = Math.sqrt(((right - left || size / 4) * (bottom - top || size / 4)) / n) || size;
  const margin = Math.max(spacing / 2, 0.03 * size);
  const box = [left - margin, top - margin, right + margin, bottom + margin];
  return { maze: false, n, x, y, tails, heads, names: graph.names, spacing, box,
    vertexAt: finder(x, y, spacing) };
}

// The vertex nearest to a point, found in buckets of the plane.
function finder(x, y, spacing) {
  const buckets = new Map(), size = 2 * spacing || 1;
  const key = (column, row) => `${column},${row}`;
  for (let v = 0; v < x.length; v++) {
    const at = key(Math.floor(x[v] / size), Math.floor(y[v] / size));
    if (!buckets.has(at)) buckets.set(at, []);
    buckets.get(at).push(v);
  }
  return (px, py, reach = size) => {
    let best = -1, least = reach * reach;
    const far = Math.min(20, Math.ceil(reach / size));
    const column = Math.floor(px / size), row = Math.floor(py / size);
    for (let i = column - far; i <= column + far; i++) {
      for (let j = row - far; j <= row + far; j++) {
        for (const v of buckets.get(key(i, j)) ?? []) {
          const away = (x[v] - px) ** 2 + (y[v] - py) ** 2;
          if (away < least) [best, least] = [v, away];
        }
      }
    }
    return best;
  };
}

// ---------------------------------------------------------------- edits

const changedLabels = (scene, vertices, values) => ({ ...scene, labels: { vertices, values } });

export function labelAt(scene, vertex) {
  return scene.labels.vertices.indexOf(vertex);
}

export function withLabel(scene, vertex, value = null) {
  const at = labelAt(scene, vertex), { vertices, values } = scene.labels;
  if (at < 0) return changedLabels(scene, [...vertices, vertex], [...values, value]);
  return changedLabels(scene, vertices, values.map((old, i) => (i === at ? value : old)));
}

export function withoutLabels(scene, gone) {
  const keep = scene.labels.vertices.map((v) => !gone.includes(v) || v === scene.goal);
  const kept = (list) => list.filter((_, i) => keep[i]);
  return changedLabels(scene, kept(scene.labels.vertices), kept(scene.labels.values));
}

export function withLabelMoved(scene, from, to) {
  if (from === to || labelAt(scene, to) >= 0) return scene;
  const vertices = scene.labels.vertices.map((v) => (v === from ? to : v));
  const goal = scene.goal === from ? to : scene.goal;
  return { ...changedLabels(scene, vertices, scene.labels.values), goal };
}

export function withGoal(scene, vertex) {
  const moved = { ...scene, goal: vertex };
  return labelAt(scene, vertex) < 0 ? withLabel(moved, vertex) : moved;
}

export function withSample(scene, vertices, share, seed) {
  const labels = { vertices, values: vertices.map(() => null), drawn: { share, seed } };
  return { ...scene, labels };
}

export function withPanel(scene, number, change) {
  const panels = scene.panels.map((p, i) => (i === number ? { ...p, ...change } : p));
  return { ...scene, panels };
}

export function withView(scene, change) {
  return { ...scene, view: { ...scene.view, ...change } };
}

// One cell of a maze painted; null where that would wall in the goal.
export function withCell(scene, row, column, symbol) {
  const { rows, jumps } = mazeParts(scene.maze.text);
  if (rows[row]?.[column] === undefined || rows[row][column] === symbol) return scene;
  const painted = rows.map((cells, i) =>
    i === row ? cells.slice(0, column) + symbol + cells.slice(column + 1) : cells);
  const here = new RegExp(`(^|\\D)${row},${column}(\\D|$)`);
  const kept = symbol === "#" ? jumps.filter((line) => !here.test(line)) : jumps;
  return withMaze(scene, { ...scene.maze, text: [...painted, ...kept].join("\n") });
}

// Another maze under the same labels, as far as their places are free.
export function withMaze(scene, maze) {
  const before = geometryOf(scene), after = mazeGeometry(maze);
  const scale = maze.refinement / scene.maze.refinement;
  const moved = (v) => after.vertexAt(before.x[v] * scale, before.y[v] * scale);
  const goal = moved(scene.goal);
  if (goal < 0) return null;
  const taken = new Set(), vertices = [], values = [];
  scene.labels.vertices.forEach((v, i) => {
    const at = moved(v);
    if (at < 0 || taken.has(at)) return;
    taken.add(at);
    vertices.push(at);
    values.push(scene.labels.values[i]);
  });
  const start = scene.view.start === null ? -1 : moved(scene.view.start);
  const same = { ...changedLabels(scene, vertices, values), maze, goal };
  return withView(same, { start: start < 0 ? null : start, zoom: null });
}

// A new maze: nothing of the old one stays but the settings.
export function withNewMaze(scene, text, refinement) {
  const geometry = mazeGeometry({ text, refinement });
  const { graph, ...rest } = scene;
  const goal = Math.min(Math.max(5 * refinement, 0), geometry.n - 1);
  const fresh = { ...rest, maze: { text, refinement }, goal, labels: { vertices: [goal], values: [null] } };
  return withView(fresh, { start: null, zoom: null });
}

export function isDirected(scene) {
  if (!scene.maze) return Boolean(scene.graph.directed);
  const { rows, jumps } = mazeParts(scene.maze.text);
  return jumps.length > 0 || rows.some((row) => [...row].some((cell) => ARROWS.includes(cell)));
}

export function blankMaze(rows, columns) {
  const wall = "#".repeat(columns), free = `#${".".repeat(columns - 2)}#`;
  return [wall, ...Array(rows - 2).fill(free), wall].join("\n");
}

// As it is sent: short, and without what concerns the page alone.
export function forServer(scene) {
  const { view, ...sent } = scene;
  return sent;
}

// The scene with every array of its graph converted by `write`.
function withArrays(scene, write) {
  if (!scene.graph) return scene;
  const other = (data, Kind) => (data == null ? null : write(typed(data, Kind)));
  const { tails, heads, lengths, positions } = scene.graph;
  return { ...scene, graph: { ...scene.graph,
    tails: other(tails, Int32Array), heads: other(heads, Int32Array),
    lengths: other(lengths, Float64Array), positions: other(positions, Float64Array) } };
}

// As it is exported: lists that a person and any program can read.
export function readable(scene) {
  return withArrays(scene, (array) => Array.from(array));
}

// The reverse: short arrays, made once when a file is loaded.
export function compact(scene) {
  return withArrays(scene, pack);
}
