// In the page in one file its modules stand packed; each finds the others by name.
(async () => {
  const packed = JSON.parse(document.getElementById("modules").textContent);
  const imports = {};
  for (const [name, text] of Object.entries(packed)) {
    imports[`static/${name}`] = URL.createObjectURL(new Blob([await unpack(text)], { type: "text/javascript" }));
  }
  document.head.append(Object.assign(document.createElement("script"), { type: "importmap", textContent: JSON.stringify({ imports }) }));
  await import("static/replay.js");
})();
