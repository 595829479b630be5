// The sign that goes with each event, of those in icon.svg; and what is a trouble of the view.

// Black or white letters, whichever are read better on a colour (WCAG 2.1).
export function inkOn(colour) {
  const light = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] > 0.179 ? "#1c1a17" : "#fff";
}

// The states of the view in which the board is not seen as it should be.
export const SIGHT_TROUBLE = ["blocked", "no-mat", "moved", "dark", "noise", "flicker", "shaking", "slow", "unread", "camera-lost"];

export const SIGNS = {
  start: "stack", accepted: "yes", illegal: "no", unfinished: "more", restored: "yes", withdrawn: "undo", "taken-back": "undo", unsure: "question",
  corrected: "law", skipped: "more", repeated: "more", "game-over": "star", clock: "more",
};
