// What a phone sounds and speaks: the panel's tones, and sentences from the voice's own files or by the browser.

const LOUD = 0.2; // of a tone; a phone lies nearer than a buzzer hangs
const EDGE_S = 0.01; // so long a tone takes to come and go: without, it clicks
const REPEAT_MS = 8000; // the same sentence is not said again so soon
const STALE_MS = 5000; // what had to wait longer is no news

export class Sound {
  constructor(address) {
    this.address = address; // of a sound file, by its name
    this.isOn = true;
    this.now = null; // the sentence that is spoken
    this.waiting = null; // the one that is spoken next
    this.begun = new Map(); // when each text was begun last
  }

  open() {
    this.context = new (window.AudioContext ?? window.webkitAudioContext)();
    this.context.resume();
    this.gain = this.context.createGain();
    this.gain.gain.value = 0;
    this.gain.connect(this.context.destination);
    this.voice = this.context.createOscillator();
    this.voice.type = "triangle";
    this.voice.connect(this.gain);
    this.voice.start();
  }

  toggle() {
    this.isOn = !this.isOn;
    if (!this.isOn) {
      this.tone(null);
      this.waiting = null;
      this.stop();
    }
    return String(this.isOn);
  }

  tone(hz) {
    if (!this.context) return;
    const t = this.context.currentTime;
    if (hz) this.voice.frequency.setValueAtTime(hz, t);
    this.gain.gain.setTargetAtTime(hz && this.isOn ? LOUD : 0, t, EDGE_S / 3);
  }

  // One sentence at a time: news of the same matter, and the graver, cut short what is spoken; the rest waits.
  say(said, language) {
    const next = { ...said, language, came: performance.now() };
    if (!this.isOn || this.now?.text === said.text) return;
    if (!this.now || this.now.topic === said.topic || this.now.rank < said.rank) return this.speak(next);
    if (!this.waiting || this.waiting.topic === said.topic || this.waiting.rank <= said.rank) this.waiting = next;
  }

  async speak(next) {
    this.stop();
    if (performance.now() - (this.begun.get(next.text) ?? -Infinity) < REPEAT_MS) return;
    this.begun.set(next.text, performance.now());
    this.now = next;
    await (next.clips ? this.play(next).catch(() => this.read(next)) : this.read(next)).catch(() => {});
    if (this.now !== next) return;
    this.now = null;
    const { waiting } = this;
    this.waiting = null;
    if (waiting && performance.now() - waiting.came < STALE_MS) this.speak(waiting);
  }

  stop() {
    this.now = null;
    this.playing?.stop();
    this.playing = null;
    window.speechSynthesis?.cancel();
  }

  // The voice's own files, one after the other; all of them are there before the first is heard.
  async play(next) {
    const clips = await Promise.all(next.clips.map(async (name) => {
      const answer = await fetch(this.address(name));
      if (!answer.ok) throw new Error(name);
      return this.context.decodeAudioData(await answer.arrayBuffer());
    }));
    for (const clip of clips) {
      if (this.now !== next) return;
      const source = this.context.createBufferSource();
      source.buffer = clip;
      source.connect(this.context.destination);
      this.playing = source;
      await new Promise((done) => { source.onended = done; source.start(); });
    }
  }

  // The browser's own voice, where it has one for the language.
  read(next) {
    if (!window.speechSynthesis) return Promise.resolve();
    const words = new SpeechSynthesisUtterance(next.text.replace(/ ?\([A-Z]+-\d+(, [A-Z]+-\d+)*\)/g, "")); // numbers of rules are for the eye
    words.lang = next.language;
    return new Promise((done) => {
      words.onend = words.onerror = done;
      speechSynthesis.speak(words);
    });
  }
}
