// A phone as the table's camera: takes pictures, says when each was taken, and sends the newest once the last has arrived.

import { Panel } from "/static/panel.js";
import { addWords, code as spoken, offerLanguages, word } from "/static/words.js";

addWords({
  en: {
    "eye-idle": "No match is refereed now; the camera waits.", "refused-code": "This code is not right: scan the one that the program shows now.", "refused-other": "Another phone is this table's camera; the arbiter's page can let it go.", "refused-gone": "This phone was let go; another one is awaited.", "refused-picture": "The picture is not of the size that the table wants: load this page again.",
    eye: "Referee's eye", "eye-start": "Be the camera", "eye-torch": "Light on or off",
    "eye-hint": "Put the phone on a stand so that it sees the whole board obliquely, and leave this page open.",
    "eye-ready": "Touch the button to begin.", "eye-views": "Move round the calibration board, and pause: {views} good views of {advised}, {parts} of {all} parts of the picture.", "eye-enough": "That is enough: {views} good views. Measure the lens, then put the phone on its stand.", "eye-sees": "The referee sees the board.", "eye-lost": "No connection to the table; trying again.",
    "eye-no-code": "Scan the QR code that the program shows.", "eye-insecure": "This page is not secure, so the browser gives no camera: open it with https.",
    "eye-front": "This is the front camera: turn to the rear one.", "eye-denied": "The browser gives no camera: allow it in the page's settings.",
    "eye-size": "The camera gives {got}, the table's lens was measured at {want}.", "eye-drifts": "{what} stays automatic: it could not be locked", "eye-awake": "The screen may go dark: set it to stay on.",
    focus: "focus", exposure: "exposure", "white-balance": "white balance", "eye-dark": "It is dark: switch a lamp on, or the phone's light.",
  },
  de: {
    "eye-idle": "Gerade läuft keine Partie; die Kamera wartet.", "refused-code": "Dieser Code stimmt nicht: bitte den scannen, den das Programm jetzt zeigt.", "refused-other": "Ein anderes Telefon ist die Kamera dieses Tisches; die Seite des Schiedsrichters kann es gehen lassen.", "refused-gone": "Dieses Telefon wurde verabschiedet; ein anderes wird erwartet.", "refused-picture": "Das Bild hat nicht die Größe, die der Tisch will: bitte diese Seite neu laden.",
    eye: "Auge des Schiedsrichters", "eye-start": "Kamera sein", "eye-torch": "Licht an oder aus",
    "eye-hint": "Das Telefon so auf ein Stativ stellen, dass es das ganze Brett schräg sieht, und diese Seite offen lassen.",
    "eye-ready": "Zum Beginnen den Knopf berühren.", "eye-views": "Um die Kalibriertafel gehen und innehalten: {views} gute Ansichten von {advised}, {parts} von {all} Teilen des Bildes.", "eye-enough": "Das genügt: {views} gute Ansichten. Die Linse vermessen, dann das Telefon auf sein Stativ stellen.", "eye-sees": "Der Schiedsrichter sieht das Brett.", "eye-lost": "Keine Verbindung zum Tisch; neuer Versuch.",
    "eye-no-code": "Bitte den QR-Code scannen, den das Programm zeigt.", "eye-insecure": "Diese Seite ist nicht sicher, darum gibt der Browser keine Kamera: mit https öffnen.",
    "eye-front": "Das ist die vordere Kamera: bitte die hintere nehmen.", "eye-denied": "Der Browser gibt keine Kamera: in den Einstellungen der Seite erlauben.",
    "eye-size": "Die Kamera gibt {got}, das Objektiv wurde bei {want} vermessen.", "eye-drifts": "{what} bleibt automatisch: ließ sich nicht festhalten", "eye-awake": "Der Bildschirm kann dunkel werden: bitte eingeschaltet lassen.",
    focus: "Schärfe", exposure: "Belichtung", "white-balance": "Weißabgleich", "eye-dark": "Es ist dunkel: eine Lampe oder das Licht des Telefons einschalten.",
  },
});

const SPACING_MS = 60; // between two pictures at least: about 15 a second are as many as the referee wants
const QUALITY = 0.85; // of JPEG
const SETTLE_MS = 1500; // so long exposure, colour and focus take to settle before they are held
const COMPARED_MS = 1000; // how often the clocks are compared
const AGAIN_MS = 500; // before the next try where the table does not answer
const GIVEN_UP_MS = 4000; // an answer that takes longer does not come
const DARK = 40; // mean brightness, of 255

const find = (id) => document.getElementById(id);
const video = find("video"), canvas = document.createElement("canvas");
const page = random();
const given = new URLSearchParams(location.hash.slice(1));
if (given.get("code")) {
  store("eye-code", given.get("code"));
  store("eye-number", given.get("n") ?? "1");
  history.replaceState(null, "", location.pathname + location.search);
}
if (!recall("eye-phone")) store("eye-phone", random());
const access = new URLSearchParams({ code: recall("eye-code") ?? "", phone: recall("eye-phone"), page });
let state = ["eye-ready", "", ""], remarks = [], track = null, wanted = null, isOn = false, isSending = false, sentAt = 0, isTorchOn = false, panel = null;

function random() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function store(key, value) {
  try { localStorage.setItem(key, value); } catch { /* private mode: for this visit only */ }
}

function recall(key) {
  try { return localStorage.getItem(key); } catch { return null; }
}

function say(key, kind = "", text = "") {
  state = [key, kind, text];
  show();
}

// Whether it is of no use to ask again.
function sayRefused(error) {
  const isRefused = error instanceof Refusal;
  isRefused ? say("", "bad", error.message) : say(error instanceof Idle ? "eye-idle" : "eye-lost", error instanceof Idle ? "" : "bad");
  return isRefused;
}

function show() {
  find("state").textContent = state[2] || word(state[0]);
  find("state").dataset.kind = state[1];
  find("remarks").replaceChildren(...remarks.map(([key, places]) => Object.assign(document.createElement("li"), { textContent: word(key, places && { ...places, what: places.what && word(places.what) }) })));
}

// What the table refuses, in this page's language where it has words for it.
class Refusal extends Error {
  constructor({ reason, error }, status) {
    super(reason ? word(`refused-${reason}`) : error ?? String(status));
  }
}

class Idle extends Error {}

// Asks the table; throws a Refusal, Idle where it has no match, or another error where it does not answer.
async function ask(what, fields = {}, body = null) {
  const query = new URLSearchParams([...access, ...Object.entries(fields)]);
  const reply = await fetch(`/eye/${recall("eye-number") ?? 1}/${what}?${query}`, { method: "POST", body, signal: AbortSignal.timeout(GIVEN_UP_MS) });
  if (reply.ok) return reply.json();
  const told = await reply.json().catch(() => ({}));
  if (told.reason === "idle") throw new Idle();
  if (reply.status >= 500) throw new Error("not now");
  throw new Refusal(told, reply.status);
}

async function start() {
  if (!access.get("code")) return say("eye-no-code", "bad");
  if (!navigator.mediaDevices) return say("eye-insecure", "bad");
  try {
    wanted = await ask("hello");
  } catch (error) {
    if (sayRefused(error)) return;
    return void setTimeout(start, AGAIN_MS);
  }
  showPanel();
  try {
    await openCamera();
  } catch (error) {
    return say("eye-denied", "bad");
  }
  if (track.getSettings().facingMode === "user") {
    track.stop();
    return say("eye-front", "bad");
  }
  store("eye-started", "yes");
  find("start").hidden = true;
  isOn = true;
  remarks = [];
  stayAwake();
  setTimeout(lock, SETTLE_MS);
  offerTorch();
  watch();
}

// The phone is the table's panel too, where there is one.
function showPanel() {
  if (!wanted.panel || panel) return;
  panel = new Panel(find("panel"), wanted.panel);
  document.body.classList.add("beside");
  panel.open();
}

async function openCamera() {
  // Never cropped by the browser: the lens was measured on whole pictures.
  const size = { width: { ideal: wanted.width }, height: { ideal: wanted.height }, resizeMode: { ideal: "none" }, frameRate: { ideal: 30 } };
  const open = (facing) => navigator.mediaDevices.getUserMedia({ audio: false, video: { ...size, ...facing } });
  // A laptop's camera looks nowhere in particular; a phone's must be the rear one.
  const stream = await open({ facingMode: { exact: "environment" } }).catch((error) => {
    if (error.name !== "OverconstrainedError") throw error;
    return open({});
  });
  track = stream.getVideoTracks()[0];
  track.onended = () => restart();
  video.srcObject = stream;
  await video.play();
}

function restart() {
  if (!isOn) return;
  isOn = false;
  setTimeout(start, AGAIN_MS);
}

// Holds what drifts as it is now, one thing after the other, and says what could not be held.
async function lock() {
  const can = track.getCapabilities?.() ?? {}, now = track.getSettings();
  const controls = [
    ["focus", "focusMode", { focusDistance: now.focusDistance }],
    ["exposure", "exposureMode", { exposureTime: now.exposureTime, iso: now.iso }],
    ["white-balance", "whiteBalanceMode", { colorTemperature: now.colorTemperature }],
  ];
  const drifting = [];
  for (const [name, mode, values] of controls) {
    const held = Object.fromEntries(Object.entries(values).filter(([key, value]) => value !== undefined && key in can));
    const isHeld = can[mode]?.includes("manual") && (await track.applyConstraints({ advanced: [{ [mode]: "manual", ...held }] }).then(() => true, () => false));
    if (!isHeld) drifting.push(name);
  }
  remarks.push(...drifting.map((what) => ["eye-drifts", { what }]));
  show();
  if (drifting.length) ask("hello", { remarks: `${drifting.join(", ")}: could not be locked` }).catch(() => {});
}

async function stayAwake() {
  try {
    await navigator.wakeLock.request("screen");
    remarks = remarks.filter(([key]) => key !== "eye-awake");
  } catch {
    if (!remarks.some(([key]) => key === "eye-awake")) remarks.push(["eye-awake"]);
  }
  show();
}

function offerTorch() {
  find("torch").hidden = !track.getCapabilities?.().torch;
}

// How the picture must be turned, in quarters, to lie as the sensor does: browsers turn a phone's pictures upright, and
// the lens was measured as it lies.
function quarters() {
  const angle = screen.orientation?.angle ?? 0, isPortrait = video.videoHeight > video.videoWidth;
  const isPhone = (screen.orientation?.type.startsWith("portrait") ?? isPortrait) === (angle % 180 === 0);
  if (!isPhone) return 0;
  const turned = (angle / 90 + 3) % 4;
  return turned % 2 === 1 && !isPortrait ? 0 : turned;
}

function watch() {
  const next = video.requestVideoFrameCallback ? (seen) => video.requestVideoFrameCallback(seen) : (seen) => requestAnimationFrame((now) => seen(now, {}));
  const seen = (now, frame) => {
    if (!isOn) return;
    next(seen);
    if (!isSending && now - sentAt >= SPACING_MS) send(frame.captureTime ?? now);
  };
  next(seen);
}

// Draws the picture as the sensor saw it, at the size that is wanted, or at its own where the largest is; false where its
// shape is another one.
function draw() {
  const turned = quarters(), isAcross = turned % 2 === 1;
  const [width, height] = isAcross ? [video.videoHeight, video.videoWidth] : [video.videoWidth, video.videoHeight];
  if (!wanted.largest && (width < wanted.width || width * wanted.height !== height * wanted.width)) {
    say("", "bad", word("eye-size", { got: `${width} × ${height}`, want: `${wanted.width} × ${wanted.height}` }));
    return false;
  }
  const scale = wanted.largest ? Math.min(1, wanted.width / width) : wanted.width / width;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d", { alpha: false });
  pen.translate(canvas.width / 2, canvas.height / 2);
  pen.rotate((turned * Math.PI) / 2);
  pen.scale(scale, scale);
  pen.drawImage(video, -video.videoWidth / 2, -video.videoHeight / 2);
  return true;
}

async function send(taken) {
  isSending = true;
  sentAt = performance.now();
  try {
    if (wanted === null) {
      wanted = await ask("hello");
      showPanel();
    }
    if (!draw()) return;
    const picture = await new Promise((done) => canvas.toBlob(done, "image/jpeg", QUALITY));
    const told = await ask("picture", { taken: Math.max(0, Math.round(taken)) }, picture);
    if (told.views !== undefined) sayViews(told);
    else say(isDark ? "eye-dark" : "eye-sees", isDark ? "" : "good");
  } catch (error) {
    if (!sayRefused(error)) wanted = null; // who answers next may be a match that has taken the set-up's place
    await new Promise((done) => setTimeout(done, AGAIN_MS));
  } finally {
    isSending = false;
  }
}

// How the calibration of the lens goes on, for the hand that moves the phone; it feels every view that is kept.
let felt = 0;
function sayViews(told) {
  const isEnough = told.views >= told.advised && told.parts === told.all;
  if (told.views > felt) navigator.vibrate?.(60);
  felt = told.views;
  say("", "good", word(isEnough ? "eye-enough" : "eye-views", told));
}

// The table learns how our clock lies to its own: it hears at once when we have heard its answer.
async function compareClocks() {
  if (!isOn) return;
  try {
    await ask("clock");
    await ask("clock", { heard: Math.round(performance.now()) });
  } catch { /* the pictures say that there is no connection */ }
}

const small = Object.assign(document.createElement("canvas"), { width: 32, height: 18 });
let isDark = false;

function measureLight() {
  if (!isOn) return;
  const pen = small.getContext("2d", { willReadFrequently: true });
  pen.drawImage(video, 0, 0, small.width, small.height);
  const codes = pen.getImageData(0, 0, small.width, small.height).data;
  let sum = 0;
  for (let i = 0; i < codes.length; i += 4) sum += (codes[i] + codes[i + 1] + codes[i + 2]) / 3;
  isDark = sum / (codes.length / 4) < DARK;
}

find("start").onclick = start;
find("torch").onclick = () => {
  isTorchOn = !isTorchOn;
  track.applyConstraints({ advanced: [{ torch: isTorchOn }] }).catch(() => {});
};
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible" && isOn) stayAwake();
});
setInterval(compareClocks, COMPARED_MS);
setInterval(measureLight, COMPARED_MS);
document.documentElement.lang = spoken;
offerLanguages(find("language"), show);
// Who was the camera before is it again after the page was loaded anew.
if (recall("eye-started") && access.get("code")) start();
else if (!access.get("code")) say("eye-no-code", "bad");
