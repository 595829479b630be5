// The arbiter's rulings. Only who knows the token sees them; the server asks for it with every one.

import { askToken, keepToken, takeToken } from "/static/token.js";
import { code, word } from "/static/words.js";

const find = (id) => document.getElementById(id);

export class Arbiter {
  constructor(look, changed) {
    this.look = look;
    this.changed = changed;
    this.isEditing = false;
    this.token = takeToken();
    find("unlock").onclick = () => (this.token ? this.keep("") : find("key").showModal());
    askToken((token) => this.keep(token));
    find("pause").onclick = () => this.order(this.look().state.mode === "paused" ? "resume" : "pause");
    find("reject").onclick = () => this.order("reject");
    find("take-back").onclick = () => this.order("take-back", { moves: 1 });
    find("set-position").onclick = () => this.edit();
    find("end").onclick = () => this.askEnd();
    find("leave").onclick = () => this.leave();
    find("accept").onsubmit = (event) => this.submit(event, "accept", { move: find("move").value.trim() }, () => { find("move").value = ""; });
    find("editor").onsubmit = (event) => this.submit(event, "set-position", { position: find("text").value.trim() }, () => this.leave());
    find("move").onfocus = () => this.complete();
    find("phones").ontoggle = () => this.showCodes();
    find("stack").oninput = () => this.restack();
    find("turn").onchange = () => this.restack();
    find("text").onchange = () => this.preview(find("text").value.trim());
    find("ending").onclose = () => {
      if (!find("ending").returnValue) return;
      const chosen = find("winners").querySelector("input:checked");
      find("ending").returnValue = "";
      if (chosen) this.order("end", { winner: chosen.value || null });
    };
  }

  // The legal moves, for who begins to write one.
  async complete() {
    const answer = await fetch("/legal").catch(() => null);
    if (answer?.ok) find("legal").replaceChildren(...(await answer.json()).legal.map((move) => new Option("", move)));
  }

  // The QR codes that let a phone be the table's panel, or a camera of it, in whose place another phone can be let in.
  async showCodes() {
    const codes = [await this.phoneCode("/panel/code.svg", word("panel-code-of"))];
    while (find("phones").open && codes.at(-1)) {
      const n = codes.length;
      codes.push(await this.phoneCode(`/eye/${n}/code.svg`, word("phone-code", { n })));
      codes.at(-1)?.append(this.button(word("let-go"), () => this.letGo(n)));
    }
    find("codes").replaceChildren(...codes.filter(Boolean), ...(codes.length < 3 ? [word("no-phones")] : []));
  }

  async phoneCode(address, name) {
    const answer = await this.asked(address);
    if (!answer?.ok) return null;
    const figure = document.createElement("figure"), caption = Object.assign(document.createElement("figcaption"), { textContent: name });
    figure.append(Object.assign(new Image(), { src: URL.createObjectURL(await answer.blob()), alt: "" }), caption);
    return figure;
  }

  async letGo(n) {
    const answer = await this.asked(`/eye/${n}/let-go`, "POST");
    find("reply").textContent = word(answer?.ok ? "let-gone" : "no-answer");
    find("reply").classList.toggle("refused", !answer?.ok);
  }

  asked(address, method = "GET") {
    return fetch(address, { method, headers: { Authorization: `Bearer ${this.token}` } }).catch(() => null);
  }

  keep(token) {
    this.token = token;
    keepToken(token);
    find("reply").textContent = "";
    if (!token) this.leave();
    this.changed();
  }

  async order(action, fields = {}) {
    const reply = find("reply");
    reply.className = "reply";
    try {
      const answer = await fetch(`/arbiter/${action}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${this.token}` },
        body: JSON.stringify(fields),
      });
      const row = await answer.json();
      if (answer.status === 401) this.keep("");
      reply.textContent = answer.ok ? word("sent") : answer.status === 401 ? word("wrong-token") : row.error;
      reply.classList.toggle("refused", !answer.ok);
      return answer.ok;
    } catch {
      reply.textContent = word("no-answer");
      reply.classList.add("refused");
      return false;
    }
  }

  async submit(event, action, fields, then) {
    event.preventDefault();
    if (await this.order(action, fields)) then();
  }

  render() {
    const { state } = this.look();
    find("arbiter").hidden = !this.token;
    find("unlock").textContent = word(this.token ? "lock" : "unlock");
    find("pause").textContent = word(state.mode === "paused" ? "resume" : "pause");
    find("pause").disabled = state.mode === "over";
    find("reject").disabled = !state.wrong?.length;
    find("take-back").disabled = !state.turns.length;
    find("end").disabled = state.mode === "over";
  }

  // Under the verdict: each move asked about as a small board, answered by touching it; by who may answer.
  renderOptions(place, base) {
    const { state } = this.look();
    const isAsking = Boolean(state.asked) && ["asking", ""].includes(state.mode);
    const key = isAsking ? `${state.match} ${state.asked.n} ${code} ${this.token}` : `${state.mode} ${code} ${this.token}`;
    if (place.dataset.key === key) return;
    place.dataset.key = key;
    place.classList.toggle("asking", isAsking);
    place.replaceChildren();
    if (state.mode === "thinking" && this.token) place.append(this.button(word("done"), () => this.order("done")));
    if (!isAsking) return;
    const { n, choices } = state.asked;
    place.append(...choices.map((choice) => this.choice(choice, choices.length > 1, `${base}/told/${n}?option=${encodeURIComponent(choice.option)}`)));
    if (!this.token) return;
    if (choices.length === 1) place.append(this.button(word("yes"), () => this.order("answer", { option: choices[0].option }), "yes"));
    const no = choices.length > 1 ? "none" : choices.length ? "no" : "nothing";
    place.append(this.button(word(no), () => this.order("answer", { option: null }), choices.length > 1 ? "rest" : ""));
  }

  choice({ option, texts }, isOneOfSeveral, address) {
    const canAnswer = this.token && isOneOfSeveral;
    const card = canAnswer ? this.button("", () => this.order("answer", { option }), "choice") : Object.assign(document.createElement("figure"), { className: "choice" });
    card.classList.toggle("only", !isOneOfSeveral);
    const board = Object.assign(document.createElement("span"), { className: "tiny" });
    const said = Object.assign(document.createElement("span"), { textContent: `${texts[code]}?` });
    said.title = option;
    card.append(board, said);
    fetch(address).then((answer) => answer.json()).then((row) => {
      board.innerHTML = row.svg; // the program's own picture of a legal position
      board.querySelector("title")?.remove();
      board.firstElementChild.setAttribute("aria-hidden", "true");
    }).catch(() => {});
    return card;
  }

  button(text, act, className = "") {
    const button = Object.assign(document.createElement("button"), { type: "button", className });
    button.textContent = text;
    button.onclick = act;
    return button;
  }

  askEnd() {
    const { state } = this.look();
    const choices = [...state.game.players.map((player) => [player.letter, player.names[code]]), ["", word("drawn")]];
    const legend = find("winners").querySelector("legend");
    find("winners").replaceChildren(legend, ...choices.map(([letter, name]) => {
      const label = document.createElement("label");
      const choice = Object.assign(document.createElement("input"), { type: "radio", name: "winner", value: letter, required: true });
      label.append(choice, name);
      return label;
    }));
    find("ending").showModal();
  }

  // Setting the position by hand: squares are chosen on the board, their stacks are typed.
  edit() {
    const { state, board } = this.look();
    this.isEditing = true;
    this.stacks = Object.fromEntries(Object.entries(board.row.squares).map(([name, square]) => [name, square.stack]));
    find("editor").hidden = false;
    find("turn").replaceChildren(...state.game.players.map((player) => new Option(player.names[code], player.letter, false, player.letter === state.to_move)));
    find("text").value = state.position;
    this.offerPieces(state.game.pieces, board.row);
    this.select(state.game.ranks.at(-1)[0]);
    this.preview(state.position);
    find("stack").focus();
  }

  leave() {
    this.isEditing = false;
    find("editor").hidden = true;
    find("board").key = "";
    if (this.look().state) this.changed();
  }

  // The pieces that can be put on squares; the last button takes the top one off.
  offerPieces(pieces, row) {
    this.tool = null;
    const choose = (button, tool) => {
      this.tool = this.tool === tool ? null : tool;
      for (const other of find("palette").children) other.setAttribute("aria-pressed", String(other === button && this.tool === tool));
    };
    const buttons = [...pieces, ""].map((piece) => {
      const button = this.button(piece ? row.marks[piece] ?? piece : "⌫", () => choose(button, piece));
      button.setAttribute("aria-pressed", "false");
      button.setAttribute("aria-label", piece || word("take-top"));
      button.style.setProperty("--piece", row.colours[piece] ?? "transparent");
      return button;
    });
    find("palette").replaceChildren(...buttons);
  }

  // A square that is touched gets the chosen piece on top; without one it is chosen itself.
  choose(cell) {
    if (!this.isEditing) return;
    this.select(cell);
    if (this.tool === null || this.tool === undefined) return;
    find("stack").value = this.tool ? find("stack").value + this.tool : find("stack").value.slice(0, -1);
    this.restack();
  }

  select(cell) {
    this.cell = cell;
    find("stack-name").textContent = word("stack-of", { cell });
    find("stack").value = this.stacks[cell] ?? "";
    this.look().board.mark([cell], "chosen");
    find("stack").focus();
  }

  // The text follows the stacks; keys such as a reserve are left as they stand in it.
  restack() {
    this.stacks[this.cell] = find("stack").value.trim();
    const words = find("text").value.trim().split(" ");
    const { state } = this.look();
    const ranks = state.game.ranks.map((rank) => {
      const parts = [];
      for (const cell of rank) {
        const stack = this.stacks[cell];
        if (stack) parts.push(stack);
        else if (typeof parts.at(-1) === "number") parts[parts.length - 1] += 1;
        else parts.push(1);
      }
      return parts.join(",");
    });
    find("text").value = [words[0], ranks.join("/"), find("turn").value, ...words.slice(3)].join(" ");
    this.preview(find("text").value);
  }

  redraw() {
    this.preview(find("text").value.trim());
  }

  // Answers may come in another order than they were asked for: only that to the last question counts.
  async preview(text) {
    const reply = find("reply");
    this.asked = text;
    const answer = await fetch(`/preview?position=${encodeURIComponent(text)}&view=${this.look().board.view}`).catch(() => null);
    if (!answer) return;
    const row = await answer.json();
    if (!this.isEditing || text !== this.asked) return;
    reply.textContent = answer.ok ? "" : row.error;
    reply.classList.toggle("refused", !answer.ok);
    if (!answer.ok) return;
    const { state, board } = this.look();
    const isTyping = document.activeElement === find("stack");
    board.show(row, state.game);
    for (const [name, square] of Object.entries(row.squares)) this.stacks[name] = square.stack;
    board.mark([this.cell], "chosen");
    if (isTyping) find("stack").focus();
  }
}
