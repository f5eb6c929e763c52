// The explorer in an element of a page, asking whoever answers.
import { Hands } from "./hands.js";

export async function mount(root, ask, options = {}) {
  const explorer = new Hands(root, ask, options);
  await explorer.start();
  return () => explorer.stop();
}
