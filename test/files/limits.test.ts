/** Uploads over 33,554,432 bytes are 413 with an HTML page instead of JSON. Reference: files.md#upload. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { assertServed, type Got, upload } from '../support/files.ts';
import { onDisk, usage } from './operator.ts';
import { samples } from './samples.ts';
import { bothStores, onEachStore } from './stores.ts';

const LIMIT = 33_554_432;
/** Text without repetition. */
const whole = Buffer.from(Array.from({ length: LIMIT / 16 + 1 }, (_, n) => `${String(n).padStart(14, '0')}.\n`).join(''));

function assertTooLarge({ status, headers, text, body }: Got): void {
  assert.equal(status, 413);
  assert.match(headers['content-type'] ?? '', /^text\/html/);
  assert.match(text, /^<!doctype html|^<html/i);
  assert.equal(body, undefined);
}

onEachStore((files) => {
  const { service } = files;

  for (const chunked of [false, true]) {
    const how = chunked ? 'without a Content-Length' : 'with a Content-Length';

    test(`Limits: 32 MB to the byte pass, ${how}`, async () => {
      const bytes = whole.subarray(0, LIMIT);
      const { status, body, text } = await upload(service(), 'large.txt', bytes, { chunked });
      assert.equal(status, 201, text);
      await assertServed(body.url, bytes);
    });

    // The size is refused before the store is used, so one store is enough for the larger size.
    for (const size of files.kind === 'disk' ? [LIMIT + 1, 33 * 1024 * 1024] : [LIMIT + 1])
      test(`Limits: ${size} bytes are 413, an HTML page, and leave nothing, ${how}`, async () => {
        const [used, stored] = [await usage(files), await onDisk(service())];
        const bytes = Buffer.alloc(size, whole);
        assertTooLarge(await upload(service(), 'large.txt', bytes, { chunked }));
        assertTooLarge(await upload(service(), 'large.txt', bytes, { chunked, as: 'master' }));
        for (let n = 0; n < 50 && (await onDisk(service())).length > stored.length; n++) await wait(20);
        assert.deepEqual(await onDisk(service()), stored);
        assert.deepEqual(await usage(files), used);
      });
  }

  if (files.kind === 'disk')
    test('files over 32 MB are 413 whatever their type', async () => {
      const bytes = Buffer.concat([samples.elf, Buffer.alloc(LIMIT, whole)]);
      for (const chunked of [false, true]) assertTooLarge(await upload(service(), 'a.png', bytes, { chunked }));
    });

  test('Limits: many uploads at once, of some megabytes each, do not add up in memory', async () => {
    const bytes = whole.subarray(0, 8 * 1024 * 1024);
    const answers = await Promise.all(Array.from({ length: 8 }, () => upload(service(), 'large.txt', bytes)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
    for (const { body } of answers) await assertServed(body.url, bytes);
  });
}, bothStores);
