// SPDX-License-Identifier: Apache-2.0
/*
 * What the ranks of a job did: a row for each rank. In each column of time the parts of the row's
 * height are the shares of that time. On the page the rows are a picture of pixels, because a large
 * job has tens of thousands of columns; in an SVG file a path for each activity.
 */
import * as format from '../format.js';
import { style } from '../theme.js';
import { axis, isNarrow } from './axis.js';
import { base, legend } from './base.js';
import { drainSeries, sharedScale } from './shared-scale.js';
import { textWidth } from './text-width.js';

// Name, and the number of its colour, in the order of a cell's shares.
const ACTIVITIES = [['calculates', 0], ['sends', 1], ['receives', 2], ['waits', 6]];
const CELL = 2 + ACTIVITIES.length; // numbers of a cell: from, to, shares in per cent
const MOST_ITEMS = 4000; // parts of rows that have a tip

const rowSize = (count) => Math.max(3, Math.min(16, Math.floor(620 / count)));
const partsOf = (count) => Math.max(8, Math.min(96, Math.floor(MOST_ITEMS / count)));

// Calls `draw(row, from, to, shares)` for each cell in a part of the time.
function eachCell({ timeline, rows }, [first, last], draw) {
  const { start_s: start, step_s: step } = timeline;
  rows.forEach(({ cells }, row) => {
    for (let i = 0; i < cells.length; i += CELL) {
      const from = start + cells[i] * step, to = start + cells[i + 1] * step;
      if (to > first && from < last)
        draw(row, Math.max(from, first), Math.min(to, last), cells.slice(i + 2, i + CELL));
    }
  });
}

// The mean shares of a row in parts of equal length: [{from, to, row, shares}].
function itemsOf(line, [first, last]) {
  const count = partsOf(line.rows.length), length = (last - first) / count;
  const parts = line.rows.map(() => Array.from({ length: count }, () => null));
  eachCell(line, [first, last], (row, from, to, shares) => {
    const end = Math.min(count, Math.ceil((to - first) / length - 1e-9));
    for (let i = Math.floor((from - first) / length + 1e-9); i < end; i++) {
      const begin = first + i * length;
      const time = (Math.min(to, begin + length) - Math.max(from, begin)) / length;
      parts[row][i] ??= ACTIVITIES.map(() => 0);
      shares.forEach((share, k) => { parts[row][i][k] += share / 100 * time; });
    }
  });
  return parts.flatMap((list, row) => list.map((shares, i) => shares && ({ row, shares,
    from: first + i * length, to: first + (i + 1) * length })).filter(Boolean));
}

// Rectangles of the activities that are not hidden: `put(k, x, y, width, height)`, in pixels.
function paint(line, part, hidden, place, size, put) {
  const high = size - (size > 9 ? 1 : 0);
  eachCell(line, part, (row, from, to, shares) => {
    const [x, end] = [place(from), place(to)];
    let bottom = row * size + high;
    shares.forEach((share, k) => {
      const height = share / 100 * high;
      bottom -= height;
      if (share > 0 && !hidden.has(ACTIVITIES[k][0]))
        put(k, x, bottom, end - x, height);
    });
  });
}

// The picture of all rows, which is as wide as the axis.
function canvasOf(context, line, part, { width, height }) {
  const canvas = document.createElement('canvas');
  const dense = Math.min(2, globalThis.devicePixelRatio ?? 1);
  canvas.width = Math.max(1, Math.round(width * dense));
  canvas.height = Math.max(1, Math.round(height * dense));
  const pen = canvas.getContext('2d');
  pen.scale(canvas.width / width, canvas.height / height);
  const colors = ACTIVITIES.map(([, i]) => style(context.theme, i).color);
  const [from, to] = part, place = (time) => (time - from) / (to - from) * width;
  paint(line, part, context.hidden, place, height / line.rows.length, (k, ...rectangle) => {
    pen.fillStyle = colors[k];
    pen.fillRect(...rectangle);
  });
  return canvas;
}

function picture(context, line, part) {
  return {
    type: 'custom', silent: true, z: 1, tooltip: { show: false }, data: [[part[0], 0]],
    encode: { x: 0, y: 1 },
    renderItem({ coordSys: { x, y, width, height } }) {
      return { type: 'image', style: { x, y, width, height,
        image: canvasOf(context, line, part, { width, height }) } };
    },
  };
}

// Begin and length in tenths of a pixel, without gaps to what comes next.
function short(begin, length) {
  const [from, to] = [begin, begin + length].map((value) => Math.round(value * 10));
  return [from / 10, (to - from) / 10];
}

// A path around all rectangles of activity `number`.
export function pathOf(line, part, number, { x: left, y: top, width, height }) {
  const [from, to] = part, pieces = [];
  const place = (time) => left + (time - from) / (to - from) * width;
  paint(line, part, new Set(), place, height / line.rows.length, (k, x, y, wide, high) => {
    const [[begin, length], [above, tall]] = [short(x, wide), short(top + y, high)];
    if (k === number && length > 0 && tall > 0)
      pieces.push(`M${begin} ${above}h${length}v${tall}h${-length}z`);
  });
  return pieces.join('');
}

// The same as paths, a series for each activity.
const paths = (context, line, part) => ACTIVITIES.map(([name, i], number) => ({
  type: 'custom', name, silent: true, data: [[part[0], 0]], encode: { x: 0, y: 1 },
  itemStyle: { color: style(context.theme, i).color },
  renderItem: ({ coordSys }) => ({ type: 'path',
    shape: { pathData: pathOf(line, part, number, coordSys) },
    style: { fill: style(context.theme, i).color } }),
}));

// The parts of rows that have a tip; they are not seen.
function tips(items) {
  return {
    type: 'custom', clip: true, encode: { x: [0, 1], y: 2 }, z: 2,
    data: items.map(({ from, to, row, shares }) => [from, to, row, ...shares]),
    renderItem(params, api) {
      const [x, y] = api.coord([api.value(0), api.value(2)]);
      const [end] = api.coord([api.value(1), api.value(2)]);
      const height = api.size([0, 1])[1];
      return { type: 'rect', shape: { x, y: y - height / 2, width: end - x, height },
        style: { fill: 'transparent' } };
    },
  };
}

const ORDERS = [['rank', 'by number'], ['end', 'last one first']];

const sorted = (rows, order) => (order !== 'end' ? rows
  : [...rows].sort((a, b) => (b.end_s ?? Infinity) - (a.end_s ?? Infinity) || a.rank - b.rank));

function caption({ ranks, timeline: { rows, step_s: step } }) {
  const some = rows.length < ranks ? ` ${format.grouped(rows.length)} of ${format.grouped(ranks)} `
    + 'ranks, at equal distances, and the one that ended last.' : '';
  return 'A row for each rank; the height of a colour is its share of the time. A rank calculates, '
    + 'else sends (a message is not acknowledged yet), else receives (as long as the message takes '
    + 'at the line rate), else waits. One column is '
    + `${format.time(step)}.${some}`;
}

// The chart of one job of a run; null if what its ranks did is not known.
export function ranks(run, number, job, several, shared = sharedScale([run])) {
  const { timeline } = job;
  if (!timeline || timeline.rows.length === 0)
    return null;
  const count = timeline.rows.length, size = rowSize(count);
  const end = timeline.start_s + timeline.columns * timeline.step_s;
  const line = (state) => ({ timeline, rows: sorted(timeline.rows, state.order) });
  const time = (state) => shared.time(state, [timeline.start_s, end]);
  const nameOf = ({ rank }) => `rank ${rank}${rank === job.last_rank ? ', last' : ''}`;
  const words = (values, text) => values.map((value, k) => ({ line: ACTIVITIES[k][1], wide: true,
    name: ACTIVITIES[k][0], value: text(value) })).filter((_, k) => values[k] > 0);
  const items = (state, zoom) => itemsOf(line(state), zoom ?? time(state));
  const title = `Ranks of job ${job.job}, ${job.title}`;

  return {
    id: `ranks-${number}-${job.job}`, along: 'item', zooms: 'time', zoomUnit: () => 's',
    title: several ? `${title}: ${run.label}` : title, caption: caption(job), rows: true,
    controls: [{ key: 'order', label: 'Order', options: ORDERS, value: 'rank' }],
    height: () => 72 + count * size,
    legend: () => ACTIVITIES.map(([name, i]) => ({ name, line: i, wide: true })),
    option(context, state) {
      const { theme } = context, shown = line(state), room = isNarrow(context) ? 86 : 130;
      const [from, to] = time(state), part = context.zoom ?? [from, to];
      const names = shown.rows.map(nameOf);
      return base(context, {
        legend: legend(context, this.legend()),
        grid: { left: 14 + Math.min(room, Math.max(...names.map((name) =>
          textWidth(name, 10.5)))), top: 26, outerBoundsMode: 'none' },
        tooltip: { trigger: 'item' },
        xAxis: axis(context, { name: 'time', unit: 's', values: [], from, to }),
        yAxis: { type: 'category', inverse: true, data: names, axisLine: { show: false },
          axisTick: { show: false }, axisLabel: { color: theme.muted, fontSize: 10.5, width: room,
            interval: Math.ceil(13 / size) - 1, overflow: 'truncate' } },
        series: [...(context.print ? paths(context, shown, part)
          : [tips(items(state, context.zoom)), picture(context, shown, part)]),
        ...drainSeries(context, shared.drain(state), true)],
      });
    },
    tip(state, [from, to, row, ...shares]) {
      const one = line(state).rows[row];
      return { head: `${nameOf(one)}, on ${one.host}: ${format.time(from)} to ${format.time(to)}`,
        rows: [...words(shares, format.percent), { name: 'in all', value: words(one.sums,
          format.time).map(({ name, value }) => `${name} ${value}`).join(', ') },
        { name: 'ended', value: format.value(one.end_s, 's') }] };
    },
    stops: (state, zoom) => items(state, zoom).map(({ from, to, row, shares }, index) => ({
      series: 0, index, row, at: [from, to, row, ...shares] })),
    table: (state) => ({
      columns: ['rank', 'host', ...ACTIVITIES.map(([name]) => name), 'ended'],
      rows: line(state).rows.map((one) => [nameOf(one), one.host,
        ...one.sums.map((value) => format.time(value)), format.value(one.end_s, 's')]),
    }),
  };
}
