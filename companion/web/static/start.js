// The form that starts a match at the table, or goes on with one that was left.  Only who has the token can use it.

import { code, word } from "/static/words.js";

const find = (id) => document.getElementById(id);

export class Starting {
  constructor(look) {
    this.look = look;
    this.asked = null; // the token with which the form was asked for
    this.offer = null;
    find("new").onclick = () => this.open();
    find("game").onchange = () => this.seat();
    find("starting").querySelector("form").onsubmit = (event) => this.submit(event);
  }

  get isOffered() {
    return Boolean(this.offer);
  }

  // Whether matches are started here is known once somebody has the token.
  render() {
    const { state, token } = this.look();
    if (this.asked !== token) { this.asked = token; this.fetchOffer(); }
    find("new").hidden = !this.offer;
    find("arbiter").classList.toggle("idle", state.mode === "idle");
    if (state.mode === "idle" && this.offer) find("todo").textContent = "";
  }

  async fetchOffer() {
    const { token } = this.look();
    const answer = token ? await fetch("/start", { headers: { Authorization: `Bearer ${token}` } }).catch(() => null) : null;
    this.offer = answer?.ok ? await answer.json() : null;
    this.render();
    return this.offer;
  }

  async open() {
    if (!await this.fetchOffer()) return;
    const { state } = this.look();
    const { games, usual, unfinished } = this.offer;
    const chosen = games.some((game) => game.tag === state.game.tag) ? state.game.tag : usual.game;
    find("game").replaceChildren(...games.map((game) => new Option(this.title(game), game.tag, false, game.tag === chosen)));
    find("clock").value = usual.clock;
    find("confirm").checked = usual.confirm;
    find("leave-open").checked = false;
    find("leaving").hidden = !state.turns.length || Boolean(state.outcome) || state.mode === "idle";
    find("start-reply").textContent = "";
    find("unfinished").hidden = !unfinished.length;
    find("unfinished").querySelector("ul").replaceChildren(...unfinished.map((left) => this.leftItem(left)));
    this.seat();
    find("starting").showModal();
  }

  title(game) {
    const several = game.players.length > 2 ? word("n-players", { n: game.players.length }) : "";
    return [game.titles[code], game.variant, several].filter(Boolean).join(" · ");
  }

  // A field for the name of each player of the chosen game.
  seat() {
    const game = this.offer.games.find((one) => one.tag === find("game").value);
    const legend = find("people").querySelector("legend");
    find("people").replaceChildren(legend, ...game.players.map((player) => {
      const label = Object.assign(document.createElement("label"), { className: "seat" });
      const field = Object.assign(document.createElement("input"), { name: player.letter, maxLength: 100, autocomplete: "off" });
      field.value = game.tag === this.offer.usual.game ? this.offer.usual.names[player.letter] ?? "" : "";
      label.append(player.names[code], field);
      return label;
    }));
    find("unlearned").hidden = game.learned;
  }

  leftItem(left) {
    const item = document.createElement("li");
    const people = left.names.filter(Boolean).join(" – ");
    const begun = new Date(left.started_at).toLocaleString(code, { dateStyle: "medium", timeStyle: "short" });
    const moves = word(left.moves === 1 ? "one-move" : "moves-played", { n: left.moves });
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: word("go-on") });
    button.setAttribute("aria-label", `${word("go-on")}: ${left.match}`);
    button.onclick = () => this.send("go-on", { match: left.match });
    item.append([`${left.match}. ${left.titles[code]}`, people, begun, moves].filter(Boolean).join(" · "), button);
    return item;
  }

  submit(event) {
    if (!event.submitter?.value) return;
    event.preventDefault();
    const names = Object.fromEntries([...find("people").querySelectorAll("input")].map((field) => [field.name, field.value.trim()]));
    this.send("start", { game: find("game").value, names, clock: find("clock").value.trim(), confirm: find("confirm").checked });
  }

  async send(action, fields) {
    const reply = find("start-reply");
    reply.textContent = word("starting-now");
    const answer = await fetch(`/arbiter/${action}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${this.look().token}` },
      body: JSON.stringify({ ...fields, leave: find("leave-open").checked }),
    }).catch(() => null);
    const row = await answer?.json().catch(() => null);
    reply.textContent = answer?.ok ? "" : row?.error ?? word("no-answer");
    if (answer?.ok) find("starting").close();
  }
}
