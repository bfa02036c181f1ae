import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { modelOf } from '../../../src/console/data/model.ts';
import { pointer } from '../../support/records.ts';
import { sampledEngines } from '../../support/service.ts';
import { type Answer, type Caller, openSystem, type TestSystem } from './system.ts';

for (const engine of sampledEngines())
  describe(`model, changes and refusals on ${engine}`, () => {
    let system: TestSystem;
    let sales: Caller;
    let admin: Caller;
    let nobody: Caller;
    before(async () => {
      system = await openSystem(engine);
      sales = await system.user('Sales');
      admin = await system.user('Admin');
      nobody = await system.user();
      await system.define('Accounts', {
        fields: { Secret: { type: 'String' }, City2: { type: 'String' }, array_tags_Pointer_Products: { type: 'Array' } },
        indexes: { byCity: { City2: 1 } },
        classLevelPermissions: {
          ...open('Admin', 'Sales', 'ReadOnly'),
          protectedFields: { 'role:Sales': ['Secret'], 'role:ReadOnly': ['Secret'] },
        },
      });
      await system.create('_Dictionary', { tblName: 'Accounts', value: 'לקוחות שלנו' });
    });
    after(() => system.close());

    const tableOf = async (caller: Caller, name: string): Promise<Answer> =>
      (await caller.call('GET /model')).tables.find((table: Answer) => table.name === name);

    it('the tables that the caller may find in, the rights there, and where the navigation leads', async () => {
      const model = await sales.call('GET /model');
      const names = model.tables.map(({ name }: Answer) => name);
      for (const name of ['Accounts', 'Contacts', '_User', '_Timeline']) assert.ok(names.includes(name), name);
      for (const name of ['_StoredFile', '_RequestLog', '_TriggerQueue']) assert.ok(!names.includes(name), name);
      const listed = model.tables.filter(({ isListed }: Answer) => isListed).map(({ name }: Answer) => name);
      assert.ok(listed.every((name: string) => !name.startsWith('_') && name !== 'Config'));
      const { may, keepsHistory, titleFields } = await tableOf(sales, 'Accounts');
      assert.deepEqual(may, { find: true, get: true, create: true, update: true, delete: true });
      assert.equal(keepsHistory, true);
      assert.deepEqual(titleFields, ['Name']);
      assert.equal((await tableOf(sales, '_User')).may.update, false);
      // Users may read their own sessions.
      const ofNobody = (await nobody.call('GET /model')).tables.map(({ name }: Answer) => name);
      assert.deepEqual(ofNobody, ['_Session']);
    });

    it('users who see the same share one model in memory, however many are signed in; others do not', async () => {
      const ofModel = async (caller: Caller) => modelOf(await caller.context());
      const other = await system.user('Sales');
      assert.equal(await ofModel(other), await ofModel(sales));
      assert.notEqual(await ofModel(admin), await ofModel(sales));
      assert.notEqual((await other.call('GET /model')).me.objectId, (await sales.call('GET /model')).me.objectId);
    });

    it('fields with labels and what orders are quick; hidden ones are not there', async () => {
      const table = await tableOf(sales, 'Accounts');
      const fields = new Map<string, Answer>(table.fields.map((field: Answer) => [field.name, field]));
      assert.equal(table.label, (await tableOf(admin, 'Accounts')).label);
      assert.equal(fields.has('Secret'), false);
      assert.equal(fields.has('_phone_key'), false);
      assert.ok((await tableOf(admin, 'Accounts')).fields.some(({ name }: Answer) => name === 'Secret'));
      assert.equal(typeof fields.get('Name').label, 'string');
      assert.deepEqual(
        ['objectId', 'createdAt', 'City2', 'Name', 'OwnerId'].map((name) => fields.get(name).isIndexed),
        [true, true, true, false, false],
      );
      assert.deepEqual(
        ['objectId', 'createdBy', 'Name', 'ACL'].map((name) => fields.get(name).isReadOnly),
        [true, true, false, false],
      );
      assert.equal(fields.get('OwnerId').targetClass, '_User');
      assert.equal(fields.get('array_tags_Pointer_Products').targetClass, 'Products');
    });

    it('who asks, the system, its zone', async () => {
      const { me, system: about, timeZone, version } = await admin.call('GET /model');
      assert.equal(me.objectId, admin.id);
      assert.deepEqual([me.roles, me.isAdministrator], [['Admin'], true]);
      assert.deepEqual(about, { appId: 'app', name: 'Example Ltd' });
      assert.equal(timeZone, 'UTC');
      await system.create('Config', { Name: 'TimeZone', Value: { TimeZone: 'Asia/Jerusalem' } });
      const after = await admin.call('GET /model');
      assert.equal(after.timeZone, 'Asia/Jerusalem');
      assert.notEqual(after.version, version);
      assert.equal((await admin.call('GET /model')).version, after.version);
      assert.equal((await sales.call('GET /me')).isAdministrator, false);
    });

    it('the signal names tables with writes since, of those that the caller may find in', async () => {
      const first = await sales.call('GET /changes');
      assert.deepEqual([first.tables, first.isModelChanged], [[], false]);
      const quiet = await sales.call('GET /changes', { query: { since: first.now } });
      assert.deepEqual(quiet.tables, []);
      await system.create('Contacts', { FirstName: 'A' });
      await system.create('Config', { Name: 'Other', Value: {} });
      const { tables, now } = await sales.call('GET /changes', { query: { since: quiet.now } });
      assert.ok(tables.includes('Contacts'));
      assert.ok(!tables.includes('Config') && !tables.includes('Accounts'), String(tables));
      assert.deepEqual((await sales.call('GET /changes', { query: { since: now } })).tables, []);
      assert.deepEqual((await nobody.call('GET /changes', { query: { since: quiet.now } })).tables, []);
      await system.define('Contacts', { fields: { Later: { type: 'String' } } });
      assert.equal((await sales.call('GET /changes', { query: { since: now } })).isModelChanged, true);
    });

    it('a mark of another process tells of what was shortly before it, and of all before this one looked', async () => {
      const marks = await sales.call('GET /changes');
      const [, step, at, model] = JSON.parse(Buffer.from(marks.now, 'base64url').toString());
      const of = (time: number) => Buffer.from(JSON.stringify(['another', step, time, model])).toString('base64url');
      const since = async (time: number) => (await sales.call('GET /changes', { query: { since: of(time) } })).tables;
      await system.create('Cases', { Name: 'A' });
      assert.ok((await since(at)).includes('Cases'));
      assert.ok((await since(0)).length > 10);
      await wait(10);
      assert.deepEqual(await since(Date.now() + 10_000), []);
    });

    it('a table that the caller may do nothing with is like one that there is not', async () => {
      const addresses = [
        'GET /rows/T',
        'GET /count/T',
        'GET /records/T/x',
        'GET /related/T/x',
        'GET /history/T/x',
        'GET /views/T',
      ];
      for (const address of addresses)
        for (const [caller, name] of [
          [nobody, 'Accounts'],
          [sales, 'Config'],
          [sales, '_StoredFile'],
          [sales, 'NoSuch'],
          [sales, '__proto__'],
          [sales, 'constructor'],
          [sales, 'x'.repeat(5_000)],
          [sales, 'a b"; DROP TABLE'],
        ] as const) {
          const error = await caller.refused(address.replace('/T', `/${encodeURIComponent(name)}`));
          assert.equal(error.code, 119, `${address} ${name.slice(0, 20)}: ${error.message.slice(0, 100)}`);
        }
    });

    it('a field that is hidden is shown nowhere, and neither asked for nor ordered by', async () => {
      const id = await system.create('Accounts', { Name: 'Hidden Ltd', Secret: 'xyzzy' });
      const { rows } = await sales.call('GET /rows/Accounts', { query: { where: { Name: 'Hidden Ltd' } } });
      assert.equal('Secret' in rows[0], false);
      assert.equal('Secret' in (await sales.call(`GET /records/Accounts/${id}`)).record, false);
      assert.equal((await admin.call(`GET /records/Accounts/${id}`)).record.Secret, 'xyzzy');
      assert.deepEqual((await sales.call('GET /search', { query: { q: 'xyzzy' } })).results, []);
      for (const query of [{ where: { Secret: 'xyzzy' } }, { order: 'Secret' }, { order: '-Secret' }, { keys: 'Secret' }])
        assert.equal((await sales.refused('GET /rows/Accounts', { query })).code, 119, JSON.stringify(query));
      assert.equal((await sales.refused('GET /count/Accounts', { query: { where: { Secret: 'a' } } })).code, 119);
      const body = { changes: { Secret: 'b' }, base: { Secret: null } };
      assert.equal((await sales.refused(`PUT /records/Accounts/${id}`, { body })).code, 119);
      assert.doesNotMatch(JSON.stringify(await sales.call(`GET /history/Accounts/${id}`)), /xyzzy|Secret/);
    });

    it('names are those of records that the caller may find', async () => {
      const closed = await system.create('Accounts', { Name: 'Closed Ltd', ACL: { [admin.id]: { read: true } } });
      const contact = await system.create('Contacts', { FirstName: 'Of', AccountId: pointer('Accounts', closed) });
      const { names, rows } = await sales.call('GET /rows/Contacts', { query: { where: { objectId: contact } } });
      assert.equal(rows[0].AccountId.objectId, closed);
      assert.deepEqual(names.Accounts, {});
      const { names: all } = await admin.call('GET /rows/Contacts', { query: { where: { objectId: contact } } });
      assert.equal(all.Accounts[closed], 'Closed Ltd');
      assert.equal((await sales.refused(`GET /related/Accounts/${closed}`)).code, 101);
      assert.equal((await sales.refused(`GET /history/Accounts/${closed}`)).code, 101);
    });

    it('what cannot be read is refused, never a fault', async () => {
      const cursor = (...values: unknown[]) => Buffer.from(JSON.stringify(values)).toString('base64url');
      const cases: [address: string, query: Record<string, string>, code: number][] = [
        ['GET /rows/Accounts', { where: '{' }, 107],
        ['GET /rows/Accounts', { where: '[]' }, 107],
        ['GET /rows/Accounts', { where: '{"$text":{"$search":{"$term":"x"}}}' }, 107],
        ['GET /rows/Accounts', { where: '{"Name":{"$regex":"("}}' }, 102],
        ['GET /rows/Accounts', { limit: '201' }, 107],
        ['GET /rows/Accounts', { limit: '-1' }, 107],
        ['GET /rows/Accounts', { skip: '1e9' }, 107],
        ['GET /rows/Accounts', { order: 'a b' }, 105],
        ['GET /rows/Accounts', { order: 'Name\0' }, 107],
        ['GET /rows/Accounts', { order: 'A,B,C,D,E,F,G,H,I,J'.replace(/\w/g, (name) => `-createdAt,${name}`) }, 0],
        ['GET /rows/Accounts', { keys: 'AccountId.Name' }, 107],
        ['GET /rows/Accounts', { after: 'x' }, 107],
        ['GET /rows/Accounts', { after: cursor('-createdAt,-objectId', ['x', 'y']) }, 107],
        ['GET /rows/Accounts', { after: cursor('-createdAt,-objectId', [null, 'y']) }, 107],
        ['GET /rows/Accounts', { after: cursor('-createdAt,-objectId', [{ $ne: 1 }, 'y']) }, 107],
        ['GET /rows/Accounts', { after: cursor('-createdAt,-objectId', ['2026-01-01T00:00:00Z', 'y\0']) }, 107],
        ['GET /rows/Accounts', { after: cursor('Name,objectId', ['x', 'y']) }, 107],
        ['GET /rows/Accounts', { after: cursor('-createdAt,-objectId', 'nosuchid00') }, 107],
        ['GET /rows/Accounts', { after: cursor('-OwnerId,-objectId', -1), order: '-OwnerId' }, 107],
        ['GET /rows/Accounts', { skip: '1', after: cursor('-createdAt,-objectId', ['2026-01-01T00:00:00Z', 'y']) }, 107],
        ['GET /changes', { since: 'x' }, 107],
        ['GET /changes', { since: cursor(1, 2, 3, 4) }, 107],
        ['GET /search', { q: 'x'.repeat(201) }, 107],
        ['GET /search', { q: 'a', tables: 'NoSuch' }, 107],
        ['GET /records/Accounts/..%2F..', {}, 101],
        [`GET /records/Accounts/${'x'.repeat(300)}`, {}, 101],
        ['GET /records/Accounts/%00', {}, 101],
        ['GET /history/Accounts/nosuchid00', {}, 101],
        ['GET /history/Accounts/nosuchid00', { before: 'x' }, 107],
        ['GET /related/Accounts/nosuchid00', {}, 101],
        ['GET /view/nosuchid00', {}, 101],
      ];
      for (const [address, query, code] of cases)
        if (code > 0) assert.equal((await sales.refused(address, { query })).code, code, `${address} ${JSON.stringify(query)}`);
        else assert.ok(await sales.call(address, { query }));
    });
  });

const open = (...roles: string[]) => {
  const grants = Object.fromEntries(roles.map((role) => [`role:${role}`, true]));
  return { find: grants, get: grants, create: grants, update: grants, delete: grants };
};
