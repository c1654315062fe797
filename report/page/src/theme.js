// SPDX-License-Identifier: Apache-2.0
// Colours. Any two colours of lines differ by 12 or more in CIELAB for every kind of colour vision.
// A line also has a dash or a marker of its own. Ramps go from light to dark, or from dark to
// light, all the way.

export const LIGHT = {
  name: 'light',
  paper: '#ffffff',
  text: '#1c2430',
  muted: '#5b6675',
  faint: '#e4e8ee',
  axis: '#aab3c0',
  lines: ['#0b62a8', '#d2570f', '#00836a', '#9b2f7c', '#4a2c0a', '#8a4dfc', '#7b8696', '#16165e'],
  ramp: ['#e3e8ee', '#f6d79b', '#f0a04b', '#cf5a28', '#7f2318'],
  good: '#17734a',
  fair: '#8a5a00',
  bad: '#b3261e',
};

export const DARK = {
  name: 'dark',
  paper: '#12161c',
  text: '#e4e8ee',
  muted: '#9aa5b4',
  faint: '#272e38',
  axis: '#4d5866',
  lines: ['#62b0f0', '#ff9a5c', '#45d0ac', '#e88fce', '#f3ee7a', '#8a63f5', '#8592a3', '#d04a5a'],
  ramp: ['#303945', '#74482c', '#b8642f', '#f0a24e', '#ffe2a3'],
  good: '#5fd39b',
  fair: '#e6b455',
  bad: '#ff8a80',
};

// Without quotes, because the names are in attributes of SVG.
export const FONT = 'Inter, ui-sans-serif, system-ui, -apple-system, Segoe UI, Roboto, '
  + 'Helvetica Neue, Arial, sans-serif';

// A plus: all of these have their middle at the value.
export const PLUS = 'path://M4 0h4v4h4v4h-4v4h-4v-4h-4v-4h4z';
const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond', 'roundRect', PLUS];
const DASHES = ['solid', [7, 3], [2, 2.5], [9, 3, 2, 3], [12, 4], [4, 2]];

// How the line of number `i` is drawn.
export function style(theme, i) {
  return {
    color: theme.lines[i % theme.lines.length],
    symbol: SYMBOLS[i % SYMBOLS.length],
    dash: DASHES[Math.floor(i / theme.lines.length + i) % DASHES.length],
  };
}

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

// The colour of `share` (0 … 1) on a ramp.
export function ramp(theme, share) {
  const stops = theme.ramp;
  const place = Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0)) * (stops.length - 1);
  const low = Math.min(Math.floor(place), stops.length - 2);
  const [a, b] = [channels(stops[low]), channels(stops[low + 1])];
  const mixed = a.map((value, i) => Math.round(value + (b[i] - value) * (place - low)));
  return `rgb(${mixed.join(',')})`;
}

export function faded(hex, opacity) {
  return `rgba(${channels(hex).join(',')},${opacity})`;
}
