// MicroPython for WebAssembly under node: the firmware with standard input and output as its line.
// node wasm.mjs MICROPYTHON.mjs ROOT BOOT CAUSE ANALOGUE FLASH

import fs from "node:fs";
import path from "node:path";

const [interpreter, root, boot, cause, analogue, flash] = process.argv.slice(2);
const { loadMicroPython } = await import(interpreter);
const micropython = await loadMicroPython({ stdout: (line) => console.error(line), linebuffer: true });

const FOLDERS = ["firmware_bridge", "firmware_bridge/firmware", "firmware_bridge/simulated"];
micropython.FS.mkdir("/flash");
for (const folder of FOLDERS) {
  micropython.FS.mkdir(`/flash/${folder}`);
  for (const name of fs.readdirSync(path.join(root, folder)).filter((name) => name.endsWith(".py"))) {
    micropython.FS.writeFile(`/flash/${folder}/${name}`, fs.readFileSync(path.join(root, folder, name)));
  }
}

const values = fs.openSync(analogue, "r");
const now = new Int32Array(new SharedArrayBuffer(4));
const buffer = Buffer.alloc(4096);
const NOTHING = new Uint8Array(0);

function nonBlocking(action) {
  try {
    return action();
  } catch (error) {
    if (error.code === "EAGAIN") return 0;
    throw error;
  }
}

function read() {
  let closed = false;
  const length = nonBlocking(() => {
    const got = fs.readSync(0, buffer, 0, buffer.length, null);
    closed = got === 0;
    return got;
  });
  if (closed) process.exit(0);
  return length ? new Uint8Array(buffer.subarray(0, length)) : NOTHING;
}

micropython.registerJsModule("_node", {
  read,
  write: (hex) => nonBlocking(() => fs.writeSync(1, Buffer.from(hex, "hex"))),
  sleep: (ms) => Atomics.wait(now, 0, 0, ms),
  analogue: () => {
    const values32 = Buffer.alloc(64);
    fs.readSync(values, values32, 0, 64, 0);
    return new Uint8Array(values32);
  },
  load: () => (fs.existsSync(flash) ? new Uint8Array(fs.readFileSync(flash)) : NOTHING),
  store: (hex) => {
    fs.writeFileSync(`${flash}.new`, Buffer.from(hex, "hex"));
    fs.renameSync(`${flash}.new`, flash);
  },
});
micropython.runPython(`
import sys
sys.path.insert(0, "/flash")
from firmware_bridge.simulated.micropython_board import main
main(${boot}, ${cause}, "", "")
`);
