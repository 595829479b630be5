// A kept match, replayed step by step on the board of the page: in the page in one file, or at a table.

import { Board } from "/static/board.js";
import { bans, held, mark, playerName, ruleLines } from "/static/parts.js";
import { SIGNS } from "/static/signs.js";
import { takeToken } from "/static/token.js";
import { code, offerLanguages, word } from "/static/words.js";

const find = (id) => document.getElementById(id);
const MOVE_MS = 1500, VERDICT_MS = 4500; // how long a step stays while the match plays by itself
const LONG = ["illegal", "unsure", "unfinished", "game-over"];

const board = new Board(find("board"), find("lens"), () => {});
window.board = board; // for the tests, which look at what is drawn
let match = null;
let at = 0;
let playing = 0; // the timer of the next step; 0: the match stands still
let trouble = "";

// The match stands in this file, or is asked of the table: then it is taken out of the file that the table hands out.
async function fetched() {
  const number = Number(new URLSearchParams(location.search).get("match"));
  find("said").textContent = word("is-fetched");
  const answer = await fetch(`/matches/${number}.html`, { headers: { Authorization: `Bearer ${takeToken()}` } }).catch(() => null);
  if (answer?.ok) return new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("match");
  trouble = answer?.status === 401 ? word("wrong-token") : (await answer?.json().catch(() => null))?.error ?? word("no-answer");
  return null;
}

// Every line is JSON, in which {"$": 7} is what stands in line 7, and {"$": [...]} a text of several lines; the last
// line is the match.
function read(text) {
  const values = [];
  const meant = (_, value) => (Array.isArray(value?.$) ? value.$.join("\n") : typeof value?.$ === "number" ? values[value.$] : value);
  for (const line of text.split("\n")) values.push(JSON.parse(line, meant));
  return values.at(-1);
}

async function open() {
  const inside = find("match");
  find("home-page").hidden = Boolean(inside);
  const element = inside ?? await fetched();
  if (element) match = read(await unpack(element.textContent.trim()));
  if (match) find("moves").replaceChildren(...match.steps.map(item));
  render();
}

function item(step, i) {
  const line = document.createElement("li");
  const button = Object.assign(document.createElement("button"), { type: "button" });
  button.onclick = () => { stop(); go(i); };
  line.append(button);
  return line;
}

// The words of a step in the list: its move with its number, else what it is.
function label(button, step) {
  const number = Object.assign(document.createElement("span"), { className: "number", textContent: step.number || "" });
  button.replaceChildren(number);
  button.parentElement.dataset.kind = step.event;
  if (step.number && step.player) button.append(mark(match.game, step.player), step.move);
  else button.append(sign(step.event), word(step.number && !step.move ? "set" : `step ${step.event}`));
  if (step.by) button.append(Object.assign(document.createElement("em"), { textContent: word("by", { by: step.by }) }));
  button.setAttribute("aria-label", [step.number || "", step.texts[code]].filter(Boolean).join(". "));
}

function sign(kind) {
  const place = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  place.setAttribute("viewBox", "0 0 24 24");
  place.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `/static/icon.svg#${SIGNS[kind] ?? "eye"}`);
  place.append(use);
  return place;
}

function go(i) {
  if (!match) return;
  at = Math.max(0, Math.min(match.steps.length - 1, i));
  if (at === match.steps.length - 1) stop();
  render();
}

function stop() {
  clearTimeout(playing);
  playing = 0;
  renderPlay();
}

function play() {
  if (playing) return stop();
  if (at === match.steps.length - 1) go(0);
  const next = () => {
    playing = setTimeout(() => { go(at + 1); if (playing) next(); }, LONG.includes(match.steps[at].event) ? VERDICT_MS : MOVE_MS);
  };
  next();
  renderPlay();
}

function renderPlay() {
  find("play").setAttribute("aria-label", word(playing ? "stop-playing" : "play-match"));
  find("play").title = word(playing ? "stop-playing" : "play-match");
  find("play").querySelector("use").setAttribute("href", playing ? "/static/icon.svg#pause" : "/static/icon.svg#play");
}

function render() {
  renderPlay();
  for (const id of ["first", "back", "play", "forth", "last"]) find(id).disabled = !match;
  if (!match) {
    find("said").textContent = trouble || word("is-fetched");
    return;
  }
  const step = match.steps[at], people = match.game.players.map((player) => player.names[code]).join(" – ");
  find("title").textContent = `${match.game.titles[code]}: ${people}`;
  document.title = find("title").textContent;
  find("when").textContent = match.started_at ? new Date(match.started_at).toLocaleString(code, { dateStyle: "long", timeStyle: "short" }) : "";
  find("first").disabled = find("back").disabled = at === 0;
  find("forth").disabled = find("last").disabled = at === match.steps.length - 1;
  find("verdict").dataset.kind = step.event;
  find("sign").setAttribute("href", `/static/icon.svg#${SIGNS[step.event] ?? "eye"}`);
  find("said").textContent = step.texts[code];
  find("rules").replaceChildren(...ruleLines(step.rules));
  find("saw").hidden = !step.picture;
  if (step.picture) Object.assign(find("picture"), { src: step.picture, alt: word("camera-saw") });
  find("aside").textContent = bans(step.board, match.game);
  renderList();
  renderPlayers(step);
  renderBoard();
}

function renderList() {
  const list = find("moves");
  for (const [i, line] of [...list.children].entries()) {
    const button = line.firstElementChild;
    if (button.lang !== code) { button.lang = code; label(button, match.steps[i]); }
    button.toggleAttribute("aria-current", i === at);
  }
  const here = list.children[at];
  const above = here.offsetTop - list.offsetTop;
  if (above < list.scrollTop || above + here.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = above - list.clientHeight / 2;
}

function renderPlayers(step) {
  const isOver = at === match.steps.length - 1 && match.result;
  const winner = isOver ? match.result.winner : null, next = isOver ? null : step.board.to_move;
  find("players").replaceChildren(...match.game.players.map((player) => {
    const line = document.createElement("li");
    line.className = player.letter === winner ? "winner" : player.letter === next ? "next" : "";
    if (player.letter === next) line.setAttribute("aria-current", "true");
    line.style.setProperty("--colour", player.colour);
    const name = Object.assign(document.createElement("span"), { textContent: playerName(match.game, player.letter) });
    line.append(mark(match.game, player.letter), name, ...held(step.board, player.letter));
    if (player.letter === winner) line.append(Object.assign(document.createElement("span"), { className: "line", textContent: word("won") }));
    return line;
  }));
}

async function renderBoard() {
  await board.prepare();
  const step = match.steps[at], key = `${at} ${board.view} ${code}`;
  if (find("board").dataset.key === key) return;
  const isGentle = Boolean(find("board").dataset.key);
  find("board").dataset.key = key;
  board.show({ ...step.board, ...step.board.views[board.view] }, match.game, isGentle);
  find("view").textContent = word(board.view === "plan" ? "view-table" : "view-plan");
  find("home").hidden = board.view !== "space";
}

function swap() {
  if (!match) return;
  board.swap();
  renderBoard();
}

find("first").onclick = () => { stop(); go(0); };
find("back").onclick = () => { stop(); go(at - 1); };
find("forth").onclick = () => { stop(); go(at + 1); };
find("last").onclick = () => { stop(); go(match.steps.length - 1); };
find("play").onclick = play;
find("view").onclick = swap;
find("home").onclick = () => board.space?.home();
addEventListener("keydown", (event) => {
  if (!match || event.altKey || event.ctrlKey || event.metaKey) return;
  const places = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: match.steps.length - 1 };
  if (event.key === "v") swap();
  if (!(event.key in places)) return;
  stop();
  go(places[event.key]);
  event.preventDefault();
});
offerLanguages(find("language"), render);
open();
