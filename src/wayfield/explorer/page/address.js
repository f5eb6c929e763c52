// The whole scene in the address bar, compressed: anyone who opens the address sees the same.
import { pack, unpack } from "./arrays.js";

const LONGEST = 150000; // bytes, compressed

async function through(stream, bytes) {
  const written = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(written).arrayBuffer());
}

// Text for an address; null if the scene is too large for one.
export async function encodeScene(scene) {
  const plain = new TextEncoder().encode(JSON.stringify(scene));
  if (plain.length > 10 * LONGEST) return null; // too large even when compressed
  const small = await through(new CompressionStream("deflate-raw"), plain);
  if (small.length > LONGEST) return null;
  return pack(small).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export async function decodeScene(text) {
  const bytes = unpack(text.replaceAll("-", "+").replaceAll("_", "/"), Uint8Array);
  const plain = await through(new DecompressionStream("deflate-raw"), bytes);
  return JSON.parse(new TextDecoder().decode(plain));
}

// The history of edits, for undo and redo.
export class History {
  constructor(scene) {
    this.past = [];
    this.now = scene;
    this.future = [];
    this.kind = "";
  }

  // Consecutive edits of one kind, as by a slider, are undone together.
  record(scene, kind = "") {
    if (!kind || kind !== this.kind) this.past.push(this.now);
    if (this.past.length > 200) this.past.shift();
    this.now = scene;
    this.future = [];
    this.kind = kind;
  }

  pause() {
    this.kind = "";
  }

  undo() {
    if (!this.past.length) return null;
    this.future.push(this.now);
    this.kind = "";
    return (this.now = this.past.pop());
  }

  redo() {
    if (!this.future.length) return null;
    this.past.push(this.now);
    this.kind = "";
    return (this.now = this.future.pop());
  }
}
