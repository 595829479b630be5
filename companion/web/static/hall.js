// All tables of a hall, each as a card: board, players, what was said last.

import { SIGNS } from "/static/signs.js";
import { code, offerLanguages, word } from "/static/words.js";

const find = (id) => document.getElementById(id);
const tables = new Map();
const boards = new Map();

function listen() {
  const stream = new EventSource("/tables");
  stream.addEventListener("table", (message) => {
    const row = JSON.parse(message.data);
    tables.set(row.table, row);
    render();
  });
  stream.onopen = () => connected(true);
  stream.onerror = () => {
    connected(false);
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
  };
}

function connected(is) {
  find("connection").textContent = word(is ? "live" : "lost");
  find("connection").className = is ? "good" : "bad";
}

function render() {
  find("none").hidden = tables.size > 0;
  const names = [...tables.keys()].sort((a, b) => a.localeCompare(b, code, { numeric: true }));
  for (const [i, name] of names.entries()) {
    const card = find(`table-${name}`) ?? create(name);
    if (find("tables").children[i] !== card) find("tables").insertBefore(card, find("tables").children[i] ?? null);
    fill(card, tables.get(name));
  }
}

function create(name) {
  const card = document.createElement("li");
  card.id = `table-${name}`;
  card.innerHTML = `<a><header><strong></strong><small></small></header><div class="board"></div><ol class="players"></ol>
    <p class="word"><svg viewBox="0 0 24 24" aria-hidden="true"><use/></svg><span></span></p></a>`;
  return card;
}

function fill(card, row) {
  card.className = row.online ? "" : "away";
  card.dataset.kind = row.said?.event ?? "";
  card.querySelector("a").href = `/table/${encodeURIComponent(row.table)}/`;
  card.querySelector("strong").textContent = row.table;
  card.querySelector("small").textContent = [row.game.title.split(/[,(]/)[0].trim(), word("moves-played", { n: row.turns }), word(row.online ? "table-online" : "table-away")].join(" · ");
  card.querySelector(".players").replaceChildren(...row.game.players.map((player) => {
    const item = document.createElement("li");
    const piece = Object.assign(document.createElement("b"), { className: "piece", textContent: player.letter });
    piece.style.background = player.colour;
    item.style.setProperty("--colour", player.colour);
    const isWinner = row.outcome?.winner === player.letter;
    item.className = isWinner ? "winner" : player.letter === row.to_move && !row.outcome ? "next" : "";
    item.append(piece, player.names[code] + (isWinner ? ` ${word("won")}` : ""));
    return item;
  }));
  card.querySelector("use").setAttribute("href", `/static/icon.svg#${SIGNS[row.said?.event] ?? "eye"}`);
  card.querySelector(".word span").textContent = row.fault ? word("left-out", { why: row.fault }) : row.said?.texts[code] ?? "";
  draw(card.querySelector(".board"), row);
}

async function draw(place, row) {
  const key = `${row.table} ${row.match} ${row.board}`;
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  if (!boards.has(row.table) || boards.get(row.table).key !== key) {
    const answer = await fetch(`/table/${encodeURIComponent(row.table)}/board/${row.board}`).catch(() => null);
    if (!answer?.ok) { place.dataset.key = ""; return; }
    boards.set(row.table, { key, svg: (await answer.json()).svg });
  }
  if (place.dataset.key === key) place.innerHTML = boards.get(row.table).svg;
}

offerLanguages(find("language"), () => {
  document.title = word("hall");
  render();
});
listen();
