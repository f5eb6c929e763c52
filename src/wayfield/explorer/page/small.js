// Numbers, words, elements and canvases: what the rest is made with.
import { METHODS } from "./layout.js";

export const wordOf = (p) => (p === 2 ? "harmonic" : p === Infinity ? "amle" : `p=${p}`);

export function pOf(word) {
  if (word === "harmonic") return 2;
  if (word === "amle") return Infinity;
  return word.startsWith("p=") ? Number(word.slice(2)) : null;
}

export const tell = (number, digits = 4) => {
  if (number === null || number === undefined) return "∞";
  if (!Number.isFinite(number)) return "∞";
  return String(Number(Number(number).toPrecision(digits))).replace(/^-/, "−");
};
export const counted = (n, things, thing) => `${n.toLocaleString("en")} ${n === 1 ? thing : things}`;

export function described(settings) {
  const p = pOf(settings.method);
  const field = p === null ? METHODS[settings.method] ?? settings.method : p === 2 ? "p = 2, harmonic" : p === Infinity ? "p = ∞, AMLE" : `p = ${p}`;
  const ways = [settings.rule === "q" ? "least Q" : "", settings.ties === "index" ? "ties by index" : "", settings.lift ? "lifted" : ""];
  return [field, ...ways.filter(Boolean)].join(", ");
}

export function element(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

export function plainText(text) {
  return String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
}

export function pixel(event, canvas) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

export function context(canvas) {
  const ctx = canvas.getContext("2d");
  ctx.setTransform(canvas.ratio, 0, 0, canvas.ratio, 0, 0);
  return ctx;
}

export function fitCanvas(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas.parentElement;
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  canvas.ratio = ratio;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  return { width, height };
}

export function copied(canvas) {
  const copy = document.createElement("canvas");
  copy.width = canvas.width;
  copy.height = canvas.height;
  copy.getContext("2d").drawImage(canvas, 0, 0);
  return copy;
}

export function stored(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}

export function store(name, value) {
  try { localStorage.setItem(name, value); } catch { /* private windows keep nothing */ }
}
