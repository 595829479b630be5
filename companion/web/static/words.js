// What the page itself says, in each language. What the referee says comes from the server.

const WORDS = {
  en: {
    other: "Deutsch", views: "Views", "view-plan": "From above (v)", "view-table": "From the table (v)", "view-home": "From the players' side", skip: "To the verdict", board: "Board", verdict: "Verdict", moves: "Moves",
    arbiter: "Arbiter", camera: "Camera", history: "What was said",
    "camera-note": "What the camera sees. White outlines: what the program believes stands there.",
    first: "To the start", back: "One move back", forth: "One move on", last: "To the latest move",
    "to-now": "Back to now", past: "Looking back at move {i} of {all}", "past-start": "Looking back at the start",
    unlock: "I am the arbiter", lock: "Leave as arbiter", token: "The token that the program printed at its start", open: "Open",
    phones: "A phone as camera or panel", "phone-code": "Camera, phone {n}", "panel-code-of": "Panel", "no-phones": "A phone is a camera where the table was started with --phone.", "let-go": "Let another phone in", "let-gone": "Another phone may scan the code now.",
    cancel: "Cancel", end: "End the match", winner: "Who has won?", drawn: "Nobody: drawn",
    reject: "The table is right", "take-back": "Take back a move", "set-position": "Set the position",
    pause: "Pause", resume: "Resume", "move-was": "The move was", accept: "Accept",
    editor: "Choose a piece, then touch the squares on which it is put. The stack of a square can also be written, from bottom to top, and so can the text.",
    "to-move": "To move", "as-text": "The position as text", "set-this": "Set this position",
    "stack-of": "Stack on {cell}", "put-piece": "What to put on a square", "take-top": "Take the top piece off", none: "None of these", yes: "Yes", no: "No", nothing: "Nothing was changed", ask: "Was it this move?", "done": "Done",
    "sent": "Done.", "no-answer": "No connection to the table.", "wrong-token": "This token is not right.",
    "to-hall": "All tables", hall: "The hall", "no-tables": "No table has come yet.", "how-to-join": "A table joins by being started with the broker's address and a name of its own:", results: "Results", name: "Name", points: "Points", played: "Played", "as-csv": "As a file (CSV)", finished: "Finished", "page-of": "Page of {table}", "table-online": "playing", "table-away": "away", "left-out": "Left out: {why}", "moves-played": "{n} moves",
    live: "live", lost: "no connection", watching: "Looking on", events: "{n} events",
    "turn": "{player} to move", "setting up": "Set up the board", restoring: "Put the board right",
    asking: "Waiting for an answer", paused: "Paused", over: "The match is over", unfinished: "The move is not finished",
    reserve: "in reserve", hand: "in hand", empty: "empty", level: "level {level}", pieces: "{n} pieces", piece: "1 piece",
    "from-top": "from the top", "ban-pillar": "Until {player} has moved, the pillar {cell} must not go back to level {back}.", "ban-piece": "Until {player} has moved, the piece on {cell} must not go back to {back}.", "one-move": "1 move", set: "position set", by: "by {by}", start: "Start", won: "has won", "ended": "Match over",
    "camera clear": "camera", "camera hand": "hand over the board", "camera blocked": "view blocked", "camera no-mat": "mat not in view",
    "camera moved": "camera pushed", "camera dark": "too dark", "camera noise": "noisy picture", "camera flicker": "flickering light", "camera shaking": "camera shakes", "camera slow": "too few pictures", "camera unread": "picture not read", "camera camera-lost": "camera lost",
    "sensors ok": "pillars", "sensors lost": "pillars silent", "sensors fault": "pillar fault",
    "no-picture": "There is no picture.", saved: "saved", unsaved: "not saved",
    "kept-matches": "Kept matches", close: "Close", "no-kept": "No match has been kept yet.", "is-made": "{file} is being made …", "is-open": "open", "is-drawn": "drawn", "has-won": "{player} won",
    "new-match": "New match", game: "Game", people: "Players", clock: "Clock (empty: none)", confirm: "A move counts once its player has pressed “done”", "leave-open": "Leave the match that is going on unfinished; it can go on later", "start-match": "Start", "go-on": "Go on", "left-open": "Left unfinished", "idle": "No match", "no-match": "No match is being played.", "no-match-hint": "The arbiter starts one here.", unlearned: "The pieces of this set have not been learned here: the colours of its kit are used.", "starting-now": "The match is about to begin …", main: "main rules", "n-players": "{n} players",
    "kept-match": "A kept match", "match-steps": "The match", "to-table": "To the table", replay: "Replay", leaf: "Leaf through", "step-back": "One step back", "step-forth": "One step on", "to-end": "To the end", "play-match": "Play by itself", "stop-playing": "Stand still", "camera-saw": "What the camera saw", "is-fetched": "The match is being fetched …",
    "step start": "Start", "step illegal": "Not allowed", "step unfinished": "Not finished", "step unsure": "A question", "step taken-back": "Taken back", "step corrected": "Ruling", "step skipped": "Passed over", "step repeated": "Repeated", "step game-over": "The end", "step clock": "Time is up",
    arrange: "Arrange rounds", round: "Round", "new-round": "New round", "round-n": "Round {n}", "round-title": "Name of the round", "add-pair": "One more match", save: "Save", "remove-round": "Remove this round", table: "Table", "player-n": "Player {n}", "swap-colours": "Swap colours", "remove-match": "Remove this match",
    reload: "Loading …", "player-clock": "{player}: {time} left",
  },
  de: {
    other: "English", views: "Ansichten", "view-plan": "Von oben (v)", "view-table": "Vom Tisch aus (v)", "view-home": "Von der Seite der Spieler", skip: "Zum Urteil", board: "Brett", verdict: "Urteil", moves: "Züge",
    arbiter: "Schiedsrichter", camera: "Kamera", history: "Was gesagt wurde",
    "camera-note": "Was die Kamera sieht. Weiße Umrisse: was dort nach Meinung des Programms steht.",
    first: "Zum Anfang", back: "Einen Zug zurück", forth: "Einen Zug vor", last: "Zum letzten Zug",
    "to-now": "Zurück zu jetzt", past: "Rückblick auf Zug {i} von {all}", "past-start": "Rückblick auf den Anfang",
    unlock: "Ich bin Schiedsrichter", lock: "Als Schiedsrichter abmelden", token: "Das Kennwort, das das Programm beim Start nennt", open: "Öffnen",
    phones: "Ein Telefon als Kamera oder Anzeige", "phone-code": "Kamera, Telefon {n}", "panel-code-of": "Anzeige", "no-phones": "Kamera ist ein Telefon, wo der Tisch mit --phone gestartet wurde.", "let-go": "Ein anderes Telefon einlassen", "let-gone": "Jetzt kann ein anderes Telefon den Code scannen.",
    cancel: "Abbrechen", end: "Partie beenden", winner: "Wer hat gewonnen?", drawn: "Niemand: unentschieden",
    reject: "Der Tisch stimmt", "take-back": "Zug zurücknehmen", "set-position": "Stellung setzen",
    pause: "Pause", resume: "Weiter", "move-was": "Der Zug war", accept: "Annehmen",
    editor: "Einen Stein wählen, dann die Felder berühren, auf die er kommt. Der Stapel eines Feldes lässt sich auch schreiben, von unten nach oben, und ebenso der Text.",
    "to-move": "Am Zug", "as-text": "Die Stellung als Text", "set-this": "Diese Stellung setzen",
    "stack-of": "Stapel auf {cell}", "put-piece": "Was auf ein Feld kommt", "take-top": "Obersten Stein wegnehmen", none: "Keiner davon", yes: "Ja", no: "Nein", nothing: "Nichts wurde verändert", ask: "War es dieser Zug?", "done": "Fertig",
    "sent": "Erledigt.", "no-answer": "Keine Verbindung zum Tisch.", "wrong-token": "Dieses Kennwort stimmt nicht.",
    "to-hall": "Alle Tische", hall: "Der Saal", "no-tables": "Noch ist kein Tisch da.", "how-to-join": "Ein Tisch nimmt teil, wenn er mit der Adresse des Brokers und einem eigenen Namen gestartet wird:", results: "Ergebnisse", name: "Name", points: "Punkte", played: "Partien", "as-csv": "Als Datei (CSV)", finished: "Beendet", "page-of": "Seite von {table}", "table-online": "spielt", "table-away": "fort", "left-out": "Ausgelassen: {why}", "moves-played": "{n} Züge",
    live: "live", lost: "keine Verbindung", watching: "Zuschauen", events: "{n} Ereignisse",
    "turn": "{player} ist am Zug", "setting up": "Bitte aufbauen", restoring: "Bitte richtigstellen",
    asking: "Eine Antwort fehlt", paused: "Pause", over: "Die Partie ist zu Ende", unfinished: "Der Zug ist nicht zu Ende",
    reserve: "in Reserve", hand: "in der Hand", empty: "leer", level: "Höhe {level}", pieces: "{n} Steine", piece: "1 Stein",
    "from-top": "von oben", "ban-pillar": "Bis {player} gezogen hat, darf die Säule {cell} nicht zurück auf Stufe {back}.", "ban-piece": "Bis {player} gezogen hat, darf der Stein auf {cell} nicht zurück nach {back}.", "one-move": "1 Zug", set: "Stellung gesetzt", by: "von {by}", start: "Anfang", won: "hat gewonnen", "ended": "Partie zu Ende",
    "camera clear": "Kamera", "camera hand": "Hand über dem Brett", "camera blocked": "Sicht verstellt", "camera no-mat": "Matte nicht zu sehen",
    "camera moved": "Kamera verschoben", "camera dark": "zu dunkel", "camera noise": "Bild rauscht", "camera flicker": "Licht flackert", "camera shaking": "Kamera wackelt", "camera slow": "zu wenige Bilder", "camera unread": "Bild nicht gelesen", "camera camera-lost": "Kamera weg",
    "sensors ok": "Säulen", "sensors lost": "Säulen stumm", "sensors fault": "Säule gestört",
    "no-picture": "Es gibt kein Bild.", saved: "gesichert", unsaved: "nicht gesichert",
    "kept-matches": "Aufgehobene Partien", close: "Schließen", "no-kept": "Noch ist keine Partie aufgehoben.", "is-made": "{file} wird gemacht …", "is-open": "offen", "is-drawn": "unentschieden", "has-won": "{player} gewann",
    "new-match": "Neue Partie", game: "Spiel", people: "Spieler", clock: "Uhr (leer: keine)", confirm: "Ein Zug zählt, wenn sein Spieler „fertig“ gedrückt hat", "leave-open": "Die laufende Partie unbeendet lassen; sie kann später weitergehen", "start-match": "Starten", "go-on": "Fortsetzen", "left-open": "Unbeendet", "idle": "Keine Partie", "no-match": "Es wird keine Partie gespielt.", "no-match-hint": "Der Schiedsrichter startet hier eine.", unlearned: "Die Steine dieses Spiels sind hier nicht eingelernt: es gelten die Farben seines Bretts.", "starting-now": "Die Partie beginnt gleich …", main: "Grundregeln", "n-players": "{n} Spieler",
    "kept-match": "Eine aufgehobene Partie", "match-steps": "Die Partie", "to-table": "Zum Tisch", replay: "Ansehen", leaf: "Blättern", "step-back": "Einen Schritt zurück", "step-forth": "Einen Schritt vor", "to-end": "Zum Ende", "play-match": "Von selbst ablaufen lassen", "stop-playing": "Anhalten", "camera-saw": "Was die Kamera sah", "is-fetched": "Die Partie wird geholt …",
    "step start": "Anfang", "step illegal": "Nicht erlaubt", "step unfinished": "Nicht zu Ende", "step unsure": "Eine Frage", "step taken-back": "Zurückgenommen", "step corrected": "Entscheid", "step skipped": "Übergangen", "step repeated": "Wiederholung", "step game-over": "Ende", "step clock": "Zeit abgelaufen",
    arrange: "Runden ansetzen", round: "Runde", "new-round": "Neue Runde", "round-n": "Runde {n}", "round-title": "Name der Runde", "add-pair": "Noch eine Partie", save: "Sichern", "remove-round": "Diese Runde streichen", table: "Tisch", "player-n": "Spieler {n}", "swap-colours": "Farben tauschen", "remove-match": "Diese Partie streichen",
    reload: "Wird geladen …", "player-clock": "{player}: noch {time}",
  },
};

const asked = new URLSearchParams(location.search).get("lang") || remembered() || navigator.language.slice(0, 2);
export let code = asked in WORDS ? asked : "en";

function remembered() {
  try { return localStorage.getItem("language"); } catch { return null; }
}

export function word(key, places = {}) {
  const text = WORDS[code][key] ?? key;
  return text.replace(/\{(\w+)\}/g, (_, name) => places[name] ?? "");
}

// A page's own words, beside those that all pages share.
export function addWords(words) {
  for (const [language, texts] of Object.entries(words)) Object.assign(WORDS[language], texts);
}

// Shows the page in its language, now and whenever `button` switches it; `renamed` then shows what the page itself draws.
export function offerLanguages(button, renamed) {
  const show = () => {
    translate();
    button.textContent = word("other");
    button.lang = other();
    renamed();
  };
  button.onclick = () => {
    code = other();
    try { localStorage.setItem("language", code); } catch { /* private mode: for this visit only */ }
    show();
  };
  show();
}

// Speaks the language of somebody else's choice, as long as nobody here chooses another.
export function speakIn(wanted) {
  if (!(wanted in WORDS) || wanted === code) return;
  code = wanted;
  translate();
}

function other() {
  return code === "en" ? "de" : "en";
}

// Puts the words where the page's own elements ask for them.
function translate() {
  document.documentElement.lang = code;
  for (const element of document.querySelectorAll("[data-word]")) element.textContent = word(element.dataset.word);
  for (const element of document.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", word(element.dataset.label));
    element.title = word(element.dataset.label);
  }
}
