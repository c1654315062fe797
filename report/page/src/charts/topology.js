// SPDX-License-Identifier: Apache-2.0
/*
 * The network in layers. Each half of a link is coloured by its end's utilisation. A dashed line
 * beside it shows that PAUSE held that end. Names are in the nodes, and links end at their edges,
 * so no link crosses a name.
 */
import { FONT, ramp, style } from '../theme.js';
import * as format from '../format.js';
import { isNarrow } from './axis.js';
import { base } from './base.js';
import { textWidth } from './text-width.js';

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
      .map(({ i }) => places[i].x);
    const [low, high] = below.length > 0 ? [Math.min(...below), Math.max(...below)] : [0, 1];
    const half = below.length > 1 ? (high - low) / (below.length - 1) / 2
      : 0.5 / Math.max(1, tors.length);
    const from = Math.max(0, low - half), to = Math.min(1, high + half);
    members.forEach((i, k) => {
      places[i].x = from + (to - from) * (k + 0.5) / members.length;
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
  const way = (from, to, [mean, most, port, held, heldPort]) => ({
    name: `${groupName(from)} → ${groupName(to)}`,
    value: (link.links === 1 ? format.percent(mean)
      : `${format.percent(mean)}, most ${format.percent(most)} (${port})`)
      + (held > 0 ? `; held by PAUSE ${format.percent(held)}`
        + (link.links === 1 ? '' : ` (${heldPort})`) : ''),
  });
  return {
    head: link.links === 1 ? format.rate(link.rate_bps)
      : `${format.grouped(link.links)} links of ${format.rate(link.rate_bps)}`,
    rows: [way(a, b, link.ab), way(b, a, link.ba)],
  };
}

const BOX = 16; // pixels: the height of a node with a name
const HELD = 'held by PAUSE';
const HELD_LINE = 3; // its colour
const LEAST_HELD = 0.0005; // share of the time; a smaller one is not drawn

// A link from a to b in pixels: straight between layers, an arc within one.
export function path(a, b, sameLayer) {
  const bow = sameLayer && Math.abs(b[0] - a[0]) > 0
    ? Math.min(26, Math.abs(b[0] - a[0]) * 0.25) : 0;
  const points = [];
  for (let i = 0; i <= 8; i++) {
    const t = i / 8;
    points.push([a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t - 4 * bow * t * (1 - t)]);
  }
  return points;
}

// Use of the links between two layers, weighted by their number.
function byTier(topology) {
  const tiers = new Map();
  for (const link of topology.links) {
    const [a, b] = [topology.groups[link.a].kind, topology.groups[link.b].kind];
    for (const [from, to, [mean, most, port, held = 0, heldPort = '']]
      of [[a, b, link.ab], [b, a, link.ba]]) {
      const key = `${KIND_NAMES[from]} to ${KIND_NAMES[to]}`;
      const tier = tiers.get(key) ?? { links: 0, sum: 0, most: -1, port: '', held: 0,
        heldPort: '' };
      if (held > tier.held)
        [tier.held, tier.heldPort] = [held, heldPort];
      tier.links += link.links;
      tier.sum += mean * link.links;
      if (most > tier.most)
        [tier.most, tier.port] = [most, port];
      tiers.set(key, tier);
    }
  }
  return [...tiers].map(([name, tier]) => ({ name, ...tier, mean: tier.sum / tier.links }));
}

// The places of nodes in a picture: {x, y, wide, high, text, under} for each, x from 0 to 1 of the
// picture, y the layer, sizes in pixels. A layer has names if there is room for all of them;
// `under`: the name is below the node.
export function nodesIn(network, width) {
  const { places, present } = layout(network);
  const inside = width - 2 * MARGIN;
  const boxes = network.groups.map((group, i) => ({ ...places[i], text: shortName(group),
    kind: group.kind, nodes: group.nodes }));
  for (const kind of present) {
    const layer = boxes.filter((box) => box.kind === kind).sort((a, b) => a.x - b.x);
    const needed = (box) => textWidth(box.text, 10.5) + 8;
    const fit = (sizeOf) => layer.every((box, i) => i === 0
      || (box.x - layer[i - 1].x) * inside >= (sizeOf(box) + sizeOf(layer[i - 1])) / 2 + 4);
    // There is no link below hosts, so their names may be there.
    const fits = fit(needed), under = !fits && kind === 'host'
      && fit((box) => box.text.length * 6.2);
    const small = isNarrow({ width }) || inside / layer.length < 26 ? 7 : 10;
    for (const box of layer)
      Object.assign(box, fits ? { wide: needed(box), high: BOX }
        : { wide: layer.some(({ nodes }) => nodes > 1) ? small * 1.9 : small, high: small, under,
          text: under ? box.text : '' });
  }
  return boxes;
}

const MARGIN = 34; // pixels left and right of the outermost nodes' middles

export function topology(run, number, several) {
  const network = run.topology;
  if (network.groups.length === 0 || network.links.length === 0)
    return null;
  const { places, present } = layout(network);
  const grouped = network.groups.some((group) => group.nodes > 1);
  const width = (link) => Math.min(5, 2 + Math.log2(1 + link.links));
  const held = network.links.flatMap((link, i) => ['ab', 'ba']
    .filter((way) => link[way][3] > LEAST_HELD).map((way) => ({ i, way, share: link[way][3] })));

  return {
    id: `topology-${number}`, along: 'item',
    title: `Use of links${run.info.load_ps ? ' until arrivals stop' : ''}${
      several ? `: ${run.label}` : ''}`,
    caption: (number > 0 ? '' : 'The half of a link next to a node: what that node sends, as a '
      + `share of what the link can carry.${grouped ? ' Between groups of nodes: the mean.' : ''}`)
      + (held.length === 0 ? '' : `${number > 0 ? '' : ' '}Dashed beside it: the node was held by `
      + 'PAUSE; the thicker, the longer.'),
    ramp: { low: '0\u202f%', high: '100\u202f%' },
    legend: () => (held.length > 0 ? [{ name: HELD, line: HELD_LINE, dash: [4, 3] }] : []),
    height: (space) => (space < 520 ? 74 : 94) * Math.max(2, present.length) + 30,
    option(context) {
      const { theme } = context, nodes = nodesIn(network, context.width);
      // The ends of a link, at the edges of its nodes: [[x, y], [x, y]].
      const ends = (link, api) => {
        const [a, b] = [nodes[link.a], nodes[link.b]];
        const at = (one, other) => {
          const [x, y] = api.coord([one.x, one.y]);
          return [x, y + (other.y < one.y ? 1 : -1) * one.high / 2];
        };
        return [at(a, b), at(b, a)];
      };
      const pathOf = (link, api) => path(...ends(link, api),
        places[link.a].y === places[link.b].y);
      const half = (points, way) => (way === 'ab' ? points.slice(0, 5) : points.slice(4, 9));
      return base(context, {
        ramp: this.ramp,
        grid: { left: MARGIN, right: MARGIN, top: 26, bottom: 30, outerBoundsMode: 'none' },
        tooltip: { trigger: 'item' },
        xAxis: { type: 'value', min: 0, max: 1, show: false },
        yAxis: { type: 'value', min: 0, max: Math.max(1, present.length - 1), show: false,
          name: context.print && held.length > 0 ? `dashed: ${HELD}` : undefined },
        series: [{
          type: 'custom', name: 'links', z: 1, encode: { x: 0, y: 1 },
          data: network.links.map((link, i) => [places[link.a].x, places[link.a].y, i]),
          renderItem(params, api) {
            const link = network.links[api.value(2)], points = pathOf(link, api);
            const part = (way) => ({
              type: 'polyline', shape: { points: half(points, way) },
              style: { stroke: ramp(theme, link[way][0]), lineWidth: width(link), fill: 'none',
                lineCap: 'butt' },
            });
            const hit = { type: 'polyline', shape: { points },
              style: { stroke: 'rgba(0,0,0,0)', lineWidth: 10, fill: 'none' } };
            return { type: 'group', children: [part('ab'), part('ba'), hit] };
          },
        }, {
          type: 'custom', name: 'nodes', z: 3, encode: { x: 0, y: 1 },
          data: network.groups.map((group, i) => [places[i].x, places[i].y, i]),
          renderItem(params, api) {
            const group = network.groups[api.value(2)];
            const { wide, high, text, under } = nodes[api.value(2)];
            const [x, y] = api.coord([api.value(0), api.value(1)]);
            return {
              type: 'group',
              children: [
                { type: 'rect', shape: { x: x - wide / 2, y: y - high / 2, width: wide,
                  height: high, r: group.kind === 'host' ? high / 2 : 2 },
                style: { fill: theme.paper, stroke: theme.muted, lineWidth: 1.2 } },
                ...(text ? [{ type: 'text', silent: true, style: { text, x,
                  y: under ? y + high / 2 + 3 : y, fill: under ? theme.muted : theme.text,
                  fontSize: 10.5, fontFamily: FONT, align: 'center',
                  verticalAlign: under ? 'top' : 'middle' } }] : []),
              ],
            };
          },
        }, ...(held.length > 0 ? [{
          type: 'custom', name: HELD, z: 2, silent: true, encode: { x: 0, y: 1 },
          tooltip: { show: false },
          data: held.map(({ i }, k) => [places[network.links[i].a].x,
            places[network.links[i].a].y, k]),
          renderItem(params, api) {
            const { i, way, share } = held[api.value(2)], link = network.links[i];
            const points = half(pathOf(link, api), way);
            const [[x1, y1], [x2, y2]] = [points[0], points.at(-1)];
            const far = (width(link) / 2 + 3) / Math.max(1, Math.hypot(x2 - x1, y2 - y1));
            return { type: 'polyline', shape: { points: points.map(([x, y]) =>
              [x - (y2 - y1) * far, y + (x2 - x1) * far]) },
            style: { stroke: style(theme, HELD_LINE).color, lineWidth: 1.5 + 4 * share,
              lineDash: [4, 3], fill: 'none' } };
          },
        }] : [])],
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
      columns: ['from', 'links', 'mean use', 'most', 'at', 'held most', 'held at'],
      rows: byTier(network).map((tier) => [tier.name, format.grouped(tier.links),
        format.percent(tier.mean), format.percent(tier.most), tier.port,
        tier.held > 0 ? format.percent(tier.held) : '–', tier.heldPort || '–']),
    }),
  };
}
