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

function compose(ctx, pictures, look, move) {
  for (const { geometry, picture, view, shown, marks } of pictures) {
    move(view);
    drawBase(ctx, geometry, picture, view, shown, look);
    if (marks) drawMarks(ctx, geometry, marks, view, look);
  }
}

// One picture of all panels side by side. Each is { geometry, picture, view, shown, marks }.
export function asPng(pictures, look) {
  const canvas = document.createElement("canvas");
  const width = pictures.reduce((sum, { view }) => sum + view.width, 0);
  canvas.width = 2 * width;
  canvas.height = 2 * Math.max(...pictures.map(({ view }) => view.height));
  const ctx = canvas.getContext("2d");
  let left = 0;
  compose(ctx, pictures, look, (view) => {
    ctx.setTransform(2, 0, 0, 2, 2 * left, 0);
    left += view.width;
  });
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

export function asSvg(pictures, look) {
  const width = pictures.reduce((sum, { view }) => sum + view.width, 0);
  const ctx = new SvgContext(width, Math.max(...pictures.map(({ view }) => view.height)));
  let left = 0;
  compose(ctx, pictures, look, (view) => {
    if (left) ctx.parts.push("</svg>");
    ctx.parts.push(`<svg x="${left}" width="${view.width}" height="${view.height}">`);
    left += view.width;
  });
  ctx.parts.push("</svg>");
  return ctx.toString();
}

export function asJson(scene) {
  return `${JSON.stringify(readable(scene))}\n`;
}
