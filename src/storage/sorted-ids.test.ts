import assert from 'node:assert/strict';
import { readdir, readlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { SortedIds } from './sorted-ids.ts';

/** Splits a list at arbitrary positions. */
async function* pieces(text: string, length: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
}

const listOf = (ids: readonly string[]) => JSON.stringify(ids.map((objectId) => ({ objectId })));

async function all(ids: SortedIds, atMost: number): Promise<string[]> {
  const found: string[] = [];
  for (let next = await ids.peek(atMost); next.length > 0; next = await ids.peek(atMost)) {
    assert.ok(next.length <= atMost);
    found.push(...next);
    ids.take(next.length);
  }
  await ids.close();
  return found;
}

test('ids come in their order, whatever they are and however the list is cut', async () => {
  const odd = ['a', '"},{"objectId":"b', '\\', '\\"', ']', '[', 'שלום', '\n', '\u2028', ' '];
  for (const length of [1, 2, 3, 7, 1_000]) assert.deepEqual(await all(await SortedIds.of(pieces(listOf(odd), length)), 3), odd);
  assert.deepEqual(await all(await SortedIds.of(listOf(odd)), 100), odd);
  for (const empty of ['[]', pieces('[]', 1)]) assert.deepEqual(await all(await SortedIds.of(empty), 10), []);
});

test('many ids lie in a file that has no name', async () => {
  const ids = Array.from({ length: 250_000 }, (_, n) => `${n}א`);
  const temporary = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('record-service-')).length;
  const before = await temporary();
  const sorted = await SortedIds.of(pieces(listOf(ids), 100_000));
  assert.ok((await temporary()) <= before);
  assert.equal(sorted.share, 0);
  assert.deepEqual(await all(sorted, 999), ids);
  assert.equal(sorted.share, 1);
});

test('a list that is cut off is none', async () => {
  const text = listOf(['a', 'b']);
  for (let length = 0; length < text.length; length++) await assert.rejects(SortedIds.of(text.slice(0, length)), `${length}`);
});

test('some thousand ids are the most that memory holds', { skip: process.platform !== 'linux' }, async () => {
  const open = async () => {
    const names = await readdir('/proc/self/fd');
    const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
    return targets.filter((target) => target.includes('/record-service-')).length;
  };
  const before = await open();
  const sorted = await SortedIds.of(listOf(Array.from({ length: 20_000 }, (_, n) => `${n}`)));
  assert.equal(await open(), before + 1);
  await sorted.close();
  assert.equal(await open(), before);
});

test('a list that nobody waits for any more is not read on', async () => {
  let read = 0;
  const ended = new AbortController();
  async function* endless(): AsyncGenerator<string> {
    for (yield '[{"objectId":"a"}'; ; read++) {
      if (read === 3) ended.abort();
      yield ',{"objectId":"b"}';
    }
  }
  const list: AsyncIterableIterator<string> = endless();
  await assert.rejects(SortedIds.of(list, ended.signal), { key: 'timeout' });
  assert.deepEqual([read, (await list.next()).done], [3, true]);
});
