/** `record-service move`: everything from the embedded store to PostgreSQL and back, as an operator and a client see it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runToEnd, temporary } from '../edge/process.ts';
import { type Data, dataForTest, makeDatabase, settingsOf } from '../support/data.ts';
import { find } from '../support/query.ts';
import { type Service, startService } from '../support/service.ts';
import { assertAlike, assertCredentials, fill, readAll } from './world.ts';

async function running<T>(data: Data, work: (service: Service) => Promise<T>): Promise<T> {
  const service = await startService(data);
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}

const move = (data: Data, to: string) => runToEnd(['move', '--to', to], settingsOf(data), data.dataDir);

test('Move: to PostgreSQL and back, everything is as it was', async () => {
  const embedded = await dataForTest('sqlite');
  const database = await makeDatabase(false);
  after(() => database.drop());
  const { world, before } = await running(embedded, async (service) => {
    const world = await fill(service, Number(process.env.MANY ?? 3_000));
    return { world, before: await readAll(service, world) };
  });

  const there = await move({ ...embedded, database }, 'postgres');
  console.log(there);
  assert.equal(there.code, 0, there.stderr);

  const now = await running({ dataDir: await temporary(), database }, async (service) => {
    assertAlike(await readAll(service, world), before);
    await assertCredentials(service, world);
    const made = await service.call('POST', '/platform/classes/Hostile', { body: { s: 'new', p: null } });
    assert.equal(made.status, 201, made.text);
    assert.equal((await find(service, 'Hostile')).at(-1)?.s, 'new');
    return readAll(service, world);
  });

  const emptied = { dataDir: await temporary() };
  const back = await move({ ...emptied, database }, 'embedded');
  console.log(back);
  assert.equal(back.code, 0, back.stderr);
  await running(emptied, async (service) => {
    assertAlike(await readAll(service, world), now);
    await assertCredentials(service, world);
  });
});
