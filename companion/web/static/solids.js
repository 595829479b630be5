// From the scene's bodies and marks to things that three.js draws. Millimetres; x right, y away, z up.

import * as THREE from "/static/three.module.min.js";

const TONES = { moved: "#1769c2", wrong: "#d01c5b", asked: "#1769c2", left: "#a05a00" };
const LETTERS = "system-ui, 'DejaVu Sans', sans-serif";
const SIDE_MARKS = 6; // so often a disc's letter stands on its side
const SLAB_MM = 7, EDGE = 0.36, FIGURE = 0.22, NAME = 0.24;

const kept = new Map();
// Geometries, textures and materials that are alike are made once.
function once(key, make) {
  if (!kept.has(key)) kept.set(key, make());
  return kept.get(key);
}

function painted(key, width, height, paint) {
  return once(`texture ${key}`, () => {
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    paint(canvas.getContext("2d"), width, height);
    const texture = new THREE.CanvasTexture(canvas);
    texture.colorSpace = THREE.SRGBColorSpace;
    texture.anisotropy = 8;
    return texture;
  });
}

function write(pen, text, x, y, size, colour) {
  pen.fillStyle = colour;
  pen.font = `700 ${size}px ${LETTERS}`;
  pen.textAlign = "center";
  pen.textBaseline = "alphabetic";
  pen.fillText(text, x, y + 0.36 * size);
}

// A mark is the kit's character, in strokes on a grid of ten, or a letter.
function writeMark(pen, body, x, y, size) {
  if (!body.strokes?.length) return write(pen, body.mark, x, y, size, body.ink);
  pen.strokeStyle = body.ink;
  pen.lineWidth = 0.1 * size;
  pen.lineCap = pen.lineJoin = "round";
  for (const line of body.strokes) {
    pen.beginPath();
    for (const [u, v] of line) pen.lineTo(x + (u / 10 - 0.5) * size, y - (v / 10 - 0.5) * size);
    pen.stroke();
  }
}

function surface(body, extra = {}) {
  const key = `material ${body.colour} ${body.look} ${body.is_hiding} ${JSON.stringify(extra)}`;
  return once(key, () => {
    const isGlass = body.look !== "solid" || body.is_hiding;
    const opacity = body.look === "ghost" ? 0.5 : body.look === "outline" ? 0.1 : body.is_hiding ? 0.55 : 1;
    return new THREE.MeshLambertMaterial({ color: body.colour, transparent: isGlass, opacity, depthWrite: !isGlass, ...extra });
  });
}

function decal(texture, look) {
  return once(`decal ${texture.uuid} ${look}`, () => new THREE.MeshLambertMaterial({
    map: texture, transparent: true, opacity: look === "ghost" ? 0.6 : 1, polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2,
  }));
}

function disc(body) {
  const radius = body.width / 2, high = body.height, bevel = 0.13 * high, isPlain = body.is_drawn;
  return once(`disc ${radius} ${high} ${isPlain}`, () => {
    const sunk = isPlain ? 0 : 0.07 * high;
    const profile = [[0, high - sunk], [0.8 * radius, high - sunk], [0.84 * radius, high], [radius - bevel, high], [radius - 0.3 * bevel, high - 0.3 * bevel], [radius, high - bevel], [radius, bevel], [radius - bevel, 0], [0, 0]];
    const geometry = new THREE.LatheGeometry(profile.reverse().map(([x, y]) => new THREE.Vector2(x, y)), 56);
    return geometry.rotateX(Math.PI / 2);
  });
}

function cube(body) {
  return once(`cube ${body.width} ${body.height}`, () => {
    const bevel = 0.05 * body.width, half = body.width / 2 - bevel;
    const square = new THREE.Shape([[-half, -half], [half, -half], [half, half], [-half, half]].map(([x, y]) => new THREE.Vector2(x, y)));
    const geometry = new THREE.ExtrudeGeometry(square, { depth: body.height - 2 * bevel, bevelSize: bevel, bevelThickness: bevel, bevelSegments: 3 });
    return geometry.translate(0, 0, bevel);
  });
}

function pyramid(body) {
  return once(`pyramid ${body.width} ${body.height}`, () =>
    new THREE.ConeGeometry(body.width / Math.SQRT2, body.height, 4, 1, true).rotateY(Math.PI / 4).rotateX(Math.PI / 2).translate(0, 0, body.height / 2).toNonIndexed());
}

const SHAPES = { disc, cube, pyramid };

export function bodyMesh(body) {
  const geometry = SHAPES[body.shape](body);
  const extra = body.shape === "pyramid" ? { flatShading: true, side: THREE.DoubleSide } : {};
  const mesh = new THREE.Mesh(geometry, surface(body, extra));
  mesh.castShadow = body.look === "solid";
  mesh.receiveShadow = true;
  mesh.position.set(body.x, body.y, body.z);
  mesh.userData = { body, cell: body.cell };
  if (body.look === "outline") mesh.add(edges(geometry));
  else mesh.add(...MARKS[body.shape](body));
  return mesh;
}

function edges(geometry) {
  const lines = new THREE.LineSegments(
    once(`edges ${geometry.uuid}`, () => new THREE.EdgesGeometry(geometry, 30)),
    once("edge", () => new THREE.LineDashedMaterial({ color: "#231f18", dashSize: 2, gapSize: 1.4 })),
  );
  lines.computeLineDistances();
  return lines;
}

function face(body, share) {
  return painted(`face ${body.mark} ${body.ink} ${share}`, 256, 256, (pen) => writeMark(pen, body, 128, 128, 256 * share));
}

function flat(width, height, texture, look) {
  const mesh = new THREE.Mesh(once(`plane ${width} ${height}`, () => new THREE.PlaneGeometry(width, height)), decal(texture, look));
  mesh.receiveShadow = true;
  return mesh;
}

const MARKS = {
  disc(body) {
    const top = flat(1.4 * body.width / 2, 1.4 * body.width / 2, face(body, body.is_drawn ? 0.86 : 0.8), body.look);
    top.position.z = body.height * (body.is_drawn ? 1 : 0.93) + 0.06;
    const texture = painted(`side ${body.mark} ${body.ink}`, 1536, 128, (pen, width, height) => {
      for (let i = 0; i < SIDE_MARKS; i += 1) writeMark(pen, body, (i + 0.5) * width / SIDE_MARKS, height / 2, 0.9 * height);
    });
    const tall = 0.66 * body.height, radius = body.width / 2 + 0.04;
    const side = new THREE.Mesh(once(`band ${radius} ${tall}`, () => new THREE.CylinderGeometry(radius, radius, tall, 56, 1, true).rotateX(Math.PI / 2).rotateZ(Math.PI / SIDE_MARKS)), decal(texture, body.look));
    side.position.z = body.height / 2;
    return [top, side];
  },
  cube(body) {
    const texture = face(body, 0.72), size = 0.72 * body.width, half = body.width / 2 + 0.05;
    const top = flat(size, size, texture, body.look);
    top.position.z = body.height + 0.05;
    const sides = [0, 1, 2, 3].map((i) => {
      const side = flat(size, size, texture, body.look);
      side.rotation.order = "ZXY";
      side.rotation.set(Math.PI / 2, 0, i * Math.PI / 2);
      side.position.set(Math.sin(i * Math.PI / 2) * half, -Math.cos(i * Math.PI / 2) * half, body.height / 2);
      return side;
    });
    return [top, ...sides];
  },
  pyramid(body) {
    const texture = face(body, 0.86), size = 0.42 * body.width, half = body.width / 2;
    const tilt = Math.atan2(body.height, half), up = 0.62 * size * Math.sin(tilt);
    return [0, 1, 2, 3].map((i) => {
      const side = flat(size, size, texture, body.look), out = half * (1 - up / body.height) + 0.08;
      side.rotation.order = "ZXY";
      side.rotation.set(tilt, 0, i * Math.PI / 2);
      side.position.set(Math.sin(i * Math.PI / 2) * out, -Math.cos(i * Math.PI / 2) * out, up);
      return side;
    });
  },
};

// The board: flat squares, lines and names are painted on it.
export function slabMesh(scene) {
  const edge = EDGE * scene.pitch, width = scene.files * scene.pitch + 2 * edge, depth = scene.ranks * scene.pitch + 2 * edge;
  const squares = scene.grounds.filter((ground) => ground.z < 0.1).map((ground) => `${ground.cell}${ground.top_colour}`).join("");
  const scale = 1536 / Math.max(width, depth);
  const texture = painted(`slab ${width} ${depth} ${scene.mat_colour} ${squares}`, Math.round(width * scale), Math.round(depth * scale), (pen, w, h) => {
    pen.fillStyle = scene.mat_colour;
    pen.fillRect(0, 0, w, h);
    pen.strokeStyle = scene.line_colour;
    pen.lineWidth = 0.45 * scale;
    for (const ground of scene.grounds.filter((one) => one.z < 0.1)) {
      const box = [(ground.x + width / 2 - ground.side / 2) * scale, (depth / 2 - ground.y - ground.side / 2) * scale, ground.side * scale, ground.side * scale];
      pen.fillStyle = ground.top_colour;
      pen.fillRect(...box);
      pen.strokeRect(...box);
    }
    const size = NAME * scene.pitch * scale;
    for (let i = 0; i < scene.files; i += 1) write(pen, String.fromCharCode(97 + i), (edge + (i + 0.5) * scene.pitch) * scale, h - edge / 2 * scale, size, "#6f6552");
    for (let i = 0; i < scene.ranks; i += 1) write(pen, String(i + 1), edge / 2 * scale, (edge + (scene.ranks - i - 0.5) * scene.pitch) * scale, size, "#6f6552");
  });
  const geometry = once(`slab ${width} ${depth}`, () => new THREE.BoxGeometry(width, depth, SLAB_MM));
  const wood = once(`wood ${scene.mat_colour}`, () => new THREE.MeshLambertMaterial({ color: new THREE.Color(scene.mat_colour).multiplyScalar(0.62) }));
  const top = once(`top ${texture.uuid}`, () => new THREE.MeshLambertMaterial({ map: texture }));
  const mesh = new THREE.Mesh(geometry, [wood, wood, wood, wood, top, wood]);
  mesh.position.z = -SLAB_MM / 2;
  mesh.receiveShadow = true;
  return mesh;
}

// A terrace or pillar, with its level on its upper face.
export function groundMeshes(ground) {
  if (ground.z < 0.1) return [];
  const side = ground.side - 0.3;
  const geometry = once(`block ${side} ${ground.z}`, () => new THREE.BoxGeometry(side, side, ground.z));
  const texture = painted(`level ${ground.level} ${ground.top_colour}`, 256, 256, (pen) => {
    pen.fillStyle = ground.top_colour;
    pen.fillRect(0, 0, 256, 256);
    write(pen, String(ground.level), 26 + 7 * String(ground.level).length, 228, 256 * FIGURE * 0.8, "#4b4335");
    pen.strokeStyle = "rgb(70 60 45 / .55)";
    pen.lineWidth = 3;
    pen.strokeRect(1, 1, 254, 254);
  });
  const wall = once(`wall ${ground.colour}`, () => new THREE.MeshLambertMaterial({ color: ground.colour }));
  const top = once(`lid ${texture.uuid}`, () => new THREE.MeshLambertMaterial({ map: texture }));
  const mesh = new THREE.Mesh(geometry, [wall, wall, wall, wall, top, wall]);
  mesh.position.set(ground.x, ground.y, ground.z / 2);
  mesh.castShadow = mesh.receiveShadow = true;
  mesh.userData = { ground, cell: ground.cell };
  return [mesh];
}

export function tallySprite(tally) {
  const texture = painted(`tally ${tally.text}`, 128, 128, (pen) => {
    pen.beginPath();
    pen.arc(64, 64, 56, 0, 7);
    pen.fillStyle = "#fffdf6";
    pen.fill();
    pen.lineWidth = 5;
    pen.strokeStyle = "#8b826f";
    pen.stroke();
    write(pen, tally.text, 64, 64, tally.text.length > 1 ? 62 : 78, "#231f18");
  });
  return sprite(texture, 9, [tally.x + 3, tally.y - 2, tally.z]);
}

function sprite(texture, size, [x, y, z]) {
  const made = new THREE.Sprite(once(`sprite ${texture.uuid}`, () => new THREE.SpriteMaterial({ map: texture, depthTest: false })));
  made.scale.set(size, size, 1);
  made.position.set(x, y, z);
  made.renderOrder = 20;
  made.raycast = () => {};
  return made;
}

export function markMeshes(scene) {
  const grounds = new Map(scene.grounds.map((ground) => [ground.cell, ground]));
  return [
    ...scene.frames.map((frame) => frameMesh(grounds.get(frame.cell), frame.tone)),
    ...scene.arrows.flatMap(arrowMeshes),
    ...scene.crosses.map(crossSprite),
  ];
}

function frameMesh(ground, tone) {
  const texture = painted(`frame ${tone}`, 256, 256, (pen) => {
    pen.fillStyle = `${TONES[tone]}2e`;
    pen.fillRect(8, 8, 240, 240);
    pen.strokeStyle = TONES[tone];
    pen.lineWidth = 15;
    if (tone === "wrong") pen.setLineDash([34, 18]);
    pen.strokeRect(14, 14, 228, 228);
  });
  const size = ground.side - 1;
  const material = once(`framed ${tone}`, () => new THREE.MeshBasicMaterial({ map: texture, transparent: true, depthWrite: false }));
  const mesh = new THREE.Mesh(once(`plane ${size} ${size}`, () => new THREE.PlaneGeometry(size, size)), material);
  mesh.position.set(ground.x, ground.y, ground.z + 0.25);
  return mesh;
}

function arrowMeshes(arrow) {
  const [from, to] = [arrow.start, arrow.end].map((point) => new THREE.Vector3(...point));
  const lift = 0.14 * Math.hypot(to.x - from.x, to.y - from.y);
  const points = Array.from({ length: 17 }, (_, i) => {
    const t = i / 16;
    return from.clone().lerp(to, t).add(new THREE.Vector3(0, 0, 4 * t * (1 - t) * lift));
  });
  const along = points[16].clone().sub(points[14]).normalize(), long = Math.min(11, 0.6 * from.distanceTo(to));
  const neck = to.clone().addScaledVector(along, -0.8 * long);
  const curve = new THREE.CatmullRomCurve3([...points.slice(0, 14), neck]);
  const material = once(`arrow ${arrow.tone}`, () => new THREE.MeshBasicMaterial({ color: TONES[arrow.tone], depthTest: false, transparent: true, opacity: 0.92 }));
  const casing = once("casing", () => new THREE.MeshBasicMaterial({ color: "#ffffff", depthTest: false, transparent: true, opacity: 0.9 }));
  const tube = (radius, paint, order) => own(new THREE.TubeGeometry(curve, 40, radius, 10), paint, order);
  const cone = (radius, height, paint, order) => {
    const mesh = own(new THREE.ConeGeometry(radius, height, 20), paint, order);
    mesh.position.copy(to).addScaledVector(along, -height / 2);
    mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along);
    return mesh;
  };
  return [tube(2.3, casing, 10), cone(5.6, long + 2, casing, 10), tube(1.5, material, 11), cone(4.4, long, material, 11)];
}

function own(geometry, material, order) {
  geometry.userData.own = true; // made for this drawing alone
  const mesh = new THREE.Mesh(geometry, material);
  mesh.renderOrder = order;
  return mesh;
}

function crossSprite(cross) {
  const texture = painted("cross", 128, 128, (pen) => {
    for (const [colour, width] of [["#ffffff", 30], [TONES.wrong, 18]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.lineCap = "round";
      pen.beginPath();
      pen.moveTo(22, 22); pen.lineTo(106, 106); pen.moveTo(106, 22); pen.lineTo(22, 106);
      pen.stroke();
    }
  });
  return sprite(texture, 1.4 * cross.size, [cross.x, cross.y, cross.z]);
}
