/** What a write leaves behind where a trigger does one of each kind of thing, and whether all of it is there, once. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Json, path } from '../support/records.ts';
import type { Service } from '../support/service.ts';
import { type Smtp, startSmtp } from '../support/smtp.ts';
import { functionFiles } from './functions.ts';
import { openStore } from './store-reader.ts';

/** What is outside of the services that a test starts one after the other. */
export interface Trail {
  /** Settings of every service. */
  env: Record<string, string>;
  smtp: Smtp;
  /** What the function was called with, in order. */
  calls(): { record: { objectId: string }; trigger: { runId: string; attempt: number } }[];
  close(): Promise<void>;
}

export async function layTrail(): Promise<Trail> {
  const directory = mkdtempSync(join(tmpdir(), 'rds-test-trail-'));
  const called = join(directory, '_called.ndjson');
  writeFileSync(called, '');
  for (const [name, text] of functionFiles(called, join(directory, '_held'))) writeFileSync(join(directory, name), text);
  const smtp = await startSmtp();
  return {
    env: { FUNCTIONS_DIR: directory, SMTP_URL: smtp.url, MAIL_FROM: 'crm@example.com' },
    smtp,
    // A line that the kill cut off is none.
    calls: () =>
      (existsSync(called) ? readFileSync(called, 'utf8') : '')
        .split('\n')
        .filter((line) => line.endsWith('}'))
        .map((line) => JSON.parse(line)),
    async close() {
      await smtp.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The actions of the trigger on Tasks, in order. */
const actions = [
  { _id: 'makesmadeX', type: 'create-object', actionData: { table: 'Made', fields: { Of: '{{objectId}}', Name: '{{Name}}' } } },
  { _id: 'notifiesXX', type: 'notification', actionData: { user: 'someuser01', content: '{{objectId}}' } },
  { _id: 'callscodeX', type: 'server-side-code', actionData: { functionName: 'notes' } },
  { _id: 'mailsXXXXX', type: 'e-mail', actionData: { to: 'a@example.com', subject: '{{objectId}}', html: '<p>{{Name}}</p>' } },
];

export async function defineTrail(service: Service): Promise<void> {
  const made = await service.call('POST', '/platform/schemas/Made', {
    body: { className: 'Made', fields: { Of: { type: 'String' }, Name: { type: 'String' } } },
  });
  assert.equal(made.status, 200, made.text);
  const body = { Name: 'trail', table: 'Tasks', events: ['create'], actions };
  const defined = await service.call('POST', path('_Trigger'), { body });
  assert.equal(defined.status, 201, defined.text);
}

/** Creates records until the service is gone. @returns the objectIds that were answered */
export async function createUntilGone(
  service: Service,
  name: string,
  answered: (objectId: string) => void = () => {},
): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; ; n++)
    try {
      const answer = await service.call('POST', path('Tasks'), { body: { Name: `${name}-${n}` } });
      assert.equal(answer.status, 201, answer.text);
      ids.push(answer.body.objectId);
      answered(answer.body.objectId);
    } catch (error) {
      // A request that the kill cut off.
      if (error instanceof TypeError) return ids;
      throw error;
    }
}

/**
 * Waits until the queue is empty, at two looks: a database may still carry out a commit whose sender was killed.
 * @param within milliseconds in which the queue has to get shorter
 */
export async function emptied(service: Service, within = 20_000): Promise<void> {
  const store = await openStore(service);
  try {
    let [least, deadline] = [Number.POSITIVE_INFINITY, Date.now() + within];
    for (let empty = 0; empty < 2; await wait(25)) {
      if (await store.isIdle()) {
        empty++;
        continue;
      }
      empty = 0;
      const rows = await store.queued();
      if (rows.length < least) [least, deadline] = [rows.length, Date.now() + within];
      if (Date.now() > deadline) assert.fail(`still to be done: ${rows.length} rows, ${JSON.stringify(rows[0])}`);
      await wait(25);
    }
  } finally {
    await store.close();
  }
}

/**
 * Insists that each record that was answered is there, and that each record has its timeline row and each of the trigger's actions: exactly
 * once where the service promises that, at least once where it cannot know; then the log and the ids tell.
 * @param otherTable whose records have triggers, too
 */
export async function verifyTrail(
  service: Service,
  answered: readonly string[],
  { calls, smtp }: Trail,
  otherTable?: string,
): Promise<number> {
  const all = async (table: string, where: object = {}): Promise<Json[]> => {
    const answer = await service.call('GET', path(table), { query: { where, limit: 1_000_000 } });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.results;
  };
  const records = (await all('Tasks')).map(({ objectId }) => objectId as string);
  const there = new Set(records);
  const lost = answered.filter((id) => !there.has(id));
  assert.deepEqual(lost, [], 'records that were answered are there');
  const once = (what: string, ids: readonly string[]) => assert.deepEqual(timesOther(ids, records), [], what);
  once(
    'a timeline row each',
    (await all('_Timeline', { objectClass: 'Tasks' })).map(({ objectIdValue }) => objectIdValue),
  );
  once(
    'a record made for each',
    (await all('Made')).map(({ Of }) => Of),
  );
  once(
    'a notification each',
    (await all('_Notification')).map(({ Content }) => Content),
  );
  const emails = await all('Emails');
  once(
    'a row of Emails each',
    emails.map(({ Subject }) => Subject),
  );
  assert.deepEqual(
    emails.filter(({ SendStatus }) => SendStatus !== 'sent').map(({ SendStatus }) => SendStatus),
    [],
  );
  const others = new Set(otherTable === undefined ? [] : (await all(otherTable)).map(({ objectId }) => objectId));
  const log = (await all('_syslogTriggers')).filter(({ objectIdValue }) => !others.has(objectIdValue));
  const ran = (actionId: string | undefined) =>
    log.filter((row) => row.actionId === actionId && row.error === undefined).map(({ objectIdValue }) => objectIdValue);
  once('the trigger fired once for each', ran(undefined));
  for (const { _id } of actions) once(`${_id} ran for each`, ran(_id));
  // At least once, and what ran twice is marked.
  const runs = Map.groupBy(calls(), ({ record }) => record.objectId);
  for (const id of records) {
    const [first, ...again] = runs.get(id) ?? [];
    assert.ok(first, `the function was called for ${id}`);
    for (const { trigger } of again) {
      assert.equal(trigger.runId, first.trigger.runId);
      assert.ok(trigger.attempt > 1);
    }
  }
  const sent = Map.groupBy(smtp.received, ({ subject }) => subject);
  for (const id of records) {
    const messages = new Set(sent.get(id)?.map(({ headers }) => headers.get('message-id')));
    assert.equal(messages.size, 1, `one message for ${id}`);
  }
  return records.length;
}

/** Those that are not there once. */
function timesOther(ids: readonly string[], expected: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...new Set([...expected, ...ids])]
    .filter((id) => counts.get(id) !== 1 || !expected.includes(id))
    .map((id) => `${id}: ${counts.get(id) ?? 0}`);
}
