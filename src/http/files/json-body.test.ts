import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { readJsonBody } from './json-body.ts';

const directory = await mkdtemp(join(tmpdir(), 'json-body-'));
after(() => rm(directory, { recursive: true }));

async function read(text: string) {
  const path = join(directory, 'body');
  await writeFile(path, text);
  return readJsonBody({ path, size: Buffer.byteLength(text) });
}
const long = 'QUJD'.repeat(100_000);

test('a short body is its text, without a byte order mark', async () => {
  assert.deepEqual(await read('\ufeff{"base64":"QQ=="}'), { text: '{"base64":"QQ=="}', longBase64: null });
});

for (const [what, text] of [
  ['first', `{"base64":"${long}","_ApplicationId":"א"}`],
  ['last', `{"_ApplicationId":"א", "base64"\n: "${long}"}`],
  ['behind others of its name', `{"fileData":{"base64":"QQ=="},"_ApplicationId":"א","base64":"${long}"}`],
] as const)
  test(`a long base64 is found: ${what}`, async () => {
    const body = await read(text);
    assert.ok(body?.longBase64);
    const { base64, _ApplicationId: appId } = JSON.parse(body.text);
    assert.deepEqual([base64, appId], [body.longBase64.placeholder, 'א']);
    assert.deepEqual([(await buffer(body.longBase64.bytes())).toString() === long, body.longBase64.size], [true, long.length]);
  });

test('a long string of another key is no base64', async () => {
  for (const text of [
    `{"other":"${long}"}`,
    `{"x\\"base64":"${long}"}`,
    `{"b\\u0061se64":"${long}"}`,
    `{"base64":"QQ==","fileData":"${long}"}`,
    `{"base64":"${long}","fileData":"${long}"}`,
    `{"base64":"${long}`,
    `{"base64":"${long}\\""}`,
  ])
    assert.equal(await read(text), null, text.slice(0, 40));
  // Here the key belongs to another object, which parsing the rest shows.
  const body = await read(`{"fileData":{"base64":"${long}"},"base64":"QQ=="}`);
  assert.equal(JSON.parse(body?.text ?? '').base64, 'QQ==');
});

for (const [what, part] of [
  ['objects', '{},'],
  ['strings', '"",'],
  ['keys', '"base64":"'],
  ['quotes', '\\"'],
  ['backslashes', '\\\\'],
] as const)
  test(`43 MB of ${what} cost neither time nor memory`, async () => {
    const path = join(directory, 'body');
    const size = 43_000_000;
    await writeFile(
      path,
      Buffer.alloc(size, part).fill('{"base64":"'.slice(0, what === 'objects' ? 1 : 11), 0, what === 'objects' ? 1 : 11),
    );
    const before = process.memoryUsage();
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const started = performance.now();
    assert.equal(await readJsonBody({ path, size }), null);
    delay.disable();
    const now = process.memoryUsage();
    assert.ok(now.rss - before.rss < 80_000_000, `${now.rss - before.rss} bytes`);
    assert.ok(delay.max < 500_000_000, `${delay.max} ns`);
    assert.ok(performance.now() - started < 5_000);
  });
