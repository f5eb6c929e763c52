/* Search from disk. A page opened as file:// may not start a worker, which the search of the theme
   runs in. There a hidden frame stands in for it: the script runs in the frame, and messages go
   to and fro as events. Nothing is loaded from elsewhere. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.documentElement.appendChild(frame)
      const inside = frame.contentWindow
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      const script = inside.document.createElement("script")
      this.ready = new Promise(resolve => script.addEventListener("load", resolve))
      this.postMessage = data =>
        this.ready.then(() => inside.dispatchEvent(new MessageEvent("message", { data })))
      this.terminate = () => frame.remove()
      script.src = url
      inside.document.head.appendChild(script)
    }
  }
}
