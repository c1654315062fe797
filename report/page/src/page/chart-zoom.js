// SPDX-License-Identifier: Apache-2.0
// The shown part of a chart's horizontal axis. It is selected by dragging or by keys, and cleared
// by a button, a double click or 0. Charts over time in one document show the same part.
import * as format from '../format.js';
import { h } from './dom.js';
import { dragging, moved, scaled, select } from './zoom.js';

export class ChartZoom {
  // `view`: the chart; `views`: all charts of the page.
  constructor(view, views) {
    this.view = view;
    this.views = views;
    this.part = null; // [from, to], or all of it
    this.bar = h('div', { class: 'zoomed' });
    view.plot.append(this.bar);
    if (!this.isOffered)
      return;
    view.plot.classList.add('zooms');
    dragging(view.plot, () => this.isPossible && view.grid(), (from, to) => {
      const value = (x) => view.picture.convertFromPixel({ gridIndex: 0 }, [x, view.grid().y])[0];
      const part = select(this.whole, [value(from), value(to)], this.isLog);
      if (part)
        this.show(part);
    });
    view.plot.addEventListener('dblclick', () => this.part && this.show(null));
  }

  get isOffered() {
    return Boolean(this.view.chart.zooms && !this.view.chart.small);
  }

  get isTime() {
    return this.isOffered && this.view.chart.zooms === 'time';
  }

  // An axis of names has no parts.
  get isPossible() {
    return this.isOffered && this.axis?.max > this.axis?.min;
  }

  get isLog() {
    return this.axis.type === 'log';
  }

  // To be called after the chart was drawn with this axis.
  drawn(axis) {
    this.axis = axis;
    if (!this.part)
      this.whole = [axis.min, axis.max];
    this.fill();
  }

  // Another axis has other parts; the part of time stays.
  axisChanged() {
    if (!this.isTime)
      this.part = null;
  }

  show(part) {
    const panel = this.view.element.closest('.panel');
    const together = this.isTime && panel ? [...this.views].filter((view) =>
      view.zoom.isTime && panel.contains(view.element)) : [this.view];
    for (const view of together) {
      view.zoom.part = part;
      if (view.picture)
        view.draw(true);
    }
    this.view.say(part ? `From ${this.text(part[0])} to ${this.text(part[1])}` : 'All is shown');
  }

  text(value) {
    const { chart, state } = this.view;
    return format.value(value, chart.zoomUnit?.(state) ?? 'ratio');
  }

  fill() {
    if (!this.isPossible) {
      this.bar.replaceChildren();
      return;
    }
    const all = () => {
      this.show(null);
      this.view.plot.focus({ preventScroll: true });
    };
    const had = this.bar.contains(document.activeElement);
    this.bar.replaceChildren(this.part
      ? h('button', { type: 'button', class: 'quiet', onclick: all }, 'Show all')
      : h('span', { 'aria-hidden': 'true' }, 'drag to zoom'));
    if (had)
      this.bar.querySelector('button')?.focus();
  }

  // Plus and minus zoom about `at`, or the middle. Shift with an arrow moves. 0 clears. Returns
  // true for one of these keys.
  onKey(event, at) {
    if (!this.isPossible)
      return false;
    const [from, to] = this.part ?? this.whole;
    const middle = this.isLog ? Math.sqrt(from * to) : (from + to) / 2;
    const by = { ArrowRight: 0.25, ArrowLeft: -0.25 }[event.shiftKey ? event.key : ''];
    const factor = { '+': 0.5, '=': 0.5, '-': 2, _: 2 }[event.key];
    if (event.key !== '0' && !by && !factor)
      return false;
    this.view.hideTip();
    this.show(by ? moved(this.whole, this.part, by, this.isLog)
      : factor ? scaled(this.whole, this.part, at >= from && at <= to ? at : middle, factor,
        this.isLog) : null);
    return true;
  }

  // The stops of the arrow keys that are in the part.
  among(stops) {
    if (!this.part)
      return stops;
    const [from, to] = this.part;
    return stops.filter(({ x, at }) => (x === undefined ? at[1] >= from && at[0] <= to
      : x >= from && x <= to));
  }
}
