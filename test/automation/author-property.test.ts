/** docs/adr/0015: what an administrator may not do over REST he cannot bring about by definitions, whatever the table, at any depth. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bearerHeaders, callTool } from '../support/mcp.ts';
import { everything, signInFor } from '../support/oauth.ts';
import { type Json, path } from '../support/records.ts';
import { anyEngine } from '../support/service.ts';
import { newName, password, setRole, signUp } from '../support/users.ts';
import { creates } from './effects.ts';
import { useWorld } from './world.ts';

let phones = 1;

/** What a table needs beside a name. */
const bodies: Record<string, () => Json> = {
  _User: () => ({ username: newName(), password }),
  _Role: () => ({ name: newName() }),
  _Trigger: () => ({ table: 'Tags', events: ['update'], actions: [] }),
  Config: () => ({ Name: newName(), Value: {} }),
  LeadStatuses: () => ({ Name: newName() }),
};

for (const engine of anyEngine)
  describe(`of all tables (${engine})`, () => {
    const world = useWorld(engine);
    const schemas = async (): Promise<Json[]> => (await world.call('GET', '/platform/schemas')).body.results;
    const counts = async (names: readonly string[]): Promise<Record<string, number>> =>
      Object.fromEntries(
        await Promise.all(
          names.map(async (name) => {
            const { body } = await world.call('GET', path(name), { query: { limit: 0, count: 1 } });
            return [name, body.count];
          }),
        ),
      );

    for (const [what, fieldsOf] of [
      ['records', () => ({})],
      ['records with columns to be', () => ({ [newName().replace(/\W/g, '')]: 'x' })],
    ] as const)
      test(`a trigger of his makes ${what} where he may himself, and nowhere else`, async () => {
        const admin = await signUp(world);
        await setRole(world, admin.id, 'Admin');
        const as = { session: admin.token };
        const all = await schemas();
        // What the service itself writes meanwhile is none of his.
        const names = all
          .map(({ className }) => className)
          .filter((name: string) => !/^_(Timeline|RequestLog|syslogTriggers)$/.test(name));
        const bodyFor = (name: string) => ({ ...(bodies[name]?.() ?? {}), ...fieldsOf() });
        const mayHimself = new Set<string>();
        for (const name of names) {
          const body = bodyFor(name);
          if ((await world.post(name, body, as)).status === 201) mayHimself.add(name);
        }
        assert.ok(mayHimself.has('Tags') && !mayHimself.has('_User'));
        const [first, second] = [await world.place(), await world.place()];
        const define = async (table: string, actions: object[]): Promise<boolean> => {
          const answer = await world.post('_Trigger', { Name: 'probe', table, events: ['create'], actions }, as);
          if (answer.status === 201) world.adopt(answer.body.objectId);
          return answer.status === 201;
        };
        assert.ok(await define(first, [creates(second)]));
        // As he defines them he may do all that permissions can give; then they are again what they were.
        const permit = async (className: string, classLevelPermissions: object) => {
          const answer = await world.call('PUT', `/platform/schemas/${className}`, { body: { classLevelPermissions } });
          assert.equal(answer.status, 200, answer.text);
        };
        const grant = { 'role:Admin': true };
        const defined = new Set<string>();
        for (const { className, classLevelPermissions } of all.filter((table) => names.includes(table.className))) {
          const isLent = !mayHimself.has(className);
          if (isLent) await permit(className, { ...classLevelPermissions, create: grant, addField: grant });
          if (await define(second, [creates(className, bodyFor(className))])) defined.add(className);
          if (isLent) await permit(className, classLevelPermissions);
        }
        assert.ok(['_User', '_Session', '_Trigger'].every((name) => !defined.has(name)));
        assert.ok(defined.size > 90, String(defined.size));
        const before = await counts(names);
        await world.create(first, {});
        await world.settle();
        const now = await counts(names);
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

    test('agent tools, imports and forms make records where he may himself, and nowhere else', async () => {
      const admin = await signUp(world, { mcpPermissions: everything });
      await setRole(world, admin.id, 'Admin');
      const as = { session: admin.token };
      const names = (await schemas())
        .map(({ className }) => className)
        .filter((name: string) => !/^_(Timeline|RequestLog|syslogTriggers|Session)$/.test(name));
      // Of each kind of table he loses some, as an operator would take them from him.
      const closed = ['Tasks', 'Sales', 'Cases', 'Contacts'];
      for (const name of closed) {
        const { body } = await world.call('GET', `/platform/schemas/${name}`);
        const classLevelPermissions = { ...body.classLevelPermissions, create: {} };
        const answer = await world.call('PUT', `/platform/schemas/${name}`, { body: { classLevelPermissions } });
        assert.equal(answer.status, 200, answer.text);
      }
      const mayHimself = new Set<string>();
      for (const name of names) if ((await world.post(name, bodies[name]?.() ?? {}, as)).status === 201) mayHimself.add(name);
      assert.ok(mayHimself.has('Tags') && closed.every((name) => !mayHimself.has(name)));
      for (const Name of ['AcceptWebToTable', 'McpAdvancedTools'])
        assert.equal((await world.post('Config', { Name, Value: { [Name]: true } }, as)).status, 201);
      const service = world.service();
      const headers = bearerHeaders((await signInFor(service, admin)).tokens.access_token);
      const form = async (table: string) => {
        const response = await fetch(`${service.url}/functions/${service.appId}/web2table`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ table, phone: `05${String(phones++).padStart(8, '0')}` }),
        });
        await response.arrayBuffer();
      };
      const doors: [string, (table: string, body: Json) => Promise<unknown>][] = [
        ['Create-Record', (table, data) => callTool(service, headers, 'Create-Record', { table, data })],
        ['Create-Many', (table, data) => callTool(service, headers, 'Create-Many', { table, data: [data] })],
        ['Import-Records', (table, row) => callTool(service, headers, 'Import-Records', { table, rows: [row] })],
        ['a form', form],
      ];
      // Who administers makes users with agent tools, and not over REST (SPEC "Authentication: Agent-tool layer").
      const forbidden = (door: string) =>
        names.filter((name) => !mayHimself.has(name) && (name !== '_User' || door === 'a form'));
      const used = new Map<string, number>();
      for (const [door, use] of doors) {
        const before = await counts(names);
        for (const name of names) await use(name, bodies[name]?.() ?? {});
        await world.settle();
        const now = await counts(names);
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
