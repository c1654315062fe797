// SPDX-License-Identifier: Apache-2.0
// The selected part of an axis, [from, to], or null for all of it; `isLog`: of a log axis, where
// steps are factors.

const LEAST = 1e-4; // share of the whole; a smaller part cannot be selected

const onLine = (isLog) => (isLog ? [Math.log, Math.exp] : [(x) => x, (x) => x]);

// The part from `from` to `to`, limited to the whole; null if that is all, or almost nothing.
export function select(whole, [from, to], isLog) {
  const [line] = onLine(isLog);
  const low = Math.max(whole[0], Math.min(from, to)), high = Math.min(whole[1], Math.max(from, to));
  const share = (line(high) - line(low)) / (line(whole[1]) - line(whole[0]));
  return high > low && share >= LEAST && share < 1 - 1e-9 ? [low, high] : null;
}

// A part `factor` times as long, which keeps `center` where it is.
export function scaled(whole, part, center, factor, isLog) {
  const [line, back] = onLine(isLog);
  const [low, high] = (part ?? whole).map(line), middle = line(center);
  const wanted = [middle - (middle - low) * factor, middle + (high - middle) * factor];
  if (factor > 1 && wanted[1] - wanted[0] >= line(whole[1]) - line(whole[0]))
    return null;
  return select(whole, wanted.map(back), isLog) ?? part;
}

// The part moved by `share` of its length, within the whole.
export function moved(whole, part, share, isLog) {
  if (!part)
    return null;
  const [line, back] = onLine(isLog);
  const [low, high] = part.map(line), [first, last] = whole.map(line);
  const by = Math.max(first - low, Math.min(last - high, share * (high - low)));
  return [back(low + by), back(high + by)];
}

/*
 * Lets the pointer select a range of a plot: a band follows it. `grid()` gives {x, y, width,
 * height} of the curves in pixels of the plot; `done(from, to)` gets the ends in pixels.
 */
export function dragging(plot, grid, done) {
  let from = null, band = null;
  const at = (event) => {
    const { x, width } = grid();
    return Math.max(x, Math.min(x + width, event.clientX - plot.getBoundingClientRect().left));
  };
  const stop = () => {
    band?.remove();
    band = null;
    from = null;
  };
  plot.addEventListener('pointerdown', (event) => {
    if (event.button === 0 && grid() && !event.target.closest('button'))
      from = at(event);
  });
  plot.addEventListener('pointermove', (event) => {
    if (from === null)
      return;
    const to = at(event);
    if (!band && Math.abs(to - from) > 5) {
      band = document.createElement('div');
      band.className = 'zoom-band';
      plot.append(band);
      plot.setPointerCapture(event.pointerId);
    }
    if (!band)
      return;
    const { y, height } = grid();
    Object.assign(band.style, { left: `${Math.min(from, to)}px`, top: `${y}px`,
      width: `${Math.abs(to - from)}px`, height: `${height}px` });
  });
  plot.addEventListener('pointerup', (event) => {
    const [start, end] = [from, at(event)], isDrag = band !== null;
    stop();
    if (isDrag)
      done(start, end);
  });
  plot.addEventListener('pointercancel', stop);
}
