// Everything that is drawn, on a canvas or into an SVG: both have the same methods.
import { css, differenceColour, fieldColour, loopColour, rgbOf, tinted } from "./palette.js";

const TINT = 0.68;
const ARROW_ROOM = 15; // pixels between arrows
const MOST_NAMES = 80; // names in sight beyond which none are shown
const FULL_TURN = 2 * Math.PI;

// The picture under the marks: field, loops, contours, arrows. `shown` says what of it.
export function drawBase(ctx, geometry, picture, view, shown, look) {
  ctx.fillStyle = look.paper;
  ctx.fillRect(0, 0, view.width, view.height);
  if (geometry.maze) drawMaze(ctx, geometry, picture, view, shown, look);
  else drawGraph(ctx, geometry, picture, view, shown, look);
  if (shown.contours && picture.values) drawContours(ctx, geometry, picture, view, look);
  if (shown.certified && picture.certified) drawCertified(ctx, geometry, picture, view, look);
  if (shown.arrows && picture.successor) drawArrows(ctx, geometry, picture, view, look);
  if (shown.cycles && picture.cycles) drawCycles(ctx, geometry, picture, view);
}

// Colour of every vertex, as [red, green, blue]; null where it has no value.
function colourOf(picture, shown) {
  const { values, range, basin, outcome, tints } = picture;
  const bare = [236, 239, 242];
  if (picture.difference) {
    return (v) => (Number.isFinite(values[v]) ? differenceColour(values[v], picture.most) : null);
  }
  return (v) => {
    if (!Number.isFinite(values[v])) return null;
    const plain = shown.field ? fieldColour(shown.palette, values[v], range[0], range[1]) : bare;
    const fails = shown.failing && outcome[v] === 1;
    return fails ? tinted(plain, tints[basin[v]] ?? 0, TINT) : plain;
  };
}

// ---------------------------------------------------------------- mazes

function drawMaze(ctx, geometry, picture, view, shown, look) {
  const { width, height, place } = geometry;
  const image = document.createElement("canvas");
  Object.assign(image, { width, height });
  const pixels = new ImageData(width, height), none = rgbOf(look.none), wall = rgbOf(look.wall);
  const colour = picture.values ? colourOf(picture, shown) : () => null, { data } = pixels;
  for (let at = 0; at < place.length; at++) {
    const rgb = place[at] < 0 ? wall : (colour(place[at]) ?? none);
    data[4 * at] = rgb[0];
    data[4 * at + 1] = rgb[1];
    data[4 * at + 2] = rgb[2];
    data[4 * at + 3] = 255;
  }
  image.getContext("2d").putImageData(pixels, 0, 0);
  const [x, y] = view.toPixels(0, 0);
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(image, x, y, width * view.scale, height * view.scale);
  drawCells(ctx, geometry, view, look);
}

// Terrain and one-way cells have their sign.
function drawCells(ctx, { rows, r }, view, look) {
  const size = r * view.scale;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.font = `600 ${Math.max(9, Math.min(40, 0.5 * size))}px system-ui, sans-serif`;
  ctx.fillStyle = look.ink;
  ctx.globalAlpha = 0.55;
  const signs = { "^": "↑", v: "↓", "<": "←", ">": "→" };
  rows.forEach((cells, row) => [...cells].forEach((cell, column) => {
    if ("#.1".includes(cell)) return;
    const [x, y] = view.toPixels((column + 0.5) * r, (row + 0.5) * r);
    ctx.fillText(signs[cell] ?? cell, x, y);
  }));
  ctx.globalAlpha = 1;
}

// ---------------------------------------------------------------- graphs

export function discSize(geometry, view) {
  return Math.max(1.3, Math.min(13, 0.3 * geometry.spacing * view.scale));
}

function inSight(geometry, view, margin) {
  const [left, top] = view.toPlace(-margin, -margin);
  const [right, bottom] = view.toPlace(view.width + margin, view.height + margin);
  const { x, y } = geometry;
  return (v) => x[v] >= left && x[v] <= right && y[v] >= top && y[v] <= bottom;
}

function drawGraph(ctx, geometry, picture, view, shown, look) {
  const { x, y, tails, heads, n } = geometry;
  const size = discSize(geometry, view), seen = inSight(geometry, view, 2 * size);
  if (shown.edges) {
    ctx.beginPath();
    for (let e = 0; e < tails.length; e++) {
      const a = tails[e], b = heads[e];
      if (!seen(a) && !seen(b)) continue;
      ctx.moveTo(view.scale * x[a] + view.left, view.scale * y[a] + view.top);
      ctx.lineTo(view.scale * x[b] + view.left, view.scale * y[b] + view.top);
    }
    ctx.strokeStyle = look.soft;
    ctx.lineWidth = size > 4 ? 1.3 : 0.6;
    ctx.stroke();
  }
  const colour = picture.values ? colourOf(picture, shown) : () => null;
  const groups = new Map();
  for (let v = 0; v < n; v++) {
    if (!seen(v)) continue;
    const shade = css(colour(v) ?? rgbOf(look.none));
    if (!groups.has(shade)) groups.set(shade, []);
    groups.get(shade).push(v);
  }
  for (const [shade, vertices] of groups) {
    ctx.fillStyle = shade;
    ctx.beginPath();
    for (const v of vertices) {
      const px = view.scale * x[v] + view.left, py = view.scale * y[v] + view.top;
      if (size < 4) ctx.rect(px - size, py - size, 2 * size, 2 * size);
      else { ctx.moveTo(px + size, py); ctx.arc(px, py, size, 0, FULL_TURN); }
    }
    ctx.fill();
    if (size >= 4) { ctx.strokeStyle = look.ink; ctx.lineWidth = 0.8; ctx.stroke(); }
  }
  if (shown.names && geometry.names) drawNames(ctx, geometry, view, seen, size, look);
}

// Names are placed where they cover no disc, no other name and the fewest edges, inside the picture.
function drawNames(ctx, geometry, view, seen, size, look) {
  const { x, y, names, n, tails, heads } = geometry, visible = [];
  for (let v = 0; v < n && visible.length <= MOST_NAMES; v++) if (seen(v)) visible.push(v);
  if (visible.length > MOST_NAMES) return;
  const at = new Map(visible.map((v) => [v, view.toPixels(x[v], y[v])]));
  const ways = new Map(visible.map((v) => [v, []]));
  tails.forEach((tail, e) => {
    for (const [v, to] of [[tail, heads[e]], [heads[e], tail]]) {
      const long = Math.hypot(x[to] - x[v], y[to] - y[v]);
      if (long) ways.get(v)?.push([(x[to] - x[v]) / long, (y[to] - y[v]) / long]);
    }
  });
  const taken = [...at.values()].map(([px, py]) => [px - size, py - size, px + size, py + size]);
  ctx.font = "12px system-ui, sans-serif";
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = look.text;
  ctx.strokeStyle = look.paper;
  ctx.lineWidth = 3;
  for (const v of visible) {
    const [px, py] = at.get(v), half = 3.4 * names[v].length + 2, box = (mx, my) => [mx - half, my - 8, mx + half, my + 8];
    let best = null, least = Infinity;
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, -1], [0, 1]]) {
      const middle = [px + dx * (size + 3 + half), py + dy * (size + 10)], [left, top, right, bottom] = box(...middle);
      const outside = left < 0 || top < 0 || right > view.width || bottom > view.height;
      const covered = taken.filter((b) => left < b[2] && b[0] < right && top < b[3] && b[1] < bottom).length;
      const crossed = ways.get(v).reduce((sum, [ex, ey]) => sum + Math.max(0, dx * ex + dy * ey - 0.5), 0);
      const price = 10 * outside + 4 * covered + crossed;
      if (price < least) [best, least] = [middle, price];
    }
    taken.push(box(...best));
    ctx.strokeText(names[v], ...best);
    ctx.fillText(names[v], ...best);
  }
}

// ---------------------------------------------------------------- lines and arrows

// A round step that cuts the range into about a dozen.
export function contourStep(low, high) {
  const rough = (high - low) / 12, power = 10 ** Math.floor(Math.log10(rough || 1));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= rough) ?? rough;
}

function drawContours(ctx, geometry, picture, view, look) {
  const { values } = picture;
  const [low, high] = picture.difference ? [-picture.most, picture.most] : picture.range;
  if (!(high > low)) return;
  const step = contourStep(low, high);
  ctx.beginPath();
  const segment = geometry.maze ? mazeContours : edgeContours;
  segment(ctx, geometry, values, step, view);
  ctx.strokeStyle = geometry.maze ? look.ink : look.text;
  ctx.globalAlpha = 0.38;
  ctx.lineWidth = 1;
  ctx.stroke();
  ctx.globalAlpha = 1;
}

// Marching squares between the vertices of a maze. Few of the many squares are crossed by a contour:
// only these make lists.
function mazeContours(ctx, { place, width, height }, values, step, view) {
  for (let row = 0; row + 1 < height; row++) {
    for (let column = 0; column + 1 < width; column++) {
      const at = row * width + column;
      const v0 = place[at], v1 = place[at + 1], v2 = place[at + width + 1], v3 = place[at + width];
      if (v0 < 0 || v1 < 0 || v2 < 0 || v3 < 0) continue;
      const low = Math.min(values[v0], values[v1], values[v2], values[v3]);
      const high = Math.max(values[v0], values[v1], values[v2], values[v3]);
      const first = (Math.floor(low / step) + 1) * step;
      if (!(first < high) || !Number.isFinite(high)) continue;
      const u = [values[v0], values[v1], values[v2], values[v3]];
      for (let level = first; level < high; level += step) {
        const cuts = [];
        for (let side = 0; side < 4; side++) {
          const a = u[side], b = u[(side + 1) % 4];
          if (a < level !== b < level) {
            const t = (level - a) / (b - a);
            cuts.push([[t, 0], [1, t], [1 - t, 1], [0, 1 - t]][side]);
          }
        }
        for (let k = 0; k + 1 < cuts.length; k += 2) {
          ctx.moveTo(...view.toPixels(column + 0.5 + cuts[k][0], row + 0.5 + cuts[k][1]));
          ctx.lineTo(...view.toPixels(column + 0.5 + cuts[k + 1][0], row + 0.5 + cuts[k + 1][1]));
        }
      }
    }
  }
}

// On a graph a level is a tick across each edge that it lies on.
function edgeContours(ctx, geometry, values, step, view) {
  const { x, y, tails, heads } = geometry, tick = 4, size = discSize(geometry, view);
  for (let e = 0; e < tails.length; e++) {
    const a = tails[e], b = heads[e], low = Math.min(values[a], values[b]);
    const high = Math.max(values[a], values[b]);
    if (!Number.isFinite(high) || high === low || (high - low) / step > 20) continue;
    const dx = view.scale * (x[b] - x[a]), dy = view.scale * (y[b] - y[a]), long = Math.hypot(dx, dy);
    if (long < 12) continue;
    for (let level = Math.ceil(low / step) * step; level < high; level += step) {
      const t = (level - values[a]) / (values[b] - values[a]);
      if (Math.min(t, 1 - t) * long < size + 1) continue; // under the disc
      const [px, py] = view.toPixels(x[a] + t * (x[b] - x[a]), y[a] + t * (y[b] - y[a]));
      ctx.moveTo(px - (tick * dy) / long, py + (tick * dx) / long);
      ctx.lineTo(px + (tick * dy) / long, py - (tick * dx) / long);
    }
  }
}

// Which of the r vertices along a cell's side have an arrow: as many as there is room for, or a few
// less if they are evenly spaced then.
function arrowPlaces(r, scale) {
  const most = Math.max(1, Math.min(r, Math.floor((r * scale) / ARROW_ROOM)));
  let even = most;
  while (r % even) even--;
  const count = 2 * even > most ? even : most;
  return new Set(Array.from({ length: count }, (_, k) => Math.floor(((k + 0.5) * r) / count)));
}

// Arrows towards the moves that the plan takes, where there is room for them.
function drawArrows(ctx, geometry, picture, view, look) {
  const { x, y, n, r } = geometry, { successor, outcome } = picture;
  const seen = inSight(geometry, view, 10), taken = new Set(), size = discSize(geometry, view);
  const places = geometry.maze ? arrowPlaces(r, view.scale) : null;
  const crowded = !places || r * view.scale < ARROW_ROOM;
  ctx.beginPath();
  for (let v = 0; v < n; v++) {
    const to = successor[v];
    if (to === v || outcome[v] === 3 || !seen(v)) continue;
    if (places && !(places.has(Math.floor(x[v]) % r) && places.has(Math.floor(y[v]) % r))) continue;
    const [px, py] = view.toPixels(x[v], y[v]);
    if (crowded) {
      const room = Math.floor(px / ARROW_ROOM) + 65536 * Math.floor(py / ARROW_ROOM);
      if (taken.has(room)) continue;
      taken.add(room);
    }
    const dx = x[to] - x[v], dy = y[to] - y[v], long = Math.hypot(dx, dy) * view.scale;
    if (long === 0) continue;
    const towards = [(dx * view.scale) / long, (dy * view.scale) / long];
    if (places) arrow(ctx, px, py, ...towards, Math.min(14, Math.max(7, (0.5 * r * view.scale) / places.size)), true);
    else if (long > 3 * size) {
      const edge = [px + (size + 2) * towards[0], py + (size + 2) * towards[1]];
      arrow(ctx, ...edge, ...towards, Math.min(0.4 * long, 22), false);
    }
  }
  ctx.strokeStyle = geometry.maze ? look.ink : look.text;
  ctx.globalAlpha = 0.72;
  ctx.lineWidth = 1.25;
  ctx.lineJoin = "round";
  ctx.stroke();
  ctx.globalAlpha = 1;
}

function arrow(ctx, px, py, dx, dy, long, centred) {
  const back = centred ? long / 2 : 0, barb = Math.min(4, 0.4 * long);
  const tipX = px + dx * (long - back), tipY = py + dy * (long - back);
  ctx.moveTo(px - dx * back, py - dy * back);
  ctx.lineTo(tipX, tipY);
  ctx.moveTo(tipX - barb * (dx + dy), tipY - barb * (dy - dx));
  ctx.lineTo(tipX, tipY);
  ctx.lineTo(tipX - barb * (dx - dy), tipY - barb * (dy + dx));
}

// Around some vertices of a maze, each a unit square: the sides that no other of them shares, joined
// end to end, so that dashes run on.
function outline(ctx, { x, y, vertexAt }, view, states, inside) {
  const onward = new Map();
  for (const v of states) {
    for (const [dx, dy] of [[1, 0], [0, 1], [-1, 0], [0, -1]]) {
      const beside = vertexAt(x[v] + dx, y[v] + dy);
      if (beside >= 0 && inside(beside)) continue;
      const from = [x[v] + (dx + dy) / 2, y[v] + (dy - dx) / 2];
      const to = [x[v] + (dx - dy) / 2, y[v] + (dy + dx) / 2];
      if (!onward.has(String(from))) onward.set(String(from), []);
      onward.get(String(from)).push([from, to]);
    }
  }
  for (const sides of onward.values()) {
    while (sides.length) {
      let [from, to] = sides.pop();
      ctx.moveTo(...view.toPixels(...from));
      ctx.lineTo(...view.toPixels(...to));
      for (let next = onward.get(String(to)); next?.length; next = onward.get(String(to))) {
        [from, to] = next.pop();
        ctx.lineTo(...view.toPixels(...to));
      }
    }
  }
}

function drawCertified(ctx, geometry, picture, view, look) {
  const sure = [];
  for (let v = 0; v < geometry.n; v++) if (picture.certified[v] && Number.isFinite(picture.values[v])) sure.push(v);
  ctx.beginPath();
  if (geometry.maze) outline(ctx, geometry, view, sure, (v) => picture.certified[v]);
  else circles(ctx, geometry, view, sure, discSize(geometry, view) + 2.5);
  ctx.strokeStyle = look.sure;
  ctx.lineWidth = 2.4;
  ctx.stroke();
  if (!geometry.maze) return;
  ctx.fillStyle = look.sure;
  ctx.globalAlpha = 0.3;
  ctx.beginPath();
  for (const v of sure) {
    const [px, py] = view.toPixels(geometry.x[v] - 0.5, geometry.y[v] - 0.5);
    ctx.rect(px, py, view.scale, view.scale);
  }
  ctx.fill();
  ctx.globalAlpha = 1;
}

function circles(ctx, { x, y }, view, states, size) {
  for (const v of states) {
    const [px, py] = view.toPixels(x[v], y[v]);
    ctx.moveTo(px + size, py);
    ctx.arc(px, py, size, 0, FULL_TURN);
  }
}

// Loops without a label have a solid outline, loops through a label a dashed one, each over white.
function drawCycles(ctx, geometry, picture, view) {
  picture.cycles.forEach((cycle, number) => {
    if (picture.outcome[cycle.states[0]] === 3) return;
    const states = new Set(cycle.states);
    const trace = () => {
      ctx.beginPath();
      if (geometry.maze) outline(ctx, geometry, view, cycle.states, (v) => states.has(v));
      else {
        circles(ctx, geometry, view, cycle.states, discSize(geometry, view) + 2);
        cycle.states.forEach((v, i) => {
          const to = cycle.states[(i + 1) % cycle.states.length];
          ctx.moveTo(...view.toPixels(geometry.x[v], geometry.y[v]));
          ctx.lineTo(...view.toPixels(geometry.x[to], geometry.y[to]));
        });
      }
    };
    trace();
    ctx.strokeStyle = "#ffffff";
    ctx.lineWidth = 6;
    ctx.stroke();
    trace();
    ctx.strokeStyle = darker(loopColour(picture.tints[number]));
    ctx.lineWidth = 3;
    if (cycle.touches) ctx.setLineDash([5, 3]);
    ctx.stroke();
    ctx.setLineDash([]);
  });
}

function darker(colour) {
  return css(rgbOf(colour).map((c) => Math.round(0.6 * c)));
}

// ---------------------------------------------------------------- marks on top

// Labels, goal, edges found wrong, the walk and the state that is pointed at.
export function drawMarks(ctx, geometry, marks, view, look) {
  if (marks.edges?.length) drawFoundEdges(ctx, geometry, marks, view, look);
  if (marks.reasons) drawReasons(ctx, geometry, marks.reasons, view, look);
  if (marks.labels) drawLabels(ctx, geometry, marks, view, look);
  if (marks.route) drawRoute(ctx, geometry, marks.route, view, look);
  drawStar(ctx, geometry, marks.goal, view, look);
  if (marks.pointed >= 0) ring(ctx, geometry, marks.pointed, view, "#ffffff", look.ink);
}

// Lines from a state to the labels that its value rests on; the larger the weight, the broader.
function drawReasons(ctx, { x, y, n }, { state, labels }, view, look) {
  for (const [v, weight] of labels) {
    if (v >= n || v === state || weight < 0.005) continue; // hundreds of thin lines would hide the rest
    for (const [more, shade] of [[2.5, "#ffffff"], [0, look.reason]]) {
      ctx.beginPath();
      ctx.moveTo(...view.toPixels(x[state], y[state]));
      ctx.lineTo(...view.toPixels(x[v], y[v]));
      ctx.strokeStyle = shade;
      ctx.lineWidth = more + 1 + 6 * Math.sqrt(weight);
      ctx.stroke();
    }
  }
}

// Edges that cannot be right with the labels are dashed red.
function drawFoundEdges(ctx, { x, y }, { edges }, view, look) {
  for (const [width, shade, pattern] of [[6, "#ffffff", []], [3.4, look.alarm, [6, 3]]]) {
    ctx.beginPath();
    for (const [a, b] of edges) {
      ctx.moveTo(...view.toPixels(x[a], y[a]));
      ctx.lineTo(...view.toPixels(x[b], y[b]));
    }
    ctx.setLineDash(pattern);
    ctx.strokeStyle = shade;
    ctx.lineWidth = width;
    ctx.stroke();
  }
  ctx.setLineDash([]);
}

export function markSize(geometry, view) {
  if (!geometry.maze) return Math.max(3, 0.5 * discSize(geometry, view));
  return Math.max(3.2, Math.min(9, 0.42 * view.scale));
}

// True labels are discs, typed ones squares; those that the graph contradicts have a ring.
function drawLabels(ctx, geometry, marks, view, look) {
  const size = markSize(geometry, view), wrong = new Set(marks.wrong ?? []);
  const seen = inSight(geometry, view, 2 * size);
  const { vertices, values } = marks.labels;
  const kinds = [[], []];
  vertices.forEach((v, i) => {
    if (v < geometry.n && seen(v) && v !== marks.goal) kinds[values[i] === null ? 0 : 1].push(v);
  });
  kinds.forEach((states, square) => {
    ctx.beginPath();
    for (const v of states) {
      const [px, py] = view.toPixels(geometry.x[v], geometry.y[v]);
      if (square) ctx.rect(px - size, py - size, 2 * size, 2 * size);
      else { ctx.moveTo(px + size, py); ctx.arc(px, py, size, 0, FULL_TURN); }
    }
    ctx.fillStyle = "#ffffff";
    ctx.fill();
    ctx.strokeStyle = look.ink;
    ctx.lineWidth = size > 5 ? 2 : 1.4;
    ctx.stroke();
  });
  for (const v of wrong) if (v < geometry.n) ring(ctx, geometry, v, view, "#ffffff", look.alarm, size + 4);
}

function drawStar(ctx, geometry, goal, view, look) {
  if (!(goal >= 0 && goal < geometry.n)) return;
  const [px, py] = view.toPixels(geometry.x[goal], geometry.y[goal]);
  const size = Math.max(10, 1.6 * markSize(geometry, view));
  ctx.beginPath();
  for (let k = 0; k < 10; k++) {
    const turn = (k * Math.PI) / 5 - Math.PI / 2, long = k % 2 ? 0.45 * size : size;
    const at = [px + long * Math.cos(turn), py + long * Math.sin(turn)];
    if (k) ctx.lineTo(...at);
    else ctx.moveTo(...at);
  }
  ctx.closePath();
  ctx.fillStyle = look.goal;
  ctx.fill();
  ctx.strokeStyle = look.ink;
  ctx.lineWidth = 1.6;
  ctx.stroke();
}

// A walk up to where it has come, and the walker.
function drawRoute(ctx, geometry, { path, progress }, view, look) {
  const last = Math.min(path.length - 1, progress * (path.length - 1)), whole = Math.floor(last);
  const at = (k) => view.toPixels(geometry.x[path[k]], geometry.y[path[k]]);
  let head = at(whole);
  for (const [width, colour] of [[6, look.routeHalo], [3, look.route]]) {
    ctx.beginPath();
    ctx.moveTo(...at(0));
    for (let k = 1; k <= whole; k++) ctx.lineTo(...at(k));
    if (whole < path.length - 1) {
      const [x0, y0] = at(whole), [x1, y1] = at(whole + 1), t = last - whole;
      head = [x0 + t * (x1 - x0), y0 + t * (y1 - y0)];
      ctx.lineTo(...head);
    }
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.lineJoin = "round";
    ctx.stroke();
  }
  ctx.beginPath();
  ctx.moveTo(head[0] + 6, head[1]);
  ctx.arc(head[0], head[1], 6, 0, FULL_TURN);
  ctx.fillStyle = look.route;
  ctx.fill();
  ctx.strokeStyle = look.routeHalo;
  ctx.lineWidth = 2;
  ctx.stroke();
}

function ring(ctx, geometry, vertex, view, halo, colour, size = null) {
  const [px, py] = view.toPixels(geometry.x[vertex], geometry.y[vertex]);
  const radius = size ?? Math.max(8, markSize(geometry, view) + 4);
  for (const [width, shade] of [[4.5, halo], [2, colour]]) {
    ctx.beginPath();
    ctx.moveTo(px + radius, py);
    ctx.arc(px, py, radius, 0, FULL_TURN);
    ctx.strokeStyle = shade;
    ctx.lineWidth = width;
    ctx.stroke();
  }
}
