// All tables of a hall: one large, where something has happened; each as a card; and the results.

import { Rounds } from "/static/rounds.js";
import { inkOn, SIGNS } from "/static/signs.js";
import { code, offerLanguages, word } from "/static/words.js";

const find = (id) => document.getElementById(id);
const HOLD_S = 12; // a table stays large at least so long, for people to read it
const STRIKING = ["illegal", "unsure", "game-over", "clock", "corrected", "unfinished"];
const tables = new Map();
const boards = new Map();
let featured = { name: null, since: -HOLD_S };
let waiting = null; // the table that will be large next
let results = null;
let asked = 0; // times that the results were asked for
const rounds = new Rounds(() => ({ tables, results }));

function listen() {
  const stream = new EventSource("/tables");
  stream.addEventListener("table", (message) => take(JSON.parse(message.data)));
  stream.addEventListener("rounds", fetchResults);
  stream.onopen = () => connected(true);
  stream.onerror = () => {
    connected(false);
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
  };
}

function connected(is) {
  find("connection").textContent = word(is ? "live" : "lost");
  find("connection").className = is ? "good" : "bad";
  if (is) fetchResults();
}

const now = () => performance.now() / 1000;

function take(row) {
  const before = tables.get(row.table);
  tables.set(row.table, { ...row, arrived: now() });
  if (row.online && before && row.n > before.n && STRIKING.includes(row.said?.event)) waiting = row.table;
  if (Boolean(row.outcome) !== Boolean(before?.outcome)) fetchResults();
  choose();
  render();
}

// Which table is large: that where something was said last, else the first that plays.
function choose() {
  if (waiting && (now() - featured.since >= HOLD_S || featured.name === waiting)) {
    featured = { name: waiting, since: now() };
    waiting = null;
  }
  if (!tables.has(featured.name)) {
    const all = [...tables.values()];
    const first = all.find((row) => row.online && !row.outcome) ?? all[0];
    featured = { name: first?.table ?? null, since: -HOLD_S };
  }
}

function render() {
  find("none").hidden = tables.size > 0;
  find("featured").hidden = !featured.name;
  const names = [...tables.keys()].sort((a, b) => a.localeCompare(b, code, { numeric: true }));
  for (const [i, name] of names.entries()) {
    const card = find(`table-${name}`) ?? create(name);
    if (find("tables").children[i] !== card) find("tables").insertBefore(card, find("tables").children[i] ?? null);
    fill(card.firstElementChild, tables.get(name));
    card.className = name === featured.name ? "shown" : "";
  }
  if (featured.name) {
    const place = find("featured");
    if (place.dataset.table !== featured.name) {
      place.dataset.table = featured.name;
      place.innerHTML = `${INSIDE}<img class="code" alt="">`;
      place.querySelector(".code").src = `/table/${encodeURIComponent(featured.name)}/qr.svg`;
    }
    place.querySelector(".code").alt = word("page-of", { table: featured.name });
    fill(place, tables.get(featured.name));
  }
}

const INSIDE = `<header><strong></strong><small></small></header><div class="board"></div><ol class="players"></ol>
  <p class="word"><svg viewBox="0 0 24 24" aria-hidden="true"><use/></svg><span></span></p>`;

function create(name) {
  const card = document.createElement("li");
  card.id = `table-${name}`;
  const link = document.createElement("a");
  link.href = `/table/${encodeURIComponent(name)}/`;
  link.innerHTML = INSIDE;
  card.append(link);
  return card;
}

function status(row) {
  if (row.outcome) return word("ended");
  return word(row.online ? "table-online" : "table-away");
}

function fill(card, row) {
  card.dataset.kind = row.outcome ? "game-over" : row.said?.event ?? "";
  card.querySelector("strong").textContent = row.table;
  const moves = word(row.turns === 1 ? "one-move" : "moves-played", { n: row.turns });
  card.querySelector("small").textContent = [row.game.titles[code].split(/[,(]/)[0].trim(), moves, status(row)].join(" · ");
  card.querySelector(".players").replaceChildren(...row.game.players.map((player) => seat(player, row)));
  card.querySelector("use").setAttribute("href", `/static/icon.svg#${SIGNS[row.said?.event] ?? "eye"}`);
  card.querySelector(".word span").textContent = row.fault ? word("left-out", { why: row.fault }) : row.said?.texts[code] ?? "";
  card.querySelector(".word").hidden = !card.querySelector(".word span").textContent;
  draw(card.querySelector(".board"), row);
}

function seat(player, row) {
  const item = document.createElement("li");
  const piece = Object.assign(document.createElement("b"), { className: "piece", textContent: player.letter });
  piece.style.background = player.colour;
  piece.style.setProperty("--on", inkOn(player.colour));
  item.style.setProperty("--colour", player.colour);
  const isWinner = row.outcome?.winner === player.letter;
  item.className = isWinner ? "winner" : player.letter === row.to_move && !row.outcome ? "next" : "";
  const name = Object.assign(document.createElement("span"), { textContent: player.names[code] });
  item.append(piece, name);
  if (row.outcome) item.append(Object.assign(document.createElement("b"), { className: "points", textContent: isWinner ? "1" : row.outcome.winner ? "0" : "½" }));
  else if (row.clock) item.append(clock(player.letter, row));
  return item;
}

function clock(letter, row) {
  const time = document.createElement("time");
  time.dataset.table = row.table;
  time.dataset.player = letter;
  time.textContent = left(letter, row);
  return time;
}

function left(letter, row) {
  const runs = row.clock.running === letter ? row.t + now() - row.arrived - row.clock.since : 0;
  const whole = Math.max(0, Math.floor(row.clock.left[letter] - runs));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

function tick() {
  for (const time of document.querySelectorAll("time[data-table]")) {
    const row = tables.get(time.dataset.table);
    if (row?.clock) time.textContent = left(time.dataset.player, row);
  }
  const before = featured.name;
  choose();
  if (featured.name !== before) render();
}

async function draw(place, row) {
  const path = row.drawn ? `/told/${row.drawn}` : `/board/${row.board}`;
  const key = `${row.table} ${row.match} ${path}`;
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  if (boards.get(row.table)?.key !== key) {
    const svg = fetch(`/table/${encodeURIComponent(row.table)}${path}`).then((answer) => (answer.ok ? answer.json() : null)).catch(() => null);
    boards.set(row.table, { key, svg });
  }
  const board = await boards.get(row.table).svg;
  if (!board) { place.dataset.key = ""; boards.delete(row.table); return; }
  if (place.dataset.key === key) place.innerHTML = board.svg;
}

async function fetchResults() {
  const mine = ++asked;
  const answer = await fetch("/results").catch(() => null);
  const news = answer?.ok ? await answer.json() : null;
  if (mine !== asked) return; // what was asked for later is newer
  results = news ?? results;
  renderResults();
}

function renderResults() {
  find("results").hidden = !results?.rounds.length;
  if (!results) return;
  const cells = (texts, kind = "td") => {
    const line = document.createElement("tr");
    line.append(...texts.map((textContent) => Object.assign(document.createElement(kind), { textContent })));
    return line;
  };
  find("scores").tBodies[0].replaceChildren(...results.scores.map((one) => cells([one.name, shown(one.points), one.played])));
  find("rounds").replaceChildren(...results.rounds.map((round) => {
    const part = document.createElement("section");
    const list = document.createElement("ul");
    list.append(...round.matches.map((match) => {
      const points = match.points ? match.points.map(shown).join(" : ") : "– : –";
      const line = document.createElement("li");
      line.append(`${match.names.join(" – ")} `, Object.assign(document.createElement("b"), { textContent: points }));
      return line;
    }));
    part.append(Object.assign(document.createElement("h3"), { textContent: round.title || word("finished") }), list);
    return part;
  }));
}

function shown(points) {
  const whole = Math.floor(points);
  return points - whole === 0.5 ? `${whole || ""}½` : String(Math.round(points * 100) / 100);
}

offerLanguages(find("language"), () => {
  document.title = word("hall");
  rounds.render();
  render();
  renderResults();
});
setInterval(tick, 500);
find("none").hidden = false;
listen();
