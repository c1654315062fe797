// SPDX-License-Identifier: Apache-2.0
// The path of a deflected flow, link by link and tier by tier, beside the ordinary one.
import { FONT, style } from '../theme.js';
import * as format from '../format.js';
import { isNarrow } from './axis.js';
import { base, legend } from './base.js';

const TIERS = ['host', 'tor', 'aggregation', 'core'];
const TIER_NAMES = { host: 'host', tor: 'ToR', aggregation: 'aggregation', core: 'core' };
const LOWER = 0.34; // share of the distance of two tiers
const TAKEN = { name: 'taken', line: 1, solid: true };
const ORDINARY = { name: 'ordinary', line: 0, open: true, marker: 'circle' };

const nameOf = (flow) => `flow ${flow.flow}: ${flow.src} → ${flow.dst}, ${
  flow.deflections}\u00d7`;

// Its nodes: those that sent it, and the receiver.
const nodesOf = (flow, way) => [...flow[way], ...(flow[way].length > 0
  ? [{ node: flow.dst, kind: 'host' }] : [])];

export function deflectedWays(run, number, several) {
  const { listed } = run.deflected ?? { listed: [] };
  if (listed.length === 0)
    return null;
  const flowOf = (state) => listed.find(({ flow }) => String(flow) === state.flow) ?? listed[0];
  const present = (flow) => TIERS.filter((kind) => ['taken', 'ordinary'].some((way) =>
    nodesOf(flow, way).some((node) => node.kind === kind)));
  // A node that replaces one of the other path is slightly lower.
  const isShared = (flow, hop) => nodesOf(flow, 'taken')[hop]?.node
    === nodesOf(flow, 'ordinary')[hop]?.node;
  const points = (flow, way) => nodesOf(flow, way).map((node, hop) =>
    [hop, present(flow).indexOf(node.kind)
      - (way === 'ordinary' && !isShared(flow, hop) ? LOWER : 0)]);
  // The place of a name: beside the line, not on it.
  const placeOf = (list, i, taken, crowded) => {
    const [before, after] = [(list[i - 1] ?? list[i])[1] - list[i][1],
      (list[i + 1] ?? list[i])[1] - list[i][1]];
    if (i === 0 || i === list.length - 1)
      return 'bottom';
    if (before < 0 && after > 0)
      return taken ? 'left' : 'right';
    if (before > 0 && after < 0)
      return taken ? 'right' : 'left';
    return taken && (before < 0 || crowded) ? 'top' : 'bottom';
  };
  const sentence = (hop) => (hop.deflected
    ? `deflected at ${format.time(hop.time_s)} to ${hop.port}, lane ${hop.lane}, ${hop.tokens} ${
      hop.tokens === 1 ? 'token' : 'tokens'} left` : hop.lane !== undefined
      ? `to ${hop.port}, lane ${hop.lane}, ${hop.tokens} left` : hop.port ? `to ${hop.port}`
        : 'received');

  function series(context, flow, way, look) {
    const { theme } = context, color = style(theme, look.line).color;
    const nodes = nodesOf(flow, way), taken = way === 'taken';
    const isCrowded = (i) => !isShared(flow, i) && i < flow.ordinary.length;
    // A phone has room only for the names at turns and deflections.
    const isNamed = (i, place) => (taken || !isShared(flow, i)) && (!isNarrow(context)
      || nodes[i].deflected || (taken ? place === 'top' || (place === 'bottom' && !isCrowded(i))
        : i === nodes.length - 1));
    return {
      name: look.name, type: 'line', z: taken ? 3 : 2, emphasis: { disabled: true },
      data: points(flow, way).map((value, i, list) => ({ value,
        symbol: nodes[i].deflected ? 'diamond' : 'circle',
        symbolSize: nodes[i].deflected ? 15 : taken ? 8 : isShared(flow, i) ? 0 : 9,
        itemStyle: taken ? { color } : { color: theme.paper, borderColor: color, borderWidth: 2 },
        label: { show: isNamed(i, placeOf(list, i, taken)), distance: 7,
          position: placeOf(list, i, taken, isCrowded(i)),
          color: nodes[i].deflected ? theme.text : theme.muted,
          fontWeight: nodes[i].deflected ? 600 : 400, fontFamily: FONT,
          fontSize: isNarrow(context) ? 9.5 : 11, formatter: nodes[i].node } })),
      lineStyle: { color, width: taken ? 2 : 1.4, type: taken ? 'solid' : [5, 4] },
    };
  }

  return {
    id: `way-${number}`, along: 'item',
    title: several ? `The way of a deflected flow: ${run.label}` : 'The way of a deflected flow',
    caption: (state) => {
      const flow = flowOf(state);
      const links = (way) => `${format.grouped(flow[way].length)} links`;
      const time = flow.took_s === null ? 'It was not delivered.'
        : `It took ${format.time(flow.took_s)}, ${format.ratio(flow.slowdown)} times as long as `
          + 'alone.';
      return `${flow.src} to ${flow.dst}, ${format.bytes(flow.bytes)}: ${links('taken')}, `
        + 'deflected at the diamonds; as the routes say it would have been '
        + `${links('ordinary')}. ${time}`;
    },
    controls: [{ key: 'flow', label: 'Flow', value: String(listed[0].flow),
      options: listed.map((flow) => [String(flow.flow), nameOf(flow)]) }],
    height: (width, state) => 84 + 66 * Math.max(2, present(flowOf(state)).length),
    legend: () => [TAKEN, ORDINARY],
    option(context, state) {
      const { theme } = context, flow = flowOf(state), tiers = present(flow);
      const longest = Math.max(flow.taken.length, flow.ordinary.length);
      const ticks = Array.from({ length: longest + 1 }, (_, i) => i)
        .filter((i) => !isNarrow(context) || i % 2 === 0);
      return base(context, {
        grid: { left: 82, right: 30, top: 14, bottom: 46, outerBoundsMode: 'none' },
        legend: legend(context, this.legend(state)),
        tooltip: { trigger: 'item' },
        xAxis: { type: 'value', min: -0.4, max: longest,
          name: 'links crossed', nameLocation: 'middle', nameGap: 28,
          nameTextStyle: { color: theme.muted, fontSize: 12 },
          axisLine: { onZero: false, lineStyle: { color: theme.axis } },
          axisTick: { lineStyle: { color: theme.axis }, customValues: ticks },
          axisLabel: { color: theme.muted, fontSize: 11, customValues: ticks },
          splitLine: { show: false } },
        yAxis: { type: 'value', min: -0.8, max: tiers.length - 0.5, axisLine: { show: false },
          axisTick: { show: false, customValues: tiers.map((_, i) => i) },
          axisLabel: { color: theme.muted, fontSize: 11, customValues: tiers.map((_, i) => i),
            formatter: (value) => TIER_NAMES[tiers[Math.round(value)]] ?? '' },
          splitLine: { show: false } },
        series: [series(context, flow, 'ordinary', ORDINARY),
          series(context, flow, 'taken', TAKEN)],
      });
    },
    tip(state, [hop], which) {
      const flow = flowOf(state), way = which === 0 ? 'ordinary' : 'taken';
      const node = nodesOf(flow, way)[hop];
      return { head: `${node.node} (${TIER_NAMES[node.kind] ?? node.kind})`,
        rows: [{ ...(way === 'taken' ? TAKEN : ORDINARY), name: way, value: sentence(node) }] };
    },
    stops(state) {
      return points(flowOf(state), 'taken').map((at, index) => ({ series: 1, index, at }));
    },
    table(state) {
      const flow = flowOf(state);
      const [ordinary, taken] = [nodesOf(flow, 'ordinary'), nodesOf(flow, 'taken')];
      return {
        columns: ['link', { name: 'ordinary', left: true }, { name: 'taken', left: true },
          { name: 'left by', left: true }, 'deflected at', 'lane', 'tokens left'],
        rows: Array.from({ length: Math.max(ordinary.length, taken.length) }, (_, i) => [
          format.grouped(i), ordinary[i]?.node ?? '', taken[i]?.node ?? '', taken[i]?.port ?? '',
          taken[i]?.deflected ? format.time(taken[i].time_s) : '', taken[i]?.lane ?? '',
          taken[i]?.tokens ?? ''].map(String)),
      };
    },
  };
}
