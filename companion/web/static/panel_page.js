// A phone that is the table's panel and nothing else.

import { Panel } from "/static/panel.js";
import { offerLanguages, word } from "/static/words.js";

const find = (id) => document.getElementById(id);
const given = new URLSearchParams(location.hash.slice(1)).get("code");
if (given) {
  try { localStorage.setItem("panel-code", given); } catch { /* private mode: for this visit only */ }
  history.replaceState(null, "", location.pathname + location.search);
}

function recalled() {
  try { return localStorage.getItem("panel-code"); } catch { return null; }
}

const code = given ?? recalled();
const show = () => { find("state").textContent = word(code ? "panel-ready" : "panel-no-code"); };
find("state").dataset.kind = code ? "" : "bad";
find("start").hidden = !code;
find("start").onclick = () => new Panel(find("panel"), code).open();
offerLanguages(find("language"), show);
