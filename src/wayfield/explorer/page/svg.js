// A drawing context that writes SVG: what draw.js uses of a canvas, and no more.
import { plainText } from "./small.js";

const short = (number) => String(Math.round(number * 100) / 100);

export class SvgContext {
  constructor(width, height) {
    Object.assign(this, { width, height, parts: [], path: "", dash: [], fillStyle: "#000",
      strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "12px sans-serif",
      textAlign: "left", textBaseline: "alphabetic", lineJoin: "round", lineCap: "round" });
  }

  beginPath() { this.path = ""; }
  moveTo(x, y) { this.path += `M${short(x)} ${short(y)}`; }
  lineTo(x, y) { this.path += `L${short(x)} ${short(y)}`; }
  closePath() { this.path += "Z"; }
  rect(x, y, w, h) { this.path += `M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}Z`; }
  setLineDash(dash) { this.dash = dash; }
  save() {}
  restore() {}

  arc(x, y, radius) {
    const r = short(radius), d = short(2 * radius);
    this.path += `M${short(x - radius)} ${short(y)}a${r} ${r} 0 1 0 ${d} 0a${r} ${r} 0 1 0 -${d} 0Z`;
  }

  get faint() { return this.globalAlpha < 1 ? ` opacity="${this.globalAlpha}"` : ""; }

  fill() { this.parts.push(`<path d="${this.path}" fill="${this.fillStyle}"${this.faint}/>`); }

  stroke() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    this.parts.push(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}"` +
      ` stroke-width="${short(this.lineWidth)}" stroke-linejoin="round"${dash}${this.faint}/>`);
  }

  fillRect(x, y, w, h) {
    this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(w)}" height="${short(h)}"` +
      ` fill="${this.fillStyle}"${this.faint}/>`);
  }

  drawImage(image, x, y, w, h) {
    this.parts.push(`<image x="${short(x)}" y="${short(y)}" width="${short(w)}" height="${short(h)}"` +
      ` preserveAspectRatio="none" style="image-rendering:pixelated" href="${image.toDataURL()}"/>`);
  }

  fillText(text, x, y) {
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    const middle = this.textBaseline === "middle" ? ' dominant-baseline="central"' : "";
    this.parts.push(`<text x="${short(x)}" y="${short(y)}" fill="${this.fillStyle}"${middle}` +
      ` text-anchor="${anchor}" style="font:${this.font}"${this.faint}>${plainText(text)}</text>`);
  }

  strokeText() {}

  toString() {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}"` +
      ` viewBox="0 0 ${this.width} ${this.height}">\n${this.parts.join("\n")}\n</svg>\n`;
  }
}
