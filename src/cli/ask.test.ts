/** Questions that commands ask on a terminal, with simulated answers. Reference: commands.md#progress. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { triggerRules } from '../automation/index.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { countRecords, createRecord } from '../records/index.ts';
import { masterContext } from '../records/testing/context.ts';
import type { Store } from '../storage/port.ts';
import { addressesOf } from '../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../storage/sqlite/index.ts';
import { openAnyway } from '../storage/testing/open.ts';
import { provision } from '../systems/provision.ts';
import { type Actions, runProgram } from './index.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-ask-'));
const engine = new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
const file = join(directory, 'rows.ndjson');
let store: Store;

before(async () => {
  writeFileSync(file, '{"Name":"a"}\n{"Name":"b"}\n');
  store = await openAnyway(engine, 'app');
  await provision(store);
  const actions = [{ type: 'create-object', actionData: { table: 'Tags', fields: {} } }];
  const hooks = { ...masterContext(store).hooks, rules: new Map([['_Trigger', triggerRules]]) };
  await createRecord({ ...masterContext(store), hooks }, '_Trigger', {
    Name: 'Greets',
    table: 'Tags',
    events: ['create'],
    actions,
  });
});
after(async () => {
  await store.close();
  await engine.close();
  rmSync(directory, { recursive: true });
});

/** Returns the result of a command whose question gets this answer; `null` if there is no terminal. */
async function answered(answer: string | null, ...args: string[]) {
  const questions: string[] = [];
  const acts: string[] = [];
  const printed: string[] = [];
  const administration = {
    removedSystems: () => [],
    checkSystem(appId: string) {
      if (appId !== 'app') throw new OperatorError('there is no such system');
    },
    async removeSystem(appId: string) {
      acts.push(`remove ${appId}`);
      return 0;
    },
    async deleteSystem(appId: string) {
      acts.push(`delete ${appId}`);
    },
  };
  const actions = {
    async ask(question: string) {
      questions.push(question);
      return answer;
    },
    withAdministration: (work: (administration: unknown) => unknown) => work(administration),
    withRecords: (_: string, work: (...given: unknown[]) => unknown) => work(masterContext(store), () => 'none'),
  } as unknown as Actions;
  const code = await runProgram(args, actions, (line) => printed.push(line)).catch((error: Error) => error.message);
  return { code, questions, acts, printed };
}

const remove = ['system', 'remove', 'app'];
const another = 'that is another id; nothing was done';

test('system remove asks for the id again, and does nothing where another is typed', async () => {
  for (const typed of ['other', '', 'App', 'app app']) {
    const { code, questions, acts, printed } = await answered(typed, ...remove);
    assert.deepEqual([code, acts, printed], [another, [], []], typed);
    assert.deepEqual(questions, ['It is put aside for 14 days, then deleted. Type its application id again: ']);
  }
  const now = await answered('other', ...remove, '--now');
  assert.deepEqual([now.code, now.acts], [another, []]);
  assert.match(String(now.questions), /^It is deleted at once, with all its data\. /);
});
test('system remove goes on where the id is typed, and where nobody is there', async () => {
  for (const typed of ['app', ' app ', null]) {
    assert.deepEqual((await answered(typed, ...remove)).acts, ['remove app']);
    assert.deepEqual((await answered(typed, ...remove, '--now', '--quiet')).acts, ['delete app']);
  }
});
test('nobody is asked about a system that is not there', async () => {
  const { code, questions } = await answered('other', 'system', 'remove', 'other');
  assert.deepEqual([code, questions], ['there is no such system', []]);
});

const importing = ['import', '--system', 'app', '--table', 'Tags', '--file', file, '--json'];
const tags = () => countRecords(masterContext(store), 'Tags');

test('import asks where triggers fire, and imports nothing without an answer', async () => {
  const before = await tags();
  for (const answer of ['', 'n', 'no', 'perhaps', 'yes no']) {
    const { code, questions, printed } = await answered(answer, ...importing);
    assert.deepEqual([code, questions, printed], ['nothing was imported', ['Go on? [y/N] '], []], answer);
  }
  assert.equal(await tags(), before);
});
test('import goes on at a yes, where nobody is there, and unasked where none fires', async () => {
  const before = await tags();
  const done = [JSON.stringify({ rows: 2, created: 2, updated: 0, rejected: 0 })];
  for (const answer of ['y', ' YES ', null]) {
    const { code, questions, printed } = await answered(answer, ...importing);
    assert.deepEqual([code, questions.length, printed], [0, 1, done], String(answer));
  }
  const { code, questions } = await answered('n', ...importing, '--skip-triggers');
  assert.deepEqual([code, questions], [0, []]);
  assert.equal(await tags(), Number(before) + 8);
});
