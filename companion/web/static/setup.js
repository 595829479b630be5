// The set-up, step by step: what the camera shows, what is to be done, and whether it is right.

import { Cameras } from "/static/cameras.js";
import { Sizes } from "/static/sizes.js";
import { takeToken } from "/static/token.js";
import { addWords, code, offerLanguages, word } from "/static/words.js";

const STEPS = ["camera", "mat", "empty", "start", "panel", "done"];
const MORE = ["lens", "pieces"];
const find = (id) => document.getElementById(id);

addWords({
  en: {
    "setup-title": "Set up the table", steps: "Steps", before: "Back", next: "Next", "setup-foot": "Nothing leaves this machine.",
    "step camera": "Camera", "step lens": "Lens", "step mat": "Board", "step empty": "Empty", "step pieces": "Single pieces", "step start": "Start", "step panel": "Panel", "step done": "Ready",
    "what camera": "Point the camera at the table.",
    "how camera": "From behind the first player, looking down at about 60 degrees; the whole board and its markers in the picture. Focus the lens until the number below is as high as it gets, then never touch the camera again.",
    "what lens": "Photograph the calibration board.",
    "how lens": "Print the board and glue it to something flat. Hold it before the camera: near, tilted, turned, and in every corner of the picture. Keep still while you take each photograph. Or lay the board down, take the phone or the camera into the hand and move it round the board: good views are taken by themselves wherever you pause.",
    "what mat": "Show the board, empty.",
    "how mat": "A printed mat: print it at 100 % and lay it flat; all its markers must be seen.",
    "own-how": "Your own board: stick four or more printed markers flat round its squares. Then touch the four corners of its playing field in the picture, first that of a1 at the first player's left, and go round it. Another touch moves the nearest corner.",
    side: "Side of the field along the first player, mm",
    "print-stickers": "Print stickers", measure: "This is my board", "corners-left": "{n} of 4 corners", "fits-board": "Measured: squares of {across} × {up} mm; the corners fit to {px} px.",
    "more-exact": "More exact, if you like:",
    "what empty": "Leave the board empty.", "how empty": "Its look and the lens are learned from one photograph; no hand over it.",
    "learn-empty": "Photograph the empty board", "learned-empty": "The empty board is known. Reprojection error {px} px.",
    "learn-start": "Learn the start position", begin: "Start the match", begun: "The match begins; its page opens as soon as it is there.",
    "what pieces": "Put one piece of each kind on its square.",
    "how pieces": "The squares are drawn in the picture. Nothing else lies on the board.",
    "what start": "Set up the start position.",
    "how start": "Every square is compared with what it should hold.",
    "what panel": "Try the panel.",
    "how panel": "Each button shows what players will see and hear.",
    "what done": "Start the match, or save the table.",
    "how done": "Everything goes into files; table.toml starts the table on another evening.",
    sharpness: "Sharpness {now}, best so far {best}", size: "{width} × {height} px",
    "print-board": "Print the calibration board", "print-mat-a3": "Print the mat (A3)", "print-mat-a4": "Print the mat (two A4)",
    collect: "Take good views by itself", collecting: "Stop: {n} good views", photograph: "Take photograph", "measure-lens": "Measure the lens", "forget-photographs": "Begin again",
    photos: "{n} photographs, {parts} of {all} parts of the picture covered", "more-photos": "At least {least}; {advised} are better, with every part covered.",
    "enough-photos": "That is enough.", "lens-good": "Reprojection error {px} px: good.", "lens-poor": "Reprojection error {px} px: poor. Take sharper photographs of a flat board.",
    marker: "Marker {id}", seen: "seen", unseen: "not seen", "learn-pieces": "Learn the pieces", learned: "The pieces are known.",
    "all-right": "All {n} squares are right.", "not-right": "{wrong} of {n} squares are not right:", "should": "{cell}: should hold {expected}, looks {seen}",
    alike: "{one} and {other} are hardly told apart by their colours here and will often be in doubt: better take pieces whose colours differ more, or other light.",
    "not-found": "{piece} was not found; it keeps the kit's colour until a picture shows it.",
    "nothing-there": "nothing", "empty-there": "empty", finish: "Save", saved: "Written: {files}, in {folder}.", "start-with": "Start the referee with:",
    "cue accepted": "Move accepted", "cue illegal": "Illegal move", "cue question": "Question", "cue game-over": "Game over", "no-panel": "There is no panel here.",
    busy: "One moment …", "needs-token": "Open the address that the program printed, with its token.", failed: "No connection to the program.",
    sensors: "Pillar sensors: {text}",
  },
  de: {
    "setup-title": "Tisch einrichten", steps: "Schritte", before: "Zurück", next: "Weiter", "setup-foot": "Nichts verlässt diesen Rechner.",
    "step camera": "Kamera", "step lens": "Linse", "step mat": "Brett", "step empty": "Leer", "step pieces": "Einzelne Steine", "step start": "Anfang", "step panel": "Anzeige", "step done": "Bereit",
    "what camera": "Die Kamera auf den Tisch richten.",
    "how camera": "Von hinter dem ersten Spieler, etwa 60 Grad nach unten; das ganze Brett und seine Marken im Bild. Scharf stellen, bis die Zahl unten nicht höher wird, dann die Kamera nicht mehr anfassen.",
    "what lens": "Die Kalibriertafel fotografieren.",
    "how lens": "Die Tafel drucken und auf etwas Flaches kleben. Vor die Kamera halten: nah, geneigt, gedreht und in jeder Ecke des Bildes. Bei jedem Foto stillhalten. Oder die Tafel hinlegen, das Telefon oder die Kamera in die Hand nehmen und um die Tafel gehen: wo innegehalten wird, werden gute Ansichten von selbst aufgenommen.",
    "what mat": "Das leere Brett zeigen.",
    "how mat": "Eine gedruckte Matte: mit 100 % drucken und flach hinlegen; alle Marken müssen zu sehen sein.",
    "own-how": "Ein eigenes Brett: mindestens vier gedruckte Marken flach rund um die Felder kleben. Dann im Bild die vier Ecken des Spielfelds berühren, zuerst die von a1 links vom ersten Spieler, dann reihum. Jede weitere Berührung verschiebt die nächste Ecke.",
    side: "Seite des Spielfelds entlang des ersten Spielers, mm",
    "print-stickers": "Marken drucken", measure: "Das ist mein Brett", "corners-left": "{n} von 4 Ecken", "fits-board": "Vermessen: Felder von {across} × {up} mm; die Ecken passen auf {px} px.",
    "more-exact": "Genauer, wer will:",
    "what empty": "Das Brett leer lassen.", "how empty": "Aus einem Foto werden Aussehen und Linse gelernt; keine Hand darüber.",
    "learn-empty": "Das leere Brett fotografieren", "learned-empty": "Das leere Brett ist bekannt. Abbildungsfehler {px} px.",
    "learn-start": "Die Anfangsstellung lernen", begin: "Partie beginnen", begun: "Die Partie beginnt; ihre Seite öffnet sich, sobald sie da ist.",
    "what pieces": "Von jeder Art einen Stein auf sein Feld stellen.",
    "how pieces": "Die Felder sind ins Bild gezeichnet. Sonst liegt nichts auf dem Brett.",
    "what start": "Die Anfangsstellung aufbauen.",
    "how start": "Jedes Feld wird mit dem verglichen, was darauf gehört.",
    "what panel": "Die Anzeige probieren.",
    "how panel": "Jede Taste zeigt, was die Spieler sehen und hören werden.",
    "what done": "Die Partie beginnen oder den Tisch speichern.",
    "how done": "Alles kommt in Dateien; table.toml startet den Tisch an einem anderen Abend.",
    sharpness: "Schärfe {now}, beste bisher {best}", size: "{width} × {height} px",
    "print-board": "Kalibriertafel drucken", "print-mat-a3": "Matte drucken (A3)", "print-mat-a4": "Matte drucken (zweimal A4)",
    collect: "Gute Ansichten von selbst aufnehmen", collecting: "Halt: {n} gute Ansichten", photograph: "Foto aufnehmen", "measure-lens": "Linse vermessen", "forget-photographs": "Von vorn",
    photos: "{n} Fotos, {parts} von {all} Teilen des Bildes abgedeckt", "more-photos": "Mindestens {least}; {advised} sind besser, in jedem Teil des Bildes.",
    "enough-photos": "Das genügt.", "lens-good": "Abbildungsfehler {px} px: gut.", "lens-poor": "Abbildungsfehler {px} px: schlecht. Schärfere Fotos einer flachen Tafel machen.",
    marker: "Marke {id}", seen: "zu sehen", unseen: "nicht zu sehen", "learn-pieces": "Steine lernen", learned: "Die Steine sind bekannt.",
    "all-right": "Alle {n} Felder stimmen.", "not-right": "{wrong} von {n} Feldern stimmen nicht:", "should": "{cell}: erwartet {expected}, gesehen {seen}",
    alike: "{one} und {other} sind hier an der Farbe kaum zu unterscheiden und werden oft zweifelhaft sein: besser Steine in deutlicher verschiedenen Farben nehmen, oder anderes Licht.",
    "not-found": "{piece} war nicht zu finden; bis ein Bild es zeigt, gilt die Farbe aus dem Satz.",
    "nothing-there": "nichts", "empty-there": "leer", finish: "Speichern", saved: "Geschrieben: {files}, in {folder}.", "start-with": "Der Schiedsrichter startet mit:",
    "cue accepted": "Zug angenommen", "cue illegal": "Verbotener Zug", "cue question": "Frage", "cue game-over": "Partie zu Ende", "no-panel": "Hier gibt es keine Anzeige.",
    busy: "Einen Augenblick …", "needs-token": "Bitte die Adresse öffnen, die das Programm nennt, mit dem Kennwort.", failed: "Keine Verbindung zum Programm.",
    sensors: "Säulensensoren: {text}",
  },
});

const token = takeToken();
let step = STEPS[0];
let row = null;
let best = 0;
let corners = [];
let size = { width: 0, height: 0 }; // of the camera's picture; the element itself has none while the next one loads
let isOver = false;
const done = {};
const cameras = new Cameras(find("cameras"), token, (choice) => { best = 0; act("choose-camera", choice); });
const sizes = new Sizes(find("sizes"), (told) => act("size", { sizes: told }));

// Asks again and again how the step stands; one question at a time.
async function follow() {
  if (isOver) return;
  const asked = step;
  try {
    const answer = await (await fetch(`/setup/state?step=${asked}`, { headers: { "Accept-Language": code } })).json();
    if (asked === step) take(answer);
  } catch {
    reply(word("failed"), true);
  }
  setTimeout(follow, 700);
}

function take(answer) {
  if (answer.error) return reply(answer.error, true);
  row = answer.row;
  done[step] = row.done;
  find("game").textContent = `${answer.game.titles[code]} · ${answer.game.kit}`;
  if (find("board").dataset.step !== step) {
    find("board").dataset.step = step;
    find("board").innerHTML = step === "start" ? answer.game.start : "";
  }
  render();
}

function render() {
  const tabs = JSON.stringify([code, step, [...STEPS, ...MORE].map((name) => Boolean(done[name]))]);
  if (find("steps").dataset.signature !== tabs) { // a button that is replaced while it is pressed is not clicked
    find("steps").dataset.signature = tabs;
    find("steps").replaceChildren(...STEPS.map(tab));
    find("more").replaceChildren(...MORE.map((name) => tab(name, "+")));
  }
  find("what").textContent = word(`what ${step}`);
  find("how").textContent = step === "mat" && row?.own ? "" : word(`how ${step}`); // of printed mats
  find("verdict").dataset.kind = row?.done ? "accepted" : row?.why ? "unfinished" : "";
  find("sign").setAttribute("href", `/static/icon.svg#${row?.done ? "yes" : row?.why ? "more" : "eye"}`);
  find("before").disabled = step === STEPS[0];
  find("next").disabled = step === STEPS.at(-1);
  find("live").alt = word("camera");
  find("own").hidden = step !== "mat";
  sizes.show(step === "start" ? row?.sizes : null, row?.learned);
  cameras.show((step === "camera" && row?.cameras) || []);
  drawCorners();
  if (!row) return;
  const [state, facts, actions] = SHOWN[step](row);
  find("state").textContent = row.why || state;
  find("facts").replaceChildren(...facts);
  const signature = JSON.stringify([code, step, actions.map(([name, , off]) => [name, off]), row.photos]);
  if (find("actions").dataset.signature === signature) return;
  find("actions").dataset.signature = signature;
  find("actions").replaceChildren(...actions.map(([name, act, off]) => {
    if (typeof act === "string") return Object.assign(document.createElement("a"), { href: act, textContent: word(name), className: "link", target: "_blank" });
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: word(name, { n: row.photos }), disabled: Boolean(off) });
    button.id = name;
    button.onclick = act;
    return button;
  }));
}

// A step's button; `sign` is its place, or a plus for what is not needed.
function tab(name, sign) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.append(Object.assign(document.createElement("b"), { textContent: done[name] ? "✓" : typeof sign === "number" ? sign + 1 : sign }), word(`step ${name}`));
  if (name === step) button.setAttribute("aria-current", "step");
  if (done[name]) button.className = "right";
  button.onclick = () => go(name);
  item.append(button);
  return item;
}

const SHOWN = {
  camera: ({ width, height, sharpness }) => {
    best = Math.max(best, sharpness ?? 0);
    return [width ? word("size", { width, height }) : "", width ? [meter(sharpness / best), text(word("sharpness", { now: sharpness, best }))] : [], []];
  },
  lens: (now) => {
    const parts = now.coverage?.flat() ?? [];
    const said = now.error_px !== null && now.error_px !== undefined ? word(now.good ? "lens-good" : "lens-poor", { px: now.error_px })
      : now.enough ? word("enough-photos") : word("more-photos", now);
    return [said, [grid(now.coverage ?? []), text(word("photos", { n: now.photos, parts: parts.filter(Boolean).length, all: parts.length }))], [
      [now.collecting ? "collecting" : "collect", () => act("collect")], ["photograph", () => act("photograph")], ["measure-lens", () => act("measure-lens"), now.photos < now.least],
      ["forget-photographs", () => act("forget-photographs"), !now.photos], ["print-board", "/setup/board.pdf"],
    ]];
  },
  mat: (now) => [now.fit_px !== undefined ? word("fits-board", { across: now.pitch_mm[0], up: now.pitch_mm[1], px: now.fit_px }) : corners.length ? word("corners-left", { n: corners.length }) : "", [list((now.markers ?? []).map(({ id, found }) => [`${word("marker", { id })}: ${word(found ? "seen" : "unseen")}`, found]))],
    [["measure", measure, corners.length < 4], ["print-stickers", "/setup/stickers.pdf"],
      ...(now.own ? [] : [["print-mat-a3", "/setup/mat.pdf"], ["print-mat-a4", "/setup/mat.pdf?paper=a4"]])]],
  empty: (now) => [now.done ? word("learned-empty", { px: now.error_px }) : "", [], [["learn-empty", () => act("learn-empty")]]],
  pieces: (now) => [now.done ? word("learned") : "", [...doubts(now), swatches(now)], [["learn-pieces", () => act("learn-pieces")]]],
  start: (now) => [now.done ? word("all-right", { n: now.all }) : now.wrong?.length ? word("not-right", { wrong: now.wrong.length, n: now.all }) : "",
    [...doubts(now), list((now.wrong ?? []).slice(0, 8).map(({ cell, expected, seen }) => [word("should", { cell, expected: expected || word("nothing-there"), seen: seen || word("empty-there") }), false]))], [["learn-start", () => act("learn-start")]]],
  panel: (now) => [now.cues?.length ? "" : word("no-panel"), now.sensors ? [text(word("sensors", { text: now.sensors }))] : [],
    (now.cues ?? []).map((cue) => [`cue ${cue}`, () => act("try", { cue })])],
  done: (now) => [now.files?.length ? word("saved", { files: now.files.join(", "), folder: now.folder }) : "",
    now.done ? [text(word("start-with")), Object.assign(document.createElement("code"), { textContent: now.command })] : [], [["begin", begin], ["finish", () => act("finish")]]],
};

function text(words) {
  return Object.assign(document.createElement("p"), { textContent: words });
}

function meter(share) {
  const bar = document.createElement("meter");
  bar.value = share || 0;
  return bar;
}

function list(lines) {
  const items = document.createElement("ul");
  items.className = "checks";
  items.append(...lines.map(([words, right]) => Object.assign(document.createElement("li"), { textContent: words, className: right ? "right" : "wrong" })));
  return items;
}

// What remains uncertain of the pieces that were learned.
function doubts({ not_found: unseen = [], alike = [] }) {
  return [...unseen.map((piece) => word("not-found", { piece })), ...alike.map(([one, other]) => word("alike", { one, other }))].map(text);
}

function grid(rows) {
  const table = document.createElement("div");
  table.className = "coverage";
  table.style.gridTemplateColumns = `repeat(${rows[0]?.length ?? 1}, 1fr)`;
  table.append(...rows.flat().map((covered) => Object.assign(document.createElement("span"), { className: covered ? "right" : "", textContent: covered ? "✓" : "" })));
  return table;
}

function swatches({ cells = {}, colours = {} }) {
  const items = document.createElement("ul");
  items.className = "swatches";
  items.append(...Object.entries(cells).map(([cell, letter]) => {
    const item = document.createElement("li");
    const piece = Object.assign(document.createElement("b"), { className: "piece", textContent: letter });
    piece.style.background = colours[letter];
    item.append(piece, ` ${cell}`);
    return item;
  }));
  return items;
}

async function act(action, fields = {}) {
  if (!token) return reply(word("needs-token"), true);
  reply(word("busy"));
  try {
    const answer = await fetch(`/setup/${action}`, {
      method: "POST", body: JSON.stringify(fields),
      headers: { "Content-Type": "application/json", "Accept-Language": code, Authorization: `Bearer ${token}` },
    });
    const result = await answer.json();
    reply(answer.ok ? "" : answer.status === 401 ? word("needs-token") : result.error, !answer.ok);
    if (answer.ok) { row = result.row; done[step] = row.done; render(); }
  } catch {
    reply(word("failed"), true);
  }
}

function measure() {
  act("measure", { corners: corners.flat(), side_mm: Number(find("side").value) || 0 });
}

// Saves the table and lets the program go on with the match, whose page takes this one's place.
async function begin() {
  await act("begin");
  if (find("reply").classList.contains("refused")) return;
  reply(word("begun"));
  isOver = true;
  const there = setInterval(async () => {
    const answer = await fetch("/", { redirect: "manual" }).catch(() => null);
    if (answer?.ok) { clearInterval(there); location.href = `/#token=${token}`; }
  }, 1000);
}

// A touch is the next corner of the field, in pixels of the camera's picture; the fifth moves the nearest one.
function point(event) {
  const live = find("live");
  if (step !== "mat" || !size.width) return;
  const box = live.getBoundingClientRect();
  const scale = Math.min(box.width / size.width, box.height / size.height);
  const x = (event.clientX - box.left - box.width / 2) / scale + size.width / 2 - .5;
  const y = (event.clientY - box.top - box.height / 2) / scale + size.height / 2 - .5;
  if (x < 0 || y < 0 || x >= size.width || y >= size.height) return;
  if (corners.length < 4) corners.push([x, y]);
  else {
    const far = corners.map(([u, v]) => Math.hypot(u - x, v - y));
    corners[far.indexOf(Math.min(...far))] = [x, y];
  }
  render();
}

function drawCorners() {
  const svg = find("corners");
  svg.setAttribute("viewBox", `0 0 ${size.width || 16} ${size.height || 9}`);
  svg.innerHTML = step !== "mat" ? "" : `<polygon points="${corners.map((at) => at.join()).join(" ")}"/>` + corners.map(([x, y], i) => `<circle cx="${x}" cy="${y}" r="7"/><text x="${x + 12}" y="${y - 10}">${i + 1}</text>`).join("");
}

function reply(words, isRefused = false) {
  find("reply").textContent = words;
  find("reply").classList.toggle("refused", isRefused);
}

function go(name) {
  step = name;
  row = null;
  reply("");
  find("state").textContent = "";
  find("facts").replaceChildren();
  find("actions").replaceChildren();
  find("actions").dataset.signature = "";
  render();
  find("verdict").focus();
}

function look() {
  const live = find("live");
  if (!isOver && !document.hidden && live.dataset.loading !== "yes") {
    live.dataset.loading = "yes";
    live.src = `/setup/camera.jpg?step=${step}&${Date.now()}`;
  }
}
find("live").onload = find("live").onerror = () => {
  const live = find("live");
  live.dataset.loading = "";
  live.style.visibility = live.naturalWidth ? "" : "hidden"; // rather no picture than a broken one
  if (live.naturalWidth) size = { width: live.naturalWidth, height: live.naturalHeight };
};
find("live").onclick = point;
find("before").onclick = () => go(STEPS[Math.max(0, STEPS.indexOf(step) - 1)]);
find("next").onclick = () => go(STEPS[Math.min(STEPS.length - 1, STEPS.indexOf(step) + 1)]);

offerLanguages(find("language"), () => {
  document.title = word("setup-title");
  render();
});
follow();
look();
setInterval(look, 600);
