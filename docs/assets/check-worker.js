// Python with the checker, in a thread of its own: a long check does not freeze the page.
const folder = new URL("../pyodide/", import.meta.url).href;

async function start() {
  const { loadPyodide } = await import(folder + "pyodide.mjs");
  const python = await loadPyodide({ indexURL: folder });
  const sources = await fetch(folder + "wayfield_verify.zip");
  python.unpackArchive(await sources.arrayBuffer(), "zip");
  return python;
}

const started = start();

onmessage = async ({ data: { name, bytes } }) => {
  try {
    const python = await started, lines = [], print = { batched: (line) => lines.push(line) };
    python.setStdout(print);
    python.setStderr(print);
    python.FS.writeFile(name, new Uint8Array(bytes));
    python.globals.set("name", name);
    const code = python.runPython("from wayfield_verify.__main__ import main\nmain([name])");
    postMessage({ code, text: lines.join("\n") });
  } catch (failure) {
    postMessage({ code: 2, text: `The checker could not run: ${failure.message ?? failure}` });
  }
};
