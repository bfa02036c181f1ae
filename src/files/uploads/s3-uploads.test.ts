import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { master } from '../../access/index.ts';
import { Addresses } from '../../config/index.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import { createRecord, type RecordContext } from '../../records/index.ts';
import { tableOf } from '../../schema/model.ts';
import { assignmentsOf } from '../../storage/column-values.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import { openAnyway } from '../../storage/testing/open.ts';
import { provision } from '../../systems/provision.ts';
import { Files } from '../files.ts';
import { fileTable, findFile, readUsage } from '../metadata/file-metadata.ts';
import type { FileSystem, OpenFile } from '../metadata/model.ts';
import type { UploadForm } from '../stores/port.ts';
import { received } from '../stores/testing/cases.ts';
import { storeOnS3 } from '../stores/testing/s3.ts';

describe('large uploads to S3', () => {
  const on = storeOnS3();
  let directory: string;
  let engine: SqliteEngine;
  let files: Files;
  let system: FileSystem;
  let context: RecordContext;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rds-s3-uploads-'));
    engine = new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
    const addresses = new Addresses({ baseUrl: 'https://crm.example.com', staticUrl: undefined });
    files = new Files({ bytes: on.store, addresses, secret: 'salt', conditions: { met() {}, over() {} } });
    system = { appId: 'app', store: await openAnyway(engine, 'app') };
    await provision(system.store);
    const hooks = { observers: [], rules: new Map(), files: files.keeper };
    context = { ...system, principal: master, hooks, referer: null };
    await createRecord(context, 'Config', { Name: 'allowAllFiles', Value: { allowAllFiles: true } });
  });
  after(async () => {
    await system.store.close();
    await engine.close();
    await rm(directory, { recursive: true });
  });

  const policy = () => files.policy(context, 'big.txt', { ContentType: 'text/plain', ContentLength: 1_000 });
  async function send({ url, fields }: UploadForm, content: string): Promise<void> {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.set('file', new Blob([content]), 'big.txt');
    assert.equal((await fetch(url, { method: 'POST', body: form })).status, 204);
  }
  /** Returns a policy that has been used. */
  async function sent(content: string): Promise<UploadForm & { name: string; id: string }> {
    const form = await policy();
    await send(form, content);
    return { ...form, id: form.name.slice(0, 32) };
  }
  const open = async (name: string) => (await files.openUpload(system, name)) ?? assert.fail();
  const read = async ({ read }: OpenFile, range?: { start: number; end: number }) => {
    const stream = await read(range);
    return stream && String(await buffer(stream));
  };
  const attach = (name: string) => createRecord(context, 'Plans', { F: { __type: 'File', name } });
  const wrote = async (content: string) => received(on.store, Buffer.from(content));
  /** Sets when an upload was announced. */
  const announce = (id: string, at: number) =>
    system.store.write({
      plan(schema) {
        const table = tableOf(schema, fileTable);
        const assignments = assignmentsOf(table, { createdAt: at });
        return { changes: [], mutations: [{ kind: 'update', table, objectId: id, guard: null, assignments, returning: [] }] };
      },
    });

  it('what a form brings after its file was noted is not served', async () => {
    for (const second of ['short', 'a longer text than the first', 'the FIRST text']) {
      const form = await sent('the first text');
      const opened = await open(form.name);
      assert.equal(await read(opened), 'the first text');
      const usage = await readUsage(system.store);
      await send(form, second);
      for (const each of [opened, await open(form.name)])
        for (const range of [undefined, { start: 0, end: 3 }, { start: 10, end: 13 }])
          assert.equal(await read(each, range), null, second);
      assert.equal((await findFile(system.store, form.id))?.size, 14);
      assert.deepEqual(await readUsage(system.store), usage);
    }
  });

  it('a form may bring other bytes until the file is noted', async () => {
    const form = await sent('the first text');
    await send(form, '%PDF-1.4 x');
    await attach(form.name);
    const opened = await open(form.name);
    assert.deepEqual([opened.file.contentType, await read(opened)], ['application/pdf', '%PDF-1.4 x']);
  });

  it('bytes that come while those before are judged are not noted for them', async () => {
    const form = await sent('the first text');
    const usage = await readUsage(system.store);
    const stat = on.store.stat.bind(on.store);
    on.store.stat = async (...of) => {
      const found = await stat(...of);
      await send(form, '%PDF-1.4 x');
      return found;
    };
    try {
      await assert.rejects(attach(form.name), { key: 'unknownFile' });
    } finally {
      on.store.stat = stat;
    }
    assert.deepEqual(await readUsage(system.store), usage);
    assert.equal((await open(form.name)).file.contentType, 'application/pdf');
  });

  it('what an operator restored is the same file, and no other is', async () => {
    const form = await sent('the first text');
    await attach(form.name);
    await on.store.put('app', form.id, await wrote('THE FIRST TEXT'));
    assert.equal(await read(await open(form.name)), null);
    await announce(form.id, Date.now() - 3 * HOUR_MS);
    assert.equal(await read(await open(form.name)), 'THE FIRST TEXT');
    assert.equal(await read(await open(form.name), { start: 4, end: 8 }), 'FIRST');
    await on.store.put('app', form.id, await wrote('shorter'));
    assert.equal(await read(await open(form.name)), null);
    await on.store.remove('app', form.id);
    assert.equal(await read(await open(form.name)), null);
  });

  it('are counted once their forms are over, though nobody attaches or reads them', async () => {
    const [come, late, early, never] = [await sent('come'), await sent('late'), await sent('early'), await policy()];
    await announce(come.id, Date.now() - HOUR_MS);
    await announce(late.id, Date.now() - 8 * 24 * HOUR_MS);
    await announce(never.name.slice(0, 32), Date.now() - HOUR_MS);
    const sizes = () =>
      Promise.all([come, late, early, never].map(async ({ name }) => (await findFile(system.store, name.slice(0, 32)))?.size));
    const { files: count, bytes } = await readUsage(system.store);
    await files.confirmUploads(system, () => true);
    assert.deepEqual(await sizes(), [null, null, null, null]);
    await files.confirmUploads(system, () => false);
    assert.deepEqual(await sizes(), [4, null, null, null]);
    const used = await files.usage(system);
    assert.deepEqual([used.files, used.bytes], [count + 2, bytes + 8]);
    assert.deepEqual(await sizes(), [4, 4, null, null]);
  });

  it('while S3 is away: unavailable', async () => {
    const form = await sent('text');
    await on.server.down();
    try {
      await assert.rejects(attach(form.name), { key: 'unavailable', status: 503 });
      await assert.rejects(files.openUpload(system, form.name), { key: 'unavailable' });
    } finally {
      await on.server.up();
    }
    await attach(form.name);
    await on.server.down();
    try {
      await assert.rejects(read(await open(form.name)), { key: 'unavailable' });
    } finally {
      await on.server.up();
    }
  });
});
