/** Transient faults of the file store (faults.md#passing-faults). */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import promises, { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, afterEach, before, beforeEach, describe, mock, test } from 'node:test';
import { Addresses } from '../../config/index.ts';
import { serviceError } from '../../errors/fail.ts';
import { DAY_MS } from '../../kernel/time.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/engine.ts';
import { openAnyway } from '../../storage/testing/open.ts';
import { provision } from '../../systems/provision.ts';
import { Files } from '../files.ts';
import type { FileSystem, Uploaded } from '../metadata/model.ts';
import { DiskStore } from './disk.ts';

describe('files beside faults', () => {
  let directory: string;
  let engine: SqliteEngine;
  let files: Files;
  let system: FileSystem;
  let met: string[] = [];

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rds-files-'));
    engine = new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
    const addresses = new Addresses({ baseUrl: 'https://crm.example.com', staticUrl: undefined });
    files = new Files({
      bytes: new DiskStore(join(directory, 'files')),
      addresses,
      secret: 'salt',
      conditions: {
        met: (what, about, error) => void met.push(`${what}: ${about?.app}: ${(error as Error).message}`),
        over() {},
      },
    });
    system = { appId: 'app', store: await openAnyway(engine, 'app') };
    await provision(system.store);
  });
  after(async () => {
    await system.store.close();
    await engine.close();
    await rm(directory, { recursive: true });
  });
  beforeEach(() => {
    met = [];
  });
  afterEach(() => {
    mock.restoreAll();
    syncBuiltinESMExports();
  });

  async function* chunks(content: string) {
    yield Buffer.from(content);
  }
  const upload = (content = 'some text'): Promise<Uploaded> => files.upload(system, 'a.txt', undefined, chunks(content));
  const read = async ({ name }: Uploaded): Promise<string | null> => {
    const stream = await (await files.openUpload(system, name))?.read();
    return stream ? await text(stream) : null;
  };
  const sweep = () => files.sweep(system, { olderThan: Date.now() + DAY_MS, remove: true }, () => {});
  const unavailable = { key: 'unavailable', status: 503 };
  const counted = async () => (await files.usage(system)).files;

  /** Makes a function of the operating system fail. */
  const fail = (name: 'open' | 'link' | 'stat' | 'unlink', code: string, where: RegExp): void => {
    const real = promises[name] as (...given: unknown[]) => Promise<unknown>;
    mock.method(promises, name, async (...given: unknown[]) => {
      if (where.test(String(given.at(name === 'link' ? 1 : 0)))) throw Object.assign(new Error(code), { code, syscall: name });
      return real(...given);
    });
    syncBuiltinESMExports();
  };

  for (const code of ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EMFILE'])
    for (const [name, what] of [
      ['open', 'received'],
      ['link', 'put in its place'],
    ] as const)
      test(`${code} while a file is ${what}: not available, and nothing is left of it`, async () => {
        const before = await counted();
        fail(name, code, name === 'open' ? /\.part$/ : /./);
        await assert.rejects(upload(), unavailable);
        mock.restoreAll();
        syncBuiltinESMExports();
        assert.equal(await counted(), before);
        assert.deepEqual(await readdir(join(directory, 'files', '.incoming')).catch(() => []), []);
        assert.equal(met.length, 1);
        assert.match(met[0] ?? '', /: (?:app|undefined): /);
        await upload();
        assert.equal(await counted(), before + 1);
      });

  test('a row in doubt keeps its bytes', async () => {
    const stored = async () => (await readdir(join(directory, 'files', 'app'), { recursive: true })).length;
    await upload();
    const before = await stored();
    const write = mock.method(system.store, 'write', () => Promise.reject(serviceError('outcomeUnknown')));
    await assert.rejects(upload(), { key: 'outcomeUnknown' });
    write.mock.restore();
    assert.ok((await stored()) > before);
  });

  test('a place that is missing is neither taken for an empty one nor created again, and serves again when it is back', async () => {
    const file = await upload('kept');
    const place = join(directory, 'files');
    await rename(place, join(directory, 'away'));
    const before = await counted();
    await assert.rejects(read(file), unavailable);
    await assert.rejects(upload(), unavailable);
    await assert.rejects(sweep(), unavailable);
    assert.ok(!existsSync(join(place, 'app')));
    const missing = `${join(place, 'app')} is missing, though files were stored there`;
    assert.deepEqual(new Set(met), new Set([`the store is missing: app: ${missing}`]));
    assert.equal(await counted(), before);
    await rm(place, { recursive: true, force: true });
    await rename(join(directory, 'away'), place);
    assert.equal(await read(file), 'kept');
    await upload();
  });

  test('a file alone that is missing is not found', async () => {
    const file = await upload();
    const [id = ''] = file.name.split('_');
    await rm(join(directory, 'files', 'app', id.slice(0, 2), id));
    assert.equal(await read(file), null);
    assert.deepEqual(met, []);
  });
});
