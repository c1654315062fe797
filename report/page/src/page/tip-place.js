// SPDX-License-Identifier: Apache-2.0
/*
 * The place of a tooltip: not on the curves that it explains. It is above them, else below, else on
 * the side away from the pointer. With many rows it is just below the row.
 */

const GAP = 8; // also for half a marker at their edge
const FAR = 160; // from the row that is pointed at

const within = (value, low, high) => Math.max(low, Math.min(value, high));

/*
 * All in pixels of the plot: `pointer` and `tip` as [x, y] and [width, height]; `width` of the
 * plot; `grid`: {top, bottom} of the curves; `seen`: {top, bottom} of what the window shows.
 */
export function tipPlace({ pointer: [x, y], tip: [wide, high], width, grid, seen, rows }) {
  const left = within(x - wide / 2, 0, Math.max(0, width - wide));
  const above = { top: grid.top - GAP - high, far: y - grid.top };
  const below = { top: grid.bottom + GAP, far: grid.bottom - y };
  const fitting = [above, below].filter(({ top }) => top >= seen.top && top + high <= seen.bottom);
  if (rows && !fitting.some(({ far }) => far <= FAR))
    return [within(x + 16, 0, Math.max(0, width - wide)), y + 18];
  if (rows)
    fitting.sort((a, b) => a.far - b.far);
  if (fitting.length > 0)
    return [left, fitting[0].top];
  return [x < width / 2 ? Math.max(0, width - wide) : 0, grid.top];
}
