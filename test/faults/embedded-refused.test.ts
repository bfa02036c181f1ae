/**
 * Writes that SQLite refused because it could not make them durable are not there after a crash either: their part of the write-ahead log is
 * invalidated before the answer. Reference: faults.md#passing-faults.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeData } from '../support/data.ts';
import { path } from '../support/records.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { UNAVAILABLE } from './answers.ts';
import { injector } from './preload/control.ts';

const write = (service: ServiceProcess, tag: string, filler = 10) =>
  service.call('POST', path('Accounts'), { body: { Name: tag, filler: 'x'.repeat(filler) } });

async function tagsOf(service: ServiceProcess): Promise<string[]> {
  const { status, body, text } = await service.call('GET', `${path('Accounts')}?limit=1000&order=createdAt`);
  assert.equal(status, 200, text);
  return body.results.map(({ Name }: { Name: string }) => Name);
}

test('a write whose flush failed is not there after a kill', async (t) => {
  const faults = injector();
  if (!faults) return t.skip('no C compiler');
  const data = await makeData('sqlite');
  t.after(() => data.remove());
  let service = await startServiceProcess({ dataDir: data.dataDir, env: faults.env });
  t.after(() => service.kill());
  const known = await tagsOf(service);
  const done = async (tag: string) => {
    assert.equal((await write(service, tag)).status, 201);
    known.push(tag);
  };
  // Writes of one page and of many, on a new log and on a used one. The flush of the invalidation fails as well.
  for (const [round, filler] of [10, 60_000, 10, 200_000].entries()) {
    if (round > 0) await done(`before ${round}`);
    const failing = faults.begin({ calls: ['sync'], path: 'records.sqlite-wal', error: 'EIO' });
    for (const tag of [`refused ${round}`, `again ${round}`]) {
      const { status, text } = await write(service, tag, filler);
      assert.deepEqual([status, text], [503, UNAVAILABLE]);
    }
    assert.deepEqual((await tagsOf(service)).toSorted(), known.toSorted());
    if (round % 2 === 0) {
      await service.kill();
      failing.end();
      service = await startServiceProcess({ dataDir: data.dataDir, env: faults.env });
    } else failing.end();
    assert.deepEqual((await tagsOf(service)).toSorted(), known.toSorted(), `round ${round}`);
    await done(`after ${round}`);
  }
  assert.equal(await service.stop(), 0);
});
