/** Backups and restores of systems whose fields were renamed and have other types. Reference: schemas.md#rename-a-field, backup.md#restore. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { makeDatabase } from '../support/data.ts';
import { assertError, create, defineTable, find } from '../support/query.ts';
import { engines, startService } from '../support/service.ts';
import { afterCommand } from '../support/soon.ts';
import { backUp, credentialsIn, done, folderForTest } from './backups.ts';
import { seenAs } from './other-system.ts';

const folder = await folderForTest();

for (const engine of engines)
  describe(`evolved systems (${engine})`, () => {
    test('a restored system has the values, types and former names; here and on the other engine', async () => {
      const service = await startService({ engine });
      await defineTable(service, 'Evolved', { Old: 'String', r: 'Relation:Evolved' }, { textIndex: ['Old'] });
      await create(service, 'Evolved', { Old: '5' });
      const put = async (fields: object) => {
        const answer = await service.call('PUT', '/platform/schemas/Evolved', { body: { fields } });
        assert.equal(answer.status, 200, answer.text);
      };
      await put({ Old: { __op: 'Rename', to: 'New' }, other: { type: 'String' } });
      await service.call('PUT', '/platform/schemas/Evolved', { body: { textIndex: [] } });
      await put({ New: { __op: 'Retype', type: 'Number' } });
      await create(service, 'Evolved', { New: 6, r: { __op: 'AddRelation', objects: [] } });
      const before = await find(service, 'Evolved', { order: 'New' });
      const { fields } = (await service.call('GET', '/platform/schemas/Evolved')).body;
      const file = await backUp(service, folder, service.appId);
      const database = engine === 'sqlite' && engines.includes('postgres') ? await makeDatabase(true) : undefined;
      const target = await startService(database ? { engine: 'postgres', database } : { engine: 'sqlite' });
      for (const place of [service, target]) {
        const system = credentialsIn(await done(place, ['restore', file, '--as', `again-${engine}`]));
        const at = seenAs(place, system);
        await afterCommand(place, async () => {
          assert.equal((await at.call('GET', '/platform/schemas/Evolved')).status, 200);
        });
        assert.deepEqual((await at.call('GET', '/platform/schemas/Evolved')).body.fields, fields);
        assert.deepEqual(await find(at, 'Evolved', { order: 'New' }), before);
        const refused = await at.call('POST', '/platform/classes/Evolved', { body: { Old: 1 } });
        assertError(refused, 400, 105, 'Invalid field name: Old (renamed to New)');
        await create(at, 'Evolved', { New: 7 });
      }
      await Promise.all([service.stop(), target.stop()]);
      await database?.drop();
    });
  });
