// The board: the server's picture, with squares that can be pointed at, reached by keys, and marked.

import { word } from "/static/words.js";

const SVG = "http://www.w3.org/2000/svg";

export class Board {
  constructor(place, lens, choose) {
    this.place = place;
    this.lens = lens;
    this.choose = choose;
    this.squares = {};
    this.focused = null;
    place.addEventListener("pointerover", (event) => this.point(event.target.closest("g.square")));
    place.addEventListener("pointerleave", () => this.hide());
    place.addEventListener("click", (event) => this.pick(event.target.closest("g.square")));
    place.addEventListener("focusin", (event) => this.point(event.target.closest("g.square")));
    place.addEventListener("focusout", () => this.hide());
    place.addEventListener("keydown", (event) => this.key(event));
  }

  show(row, game) {
    const had = document.activeElement?.closest?.("g.square")?.dataset.cell;
    this.row = row;
    this.game = game;
    // The picture is the program's own, drawn by the server from a checked position.
    this.place.innerHTML = row.svg;
    const picture = this.place.querySelector("svg");
    picture.querySelector("title")?.remove();
    picture.setAttribute("role", "group");
    picture.setAttribute("aria-label", word("board"));
    this.squares = {};
    for (const square of picture.querySelectorAll("g.square")) {
      const name = square.dataset.cell;
      square.querySelector("title")?.remove();
      square.setAttribute("role", "img");
      square.setAttribute("aria-label", this.told(name));
      square.setAttribute("tabindex", "-1");
      this.squares[name] = square;
    }
    this.names = game.ranks;
    const first = this.squares[had] ?? this.squares[this.focused] ?? this.squares[game.ranks.at(-1)[0]];
    first?.setAttribute("tabindex", "0");
    if (had) this.squares[had]?.focus();
    this.hide();
  }

  told(name) {
    const { stack, level } = this.row.squares[name];
    const parts = [name];
    if (level !== null) parts.push(word("level", { level }));
    if (!stack) parts.push(word("empty"));
    else if (stack.length === 1) parts.push(stack);
    else parts.push(word("pieces", { n: stack.length }), `${word("from-top")} ${[...stack].reverse().join(" ")}`);
    return parts.join(", ");
  }

  // Frames round these squares, dashed so that they are told apart without colour.
  mark(cells, kind) {
    for (const old of this.place.querySelectorAll(`.mark.${kind}`)) old.remove();
    const picture = this.place.querySelector("svg");
    for (const name of cells) {
      const ground = this.squares[name]?.querySelector("rect");
      if (!ground) continue;
      const frame = document.createElementNS(SVG, "rect");
      const [x, y, width, height] = ["x", "y", "width", "height"].map((key) => Number(ground.getAttribute(key)));
      for (const [key, value] of Object.entries({ x: x + 2.5, y: y + 2.5, width: width - 5, height: height - 5, rx: 4 }))
        frame.setAttribute(key, value);
      frame.setAttribute("class", `mark ${kind}`);
      picture.append(frame);
    }
  }

  pick(square) {
    if (!square) return;
    square.focus();
    this.choose(square.dataset.cell);
  }

  point(square) {
    if (!square) return this.hide();
    const name = square.dataset.cell;
    const { stack, level } = this.row.squares[name];
    this.lens.replaceChildren();
    const head = document.createElement("strong");
    head.textContent = name;
    const count = document.createElement("span");
    count.textContent = !stack ? word("empty") : stack.length === 1 ? word("piece") : word("pieces", { n: stack.length });
    if (level !== null) count.textContent += ` · ${word("level", { level })}`;
    const pile = document.createElement("ol");
    for (const piece of [...stack].reverse()) {
      const item = document.createElement("li");
      item.textContent = piece;
      item.style.background = this.colour(piece);
      pile.append(item);
    }
    this.lens.append(head, count, pile);
    this.lens.hidden = false;
    this.put(square);
  }

  colour(piece) {
    const owner = this.row.owners[piece];
    return this.game.players.find((player) => player.letter === owner)?.colour ?? "#66666a";
  }

  // Beside the square, inside the window.
  put(square) {
    const at = square.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.lens;
    const right = at.right + 10 + width < innerWidth ? at.right + 10 : at.left - 10 - width;
    this.lens.style.left = `${Math.max(6, right)}px`;
    this.lens.style.top = `${Math.max(6, Math.min(at.top + at.height / 2 - height / 2, innerHeight - height - 6))}px`;
  }

  hide() {
    this.lens.hidden = true;
  }

  key(event) {
    const name = event.target.closest?.("g.square")?.dataset.cell;
    if (!name) return;
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (event.key === "Escape") this.hide();
    if (event.key === "Enter" || event.key === " ") this.choose(name);
    else if (!(event.key in steps)) return;
    else this.step(name, ...steps[event.key]);
    event.preventDefault();
    event.stopPropagation();
  }

  step(name, down, right) {
    const file = name.charCodeAt(0) + right;
    const rank = Number(name.slice(1)) - down;
    const next = String.fromCharCode(file) + rank;
    if (!this.squares[next]) return;
    this.squares[name].setAttribute("tabindex", "-1");
    this.squares[next].setAttribute("tabindex", "0");
    this.focused = next;
    this.squares[next].focus();
  }
}
