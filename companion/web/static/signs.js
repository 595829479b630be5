// The sign that goes with each event, of those in icon.svg.

export const SIGNS = {
  start: "stack", accepted: "yes", illegal: "no", unfinished: "more", restored: "yes", "taken-back": "undo", unsure: "question",
  corrected: "law", skipped: "more", repeated: "more", "game-over": "star", clock: "more",
};
