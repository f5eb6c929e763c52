// A proof that is dropped on the page, or chosen, is checked in this browser; no byte leaves it.
const zone = document.querySelector("#check"), chosen = zone.querySelector("input");
const answer = document.querySelector("#check-answer");
const VERDICTS = ["proved", "not-proved", "unreadable"];
let worker = null;

function tell(verdict, text) {
  answer.dataset.verdict = verdict;
  answer.textContent = text;
}

async function check(file) {
  if (!file) return;
  if (answer.dataset.verdict === "busy") { // a newer file does not wait for an older one
    worker?.terminate();
    worker = null;
  }
  worker ??= new Worker(new URL("check-worker.js", import.meta.url), { type: "module" });
  const began = performance.now();
  worker.onmessage = ({ data: { code, text } }) => {
    const seconds = (performance.now() - began) / 1000;
    tell(VERDICTS[code], `${text}\n\n${file.name}, ${file.size.toLocaleString("en")} bytes, ${seconds.toFixed(1)} s`);
  };
  worker.onerror = ({ message }) => tell("unreadable", `The checker could not start: ${message ?? "see the browser's console"}`);
  tell("busy", `Checking ${file.name} …`);
  const bytes = await file.arrayBuffer();
  worker.postMessage({ name: file.name.replaceAll("/", "_"), bytes }, [bytes]);
}

chosen.addEventListener("change", () => check(chosen.files[0]));
zone.addEventListener("dragover", (event) => event.preventDefault());
zone.addEventListener("drop", (event) => {
  event.preventDefault();
  check(event.dataTransfer.files[0]);
});
if (location.protocol === "file:") tell("busy", "Browsers run no checker on pages from disk. Serve the site: python -m http.server --directory site");
