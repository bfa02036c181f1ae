/**
 * Large records and slow conditions: other requests are answered meanwhile, memory stays bounded, the time limit holds. Reference:
 * queries.md#time-limit.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { assertError, create, find, pointer } from '../support/query.ts';
import { engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';

const MB = 1_000_000;
const RECORDS = 12;
/** Memory in bytes that an answer may take, however long it is. */
const GROWTH = 150 * MB;

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

/** Returns the longest wait for an answer of another address, in milliseconds, while some work is done. */
async function longestWait(service: ServiceProcess, work: Promise<unknown>): Promise<number> {
  let done = false;
  let longest = 0;
  const ended = work.finally(() => {
    done = true;
  });
  while (!done) {
    const began = performance.now();
    assert.equal((await service.call('GET', '/health/live', { as: 'anonymous' })).status, 200);
    longest = Math.max(longest, performance.now() - began);
    await pause(5);
  }
  await ended;
  return longest;
}

const residentBytes = ({ process: { pid } }: ServiceProcess) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;

/** Returns by how many bytes a process grew at most while some work was done. */
async function growth(service: ServiceProcess, work: () => Promise<unknown>): Promise<number> {
  const before = residentBytes(service);
  let max = before;
  const timer = setInterval(() => {
    max = Math.max(max, residentBytes(service));
  }, 10);
  await work();
  clearInterval(timer);
  return max - before;
}

/** Starts a request and returns its answer, whose body is not read yet. */
function begun(service: ServiceProcess, path: string): Promise<IncomingMessage> {
  const headers = { 'X-Platform-Application-Id': service.appId, 'X-Platform-Master-Key': service.masterKey };
  return new Promise((resolve, reject) => request(new URL(path, service.url), { headers }, resolve).on('error', reject).end());
}

for (const engine of engines)
  describe(engine, () => {
    let service: ServiceProcess;
    const ids: string[] = [];
    const textOf = (n: number) => `${n}: "😀שלום"\n`.repeat(n === 0 ? 10 : (4 * MB) / 30);
    before(async () => {
      service = await startServiceProcess({
        engine,
        env: { QUERY_TIMEOUT_MS: '3000', NODE_OPTIONS: '--max-old-space-size=512' },
      });
      for (let n = 0; n < RECORDS; n++) ids.push(await create(service, 'Notes', { n, text: textOf(n) }));
    });
    after(() => service.stop());

    const expected = Array.from({ length: RECORDS }, (_, n) => hash(textOf(n)));
    const hashesOf = (rows: readonly { text: string }[]) => rows.map(({ text }) => hash(text));

    test('Operations: /health/live is answered while a list of large records streams', async () => {
      // The first one starts a thread, and marks the table as one of large records.
      await service.call('GET', `/platform/classes/Notes/${ids[1]}`);
      const chunks: Buffer[] = [];
      let answered = 0;
      const grown = await growth(service, async () => {
        const answer = await begun(service, '/platform/classes/Notes?limit=100');
        assert.equal(answer.statusCode, 200);
        let isRead = false;
        const reading = (async () => {
          for await (const chunk of answer) chunks.push(chunk as Buffer);
          isRead = true;
        })();
        while (!isRead) {
          assert.equal((await service.call('GET', '/health/live', { as: 'anonymous' })).status, 200);
          if (!isRead) answered++;
        }
        await reading;
      });
      const body = Buffer.concat(chunks);
      assert.ok(body.length > (RECORDS - 1) * 2 * MB, `${body.length} bytes`);
      assert.ok(answered > 0);
      assert.ok(grown < GROWTH, `${grown / MB} MB`);
      assert.deepEqual(hashesOf(JSON.parse(body.toString()).results), expected);
    });

    test('Records/Query: a list of large records streams, in bounded memory', async () => {
      let rows: { text: string }[] = [];
      const grown = await growth(service, async () => {
        rows = (await find(service, 'Notes', { limit: 2_000, order: '-n' })) as { text: string }[];
      });
      assert.deepEqual(hashesOf(rows), expected.toReversed());
      assert.ok(grown < GROWTH, `${grown / MB} MB`);
    });

    test('Records/Query: a client who does not read costs no more', async () => {
      const answers: IncomingMessage[] = [];
      const grown = await growth(service, async () => {
        for (let n = 0; n < 3; n++) answers.push(await begun(service, '/platform/classes/Notes'));
        await pause(500);
      });
      assert.ok(grown < GROWTH, `${grown / MB} MB`);
      for (const answer of answers) answer.destroy();
    });

    test('Records/Read one: a large record is the one that was written', async () => {
      for (const id of [ids[0], ids[5]]) {
        const { status, body } = await service.call('GET', `/platform/classes/Notes/${id}`);
        assert.equal(status, 200);
        assert.equal(body.text, textOf(body.n));
      }
      assertError(await service.call('GET', '/platform/classes/Notes/nobody'), 404, 101);
    });

    test('Records/Query include: large records are put in, many times too', async () => {
      for (let n = 0; n < 3; n++)
        await create(service, 'Refs', {
          n,
          one: pointer('Notes', ids[n % 3] as string),
          many: ids.slice(0, 3).map((id) => pointer('Notes', id)),
        });
      for (const include of ['one', 'many']) {
        const rows = (await find(service, 'Refs', { include })) as Record<string, { text: string }>[] &
          { many: { text: string }[] }[];
        assert.equal(rows.length, 3);
        rows.forEach((row, n) => {
          const texts =
            include === 'one' ? [row.one?.text ?? ''] : (row.many as unknown as { text: string }[]).map(({ text }) => text);
          assert.deepEqual(
            texts.map(hash),
            (include === 'one' ? [n % 3] : [0, 1, 2]).map((at) => hash(textOf(at))),
          );
        });
      }
    });

    test('Aggregation: what a row collects is bounded together, however many accumulators collect it', async () => {
      const collecting = (accumulators: number) => {
        const collected = Array.from({ length: accumulators }, (_, at) => [`c${at}`, { $push: '$text' }]);
        const pipeline = [{ $group: { _id: null, ...Object.fromEntries(collected) } }];
        return service.call('GET', '/platform/classes-aggregate/Notes', { query: { pipeline } });
      };
      const one = await collecting(1);
      assert.equal(one.status, 200);
      assert.equal(one.body.results[0].c0.length, RECORDS);
      const grown = await growth(service, async () => {
        const refused = await collecting(8);
        if (engine === 'sqlite') assertError(refused, 400, 102, /too large/);
        else assertError(refused, 413, 116);
      });
      assert.ok(grown < 3 * GROWTH, `${grown / MB} MB`);
    });

    test('Records/Query: conditions on large arrays end at the time limit, and hold up nobody', async () => {
      const list = Array.from({ length: 100_000 }, (_, n) => n % 10);
      for (let n = 0; n < 16; n++) await create(service, 'Lists', { n, list });
      const $or = Array.from({ length: 900 }, (_, n) => ({ list: { $gt: 1_000_000_000 + n } }));
      const slow = service.call('POST', '/platform/classes/Lists', { body: { _method: 'GET', keys: 'n', where: { $or } } });
      const wait = await longestWait(service, slow);
      assertError(await slow, 503, 124);
      assert.ok(wait < 1_500, `${wait} ms`);
      // A single such condition is answered.
      await create(service, 'Short', { n: 1, list: [1, 2, 3] });
      assert.equal((await find(service, 'Short', { where: { list: { $gt: 2 } } })).length, 1);
    });
  });
