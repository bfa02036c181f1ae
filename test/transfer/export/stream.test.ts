/** An export of any length is streamed, and holds each record once while others write. Reference: export.md#export-over-http. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { forAll, makeTable, setRules } from '../../support/permissions.ts';
import { create, createMany, defineTable, onEachEngine, type Row, tableName } from '../../support/query.ts';
import { addressOf, cellsOf, exported, headersOf } from './exporting.ts';

/** More than the ids that an ordered export sorts in memory (10,000), and many pages. */
const RECORDS = 12_000;
/** Together more than the buffers between the service and a client that does not read: 33 MB and 4 MB at most in the kernel. */
const LARGE_RECORDS = 2_600;
const LARGE_TEXT = 'x'.repeat(16_000);

onEachEngine((get) => {
  const large = tableName('Large');
  let ids: string[] = [];
  before(async () => {
    await defineTable(get(), large, { n: 'Number', s: 'String', shuffled: 'Number' });
    // The prime 7919 does not divide RECORDS, so that each number occurs once.
    const rows = Array.from({ length: RECORDS }, (_, n) => ({
      n,
      s: `row ${n} ${'x'.repeat(n % 50)}`,
      shuffled: (n * 7919) % RECORDS,
    }));
    ids = await createMany(get(), large, rows);
  });

  test('Export: many records come in the order of creation, in chunks', async () => {
    const { text, headers } = await exported(get(), large, { keys: 'objectId,n' });
    assert.equal(headers.get('content-length'), null);
    const rows = cellsOf(text);
    assert.deepEqual(rows[0], ['objectId', 'n']);
    assert.deepEqual(
      rows.slice(1),
      ids.map((id, n) => [id, String(n)]),
    );
    const lines = (await exported(get(), large, { format: 'ndjson' })).text.trim().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).objectId),
      ids,
    );
    const whole = JSON.parse((await exported(get(), large, { format: 'json' })).text);
    assert.deepEqual(
      whole.results.map((row: Row) => row.objectId),
      ids,
    );
  });

  test('Export: an order is kept over all pages', async () => {
    const numbers = async (query: Row) =>
      cellsOf((await exported(get(), large, { keys: 'shuffled', ...query })).text)
        .slice(1)
        .map(([n]) => Number(n));
    const ascending = Array.from({ length: RECORDS }, (_, n) => n);
    assert.deepEqual(await numbers({ order: 'shuffled' }), ascending);
    assert.deepEqual(await numbers({ order: '-shuffled' }), ascending.toReversed());
    assert.deepEqual(
      await numbers({ order: 'shuffled', where: { shuffled: { $gte: RECORDS - 10 } } }),
      ascending.slice(RECORDS - 10),
    );
  });

  test('Export: a where picks its few records out of many', async () => {
    const { text } = await exported(get(), large, { keys: 'n', where: { n: { $in: [3, 6_000, 11_999] } } });
    assert.equal(text, 'n\r\n3\r\n6000\r\n11999\r\n');
    assert.equal(
      (await exported(get(), large, { keys: 'n', where: { s: { $regex: '^row 1199[0-9] ' } } })).text.split('\r\n').length,
      12,
    );
  });

  for (const query of [{}, { order: 'n' }] as Row[])
    test(`Export: while others write and delete, every record that stays is there once ${JSON.stringify(query)}`, async () => {
      const table = tableName('Busy');
      await defineTable(get(), table, { n: 'Number', s: 'String' });
      const rows = Array.from({ length: LARGE_RECORDS }, (_, n) => ({ n, s: LARGE_TEXT }));
      const made = await createMany(get(), table, rows);
      const response = await fetch(addressOf(get(), table, { ...query, keys: 'objectId,s' }), {
        headers: { ...headersOf(get()), 'Accept-Encoding': 'identity' },
      });
      const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
      const parts: Uint8Array[] = [];
      // The answer is longer than the buffers on its way, so the last page has not been read yet.
      const last = made.at(-1) as string;
      await get().call('DELETE', `/platform/classes/${table}/${last}`);
      const gone = new Set([last]);
      for (let round = 0; round < 30; round++) {
        const [id, other] = made.slice(round * 50) as [string, string];
        gone.add(id);
        await Promise.all([
          get().call('DELETE', `/platform/classes/${table}/${id}`),
          // The new value moves it to the other end of the order.
          get().call('PUT', `/platform/classes/${table}/${other}`, { body: { n: LARGE_RECORDS - round } }),
          create(get(), table, { n: round }),
        ]);
        for (let chunk = 0; chunk < 5; chunk++) parts.push((await reader.read()).value ?? new Uint8Array());
      }
      for (let next = await reader.read(); !next.done; next = await reader.read()) parts.push(next.value);
      const seen = cellsOf(Buffer.concat(parts).toString())
        .slice(1)
        .map(([id]) => id as string);
      const found = new Set(seen);
      assert.equal(found.size, seen.length);
      assert.deepEqual(
        made.filter((id) => !gone.has(id) && !found.has(id)),
        [],
      );
      assert.ok(!found.has(last), 'it was deleted before its page was read');
    });

  for (const format of ['csv', 'ndjson'])
    test(`Export: a field that is dropped and made again with another type in the middle, ${format}`, async () => {
      const table = tableName('Retyped');
      await defineTable(get(), table, { n: 'Number', d: 'Date', s: 'String' });
      const d = { __type: 'Date', iso: '2026-01-02T03:04:05.000Z' };
      const s = LARGE_TEXT;
      const rows = Array.from({ length: LARGE_RECORDS }, () => ({ n: 1, d, s }));
      const last = (await createMany(get(), table, rows)).at(-1);
      const response = await fetch(addressOf(get(), table, { format, keys: 'n,d,s' }), {
        headers: { ...headersOf(get()), 'Accept-Encoding': 'identity' },
      });
      const fields = (change: Row) => get().call('PUT', `/platform/schemas/${table}`, { body: { fields: change } });
      // What exceeds the buffers is not read yet.
      const changed = [
        await fields({ n: { __op: 'Delete' }, d: { __op: 'Delete' } }),
        await fields({ n: { type: 'String' }, d: { type: 'Array' } }),
        await get().call('PUT', `/platform/classes/${table}/${last}`, { body: { n: '=1,\r\n', d: ['a', 1] } }),
      ];
      assert.deepEqual(
        changed.map(({ status }) => status),
        [200, 200, 200],
      );
      const text = await response.text();
      if (format === 'csv') {
        assert.ok(text.startsWith(`n,d,s\r\n1,2026-01-02T03:04:05.000Z,${s}\r\n`));
        assert.ok(text.endsWith(`\r\n,,${s}\r\n"'=1,\r\n","[""a"",1]",${s}\r\n`));
        return;
      }
      const records = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      assert.deepEqual([records.length, records[0].n, records[0].d], [LARGE_RECORDS, 1, d]);
      assert.deepEqual([records.at(-2).n, records.at(-2).d], [undefined, undefined]);
      assert.deepEqual([records.at(-1).n, records.at(-1).d], ['=1,\r\n', ['a', 1]]);
    });

  test('Export: an error in the middle breaks the connection off', async () => {
    const table = tableName('Broken');
    await makeTable(get(), table, { s: 'String' }, forAll({ '*': true }));
    await createMany(
      get(),
      table,
      Array.from({ length: LARGE_RECORDS }, () => ({ s: randomBytes(8_000).toString('base64') })),
    );
    for (const encoding of ['identity', 'gzip']) {
      await setRules(get(), table, forAll({ '*': true }));
      const headers = { ...headersOf(get(), { as: 'anonymous' }), 'Accept-Encoding': encoding };
      const response = await fetch(addressOf(get(), table, { format: 'ndjson' }), { headers });
      assert.equal(response.status, 200);
      await setRules(get(), table, {});
      await assert.rejects(response.text(), encoding);
    }
  });

  test('Export: records of any size come together', async () => {
    const table = tableName('Sizes');
    await defineTable(get(), table, { n: 'Number', s: 'String' });
    const sizes = [...Array(300).fill(10), ...Array(6).fill(1_500_000), ...Array(300).fill(10), 6_000_000, 1];
    for (let at = 0; at < sizes.length; at += 306)
      await createMany(
        get(),
        table,
        sizes.slice(at, at + 306).map((size, n) => ({ n: at + n, s: 'x'.repeat(size) })),
      );
    for (const query of [{}, { order: 'n' }]) {
      const rows = cellsOf((await exported(get(), table, { ...query, keys: 'n,s' })).text).slice(1);
      assert.deepEqual(
        rows.map(([n, s]) => [Number(n), s?.length]),
        sizes.map((size, n) => [n, size]),
      );
    }
  });

  test('Export: HEAD answers with the headers of GET, and its refusals', async () => {
    const head = (table: string, query: Row) =>
      fetch(addressOf(get(), table, query), { method: 'HEAD', headers: headersOf(get()) });
    const answer = await head(large, {});
    assert.deepEqual([answer.status, await answer.text()], [200, '']);
    assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
    assert.equal(answer.headers.get('content-disposition'), `attachment; filename="${large}.csv"`);
    assert.equal((await head(large, { format: 'xml' })).status, 400);
    assert.equal((await head(tableName('Missing'), {})).status, 400);
  });

  test('Export: it is compressed if the client accepts that', async () => {
    for (const format of ['csv', 'ndjson', 'json']) {
      const plain = await exported(get(), large, { format });
      const got = await raw(addressOf(get(), large, { format }), { ...headersOf(get()), 'Accept-Encoding': 'gzip' });
      assert.equal(got.encoding, 'gzip', format);
      assert.ok(got.bytes.length < plain.text.length / 2);
      assert.equal(gunzipSync(got.bytes).toString(), plain.text);
    }
  });

  test('Export: a client that goes away ends it, and others are served meanwhile', async () => {
    const before = get().output().length;
    for (let round = 0; round < 8; round++) {
      const stop = new AbortController();
      const response = await fetch(addressOf(get(), large, round % 2 ? { order: '-n' } : {}), {
        headers: headersOf(get()),
        signal: stop.signal,
      });
      const reader = response.body?.getReader();
      await reader?.read();
      stop.abort();
    }
    assert.equal((await get().call('GET', `/platform/classes/${large}/${ids[0]}`)).body.n, 0);
    assert.doesNotMatch(get().output().slice(before), /broke off|fault/);
  });

  test('Export: many at a time, each whole', async () => {
    const texts = await Promise.all(Array.from({ length: 8 }, () => exported(get(), large, { keys: 'n' })));
    assert.deepEqual(new Set(texts.map(({ text }) => text)).size, 1);
    assert.equal(cellsOf(texts[0]?.text ?? '').length, RECORDS + 1);
  });
});

/** Fetches a response without decompression. */
function raw(address: URL, headers: Record<string, string>): Promise<{ bytes: Buffer; encoding: string | undefined }> {
  return new Promise((resolve, reject) => {
    request(address, { headers }, (answer) => {
      answer
        .toArray()
        .then((parts) => resolve({ bytes: Buffer.concat(parts), encoding: answer.headers['content-encoding'] }), reject);
    })
      .once('error', reject)
      .end();
  });
}
