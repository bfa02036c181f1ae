/** What outlives a process: files, and urls that follow BASE_URL, STATIC_URL and PORT (docs/decisions.md "Files"). Two processes on one store. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startS3 } from '../../src/files/testing/s3-server.ts';
import { makeData, type OwnData } from '../support/data.ts';
import {
  assertGone,
  assertServed,
  assertUnknownFile,
  credentials,
  deleteFile,
  fileObject,
  publicUrl,
  recordUrl,
  shownFile,
  shownPrivate,
  uploadFile,
  uploadUrl,
} from '../support/files.ts';
import { storeOf } from '../support/records.ts';
import { engines, type Service, startService } from '../support/service.ts';
import { assertGate } from './gate.ts';
import { everyPlace, settingsOfS3, usual } from './stores.ts';

const BASE = 'https://crm.example/records';

/** The suites of the places, each with data of its own, and what starts a service on it. */
function onEachData(places: typeof usual, suite: (start: (more?: Record<string, string>) => Promise<Service>) => void): void {
  for (const [engine, kind] of places.filter(([engine]) => engines.includes(engine)))
    describe(`${engine}, ${kind}`, () => {
      let data: OwnData;
      let env: Record<string, string> = {};
      const ends: (() => unknown)[] = [];
      const start = async (more: Record<string, string> = {}) => {
        const service = await startService({ ...data, env: { ...env, ...more } });
        ends.push(() => (service.process.exitCode === null ? service.stop() : undefined));
        return service;
      };
      before(async () => {
        data = await makeData(engine);
        if (kind === 's3') {
          const s3 = await startS3();
          env = settingsOfS3(s3);
          ends.push(() => s3.stop());
        }
      });
      after(async () => {
        for (const end of ends.reverse()) await end();
        await data.remove();
      });

      suite(start);
    });
}

onEachData(usual, (start) => {
  test('urls follow the settings, and what was stored is there after each start', async () => {
    let service: Service = await start();
    const store = storeOf(() => service);
    const table = await store.table({ A: 'File', B: 'PrivateFile' });
    const [one, two, three] = [
      await uploadFile(service, 'a b.txt', 'one'),
      await uploadFile(service),
      await uploadFile(service, 'c.txt', 'three'),
    ];
    const id = await store.create(table, { A: fileObject(one), B: fileObject(two) });
    const place = { table, id, field: 'B' };
    const firstUrl = service.url;

    await service.stop();
    service = await start();
    assert.notEqual(service.url, firstUrl);
    const moved = await store.read(table, id);
    assert.deepEqual([moved.A, moved.B], [shownFile(service, one.name), shownPrivate(service, two.name, place)]);
    await assertServed(moved.A.url, 'one');
    await assertServed(uploadUrl(service, three.name), 'three');

    await service.stop();
    service = await start({ BASE_URL: BASE, STATIC_URL: 'https://static.example/x' });
    const behind = await store.read(table, id);
    const outside = { ...service, url: BASE };
    assert.deepEqual(behind.A, { ...moved.A, url: `https://static.example/x/${service.appId}/${one.name}` });
    assert.equal(behind.B.url, recordUrl(outside, two.name, place));
    assert.equal((await uploadFile(service, 'a.txt')).url.startsWith(`${BASE}/platform/files/${service.appId}/`), true);
    await assertServed(publicUrl(service, one.name), 'one');

    await service.stop();
    service = await start({ BASE_URL: BASE });
    assert.equal((await store.read(table, id)).A.url, `${BASE}/static/${service.appId}/${one.name}`);
    // The gate and what it returns to are addresses as clients see them.
    const { status, headers } = await fetch(recordUrl(service, two.name, place), { redirect: 'manual' });
    const location = new URL(headers.get('location') ?? '');
    assert.deepEqual([status, location.origin + location.pathname], [302, `${BASE}/console/sign-in`]);
    assert.equal(location.searchParams.get('returnTo'), recordUrl(outside, two.name, place));
    // The value read under another address still attaches.
    await store.update(table, id, { A: moved.A, B: moved.B });

    await service.stop();
    service = await start();
    assert.deepEqual((await store.read(table, id)).A, shownFile(service, one.name));
    await assertGate(service, recordUrl(service, two.name, place));
    await deleteFile(service, one.name);
    await assertGone(publicUrl(service, one.name));
  });
});

// The embedded store is one process's.
onEachData(
  everyPlace.filter(([engine]) => engine === 'postgres'),
  (start) => {
    test('two processes on one store know of each other what is uploaded, attached and deleted', async () => {
      const [a, b] = [await start(), await start()];
      const [one, two] = [storeOf(() => a), storeOf(() => b)];
      const table = await one.table({ A: 'File', B: 'PrivateFile' });
      for (let round = 0; round < 20; round++) {
        const file = await uploadFile(a, 'a.txt', `round ${round}`);
        await assertServed(uploadUrl(b, file.name), `round ${round}`);
        const id = await two.create(table, round % 2 ? { A: fileObject(file) } : { B: fileObject(file) });
        if (round % 2) await assertServed(publicUrl(a, file.name), `round ${round}`);
        else {
          await assertGone(uploadUrl(a, file.name));
          const at = recordUrl(a, file.name, { table, id, field: 'B' });
          await assertServed(at, `round ${round}`, credentials(a, { as: 'master' }));
        }
        await deleteFile(b, file.name);
        for (const service of [a, b]) {
          await assertGone(publicUrl(service, file.name));
          await assertGone(uploadUrl(service, file.name));
        }
        assertUnknownFile(await one.post(table, { A: fileObject(file) }));
      }
    });
  },
);
