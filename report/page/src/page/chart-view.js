// SPDX-License-Identifier: Apache-2.0
/*
 * A chart on the page: its controls, legend and table, and its tooltip for mouse and keyboard. It
 * is drawn when it comes near the window, and redrawn for another theme, width or state.
 */
import echarts from '../charts/echarts.js';
import { firstState } from '../charts/index.js';
import { DARK, LIGHT, PLUS, ramp, style } from '../theme.js';
import { ChartZoom } from './chart-zoom.js';
import { controlElement } from './controls.js';
import { h, longTable, scroller, svg } from './dom.js';
import { telling } from './telling.js';
import { tipPlace } from './tip-place.js';

const views = new Set();
let theme = LIGHT;

const MARKERS = { rect: 'M8 2h8v8h-8z', triangle: 'M12 1.5l4.6 8.5h-9.2z',
  diamond: 'M12 1l4.6 5l-4.6 5l-4.6-5z', roundRect: 'M8 2h8v8h-8z',
  [PLUS]: 'M10.4 1.2h3.2v3.2h3.2v3.2h-3.2v3.2h-3.2v-3.2h-3.2v-3.2h3.2z',
  circle: 'M8 6a4 4 0 1 0 8 0a4 4 0 1 0-8 0z' };

// A small line or marker of a series.
function sample(entry) {
  const look = style(theme, entry.line);
  const shape = entry.dash || (!entry.solid && look.dash);
  const dash = Array.isArray(shape) ? shape.join(' ') : 'none';
  const box = svg('svg', { width: 24, height: 12, 'aria-hidden': 'true', class: 'sample' });
  if (entry.wide)
    box.append(svg('rect', { x: 1, y: 1, width: 22, height: 10, fill: look.color, opacity: 0.4 }));
  else if (!entry.open)
    box.append(svg('line', { x1: 1, x2: 23, y1: 6, y2: 6, stroke: look.color, 'stroke-width': 2,
      'stroke-dasharray': dash }));
  else
    box.append(svg('path', { d: MARKERS[entry.marker ?? look.symbol] ?? MARKERS.circle,
      fill: 'none', stroke: look.color, 'stroke-width': 1.8 }));
  return box;
}

function tipElement(tip) {
  return h('div', { class: 'tip' }, h('div', { class: 'tip-head' }, tip.head),
    h('table', {}, h('tbody', {}, tip.rows.map((row) => h('tr', {},
      h('td', {}, row.line === undefined ? '' : sample(row)), h('td', {}, row.name),
      h('td', { class: 'number' }, row.value))))));
}

const tipText = (tip) => `${tip.head}: ${tip.rows.map(({ name, value }) =>
  `${name} ${value}`.trim()).join('; ')}`;

export class ChartView {
  constructor(chart) {
    this.chart = chart;
    this.state = firstState(chart);
    this.hidden = new Set();
    this.searches = {}; // the text of the search in long lists
    this.stop = -1;
    this.element = this.build();
    views.add(this);
    watcher.observe(this.plot);
    resizer.observe(this.plot);
  }

  build() {
    const { chart } = this;
    const id = `chart-${chart.id}`;
    this.said = h('p', { class: 'visually-hidden', 'aria-live': 'polite' });
    this.legend = h('div', { class: 'legend' });
    this.caption = h('p', { class: 'caption' });
    this.plot = h('div', { class: 'plot', tabindex: '0', role: 'group', id: `${id}-plot`,
      'aria-roledescription': 'chart', 'aria-label': `${chart.title}, chart`,
      'aria-describedby': `${id}-help`, onkeydown: (event) => this.onKey(event),
      onblur: () => this.hideTip() });
    this.data = h('details', { class: 'data', ontoggle: () => this.fillTable() },
      h('summary', {}, 'Data as a table'), h('div', {}));
    this.controls = h('div', { class: 'controls' });
    this.fillControls();
    this.fillCaption();
    this.zoom = new ChartZoom(this, views);
    const help = h('p', { class: 'visually-hidden', id: `${id}-help` },
      `Arrow keys read the values; Escape leaves them.${this.zoom.isOffered
        ? ' Plus and minus zoom, Shift with an arrow key moves, 0 shows all.' : ''}${chart.small
        ? '' : ' The data is below as a table.'}`);
    if (chart.small)
      return h('figure', { class: 'chart small', id, 'aria-label': chart.title }, this.plot,
        this.names(), help, this.said);
    if (chart.tableOpen)
      this.data.open = true;
    return h('figure', { class: 'chart', id },
      h('figcaption', {}, chart.heading !== false && h('h3', {}, chart.title),
        chart.caption && this.caption),
      this.controls, this.legend, this.plot, help, this.said, this.data);
  }

  // The legend of a small chart: only names, not too many, and the published series in one of them.
  names(most = 6) {
    const all = this.chart.legend?.(this.state) || [];
    const published = all.find(({ open }) => open);
    const entries = [...all.filter(({ open }) => !open),
      ...(published ? [{ ...published, name: 'published' }] : [])];
    return h('div', { class: 'legend names' }, entries.slice(0, most).map((entry) =>
      h('span', {}, sample(entry), entry.name)), entries.length > most
      && h('span', {}, `and ${entries.length - most} more`));
  }

  fillControls() {
    const { chart, state } = this;
    this.controls.replaceChildren(...(chart.controls ?? [])
      .map((control) => ({ ...control, options: typeof control.options === 'function'
        ? control.options(state) : control.options }))
      .filter((control) => control.options.length > 1 && (control.visible?.(state) ?? true))
      .map((control) => {
        const set = (value) => {
          const before = state[control.key];
          state[control.key] = value;
          chart.settle?.(state, control.key, before);
          this.changed(control.key);
        };
        return controlElement(`${chart.id}-${control.key}`, control, state[control.key], set,
          this.searches);
      }));
  }

  changed(key) {
    const focused = document.activeElement;
    const [name, value] = [focused?.name, focused?.value];
    this.stop = -1;
    this.zoom.axisChanged();
    this.fillControls();
    // The controls were made again: the control that had the focus gets it back.
    if (name?.startsWith(`${this.chart.id}-${key}`))
      [...this.controls.querySelectorAll('select, input')].find((element) => element.name === name
        && (element.type !== 'radio' || element.value === value))?.focus();
    this.draw();
    if (this.data.open)
      this.fillTable();
    this.onset?.(key, this.state[key]);
  }

  // Takes over the choices of another chart.
  follow(key, value) {
    const before = this.state[key];
    this.state[key] = value;
    this.chart.settle?.(this.state, key, before);
    this.stop = -1;
    this.zoom.axisChanged();
    this.fillControls();
    if (this.picture)
      this.draw();
    else
      this.fillCaption();
    this.fillTable();
  }

  // Other scales change the whole of the axis, so the selection is cleared.
  rescale(state) {
    Object.assign(this.state, state);
    this.stop = -1;
    this.zoom.part = null;
    if (this.picture)
      this.draw();
    this.fillTable();
  }

  fillLegend() {
    const { chart } = this;
    const entries = chart.legend?.(this.state) || [];
    const buttons = entries.map((entry) => h('button', { type: 'button',
      'aria-pressed': String(!this.hidden.has(entry.name)), title: 'show or hide',
      ...(chart.looks ? { onpointerenter: () => this.look(entry.name),
        onpointerleave: () => this.look(null), onfocus: () => this.look(entry.name),
        onblur: () => this.look(null) } : {}),
      onclick: (event) => {
        if (!this.hidden.delete(entry.name))
          this.hidden.add(entry.name);
        event.currentTarget.setAttribute('aria-pressed', String(!this.hidden.has(entry.name)));
        this.draw(true);
      } }, sample(entry), entry.name));
    const ends = typeof chart.ramp === 'function' ? chart.ramp(this.state) : chart.ramp;
    const scale = ends && h('span', { class: 'ramp' }, ends.low,
      h('span', { class: 'ramp-bar', style: { background: `linear-gradient(to right, ${
        [0, 0.25, 0.5, 0.75, 1].map((share) => ramp(theme, share)).join(',')})` } }),
      ends.high);
    const title = buttons.length > 0 && chart.legendTitle?.(this.state);
    this.legend.replaceChildren(...(title ? [h('span', { class: 'legend-title' }, title)] : []),
      ...buttons, ...(scale ? [scale] : []));
  }

  // The series that has the pointer or the focus in the legend is highlighted.
  look(name) {
    const looked = name !== null && !this.hidden.has(name) ? name : null;
    if (looked === this.looked || !this.picture)
      return;
    this.looked = looked;
    this.draw(true);
  }

  // `sameLegend`: the button that was pressed keeps the focus.
  draw(sameLegend = false) {
    const { chart, state } = this;
    const width = Math.max(240, Math.floor(this.plot.clientWidth || this.width || 640));
    const height = chart.height(width, state) * (chart.small && !chart.rows ? 0.85 : 1);
    this.width = width;
    this.plot.style.height = `${height}px`;
    this.picture ??= echarts.init(this.plot, null, { renderer: 'svg', width, height });
    this.picture.resize({ width, height });
    const option = chart.option({ theme, width, print: false, hidden: this.hidden,
      zoom: this.zoom.part, looked: this.hidden.has(this.looked) ? null : this.looked }, state);
    option.series = option.series.filter(({ of, name }) => !this.hidden.has(of ?? name));
    option.tooltip = { ...option.tooltip, confine: true, transitionDuration: 0, borderWidth: 0,
      padding: 0, backgroundColor: 'transparent', extraCssText: 'box-shadow:none',
      formatter: (found) => this.tipOf(found),
      ...(this.along() === 'item' ? {}
        : { confine: false, position: (...at) => this.tipAt(...at) }) };
    this.picture.setOption(option, true);
    this.zoom.drawn(option.xAxis);
    if (!sameLegend)
      this.fillLegend();
    this.fillCaption();
  }

  fillCaption() {
    const { caption } = this.chart;
    const print = document.documentElement.classList.contains('printing');
    this.caption.textContent = typeof caption === 'function'
      ? caption(this.state, { print, hidden: this.hidden }) : caption;
  }

  along() {
    const { along } = this.chart;
    return typeof along === 'function' ? along(this.state) : along;
  }

  // The area of the curves, in pixels of the plot.
  grid() {
    return this.picture?.getModel().getComponent('grid').coordinateSystem.getRect();
  }

  tipAt(pointer, found, element, rect, { contentSize }) {
    const { y, height } = this.grid(), { top } = this.plot.getBoundingClientRect();
    const bar = document.querySelector('.top')?.getBoundingClientRect().bottom ?? 0;
    return tipPlace({ pointer, tip: contentSize, width: this.width, rows: this.chart.rows,
      grid: { top: y, bottom: y + height + 46 },
      seen: { top: bar - top, bottom: innerHeight - top } });
  }

  // The stops of the arrow keys in the shown part.
  stops() {
    return this.zoom.among(this.chart.stops(this.state, this.zoom.part));
  }

  say(text) {
    this.said.textContent = text;
  }

  tipOf(found) {
    const item = Array.isArray(found) ? found[0] : found;
    if (!item)
      return '';
    const tip = this.along() === 'item'
      ? this.chart.tip(this.state, item.value ?? item.data, item.seriesIndex)
      : this.chart.tip(this.state, item.axisValue);
    tip.rows = tip.rows.filter(({ name }) => !this.hidden.has(name));
    return tipElement(tip);
  }

  onKey(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10,
      PageUp: -10 }[event.key];
    if (event.key === 'Escape')
      return this.hideTip();
    if (!event.ctrlKey && !event.altKey && !event.metaKey
        && this.zoom.onKey(event, this.stops()[this.stop]?.x)) {
      event.preventDefault();
      return undefined;
    }
    if ((!step && event.key !== 'Home' && event.key !== 'End') || event.ctrlKey || event.altKey
        || event.metaKey)
      return undefined;
    const stops = this.stops();
    event.preventDefault();
    if (stops.length === 0)
      return undefined;
    const { row, column } = stops[Math.max(0, this.stop)];
    const turned = { ArrowDown: row + 1, ArrowUp: row - 1 }[event.key];
    const next = row !== undefined && turned !== undefined && this.stop >= 0
      ? stops.findIndex((stop) => stop.row === turned && stop.column === column) : this.stop + step;
    this.stop = event.key === 'Home' ? 0 : event.key === 'End' ? stops.length - 1
      : next < 0 ? Math.max(0, this.stop) : Math.min(stops.length - 1, next);
    return this.showStop(stops[this.stop], stops.length);
  }

  showStop(stop, count) {
    const tip = this.chart.tip(this.state, stop.at, stop.series);
    this.say(`${tipText(tip)} (${this.stop + 1} of ${count})`);
    if (!this.picture)
      this.draw();
    if (stop.series !== undefined) {
      this.picture.dispatchAction({ type: 'showTip', seriesIndex: stop.series,
        dataIndex: stop.index });
      return;
    }
    const [x, y] = this.picture.convertToPixel({ gridIndex: 0 }, [stop.x, stop.y]);
    this.picture.dispatchAction({ type: 'showTip', x, y });
  }

  hideTip() {
    this.stop = -1;
    this.say('');
    this.picture?.dispatchAction({ type: 'hideTip' });
  }

  fillTable() {
    if (!this.data.open)
      return;
    const { note, ...table } = telling(this.chart.table(this.state));
    this.data.lastElementChild.replaceChildren(scroller(`${this.chart.title}, data`,
      longTable(table)), ...(note ? [h('p', { class: 'caption' }, note)] : []));
  }
}

const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const view = [...views].find(({ plot }) => plot === target);
    if (isIntersecting && !view.picture)
      view.draw();
  }
}, { rootMargin: '400px' });

// Charts that were drawn are redrawn when their width changes, or when they are shown again.
const resizer = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const view = [...views].find(({ plot }) => plot === target);
    if (view.picture && target.clientWidth > 0 && target.clientWidth !== view.width)
      view.draw();
  }
});

export function useTheme(name) {
  theme = name === 'dark' ? DARK : LIGHT;
  for (const view of views)
    if (view.picture)
      view.draw();
    else
      view.fillLegend();
}

export function drawAll() {
  for (const view of views) {
    view.looked = null;
    view.draw();
  }
}
