// The explorer in an element of a page; `ask` sends its questions.
import { Hands } from "./hands.js";

export async function mount(root, ask, options = {}) {
  const explorer = new Hands(root, ask, options);
  await explorer.start();
  return () => explorer.stop();
}
