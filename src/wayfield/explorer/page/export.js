// Pictures, scenes and programs as files.
import { drawBase, drawMarks } from "./draw.js";
import { readable } from "./scene.js";
import { SvgContext } from "./svg.js";

export function save(name, content, kind) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: kind }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const HEAD = 28; // pixels above each picture for what it shows, in words

// One picture of all panels side by side, each { caption, geometry, picture, view, shown, marks };
// `move` is called with where the next one begins.
function compose(ctx, pictures, look, move) {
  let left = 0;
  for (const { caption, geometry, picture, view, shown, marks } of pictures) {
    move(left, 0, view.width, HEAD);
    ctx.fillStyle = look.paper;
    ctx.fillRect(0, 0, view.width, HEAD);
    ctx.fillStyle = look.text;
    ctx.font = "600 14px system-ui, sans-serif";
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.fillText(caption, 12, HEAD / 2);
    move(left, HEAD, view.width, view.height);
    drawBase(ctx, geometry, picture, view, shown, look);
    if (marks) drawMarks(ctx, geometry, marks, view, look);
    left += view.width;
  }
}

function sizeOf(pictures) {
  const width = pictures.reduce((sum, { view }) => sum + view.width, 0);
  return [width, HEAD + Math.max(...pictures.map(({ view }) => view.height))];
}

export function asPng(pictures, look) {
  const canvas = document.createElement("canvas"), [width, height] = sizeOf(pictures);
  Object.assign(canvas, { width: 2 * width, height: 2 * height });
  const ctx = canvas.getContext("2d");
  compose(ctx, pictures, look, (left, top) => ctx.setTransform(2, 0, 0, 2, 2 * left, 2 * top));
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

export function asSvg(pictures, look) {
  const ctx = new SvgContext(...sizeOf(pictures));
  compose(ctx, pictures, look, (left, top, width, height) => {
    if (ctx.parts.length) ctx.parts.push("</svg>");
    ctx.parts.push(`<svg x="${left}" y="${top}" width="${width}" height="${height}">`);
  });
  ctx.parts.push("</svg>");
  return ctx.toString();
}

export function asJson(scene) {
  return `${JSON.stringify(readable(scene))}\n`;
}
