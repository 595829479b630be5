// The board in three dimensions, drawn with three.js; nothing is drawn while nothing changes.

import * as THREE from "/static/three.module.min.js";
import { bodyMesh, groundMeshes, markMeshes, slabMesh, tallySprite } from "/static/solids.js";

const FOV_DEG = 18;
const HOME = { azimuth: 0, elevation: 0.98 };
const LOWEST = 0.3, HIGHEST = 1.54;
const MOVE_MS = 520, TURN_STEP = 0.13, DRAG_SHARE = 0.008;
const ROOM = 1.03; // of the picture's size, so that nothing touches its edge

export function hasSpace() {
  try { return Boolean(document.createElement("canvas").getContext("webgl2")); } catch { return false; }
}

// Whether no graphics card draws: then less fine, so that moves stay gentle.
function drawsInSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  return /swiftshader|llvmpipe|software/i.test(info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "");
}

export class Space {
  // `placed` is called with where each square is on the page whenever that has changed.
  constructor(place, placed) {
    this.place = place;
    this.placed = placed;
    this.eye = { ...HOME };
    const isSlow = drawsInSoftware();
    this.finest = isSlow ? 1 : 2;
    this.renderer = new THREE.WebGLRenderer({ antialias: !isSlow, alpha: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.autoUpdate = false; // shadows are made anew only when a piece has moved
    this.renderer.shadowMap.type = isSlow ? THREE.BasicShadowMap : THREE.PCFSoftShadowMap;
    this.canvas = this.renderer.domElement;
    this.canvas.setAttribute("aria-hidden", "true");
    this.camera = new THREE.PerspectiveCamera(FOV_DEG, 1, 50, 9000);
    this.world = new THREE.Scene();
    this.world.add(new THREE.HemisphereLight(0xffffff, 0xc8bda6, 1.75));
    this.sun = new THREE.DirectionalLight(0xfff8ee, 1.75);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 5;
    this.sun.shadow.bias = -0.0006;
    this.sun.shadow.normalBias = 0.6;
    this.world.add(this.sun, this.sun.target);
    this.fixed = new THREE.Group();
    this.pieces = new THREE.Group();
    this.marks = new THREE.Group();
    this.world.add(this.fixed, this.pieces, this.marks);
    this.moves = [];
    place.append(this.canvas);
    new ResizeObserver(() => this.fit()).observe(place);
    this.canvas.addEventListener("pointerdown", (event) => this.grab(event));
    this.canvas.addEventListener("webglcontextrestored", () => this.draw());
  }

  show(scene, isGentle) {
    const isNew = !this.scene || this.scene.files !== scene.files || this.scene.ranks !== scene.ranks || this.scene.pitch !== scene.pitch;
    const before = isNew || !isGentle ? null : this.scene;
    this.scene = scene;
    for (const body of scene.bodies) body.strokes = scene.characters[body.mark];
    this.moves = [];
    this.refill(this.fixed, [slabMesh(scene), ...scene.grounds.flatMap((ground) => groundMeshes(ground, scene))]);
    this.refill(this.pieces, scene.bodies.map(bodyMesh));
    this.refill(this.marks, [...markMeshes(scene), ...scene.tallies.map(tallySprite)]);
    if (before) this.animate(before);
    if (isNew) this.light();
    this.renderer.shadowMap.needsUpdate = true;
    this.canvas.dataset.bodies = scene.bodies.length;
    this.canvas.dataset.marks = [...scene.frames.map((frame) => frame.tone), ...scene.arrows.map(() => "arrow"), ...scene.crosses.map(() => "cross")].join(" ");
    this.fit();
  }

  refill(group, meshes) {
    for (const child of [...group.children]) { group.remove(child); child.geometry?.userData.own && child.geometry.dispose(); }
    if (meshes.length) group.add(...meshes);
  }

  // Pieces that have gone from one square and come to another glide there; the rest stays.
  animate(before) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const key = (body) => `${body.piece} ${body.x} ${body.y} ${body.z}`;
    const left = new Map();
    const still = new Set(this.scene.bodies.map(key));
    for (const body of before.bodies) if (!still.has(key(body))) left.set(body.piece, [...(left.get(body.piece) ?? []), body]);
    const was = new Set(before.bodies.map(key));
    for (const mesh of this.pieces.children) {
      const body = mesh.userData.body;
      if (was.has(key(body)) || body.look === "outline") continue;
      const from = left.get(body.piece)?.shift();
      if (from) this.moves.push({ mesh, from: new THREE.Vector3(from.x, from.y, from.z), to: mesh.position.clone() });
    }
    const levels = new Map(before.grounds.map((ground) => [ground.cell, ground.z]));
    for (const mesh of this.fixed.children) {
      const ground = mesh.userData.ground;
      if (!ground || levels.get(ground.cell) === ground.z) continue;
      const to = mesh.position.clone();
      this.moves.push({ mesh, from: to.clone().setZ(to.z + levels.get(ground.cell) - ground.z), to, isFlat: true });
    }
    this.begun = performance.now();
    if (this.moves.length) this.advance();
  }

  advance() {
    const share = Math.min(1, (performance.now() - this.begun) / MOVE_MS);
    const eased = share < 0.5 ? 2 * share * share : 1 - 2 * (1 - share) * (1 - share);
    for (const { mesh, from, to, isFlat } of this.moves) {
      mesh.position.lerpVectors(from, to, eased);
      if (!isFlat) mesh.position.z += 4 * eased * (1 - eased) * (8 + 0.22 * from.distanceTo(to));
    }
    this.renderer.shadowMap.needsUpdate = true;
    this.render();
    if (share < 1) requestAnimationFrame(() => this.advance());
    else this.moves = [];
  }

  light() {
    const { files, ranks, pitch, ceiling } = this.scene;
    const reach = Math.max(files, ranks) * pitch;
    this.sun.position.set(-0.5 * reach, -0.35 * reach, 1.5 * reach);
    const camera = this.sun.shadow.camera;
    camera.left = camera.bottom = -0.85 * reach;
    camera.right = camera.top = 0.85 * reach;
    camera.near = 0.2 * reach;
    camera.far = 2.6 * reach + ceiling;
    camera.updateProjectionMatrix();
  }

  // The corners that must be in the picture: those of the board, and of the room above its squares.
  corners() {
    const { files, ranks, pitch, ceiling } = this.scene;
    const x = files * pitch / 2, y = ranks * pitch / 2, edge = 0.38 * pitch;
    const points = [];
    for (const a of [-1, 1]) for (const b of [-1, 1]) {
      points.push(new THREE.Vector3(a * (x + edge), b * (y + edge), -7), new THREE.Vector3(a * (x - 0.3 * pitch), b * (y - 0.3 * pitch), ceiling * 0.85));
    }
    return points;
  }

  fit() {
    if (!this.scene) return;
    const { clientWidth: width, clientHeight: height } = this.place;
    if (!width || !height) return;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, this.finest));
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.aim();
  }

  // As near as the whole board can be seen from there, with the board in the middle of the picture.
  aim() {
    const { azimuth, elevation } = this.eye;
    const back = new THREE.Vector3(Math.sin(azimuth) * Math.cos(elevation), -Math.cos(azimuth) * Math.cos(elevation), Math.sin(elevation));
    const right = new THREE.Vector3(Math.cos(azimuth), Math.sin(azimuth), 0);
    const up = new THREE.Vector3().crossVectors(back, right);
    const tall = Math.tan(THREE.MathUtils.degToRad(FOV_DEG / 2)) / ROOM, wide = tall * this.camera.aspect;
    // Along each axis the two tightest edges meet at the distance and shift that are looked for.
    const seen = this.corners().map((point) => [point.dot(right), point.dot(up), point.dot(back)]);
    const need = (axis, share) => {
      const most = Math.max(...seen.map((point) => point[axis] + share * point[2]));
      const least = Math.max(...seen.map((point) => -point[axis] + share * point[2]));
      return { distance: (most + least) / (2 * share), shift: (most - least) / 2 };
    };
    const x = need(0, wide), y = need(1, tall);
    const distance = Math.max(x.distance, y.distance);
    this.camera.up.copy(up);
    this.camera.position.copy(back).multiplyScalar(distance).addScaledVector(right, x.shift).addScaledVector(up, y.shift);
    this.camera.lookAt(this.camera.position.clone().sub(back));
    this.camera.updateMatrixWorld();
    this.draw();
    this.placed(this.squares());
  }

  draw() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => { this.isDue = false; this.render(); });
  }

  render() {
    this.renderer.render(this.world, this.camera);
  }

  // Where each square's upper face is in the picture: left, top, width and height in pixels.
  squares() {
    const { clientWidth: width, clientHeight: height } = this.place;
    const point = new THREE.Vector3();
    return Object.fromEntries(this.scene.grounds.map((ground) => {
      const half = ground.side / 2;
      const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([a, b]) => {
        point.set(ground.x + a * half, ground.y + b * half, ground.z).project(this.camera);
        return [(point.x + 1) / 2 * width, (1 - point.y) / 2 * height];
      });
      const left = Math.min(...corners.map((corner) => corner[0])), top = Math.min(...corners.map((corner) => corner[1]));
      return [ground.cell, [left, top, Math.max(...corners.map((corner) => corner[0])) - left, Math.max(...corners.map((corner) => corner[1])) - top]];
    }));
  }

  // The square under a point of the page, or null.
  cellAt(clientX, clientY) {
    const box = this.canvas.getBoundingClientRect();
    const caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2((clientX - box.left) / box.width * 2 - 1, 1 - (clientY - box.top) / box.height * 2), this.camera);
    const hits = caster.intersectObjects([...this.pieces.children, ...this.fixed.children], true);
    for (const { object, point } of hits) {
      for (let mesh = object; mesh; mesh = mesh.parent) if (mesh.userData.cell) return mesh.userData.cell;
      const { grounds } = this.scene;
      const ground = grounds.find((one) => Math.abs(point.x - one.x) <= one.side / 2 && Math.abs(point.y - one.y) <= one.side / 2);
      if (ground) return ground.cell;
    }
    return null;
  }

  grab(event) {
    const from = { x: event.clientX, y: event.clientY, ...this.eye };
    this.isTurned = false;
    const move = (next) => {
      const dx = next.clientX - from.x, dy = next.clientY - from.y;
      if (!this.isTurned && Math.hypot(dx, dy) < 5) return;
      this.isTurned = true;
      this.turnTo(from.azimuth - dx * DRAG_SHARE, from.elevation + dy * DRAG_SHARE * 0.7);
    };
    const drop = () => { removeEventListener("pointermove", move); removeEventListener("pointerup", drop); removeEventListener("pointercancel", drop); };
    addEventListener("pointermove", move);
    addEventListener("pointerup", drop);
    addEventListener("pointercancel", drop);
  }

  turn(right, up) {
    this.turnTo(this.eye.azimuth + right * TURN_STEP, this.eye.elevation + up * TURN_STEP);
  }

  turnTo(azimuth, elevation) {
    this.eye = { azimuth, elevation: Math.min(HIGHEST, Math.max(LOWEST, elevation)) };
    this.aim();
  }

  home() {
    this.turnTo(HOME.azimuth, HOME.elevation);
  }
}
