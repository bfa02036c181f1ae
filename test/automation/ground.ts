/** Services that the suites about triggers share, with functions and a mail server: a start costs as much as dozens of tests. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type Json, path, type Store, storeOf } from '../support/records.ts';
import { type EngineName, type Service, startService } from '../support/service.ts';
import { type Smtp, startSmtp } from '../support/smtp.ts';
import { functionFiles } from './functions.ts';
import { openStore, type StoreReader } from './store-reader.ts';

export interface Ground {
  service: Service;
  smtp: Smtp;
  store: StoreReader;
  /** What functions noted of their calls. */
  calls(): Json[];
  /** While this file is there, functions named `hold` wait. */
  held: string;
  /**
   * Waits until all that was queued is done. Once the queue is empty nothing is to come: a write queues its jobs in its own commit, before it is
   * answered; and a job leaves the queue in the commit of the last of its effects, which also adds the jobs that follow: those of the records that
   * an action writes, of a message or a queued function, of the records that a schedule chose. A mail is taken, and a function has returned,
   * before the commit that ends its job. So one look at one moment suffices.
   */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Most suites are on `common`. Its tables become hundreds; suites whose cost grows with them are `apart`: those that look at every table, and those
 * of records whose readers depend on other tables, for which the service looks at each. So are those that count what others leave, or open forms.
 */
export type GroundName = 'common' | 'apart';

/** Milliseconds between two looks at the queue, at the most. */
const MAX_POLL_INTERVAL_MS = 16;
/** Milliseconds after which work that does not end fails a test. */
const MAX_WORK_MS = 10_000;

const grounds = new Map<string, Promise<Ground>>();
after(() => Promise.all([...grounds.values()].map(async (ground) => (await ground).close())));

/** For the surrounding `describe`, with hooks: after its last test no definition of a trigger is left that other suites would meet. */
export function useGround(engine: EngineName, name: GroundName = 'common'): () => Ground {
  const key = `${engine} ${name}`;
  let ground: Ground | undefined;
  before(async () => {
    const laid = grounds.get(key) ?? layGround(engine);
    grounds.set(key, laid);
    ground = await laid;
  });
  const current = () => {
    assert.ok(ground, 'the service runs');
    return ground;
  };
  after(async () => {
    if (ground) await withoutTriggers(ground);
  });
  return current;
}

/** The same as `useStore`. */
export function useGroundStore(engine: EngineName): Store {
  const ground = useGround(engine);
  return storeOf(() => ground().service);
}

async function withoutTriggers({ service, settle }: Ground): Promise<void> {
  const { body } = await service.call('GET', path('_Trigger'), { query: { keys: 'objectId', limit: 10_000 } });
  await deleteTriggers(
    service,
    body.results.map(({ objectId }: Json) => objectId),
  );
  await settle();
}

/** Deletes definitions; those that are gone are passed over. */
export async function deleteTriggers({ call }: Pick<Service, 'call'>, ids: Iterable<string>): Promise<void> {
  const requests = Array.from(ids, (id) => ({ method: 'DELETE', path: path('_Trigger', id) }));
  if (requests.length > 0) await call('POST', '/platform/batch', { body: { requests } });
}

async function layGround(engine: EngineName): Promise<Ground> {
  const directory = mkdtempSync(join(tmpdir(), 'rds-test-automation-'));
  const [called, held] = [join(directory, '_called.ndjson'), join(directory, '_held')];
  for (const [name, text] of functionFiles(called, held)) writeFileSync(join(directory, name), text);
  writeFileSync(called, '');
  const smtp = await startSmtp();
  const env = { FUNCTIONS_DIR: directory, SMTP_URL: smtp.url, MAIL_FROM: 'crm@example.com' };
  const service = await startService({ engine, env });
  const store = await openStore(service);
  return {
    ...{ service, smtp, store, held, calls: linesOf(called) },
    async settle() {
      const deadline = Date.now() + MAX_WORK_MS;
      for (let delay = 1; !(await store.isIdle()); delay = Math.min(2 * delay, MAX_POLL_INTERVAL_MS)) {
        if (Date.now() > deadline)
          assert.fail(`after 10 seconds there is still to be done: ${JSON.stringify(await store.queued()).slice(0, 2_000)}`);
        await wait(delay);
      }
    },
    async close() {
      await store.close();
      await service.stop();
      await smtp.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Reads a growing file of JSON lines; what was read before is not read again. */
function linesOf(file: string): () => Json[] {
  const lines: Json[] = [];
  let offset = 0;
  return () => {
    if (statSync(file).size === offset) return [...lines];
    const bytes = readFileSync(file);
    // A line that is being written has no end yet.
    const end = bytes.lastIndexOf('\n') + 1;
    for (const line of bytes.toString('utf8', offset, end).split('\n').filter(Boolean)) lines.push(JSON.parse(line));
    offset = end;
    return [...lines];
  };
}
