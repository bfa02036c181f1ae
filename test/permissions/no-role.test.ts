/** A user without a role gets 119 on every table of a new system, except for own sessions. Reference: permissions.md#permissions-of-a-new-system. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  assertDone,
  assertRefused,
  type Caller,
  captcha,
  denied,
  newCaller,
  notFound,
  signIn,
  strangers,
} from '../support/permissions.ts';
import { type Json, pointer } from '../support/records.ts';
import { anyEngine, type Service } from '../support/service.ts';
import { addUnusedSystem } from '../systems/cli.ts';

for (const engine of anyEngine)
  describe(engine, () => {
    let service: Service | undefined;
    let caller: Caller;
    let tables: string[];
    const running = () => service as Service;
    before(async () => {
      service = await addUnusedSystem(engine);
      caller = await newCaller(service);
      const { results } = assertDone(await service.call('GET', '/platform/schemas'), 200, 'schemas');
      tables = results.map(({ className }: Json) => className);
    });

    /** All reads and writes of a table, each with the action that its refusal names. */
    const requests = (table: string) => {
      const [list, one] = [`/platform/classes/${table}`, `/platform/classes/${table}/none`];
      return [
        ['GET', list, {}, 'find'],
        ['GET', list, { count: 1, limit: 0 }, 'find'],
        ['GET', one, {}, 'get'],
        ['GET', `/platform/classes-aggregate/${table}`, { count: 'n' }, 'find'],
        ['POST', list, { body: { name: '!', objectId: 'x' } }, 'create'],
        ['PUT', one, { body: { name: '!' } }, 'update'],
        ['DELETE', one, {}, 'delete'],
      ] as const;
    };
    const queryOf = (options: object) => ('body' in options ? options : { query: { ...options } });

    test('a new system has tables of every kind', () => {
      for (const name of ['Accounts', 'Config', '_User', '_Role', '_Session', '_Timeline', '_RequestLog', '_Dictionary'])
        assert.ok(tables.includes(name), name);
    });

    test('a user without a role is refused everywhere', async () => {
      for (const table of tables.filter((name) => name !== '_Session'))
        await Promise.all(
          requests(table).map(async ([method, path, options, action]) => {
            const answer = await running().call(method, path, { ...queryOf(options), ...caller.options });
            let expected = denied(action, table);
            if (table === '_User' && action === 'update')
              expected = { status: 400, code: 206, error: 'Cannot modify user none.' };
            // These tables reject DELETE from any caller.
            if (table.startsWith('_syslog') && action === 'delete')
              expected = { ...expected, error: 'Action is denied for system tables' };
            assertRefused(answer, expected, `${method} ${path}`);
          }),
        );
    });

    test('a user without a role reaches no table through sessions or a batch', async () => {
      for (const table of tables.filter((name) => name !== '_Session')) {
        const where = { user: { $inQuery: { className: table, where: {} } } };
        assertRefused(
          await running().call('GET', '/platform/sessions', { ...caller.options, query: { where } }),
          denied('find', table),
          table,
        );
        const related = { $relatedTo: { object: pointer(table, 'none'), key: 'users' } };
        const answer = await running().call('GET', '/platform/sessions', { ...caller.options, query: { where: related } });
        assertRefused(answer, denied('get', table), table);
      }
      const items = tables
        .filter((name) => !name.startsWith('_'))
        .map((name) => ({ method: 'POST', path: `/platform/classes/${name}`, body: {} }));
      const { body } = await running().call('POST', '/platform/batch', { ...caller.options, body: { requests: items } });
      assert.equal(body.length, items.length);
      for (const item of body) assert.equal(item.error.code, 119, JSON.stringify(item));
    });

    test('a user without a role reads own sessions and no others', async () => {
      await newCaller(running());
      for (const path of ['/platform/sessions', '/platform/classes/_Session']) {
        const { results, count } = assertDone(
          await running().call('GET', path, { ...caller.options, query: { count: 1 } }),
          200,
          path,
        );
        assert.deepEqual([count, results.map(({ user }: Json) => user.objectId)], [1, [caller.id]]);
      }
      const { body } = await running().call('GET', '/platform/sessions');
      const others = body.results.filter(({ user }: Json) => user.objectId !== caller.id);
      assert.ok(others.length > 0);
      for (const { objectId } of others)
        for (const method of ['GET', 'PUT', 'DELETE'])
          assertRefused(
            await running().call(method, `/platform/sessions/${objectId}`, {
              ...caller.options,
              body: method === 'PUT' ? {} : undefined,
            }),
            notFound,
            method,
          );
    });

    test('of an own session a user writes no field of the service', async () => {
      const { body } = await running().call('GET', '/platform/sessions', caller.options);
      const path = `/platform/sessions/${body.results[0].objectId}`;
      for (const name of [
        'user',
        'expiresAt',
        'createdWith',
        'createdWith.action',
        'installationId',
        'restricted',
        'sessionToken',
      ]) {
        const answer = await running().call('PUT', path, { ...caller.options, body: { [name]: 'x' } });
        assert.deepEqual([answer.status, answer.body.code], [400, 119], `${name} ${answer.text}`);
      }
      assert.equal((await running().call('GET', path)).text, (await running().call('GET', path, caller.options)).text);
    });

    test('an anonymous caller is refused everywhere', async () => {
      const { anonymous } = strangers(running());
      for (const table of tables)
        await Promise.all(
          requests(table).map(async ([method, path, options, action]) => {
            const answer = await running().call(method, path, { ...queryOf(options), ...anonymous.options });
            let expected = method === 'GET' ? denied(action, table) : captcha;
            if (table === '_User' && method === 'GET' && !path.includes('aggregate')) expected = signIn;
            assertRefused(answer, expected, `${method} ${path}`);
          }),
        );
    });

    test('a wrong key is refused everywhere, unknown tables too', async () => {
      const wrong = strangers(running())['wrong key'];
      for (const table of [...tables, 'NeverMade'])
        await Promise.all(
          requests(table).map(async ([method, path, options, action]) =>
            assertRefused(
              await running().call(method, path, { ...queryOf(options), ...wrong.options }),
              denied(action, table),
              `${method} ${path}`,
            ),
          ),
        );
    });

    test('the keys read every table; `_RequestLog` and `_AdminLog` are for the master key alone', async () => {
      const { master, apiKey } = strangers(running());
      for (const table of tables)
        for (const key of [master, apiKey]) {
          const answer = await running().call('GET', `/platform/classes/${table}`, {
            ...key.options,
            query: { count: 1, limit: 1 },
          });
          if (['_RequestLog', '_AdminLog'].includes(table) && key === apiKey) assertRefused(answer, denied('find', table), table);
          else assertDone(answer, 200, table);
        }
      for (const [method, path, options, action] of requests('_RequestLog'))
        assertRefused(
          await running().call(method, path, { ...queryOf(options), ...apiKey.options }),
          denied(action, '_RequestLog'),
          method,
        );
    });

    test('a refused role name reveals nothing about existing roles', async () => {
      const { body } = await running().call('GET', '/platform/roles');
      const [{ objectId, name }] = body.results;
      for (const guess of [name, 'another', '!'])
        assertRefused(
          await running().call('PUT', `/platform/roles/${objectId}`, { ...caller.options, body: { name: guess } }),
          denied('update', '_Role'),
          guess,
        );
    });
  });
