// Colours. Fields are shades of one hue or maps made for colour-blind readers; loops are warm.

const MAPS = {
  blue: ["#1b5e98", "#3d8cc0", "#74b4d8", "#abd2e7", "#d3e6f1", "#eef5f9"],
  cividis: ["#00224e", "#35456c", "#666970", "#948e77", "#c8b866", "#fee838"],
  viridis: ["#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725"],
  grey: ["#2b2f36", "#565c66", "#828994", "#aeb4bd", "#d5d9df", "#f4f5f7"],
};
export const PALETTES = Object.keys(MAPS);
const DIFFERENCE = ["#0b4f8a", "#5aa2d6", "#d6e6f2", "#f7f7f5", "#fbe0bd", "#e8912d", "#9a4a00"];
export const LOOPS = ["#d7301f", "#8e1b5a", "#e8618c", "#9c4a12", "#c2a5cf", "#f7c948", "#6e0f12"];

export const LIGHT = {
  wall: "#2c3640", ink: "#16212c", paper: "#ffffff", soft: "#8a949e", goal: "#ffd23f",
  none: "#c6cad0", route: "#111111", routeHalo: "#ffffff", sure: "#00705a", alarm: "#b3123a", reason: "#1447c8",
};
export const DARK = {
  wall: "#0b0f13", ink: "#0d1319", paper: "#171d23", soft: "#77828d", goal: "#ffd23f",
  none: "#4a525b", route: "#111111", routeHalo: "#ffffff", sure: "#00604d", alarm: "#ff5c7a", reason: "#5b8cff",
};

export function rgbOf(hex) {
  const number = parseInt(hex.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

// 256 colours, evenly mixed from a few.
function ramp(stops) {
  const colours = stops.map(rgbOf);
  return Array.from({ length: 256 }, (_, i) => {
    const at = (i / 255) * (colours.length - 1);
    const low = Math.min(Math.floor(at), colours.length - 2);
    return colours[low].map((c, k) => Math.round(c + (at - low) * (colours[low + 1][k] - c)));
  });
}

const RAMPS = Object.fromEntries(Object.entries(MAPS).map(([name, stops]) => [name, ramp(stops)]));
const SIGNED = ramp(DIFFERENCE);
const LOOP_RGB = LOOPS.map(rgbOf);

// Colour of a value between two others, as [red, green, blue].
export function fieldColour(name, value, low, high) {
  const share = high > low ? (value - low) / (high - low) : 0.5;
  return RAMPS[name][Math.max(0, Math.min(255, Math.round(255 * share)))];
}

export function differenceColour(value, most) {
  const share = most > 0 ? (value / most + 1) / 2 : 0.5;
  return SIGNED[Math.max(0, Math.min(255, Math.round(255 * share)))];
}

export function loopColour(number) {
  return LOOPS[number % LOOPS.length];
}

export function tinted(colour, number, strength) {
  const loop = LOOP_RGB[number % LOOP_RGB.length];
  return colour.map((c, k) => Math.round(c + strength * (loop[k] - c)));
}

export function css(colour) {
  return `rgb(${colour[0]},${colour[1]},${colour[2]})`;
}

// The colour bar under the picture.
export function gradient(name) {
  const stops = name === "difference" ? DIFFERENCE : MAPS[name];
  return `linear-gradient(to right, ${stops.join(", ")})`;
}
