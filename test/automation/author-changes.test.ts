/** adr/0015: what an administrator may not change over REST, definitions and agents do not change either, in any table. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bearerHeaders, callTool } from '../support/mcp.ts';
import { everything, signInFor } from '../support/oauth.ts';
import { type Json, path, pointer } from '../support/records.ts';
import { type CallOptions, sampledEngines } from '../support/service.ts';
import { newName, password, setRole, signUp } from '../support/users.ts';
import { creates, notifies, updates } from './effects.ts';
import { useWorld } from './world.ts';

/** What a table needs beside a name. */
const bodies: Record<string, () => Json> = {
  _User: () => ({ username: newName(), password }),
  _Role: () => ({ name: newName() }),
  _Trigger: () => ({ table: 'Tags', events: ['update'], actions: [], Active: false }),
  Config: () => ({ Name: newName(), Value: {} }),
  LeadStatuses: () => ({ Name: newName() }),
};
/** What is changed in a record, where it is not the first text that its table has. */
const changes: Record<string, string> = { _User: 'job', _Role: 'ACL', _Trigger: 'Name', _Session: 'installationId' };
/** A tool that writes, and what it is called with to write something to a record. */
type Door = [tool: string, argumentsOf: (table: string, data: Json, objectId: string) => object];

/** Tables that take an administrator's powers with them. */
const powers = ['_Trigger', '_Session', '_User', '_Role'] as const;

for (const engine of sampledEngines())
  describe(`changes in all tables (${engine})`, () => {
    const world = useWorld(engine, 'apart');

    const administrator = async () => {
      const admin = await signUp(world, { mcpPermissions: everything });
      await setRole(world, admin.id, 'Admin');
      return { admin, as: { session: admin.token } };
    };

    /** An administrator, and each table with the field that is changed in it. */
    async function scene() {
      const { admin, as } = await administrator();
      for (const name of closed) await permit(name, { update: {} });
      const all: Json[] = (await world.call('GET', '/platform/schemas')).body.results;
      const fields = new Map<string, string>();
      for (const { className, fields: described } of all) {
        const text = Object.keys(described).find((name) => described[name].type === 'String' && name !== 'objectId');
        const field = changes[className] ?? (described.Name?.type === 'String' ? 'Name' : text);
        if (field !== undefined && !/^_(Timeline|RequestLog|syslogTriggers)$/.test(className)) fields.set(className, field);
      }
      const names = [...fields.keys()];
      /** A record of each table, made by the master; those that nobody can make are left out. */
      const victims = async (): Promise<Map<string, string>> => {
        const session = await sessionBody();
        const bodyOf = (name: string) => (name === '_Session' ? session : (bodies[name]?.() ?? {}));
        const outcomes = await world.batch(names.map((name) => ({ method: 'POST', path: path(name), body: bodyOf(name) })));
        return new Map(names.flatMap((name, at) => (outcomes[at]?.success ? [[name, outcomes[at].success.objectId]] : [])));
      };
      /** Changes records over REST; answers the tables of those that were changed. */
      const put = async (of: ReadonlyMap<string, string>, dataFor: (name: string) => Json, options?: CallOptions) => {
        const outcomes = await world.batch(
          Array.from(of, ([name, id]) => ({ method: 'PUT', path: path(name, id), body: dataFor(name) })),
          options,
        );
        return new Set([...of.keys()].filter((_, at) => outcomes[at]?.success));
      };
      const wordIn = (name: string, word: string) => (fields.get(name) === 'ACL' ? { [word]: { read: true } } : word);
      /** Those of the records in which the word stands now. */
      const changed = async (of: ReadonlyMap<string, string>, word: string): Promise<Set<string>> => {
        const found = new Set<string>();
        for (const [name, id] of of) if (JSON.stringify(await world.stored(name, id)).includes(word)) found.add(name);
        return found;
      };
      const dataOf = (name: string, word: string): Json => ({ [fields.get(name) as string]: wordIn(name, word) });
      // What the administrator may do directly is tried on separate records.
      const mayHimself = await put(await victims(), (name) => dataOf(name, newName()), as);
      assert.ok(mayHimself.has('Tags') && !mayHimself.has('_User') && !mayHimself.has('_Session'), [...mayHimself].join());
      for (const name of closed) assert.ok(!mayHimself.has(name), name);
      return { admin, as, all, victims, put, changed, dataOf, mayHimself };
    }

    const permit = async (className: string, more: object) => {
      const { body } = await world.call('GET', `/platform/schemas/${className}`);
      const classLevelPermissions = { ...body.classLevelPermissions, ...more };
      const answer = await world.call('PUT', `/platform/schemas/${className}`, { body: { classLevelPermissions } });
      assert.equal(answer.status, 200, answer.text);
      return body.classLevelPermissions;
    };
    const sessionBody = async () => ({ user: pointer('_User', (await signUp(world)).id) });
    const closed = ['Tasks', 'Sales', 'Cases', 'Contacts'];
    const opened = async (as: object) => {
      const { status } = await world.post('Config', { Name: 'McpAdvancedTools', Value: { McpAdvancedTools: true } }, as);
      assert.equal(status, 201);
    };

    test('a trigger changes records where its author may, and nowhere else', async () => {
      const { as, all, victims, changed, dataOf, mayHimself } = await scene();
      const targets = await victims();
      const columns = Object.fromEntries([...targets.keys()].map((name) => [`to${name}`, `Pointer:${name}`]));
      const from = await world.place(columns);
      const word = newName();
      const grant = { 'role:Admin': true };
      // While the definitions are made, the author may do everything that permissions can give; then they are restored.
      const lent = all.filter(({ className }) => targets.has(className) && !mayHimself.has(className));
      const permitAll = async (permissionsOf: (table: Json) => object) => {
        const outcomes = await world.batch(
          lent.map((table) => ({
            method: 'PUT',
            path: `/platform/schemas/${table.className}`,
            body: { classLevelPermissions: permissionsOf(table) },
          })),
        );
        for (const { error } of outcomes) assert.equal(error, undefined);
      };
      const definitionOf = (name: string) => ({
        Name: 'probe',
        table: from,
        events: ['create'],
        actions: [updates(`to${name}`, dataOf(name, word))],
      });
      await permitAll(({ classLevelPermissions }) => ({ ...classLevelPermissions, get: grant, update: grant, addField: grant }));
      const names = [...targets.keys()];
      const outcomes = await world.batch(
        names.map((name) => ({ method: 'POST', path: path('_Trigger'), body: definitionOf(name) })),
        as,
      );
      await permitAll(({ classLevelPermissions }) => ({ get: {}, update: {}, addField: {}, ...classLevelPermissions }));
      const defined = new Set(names.filter((_, at) => outcomes[at]?.success));
      for (const { success } of outcomes) if (success) world.adopt(success.objectId);
      assert.ok(
        powers.filter((name) => name !== '_Role').every((name) => !defined.has(name)),
        [...defined].join(),
      );
      assert.ok(defined.size > 80, String(defined.size));
      await world.create(from, Object.fromEntries([...targets].map(([name, id]) => [`to${name}`, pointer(name, id)])));
      await world.settle();
      const expected = [...mayHimself].filter((name) => defined.has(name)).sort();
      assert.deepEqual([...(await changed(targets, word))].sort(), expected);
    });

    test('agent tools change records where the user may, and nowhere else', async () => {
      const { admin, as, victims, put, changed, dataOf, mayHimself } = await scene();
      await opened(as);
      const service = world.service();
      const headers = bearerHeaders((await signInFor(service, admin)).tokens.access_token);
      const changing: Door[] = [
        ['Update-Record', (table, data, objectId) => ({ table, objectId, data })],
        ['Update-Many', (table, data, objectId) => ({ table, updates: [{ objectId, data }] })],
      ];
      // They find the record by a value, and send it as it stands: that is another right where a value may not be changed.
      const matching: Door[] = [
        ['Upsert-Record', (table, data) => ({ table, matchOn: Object.keys(data), data })],
        ['Import-Records', (table, data) => ({ table, matchOn: Object.keys(data), rows: [data], onDuplicate: 'update' })],
      ];
      const resent = await victims();
      const data = new Map([...resent.keys()].map((name) => [name, dataOf(name, newName())]));
      await put(resent, (name) => data.get(name));
      const mayResend = await put(resent, (name) => data.get(name), as);
      for (const [doors, may] of [
        [changing, mayHimself],
        [matching, mayResend],
      ] as const)
        for (const [door, argumentsOf] of doors) {
          const targets = await victims();
          const sent = new Map([...targets.keys()].map((name) => [name, dataOf(name, newName())]));
          if (doors === matching) await put(targets, (name) => sent.get(name));
          await Promise.all(
            Array.from(targets, ([name, id]) => callTool(service, headers, door, argumentsOf(name, sent.get(name), id))),
          );
          await world.settle();
          // The user is named in the records that it wrote last.
          const now = await changed(targets, admin.id);
          // Administrators change users with agent tools, not over REST (agents.md#tool-rights).
          const beyond = [...now].filter((name) => !may.has(name) && name !== '_User');
          assert.deepEqual(beyond, [], door);
          assert.ok(now.size > 20, `${door}: ${now.size} tables`);
        }
    });

    test('Set-Trigger of an agent of the author takes what a definition over REST takes, at the tables of powers too', async () => {
      const { admin, as } = await administrator();
      await opened(as);
      const service = world.service();
      const headers = bearerHeaders((await signInFor(service, admin)).tokens.access_token);
      const from = await world.place(Object.fromEntries(powers.map((name) => [`to${name}`, `Pointer:${name}`])));
      for (const name of powers) {
        const cases: [string, string, object][] = [
          ['made', from, creates(name, bodies[name]?.() ?? (await sessionBody()))],
          ['reached', from, updates(`to${name}`, { [changes[name] as string]: name === '_Role' ? {} : 'x' })],
          ['itself', name, updates('self', { [changes[name] as string]: name === '_Role' ? {} : 'x' })],
        ];
        for (const [what, className, action] of cases) {
          const overRest = await world.post(
            '_Trigger',
            { Name: 'probe', table: className, events: ['update'], actions: [action] },
            as,
          );
          if (overRest.status === 201) world.adopt(overRest.body.objectId);
          const args = { className, name: newName(), event: 'update', active: true, actions: [action] };
          const byAgent = await callTool(service, headers, 'Set-Trigger', args);
          const made = await world.find('_Trigger', { Name: args.name });
          for (const { objectId } of made) world.adopt(objectId);
          assert.equal(made.length === 1, overRest.status === 201, `${name} ${what}: ${overRest.text} ${byAgent.text}`);
          if (name !== '_Role') assert.deepEqual([made.length, byAgent.json.code], [0, 119], `${name} ${what}: ${byAgent.text}`);
          // To switch on what a key has defined is to do it.
          const keys = await world.trigger({ table: className, events: ['update'], actions: [action], Active: false });
          const switched = await callTool(service, headers, 'Set-Trigger', { triggerId: keys, active: true });
          if (name !== '_Role') assert.equal(switched.json.code, 119, `${name} ${what}: ${switched.text}`);
          assert.equal((await world.read('_Trigger', keys)).Active, overRest.status === 201, `${name} ${what}: ${switched.text}`);
        }
      }
    });

    test('who may make no notification has none made by a trigger or an agent', async () => {
      const { admin, as } = await administrator();
      await opened(as);
      const service = world.service();
      const headers = bearerHeaders((await signInFor(service, admin)).tokens.access_token);
      const from = await world.place();
      const word = newName();
      const noted = async () => (await world.find('_Notification', { Content: word })).length;
      const definition = { Name: 'probe', table: from, events: ['create'], actions: [notifies(admin.id, word)] };
      const made = await world.post('_Trigger', definition, as);
      assert.equal(made.status, 201, made.text);
      world.adopt(made.body.objectId);
      const act = async () => {
        await world.create(from, {});
        await callTool(service, headers, 'Notify-User', { userIds: [admin.id], content: word });
        await world.settle();
        return noted();
      };
      const before = await permit('_Notification', { create: {} });
      assert.equal((await world.post('_Notification', { User: pointer('_User', admin.id), Content: word }, as)).body.code, 119);
      assert.equal(await act(), 0);
      assert.equal((await world.post('_Trigger', definition, as)).body.code, 119);
      await permit('_Notification', before);
      assert.equal(await act(), 2);
    });
  });
