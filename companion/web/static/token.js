// The token of who may act, kept for this visit to the page.

import { word } from "/static/words.js";

// From the address that the program printed; it must not stay in the address bar, where others read it.
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    history.replaceState(null, "", location.pathname + location.search);
    keepToken(given);
    return given;
  }
  try { return sessionStorage.getItem("token") ?? ""; } catch { return ""; }
}

export function keepToken(token) {
  try { sessionStorage.setItem("token", token); } catch { /* private mode: until the page is loaded again */ }
}

// The dialog in which a token is typed: it is tried before it is taken.
export function askToken(taken) {
  const find = (id) => document.getElementById(id);
  find("key").onclose = () => { find("token").value = find("key-reply").textContent = ""; };
  find("key").querySelector("form").onsubmit = async (event) => {
    if (!event.submitter?.value) return;
    event.preventDefault();
    const token = find("token").value.trim();
    const answer = await fetch("/arbiter", { headers: { Authorization: `Bearer ${token}` } }).catch(() => null);
    find("key-reply").textContent = answer?.ok ? "" : word(answer?.status === 401 ? "wrong-token" : "no-answer");
    if (!answer?.ok) return;
    taken(token);
    find("key").close();
  };
}
