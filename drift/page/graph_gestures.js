/**
 * Moving and zooming a picture by mouse, pen and fingers. The wheel alone scrolls the page; with
 * Ctrl, which is what a pinch on a touchpad sends, it zooms.
 */

const STILL = 5;

/**
 * @typedef {object} Moves
 * @property {(across: number, down: number) => void} move
 * @property {(factor: number, x: number, y: number) => void} zoom
 * @property {(x: number, y: number) => void} press
 * @property {(x: number, y: number) => void} pass nothing is held
 * @property {() => void} leave
 */

/** @param {HTMLElement} place @param {Moves} moves */
export function hearGestures(place, moves) {
  /** @type {Map<number, { x: number, y: number }>} */
  const held = new Map();
  let wandered = 0;

  place.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    place.setPointerCapture(event.pointerId);
    if (!held.size) wandered = 0;
    else wandered = STILL + 1;
    held.set(event.pointerId, at(event, place));
  });
  place.addEventListener("pointermove", (event) => {
    const now = at(event, place), before = held.get(event.pointerId);
    if (!before) return moves.pass(now.x, now.y);
    const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
    held.set(event.pointerId, now);
    wandered += Math.hypot(now.x - before.x, now.y - before.y);
    if (wandered <= STILL) return undefined;
    if (!other) return moves.move(now.x - before.x, now.y - before.y);
    const apart = Math.hypot(before.x - other.x, before.y - other.y) || 1;
    moves.zoom(Math.hypot(now.x - other.x, now.y - other.y) / apart, (now.x + other.x) / 2, (now.y + other.y) / 2);
    return moves.move((now.x - before.x) / 2, (now.y - before.y) / 2);
  });
  place.addEventListener("pointerup", (event) => {
    const wasHeld = held.delete(event.pointerId), now = at(event, place);
    if (wasHeld && !held.size && wandered <= STILL) moves.press(now.x, now.y);
  });
  place.addEventListener("pointercancel", (event) => held.delete(event.pointerId));
  place.addEventListener("pointerleave", () => moves.leave());
  place.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const now = at(event, place);
    moves.zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 120), now.x, now.y);
  }, { passive: false });
}

/** @param {MouseEvent} event @param {HTMLElement} place */
function at(event, place) {
  const { left, top } = place.getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top };
}
