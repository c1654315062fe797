// SPDX-License-Identifier: Apache-2.0
/*
 * Where a tooltip stands: not on the curves that it explains. It is above them, else below, else at
 * the side that the pointer is not at. That of a row of bars is just below the row.
 */

const GAP = 6;

const within = (value, low, high) => Math.max(low, Math.min(value, high));

/*
 * All in pixels of the plot: `pointer` and `tip` as [x, y] and [width, height]; `width` of the
 * plot; `grid`: {top, bottom} of the curves; `seen`: {top, bottom} of what the window shows.
 */
export function tipPlace({ pointer: [x, y], tip: [wide, high], width, grid, seen, rows }) {
  const left = within(x - wide / 2, 0, Math.max(0, width - wide));
  if (rows)
    return [within(x + 16, 0, Math.max(0, width - wide)), y + 18];
  if (grid.top - GAP - high >= seen.top)
    return [left, grid.top - GAP - high];
  if (grid.bottom + GAP + high <= seen.bottom)
    return [left, grid.bottom + GAP];
  return [x < width / 2 ? Math.max(0, width - wide) : 0, grid.top];
}
