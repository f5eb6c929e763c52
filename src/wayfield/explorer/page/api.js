// Questions to the server. In each lane one question is asked at a time. Of those that wait, only the
// newest is asked; answers that come too late are dropped.

export class ApiError extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

// How the page asks its server; a notebook widget sends messages instead.
export function overHttp(page) {
  return async (name, body, lane, signal) => {
    const headers = { "content-type": "application/json" };
    if (lane) headers["wayfield-lane"] = `${page}/${lane}`;
    const reply = await fetch(`/api/${name}`, { method: "POST", headers, body, signal });
    return { status: reply.status, body: await reply.text() };
  };
}

const PATIENCE = 1500; // ms that a newer question waits for an older one before that is given up

// With `previews`, an answer is shown even if a newer question waits, so that a drag is followed.
export class Lane {
  constructor(ask, name, previews = false) {
    Object.assign(this, { ask, name, previews, number: 0, running: null, timer: 0 });
  }

  // Calls done(answer, began, preview) or failed(error).
  request(endpoint, question, done, failed) {
    this.next = { endpoint, question, done, failed, began: performance.now(), number: ++this.number };
    if (!this.running) this.go();
    else if (!this.timer) this.timer = setTimeout(() => this.running?.abort(), PATIENCE);
  }

  drop() {
    this.number++;
    this.next = null;
    this.running?.abort();
  }

  async go() {
    const { endpoint, question, done, failed, began, number } = this.next;
    this.next = null;
    this.running = new AbortController();
    try {
      const reply = await this.ask(endpoint, JSON.stringify(question()), this.name, this.running.signal);
      const answer = JSON.parse(reply.body);
      if (number === this.number) {
        if (reply.status === 200) done(answer, began);
        else if (reply.status !== 409) failed(new ApiError(reply.status, answer.error));
      } else if (reply.status === 200 && this.next && this.previews) {
        done(answer, began, true);
      }
    } catch (error) {
      if (error.name !== "AbortError" && number === this.number) {
        failed(error instanceof ApiError ? error : new ApiError(0, lost(error)));
      }
    }
    this.running = null;
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.next) this.go();
  }
}

function lost(error) {
  return error instanceof TypeError ? "the server does not answer: is it still running?" : String(error);
}
