// A phone as the table's panel: what its lights say over the whole screen, in form, word and colour; the last sentence,
// written and spoken; the way back; the answers to a question; and the three buttons.

import { Sound } from "/static/sound.js";
import { SIGHT_TROUBLE, SIGNS } from "/static/signs.js";
import { addWords, code as spoken, speakIn, word } from "/static/words.js";

addWords({
  en: {
    panel: "Referee's panel", "panel-start": "Be the panel", "panel-ready": "Touch the button to begin: only then may the phone sound.",
    "panel-hint": "It shows and says what the panel's lights do, and has the panel's three buttons. Turn the sound of the phone on.",
    "panel-no-code": "Scan the QR code of the panel: the arbiter's page has it.", "panel-code": "This code is not right: scan the one on the arbiter's page.",
    "key-done": "Done", "key-undo": "Take back", "key-arbiter": "Pause (hold)", "key-resume": "Go on (hold)", "key-yes": "Yes", "key-no": "No", "key-none": "None of these",
    "hold-longer": "Hold the button for a second and a half.", flip: "Turn to the other side", sound: "Sound on or off", "way-back": "The way back",
  },
  de: {
    panel: "Anzeige des Schiedsrichters", "panel-start": "Anzeige sein", "panel-ready": "Zum Beginnen den Knopf berühren: erst dann darf das Telefon tönen.",
    "panel-hint": "Sie zeigt und sagt, was die Lichter am Tisch tun, und hat deren drei Knöpfe. Den Ton des Telefons einschalten.",
    "panel-no-code": "Bitte den QR-Code der Anzeige scannen: er steht auf der Seite des Schiedsrichters.", "panel-code": "Dieser Code stimmt nicht: bitte den auf der Seite des Schiedsrichters scannen.",
    "key-done": "Fertig", "key-undo": "Zurücknehmen", "key-arbiter": "Pause (halten)", "key-resume": "Weiter (halten)", "key-yes": "Ja", "key-no": "Nein", "key-none": "Keiner davon",
    "hold-longer": "Den Knopf anderthalb Sekunden halten.", flip: "Zur anderen Seite drehen", sound: "Ton an oder aus", "way-back": "Der Weg zurück",
  },
});

const HELD_MS = 1500; // as long as a button of the panel must be held
const SHAKE_MS = [250, 120, 250, 120, 400]; // on and off in turn, on an illegal act
const FRESH_S = 5; // a sentence that is older when a connection comes back is shown, not spoken

const BODY = `
  <ul class="lamps"></ul>
  <div class="sign"><svg viewBox="0 0 24 24" aria-hidden="true"><use/></svg></div>
  <p class="what"></p>
  <p class="said" role="status"></p>
  <div class="told"></div>
  <p class="reply" role="alert"></p>
  <div class="keys">
    <button type="button" data-key="done"></button>
    <button type="button" data-key="undo"></button>
    <button type="button" data-key="arbiter"></button>
  </div>
  <div class="corner">
    <button type="button" data-do="flip" data-label="flip">⟲</button>
    <button type="button" data-do="sound" data-label="sound" aria-pressed="true">♪</button>
  </div>`;

export class Panel {
  constructor(place, code) {
    this.place = place;
    this.access = new URLSearchParams({ code });
    this.sound = new Sound((name) => `/panel/clip/${name}?${this.access}`);
    this.state = null;
    this.row = null; // what is shown; null: nothing has been told
    this.said = []; // the sentences that stand: those that were said together
    this.isHeld = false;
    place.innerHTML = BODY;
    this.part = (name) => place.querySelector(name);
    for (const key of place.querySelectorAll("[data-key]")) this.offer(key);
    this.part('[data-do="flip"]').onclick = () => place.classList.toggle("flipped");
    this.part('[data-do="sound"]').onclick = () => this.part('[data-do="sound"]').setAttribute("aria-pressed", this.sound.toggle());
  }

  // Only a touch lets a page sound, and cover the whole screen.
  open() {
    this.place.hidden = false;
    this.sound.open();
    document.documentElement.requestFullscreen?.().catch(() => {});
    this.stayAwake();
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.stayAwake());
    this.listen(`/panel/shown?${this.access}`, "message", (row) => this.show(row));
    this.listen("/events?with=state&after=100000000", "state", (state) => { this.state = state; this.render(); });
  }

  stayAwake() {
    navigator.wakeLock?.request("screen").catch(() => {});
  }

  listen(address, kind, take) {
    const stream = new EventSource(address);
    stream.addEventListener(kind, (message) => take(JSON.parse(message.data)));
    stream.onopen = () => { this.isLost = false; this.render(); };
    stream.onerror = () => {
      this.isLost = true;
      this.sound.tone(null);
      this.render();
      if (stream.readyState === EventSource.CLOSED) setTimeout(() => this.listen(address, kind, take), 2000);
    };
  }

  show(row) {
    const isOther = this.row?.panel !== row.panel, wasThere = this.row !== null;
    if (isOther) {
      this.said = [];
      this.n = 0;
      speakIn(row.language);
    }
    const news = (row.said ?? []).filter((said) => said.n > this.n);
    const latest = news.at(-1)?.t;
    this.n = row.n;
    this.row = row;
    for (const said of news) {
      const isTogether = said.t !== null && this.said.at(-1)?.t === said.t;
      this.said = isTogether ? [...this.said, said] : [said];
      // Who has just come hears nothing of what is past.
      if (!(isOther && !wasThere) && (said.t === null || latest === null || latest - said.t < FRESH_S)) this.tell(said);
    }
    this.sound.tone(row.tone ?? null);
    this.render();
  }

  tell(said) {
    this.sound.say(said, this.row.language);
    if (said.name === "illegal") navigator.vibrate?.(SHAKE_MS);
    this.reply("");
  }

  // What stands, the gravest first, as the lights rank it: a word for it and a sign.
  standing() {
    const { state } = this;
    if (this.isLost) return [word("lost"), "eye"];
    if (!state || state.mode === "idle" || !this.row?.panel) return [word("no-match"), "stack"];
    if (state.mode === "restoring") return [word("restoring"), "no"];
    if (SIGHT_TROUBLE.includes(state.view)) return [word(`camera ${state.view}`), "eye"];
    if (["lost", "fault"].includes(state.sensors)) return [word(`sensors ${state.sensors}`), "eye"];
    if (state.mode === "asking") return [word("asking"), "question"];
    if (["unfinished", "setting up"].includes(state.mode)) return [word(state.mode), "more"];
    if (state.mode === "paused") return [word("paused"), "pause"];
    if (state.outcome) return [state.outcome.winner ? `${this.name(state.outcome.winner)} ${word("won")}` : word("ended"), "star"];
    return [word("turn", { player: this.name(state.to_move) }), SIGNS[this.said.at(-1)?.name] ?? "stack"];
  }

  name(letter) {
    return this.state.game.players.find((player) => player.letter === letter)?.names[spoken] ?? letter;
  }

  render() {
    const { place, row, state } = this;
    const [what, sign] = this.standing();
    place.dataset.light = this.isLost ? "off" : row?.light ?? "off";
    // The ground keeps the colour through the dark of a blinking light: only the sign blinks.
    if (place.dataset.light !== "off" || !row?.panel) place.dataset.ground = place.dataset.light;
    this.part("use").setAttribute("href", `/static/icon.svg#${sign}`);
    this.part(".what").textContent = what;
    const text = this.said.map((said) => said.text).join(" ");
    if (this.part(".said").textContent !== text) this.part(".said").textContent = text;
    this.renderLamps(state?.game.players ?? [], row?.lit ?? []);
    this.renderTold();
    this.renderKeys();
  }

  renderLamps(players, lit) {
    this.part(".lamps").replaceChildren(...players.map((player) => {
      const lamp = Object.assign(document.createElement("li"), { textContent: player.names[spoken] });
      lamp.style.setProperty("--colour", player.colour);
      lamp.className = lit.includes(player.letter) ? "lit" : "";
      return lamp;
    }));
  }

  // The way back as a picture, or what a question's answers would have done.
  renderTold() {
    const place = this.part(".told"), { state } = this;
    const asked = state?.mode === "asking" ? state.asked : null;
    const drawn = !asked && ["restoring", "unfinished"].includes(state?.mode) ? state.drawn : null;
    const key = asked ? `${state.match} ${asked.n} ${spoken}` : drawn === null ? "" : `${state.match} ${drawn}`;
    if (place.dataset.key === key) return;
    place.dataset.key = key;
    place.classList.toggle("asking", Boolean(asked));
    if (asked) {
      const isOne = asked.choices.length === 1;
      place.replaceChildren(...asked.choices.map(({ option, texts }, i) => this.answer(`/told/${asked.n}?option=${encodeURIComponent(option)}`, `${texts[spoken]}?`, isOne ? null : i + 1)));
    } else place.replaceChildren(...(drawn === null ? [] : [this.picture(`/told/${drawn}`, word("way-back"))]));
  }

  answer(address, text, number) {
    const card = document.createElement(number ? "button" : "figure");
    if (number) Object.assign(card, { type: "button", onclick: () => this.press("done", { number }) });
    card.append(this.picture(address, ""), Object.assign(document.createElement("span"), { textContent: text }));
    return card;
  }

  picture(address, label) {
    const board = Object.assign(document.createElement("div"), { className: "tiny" });
    if (label) {
      board.setAttribute("role", "img");
      board.setAttribute("aria-label", label);
    }
    fetch(address).then((answer) => answer.json()).then((row) => {
      board.innerHTML = row.svg; // the program's own picture of a checked position
      board.querySelector("title")?.remove();
      board.firstElementChild.setAttribute("aria-hidden", "true");
    }).catch(() => {});
    return board;
  }

  renderKeys() {
    const { state } = this, isAsking = state?.mode === "asking", choices = state?.asked?.choices ?? [];
    const [done, undo, arbiter] = ["done", "undo", "arbiter"].map((key) => this.part(`[data-key="${key}"]`));
    done.textContent = word(isAsking ? "key-yes" : "key-done");
    done.disabled = isAsking && choices.length !== 1; // the answer itself is touched
    this.isNone = isAsking && choices.length > 1;
    undo.textContent = word(!isAsking ? "key-undo" : choices.length > 1 ? "key-none" : choices.length ? "key-no" : "nothing");
    arbiter.textContent = word(state?.mode === "paused" ? "key-resume" : "key-arbiter");
  }

  // The buttons to which the referee listens; the arbiter's must be held.
  offer(button) {
    const key = button.dataset.key;
    if (key !== "arbiter") return void (button.onclick = () => this.press(key, { held: key === "undo" && this.isNone }));
    let timer = null;
    const end = () => { clearTimeout(timer); timer = null; };
    const begin = () => {
      end();
      this.reply(word("hold-longer"));
      timer = setTimeout(() => { this.reply(""); this.press(key, { held: true }); }, HELD_MS);
    };
    button.onpointerdown = begin;
    button.onpointerup = button.onpointerleave = button.onpointercancel = button.onkeyup = button.onblur = end;
    button.onkeydown = (event) => { if (!event.repeat && ["Enter", " "].includes(event.key)) begin(); };
    button.oncontextmenu = (event) => event.preventDefault();
  }

  async press(button, fields = {}) {
    const sent = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ button, ...fields }) };
    const answer = await fetch(`/panel/press?${this.access}`, sent).catch(() => null);
    if (answer?.ok) return this.reply("");
    const { reason, error } = (await answer?.json().catch(() => null)) ?? {};
    this.reply(!answer ? word("no-answer") : reason === "code" ? word("panel-code") : reason === "idle" ? word("no-match") : error ?? String(answer.status));
  }

  reply(text) {
    this.part(".reply").textContent = text;
  }
}
