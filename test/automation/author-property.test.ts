/** adr/0015: what an administrator may not do over REST, its definitions do not do either, in any table, at any depth. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newPhone } from '../functions/forms.ts';
import { bearerHeaders, callTool } from '../support/mcp.ts';
import { everything, signInFor } from '../support/oauth.ts';
import { type Json, path } from '../support/records.ts';
import { type CallOptions, sampledEngines } from '../support/service.ts';
import { newName, password, setRole, signUp } from '../support/users.ts';
import { creates } from './effects.ts';
import { useWorld } from './world.ts';

/** What a table needs beside a name. */
const bodies: Record<string, () => Json> = {
  _User: () => ({ username: newName(), password }),
  _Role: () => ({ name: newName() }),
  _Trigger: () => ({ table: 'Tags', events: ['update'], actions: [] }),
  Config: () => ({ Name: newName(), Value: {} }),
  LeadStatuses: () => ({ Name: newName() }),
};

for (const engine of sampledEngines())
  describe(`of all tables (${engine})`, () => {
    const world = useWorld(engine, 'apart');
    const schemas = async (): Promise<Json[]> => (await world.call('GET', '/platform/schemas')).body.results;
    /** Creates a record of each table over REST; answers the tables that have one more. */
    const post = async (names: readonly string[], bodyFor: (name: string) => Json, options: CallOptions) => {
      const requests = names.map((name) => ({ method: 'POST' as const, path: path(name), body: bodyFor(name) }));
      const outcomes = await world.batch(requests, options);
      return new Set(names.filter((_, at) => outcomes[at]?.success));
    };

    for (const [what, fieldsOf] of [
      ['records', () => ({})],
      ['records with columns to be', () => ({ [newName().replace(/\W/g, '')]: 'x' })],
    ] as const)
      test(`a trigger makes ${what} where its author may, and nowhere else`, async () => {
        const admin = await signUp(world);
        await setRole(world, admin.id, 'Admin');
        const as = { session: admin.token };
        const all = await schemas();
        // Excludes what the service itself writes meanwhile.
        const names = all
          .map(({ className }) => className)
          .filter((name: string) => !/^_(Timeline|RequestLog|syslogTriggers)$/.test(name));
        const bodyFor = (name: string) => ({ ...(bodies[name]?.() ?? {}), ...fieldsOf() });
        const mayHimself = await post(names, bodyFor, as);
        assert.ok(mayHimself.has('Tags') && !mayHimself.has('_User'));
        const [first, second] = [await world.place(), await world.place()];
        /** Defines a trigger of a table for each list of actions; answers which were taken. */
        const define = async (table: string, lists: readonly object[][]): Promise<boolean[]> => {
          const bodies = lists.map((actions) => ({ Name: 'probe', table, events: ['create'], actions }));
          const requests = bodies.map((body) => ({ method: 'POST' as const, path: path('_Trigger'), body }));
          const outcomes = await world.batch(requests, as);
          for (const { success } of outcomes) if (success) world.adopt(success.objectId);
          return outcomes.map(({ success }) => success !== undefined);
        };
        assert.deepEqual(await define(first, [[creates(second)]]), [true]);
        // While the definitions are made, the author may do everything that permissions can give; then they are restored.
        const lent = all.filter(({ className }) => names.includes(className) && !mayHimself.has(className));
        const permitAll = async (more: object) => {
          const outcomes = await world.batch(
            lent.map(({ className, classLevelPermissions }) => ({
              method: 'PUT',
              path: `/platform/schemas/${className}`,
              body: { classLevelPermissions: { ...classLevelPermissions, ...more } },
            })),
          );
          for (const { error } of outcomes) assert.equal(error, undefined);
        };
        const grant = { 'role:Admin': true };
        await permitAll({ create: grant, addField: grant });
        const taken = await define(
          second,
          names.map((name) => [creates(name, bodyFor(name))]),
        );
        await permitAll({});
        const defined = new Set(names.filter((_, at) => taken[at]));
        assert.ok(['_User', '_Session', '_Trigger'].every((name) => !defined.has(name)));
        assert.ok(defined.size > 90, String(defined.size));
        const before = await world.counts(names);
        await world.create(first, {});
        await world.settle();
        const now = await world.counts(names);
        const made = names.filter((name) => (now[name] ?? 0) > (before[name] ?? 0)).sort();
        assert.deepEqual(made, [...mayHimself].filter((name) => defined.has(name)).sort());
        const columns = (tables: Json[]) =>
          tables
            .filter(({ className }) => !mayHimself.has(className))
            .map(({ className, fields }) => [className, Object.keys(fields)]);
        const ofOld = new Set(names);
        assert.deepEqual(
          columns((await schemas()).filter(({ className }) => ofOld.has(className))),
          columns(all.filter(({ className }) => ofOld.has(className))),
        );
      });

    test('agent tools, imports and forms make records where the user may, and nowhere else', async () => {
      const admin = await signUp(world, { mcpPermissions: everything });
      await setRole(world, admin.id, 'Admin');
      const as = { session: admin.token };
      const names = (await schemas())
        .map(({ className }) => className)
        .filter((name: string) => !/^_(Timeline|RequestLog|syslogTriggers|Session)$/.test(name));
      // The author loses some tables of each kind, as if an operator revoked them.
      const closed = ['Tasks', 'Sales', 'Cases', 'Contacts'];
      for (const name of closed) {
        const { body } = await world.call('GET', `/platform/schemas/${name}`);
        const classLevelPermissions = { ...body.classLevelPermissions, create: {} };
        const answer = await world.call('PUT', `/platform/schemas/${name}`, { body: { classLevelPermissions } });
        assert.equal(answer.status, 200, answer.text);
      }
      const mayHimself = await post(names, (name) => bodies[name]?.() ?? {}, as);
      assert.ok(mayHimself.has('Tags') && closed.every((name) => !mayHimself.has(name)));
      for (const Name of ['AcceptWebToTable', 'McpAdvancedTools'])
        assert.equal((await world.post('Config', { Name, Value: { [Name]: true } }, as)).status, 201);
      const service = world.service();
      const headers = bearerHeaders((await signInFor(service, admin)).tokens.access_token);
      const form = async (table: string) => {
        const response = await fetch(`${service.url}/functions/${service.appId}/web2table`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ table, phone: newPhone() }),
        });
        await response.arrayBuffer();
      };
      const doors: [string, (table: string, body: Json) => Promise<unknown>][] = [
        ['Create-Record', (table, data) => callTool(service, headers, 'Create-Record', { table, data })],
        ['Create-Many', (table, data) => callTool(service, headers, 'Create-Many', { table, data: [data] })],
        ['Import-Records', (table, row) => callTool(service, headers, 'Import-Records', { table, rows: [row] })],
        ['a form', form],
      ];
      // Administrators create users with agent tools, not over REST (agents.md#tool-rights).
      const forbidden = (door: string) =>
        names.filter((name) => !mayHimself.has(name) && (name !== '_User' || door === 'a form'));
      const used = new Map<string, number>();
      for (const [door, use] of doors) {
        const before = await world.counts(names);
        await Promise.all(names.map((name) => use(name, bodies[name]?.() ?? {})));
        await world.settle();
        const now = await world.counts(names);
        assert.deepEqual(
          forbidden(door).filter((name) => (now[name] ?? 0) > (before[name] ?? 0)),
          [],
          door,
        );
        used.set(door, names.filter((name) => (now[name] ?? 0) > (before[name] ?? 0)).length);
      }
      // The doors are open.
      for (const [door, tables] of used) assert.ok(tables > 20, `${door}: ${tables} tables`);
    });
  });
