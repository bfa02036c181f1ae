import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pointer } from '../../support/records.ts';
import { sampledEngines } from '../../support/service.ts';
import { type Answer, type Caller, openSystem, type TestSystem } from './system.ts';

for (const engine of sampledEngines())
  describe(`whose records are whose, on ${engine}`, () => {
    let system: TestSystem;
    let owner: Caller;
    let other: Caller;
    let admin: Caller;
    let nobody: Caller;
    let held: string;
    before(async () => {
      system = await openSystem(engine);
      owner = await system.user('Sales');
      other = await system.user('Sales');
      admin = await system.user('Admin');
      nobody = await system.user();
      const all = { 'role:Admin': true };
      const byField = { ...all, pointerFields: ['OwnerId'] } as Answer;
      await system.define('Projects', {
        fields: { Team: { type: 'Array' } },
        classLevelPermissions: { find: byField, get: byField, count: byField, update: byField, create: all, delete: all },
      });
      held = await system.create('Projects', { Name: 'Held Project', OwnerId: pointer('_User', owner.id) });
      await system.create('Projects', { Name: 'Project of nobody' });
      await system.create('Contacts', { FirstName: 'Closed', ACL: { [owner.id]: { read: true } } });
    });
    after(() => system.close());

    const names = async (caller: Caller): Promise<string[]> =>
      (await caller.call('GET /rows/Projects', { query: { order: 'Name' } })).rows.map(({ Name }: Answer) => Name);

    it('records that hold the user in a field are visible: in rows, counts, search, one by one', async () => {
      assert.deepEqual(await names(owner), ['Held Project']);
      assert.deepEqual(await names(other), []);
      assert.deepEqual(await names(admin), ['Held Project', 'Project of nobody']);
      const counts = await Promise.all([owner, other, admin].map(async (one) => (await one.call('GET /count/Projects')).count));
      assert.deepEqual(counts, [1, 0, 2]);
      assert.deepEqual((await owner.call(`GET /records/Projects/${held}`)).may, { update: true, delete: false });
      assert.equal((await other.refused(`GET /records/Projects/${held}`)).code, 101);
      const found = async (caller: Caller) => (await caller.call('GET /search', { query: { q: 'Project' } })).results.length;
      assert.deepEqual([await found(owner), await found(other), await found(admin)], [1, 0, 2]);
      for (const q of ['', 'Proj']) {
        const query = { q, tables: 'Projects' };
        assert.deepEqual((await other.call('GET /search', { query })).results, [], q);
      }
    });

    it('a record that may be read and not changed is refused as such, and not as one that others change', async () => {
      const read = await system.create('Contacts', { FirstName: 'Read', ACL: { [owner.id]: { read: true } } });
      const body = { changes: { FirstName: 'Changed' }, base: { FirstName: 'Read' } };
      assert.equal((await owner.refused(`PUT /records/Contacts/${read}`, { body })).code, 119);
      await system.remove('Contacts', read);
    });

    it('a user who removes their own name from a record still gets an answer', async () => {
      const mine = await system.create('Projects', { Name: 'Handed over', OwnerId: pointer('_User', owner.id) });
      const body = { changes: { OwnerId: pointer('_User', other.id) }, base: { OwnerId: pointer('_User', owner.id) } };
      const { record, may } = await owner.call(`PUT /records/Projects/${mine}`, { body });
      assert.equal(record.objectId, mine);
      assert.deepEqual(may, { update: false, delete: false });
      assert.equal((await other.call(`GET /records/Projects/${mine}`)).record.OwnerId.objectId, other.id);
    });

    it('a record that its ACL closes is in no count, row or search of others', async () => {
      for (const [caller, count] of [
        [owner, 1],
        [other, 0],
        [admin, 0],
      ] as const) {
        assert.equal((await caller.call('GET /count/Contacts')).count, count);
        assert.equal((await caller.call('GET /rows/Contacts')).rows.length, count);
        assert.equal((await caller.call('GET /search', { query: { q: 'Closed', tables: 'Contacts' } })).results.length, count);
      }
    });

    it('without a role there is nothing but who one is', async () => {
      assert.equal((await nobody.call('GET /me')).objectId, nobody.id);
      assert.deepEqual((await nobody.call('GET /search', { query: { q: 'Project' } })).results, []);
      assert.equal((await nobody.refused('GET /search', { query: { q: 'a', tables: 'Accounts' } })).code, 107);
      for (const address of ['GET /rows/Accounts', 'GET /records/Accounts/x', 'GET /views/Accounts', 'GET /rows/_Timeline'])
        assert.equal((await nobody.refused(address)).code, 119, address);
    });
  });
