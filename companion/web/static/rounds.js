// The form in which the rounds of a hall are arranged: tables, players, colours.  Only who has the token sees it.

import { askToken, keepToken, takeToken } from "/static/token.js";
import { code, word } from "/static/words.js";

const find = (id) => document.getElementById(id);
const SEATS = 2; // of a table that is not known yet

export class Rounds {
  // `look` gives the tables that are known, by name, and the results.
  constructor(look) {
    this.look = look;
    this.token = takeToken();
    this.rounds = [];
    find("unlock").onclick = () => (this.token ? this.keep("") : find("key").showModal());
    find("arrange").onclick = () => this.open();
    find("round").onchange = () => this.fill();
    find("add-pair").onclick = () => this.add({ table: "", names: [] }).querySelector("input").focus();
    find("remove-round").onclick = () => this.send([]);
    find("arranging").querySelector("form").onsubmit = (event) => {
      if (!event.submitter?.value) return;
      event.preventDefault();
      this.send(this.pairs().filter((pair) => pair.names.some(Boolean)));
    };
    askToken((token) => this.keep(token));
    this.render();
  }

  keep(token) {
    this.token = token;
    keepToken(token);
    this.render();
  }

  render() {
    find("arrange").hidden = !this.token;
    find("unlock").textContent = word(this.token ? "lock" : "unlock");
  }

  async open() {
    const answer = await fetch("/rounds").catch(() => null);
    this.rounds = answer?.ok ? (await answer.json()).rounds : [];
    const { tables, results } = this.look();
    find("known-tables").replaceChildren(...[...tables.keys()].sort().map((name) => new Option("", name)));
    find("known-people").replaceChildren(...(results?.scores ?? []).map((one) => new Option("", one.name)));
    const titles = [...this.rounds.map((round) => round.title), word("new-round")];
    find("round").replaceChildren(...titles.map((title, i) => new Option(title, i)));
    find("round").selectedIndex = this.rounds.length;
    this.fill();
    find("arranging").showModal();
  }

  // The form of the chosen round; a new one has a line for every table.
  fill() {
    const place = find("round").selectedIndex, round = this.rounds[place];
    const names = [...this.look().tables.keys()].sort((a, b) => a.localeCompare(b, code, { numeric: true }));
    const matches = round?.matches ?? (names.length ? names : [""]).map((table) => ({ table, names: [] }));
    find("round-title").value = round?.title ?? word("round-n", { n: place + 1 });
    find("remove-round").hidden = !round;
    find("round-reply").textContent = "";
    find("pairs").replaceChildren();
    for (const match of matches) this.add(match);
  }

  // A line for a match; each seat is called as the colour that plays there.
  add(match) {
    const line = document.createElement("li");
    const table = field(word("table"), "table", "known-tables", match.table);
    const seats = Object.assign(document.createElement("div"), { className: "seats" });
    const swap = button("⇄", word("swap-colours")), drop = button("✕", word("remove-match"));
    const values = () => [...seats.querySelectorAll("input")].map((input) => input.value);
    const seat = (names) => {
      const players = this.look().tables.get(table.input.value.trim())?.game.players;
      const count = Math.max(players?.length ?? SEATS, names.length);
      seats.replaceChildren(...Array.from({ length: count }, (_, i) => {
        const one = field(players?.[i]?.called[code] ?? word("player-n", { n: i + 1 }), "name", "known-people", names[i] ?? "");
        one.label.style.setProperty("--colour", players?.[i]?.colour ?? "var(--line)");
        return one.label;
      }));
    };
    table.input.onchange = () => seat(values().filter(Boolean));
    swap.onclick = () => seat([...values().slice(1), values()[0]]);
    drop.onclick = () => line.remove();
    line.append(table.label, seats, swap, drop);
    seat(match.names);
    find("pairs").append(line);
    return line;
  }

  pairs() {
    return [...find("pairs").children].map((line) => ({
      table: line.querySelector('[name="table"]').value.trim(),
      names: [...line.querySelectorAll('[name="name"]')].map((input) => input.value.trim()),
    }));
  }

  async send(matches) {
    const answer = await fetch(`/rounds/${find("round").selectedIndex}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${this.token}` },
      body: JSON.stringify({ title: find("round-title").value.trim(), matches }),
    }).catch(() => null);
    const row = await answer?.json().catch(() => null);
    find("round-reply").textContent = answer?.ok ? "" : answer?.status === 401 ? word("wrong-token") : row?.error ?? word("no-answer");
    if (answer?.ok) find("arranging").close();
  }
}

function field(title, name, list, value) {
  const label = document.createElement("label");
  const input = Object.assign(document.createElement("input"), { name, value, maxLength: 60, autocomplete: "off" });
  input.setAttribute("list", list);
  label.append(Object.assign(document.createElement("span"), { textContent: title }), input);
  return { label, input };
}

function button(text, title) {
  const one = Object.assign(document.createElement("button"), { type: "button", textContent: text, title });
  one.setAttribute("aria-label", title);
  return one;
}
