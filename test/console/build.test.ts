/**
 * The service answers immediately while the console is being built; a failed build is reported in words and stops nothing. Reference:
 * console.md#addresses-of-the-console.
 */
import assert from 'node:assert/strict';
import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ConsoleAnswer, Visitor } from '../support/console.ts';
import { startServiceProcess } from '../support/service-process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Copies the sources, as in a clone with installed packages and without a built console. */
function clone(change: (directory: string) => void): string {
  const directory = mkdtempSync(join(tmpdir(), 'rds-console-'));
  after(() => rmSync(directory, { recursive: true, force: true }));
  const isSource = (path: string) => !path.includes('node_modules') && !path.endsWith('.test.ts');
  for (const part of ['src', 'scripts', 'console', 'template', 'package.json', 'package-lock.json'])
    cpSync(join(root, part), join(directory, part), { recursive: true, filter: isSource });
  for (const part of ['node_modules', 'console/node_modules']) symlinkSync(join(root, part), join(directory, part));
  change(directory);
  return join(directory, 'src/main.ts');
}

/** Polls until the answer meets the condition. */
async function until(ask: () => Promise<ConsoleAnswer>, isOver: (answer: ConsoleAnswer) => boolean): Promise<ConsoleAnswer> {
  for (let count = 0; count < 600; count++) {
    const answer = await ask();
    if (isOver(answer)) return answer;
    await wait(100);
  }
  throw new Error('it stays as it is');
}

const isBuilding = ({ headers }: ConsoleAnswer) => headers.refresh !== undefined;

test('until the console is built its address shows a page that renews itself, and everything else works', async () => {
  const program = clone((directory) => appendFileSync(join(directory, 'console/src/main.tsx'), `\n// ${directory}\n`));
  const service = await startServiceProcess({ program });
  const visitor = new Visitor(service);
  const page = (language: string) => visitor.send('GET', '/console/', { headers: { 'accept-language': language } });
  const first = await page('he');
  assert.equal(first.status, 200);
  assert.equal(first.headers.refresh, '2');
  assert.match(first.text, /<html lang="he" dir="rtl">.*המסוף בהכנה/);
  assert.match((await page('en')).text, /<html lang="en" dir="ltr">/);
  assert.equal((await service.call('GET', '/platform/classes/Accounts')).status, 200);
  const built = await until(
    () => page('en'),
    (answer) => !isBuilding(answer),
  );
  assert.equal(built.status, 200, built.text);
  const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(built.text) ?? [];
  const asset = await visitor.send('GET', script, { headers: { 'accept-encoding': 'br' } });
  assert.equal(asset.status, 200);
  assert.equal(asset.headers['content-encoding'], 'br');
  assert.match(String(asset.headers['cache-control']), /immutable/);
  await service.stop();
});

test('a failed build is reported in words, and in the log why; the service goes on', async () => {
  const program = clone((directory) => writeFileSync(join(directory, 'console/src/main.tsx'), "import './nothing-there.tsx';\n"));
  const service = await startServiceProcess({ program, env: { LOG_LEVEL: 'error' } });
  const visitor = new Visitor(service);
  const failed = await until(
    () => visitor.send('GET', '/console/'),
    (answer) => !isBuilding(answer),
  );
  assert.equal(failed.status, 503);
  assert.match(String(failed.headers['content-type']), /text\/html/);
  assert.match(failed.text, /could not be built/);
  for (const secret of ['nothing-there', tmpdir(), 'node_modules']) assert.ok(!failed.text.includes(secret), secret);
  assert.match(service.output(), /the console cannot be shown.*nothing-there|nothing-there.*the console cannot be shown/s);
  assert.equal((await service.call('GET', '/platform/classes/Accounts')).status, 200);
  assert.equal(await service.stop(), 0);
});

test('the page of the program lets nothing in that is not its own', async () => {
  const service = await startServiceProcess();
  const visitor = new Visitor(service);
  const { headers, text } = await until(
    () => visitor.send('GET', '/console/'),
    (answer) => !isBuilding(answer),
  );
  const policy = new Map(
    String(headers['content-security-policy'])
      .split('; ')
      .map((part) => [part.split(' ')[0], part.split(' ').slice(1)]),
  );
  assert.deepEqual(policy.get('default-src'), ["'none'"]);
  assert.deepEqual(policy.get('script-src'), ["'self'"]);
  for (const name of ['frame-ancestors', 'base-uri', 'object-src']) assert.deepEqual(policy.get(name), ["'none'"], name);
  assert.deepEqual(policy.get('form-action'), ["'self'"]);
  assert.ok(policy.get('style-src')?.every((source) => source === "'self'" || source.startsWith("'nonce-")));
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['cache-control'], 'no-store');
  assert.doesNotMatch(text, /<script(?![^>]* src=)[^>]*>|<style| style=| on[a-z]+=/);
  const missing = await visitor.send('GET', '/console/-/assets/main-of-before.js');
  assert.equal(missing.status, 404);
  assert.equal(missing.headers['cache-control'], 'no-store');
  assert.equal((await visitor.send('GET', '/console/-/assets/..%2fmanifest.json')).status, 404);
  await service.stop();
});
