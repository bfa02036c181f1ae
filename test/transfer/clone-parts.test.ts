/** Clones of a part of the records: the recent ones and what they point at, and the files that they name. Reference: clone.md#recent-records. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startS3 } from '../../src/files/testing/s3-server.ts';
import { assertServed, fileObject, publicUrl, uploadFile } from '../support/files.ts';
import { defineTable, find, pointer, type Row } from '../support/query.ts';
import { anyEngine, engines, type Service, startService } from '../support/service.ts';
import type { System } from '../systems/cli.ts';
import { credentialsIn, done, folderForTest, refused, run } from './backups.ts';
import { at, clone, dump, remove, rowsIn } from './clones.ts';
import { isServed } from './other-system.ts';

const DAY_MS = 86_400_000;

/** Records by table: `[objectId, age in days, fields]`. */
type Aged = readonly (readonly [string, number, Row])[];

/** Adds records with times of their own. */
async function addAged(service: Service, folder: string, table: string, rows: Aged): Promise<void> {
  const lines = rows.map(([objectId, days, fields]) => {
    const iso = new Date(Date.now() - days * DAY_MS).toISOString();
    return JSON.stringify({ objectId, createdAt: iso, updatedAt: iso, ...fields });
  });
  const file = join(folder, `${table}.ndjson`);
  await writeFile(file, `${lines.join('\n')}\n`);
  await done(service, [
    'import',
    '--system',
    service.appId,
    '--table',
    table,
    '--file',
    file,
    '--keep-times',
    '--skip-triggers',
    '--quiet',
  ]);
}

const idsIn = async (service: Service, table: string) =>
  (await find(service, table, { limit: 10_000 })).map(({ objectId }) => objectId).toSorted();

for (const engine of engines)
  describe(`system clone --last: ${engine}`, () => {
    let service: Service;
    before(async () => {
      service = await startService({ engine });
      const folder = await folderForTest();
      await defineTable(service, 'Colours', { Name: 'String' });
      await defineTable(service, 'Owners', { Name: 'String', parent: 'Pointer:Owners', at: 'Date' });
      await defineTable(service, 'Things', {
        ...{
          Name: 'String',
          owner: 'Pointer:Owners',
          colour: 'Pointer:Colours',
          more: 'Array',
          o: 'Object',
          f: 'File',
          html: 'HTML/XML',
        },
        friends: 'Relation:Owners',
      });
      const owner = (id: string) => pointer('Owners', id);
      await addAged(service, folder, 'Colours', [
        ['red', 900, { Name: 'red' }],
        ['blue', 900, { Name: 'blue' }],
      ]);
      await addAged(service, folder, 'Owners', [
        ['root', 900, { Name: 'at the end of a chain' }],
        ['middle', 900, { parent: owner('root') }],
        ['old', 900, { parent: owner('middle') }],
        ['inArray', 900, { parent: owner('inArray') }],
        ['inObject', 900, {}],
        ['unused', 900, { parent: owner('old') }],
        ['new', 1, { Name: 'recent' }],
      ]);
      await addAged(service, folder, 'Things', [
        [
          'recent',
          10,
          { owner: owner('old'), more: [owner('inArray'), owner('nowhere')], o: { deep: [{ p: owner('inObject') }] } },
        ],
        ['edge', 89, { owner: owner('nowhere') }],
        ['before', 91, { owner: owner('unused'), colour: pointer('Colours', 'red') }],
        ['changed', 400, {}],
      ]);
      const update = (id: string, body: Row) => service.call('PUT', `/platform/classes/Things/${id}`, { body });
      const file = await uploadFile(service, 'named.txt', 'named');
      const text = await uploadFile(service, 'text.txt', 'in a text');
      await uploadFile(service, 'nowhere.txt', 'not attached');
      for (const [id, body] of [
        ['changed', { f: fileObject(file), html: `<img src="${text.url}">` }],
        ['changed', { friends: { __op: 'AddRelation', objects: [owner('new'), owner('unused'), owner('old')] } }],
      ] as const) {
        const answer = await update(id, body);
        assert.equal(answer.status, 200, answer.text);
      }
    });
    after(() => service.stop());

    test('recent records, what they point at through any number of records, whole lists, and members of which both are taken', async () => {
      const folder = await folderForTest();
      const copy = await clone(service, service.appId, 'Recent', '--last', '90d');
      const there = at(service, copy);
      assert.deepEqual(await idsIn(there, 'Things'), ['changed', 'edge', 'recent']);
      assert.deepEqual(await idsIn(there, 'Owners'), ['inArray', 'inObject', 'middle', 'new', 'old', 'root']);
      assert.deepEqual(await idsIn(there, 'Colours'), ['blue', 'red']);
      const friends = { where: { $relatedTo: { object: pointer('Things', 'changed'), key: 'friends' } } };
      assert.deepEqual((await find(there, 'Owners', friends)).map(({ objectId }) => objectId).toSorted(), ['new', 'old']);
      for (const table of ['Things', 'Owners']) {
        const copies = new Map((await find(there, table)).map((row) => [row.objectId, row]));
        for (const row of await find(service, table))
          if (copies.has(row.objectId)) assert.equal(textOf(copies.get(row.objectId), copy), textOf(row, service));
      }
      for (const table of ['LeadStatuses', '_Role', '_User', 'Config', '_Dictionary'])
        assert.deepEqual(await idsIn(there, table), await idsIn(service, table), table);
      // Files that a taken record names, in a field or in a text.
      assert.match(copy.output, /and 2 files of/);
      const stored = (await dump(service, folder, copy.appId)).get('_StoredFile') ?? '';
      assert.deepEqual(
        ['named.txt', 'text.txt', 'nowhere.txt'].map((name) => stored.includes(name)),
        [true, true, false],
      );
      const usage = String((await dump(service, folder, copy.appId)).get('_StorageUsage'));
      assert.match(usage, /,2,14,/);
      const [changed] = await find(there, 'Things', { where: { objectId: 'changed' } });
      assert.equal((await fetch(publicUrl(there, String((changed as { f: Row }).f.name)))).status, 200);
      await remove(service, copy);
    });

    test('other times, and without files', async () => {
      const folder = await folderForTest();
      for (const [last, things, more] of [
        ['48h', ['changed'], []],
        ['2w', ['changed', 'recent'], ['--files', 'none']],
        ['4m', ['before', 'changed', 'edge', 'recent'], []],
      ] as const) {
        const copy = await clone(service, service.appId, 'Other', '--last', last, ...more);
        assert.deepEqual(await idsIn(at(service, copy), 'Things'), things);
        if (more.length > 0) assert.equal(rowsIn(await dump(service, folder, copy.appId), '_StoredFile'), 0);
        await remove(service, copy);
      }
    });

    test('--schema-only --files copy: the files that lookup tables name, and no others', async () => {
      const field = { className: 'DocumentTemplates', fields: { Own: { type: 'File' } } };
      assert.equal((await service.call('PUT', '/platform/schemas/DocumentTemplates', { body: field })).status, 200);
      const body = { Own: fileObject(await uploadFile(service, 'template.txt', 'a template')) };
      assert.equal((await service.call('POST', '/platform/classes/DocumentTemplates', { body })).status, 201);
      const copy = await clone(service, service.appId, 'Templates', '--schema-only', '--files', 'copy');
      assert.match(copy.output, /and 1 file of/);
      await remove(service, copy);
    });

    test('a time that is none, and one with --schema-only, are refused', async () => {
      for (const last of ['90', '0d', '-1d', '1y', 'd', '1.5d', ''])
        await refused(service, ['system', 'clone', service.appId, '--as', 'No', `--last=${last}`], /--last takes a number of/);
      await refused(
        service,
        ['system', 'clone', service.appId, '--as', 'No', '--last', '9d', '--schema-only'],
        /exclude each other/,
      );
    });
  });

/** Addresses in texts stay those of the original. */
for (const engine of anyEngine)
  test(`files in a bucket are copied within it: ${engine}`, async () => {
    const s3 = await startS3();
    after(() => s3.stop());
    const service = await startService({ engine, env: { ...s3.env, FILES_URL: s3.filesUrl('clones') } });
    after(() => service.stop());
    await defineTable(service, 'Papers', { f: 'File' });
    const file = await uploadFile(service, 'paper.txt', 'a paper');
    assert.equal((await service.call('POST', '/platform/classes/Papers', { body: { f: fileObject(file) } })).status, 201);
    const env = { ...s3.env, FILES_URL: s3.filesUrl('clones') };
    const { code, stdout, stderr } = await run(service, ['system', 'clone', service.appId, '--as', 'Bucket'], env);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /and 1 file of/);
    const copy = credentialsIn(stdout);
    await isServed(service, copy);
    const [paper] = await find(at(service, copy), 'Papers');
    const name = String((paper as { f: Row }).f.name);
    await assertServed(publicUrl(at(service, copy), name), 'a paper');
    assert.equal((await run(service, ['system', 'remove', 'Bucket', '--now'], env)).code, 0);
    await assertServed(publicUrl(service, name), 'a paper');
  });

const textOf = (row: Row | undefined, { appId }: Pick<System, 'appId'>) =>
  JSON.stringify(row).replaceAll(`/static/${appId}/`, '/static/APP/');
