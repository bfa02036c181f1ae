import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, afterEach, before, describe, it } from 'node:test';
import { anonymous, invalid, master, type Principal } from '../access/index.ts';
import { Addresses } from '../config/index.ts';
import { serviceError } from '../errors/fail.ts';
import type { JsonObject } from '../kernel/json.ts';
import { createRecord, createSchema, type RecordContext } from '../records/index.ts';
import type { Store } from '../storage/port.ts';
import { addressesOf } from '../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../storage/sqlite/engine.ts';
import { openAnyway } from '../storage/testing/open.ts';
import { provision } from '../systems/provision.ts';
import { Files } from './files.ts';
import { findFile } from './metadata/file-metadata.ts';
import type { FileSystem, OpenFile, Uploaded } from './metadata/model.ts';
import { DiskStore } from './stores/disk.ts';
import { newFileName } from './stores/name.ts';
import { newId, received } from './stores/testing/cases.ts';

describe('files', () => {
  let directory: string;
  let engine: SqliteEngine;
  let bytes: DiskStore;
  let files: Files;
  let system: FileSystem;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rds-files-'));
    engine = new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
    bytes = new DiskStore(join(directory, 'files'));
    const addresses = new Addresses({ baseUrl: 'https://crm.example.com', staticUrl: undefined });
    files = new Files({ bytes, addresses, secret: 'salt', conditions: { met() {}, over() {} } });
    system = { appId: 'app', store: await openAnyway(engine, 'app') };
    await provision(system.store);
    await createSchema(asked(master), 'Dossiers', {
      className: 'Dossiers',
      fields: { Open: { type: 'File' }, Closed: { type: 'PrivateFile' } },
    });
  });
  after(async () => {
    await system.store.close();
    await engine.close();
    await rm(directory, { recursive: true });
  });
  // After each test, the usage must match what is stored.
  afterEach(async () => {
    const counted = await files.usage(system);
    let [stored, size] = [0, 0];
    for await (const object of bytes.list('app')) {
      if ((await findFile(system.store, object.id))?.size == null) continue;
      stored++;
      size += object.size;
    }
    assert.deepEqual([counted.files, counted.bytes], [stored, size]);
  });

  const asked = (principal: Principal): RecordContext => ({
    ...system,
    principal,
    hooks: { observers: [], rules: new Map(), files: files.keeper },
    referer: null,
  });
  async function* chunks(content: Buffer | string) {
    yield Buffer.from(content);
  }
  const upload = (content: Buffer | string, name = 'a.txt'): Promise<Uploaded> =>
    files.upload(system, name, undefined, chunks(content));
  const attach = async ({ name }: { name: string }, field: string) =>
    (await createRecord(asked(master), 'Dossiers', { [field]: { __type: 'File', name } })).objectId;
  const textOf = async (open: OpenFile | null | 'signIn') => {
    assert.ok(open && open !== 'signIn');
    const stream = await open.read();
    return stream && (await buffer(stream)).toString();
  };
  const stored = async () => {
    let count = 0;
    for await (const _ of bytes.list('app')) count++;
    return count;
  };

  it('takes an upload and serves it at its address', async () => {
    const { name, url } = await upload('hello', 'דף.txt');
    assert.equal(url, `https://crm.example.com/platform/files/app/${name}`);
    const open = await files.openUpload(system, name);
    assert.equal(await textOf(open), 'hello');
    assert.equal(open?.file.contentType, 'text/plain; charset=utf-8');
    assert.equal(await textOf(await files.openUpload(system, decodeURIComponent(name))), 'hello');
    assert.equal(await files.openPublic(system, name), null);
    assert.equal(await files.openUpload(system, `${name}x`), null);
    assert.equal(await files.openUpload(system, newFileName('a').name), null);
  });

  it('keeps nothing of what it refuses', async () => {
    const count = await stored();
    await assert.rejects(upload('hello', 'a.png'), { key: 'invalidFileType' });
    await assert.rejects(upload(''), { key: 'emptyFile' });
    await assert.rejects(upload(Buffer.alloc(33 * 1024 * 1024, 'x')), { key: 'fileTooLarge' });
    await assert.rejects(upload('x', 'a'.repeat(301)), { key: 'badFileName' });
    assert.equal(await stored(), count);
  });

  it('takes back the bytes where the row cannot be written', async () => {
    const count = await stored();
    const write = () => Promise.reject(new Error('no disk'));
    const { store } = system;
    const broken: Store = Object.assign(Object.create(store), { write, reader: store.reader, schema: () => store.schema() });
    const failed = files.upload({ ...system, store: broken }, 'a.txt', undefined, chunks('x'));
    await assert.rejects(failed, { message: 'no disk' });
    assert.equal(await stored(), count);
  });

  it('serves public files, and private ones by their record only', async () => {
    const [open, closed] = [await upload('open'), await upload('closed')];
    await attach(open, 'Open');
    const objectId = await attach(closed, 'Closed');
    assert.equal(await textOf(await files.openPublic(system, open.name)), 'open');
    assert.equal(await textOf(await files.openUpload(system, open.name)), 'open');
    assert.equal(await files.openPublic(system, closed.name), null);
    assert.equal(await files.openUpload(system, closed.name), null);
    const place = { appId: 'app', name: closed.name, className: 'Dossiers', objectId, field: 'Closed' };
    assert.equal(await textOf(await files.openPrivate(asked(master), place)), 'closed');
    for (const wrong of [
      { className: 'Nothing' },
      { objectId: 'nobody' },
      { field: 'Open' },
      { name: open.name },
      { name: 'x' },
    ]) {
      assert.equal(await files.openPrivate(asked(master), { ...place, ...wrong }), null);
      assert.equal(await files.openPrivate(asked(anonymous), { ...place, ...wrong }), 'signIn');
    }
    for (const who of [anonymous, invalid]) assert.equal(await files.openPrivate(asked(who), place), 'signIn');
  });

  it('removes a file, and does not tell of one that is not there', async () => {
    const { name } = await upload('x');
    const open = await files.openUpload(system, name);
    await files.remove(system, name);
    assert.equal(await files.openUpload(system, name), null);
    assert.equal(await open?.read(), null);
    for (const given of [name, 'x', '', '../x']) await files.remove(system, given);
    await assert.rejects(attach({ name }, 'Open'), { key: 'unknownFile' });
  });

  it('takes nothing once the quota is reached', async () => {
    const { bytes: used } = await files.usage(system);
    await files.setQuota(system, used + 1);
    await files.admit(system);
    await upload('xx');
    await assert.rejects(files.admit(system), { key: 'outOfStorage' });
    await files.setQuota(system, null);
    await files.admit(system);
  });

  describe('large uploads', () => {
    const wanted = { ContentType: 'text/plain', ContentLength: 100_000 };
    const policy = (body: JsonObject = wanted, who: Principal = master) => files.policy(asked(who), 'big.txt', body);
    const send = (fields: Readonly<Record<string, string>>, content: Buffer | string) =>
      files.receive(system, new Map(Object.entries(fields)), chunks(content));

    it('are for systems that allow them, and for who has a credential', async () => {
      await assert.rejects(policy(wanted, anonymous), { key: 'largeUploadUnauthorized' });
      await assert.rejects(policy(wanted, invalid), { key: 'permissionDenied' });
      await assert.rejects(policy({}), { key: 'largeUploadsOff' });
      await createRecord(asked(master), 'Config', { Name: 'allowAllFiles', Value: { allowAllFiles: true } });
      for (const body of [
        {},
        { ...wanted, ContentType: 'text' },
        { ...wanted, ContentType: 'text/plain\r\nx: y' },
        { ...wanted, ContentLength: 0 },
        { ...wanted, ContentLength: 1.5 },
        { ...wanted, ContentLength: ' 5' },
        { ...wanted, ContentLength: '0' },
        { ...wanted, ContentLength: '9'.repeat(400) },
        { ...wanted, ContentLength: 6 * 1024 ** 3 },
      ])
        await assert.rejects(policy(body), { key: 'badUpload' });
      await policy({ ...wanted, ContentLength: '100000' });
    });

    it('come by a signed form, once', async () => {
      const { url, fields, name } = await policy();
      assert.equal(url, 'https://crm.example.com/platform/files/signed-post/app');
      assert.equal(await files.openUpload(system, name), null);
      await assert.rejects(attach({ name }, 'Open'), { key: 'unknownFile' });
      await assert.rejects(send(fields, ''), { key: 'emptyFile' });
      await assert.rejects(send(fields, Buffer.alloc(100_001, 'x')), { key: 'fileTooLarge' });
      await assert.rejects(send(fields, Buffer.from('MZ\x90\0\x03')), { key: 'invalidFileType' });
      await send(fields, Buffer.alloc(100_000, 'x'));
      await assert.rejects(send(fields, 'y'), { key: 'uploadRefused' });
      const open = await files.openUpload(system, name);
      assert.equal(open?.file.size, 100_000);
      await attach({ name }, 'Open');
      assert.equal((await textOf(await files.openPublic(system, name)))?.length, 100_000);
    });

    it('are for systems that have room for them, when they are asked for and when they come', async () => {
      const { fields } = await policy();
      const { bytes: used } = await files.usage(system);
      // Two policies of 100,000 bytes have not been used yet.
      await files.setQuota(system, used + 299_999);
      await assert.rejects(policy(), { key: 'outOfStorage' });
      await policy({ ...wanted, ContentLength: 99_999 });
      await files.setQuota(system, used);
      await assert.rejects(send(fields, 'x'), { key: 'outOfStorage' });
      await files.setQuota(system, null);
      await send(fields, 'x');
    });

    it('come by one of two processes, and stay as they came where that ended at once', async () => {
      const addresses = new Addresses({ baseUrl: 'https://crm.example.com', staticUrl: undefined });
      const other = new Files({ bytes, addresses, secret: 'salt', conditions: { met() {}, over() {} } });
      const { fields, name } = await policy();
      const form = new Map(Object.entries(fields));
      const both = [files, other].map((each, index) => each.receive(system, form, chunks('x'.repeat(index + 1))));
      const sent = await Promise.allSettled(both);
      assert.equal(sent.filter(({ status }) => status === 'fulfilled').length, 1);
      const open = await files.openUpload(system, name);
      assert.equal((await textOf(open))?.length, open?.file.size);

      const ended = await policy();
      await bytes.put('app', ended.name.slice(0, 32), await received(bytes, Buffer.from('first')));
      await assert.rejects(send(ended.fields, 'second'), { key: 'uploadRefused' });
      assert.equal(await textOf(await files.openUpload(system, ended.name)), 'first');
    });

    it('come by one of several that are sent at once', async () => {
      const { fields, name } = await policy();
      const sent = await Promise.allSettled(['a', 'bb', 'ccc'].map((content) => send(fields, content)));
      assert.equal(sent.filter(({ status }) => status === 'fulfilled').length, 1);
      const open = await files.openUpload(system, name);
      assert.equal((await textOf(open))?.length, open?.file.size);
    });

    it('are in doubt where the bytes are in their place and the store is away: who reads the file notes it', async () => {
      const { fields, name } = await policy();
      const { store } = system;
      const write = () => Promise.reject(serviceError('unavailable'));
      const away: Store = Object.assign(Object.create(store), { write, reader: store.reader, schema: () => store.schema() });
      const sent = files.receive({ ...system, store: away }, new Map(Object.entries(fields)), chunks('arrived'));
      await assert.rejects(sent, { key: 'outcomeUnknown' });
      assert.equal(await textOf(await files.openUpload(system, name)), 'arrived');
    });

    it('do not come once they are deleted', async () => {
      const { fields, name } = await policy();
      await files.remove(system, name);
      await assert.rejects(send(fields, 'x'), { key: 'uploadRefused' });
    });

    it('are noted where they came past the service, when they are first read or attached', async () => {
      for (const use of ['read', 'attach'] as const) {
        const { name } = await policy();
        await bytes.put('app', name.slice(0, 32), await received(bytes, Buffer.from('%PDF-1.4 x')));
        if (use === 'attach') await attach({ name }, 'Open');
        const opened = await Promise.all([1, 2, 3].map(() => files.openUpload(system, name)));
        for (const open of opened) assert.deepEqual([open?.file.size, open?.file.contentType], [10, 'application/pdf']);
      }
    });
  });

  it('sweeps bytes that no row speaks of', async () => {
    const id = newId();
    await bytes.put('app', id, await received(bytes, Buffer.from('x')));
    const names: string[] = [];
    const result = await files.sweep(system, { olderThan: Date.now() - 1e9, remove: true }, ({ name }) => names.push(name));
    assert.deepEqual([result, names], [{ files: 0, bytes: 0, spared: 0 }, []]);
    await bytes.remove('app', id);
  });
});
