// SPDX-License-Identifier: Apache-2.0
/*
 * The report in headless Chromium, as a reader has it: opened from a file, by keyboard and mouse,
 * in both themes, as wide as a phone, on paper. Nothing may be loaded, and nothing may be said on
 * the console. Status 77, with the reason, where there is no Chromium.
 *
 * Environment: OCHE, SOURCE, BUILD.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const { OCHE, SOURCE, BUILD } = process.env;

function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(77);
}

const browserPath = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) =>
  process.env.PATH.split(delimiter).map((folder) => join(folder, name))).find(existsSync);
if (!existsSync(join(BUILD, 'report', 'page', 'report.html')))
  skip('the program was built without the page of its reports');
if (!browserPath)
  skip('there is no chromium; tools/install-deps installs it');
if (!existsSync(join(SOURCE, 'report/page/node_modules', 'playwright-core')))
  skip('report/page/node_modules has no playwright-core; report/page/fetch gets it');
const { chromium } = createRequire(join(SOURCE, 'report/page/package.json'))('playwright-core');

const work = mkdtempSync(join(tmpdir(), 'oche-report-page-'));
const said = []; // what a page must not say or ask for

function page_of(folder) {
  execFileSync(OCHE, ['report', join(work, folder)],
    { env: { ...process.env, OCHE_PAPERS: join(work, 'papers') } });
  return `file://${join(work, folder, 'report.html')}`;
}

async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30000);
  page.on('console', (message) => said.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => said.push(`error: ${error.stack}`));
  page.on('request', (request) => {
    if (!request.url().startsWith('file:') && !request.url().startsWith('data:'))
      said.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  return page;
}

const chart = (page, id) => page.locator(`#chart-${id}`);
const tip = (page, id) => chart(page, id).locator('.tip');
async function drawn(page, id) {
  await chart(page, id).locator('.plot').scrollIntoViewIfNeeded();
  await chart(page, id).locator('svg path').first().waitFor({ state: 'attached' });
}
const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

// Every element's id is its own, every chart has a name and a table, no text is cut at the right.
async function inspect(page, what) {
  // Charts are drawn again for another width.
  await page.waitForFunction(() => [...document.querySelectorAll('.plot')].every((plot) => {
    const picture = plot.querySelector('svg');
    return !picture || plot.clientWidth === 0
      || Math.abs(picture.clientWidth - plot.clientWidth) < 1;
  }));
  const found = await page.evaluate(() => {
    const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
    const panel = [...document.querySelectorAll('.panel')].find(({ hidden }) => !hidden);
    return {
      twice: ids.filter((id, i) => ids.indexOf(id) !== i),
      unnamed: [...document.querySelectorAll('.plot')].filter((plot) =>
        !plot.getAttribute('aria-label')).length,
      charts: panel.querySelectorAll('.chart:not(.small)').length,
      tables: panel.querySelectorAll('.chart:not(.small) details.data').length,
      tooWide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    };
  });
  assert.deepEqual(found.twice, [], `${what}: ids that are there twice`);
  assert.equal(found.unnamed, 0, `${what}: charts without a name`);
  assert.equal(found.charts, found.tables, `${what}: charts without a table`);
  assert.ok(found.tooWide <= 0, `${what}: ${found.tooWide} pixels too wide`);
  return found.charts;
}

/* ---- runs: the mouse, the keyboard, the theme ---- */

async function readsRuns(browser) {
  const page = await open(browser, page_of('runs'), { colorScheme: 'light' });
  assert.equal(await page.title(), 'fixture · oche report');
  assert.equal(await page.locator('h1').innerText(), 'fixture');
  assert.equal(await inspect(page, 'runs'), 17);
  const recovery = await page.getByRole('region', { name: 'Loss and recovery' }).innerText();
  assert.match(recovery, new RegExp('^Loss and recovery\\s+dcqcn \\(base\\)\\s+none\\s+'
    + 'ACK timeouts\\s+3\\s+3\\s+timeouts: the NAK was lost\\s+3\\s+3$'));

  // The first stop of Tab skips the header; the focus can be seen.
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main');

  // Pointing at a height reads the percentile of both runs.
  await drawn(page, 'fixture-fct');
  const plot = chart(page, 'fixture-fct').locator('.plot');
  const box = await plot.boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.4);
  await tip(page, 'fixture-fct').waitFor();
  const text = await tip(page, 'fixture-fct').innerText();
  assert.match(text, /^p\d+(\.\d+)?\s+dcqcn\s+[\d.]+\s[µm]s\s+none\s+[\d.]+\s[µm]s$/);
  await page.mouse.move(5, 5);

  // What it says does not cover the curves.
  const { said: over, grid } = await plot.evaluate((element) => ({
    said: element.querySelector('.tip').getBoundingClientRect().toJSON(),
    grid: element.querySelector('svg').getBoundingClientRect().toJSON() }));
  assert.ok(over.bottom <= grid.top + 32 || over.top >= grid.bottom,
    `the tip from ${over.top} to ${over.bottom} is over the plot from ${grid.top}`);

  // So do the arrow keys, aloud.
  await plot.focus();
  assert.notEqual(await plot.evaluate((element) => getComputedStyle(element).outlineStyle), 'none');
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowLeft');
  const spoken = chart(page, 'fixture-fct').locator('[aria-live]');
  assert.match(await spoken.innerText(), /^p99[.\d]*: dcqcn .*; none .* \(\d+ of \d+\)$/);
  await tip(page, 'fixture-fct').waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await spoken.innerText(), '');

  // Every other chart reads by keyboard too.
  for (const id of await page.locator('.chart').evaluateAll((all) => all.map((one) => one.id))) {
    const one = page.locator(`#${id} .plot`);
    await one.focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    assert.match(await page.locator(`#${id} [aria-live]`).innerText(), /^.+: .+\(2 of \d+\)$/s, id);
    await page.locator(`#${id} .tip`).waitFor();
    await page.keyboard.press('Escape');
  }

  // A control changes the chart, and keeps the focus; the legend hides a run.
  const tail = chart(page, 'fixture-fct').getByLabel('the tail');
  await tail.focus();
  await page.keyboard.press('Space');
  await chart(page, 'fixture-fct').getByText('share of flows above').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.value), 'tail');
  const lines = () => chart(page, 'fixture-sizes').locator('svg path[stroke-width="1.8"]').count();
  const before = await lines();
  await chart(page, 'fixture-sizes').getByRole('button', { name: 'none' }).click();
  assert.ok(await lines() < before, 'a run that is switched off is still drawn');
  await chart(page, 'fixture-fct').getByText('Data as a table').click();
  await chart(page, 'fixture-fct').locator('tbody tr').first().waitFor();
  assert.equal(await chart(page, 'fixture-fct').locator('tbody tr').count(), 2);

  // Where PAUSEs began, as a tree; and who suffered.
  const forest = page.getByRole('region', { name: 'Where PAUSEs began: dcqcn' });
  assert.match(await forest.innerText(),
    /tor0:host0 7 senders\s+12\s+2\.00\sms\s+1\.00\sms\s+9\.00\sms\s+host3\s+12\s/);
  const victims = page.getByRole('region', { name: 'Flows hurt by congestion elsewhere: none' });
  assert.match(await victims.innerText(),
    /^flow\s+size\s+took\s+lost\s+share\s+host\d+ → host\d+\s/);
  await page.locator('.forest .caption', { hasText: 'The same in all rows: held: 1.00\u202fms, for '
    + 'congestion at: tor0:host0, victim: yes.' }).first().waitFor();

  // Where congestion sits: one of the two runs says it, and every place can be heard.
  const waits = chart(page, 'fixture-queueing');
  await waits.locator('.plot').focus();
  await page.keyboard.press('Home');
  assert.match(await waits.locator('[aria-live]').innerText(),
    /^dcqcn: 8\.00\sµs: host NIC 2\.00\sµs, 25\.0\s%; ToR to host 6\.00\sµs, 75\.0\s% \(1 of/);
  await waits.getByText('Data as a table').click();
  assert.match(await waits.locator('details tbody').innerText(),
    /ToR to host\s+6\.00\sµs\s+75\.0\s%\s+3\.00\sµs\s+9\.00\sµs \(tor0:host0\)\s+150\sKB/);
  await waits.getByLabel('share', { exact: true }).check();
  await waits.locator('svg').getByText(/^100\s%$/).waitFor();

  // The longest queues, which nobody has named: each run's longest, or one port of those with it.
  const longest = chart(page, 'fixture-longest-queues');
  await longest.locator('.plot').focus();
  await page.keyboard.press('Home');
  assert.match(await longest.locator('[aria-live]').innerText(),
    /^1\.00\sms to 1\.05\sms: dcqcn: tor0:host7 100\sKB; none: tor0:host3 100\sKB \(1 of/);
  await page.keyboard.press('Escape');
  await longest.getByLabel('Show').selectOption({ label: 'tor0:host3' });
  await longest.getByText('Data as a table').click();
  await longest.locator('tbody tr').first().waitFor();
  assert.match(await longest.locator('details.data').innerText(), /time\s+none\s+1\.0/);
  await longest.getByLabel('Show').selectOption({ label: 'all of none' });
  assert.match(await longest.locator('details.data').innerText(), /time\s+tor0:host3\s+tor0:host7/);

  // The slowest flows likewise: of each run, or all of one.
  const slowest = chart(page, 'fixture-slowest-flows');
  await slowest.locator('.plot').focus();
  await page.keyboard.press('Home');
  assert.match(await slowest.locator('[aria-live]').innerText(), new RegExp('^2\\.00\\sms to '
    + '2\\.05\\sms: dcqcn: host\\d+ → host\\d+, [\\d.]+\\s[KM]?B, slowdown [\\d.]+ \\(flow 150\\) '
    + '1\\.00\\sGbps; none: '));
  await page.keyboard.press('Escape');

  // A deflected flow's way: the one with most deflections, then the other.
  const way = chart(page, 'fixture-way-0');
  const said = way.locator('.caption');
  assert.match(await said.innerText(), /^host8 to host13, .*: 4 links, .* 2 links/);
  await way.getByLabel(/^flow 3: host3 → host8/).check();
  assert.match(await said.innerText(), /^host3 to host8, .*: 3 links, .* 2 links/);
  await way.locator('.plot').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  assert.match(await way.locator('[aria-live]').innerText(), /^tor0 \(ToR\): taken deflected at /);
  await page.keyboard.press('Escape');
  assert.match(await page.getByRole('region', { name: 'Deflected flows: dcqcn' }).innerText(),
    /8: host8 → host13\s.*\n?.*3: host3 → host8/s);

  // The theme: the system's, until one is chosen; charts change with it.
  const light = await background(page);
  const color = () => chart(page, 'fixture-goodput-all').locator('svg path[stroke-width="1.8"]')
    .first().getAttribute('stroke');
  const lightLine = await color();
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator(':root[data-theme="dark"]').waitFor({ state: 'attached' });
  assert.notEqual(await background(page), light, 'dark as the system');
  await page.getByLabel('Light', { exact: true }).check();
  assert.equal(await background(page), light, 'light because it was chosen');
  await page.getByLabel('Dark', { exact: true }).check();
  assert.notEqual(await background(page), light);
  assert.notEqual(await color(), lightLine, 'lines have the colours of the light theme');
  await page.reload();
  assert.notEqual(await background(page), light, 'the choice is kept');

  // On paper: light, everything, and back.
  await page.emulateMedia({ colorScheme: null });
  const paper = await page.pdf({ format: 'A4' });
  assert.equal(paper.subarray(0, 5).toString(), '%PDF-');
  assert.ok((paper.toString('latin1').match(/\/Type\s*\/Page\b/g) ?? []).length > 2, 'pages');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await page.context().close();
}

// A part of the time is selected by pointer or by key, in all charts of it; and left again.
async function zooms(browser) {
  const page = await open(browser, page_of('runs'));
  const ticks = (id) => chart(page, id).locator('svg').getByText(/^[\d.]+\s(ms|µs)$/)
    .allTextContents();
  const all = { goodput: 'fixture-goodput-all', queue: 'fixture-queue-time',
    held: 'fixture-pauses-0' };
  for (const id of Object.values(all))
    await drawn(page, id);
  const before = await ticks(all.goodput);
  await drawn(page, all.goodput);
  const plot = chart(page, all.goodput).locator('.plot'), box = await plot.boundingBox();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.45, box.y + 110);
  await plot.locator('.zoom-band').waitFor();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 110);
  await page.mouse.up();
  assert.equal(await plot.locator('.zoom-band').count(), 0);
  const part = await ticks(all.goodput);
  assert.notDeepEqual(part, before);
  for (const id of [all.queue, all.held])
    assert.deepEqual(await ticks(id), part, `${id}: the same part of the time`);
  await plot.getByRole('button', { name: 'Show all' }).click();
  assert.deepEqual(await ticks(all.goodput), before);
  assert.ok(await plot.evaluate((element) => document.activeElement === element));

  const said = chart(page, all.goodput).locator('[aria-live]');
  await page.keyboard.press('+');
  assert.match(await said.innerText(), /^From 3\.\d+\sms to 8\.\d+\sms$/);
  await page.keyboard.press('Shift+ArrowRight');
  assert.match(await said.innerText(), /^From 4\.\d+\sms to 9\.\d+\sms$/);
  await page.keyboard.press('Home');
  assert.match(await said.innerText(), /^4\.\d+\sms to 4\.\d+\sms: /, 'the first that is shown');
  await page.keyboard.press('0');
  assert.deepEqual(await ticks(all.goodput), before);
  await page.context().close();
}

/* ---- runs side by side: their scales, their names, the network ---- */

// The texts of a chart's picture.
const textsOf = (page, id) => chart(page, id).locator('.plot svg text')
  .evaluateAll((all) => all.map((text) => text.textContent.replaceAll('\u202f', ' ')));

// Which names of nodes have a point of a link in them.
const crossedNames = (page, id) => chart(page, id).locator('.plot svg').evaluate((svg) => {
  const names = [...svg.querySelectorAll('text')].map((text) => ({ name: text.textContent,
    box: text.getBoundingClientRect() }));
  const lines = [...svg.querySelectorAll('path[fill="none"]')]
    .filter((path) => path.getTotalLength() > 30 && !/Z/i.test(path.getAttribute('d')));
  const found = lines.flatMap((path) => {
    const matrix = path.getScreenCTM(), length = path.getTotalLength(), hit = [];
    for (let at = 0; at <= length; at += 2) {
      const { x, y } = path.getPointAtLength(at).matrixTransform(matrix);
      hit.push(...names.filter(({ box }) => x > box.left && x < box.right && y > box.top
        && y < box.bottom).map(({ name }) => name));
    }
    return hit;
  });
  return { lines: lines.length, names: names.length, crossed: [...new Set(found)] };
});

async function comparesRuns(browser) {
  const made = `
import sqlite3, sys
sys.path.insert(0, sys.argv[1])
import report_fixture as fixture
for variant, (scheme, times) in enumerate((("dcqcn", 1), ("none", 4))):
    path = sys.argv[2] + f"/compared/{scheme}/run.sqlite"
    fixture.run(path, 400, label=scheme, where=True)
    with sqlite3.connect(path) as db:
        db.executemany("INSERT OR REPLACE INTO info VALUES (?, ?)", [
            ("compared", "congestion_control"), ("variant", str(variant)),
            ("congestion_control", scheme)])
        db.execute("UPDATE flows SET start_ps = 10 * CAST(1e8 AS INTEGER) + start_ps / 4")
        for host in range(12):
            db.execute("INSERT INTO series_names VALUES (?, 'goodput', ?, 'bps')",
                       (10 + host, f"host{host}"))
            db.execute("INSERT INTO series SELECT ?, time_ps, value * ? / (1 + ?) FROM series "
                       "WHERE series = 1", (10 + host, times, host))
        db.execute("DELETE FROM series WHERE time_ps > ?", ((11 if times == 1 else 8) * 10 ** 9,))
        db.execute("UPDATE congestion SET queueing_ps = queueing_ps * ?", (times ** 3,))
`;
  execFileSync('python3', ['-c', made, join(SOURCE, 'tests', 'support'), work]);
  const page = await open(browser, page_of('compared'));
  const parts = ['fixture-throughput-0', 'fixture-throughput-1'];
  const ticks = async (id) => (await textsOf(page, id)).filter((text) => /^[\d.]+ (m?s|µs)$/
    .test(text));
  const high = (id) => chart(page, id).locator('.ramp').innerText();
  for (const id of parts)
    await drawn(page, id);

  // One time axis and one meaning of a colour; the last start is named, the rest is not shown.
  assert.deepEqual(await ticks(parts[0]), await ticks(parts[1]));
  assert.equal(await high(parts[0]), await high(parts[1]));
  for (const id of [...parts, 'fixture-goodput-all'])
    assert.ok((await textsOf(page, id)).some((text) => /^last start 3\.\d+ ms; ends 11\.0 ms$/
      .test(text)), `${id}: ${await textsOf(page, id)}`);
  const cut = await ticks('fixture-goodput-all');
  assert.ok(cut.every((text) => parseFloat(text) < 6), cut.join());

  // A switch in one section is that of the document; it keeps the focus.
  const section = page.locator('#fixture-time');
  await section.getByLabel('own scale').focus();
  await page.keyboard.press('Space');
  assert.notEqual(await high(parts[0]), await high(parts[1]));
  assert.ok(await section.getByLabel('own scale').evaluate((element) =>
    document.activeElement === element && element.checked));
  assert.ok(await page.locator('#fixture-pauses').getByLabel('own scale').isChecked());
  await page.locator('#fixture-pauses').getByLabel('shared by all runs').check();
  assert.equal(await high(parts[0]), await high(parts[1]));
  await section.locator('fieldset', { hasText: 'Time' }).getByLabel('all', { exact: true }).check();
  const whole = await ticks('fixture-goodput-all');
  assert.ok(whole.some((text) => parseFloat(text) >= 8), whole.join());
  assert.deepEqual(await ticks(parts[0]), await ticks(parts[1]), 'also where one ends earlier');

  // Names: no congestion control is PFC alone, the first run is the base of ratios.
  assert.ok((await page.locator('.tile').first().innerText()).includes('PFC alone'));
  assert.equal(await page.getByText(/^(.*: )?none$/).count(), 0, 'a name that means nothing');
  assert.match(await page.getByRole('region', { name: 'Slowdown', exact: true }).innerText(),
    /^Slowdown\s+dcqcn \(base\)\s+PFC alone\s+p50\s/);
  assert.equal(await chart(page, 'fixture-queueing').getByLabel('log scale').isChecked(), true);
  const sums = await textsOf(page, 'fixture-queueing');
  assert.ok(sums.includes('8.00 µs') && sums.includes('512 µs'), sums.join());

  // No link crosses a name, on a desk and on a phone.
  for (const width of [1200, 375]) {
    await page.setViewportSize({ width, height: 900 });
    await drawn(page, 'fixture-topology-0');
    await inspect(page, `compared, ${width} pixels`);
    const { lines, names, crossed } = await crossedNames(page, 'fixture-topology-0');
    assert.ok(lines >= 32 && names > 0, `${lines} links, ${names} names`);
    assert.deepEqual(crossed, [], `names that links cross, ${width} pixels`);
  }
  await page.context().close();
}

/* ---- figures: tabs, claims, a phone ---- */

async function readsFigures(browser) {
  const page = await open(browser, page_of('figures'));
  assert.equal(await page.locator('h1:visible').innerText(), 'error-recovery');
  assert.equal(await page.locator('.card').count(), 3);
  await inspect(page, 'overview');
  const tally = await page.locator('.tally:visible').innerText();
  assert.match(tally, 
    /18 claims:\s*12\s*✓\s*reproduced\s*2\s*≈\s*in shape\?\s*2\s*✕\s*not reproduced/);
  const sources = await page.locator('.sources:visible').innerText();
  assert.match(sources, /from the paper.s text: [^]*reproduced[^]*read off its plots: /);
  const [claims, cards] = await Promise.all(['.tally-bar:visible', '.cards:visible']
    .map((one) => page.locator(one).first().boundingBox()));
  assert(claims.width > 0.99 * cards.width,
    `the bar of claims is ${claims.width} of ${cards.width} wide`);

  // Of all papers, not only of those whose figures are here; the third has nothing recorded.
  const rows = async (name) => {
    const all = await page.getByRole('region', { name, exact: true }).locator('tr').all();
    return Promise.all(all.map((row) => row.locator('th, td').allInnerTexts()));
  };
  // What the papers say comes before the figures: how many statements hold, then each of them.
  assert.deepEqual(await page.locator('.panel:visible h2').allInnerTexts(),
    ['What the papers say', 'Figures', 'Recorded verdicts of all papers']);
  assert.deepEqual(await rows('Statements'), [
    ['Paper', 'hold', 'in shape', 'do not hold', 'not measured', 'not judged', 'hold or in shape',
      'from memory'],
    ['first', '1', '0', '1', '0', '0', '1 of 2', '1'],
    ['declared: other', '2', '0', '0', '0', '0', '2 of 2', '1']]);
  await page.locator('summary', { hasText: 'first: The first <paper>' }).click();
  const statements = (await rows('Statements of first')).map((row) => row.map((cell) =>
    cell.replace(/\s+/g, ' ').trim()));
  assert.deepEqual(statements, [
    ['Statement', 'Verdict', 'other'],
    ['it is <fast> sec 1 · published: 1 by fig1/a (reproduced), fig1/b (reproduced?)', '✓ holds?',
      '–'],
    ['and twice as fast sec 2 · published: 2 by fig1/c (not reproduced) BECAUSE',
      '✕ does not hold', '✓ holds'],
    ['and small sec 3 · published: 3 · from memory by fig1/e (not measured)', '– not measured',
      '–']]);
  await inspect(page, 'statements');

  assert.deepEqual(await rows('Recorded verdicts'), [
    ['Paper', 'From', 'Claims', 'reproduced', 'reproduced?', 'in shape', 'not reproduced',
      'not judged'],
    ['first', 'text', '2', '1', '1', '0', '0', '0'],
    ['', 'plots', '1', '0', '0', '0', '1', '0'],
    ['', 'own', '1', '0', '0', '0', '0', '1'],
    ['', 'all', '4', '1', '1', '0', '1', '1'],
    ['second', 'memory', '1', '0', '0', '1', '0', '0'],
    ['together', 'text', '2', '1', '1', '0', '0', '0'],
    ['', 'plots', '1', '0', '0', '0', '1', '0'],
    ['', 'memory', '1', '0', '0', '1', '0', '0'],
    ['', 'own', '1', '0', '0', '0', '0', '1'],
    ['', 'all', '5', '1', '1', '1', '1', '1']]);
  assert.deepEqual(await rows('Which program'), [
    ['Paper', 'Title', 'Claims', 'Seeds', 'Commit', 'Recorded'],
    ['first', 'The first <paper>', '3', '5 to 30', 'aaaaaaaaaaaa', '2026-11-22'],
    ['', '', '1', '', 'bbbbbbbbbbbb+', '2026-11-23'],
    ['second', 'The second <paper>', '1', '1', 'cccccccccccc', '2026-11-21']]);

  // Arrow keys go from tab to tab; a link of the overview leads to its figure.
  await page.getByRole('tab', { name: 'Overview' }).focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.locator('h1:visible').innerText(), 'Go-Back-N against loss');
  await page.keyboard.press('End');
  assert.equal(new URL(page.url()).hash, '#fig6a');
  assert.equal(await page.getByRole('tab', { selected: true }).innerText(), 'fig6a');
  await inspect(page, 'fig6a');
  assert.equal(await page.locator('.claims:visible tbody tr').count(), 6);
  const claim = (i) => page.locator('.claims:visible tbody tr').nth(i).innerText();
  assert.doesNotMatch(await claim(0), /loss is by path|As for/, 'reproduced: nothing to explain');
  assert.match(await claim(3), /The paper's loss is by path\.[^]*not reproduced/);
  assert.match(await claim(5), /As for “Go-Back-N is down to 40 % at 0\.01 %”\./, 'said once');
  assert.match(await page.locator('.claims:visible tbody tr').nth(2).innerText(), /in shape\?/);
  assert.match(await page.locator('.caption:visible', { hasText: 'In shape: ' }).innerText(),
    /wider band.*\?: the interval reaches into another verdict/);
  assert.match(await claim(3), /\bnever\b[^]*not reproduced/);
  assert.match(await claim(3), /sec IV-A · read off its plots · confidence: high/);
  assert.match(await claim(5), /–[^]*no data/);
  const readings = page.getByRole('region', { name: 'Other readings' }).filter({ visible: true });
  assert.match(await readings.locator('thead').innerText(), /Judged\s+loss of a <path>/);
  assert.match(await readings.locator('tbody tr').nth(2).innerText(),
    /≈\s*in shape\?\s+50.0\s%\s*40.0\s% to 60.0\s%\s*✓\s*reproduced$/);
  assert.match(await page.locator('.differences:visible').innerText(), /no <congestion>\./);

  // Where congestion sits: a bar for each scheme, at one loss, then at another.
  const waits = chart(page, 'fig6a-queueing'), heard = waits.locator('[aria-live]');
  await waits.locator('.plot').focus();
  await page.keyboard.press('End');
  assert.match(await heard.innerText(), /^Improved: 16\.0\sµs: host NIC 4\.00\sµs, .* \(4 of 4\)$/);
  await waits.locator('select').selectOption({ label: '1e-2' });
  await waits.locator('.plot').focus();
  await page.keyboard.press('Home');
  assert.match(await heard.innerText(), /^GBN: 28\.0\sµs: .*ToR to host 21\.0\sµs, 75\.0\s%/);
  await page.keyboard.press('Escape');
  await waits.getByLabel('loss.probability', { exact: true }).check();
  await waits.locator('.plot').focus();
  await page.keyboard.press('End');
  assert.match(await heard.innerText(), /^probability 1e-2: 28\.0\sµs: .* \(7 of 7\)$/);
  await page.keyboard.press('Escape');
  await drawn(page, 'fig6a');
  const legend = () => chart(page, 'fig6a').locator('.legend button').count();
  assert.equal(await legend(), 7);
  await chart(page, 'fig6a').getByLabel('all', { exact: true }).check();
  assert.equal(await legend(), 8, 'all readings');
  await page.getByRole('tab', { name: 'Overview' }).click();
  await page.locator('.card a', { hasText: 'fig3' }).click();
  await chart(page, 'fig3').locator('svg').getByText('same packet lost twice').waitFor();
  const names = () => chart(page, 'fig3').locator('svg').getByText(/lost|reason|held/).count();
  assert.equal(await names(), 6);
  await chart(page, 'fig3').locator('.plot').focus();
  await page.keyboard.press('Home');
  const bar = chart(page, 'fig3').locator('[aria-live]');
  assert.match(await bar.innerText(), /^last packet lost: measured 6.00\s% .*published 7.10\s%/);
  await chart(page, 'fig3').getByLabel('another reading').check();
  assert.equal(await names(), 6);
  await chart(page, 'fig3').locator('.plot').focus();
  await page.keyboard.press('Home');
  assert.match(await bar.innerText(), /^last packet lost: measured 16.7\s% .*published 7.10\s%/);
  await page.goto(page.url().replace(/#.*/, '#fig2'));
  assert.equal(await page.locator('h1:visible').innerText(), 'Go-Back-N against loss');

  await page.setViewportSize({ width: 360, height: 720 });
  for (const tab of ['Overview', 'fig2', 'fig3', 'fig6a']) {
    await page.getByRole('tab', { name: tab }).click();
    await inspect(page, `${tab} on a phone`);
  }
  await page.context().close();
}

/* ---- several plots: their intervals, their axes ---- */

const BAR = 'svg path[stroke-opacity="0.75"]'; // of an interval
const BAND = 'svg path[fill-opacity="0.16"]';

async function readsSeveralPlots(browser) {
  const page = await open(browser, page_of('several'));
  await inspect(page, 'several plots');
  const headings = await page.locator('.chart h3').allInnerTexts();
  assert.deepEqual(headings, ['Many curves', 'Few curves', 'Losses below zero']);
  for (const id of ['fig4-plot-1', 'fig4-plot-2', 'fig4-plot-3'])
    await drawn(page, id);
  const ticks = (id) => chart(page, id).locator('svg text').allTextContents();
  const counts = async (id) => [...new Set((await ticks(id)).filter((text) => /^\d+(\.\d+)?$/
    .test(text)))].sort((a, b) => a - b).join();
  const many = chart(page, 'fig4-plot-1'), few = chart(page, 'fig4-plot-2');

  // Each has a legend of its own, and reads its own values.
  assert.equal(await many.locator('.legend button').count(), 6);
  assert.deepEqual(await few.locator('.legend button').allInnerTexts(),
    ['wide 6', 'wide 7', 'wide 6, published']);
  await few.locator('.plot').focus();
  await page.keyboard.press('End');
  assert.match(await few.locator('[aria-live]').innerText(),
    /^pairs: 80: wide 6 6\.00\sGbps .*wide 6, published 8\.50\sGbps \(3 of 3\)$/);
  await page.keyboard.press('Escape');

  // Six curves have bars; the one that is pointed at has a band, and so have few.
  assert.equal(await many.locator(BAR).count(), 6 * 3 * 3);
  assert.equal(await many.locator(BAND).count(), 0);
  const caption = () => many.locator('.caption').innerText();
  assert.match(await caption(), /point at a name below/);
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  assert.doesNotMatch(await caption(), /point at/, 'on paper');
  assert.equal(await many.locator(BAR).count(), 6 * 3 * 3, 'on paper');
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  assert.match(await caption(), /point at a name below/);
  await many.getByRole('button', { name: 'curve 2' }).hover();
  await many.locator(BAND).waitFor({ state: 'attached' });
  assert.equal(await many.locator(BAR).count(), 0, 'the others step back');
  await page.mouse.move(5, 5);
  await many.locator(BAR).first().waitFor({ state: 'attached' });
  assert.equal(await many.locator(BAND).count(), 0);
  await many.getByRole('button', { name: 'curve 3' }).focus();
  await many.locator(BAND).waitFor({ state: 'attached' });
  await few.locator('.plot').focus();
  for (const name of ['curve 4', 'curve 5'])
    await many.getByRole('button', { name }).click();
  await few.locator('.plot').focus();
  await page.mouse.move(5, 5);
  await page.waitForFunction((band) => document.querySelectorAll(
    `#chart-fig4-plot-1 ${band}`).length === 4, BAND);
  assert.equal(await few.locator(BAND).count(), 2);

  // Counts have ticks where there are points; the axis has room for bands, and for less than zero.
  assert.equal(await counts('fig4-plot-1'), '0,1,2');
  assert.equal(await counts('fig4-plot-2'), '0,5,10,80'); // 0: of the other axis
  assert.ok((await ticks('fig4-plot-2')).some((text) => /^15\sGbps$/.test(text)));
  assert.ok((await ticks('fig4-plot-3')).some((text) => /^[-\u2212]\d/.test(text)));
  await page.setViewportSize({ width: 360, height: 720 });
  await inspect(page, 'several plots on a phone');
  await page.context().close();
}

/* ---- more documents than there is room for names ---- */

async function readsManyDocuments(browser) {
  const page = await open(browser, page_of('crowd'), { viewport: { width: 1600, height: 900 } });
  const heading = () => page.locator('.panel:visible').getAttribute('id');
  const whole = (locator) => locator.evaluate((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const place = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return left >= 0 && right <= innerWidth && element.contains(place);
  });
  await inspect(page, 'many documents');

  // Two lines of tabs: each can be seen, and the keys go through them.
  const tabs = page.getByRole('tab');
  assert.equal(await tabs.count(), 25);
  for (const tab of await tabs.all())
    assert.ok(await whole(tab), await tab.innerText());
  assert.ok(!await page.getByLabel('Document', { exact: true }).isVisible());
  await page.getByRole('tab', { name: 'Overview' }).focus();
  await page.keyboard.press('ArrowLeft');
  assert.equal(await heading(), 'panel-fig24');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-fig24');

  // Narrower: a list, which has the focus now, and says which document is shown.
  await page.setViewportSize({ width: 700, height: 900 });
  const list = page.getByLabel('Document', { exact: true });
  await list.waitFor();
  assert.equal(await tabs.count(), 0);
  assert.ok(await list.evaluate((element) => document.activeElement === element));
  assert.equal(await list.inputValue(), 'fig24');
  await list.selectOption('fig12');
  assert.equal(await heading(), 'panel-fig12');
  assert.equal(new URL(page.url()).hash, '#fig12');
  await page.setViewportSize({ width: 360, height: 720 });
  assert.ok(await whole(list));
  await inspect(page, 'many documents on a phone');
  await page.setViewportSize({ width: 1600, height: 900 });
  await page.getByRole('tab', { name: 'fig12' }).waitFor();
  assert.equal(await page.getByRole('tab', { selected: true }).innerText(), 'fig12');
  await page.context().close();
}

/* ---- a sweep: other axes, failed points ---- */

async function readsSweep(browser) {
  const page = await open(browser, page_of('sweep'));
  const metric = chart(page, 'sweep-metric');
  await drawn(page, 'sweep-metric');
  assert.equal(await metric.locator('tbody tr').count(), 10);
  await metric.locator('.searched select').selectOption({ label: 'timeouts' });
  await metric.locator('svg').getByText('timeouts', { exact: true }).first().waitFor();
  assert.match(await metric.locator('.caption').innerText(), /^ACK timeouts\. The mean over/);
  // Of many metrics, in groups, one is found by words of its name or meaning.
  const search = metric.getByRole('searchbox');
  await search.fill('transfers PAIR 17');
  assert.equal(await metric.locator('.found').innerText(), '1 of 27');
  assert.deepEqual(await metric.locator('optgroup').evaluateAll((all) =>
    all.map(({ label }) => label)), ['Shown now', 'By pair of hosts']);
  await search.press('Enter');
  assert.match(await metric.locator('.caption').innerText(), /^Transfers of pair 17\./);
  assert.ok(await search.evaluate((element) => document.activeElement === element));
  await search.fill('');
  await metric.locator('.searched select').selectOption({ label: 'timeouts' });
  await metric.locator('fieldset', { hasText: 'Along x' }).getByLabel('recovery').check();
  await metric.locator('svg').getByText('selective_repeat').waitFor();
  assert.equal(await metric.locator('.legend button').count(), 5);
  const failed = await page.getByRole('region', { name: 'Points without a result' }).innerText();
  assert.match(failed, /crashed\s+killed by signal 11/);
  assert.match(failed, /failed\s+fixture.yaml:3: loss.probability: <\/script><b>is out of range/);

  // What won, for each loss; the sentences and the heat map show the metric that was chosen.
  const won = page.locator('.findings');
  assert.match(await won.innerText(), /^All have the same timeouts at probability=0: 0\./);
  const heat = chart(page, 'sweep-heat');
  assert.match(await heat.locator('.caption').innerText(), /^timeouts: ACK timeouts\. The mean /);
  await heat.locator('.searched select').selectOption({ label: 'goodput' });
  assert.match(await won.innerText(),
    /^Which has the highest goodput at probability=0 is open, as /);
  assert.match(await won.innerText(), new RegExp('selective_repeat has the highest goodput at '
    + 'probability=1e-3: [\\d.]+ ± [\\d.]+\\sGbps against '));
  assert.match(await metric.locator('.caption').innerText(), /^Payload delivered in order\. /);
  await drawn(page, 'sweep-heat');
  assert.ok(await heat.locator('svg').getByText(/^[\d.]+\sGbps$/).count() >= 10, 'values in cells');
  await heat.locator('.plot').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowDown');
  assert.match(await heat.locator('[aria-live]').innerText(), new RegExp('^probability = 1e-5, '
    + 'recovery = selective_repeat: goodput [\\d.]+\\sGbps; 95 % interval .*; runs 5 \\(7 of 10'));
  await heat.locator('.tip').waitFor();
  await page.keyboard.press('Escape');
  await heat.locator('fieldset', { hasText: 'Along x' }).getByLabel('recovery').check();
  await heat.getByText('Data as a table').click();
  await heat.locator('tbody tr').first().waitFor();
  assert.match(await heat.locator('details.data').innerText(), new RegExp('^Data as a table\\s+'
    + 'loss\\.probability\\s+recovery = go_back_n\\s+recovery = selective_repeat\\s+0\\s'));
  await inspect(page, 'sweep');
  await page.setViewportSize({ width: 360, height: 720 });
  await inspect(page, 'sweep on a phone');
  await page.context().close();
}

// Without points, without axes, without flows, with numbers that are none: a page all the same.
async function readsPoorFiles(browser) {
  const poor = `
import sqlite3, sys
sys.path.insert(0, sys.argv[1])
import report_fixture as fixture
path = sys.argv[2] + "/poor/run.sqlite"
fixture.run(path, 5)
with sqlite3.connect(path) as db:
    for table in ("flows", "series", "series_names", "histogram_names", "links", "metrics"):
        db.execute("DELETE FROM " + table)
    db.execute("DELETE FROM info WHERE key IN ('measured_ps', 'topology')")
path = sys.argv[2] + "/none/sweep.sqlite"
fixture.sweep(path)
with sqlite3.connect(path) as db:
    for table in ("points", "point_values", "metrics", "distributions"):
        db.execute("DELETE FROM " + table)
path = sys.argv[2] + "/along/sweep.sqlite"
fixture.sweep(path)
with sqlite3.connect(path) as db:
    for table in ("axes WHERE id", "axis_values WHERE axis", "point_values WHERE axis"):
        db.execute("DELETE FROM " + table + " = 1")
path = sys.argv[2] + "/plain/sweep.sqlite"
fixture.sweep(path)
with sqlite3.connect(path) as db:
    for table in ("axes", "axis_values", "point_values"):
        db.execute("DELETE FROM " + table)
path = sys.argv[2] + "/single/sweep.sqlite"
fixture.sweep(path)
with sqlite3.connect(path) as db:
    db.execute("INSERT INTO axes VALUES (2, 'duration')")
    db.execute("INSERT INTO axis_values SELECT 2, 0, '1ms'")
    db.execute("INSERT INTO point_values SELECT id, 2, 0 FROM points")
path = sys.argv[2] + "/begun/fig6b.sqlite"
fixture.figure(path)
with sqlite3.connect(path) as db:
    for table in ("claims", "readings", "curves", "curve_points", "differences"):
        db.execute("DELETE FROM " + table)
    db.execute("DELETE FROM info WHERE key IN ('figure', 'title', 'paper', 'place')")
path = sys.argv[2] + "/half/fig6a.sqlite"
fixture.figure(path)
with sqlite3.connect(path) as db:
    db.execute("UPDATE curve_points SET low = NULL, high = NULL, y = 0 WHERE curve = 0")
    db.execute("DELETE FROM curve_points WHERE curve = 1")
    db.execute("UPDATE claims SET measured = NULL, verdict = 'unheard of'")
    db.execute("DELETE FROM metrics")
`;
  execFileSync('python3', ['-c', poor, join(SOURCE, 'tests', 'support'), work]);
  for (const folder of ['poor', 'none', 'along', 'plain', 'single', 'begun', 'half']) {
    const page = await open(browser, page_of(folder));
    await inspect(page, folder);
    assert.ok((await page.locator('h1').innerText()).length > 0, folder);
    assert.equal(await page.getByText('Not judged yet').count(), folder === 'begun' ? 1 : 0);
    if (['along', 'plain', 'single'].includes(folder)) { // none, or one value, to choose from
      await drawn(page, 'sweep-metric');
      await chart(page, 'sweep-metric').locator('.plot').focus();
      await page.keyboard.press('Home');
      assert.match(await chart(page, 'sweep-metric').locator('[aria-live]').innerText(), /bps/);
    }
    await page.context().close();
  }
}

/* ---- jobs ---- */

// Ranks are pixels with tips and parts of the time; runs that are the same are named.
async function readsJobs(browser) {
  writeFileSync(join(work, 'ring.yaml'), 'topology: {type: star, hosts: 4}\n'
    + 'workload: {type: collective, bytes: 1MB, compute: 50us}\n');
  execFileSync(OCHE, ['run', join(work, 'ring.yaml'), '--quiet', '--compare',
    'measure.queue_step=100B,200B', '--out', join(work, 'ring')], { stdio: 'ignore' });
  const page = await open(browser, page_of('ring'));
  assert.match(await page.locator('.same-runs').innerText(),
    /=100B and .*=200B gave the same run, packet for packet\.$/);
  assert.match(await page.getByRole('region', { name: 'Phases' }).innerText(),
    /reduce_scatter\s.*s\s+.*s\s+all_gather/);
  await drawn(page, 'ring-ranks-0-0');
  const plot = chart(page, 'ring-ranks-0-0').locator('.plot');
  assert.match(await plot.locator('image').getAttribute('href'), /^data:image\/png/);
  const before = await plot.locator('image').getAttribute('href');
  await plot.focus();
  await page.keyboard.press('Home');
  assert.match(await tip(page, 'ring-ranks-0-0').innerText(),
    /^rank 0.*, on host0: 0\ss to .*\s+calculates\s+100\s%/);
  await page.keyboard.press('+');
  assert.notEqual(await plot.locator('image').getAttribute('href'), before, 'a part of the time');
  await page.context().close();
}

let browser;
try {
  execFileSync('python3', [join(SOURCE, 'tests', 'support', 'report_fixture.py'), work,
    'plots']);
  browser = await chromium.launch({ executablePath: browserPath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
  await readsRuns(browser);
  await zooms(browser);
  await comparesRuns(browser);
  await readsFigures(browser);
  await readsSeveralPlots(browser);
  await readsManyDocuments(browser);
  await readsSweep(browser);
  await readsPoorFiles(browser);
  await readsJobs(browser);
  assert.deepEqual(said, []);
} finally {
  await browser?.close();
  rmSync(work, { recursive: true });
}
