// SPDX-License-Identifier: Apache-2.0
// The scales of a document's charts: shared by its runs or each chart's own, and the shown part of
// the time. Each section with such charts has the choice, which is the same in all of them.
import { sharedScale } from '../charts/shared-scale.js';
import { controlElement } from './controls.js';
import { h } from './dom.js';

const TRUE = 'yes', FALSE = 'no';

// `charts`: true if several charts share their scales.
export class DocumentScale {
  constructor(id, runs, charts) {
    const { several, isCut } = sharedScale(runs);
    this.id = id;
    this.state = { own: false, whole: false };
    this.views = [];
    this.places = [];
    this.offered = [
      several && charts && { key: 'own', label: 'Scales', options: [
        [FALSE, 'shared by all runs'], [TRUE, 'own scale']] },
      isCut && { key: 'whole', label: 'Time', options: [
        [FALSE, 'to the last start'], [TRUE, 'all']] },
    ].filter(Boolean);
  }

  // The charts of a document follow its choice.
  add(view) {
    this.views.push(view);
    Object.assign(view.state, this.state);
    return view;
  }

  // The choice, for one more section; null if there is no choice.
  element() {
    if (this.offered.length === 0)
      return null;
    const place = h('div', { class: 'controls scales' });
    this.places.push(place);
    this.fill(place, this.places.length);
    return place;
  }

  fill(place, number) {
    place.replaceChildren(...this.offered.map((control) => controlElement(
      `${this.id}-${control.key}-${number}`, control, this.state[control.key] ? TRUE : FALSE,
      (value) => this.set(control.key, value === TRUE), {})));
  }

  set(key, value) {
    const { name, value: chosen } = document.activeElement ?? {};
    this.state[key] = value;
    this.places.forEach((place, i) => this.fill(place, i + 1));
    [...document.querySelectorAll('.scales input')].find((input) => input.name === name
      && input.value === chosen)?.focus();
    for (const view of this.views)
      view.rescale(this.state);
  }
}
