/**
 * Data directories of every earlier version open, with all their data. The names of `fixtures/` say what each version had.
 * Reference: migration.md#upgrades-of-stored-systems.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { removeDirectory } from '../support/data.ts';
import { type Answer, type CallOptions, type Service, startService } from '../support/service.ts';
import { makeDataDirectory, phoneKeysOf, stateOf, systemOf } from './data-directory.ts';

/** No limit: the rows of the request log in the fixtures are older than the usual one. */
const env = { REQUEST_LOG_DAYS: '0' };

interface Row extends Record<string, unknown> {
  objectId: string;
}

for (const version of ['first-catalogue', 'records', 'users', 'files', 'functions'])
  describe(`the data of the version with ${version}`, () => {
    const beforeUsers = version === 'first-catalogue' || version === 'records';
    const hasPhones = version === 'files' || version === 'functions';
    let dataDir: string;
    let service: Service;

    before(async () => {
      dataDir = makeDataDirectory(version);
      service = await startService({ dataDir, env });
    });
    after(async () => {
      await service.stop();
      await removeDirectory(dataDir);
    });

    async function call(method: string, path: string, options: CallOptions = {}): Promise<Answer['body']> {
      const { status, text, body } = await service.call(method, `/platform/${path}`, options);
      assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
      return body;
    }
    const find = async (className: string, where: unknown = {}): Promise<Row[]> =>
      (await call('GET', `classes/${className}`, { query: { where, limit: 1000 } })).results;
    const tables = async () =>
      new Map<string, { fields: Record<string, { type: string }> }>(
        (await call('GET', 'schemas')).results.map((table: { className: string }) => [table.className, table]),
      );
    const names = (rows: Row[], field = 'Name') => rows.map((row) => row[field]).sort();

    it('has its records', async () => {
      const [second, first] = await find('Books', { pages: { $gt: 1 } }).then((rows) =>
        rows.sort((a, b) => Number(a.pages) - Number(b.pages)),
      );
      assert.deepEqual([first?.title, first?.Title, first?.tags], ['Crème brûlée', 'B', ['a', { b: 1 }]]);
      assert.deepEqual(second?.ACL, { '*': { read: true } });
      assert.deepEqual(second?.next, { __type: 'Pointer', className: 'Books', objectId: 'bookA00000' });
      const related = {
        $relatedTo: { object: { __type: 'Pointer', className: 'Books', objectId: 'bookB00000' }, key: 'authors' },
      };
      assert.deepEqual(names(await find('Books', related), 'objectId'), ['bookA00000']);
      assert.deepEqual(names(await find('Books', { $text: { $search: { $term: 'creme' } } }), 'objectId'), ['bookA00000']);
    });

    it('has its schema, dropped fields left out', async () => {
      const { fields } = (await tables()).get('Books') ?? assert.fail();
      assert.equal(fields.old, undefined);
      assert.equal(fields.Title?.type, 'String');
    });

    it('has the tables of a new system', async () => {
      const template = [...(await tables()).keys()].filter((name) => name !== 'Books');
      // One was dropped.
      assert.equal(template.length, beforeUsers ? 111 : 110);
      assert.equal((await call('GET', 'schemas/_AdminLog')).fields.act.type, 'String');
    });

    it('lets users sign up and sign in', async () => {
      const taken = await service.call('POST', '/platform/users', {
        as: 'apiKey',
        body: { username: 'DANA', password: 'Secret123Pass' },
      });
      assert.equal(taken.body.code, 202, taken.text);
      if (beforeUsers) await call('PUT', 'classes/_User/userDana00', { body: { password: 'Secret123Pass' } });
      for (const login of [{ username: 'dana' }, { email: 'DANA@example.com' }]) {
        const user = await call('POST', 'login', { as: 'anonymous', body: { ...login, password: 'Secret123Pass' } });
        assert.equal(user.objectId, 'userDana00');
      }
      const body = { username: 'new', password: 'Secret123Pass' };
      const { sessionToken } = await call('POST', 'users', { as: 'apiKey', body });
      assert.equal((await call('GET', 'users/me', { session: sessionToken })).username, 'new');
    });

    it('has the keys of telephone numbers, which no answer shows', async () => {
      await find('Accounts');
      const numbers = { accountA00: '0501234567', accountB00: '035551234', accountC00: null, accountD00: null, account000: null };
      assert.deepEqual(phoneKeysOf(systemOf(dataDir)), hasPhones ? numbers : { account000: null });
      assert.equal((await tables()).get('Accounts')?.fields._phone_key, undefined);
      const [account] = await find('Accounts', { objectId: 'accountA00' });
      if (hasPhones) assert.equal(account?.PhoneNumber, '050-1234567');
      assert.equal(account?._phone_key, undefined);
    });

    it('has what schedules are kept in, with labels, and its definitions of triggers', async () => {
      const { fields } = (await tables()).get('_Trigger') ?? assert.fail();
      assert.deepEqual([fields.nextRun?.type, fields.lastRun?.type, fields._cursor], ['Date', 'Date', undefined]);
      assert.equal((await tables()).has('_TriggerQueue'), false);
      const labels = await find('_Dictionary', { tblName: '_Trigger', field: { $in: ['nextRun', 'lastRun', 'Name'] } });
      assert.deepEqual(names(labels, 'field'), ['Name', 'lastRun', 'nextRun']);
      if (version !== 'functions') return;
      const [first, second, third] = await find('_Trigger');
      assert.deepEqual([first?.Name, first?.Active], ['Chain', false]);
      // Fields that a client had created under these names.
      assert.deepEqual([second?.nextRun_before, second?.lastRun_before], ['tomorrow', 5]);
      assert.deepEqual(
        [third?.events, third?.actions],
        [
          [1, { a: 'b' }],
          ['x', 5, null],
        ],
      );
    });

    if (beforeUsers) {
      it('keeps what was made under names of new fields', async () => {
        const [log] = await find('_RequestLog', { duration_before: { $exists: true } });
        assert.equal(log?.duration_before, 'long');
        const [user] = await find('_User', { objectId: 'userNoName' });
        assert.equal(user?.active_before, 'yes');
        const [account] = await find('Accounts');
        assert.deepEqual([account?.Name, account?.Phone], [5, 'x']);
        assert.equal((await tables()).get('Accounts')?.fields.PhoneNumber?.type, 'String');
        const [session] = await find('_Session', { objectId: 'session000' });
        assert.equal(session?.sessionToken, undefined);
      });

      it('gets the first rows that it has not', async () => {
        assert.deepEqual(names(await find('AccountStatuses')), ['Own']);
        assert.ok((await find('LeadStatuses')).length > 0);
        const settings = names(await find('Config'));
        assert.equal(settings.filter((name) => name === 'AcceptWebLeads').length, 1);
        assert.ok(settings.includes('Own'));
        const labels = await find('_Dictionary', { tblName: 'Accounts', field: { $in: ['Name', 'Address'] } });
        assert.equal(labels.length, 2);
        assert.ok(names(labels, 'value').includes('Own label'));
      });

      it('has each role once', async () => {
        const roles = await find('_Role');
        assert.deepEqual(names(roles, 'name'), [
          ...['Admin', 'Admin 2', 'Finance', 'Marketing', 'Own', 'ReadOnly', 'Sales', 'Service'],
        ]);
        const again = await service.call('POST', '/platform/classes/_Role', { body: { name: 'Own' } });
        assert.equal(again.body.code, 137, again.text);
        const key = { object: { __type: 'Pointer', className: '_Role', objectId: 'roleA00000' }, key: 'users' };
        assert.deepEqual(names(await find('_User', { $relatedTo: key }), 'objectId'), ['userDana00']);
      });
    } else
      it('does not recreate what was dropped', async () => {
        const known = await tables();
        assert.equal(known.has('Warehouses'), false);
        assert.equal(known.get('Accounts')?.fields.ExternalId, undefined);
        assert.equal((await find('CityList')).length, 49);
      });

    // The last test: it leaves no service running.
    it('is left alone by the next start', async () => {
      await service.stop();
      const state = stateOf(systemOf(dataDir));
      service = await startService({ dataDir, env });
      await tables();
      await service.stop();
      assert.deepEqual(stateOf(systemOf(dataDir)), state);
    });
  });
