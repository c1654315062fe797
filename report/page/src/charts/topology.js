// SPDX-License-Identifier: Apache-2.0
// The network in layers; each half of a link has the colour of what its end sends.
import { FONT, ramp } from '../theme.js';
import * as format from '../format.js';
import { isNarrow } from './axis.js';
import { base } from './base.js';

const LAYERS = ['host', 'tor', 'aggregation', 'core'];
const KIND_NAMES = { core: 'core', aggregation: 'aggregation', tor: 'ToR', host: 'host' };

// Places of the groups: x from 0 to 1, y the number of the layer.
function layout({ groups }) {
  const present = LAYERS.filter((kind) => groups.some((group) => group.kind === kind));
  const layer = (group) => present.indexOf(group.kind);
  const places = groups.map((group) => ({ x: 0.5, y: layer(group) }));
  const ofKind = (kind) => groups.map((group, i) => ({ group, i }))
    .filter(({ group }) => group.kind === kind);
  const tors = ofKind('tor');
  const hosts = ofKind('host');

  // From the bottom: hosts side by side below their ToR, ToRs above the middle of theirs.
  const under = new Map(tors.map(({ i }) => [i, []]));
  for (const { group, i } of hosts)
    under.get(group.tor)?.push(i);
  const slots = tors.map(({ i }) => Math.max(1, under.get(i).length) + 0.6);
  const whole = slots.reduce((sum, slot) => sum + slot, 0) || 1;
  let from = 0;
  tors.forEach(({ i }, number) => {
    const slot = slots[number];
    places[i].x = (from + slot / 2) / whole;
    under.get(i).forEach((host, k, all) => {
      places[host].x = (from + 0.3 + (slot - 0.6) * (k + 0.5) / all.length) / whole;
    });
    from += slot;
  });
  if (tors.length === 0)
    hosts.forEach(({ i }, k) => { places[i].x = (k + 0.5) / hosts.length; });

  // Aggregation switches above their pod's ToRs, cores above everything.
  const pods = new Map();
  for (const { group, i } of ofKind('aggregation'))
    pods.set(group.pod ?? -1, [...(pods.get(group.pod ?? -1) ?? []), i]);
  for (const [pod, members] of pods) {
    const below = tors.filter(({ group }) => (group.pod ?? -1) === pod)
      .map(({ i, group }) => places[i].x + 0 * group.nodes);
    const [low, high] = below.length > 0 ? [Math.min(...below), Math.max(...below)] : [0, 1];
    const width = Math.max(high - low, 0.7 / Math.max(1, tors.length));
    members.forEach((i, k) => {
      places[i].x = (low + high) / 2 + width * ((k + 0.5) / members.length - 0.5) * 1.4;
    });
  }
  const cores = ofKind('core');
  cores.forEach(({ i }, k) => { places[i].x = (k + 0.5) / cores.length; });
  return { places, present };
}

const groupName = (group) => (group.last ? `${group.name}\u2009…\u2009${group.last}` : group.name);

// "host0 … host15" is long: "16 hosts".
function shortName(group) {
  if (group.nodes === 1)
    return group.name;
  const kind = group.kind === 'host' ? 'hosts' : KIND_NAMES[group.kind];
  return `${format.grouped(group.nodes)} ${kind}`;
}

function describe(topology, link) {
  const [a, b] = [topology.groups[link.a], topology.groups[link.b]];
  const way = (from, to, [mean, most, port]) => ({
    name: `${groupName(from)} → ${groupName(to)}`,
    value: link.links === 1 ? format.percent(mean)
      : `${format.percent(mean)}, most ${format.percent(most)} (${port})`,
  });
  return {
    head: link.links === 1 ? format.rate(link.rate_bps)
      : `${format.grouped(link.links)} links of ${format.rate(link.rate_bps)}`,
    rows: [way(a, b, link.ab), way(b, a, link.ba)],
  };
}

// A link from a to b in pixels: straight between layers, an arc within one.
function path(a, b, sameLayer) {
  const bow = sameLayer && Math.abs(b[0] - a[0]) > 0
    ? Math.min(26, Math.abs(b[0] - a[0]) * 0.25) : 0;
  const points = [];
  for (let i = 0; i <= 8; i++) {
    const t = i / 8;
    points.push([a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t - 4 * bow * t * (1 - t)]);
  }
  return points;
}

// Use of the links that start at one layer and end at another, weighted by their number.
function byTier(topology) {
  const tiers = new Map();
  for (const link of topology.links) {
    const [a, b] = [topology.groups[link.a].kind, topology.groups[link.b].kind];
    for (const [from, to, [mean, most, port]] of [[a, b, link.ab], [b, a, link.ba]]) {
      const key = `${KIND_NAMES[from]} to ${KIND_NAMES[to]}`;
      const tier = tiers.get(key) ?? { links: 0, sum: 0, most: -1, port: '' };
      tier.links += link.links;
      tier.sum += mean * link.links;
      if (most > tier.most)
        [tier.most, tier.port] = [most, port];
      tiers.set(key, tier);
    }
  }
  return [...tiers].map(([name, tier]) => ({ name, ...tier, mean: tier.sum / tier.links }));
}

export function topology(run, number, several) {
  const network = run.topology;
  if (network.groups.length === 0 || network.links.length === 0)
    return null;
  const { places, present } = layout(network);
  const grouped = network.groups.some((group) => group.nodes > 1);
  const width = (link) => Math.min(5, 2 + Math.log2(1 + link.links));

  return {
    id: `topology-${number}`, along: 'item',
    title: several ? `Use of links: ${run.label}` : 'Use of links',
    caption: number > 0 ? '' : 'The half of a link next to a node: what that node sends, as a '
      + `share of what the link can carry.${grouped ? ' Between groups of nodes: the mean.' : ''}`,
    ramp: { low: '0\u202f%', high: '100\u202f%' },
    height: (space) => (space < 520 ? 70 : 90) * Math.max(2, present.length) + 30,
    option(context) {
      const { theme } = context;
      const perLayer = Math.max(...present.map((kind) =>
        network.groups.filter((group) => group.kind === kind).length));
      const room = (context.width - 60) / perLayer;
      const size = isNarrow(context) || room < 26 ? 7 : 10;
      return base(context, {
        ramp: this.ramp,
        grid: { left: 24, right: 24, top: 26, bottom: 30, outerBoundsMode: 'none' },
        tooltip: { trigger: 'item' },
        xAxis: { type: 'value', min: 0, max: 1, show: false },
        yAxis: { type: 'value', min: 0, max: Math.max(1, present.length - 1), show: false },
        series: [{
          type: 'custom', name: 'links', z: 1, encode: { x: 0, y: 1 },
          data: network.links.map((link, i) => [places[link.a].x, places[link.a].y, i]),
          renderItem(params, api) {
            const link = network.links[api.value(2)];
            const [p, q] = [places[link.a], places[link.b]];
            const points = path(api.coord([p.x, p.y]), api.coord([q.x, q.y]), p.y === q.y);
            const half = (from, to, [mean]) => ({
              type: 'polyline', shape: { points: points.slice(from, to) },
              style: { stroke: ramp(theme, mean), lineWidth: width(link), fill: 'none',
                lineCap: 'butt' },
            });
            const hit = { type: 'polyline', shape: { points },
              style: { stroke: 'rgba(0,0,0,0)', lineWidth: 10, fill: 'none' } };
            return { type: 'group', children: [half(0, 5, link.ab), half(4, 9, link.ba), hit] };
          },
        }, {
          type: 'custom', name: 'nodes', z: 2, encode: { x: 0, y: 1 },
          data: network.groups.map((group, i) => [places[i].x, places[i].y, i]),
          renderItem(params, api) {
            const group = network.groups[api.value(2)];
            const [x, y] = api.coord([api.value(0), api.value(1)]);
            const wide = group.nodes > 1 ? size * 1.9 : size;
            const text = shortName(group);
            const alone = network.groups.filter(({ kind }) => kind === group.kind).length;
            const fits = (context.width - 48) / alone > text.length * 6.2 + 4;
            const below = group.kind === 'host';
            return {
              type: 'group',
              children: [
                { type: 'rect', shape: { x: x - wide / 2, y: y - size / 2, width: wide,
                  height: size, r: group.kind === 'host' ? size / 2 : 2 },
                style: { fill: theme.paper, stroke: theme.text, lineWidth: 1.4 } },
                ...(fits ? [{ type: 'text', style: { text, x, y: below ? y + size : y - size,
                  fill: theme.muted, stroke: theme.paper, lineWidth: 3, fontSize: 10.5,
                  fontFamily: FONT, align: 'center',
                  verticalAlign: below ? 'top' : 'bottom' } }] : []),
              ],
            };
          },
        }],
      });
    },
    tip(state, at, series) {
      if (series === 0)
        return describe(network, network.links[at[2]]);
      const group = network.groups[at[2]];
      return { head: groupName(group), rows: [{ name: KIND_NAMES[group.kind],
        value: group.nodes > 1 ? `${format.grouped(group.nodes)} nodes` : '' }] };
    },
    stops: () => network.links.map((link, index) => ({ series: 0, index,
      at: [0, 0, index] })),
    table: () => ({
      columns: ['from', 'links', 'mean use', 'most', 'at'],
      rows: byTier(network).map((tier) => [tier.name, format.grouped(tier.links),
        format.percent(tier.mean), format.percent(tier.most), tier.port]),
    }),
  };
}
