/** Calls every tool as every kind of caller, permitted or not, and checks the outcome. Reference: authentication.md#agents, agents.md#tool-rights. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { callTool } from '../support/mcp.ts';
import { type Json, storeOf } from '../support/records.ts';
import { anyEngine, type EngineName, type Service, startService } from '../support/service.ts';
import { assertOutcome, denialOf } from './samples/assert-outcome.ts';
import { type Caller, endedTokens, keys, people, signIn, withoutCredential, wrongCredentials } from './samples/callers.ts';
import { samples } from './samples/index.ts';
import { type Column, columns, expectedFor, rows } from './samples/outcomes.ts';
import type { Sample } from './samples/sample.ts';
import { countsOf, differences, snapshotOf } from './samples/snapshot.ts';
import { makeWorld, type World } from './world.ts';

for (const engine of anyEngine) describe(`who may call which tool (${engine})`, () => suite(engine));

function suite(engine: EngineName): void {
  let service: Service;
  let world: World;
  const callers = new Map<Column, Caller>();
  /** Arguments for calls that are refused. Such calls change nothing, so all of them can share these. */
  const argumentsOf = new Map<string, Json>();
  const flags = { McpAdvancedTools: '', McpSignIn: '' };

  before(async () => {
    service = await startService({ engine });
    world = await makeWorld(storeOf(() => service));
    for (const name of ['McpAdvancedTools', 'McpSignIn'] as const)
      flags[name] = await world.create('Config', { Name: name, Value: { [name]: true } });
    for (const [name, caller] of Object.entries(keys(service))) callers.set(name as Column, caller);
    const all = Object.entries(people).map(async ([name, person]) => {
      callers.set(name as Column, await signIn(service, world, person));
    });
    await Promise.all(all);
    const admin = callers.get('admin') as Caller;
    callers.set('adminWithoutSwitch', admin).set('closedSignIn', admin);
    for (const [name, { args }] of samples) argumentsOf.set(name, await args(world));
  });
  after(() => service?.stop());

  const sampleOf = (tool: string): Sample => samples.get(tool) ?? assert.fail(`there is no call of ${tool}`);

  /** Runs all checks before it fails, so that one failure does not hide the others. */
  async function forAll<T>(items: Iterable<T>, named: (item: T) => string, check: (item: T) => Promise<void>): Promise<void> {
    const faults: string[] = [];
    for (const item of items)
      await check(item).catch((error: unknown) =>
        faults.push(`${named(item)}: ${error instanceof Error ? error.message : error}`),
      );
    assert.deepEqual(faults, []);
  }

  async function isByActor(sample: Sample, { actor }: Caller, answer: Json, args: Json): Promise<void> {
    if (!sample.wrote) return;
    const records = await sample.wrote(world, answer, args);
    assert.ok(records.length > 0, 'nothing was written');
    for (const { table, id, isNew } of records) {
      const { createdBy, updatedBy } = await world.read(table, id);
      assert.equal(updatedBy?.objectId, actor, `updatedBy of ${table}`);
      assert.equal(createdBy?.objectId, isNew ? actor : 'master', `createdBy of ${table}`);
    }
  }

  async function check(column: Column): Promise<void> {
    const caller = callers.get(column) as Caller;
    const expected = [...expectedFor(column)];
    const untouched = await snapshotOf(world);
    const refused = expected.filter(([, { outcome }]) => outcome !== '+');
    await forAll(
      refused,
      ([tool]) => tool,
      async ([tool, outcome]) => {
        const args = argumentsOf.get(tool);
        assertOutcome(await callTool(service, caller.headers, tool, args), outcome, args);
      },
    );
    assert.deepEqual(differences(untouched, await snapshotOf(world)), [], 'a refused call left something');
    await forAll(
      expected.filter(([, { outcome }]) => outcome === '+'),
      ([tool]) => tool,
      async ([tool, outcome]) => {
        const sample = sampleOf(tool);
        const args = await sample.args(world);
        const answer = await callTool(service, caller.headers, tool, args);
        assertOutcome(answer, outcome, args);
        await isByActor(sample, caller, answer.json, args);
      },
    );
    const counts = countsOf(await snapshotOf(world));
    for (const [table, count] of countsOf(untouched)) assert.ok((counts.get(table) ?? 0) >= count, `${table} has lost records`);
  }

  const setFlag = (name: keyof typeof flags, value: boolean) => world.update('Config', flags[name], { Value: { [name]: value } });

  for (const column of columns)
    test(column, async () => {
      await setFlag('McpAdvancedTools', column !== 'adminWithoutSwitch');
      await setFlag('McpSignIn', column !== 'closedSignIn');
      await check(column).finally(() => setFlag('McpSignIn', true));
    });

  /** Calls every tool with headers that are refused regardless of the tool. */
  async function checkRefused(
    all: Readonly<Record<string, Record<string, string>>>,
    isRefused: (answer: Awaited<ReturnType<typeof callTool>>, refusal: string, args: Json) => void,
  ): Promise<void> {
    const untouched = await snapshotOf(world);
    for (const [title, headers] of Object.entries(all))
      await forAll(
        rows,
        ([tool]) => `${title}: ${tool}`,
        async ([tool, refusal]) => {
          const args = argumentsOf.get(tool);
          isRefused(await callTool(service, headers, tool, args), refusal, args);
        },
      );
    assert.deepEqual(differences(untouched, await snapshotOf(world)), [], 'a refused call left something');
  }

  test('who brings no credential is refused with 403', async () => {
    const { body } = await service.call('POST', '/platform/login', { as: 'anonymous', body: await aLogin() });
    await checkRefused(withoutCredential(service, body.sessionToken), ({ status, body: answer, headers }) => {
      const error = { code: -32000, message: 'Authorization header is required' };
      assert.deepEqual([status, answer], [403, { jsonrpc: '2.0', error, id: 1 }]);
      assert.match(headers.get('www-authenticate') ?? '', /^Bearer error="insufficient_scope", .*resource_metadata="/);
    });
  });

  /** Creates a user with a password; returns the body of its login. */
  async function aLogin(): Promise<Json> {
    const login = { username: 'with-a-session', password: 'Right1Pass' };
    await world.call('POST', '/platform/users', { body: login });
    return login;
  }

  test('unknown credentials are answered 200 and the text of a refusal, and nothing else', async () => {
    await checkRefused(await wrongCredentials(service), ({ status, isError, text, json }, refusal, args) => {
      const denial = denialOf(refusal, args);
      assert.deepEqual([status, isError, text], [200, true, denial]);
      assert.deepEqual(json, { code: 119, error: denial });
    });
  });

  test('a token that is over is answered 401', async () => {
    const resource = `${service.url}/.well-known/oauth-protected-resource/mcp/${service.appId}`;
    await checkRefused(await endedTokens(service, world), ({ status, headers, text }) => {
      assert.equal(status, 401, text);
      assert.equal(headers.get('www-authenticate'), `Bearer error="invalid_token", resource_metadata="${resource}"`);
    });
  });
}
