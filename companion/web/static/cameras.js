// The choice of the set-up's camera: what is plugged in, a phone by its QR code, an address.

import { addWords, word } from "/static/words.js";

addWords({
  en: {
    "choose-camera": "Which camera looks at the table?", "a-phone": "A phone", module: "Camera module {name}", "camera-address": "Address of a network camera", "use-address": "Use it",
    "phone-code": "Scan this code with the phone, touch “Be the camera”, and allow the camera.",
    "phone-insecure": "A phone gives its camera to secure pages only: start the set-up with --web 0.0.0.0:8443, and open that page here.",
  },
  de: {
    "choose-camera": "Welche Kamera sieht auf den Tisch?", "a-phone": "Ein Telefon", module: "Kameramodul {name}", "camera-address": "Adresse einer Netzwerkkamera", "use-address": "Nehmen",
    "phone-code": "Diesen Code mit dem Telefon scannen, „Kamera sein“ berühren und die Kamera erlauben.",
    "phone-insecure": "Ein Telefon gibt seine Kamera nur sicheren Seiten: das Einrichten mit --web 0.0.0.0:8443 starten und jene Seite hier öffnen.",
  },
});

const LABELS = { phone: () => word("a-phone"), picamera: (name) => word("module", { name }) };

export class Cameras {
  constructor(place, token, choose) {
    this.place = place;
    this.token = token;
    this.choose = choose;
    this.part = (name) => place.querySelector(name);
    place.onsubmit = (event) => {
      event.preventDefault();
      if (this.part("#address").value.trim()) choose({ kind: "address", name: this.part("#address").value.trim() });
    };
  }

  // `cameras`: what there is; none: there is no choice.
  show(cameras) {
    this.place.hidden = !cameras.length;
    const said = cameras.map((camera) => [LABELS[camera.kind]?.(camera.label) ?? camera.label, camera.chosen]);
    if (this.place.dataset.signature === JSON.stringify(said)) return;
    this.place.dataset.signature = JSON.stringify(said);
    this.part(".choices").replaceChildren(...cameras.map(({ kind, name, chosen }, i) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: said[i][0], disabled: kind === "address" });
      button.setAttribute("aria-pressed", chosen);
      button.onclick = () => this.choose({ kind, name });
      return button;
    }));
    this.invite(cameras.some(({ kind, chosen }) => kind === "phone" && chosen));
  }

  // Shows a phone where to come; a camera is given to secure pages only.
  invite(isPhone) {
    this.part("figure").hidden = !isPhone;
    this.part("figcaption").textContent = word(window.isSecureContext ? "phone-code" : "phone-insecure");
    this.part("img").hidden = !window.isSecureContext;
    if (isPhone && window.isSecureContext) this.part("img").src = `/eye/1/code.svg?token=${encodeURIComponent(this.token)}`;
  }
}
