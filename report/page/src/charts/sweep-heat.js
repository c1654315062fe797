// SPDX-License-Identifier: Apache-2.0
/*
 * A sweep as a heat map: a cell for each two values of two axes, a panel for each value of a third.
 * All panels share one scale of colours, which is logarithmic where values span decades. Values
 * stand in the cells if there is room for all of them.
 */
import * as format from '../format.js';
import { FONT, ramp } from '../theme.js';
import { extent, isNarrow } from './axis.js';
import { base } from './base.js';
import { estimate, initial, metricOptions } from './sweep.js';
import { shortKeys, shortValues, valueName } from './sweep-names.js';
import { textWidth } from './text-width.js';

const DECADES = 30; // largest over smallest; from there on the colours are initially logarithmic
const SMALL = 11; // pixels of the letters at axes and in cells
const CELL = 30; // least height of a cell with a value in it, in pixels
const GAP = 18; // between panels
const RAMP = 20; // height of the colour legend in a picture

const axisOf = (sweep, state, key) => Number(state[key]);

// The initial axes: numbers along x as in the lines, the next along y, then panels.
function first(sweep) {
  const { metric, x, lines } = initial(sweep);
  const rest = sweep.axes.map((_, i) => String(i)).filter((i) => i !== x && i !== lines)
    .sort((a, b) => sweep.axes[b].values.length - sweep.axes[a].values.length);
  const panels = rest.find((i) => sweep.axes[i].values.length > 1) ?? '-1';
  return { metric, x, y: lines, panels };
}

// The cells of a state: [{combination, column, row, panel, …estimate}].
export function heatCells(sweep, state) {
  const metric = sweep.metrics[Number(state.metric)];
  const [x, y, panels] = ['x', 'y', 'panels'].map((key) => axisOf(sweep, state, key));
  return sweep.done.flatMap((_, combination) => {
    const at = (i) => sweep.combinations[i][combination];
    const isShown = sweep.axes.every((_axis, i) => i === x || i === y || i === panels
      || at(i) === Number(state[`at${i}`]));
    const known = isShown ? estimate(sweep, metric, combination, 'interval') : null;
    return known ? [{ ...known, combination, column: at(x), row: at(y),
      panel: panels < 0 ? 0 : at(panels) }] : [];
  }).sort((a, b) => a.panel - b.panel || a.row - b.row || a.column - b.column);
}

// The mapping of values to colours: {low, high, isLog, canBeLog, share(value)}.
export function heatScale(values, wanted) {
  const [low, high] = extent(values) ?? [0, 0];
  const canBeLog = low > 0 && high > low;
  const isLog = canBeLog && (wanted === 'log' || (wanted === 'auto' && high / low >= DECADES));
  const of = isLog ? Math.log : (value) => value;
  return { low, high, isLog, canBeLog,
    share: (value) => (high > low ? (of(value) - of(low)) / (of(high) - of(low)) : 0.5) };
}

// Black or white letters, by the higher contrast with a colour "rgb(r,g,b)".
export function lettersOn(color) {
  const [r, g, b] = color.match(/\d+/g).map((part) => {
    const c = Number(part) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return 1.05 / (light + 0.05) > (light + 0.05) / 0.05 ? '#ffffff' : '#000000';
}

/*
 * The place of panels and cells, in pixels: {panels: [{x, y, title}], cellWidth, cellHeight,
 * height, …}. Panels are side by side while their values have room, else one below the other.
 */
export function heatLayout(sweep, state, context, texts) {
  const [x, y, panels] = ['x', 'y', 'panels'].map((key) => axisOf(sweep, state, key));
  const columns = shortValues(sweep.axes[x]), rows = shortValues(sweep.axes[y]);
  const keys = shortKeys(sweep.axes);
  const titles = panels < 0 ? [''] : sweep.axes[panels].values.map((_, i) =>
    valueName(sweep, panels, i, ' = '));
  const left = Math.min(isNarrow(context) ? 90 : 170,
    Math.max(...rows.map((text) => textWidth(text, SMALL))) + 8);
  const right = 6, room = context.width - left - right;
  const wide = Math.max(24, ...texts.map((text) => textWidth(text, SMALL) + 8));
  const beside = Math.max(1, Math.min(titles.length,
    Math.floor((room + GAP) / (columns.length * wide + GAP))));
  const cellWidth = Math.min(120, (room - GAP * (beside - 1)) / beside / columns.length);
  const hasTexts = cellWidth >= wide;
  const cellHeight = rows.length <= 12 ? CELL : Math.max(hasTexts ? 16 : 8, 360 / rows.length);
  const top = panels < 0 ? 26 : 44, below = 38;
  const panelHeight = top + rows.length * cellHeight + below;
  const places = titles.map((title, i) => ({ title,
    x: left + (i % beside) * (columns.length * cellWidth + GAP),
    y: Math.floor(i / beside) * panelHeight + top, isFirst: i % beside === 0 }));
  return { places, columns, rows, left, cellWidth, cellHeight, hasTexts,
    xName: keys[x], yName: keys[y], height: Math.ceil(titles.length / beside) * panelHeight };
}

// Cuts a text that has no room.
function cut(text, room) {
  if (textWidth(text, SMALL) <= room)
    return text;
  let length = text.length;
  while (length > 1 && textWidth(`${text.slice(0, length)}…`, SMALL) > room)
    length--;
  return `${text.slice(0, length)}…`;
}

// The labels around the cells: names of panels, axes and values.
function frame(context, layout, offset, name) {
  const { theme } = context, { columns, rows, cellWidth, cellHeight, left } = layout;
  const text = (words, x, y, more = {}) => ({ type: 'text', silent: true, style: { text: words, x,
    y: y + offset, fill: theme.muted, fontSize: SMALL, fontFamily: FONT, ...more } });
  // As many names below the cells as have room: all, or every second, third, …
  const widest = Math.max(...columns.map((name) => textWidth(name, SMALL))) + 6;
  const every = Math.ceil(Math.min(widest, 120) / cellWidth);
  const heading = context.print ? [text(name, 0, 4 - offset, { verticalAlign: 'top' })] : [];
  return heading.concat(layout.places.flatMap(({ title, x, y, isFirst }) => {
    const bottom = y + rows.length * cellHeight, middle = x + columns.length * cellWidth / 2;
    return [
      ...(title ? [text(cut(title, columns.length * cellWidth), x, y - 26,
        { fill: theme.text, fontSize: 12, fontWeight: 600, verticalAlign: 'bottom' })] : []),
      ...(isFirst ? [text(layout.yName, 0, y - 8, { verticalAlign: 'bottom' }),
        ...rows.map((name, i) => text(cut(name, left - 8), x - 8, y + (i + 0.5) * cellHeight,
          { align: 'right', verticalAlign: 'middle' }))] : []),
      ...columns.map((name, i) => (i % every === 0
        ? text(cut(name, every * cellWidth), x + (i + 0.5) * cellWidth, bottom + 5,
          { align: 'center', verticalAlign: 'top' }) : null)).filter(Boolean),
      text(layout.xName, middle, bottom + 21, { align: 'center', verticalAlign: 'top' }),
    ];
  }));
}

const axisOptions = (sweep) => sweep.axes.map(({ key }, i) => [String(i), key]);

function controls(sweep, state) {
  const free = (now, ...keys) => axisOptions(sweep).filter(([i]) =>
    keys.every((key) => now[key] !== i));
  return [
    { key: 'metric', label: 'Metric', options: metricOptions(sweep), value: state.metric,
      search: true },
    { key: 'x', label: 'Along x', value: state.x, options: axisOptions(sweep) },
    { key: 'y', label: 'Along y', value: state.y, options: (now) => free(now, 'x') },
    { key: 'panels', label: 'A panel for each', value: state.panels,
      options: (now) => [['-1', 'none'], ...free(now, 'x', 'y')] },
    ...sweep.axes.map(({ key, values }, i) => ({ key: `at${i}`, label: key, value: '0',
      options: values.map((value, k) => [String(k), value]),
      visible: (now) => ![now.x, now.y, now.panels].includes(String(i)) })),
    { key: 'colour', label: 'Colours', value: 'auto', visible: (now) =>
      heatScale(heatCells(sweep, now).map(({ mean }) => mean), 'auto').canBeLog,
    options: [['auto', 'by range'], ['linear', 'linear'], ['log', 'log']] },
  ];
}

// After a change no two of them are the same axis: the other one gets the free axis.
function settle(sweep, state, key, before) {
  if (!['x', 'y', 'panels'].includes(key))
    return;
  for (const other of ['x', 'y', 'panels'])
    if (other !== key && state[other] === state[key] && state[key] !== '-1')
      state[other] = before;
  if (state.y === '-1')
    state.y = axisOptions(sweep).map(([i]) => i).find((i) => i !== state.x && i !== state.panels);
}

export function sweepHeat(sweep, id) {
  const varied = sweep.axes.filter(({ values }) => values.length > 1);
  if (sweep.kind !== 'sweep' || sweep.zipped || varied.length < 2 || sweep.metrics.length === 0)
    return null;
  const start = first(sweep), keys = shortKeys(sweep.axes);
  const metricOf = (state) => sweep.metrics[Number(state.metric)];
  const value = (state, number) => format.value(number, metricOf(state).unit);
  const scaleOf = (state) => heatScale(heatCells(sweep, state).map(({ mean }) => mean),
    state.colour);
  const layoutOf = (state, context) => heatLayout(sweep, state, context,
    heatCells(sweep, state).map(({ mean }) => value(state, mean)));
  const nameOf = ({ combination }, ...axes) => axes.filter((i) => i >= 0).map((i) =>
    `${keys[i]} = ${sweep.axes[i].values[sweep.combinations[i][combination]]}`).join(', ');

  return {
    id, title: 'Heat map', along: 'item', rows: true,
    caption: (state) => {
      const { help, name } = metricOf(state), { isLog } = scaleOf(state);
      return `${name}${help ? `: ${help}` : ''}. The mean over the seeds of each combination; the `
        + `stronger the colour, the larger${isLog ? ', on a logarithmic scale' : ''}.`;
    },
    controls: controls(sweep, start),
    settle: (state, key, before) => settle(sweep, state, key, before),
    height: (width, state) => layoutOf(state, { width }).height + RAMP,
    ramp: (state) => {
      const { low, high } = scaleOf(state);
      return { low: value(state, low), high: value(state, high) };
    },
    option(context, state) {
      const cells = heatCells(sweep, state), scale = scaleOf(state);
      const layout = layoutOf(state, context), { cellWidth, cellHeight } = layout;
      const offset = context.print ? RAMP : 0; // the ramp is in the picture
      const data = cells.map((cell) => [cell.panel, cell.row, cell.column, cell.combination,
        cell.mean]);
      const hidden = { show: false, type: 'value', min: 0, max: 1 };
      return base(context, {
        ramp: this.ramp(state), grid: { left: 0, right: 0, top: 0, bottom: 0 },
        tooltip: { trigger: 'item' }, xAxis: hidden, yAxis: hidden,
        series: [{
          type: 'custom', coordinateSystem: 'none', data,
          renderItem(params, api) {
            const [panel, row, column, , mean] = [0, 1, 2, 3, 4].map((i) => api.value(i));
            const place = layout.places[panel], fill = ramp(context.theme, scale.share(mean));
            const x = place.x + column * cellWidth, y = place.y + row * cellHeight + offset;
            return { type: 'rect',
              shape: { x: x + 0.5, y: y + 0.5, width: cellWidth - 1, height: cellHeight - 1 },
              style: { fill },
              ...(layout.hasTexts && cellHeight >= 16 ? { textContent: { type: 'text', style: {
                text: value(state, mean), fill: lettersOn(fill), fontSize: SMALL,
                fontFamily: FONT } }, textConfig: { position: 'inside' } } : {}) };
          },
        }, {
          type: 'custom', coordinateSystem: 'none', data: [0], silent: true, z: 0,
          tooltip: { show: false },
          renderItem: () => ({ type: 'group', children: frame(context, layout, offset,
            metricOf(state).name) }),
        }],
      });
    },
    tip(state, at) {
      const cell = heatCells(sweep, state).find(({ combination }) => combination === at[3]);
      const rows = [{ name: metricOf(state).name, value: value(state, cell.mean) }];
      if (cell.count > 1)
        rows.push({ name: '95 % interval', value: `${value(state, cell.low)} to `
          + value(state, cell.high) }, { name: 'least to largest',
          value: `${value(state, cell.least)} to ${value(state, cell.most)}` });
      rows.push({ name: 'runs', value: format.grouped(cell.count) });
      return { head: nameOf(cell, ...sweep.axes.map((_, i) => i)), rows };
    },
    stops: (state) => {
      const rows = sweep.axes[axisOf(sweep, state, 'y')].values.length;
      return heatCells(sweep, state).map((cell, index) => ({ series: 0, index,
        row: cell.panel * rows + cell.row, column: cell.column,
        at: [cell.panel, cell.row, cell.column, cell.combination, cell.mean] }));
    },
    table(state) {
      const cells = heatCells(sweep, state);
      const [x, y, panels] = ['x', 'y', 'panels'].map((key) => axisOf(sweep, state, key));
      const lines = new Map();
      for (const cell of cells) {
        const number = `${cell.panel} ${cell.row}`;
        lines.set(number, [...(lines.get(number) ?? []), cell]);
      }
      return {
        columns: [...(panels < 0 ? [] : [sweep.axes[panels].key]), sweep.axes[y].key,
          ...sweep.axes[x].values.map((name) => `${keys[x]} = ${name}`)],
        rows: [...lines.values()].map((line) => [
          ...(panels < 0 ? [] : [sweep.axes[panels].values[line[0].panel]]),
          sweep.axes[y].values[line[0].row], ...sweep.axes[x].values.map((_, column) => {
            const cell = line.find((one) => one.column === column);
            return cell ? value(state, cell.mean) : '–';
          })]),
      };
    },
  };
}
