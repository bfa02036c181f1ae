/** A write by `where` that does not come to its end leaves whole records, and the same request goes on. Reference: records.md#write-many-records. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeData, type OwnData } from '../support/data.ts';
import { type Json, path } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';

const RECORDS = 8_000;
const TABLE = 'Many';
const where = { done: { $ne: true } };

for (const engine of engines)
  describe(`writes by where that are interrupted (${engine})`, () => {
    /** A service with a table whose timeline is on. */
    const started = async (): Promise<{ data: OwnData; service: ServiceProcess }> => {
      const data = await makeData(engine);
      const service = await startServiceProcess(data);
      const fields = { n: { type: 'Number' }, done: { type: 'Boolean' } };
      const body = { className: TABLE, fields, timeline: { displayFields: {}, index: {} } };
      assert.equal((await service.call('POST', `/platform/schemas/${TABLE}`, { body })).status, 200);
      for (let at = 0; at < RECORDS; at += 2_000) {
        const item = { method: 'POST', path: path(TABLE), body: { n: 0, dontUpdatePlatformTimeline: true } };
        const answer = await service.call('POST', '/platform/batch', { body: { requests: Array(2_000).fill(item) } });
        assert.equal(answer.status, 200);
      }
      return { data, service };
    };
    const change = { done: true, n: { __op: 'Increment', amount: 1 } };
    const put = (service: ServiceProcess, options: Json = {}) =>
      service.call('PUT', path(TABLE), { query: { where }, body: change, ...options });
    const count = async (service: ServiceProcess, table: string, query: Json) =>
      (await service.call('GET', path(table), { query: { where: query, count: 1, limit: 0 } })).body.count;
    const untilSome = async (service: ServiceProcess) => {
      while ((await count(service, TABLE, { done: true })) < 500) await sleep(5);
    };
    /** Asserts that each record was written once or not at all, with its history. Returns how many were. */
    const verify = async (service: ServiceProcess): Promise<number> => {
      const done = await count(service, TABLE, { done: true, n: 1 });
      assert.equal(await count(service, TABLE, { n: 0, done: null }), RECORDS - done);
      assert.equal(await count(service, '_Timeline', { objectClass: TABLE, event: 'update' }), done);
      return done;
    };
    const finish = async (service: ServiceProcess, done: number) => {
      const { body } = await put(service);
      assert.deepEqual(body, { matched: RECORDS - done, updated: RECORDS - done, refused: [] });
      assert.equal(await verify(service), RECORDS);
    };

    test('SIGKILL', { timeout: 180_000 }, async () => {
      const { data, service } = await started();
      try {
        const answer = put(service).catch(() => 'none');
        await untilSome(service);
        await service.kill();
        assert.equal(await answer, 'none');
        const next = await startServiceProcess(data);
        const done = await verify(next);
        assert.ok(done >= 500 && done < RECORDS, String(done));
        await finish(next, done);
        assert.equal(await next.stop(), 0);
      } finally {
        await data.remove();
      }
    });

    test('SIGTERM ends it after the group under way, and says how far it came', { timeout: 180_000 }, async () => {
      const { data, service } = await started();
      try {
        const answer = put(service);
        await untilSome(service);
        const exited = new Promise((resolve) => service.process.once('exit', resolve));
        service.process.kill('SIGTERM');
        const { status, body, headers } = await answer;
        assert.equal(await exited, 0);
        assert.equal(status, 503, JSON.stringify(body));
        const { matched, updated, ...error } = body;
        assert.deepEqual(error, { code: 1, error: 'server error: the outcome of this write is unknown', inDoubt: true });
        assert.equal(matched, RECORDS);
        assert.ok(headers.get('retry-after'));
        const next = await startServiceProcess(data);
        assert.equal(await verify(next), updated);
        await finish(next, updated);
        await next.stop();
      } finally {
        await data.remove();
      }
    });

    test('a client that leaves ends it likewise', { timeout: 180_000 }, async () => {
      const { data, service } = await started();
      try {
        const leaving = new AbortController();
        const url = new URL(path(TABLE), service.url);
        url.searchParams.set('where', JSON.stringify(where));
        const headers = { 'X-Platform-Application-Id': service.appId, 'X-Platform-Master-Key': service.masterKey };
        const body = JSON.stringify(change);
        const request = fetch(url, { method: 'PUT', headers, body, signal: leaving.signal });
        await untilSome(service);
        leaving.abort();
        await assert.rejects(request);
        let before = -1;
        let done = await count(service, TABLE, { done: true });
        while (done !== before) {
          before = done;
          await sleep(1_500);
          done = await count(service, TABLE, { done: true });
        }
        assert.equal(await verify(service), done);
        assert.ok(done < RECORDS, String(done));
        await finish(service, done);
        await service.stop();
      } finally {
        await data.remove();
      }
    });
  });
