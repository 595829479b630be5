// How large the pieces on somebody's own board are: what the picture tells, and a form for what a ruler does.

import { addWords, code, word } from "/static/words.js";

addWords({
  en: {
    "sizes-first": "Measure one piece of each size with a ruler, if you have one: that is more exact than the picture.",
    "sizes": "The pieces look {width} mm wide (± {width_off}) and {height} mm high (± {height_off}).", "sizes-cube": "The pieces look {width} mm wide (± {width_off}).",
    "sizes-of": "{letters} look {width} mm wide (± {width_off}) and {height} mm high (± {height_off}).", "sizes-cube-of": "{letters} look {width} mm wide (± {width_off}).",
    "sizes-asked": "The picture does not tell it well enough: measure a piece.", "sizes-asked-of": "Of {letters} the picture does not tell it well enough: measure one.",
    "sizes-assumed": "The picture does not tell how large these pieces are: measure one of each size. They are taken to be so:", "sizes-given": "You gave these sizes.", "these-sizes": "These are the sizes",
    "size-of": "{what} of {letters}, mm", "size-mm": "{what}, mm", "disc width": "Diameter", "disc height": "Height", "cube width": "Side", "pyramid width": "Side of the base", "pyramid height": "Height",
  },
  de: {
    "sizes-first": "Von jeder Größe einen Stein mit dem Lineal messen, wenn eines da ist: das ist genauer als das Bild.",
    "sizes": "Die Steine sehen {width} mm breit (± {width_off}) und {height} mm hoch (± {height_off}) aus.", "sizes-cube": "Die Steine sehen {width} mm breit (± {width_off}) aus.",
    "sizes-of": "{letters} sehen {width} mm breit (± {width_off}) und {height} mm hoch (± {height_off}) aus.", "sizes-cube-of": "{letters} sehen {width} mm breit (± {width_off}) aus.",
    "sizes-asked": "Das Bild sagt es nicht genau genug: bitte einen Stein messen.", "sizes-asked-of": "Bei {letters} sagt es das Bild nicht genau genug: bitte einen messen.",
    "sizes-assumed": "Wie groß diese Steine sind, sagt das Bild nicht: bitte von jeder Größe einen messen. Angenommen ist:", "sizes-given": "Diese Größen sind angegeben.", "these-sizes": "So groß sind sie",
    "size-of": "{what} von {letters}, mm", "size-mm": "{what}, mm", "disc width": "Durchmesser", "disc height": "Höhe", "cube width": "Seite", "pyramid width": "Seite der Grundfläche", "pyramid height": "Höhe",
  },
});

export class Sizes {
  constructor(place, tell) {
    this.place = place;
    place.onsubmit = (event) => {
      event.preventDefault();
      tell(this.rows.map(({ letters, width, height }) => ({ letters, width: Number(width.value), height: height ? Number(height.value) : null })));
    };
  }

  // `sizes`: of the pieces, and how they are known; none: nobody is asked.
  show(sizes, learned) {
    this.place.hidden = !sizes;
    if (!sizes) return;
    this.part("p").textContent = said(sizes, learned);
    const signature = JSON.stringify([code, sizes.kinds]); // what is being typed stays until a size has changed
    if (this.place.dataset.signature === signature) return;
    this.place.dataset.signature = signature;
    this.rows = sizes.kinds.map((kind) => ({
      letters: kind.letters, width: input(kind.width), height: kind.shape === "cube" ? null : input(kind.height),
    }));
    this.part("div").replaceChildren(...sizes.kinds.flatMap(({ letters, shape }, i) => ["width", "height"].filter((name) => this.rows[i][name]).map((name) => {
      const what = word(`${shape} ${name}`);
      const label = document.createElement("label");
      const text = sizes.kinds.length > 1 ? word("size-of", { what, letters: [...letters].join(", ") }) : word("size-mm", { what });
      label.append(Object.assign(document.createElement("span"), { textContent: text }), this.rows[i][name]);
      return label;
    })));
  }

  part(name) {
    return this.place.querySelector(name);
  }
}

function said({ measured, given, kinds }, learned) {
  if (given) return word("sizes-given");
  if (measured.length) return measuredWords(measured, kinds);
  return word(learned ? "sizes-assumed" : "sizes-first");
}

// What the picture tells of each size, and of which it does not tell enough.
function measuredWords(measured, kinds) {
  const single = kinds.length === 1, named = (letters) => [...letters].join(", ");
  const shape = (letters) => kinds.find((kind) => kind.letters.includes(letters[0]))?.shape;
  const told = measured.map((each) => word(`sizes${shape(each.letters) === "cube" ? "-cube" : ""}${single ? "" : "-of"}`, { ...each, letters: named(each.letters) }));
  const known = measured.filter((each) => each.told).map((each) => each.letters).join("");
  const asked = kinds.map((kind) => kind.letters).filter((letters) => [...letters].some((letter) => !known.includes(letter)));
  if (asked.length) told.push(single ? word("sizes-asked") : word("sizes-asked-of", { letters: named(asked.join("")) }));
  return told.join(" ");
}

function input(value) {
  return Object.assign(document.createElement("input"), { type: "number", min: "1", step: "any", inputMode: "decimal", required: true, value });
}
