// What the page of a table and that of a kept match show alike.

import { inkOn } from "/static/signs.js";
import { code, word } from "/static/words.js";

export function playerName(game, letter) {
  return game.players.find((player) => player.letter === letter)?.names[code] ?? letter;
}

// A player's letter on his colour.
export function mark(game, letter) {
  const piece = document.createElement("b");
  piece.className = "piece";
  piece.textContent = letter;
  const colour = game.players.find((player) => player.letter === letter)?.colour ?? "#66666a";
  piece.style.background = colour;
  piece.style.setProperty("--on", inkOn(colour));
  return piece;
}

// What a player has beside the board, in words; `row` is the board that is shown, if there is one.
export function held(row, letter) {
  const { reserve = "", hand = "" } = row?.keys ?? {};
  const kept = reserved(reserve, letter, row?.owners ?? {});
  const parts = [kept && `${kept} ${word("reserve")}`, hand.includes(letter) && `1 ${word("hand")}`];
  return parts.filter(Boolean).map((textContent) => Object.assign(document.createElement("small"), { textContent }));
}

// "R2,G1" counts pieces that are all alike, "QDq" names them.
function reserved(text, letter, owners) {
  if (/^[A-Z]\d/.test(text)) return Number(text.split(",").find((part) => part[0] === letter)?.slice(1) ?? 0);
  return [...text].filter((piece) => owners[piece] === letter).join(" ");
}

// What must not be played at once, in words: "a3>4@Y": until Yellow has moved, what stands on a3 must not go back to
// level 4; "a3>b3@Y": to b3.
export function bans(row, game) {
  return (row?.keys.ban ?? "").split(",").filter(Boolean).map((ban) => {
    const [, cell, back, player] = ban.match(/^(.+)>(.+)@(.+)$/) ?? [];
    return cell ? word(/^\d+$/.test(back) ? "ban-pillar" : "ban-piece", { cell, back, player: playerName(game, player) }) : "";
  }).join(" ");
}

// Rules with their numbers, titles and texts.
export function ruleLines(rules) {
  return rules.flatMap((rule) => {
    const term = Object.assign(document.createElement("dt"), { textContent: `${rule.id} ${rule.titles[code]}` });
    return [term, Object.assign(document.createElement("dd"), { textContent: rule.texts[code] })];
  });
}

export function minutes(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (n) => String(n).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  return hours ? `${hours}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}` : `${Math.floor(whole / 60)}:${two(whole % 60)}`;
}
