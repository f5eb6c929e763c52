// Arrays as they travel: the bytes of a typed array in base64, little-endian.

export function unpack(text, Kind) {
  if (Uint8Array.fromBase64) return new Kind(Uint8Array.fromBase64(text).buffer); // newer browsers
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  return new Kind(bytes.buffer);
}

export function pack(array) {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text);
}

// A list of numbers or a packed array, as a typed one.
export function typed(data, Kind) {
  return typeof data === "string" ? unpack(data, Kind) : Kind.from(data);
}
