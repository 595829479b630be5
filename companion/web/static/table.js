// The page of one table: takes the state from the stream and shows it.

import { Arbiter } from "/static/arbiter.js";
import { offerMatches } from "/static/archive.js";
import { Board } from "/static/board.js";
import { bans, held, mark, minutes, playerName, ruleLines } from "/static/parts.js";
import { SIGHT_TROUBLE, SIGNS } from "/static/signs.js";
import { Starting } from "/static/start.js";
import { code, offerLanguages, word } from "/static/words.js";

const find = (id) => document.getElementById(id);

// Where this table's addresses are: at the root of its own page, below its name in a hall.
export const base = location.pathname.startsWith("/table/") ? location.pathname.replace(/\/$/, "") : "";
let state = null;
let shown = null; // number of the event whose board is shown; null: always the latest
let arrived = 0; // when the state came, in seconds of this browser
let isConnected = false;
const boards = new Map();
const board = new Board(find("board"), find("lens"), (cell) => arbiter.choose(cell));
window.board = board; // for the tests, which look at what is drawn
const starting = new Starting(() => ({ state, token: arbiter.token }));
const arbiter = new Arbiter(() => ({ state, board }), () => render());

function listen() {
  const stream = new EventSource(base + "/events?with=state&after=" + (state?.n ?? 1e8));
  stream.addEventListener("state", (message) => take(JSON.parse(message.data)));
  stream.onmessage = (message) => { document.documentElement.dataset.n = message.lastEventId; };
  stream.onopen = () => connected(true);
  stream.onerror = () => {
    connected(false);
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
  };
}

function connected(is) {
  isConnected = is;
  renderChips();
  refreshPicture();
}

function take(next) {
  if (state && state.match !== next.match) { boards.clear(); shown = null; }
  const news = next.log.filter((said) => said.n > (state?.match === next.match ? state.n : next.n - 1));
  state = next;
  arrived = performance.now() / 1000;
  render();
  if (news.length) speak(news);
}

function render() {
  if (!state) return;
  document.body.dataset.mode = state.mode;
  const place = [base && decodeURIComponent(base.split("/").at(-1)), state.game.titles[code]].filter(Boolean).join(" · ");
  find("title").textContent = place;
  document.title = `${place} · ${stateLine()}`;
  renderChips();
  renderVerdict();
  renderMoves();
  renderLog();
  renderPlayers();
  renderBoard();
  renderViews();
  arbiter.render();
  starting.render();
}

function name(letter) {
  return playerName(state.game, letter);
}

function stateLine() {
  if (state.outcome) return state.outcome.winner ? `${name(state.outcome.winner)} ${word("won")}` : word("ended");
  if (["watching", "thinking"].includes(state.mode) || !state.mode) return word("turn", { player: name(state.to_move) });
  return word(state.mode);
}

function renderChips() {
  const chips = [[isConnected ? word("live") : word("lost"), isConnected ? "good" : "bad"]];
  if (state && !base && isConnected && state.mode !== "idle") {
    const trouble = SIGHT_TROUBLE.includes(state.view);
    chips.push([word(`camera ${state.view}`), trouble ? "bad" : state.view === "hand" ? "busy" : "good"]);
    if (state.sensors) chips.push([word(`sensors ${state.sensors}`), state.sensors === "ok" ? "good" : "bad"]);
    chips.push([word(state.warning ? "unsaved" : "saved"), state.warning ? "bad" : "good", state.warning]);
  }
  find("chips").replaceChildren(...chips.map(([text, kind, title]) => {
    const chip = document.createElement("li");
    chip.textContent = text;
    chip.className = kind;
    if (title) chip.title = title;
    return chip;
  }));
  find("watching").textContent = state ? word(state.turns.length === 1 ? "one-move" : "moves-played", { n: state.turns.length }) : word("reload");
}

// The sentences that were said together last, the gravest of them in front.
function lastSaid() {
  const last = state.log.at(-1);
  const group = state.log.filter((said) => said.t === last?.t);
  const rank = (said) => ["game-over", "illegal", "unsure", "accepted", "corrected"].indexOf(said.event);
  const lead = [...group].sort((a, b) => (rank(a) + 9) % 9 - (rank(b) + 9) % 9)[0];
  return { group, lead };
}

function renderVerdict() {
  const { group, lead } = lastSaid();
  if (!lead) {
    find("verdict").dataset.kind = "";
    find("sign").setAttribute("href", "/static/icon.svg#stack");
    find("said").textContent = word("no-match");
    find("todo").textContent = starting.isOffered ? "" : word("no-match-hint");
    find("rules").replaceChildren();
    return;
  }
  const isPaused = state.mode === "paused";
  find("verdict").dataset.kind = isPaused ? "pause" : lead.event;
  find("sign").setAttribute("href", `/static/icon.svg#${isPaused ? "pause" : SIGNS[lead.event] ?? "eye"}`);
  find("said").textContent = isPaused ? word("paused") : group.map((said) => said.texts[code]).join(" ");
  const todo = ["unfinished", "setting up"].includes(state.mode) ? state.todo[code] : "";
  find("todo").textContent = find("said").textContent.includes(todo.replace(/\.$/, "")) ? "" : todo;
  find("rules").replaceChildren(...ruleLines((isPaused ? [] : group).flatMap((said) => said.rules)));
  arbiter.renderOptions(find("options"), base);
}

// For ears: once for every piece of news, at once for what must be put right.
function speak(news) {
  const text = news.map((said) => said.texts[code]).join(" ");
  const isUrgent = news.some((said) => ["illegal", "unsure", "game-over"].includes(said.event));
  find(isUrgent ? "loud" : "polite").textContent = text;
}

function renderMoves() {
  const list = find("moves");
  const places = [{ n: state.start_n, player: "", move: "", by: "" }, ...state.turns];
  const wasAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
  for (const [i, turn] of places.entries()) {
    const key = `${state.match} ${code} ${turn.n}`;
    const old = list.children[i];
    if (old?.dataset.key !== key) old ? old.replaceWith(moveItem(turn, i, key)) : list.append(moveItem(turn, i, key));
  }
  while (list.children.length > places.length) list.lastChild.remove();
  const at = places.findIndex((turn) => turn.n === showing());
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  list.children[at]?.firstChild.setAttribute("aria-current", "step");
  if (shown === null && wasAtEnd) list.scrollTop = list.scrollHeight;
  find("first").disabled = find("back").disabled = at <= 0;
  find("forth").disabled = find("last").disabled = at === places.length - 1;
}

function moveItem(turn, i, key) {
  const item = document.createElement("li");
  item.dataset.key = key;
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.n = turn.n;
  button.append(Object.assign(document.createElement("span"), { className: "number", textContent: i || "" }));
  if (turn.player) button.append(mark(state.game, turn.player));
  button.append(turn.move || word(i ? "set" : "start"));
  if (turn.by) button.append(Object.assign(document.createElement("em"), { textContent: word("by", { by: turn.by }) }));
  if (turn.player) button.setAttribute("aria-label", `${i}. ${name(turn.player)}: ${turn.move}${turn.by ? ` (${word("by", { by: turn.by })})` : ""}`);
  button.onclick = () => look(turn.n);
  item.append(button);
  return item;
}

function showing() {
  return shown ?? state.turns.at(-1)?.n ?? state.start_n;
}

function look(n) {
  shown = n === (state.turns.at(-1)?.n ?? state.start_n) ? null : n;
  renderMoves();
  renderBoard();
}

function leaf(by) {
  if (!state) return;
  const all = [state.start_n, ...state.turns.map((turn) => turn.n)];
  const here = all.indexOf(showing());
  look(all[Math.max(0, Math.min(all.length - 1, here + by))]);
}

function renderLog() {
  find("log").replaceChildren(...[...state.log].reverse().map((said) => {
    const item = document.createElement("li");
    item.dataset.kind = said.event;
    const time = document.createElement("time");
    time.textContent = minutes(said.t);
    item.append(time, said.texts[code]);
    return item;
  }));
}

function renderPlayers() {
  find("players").replaceChildren(...state.game.players.map((player) => {
    const item = document.createElement("li");
    const isNext = player.letter === state.to_move && !state.outcome && state.mode !== "idle";
    const isWinner = state.outcome?.winner === player.letter;
    item.className = isNext ? "next" : isWinner ? "winner" : "";
    item.style.setProperty("--colour", player.colour);
    if (isNext) item.setAttribute("aria-current", "true");
    const title = document.createElement("span");
    title.textContent = player.names[code];
    item.append(mark(state.game, player.letter), title, ...held(find("board").row, player.letter));
    if (state.clock) {
      const clock = document.createElement("time");
      clock.dataset.player = player.letter;
      item.append(clock);
    }
    const line = document.createElement("span");
    line.className = "line";
    if (isNext) line.textContent = stateLine();
    if (isWinner) line.textContent = word("won");
    if (line.textContent) item.append(line);
    return item;
  }));
  tick();
}

// Which board is to be drawn: that after a move, or the latest with what is said of it.
function boardPath() {
  const n = showing();
  return shown === null && state.drawn ? `/told/${state.drawn}` : `/board/${n}`;
}

async function renderBoard() {
  if (arbiter.isEditing) return;
  await board.prepare();
  const path = `${boardPath()}?view=${board.view}`, n = showing();
  const key = `${state.match} ${path}`;
  if (!boards.has(key)) boards.set(key, fetch(base + path).then((reply) => (reply.ok ? reply.json() : null)).catch(() => null));
  const row = await boards.get(key);
  if (!row) { boards.delete(key); return; }
  if (path !== `${boardPath()}?view=${board.view}` || arbiter.isEditing) return;
  if (find("board").key !== key) {
    find("board").key = key;
    find("board").row = row;
    board.show(row, state.game, Boolean(find("board").dataset.n));
    find("set-position").disabled = false; // its squares are chosen on the board
    find("board").dataset.n = n;
    renderPlayers();
  }
  const isLive = shown === null;
  document.body.classList.toggle("past", !isLive);
  find("past").hidden = isLive;
  const i = state.turns.findIndex((turn) => turn.n === n) + 1;
  find("past").firstElementChild.textContent = i ? word("past", { i, all: state.turns.length }) : word("past-start");
  find("aside").textContent = bans(row, state.game);
  renderViews();
}

function renderViews() {
  find("view").textContent = word(board.view === "plan" ? "view-table" : "view-plan");
  find("home").hidden = board.view !== "space";
}

function swapView() {
  board.swap();
  arbiter.isEditing ? arbiter.redraw() : renderBoard();
}

function tick() {
  if (!state?.clock) return;
  const now = state.t + performance.now() / 1000 - arrived;
  for (const clock of document.querySelectorAll(".players time")) {
    const player = clock.dataset.player;
    const runs = state.clock.running === player;
    const left = Math.max(0, state.clock.left[player] - (runs ? now - state.clock.since : 0));
    clock.textContent = left < 20 && left > 0 ? left.toFixed(1) : minutes(left);
    clock.className = left <= 0 ? "out" : left < 20 ? "short" : runs ? "runs" : "";
    clock.setAttribute("aria-label", word("player-clock", { player: name(player), time: minutes(left) }));
  }
}

// The camera's picture, fetched only while somebody looks at it.
function refreshPicture() {
  const picture = find("picture");
  if (find("camera").open && !document.hidden && isConnected && picture.dataset.loading !== "yes") {
    picture.dataset.loading = "yes";
    picture.src = `/camera.jpg?${Date.now()}`;
  }
}
find("picture").onload = find("picture").onerror = ({ target, type }) => {
  target.dataset.loading = "";
  target.alt = word("camera-note");
  target.classList.toggle("none", type === "error");
  target.nextElementSibling.textContent = word(type === "load" ? "camera-note" : "no-picture");
};

offerMatches(() => arbiter.token);
if (base) for (const id of ["camera", "unlock"]) find(id).hidden = true;
find("hall").hidden = !base;
find("now").onclick = () => look(state.turns.at(-1)?.n ?? state.start_n);
find("first").onclick = () => leaf(-1e6);
find("back").onclick = () => leaf(-1);
find("forth").onclick = () => leaf(1);
find("last").onclick = () => leaf(1e6);
find("camera").ontoggle = refreshPicture;
find("view").onclick = swapView;
find("home").onclick = () => board.space?.home();
addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, textarea, select, dialog");
  const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -1e6, End: 1e6 };
  if (isTyping || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "v") swapView();
  if (!(event.key in steps)) return;
  leaf(steps[event.key]);
  event.preventDefault();
});

setInterval(tick, 200);
setInterval(refreshPicture, 1000);
if (!base && matchMedia("(min-width: 68rem) and (min-height: 44rem)").matches) find("camera").open = true;
offerLanguages(find("language"), () => {
  find("board").key = "";
  render();
});
listen();
