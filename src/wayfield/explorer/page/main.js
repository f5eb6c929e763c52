// The page: the explorer in the whole window, asking the server that it came from.
import { mount } from "./app.js";
import { overHttp } from "./api.js";

mount(document.querySelector("#explorer"), overHttp(Math.random().toString(36).slice(2)));
