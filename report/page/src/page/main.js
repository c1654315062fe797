// SPDX-License-Identifier: Apache-2.0
// The page: header, theme, and a tab for each document (runs of a scenario, a sweep, a figure).
import { uniqueIds } from '../charts/index.js';
import { nameRuns, runsTitle } from '../charts/run-names.js';
import { drawAll, useTheme } from './chart-view.js';
import { h } from './dom.js';
import { figurePage, overviewPage } from './figure.js';
import { runsPage } from './runs.js';
import { sweepPage } from './sweep.js';
import { scenarioName, sweepTitles } from './titles.js';

const data = JSON.parse(document.getElementById('data').textContent);

/* ---- theme ---- */

const THEMES = [['auto', 'Auto'], ['light', 'Light'], ['dark', 'Dark']];
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
let chosen = 'auto';
try {
  chosen = localStorage.getItem('oche-report-theme') ?? 'auto';
} catch { /* a page from a file may have no storage */ }

function applyTheme(printing = false) {
  const dark = !printing && (chosen === 'dark' || (chosen === 'auto' && prefersDark.matches));
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  useTheme(dark ? 'dark' : 'light');
}

function themeChoice() {
  return h('fieldset', { class: 'choice theme' },
    h('legend', { class: 'visually-hidden' }, 'Theme'),
    THEMES.map(([value, label]) => h('label', {},
      h('input', { type: 'radio', name: 'theme', value, checked: value === chosen,
        onchange: () => {
          chosen = value;
          try {
            localStorage.setItem('oche-report-theme', value);
          } catch { /* as above */ }
          applyTheme();
        } }), h('span', {}, label))));
}

prefersDark.addEventListener('change', () => applyTheme());

/* ---- what there is ---- */

const sweepTitle = sweepTitles(data.documents.filter(({ kind }) => kind === 'sweep'));

function titleOf(one) {
  if (one.kind === 'runs')
    return runsTitle(one);
  if (one.kind === 'sweep')
    return sweepTitle.get(one) === scenarioName(one) ? `Sweep of ${scenarioName(one)}`
      : sweepTitle.get(one);
  return one.info.figure || one.file.replace(/^.*\//, '').replace(/\.sqlite$/, '');
}

const pageOf = (one, id) => ({ runs: runsPage, sweep: sweepPage,
  figure: figurePage }[one.kind](one, id, data.grid, sweepTitle.get(one)));

const MOST_LINES = 2; // of tabs

// Tabs in up to two lines, or a list in their place. The focus moves along.
function fitTabs(top, bar, choice) {
  function fit() {
    const focused = document.activeElement;
    top.classList.remove('chosen');
    const tops = new Set([...bar.children].map(({ offsetTop }) => offsetTop));
    const chosen = tops.size > MOST_LINES;
    top.classList.toggle('chosen', chosen);
    top.classList.toggle('lines', !chosen && tops.size > 1);
    document.documentElement.style.scrollPaddingTop = `${top.offsetHeight + 12}px`;
    if (chosen && bar.contains(focused))
      choice.focus();
    else if (!chosen && focused === choice)
      bar.querySelector('[aria-selected=true]').focus();
  }
  let width = 0;
  new ResizeObserver(() => {
    if (top.clientWidth !== width)
      fit();
    width = top.clientWidth;
  }).observe(top);
  fit();
}

function build() {
  const ids = uniqueIds(data.documents);
  data.documents.filter(({ kind }) => kind === 'runs').forEach(({ runs }) => nameRuns(runs));
  const figures = data.documents.map((one, i) => ({ one, id: ids[i] }))
    .filter(({ one }) => one.kind === 'figure');
  const tabs = data.documents.map((one, i) => ({ id: ids[i], title: titleOf(one),
    make: () => pageOf(one, ids[i]) }));
  if (figures.length > 1)
    tabs.unshift({ id: 'overview', title: 'Overview',
      make: () => overviewPage(figures, data.recorded, show) });
  const panels = tabs.map(({ id, title }) => h('div', { id: `panel-${id}`, class: 'panel',
    role: tabs.length > 1 ? 'tabpanel' : null,
    'aria-labelledby': tabs.length > 1 ? `tab-${id}` : null, 'aria-label': title }));
  const buttons = tabs.map(({ id, title }, i) => h('button', { type: 'button', role: 'tab',
    id: `tab-${id}`, 'aria-controls': `panel-${id}`, onclick: () => show(id),
    onkeydown: (event) => moveTab(event, i) }, title));

  // If there is no room for all names, they become a list.
  const choice = h('select', { 'aria-label': 'Document', onchange: () => show(choice.value) },
    tabs.map(({ id, title }) => h('option', { value: id }, title)));
  const bar = h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Documents' }, buttons);

  function fill(i) {
    if (panels[i].childElementCount === 0)
      panels[i].append(tabs[i].make());
  }

  function show(id, keepPlace = false) {
    const at = Math.max(0, tabs.findIndex((tab) => tab.id === id));
    panels.forEach((panel, i) => { panel.hidden = i !== at; });
    buttons.forEach((button, i) => {
      button.setAttribute('aria-selected', String(i === at));
      button.tabIndex = i === at ? 0 : -1;
    });
    choice.value = tabs[at].id;
    fill(at);
    if (!keepPlace) {
      history.replaceState(null, '', `#${tabs[at].id}`);
      scrollTo(0, 0);
    }
  }

  function moveTab(event, i) {
    const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined)
      return;
    const at = (to + tabs.length) % tabs.length;
    event.preventDefault();
    show(tabs[at].id);
    buttons[at].focus();
  }

  const title = tabs.length === 1 ? tabs[0].title
    : figures.length > 0 ? [...new Set(figures.map(({ one }) => one.info.paper))].join(', ')
      : 'results';
  document.title = `${title} · oche report`;
  document.body.prepend(
    h('a', { class: 'skip', href: '#main' }, 'Skip to the content'),
    h('header', { class: 'top' }, h('div', { class: 'wide' },
      h('span', { class: 'mark' }, 'oche', h('span', {}, 'report')),
      tabs.length > 1 && [bar, choice], themeChoice())),
    h('main', { id: 'main', class: 'wide', tabindex: '-1' }, panels),
    h('footer', { class: 'wide' }, `${data.program}, ${data.command}`));
  if (tabs.length > 1)
    fitTabs(document.querySelector('.top'), bar, choice);
  show(location.hash.slice(1), true);
  window.addEventListener('hashchange', () => {
    if (tabs.some(({ id }) => id === location.hash.slice(1)))
      show(location.hash.slice(1), true);
  });

  // On paper: everything, in light colours, in the width of the paper.
  window.addEventListener('beforeprint', () => {
    document.documentElement.classList.add('printing');
    panels.forEach((panel, i) => {
      fill(i);
      panel.dataset.was = String(panel.hidden);
      panel.hidden = false;
    });
    document.querySelectorAll('details.paper').forEach((details) => {
      details.dataset.was = String(details.open);
      details.open = true;
    });
    applyTheme(true);
    drawAll();
  });
  window.addEventListener('afterprint', () => {
    document.documentElement.classList.remove('printing');
    panels.forEach((panel) => { panel.hidden = panel.dataset.was === 'true'; });
    document.querySelectorAll('details.paper').forEach((details) => {
      details.open = details.dataset.was === 'true';
    });
    applyTheme();
    drawAll();
  });
}

document.documentElement.dataset.theme = 'light';
build();
applyTheme();
