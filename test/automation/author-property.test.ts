/** docs/adr/0015: what an administrator may not do over REST he cannot bring about by definitions, whatever the table, at any depth. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Json, path } from '../support/records.ts';
import { anyEngine } from '../support/service.ts';
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
  });
