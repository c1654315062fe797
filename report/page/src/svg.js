// SPDX-License-Identifier: Apache-2.0
// Draws every chart of a report as an SVG file, with the page's own options.
//   node report-svg.mjs FOLDER < DATA
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chartsOf, firstState, uniqueIds } from './charts/index.js';
import { nameRuns } from './charts/run-names.js';
import echarts from './charts/echarts.js';
import { LIGHT } from './theme.js';

const WIDTH = 720;

function draw(chart) {
  const state = firstState(chart);
  const height = chart.height(WIDTH, state);
  const picture = echarts.init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height });
  picture.setOption(chart.option({ theme: LIGHT, width: WIDTH, print: true }, state));
  const text = picture.renderToSVGString();
  picture.dispose();
  return text;
}

function main(folder) {
  const data = JSON.parse(readFileSync(0, 'utf8'));
  const ids = uniqueIds(data.documents);
  const written = [];
  mkdirSync(folder, { recursive: true });
  data.documents.forEach((document, i) => {
    if (document.kind === 'runs')
      nameRuns(document.runs);
    for (const chart of chartsOf(document, data.grid, ids[i])) {
      writeFileSync(join(folder, `${chart.id}.svg`), draw(chart));
      written.push(chart.id);
    }
  });
  console.log(`charts: ${written.length} in ${folder}`);
}

try {
  main(process.argv[2]);
} catch (error) {
  if (error.code) { // of the system: a folder that cannot be written
    console.error(`--svg: ${error.message}`);
    process.exit(2);
  }
  throw error;
}
