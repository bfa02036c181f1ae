/** Files outlive a process; their urls follow BASE_URL, STATIC_URL and PORT. Two processes on one store. Reference: files.md#serving. */
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
import { anyEngine, type EngineName, engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { assertGate } from './gate.ts';
import { everyPlace, type StoreName, settingsOfS3, usual } from './stores.ts';

const BASE = 'https://crm.example/records';

type Start = (more?: Record<string, string>) => Promise<ServiceProcess>;

/** Describes a suite on data of its own. @param suite gets a function that starts a service on the data */
function describeData(engine: EngineName, kind: StoreName, suite: (start: Start) => void): void {
  describe(`${engine}, ${kind}`, () => {
    let data: OwnData;
    let env: Record<string, string> = {};
    const ends: (() => unknown)[] = [];
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

    suite(async (more = {}) => {
      const service = await startServiceProcess({ ...data, env: { ...env, ...more } });
      ends.push(() => (service.process.exitCode === null ? service.stop() : undefined));
      return service;
    });
  });
}

/** Creates a record with a file in a File and another in a PrivateFile field; a third file is in no record. */
async function makeFiles(service: ServiceProcess) {
  const store = storeOf(() => service);
  const table = await store.table({ A: 'File', B: 'PrivateFile' });
  const [one, two, three] = [
    await uploadFile(service, 'a b.txt', 'one'),
    await uploadFile(service),
    await uploadFile(service, 'c.txt', 'three'),
  ];
  const id = await store.create(table, { A: fileObject(one), B: fileObject(two) });
  return { one, two, three, place: { table, id, field: 'B' } };
}

type Made = Awaited<ReturnType<typeof makeFiles>>;

/** Checks that files are there after a start at another address. */
async function assertKept(service: ServiceProcess, firstUrl: string, { one, two, three, place }: Made): Promise<void> {
  assert.notEqual(service.url, firstUrl);
  const read = await storeOf(() => service).read(place.table, place.id);
  assert.deepEqual([read.A, read.B], [shownFile(service, one.name), shownPrivate(service, two.name, place)]);
  await assertServed(read.A.url, 'one');
  await assertServed(uploadUrl(service, three.name), 'three');
}

// Settings of addresses do not depend on engine and store.
for (const [engine, kind] of everyPlace.filter(([engine]) => engines.includes(engine)))
  if (engine === anyEngine[0] && kind === 'disk')
    describeData(engine, kind, (start) => {
      test('urls follow the settings, and what was stored is there after each start', async () => {
        let service: ServiceProcess = await start();
        const store = storeOf(() => service);
        const made = await makeFiles(service);
        const { one, two, place } = made;
        const { table, id } = place;
        const first = { url: service.url, ...(await store.read(table, id)) };

        await service.stop();
        service = await start({ BASE_URL: BASE, STATIC_URL: 'https://static.example/x' });
        const behind = await store.read(table, id);
        const outside = { ...service, url: BASE };
        assert.deepEqual(behind.A, { ...first.A, url: `https://static.example/x/${service.appId}/${one.name}` });
        assert.equal(behind.B.url, recordUrl(outside, two.name, place));
        assert.equal((await uploadFile(service, 'a.txt')).url.startsWith(`${BASE}/platform/files/${service.appId}/`), true);
        await assertServed(publicUrl(service, one.name), 'one');

        await service.stop();
        service = await start({ BASE_URL: BASE });
        assert.equal((await store.read(table, id)).A.url, `${BASE}/static/${service.appId}/${one.name}`);
        // The gate and its return address are addresses as clients see them.
        const { status, headers } = await fetch(recordUrl(service, two.name, place), { redirect: 'manual' });
        const location = new URL(headers.get('location') ?? '');
        assert.deepEqual([status, location.origin + location.pathname], [302, `${BASE}/console/sign-in`]);
        assert.equal(location.searchParams.get('returnTo'), recordUrl(outside, two.name, place));
        // The value read under another address still attaches.
        await store.update(table, id, { A: first.A, B: first.B });

        await service.stop();
        service = await start();
        await assertKept(service, first.url, made);
        await assertGate(service, recordUrl(service, two.name, place));
        await deleteFile(service, one.name);
        await assertGone(publicUrl(service, one.name));
      });
    });
  else if (engine === 'postgres')
    describeData(engine, kind, (start) => {
      let services: [ServiceProcess, ServiceProcess];
      before(async () => {
        services = await Promise.all([start(), start()]);
      });

      test('two processes on one store know of each other what is uploaded, attached and deleted', async () => {
        const [a, b] = services;
        const [one, two] = [storeOf(() => a), storeOf(() => b)];
        const table = await one.table({ A: 'File', B: 'PrivateFile' });
        for (let round = 0; round < 8; round++) {
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

      if (usual.some(([onEngine, onKind]) => onEngine === engine && onKind === kind))
        test('what was stored is there after a start', async () => {
          const [service] = services;
          const made = await makeFiles(service);
          await service.stop();
          const again = await start();
          await assertKept(again, service.url, made);
          await assertGate(again, recordUrl(again, made.two.name, made.place));
          await deleteFile(again, made.one.name);
          await assertGone(publicUrl(again, made.one.name));
        });
    });
