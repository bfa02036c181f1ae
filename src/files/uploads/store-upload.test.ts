import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, afterEach, test } from 'node:test';
import { SAMPLE_BYTES } from '../types/index.ts';
import { receive } from './store-upload.ts';

const root = await mkdtemp(join(tmpdir(), 'receive-'));
after(() => rm(root, { recursive: true }));
const directory = join(root, 'incoming');
afterEach(async () => assert.deepEqual(await readdir(directory).catch(() => []), []));

async function* chunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

for (const [size, chunk] of [
  [1, 1],
  [5_000, 1],
  [SAMPLE_BYTES - 1, 1_000],
  [SAMPLE_BYTES, SAMPLE_BYTES],
  [SAMPLE_BYTES + 1, 7_777],
  [3_000_000, 65_536],
  [3_000_000, 3_000_000],
] as const)
  test(`${size} bytes in pieces of ${chunk} arrive whole`, async () => {
    const bytes = randomBytes(size);
    const samples: [number, boolean][] = [];
    const file = await receive(chunks(bytes, chunk), directory, size, (sample, isWhole) => {
      samples.push([sample.length, isWhole]);
      assert.ok(bytes.subarray(0, sample.length).equals(sample));
    });
    assert.equal(samples.length, 1);
    const [length, isWhole] = samples[0] ?? [];
    assert.equal(length, Math.min(size, SAMPLE_BYTES));
    if (size !== SAMPLE_BYTES) assert.equal(isWhole, size < SAMPLE_BYTES);
    assert.equal(file.size, size);
    assert.equal(file.sample.length, length);
    assert.ok(bytes.equals(await readFile(file.path)));
    assert.equal((await stat(file.path)).mode & 0o777, 0o600);
    await file.discard();
    await file.discard();
  });

test('no bytes are no file', async () => {
  const none = (async function* () {})();
  await assert.rejects(
    receive(none, directory, 10, () => assert.fail()),
    { key: 'emptyFile' },
  );
  await assert.rejects(
    receive(chunks(Buffer.alloc(0), 1), directory, 10, () => assert.fail()),
    { key: 'emptyFile' },
  );
});

test('more than may come ends it at once', async () => {
  let taken = 0;
  const endless = (async function* () {
    for (;;) {
      taken += 10_000;
      yield Buffer.alloc(10_000);
    }
  })();
  await assert.rejects(
    receive(endless, directory, 1_000_000, () => {}),
    { key: 'fileTooLarge' },
  );
  assert.equal(taken, 1_010_000);
});

test('who looks at the sample may refuse it before the rest is taken', async () => {
  let taken = 0;
  const source = (async function* () {
    for (; taken < 100; taken++) yield Buffer.alloc(SAMPLE_BYTES);
  })();
  const refusal = new Error('no');
  const refused = receive(source, directory, 1e9, async () => {
    throw refusal;
  });
  await assert.rejects(refused, refusal);
  assert.equal(taken, 0);
});

test('a sender that breaks off leaves nothing', async () => {
  const source = (async function* () {
    yield randomBytes(2_000_000);
    throw new Error('gone');
  })();
  await assert.rejects(
    receive(source, directory, 1e9, () => {}),
    { message: 'gone' },
  );
});

test('a stream that is refused can still be drained', async () => {
  const stream = Readable.from(chunks(randomBytes(1_000_000), 50_000));
  await assert.rejects(
    receive(stream, directory, 200_000, () => {}),
    { key: 'fileTooLarge' },
  );
  assert.equal(stream.destroyed, false);
  stream.resume();
  await new Promise((resolve) => stream.on('end', resolve));
});

test('a directory that cannot be written to is a fault', async () => {
  await assert.rejects(
    receive(chunks(randomBytes(10), 1), '/dev/null/x', 100, () => {}),
    { code: 'ENOTDIR' },
  );
});
