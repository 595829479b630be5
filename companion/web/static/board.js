// The board in one of its views, with squares that can be pointed at, reached by keys, and marked.

import { inkOn } from "/static/signs.js";
import { word } from "/static/words.js";

const SPACE = "space", OBLIQUE = "oblique", PLAN = "plan";

function remembered() {
  try { return localStorage.getItem("view"); } catch { return null; }
}

export class Board {
  constructor(place, lens, choose) {
    this.place = place;
    this.lens = lens;
    this.choose = choose;
    this.squares = {};
    this.focused = null;
    this.space = null;
    this.view = remembered() === PLAN ? PLAN : SPACE;
    place.addEventListener("pointermove", (event) => this.hover(event));
    place.addEventListener("pointerleave", () => this.hide());
    place.addEventListener("click", (event) => this.pick(event));
    place.addEventListener("focusin", (event) => this.point(event.target.closest(".square")));
    place.addEventListener("focusout", () => this.hide());
    place.addEventListener("keydown", (event) => this.key(event));
  }

  // Loads what the view needs; where three dimensions cannot be drawn, the picture from the same side serves.
  async prepare() {
    if (this.view !== SPACE || this.space) return;
    try {
      const { Space, hasSpace } = await import("/static/space.js");
      if (!hasSpace()) throw new Error("no WebGL");
      this.floor = document.createElement("div");
      this.floor.className = "space";
      this.space = new Space(this.floor, (places) => this.lay(places));
    } catch {
      this.view = OBLIQUE;
    }
  }

  look(view) {
    this.view = view;
    try { localStorage.setItem("view", view); } catch { /* private mode: for this visit only */ }
  }

  swap() {
    this.look(this.view === PLAN ? SPACE : PLAN);
  }

  show(row, game, isGentle = false) {
    const had = document.activeElement?.closest?.(".square")?.dataset.cell;
    this.row = row;
    this.game = game;
    this.place.dataset.view = row.scene ? SPACE : this.view;
    if (row.scene) this.showSpace(row, isGentle);
    else this.showPicture(row);
    this.place.querySelector(".squares")?.setAttribute("aria-label", word("board"));
    for (const [name, square] of Object.entries(this.squares)) {
      square.setAttribute("role", "img");
      square.setAttribute("aria-label", this.told(name));
      square.setAttribute("tabindex", "-1");
    }
    const first = this.squares[had] ?? this.squares[this.focused] ?? this.squares[game.ranks.at(-1)[0]];
    first?.setAttribute("tabindex", "0");
    if (had) this.squares[had]?.focus();
    this.hide();
  }

  showPicture(row) {
    // The picture is the program's own, drawn by the server from a checked position.
    this.place.innerHTML = row.svg;
    const picture = this.place.querySelector("svg");
    picture.querySelector("title")?.remove();
    picture.setAttribute("role", "group");
    picture.setAttribute("class", "squares");
    this.squares = {};
    for (const square of picture.querySelectorAll("g.square")) {
      square.querySelector("title")?.remove();
      this.squares[square.dataset.cell] = square;
    }
  }

  showSpace(row, isGentle) {
    if (this.floor.parentElement !== this.place) this.place.replaceChildren(this.floor);
    const names = row.scene.grounds.map((ground) => ground.cell);
    if (Object.keys(this.squares).join() !== names.join() || !this.floor.querySelector(".squares")) {
      this.floor.querySelector(".squares")?.remove();
      const group = Object.assign(document.createElement("div"), { className: "squares" });
      group.setAttribute("role", "group");
      this.squares = Object.fromEntries(names.map((name) => {
        const square = Object.assign(document.createElement("span"), { className: "square" });
        square.dataset.cell = name;
        return [name, square];
      }));
      group.append(...Object.values(this.squares));
      this.floor.append(group);
    }
    this.space.show(row.scene, isGentle);
  }

  // The squares for keys and ears lie where the drawn ones are.
  lay(places) {
    for (const [name, [left, top, width, height]] of Object.entries(places)) {
      const { style } = this.squares[name];
      style.transform = `translate(${left}px, ${top}px)`;
      style.width = `${width}px`;
      style.height = `${height}px`;
    }
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

  // Marks squares for who sets up a position or has chosen one.
  mark(cells, kind) {
    for (const [name, square] of Object.entries(this.squares)) square.classList.toggle(kind, cells.includes(name));
  }

  under(event) {
    if (this.place.dataset.view === SPACE) return this.squares[this.space.cellAt(event.clientX, event.clientY)];
    return event.target.closest(".square");
  }

  hover(event) {
    if (event.buttons) return this.hide();
    this.point(this.under(event));
  }

  pick(event) {
    if (this.place.dataset.view === SPACE && this.space.isTurned) return;
    const square = this.under(event);
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
      item.textContent = this.row.marks[piece] ?? piece;
      item.style.setProperty("--piece", this.row.colours[piece]);
      item.style.color = inkOn(this.row.colours[piece]);
      pile.append(item);
    }
    this.lens.append(head, count, pile);
    this.lens.hidden = false;
    this.put(square);
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
    const name = event.target.closest?.(".square")?.dataset.cell;
    if (!name) return;
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (event.key === "Escape") this.hide();
    if (event.key === "Enter" || event.key === " ") this.choose(name);
    else if (!(event.key in steps)) return;
    else if (event.shiftKey && this.place.dataset.view === SPACE) this.space.turn(steps[event.key][1], -steps[event.key][0]);
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
