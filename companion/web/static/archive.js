// The kept matches of the table, and each in every form.  Only who has the token sees them.

import { code, word } from "/static/words.js";

const find = (id) => document.getElementById(id);

export function offerMatches(token) {
  find("kept").onclick = async () => {
    find("archive").showModal();
    const answer = await ask("/matches", token());
    const { matches } = answer?.ok ? await answer.json() : { matches: [] };
    find("archive-reply").textContent = !answer?.ok ? word("no-answer") : matches.length ? "" : word("no-kept");
    find("archive").querySelector("ul").replaceChildren(...matches.map((kept) => item(kept, token)));
  };
}

function ask(path, token) {
  return fetch(path, { headers: { Authorization: `Bearer ${token}` } }).catch(() => null);
}

function item(kept, token) {
  const line = document.createElement("li");
  const begun = new Date(kept.started_at).toLocaleString(code, { dateStyle: "medium", timeStyle: "short" });
  const moves = word(kept.moves === 1 ? "one-move" : "moves-played", { n: kept.moves });
  const winner = kept.names[kept.players.indexOf(kept.winner)] || kept.winner;
  const result = !kept.rule ? word("is-open") : kept.winner ? word("has-won", { player: winner }) : word("is-drawn");
  const told = [`${kept.match}. ${kept.titles[code]}`, kept.names.filter(Boolean).join(" – "), begun, moves, result];
  const row = Object.assign(document.createElement("div"), { className: "row" });
  const look = Object.assign(document.createElement("a"), { className: "link", href: `/replay?match=${kept.match}`, textContent: word("replay") });
  look.setAttribute("aria-label", `${word("replay")}: ${kept.match}`);
  if (kept.moves) row.append(look);
  row.append(...kept.forms.map((form) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: form });
    button.setAttribute("aria-label", `${kept.match}: ${form}`);
    button.onclick = () => save(kept.match, form, token());
    return button;
  }));
  line.append(told.filter(Boolean).join(" · "), row);
  return line;
}

async function save(match, form, token) {
  const file = `match-${match}.${form}`;
  find("archive-reply").textContent = word("is-made", { file });
  const answer = await ask(`/matches/${match}.${form}`, token);
  if (!answer?.ok) {
    find("archive-reply").textContent = (await answer?.json().catch(() => null))?.error ?? word("no-answer");
    return;
  }
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(await answer.blob()), download: file });
  link.click();
  URL.revokeObjectURL(link.href);
  find("archive-reply").textContent = "";
}
