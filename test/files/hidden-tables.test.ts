/** No caller can use `_StoredFile` and `_StorageUsage`. Reference: system-tables.md#hidden-tables. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Uploaded } from '../support/files.ts';
import { assertRefused, type Json, path, pointer } from '../support/records.ts';
import type { Answer, CallOptions } from '../support/service.ts';
import { newRole, signUp } from '../support/users.ts';
import { onEachEngine } from './stores.ts';

const tables = ['_StoredFile', '_StorageUsage'];

onEachEngine((files) => {
  const { call } = files;
  let session: string;
  let file: Uploaded;
  const idIn = (table: string) => (table === '_StoredFile' ? file.name.slice(0, 32) : 'usage');
  const refused = (answer: Answer, what: string) => {
    assert.deepEqual([answer.status, answer.body?.code], [400, 119], `${what}: ${answer.status} ${answer.text.slice(0, 300)}`);
    assert.doesNotMatch(answer.text, new RegExp(file.name.slice(0, 32)));
  };
  before(async () => {
    const user = await signUp(files);
    await newRole(files, [user]);
    session = user.token;
    file = await files.upload();
    await files.attached('File', file);
  });
  const callers = (): CallOptions[] => [{ as: 'master' }, { as: 'apiKey' }, { session }, { as: 'anonymous' }];

  test('Schemas: 111 tables in a new system, these not among them', async () => {
    for (const query of [{}, { withDictionary: 'true' }]) {
      const { body } = await call('GET', '/platform/schemas', { query });
      const names = body.results.map(({ className }: Json) => className);
      for (const table of tables) assert.equal(names.includes(table), false);
    }
    for (const table of tables)
      for (const as of ['master', 'apiKey'] as const)
        assertRefused(await call('GET', `/platform/schemas/${table}`, { as }), { code: 103 });
  });

  for (const table of tables) {
    test(`${table}: every request of records is 119 whatever the credential`, async () => {
      const one = path(table, idIn(table));
      for (const by of callers()) {
        refused(await call('GET', path(table), by), 'find');
        refused(
          await call('GET', path(table), { ...by, query: { where: { objectId: idIn(table) }, limit: 0, count: 1 } }),
          'count',
        );
        refused(await call('GET', one, by), 'get');
        refused(await call('POST', path(table), { ...by, body: { name: 'x' } }), 'create');
        refused(await call('PUT', one, { ...by, body: { size: 1 } }), 'update');
        refused(await call('PUT', one, { ...by, body: { New: 1 } }), 'addField');
        refused(await call('DELETE', one, by), 'delete');
        refused(
          await call('GET', `/platform/classes-aggregate/${table}`, { ...by, query: { pipeline: [{ $count: 'n' }] } }),
          'aggregate',
        );
      }
    });

    test(`${table}: nor in a batch, nor one that is not there`, async () => {
      const items = [
        { method: 'POST', path: path(table), body: { name: 'x' } },
        { method: 'PUT', path: path(table, idIn(table)), body: { size: 1 } },
        { method: 'PUT', path: path(table, 'missing123'), body: { size: 1 } },
        { method: 'DELETE', path: path(table, idIn(table)) },
      ];
      const { body } = await call('POST', '/platform/batch', { body: { requests: items } });
      for (const item of body) assert.equal(item.error?.code, 119, JSON.stringify(item));
    });

    test(`${table}: nor by way of another table's query`, async () => {
      const other = await files.table({ S: 'String' });
      const where: object[] = [
        { S: { $select: { query: { className: table, where: {} }, key: 'name' } } },
        { S: { $dontSelect: { query: { className: table, where: {} }, key: 'name' } } },
        { P: { $inQuery: { className: table, where: {} } } },
        { P: { $notInQuery: { className: table, where: {} } } },
        { $or: [{ S: 'x' }, { P: { $inQuery: { className: table, where: { size: { $gt: 0 } } } } }] },
        { $relatedTo: { object: pointer(table, idIn(table)), key: 'R' } },
      ];
      for (const one of where)
        for (const by of callers().slice(0, 2))
          refused(await call('GET', path(other), { ...by, query: { where: one } }), JSON.stringify(one));
    });

    test(`${table}: its schema cannot be changed by any caller`, async () => {
      for (const as of ['master', 'apiKey'] as const) {
        const permissions = { classLevelPermissions: { find: { '*': true }, get: { '*': true } } };
        for (const [method, body] of [
          ['PUT', { fields: { New: { type: 'String' } } }],
          ['PUT', permissions],
          ['POST', { className: table, fields: {} }],
          ['DELETE', undefined],
        ] as const) {
          const answer = await call(method, `/platform/schemas/${table}`, { as, body });
          assert.ok(answer.status >= 400 && answer.status < 500, `${method}: ${answer.status} ${answer.text}`);
        }
      }
      refused(await call('GET', path(table), { as: 'anonymous' }), 'find');
    });

    test(`${table}: a Pointer to it shows nothing of it`, async () => {
      const made = await call('POST', `/platform/schemas/Pointing${table}`, {
        body: { className: `Pointing${table}`, fields: { P: { type: 'Pointer', targetClass: table } } },
      });
      const link = pointer(table, idIn(table));
      const created = await files.post(made.status === 200 ? `Pointing${table}` : 'PointingAnyway', { P: link });
      if (created.status !== 201) return;
      const at = made.status === 200 ? `Pointing${table}` : 'PointingAnyway';
      for (const query of [{ include: 'P' }, { include: '*' }, { include: 'P', keys: 'P.name' }]) {
        const { body, text } = await call('GET', path(at, created.body.objectId), { query });
        assert.deepEqual(body.P, link, text);
      }
      for (const where of [{ 'P.name': { $exists: true } }, { P: { $inQuery: { className: table, where: {} } } }]) {
        const answer = await call('GET', path(at), { query: { where } });
        assert.ok(answer.status >= 400 || answer.body.results.length === 0, answer.text);
      }
      // The file can still be deleted.
      const { name } = await files.upload();
      await files.put(at, created.body.objectId, { P: pointer(table, name.slice(0, 32)) });
      const removed = await call('DELETE', `/platform/files/${encodeURIComponent(name)}`);
      assert.equal(removed.status, 200, removed.text);
    });
  }
});
