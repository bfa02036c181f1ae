/** A system with test triggers, for unit tests on either engine. */
import { after } from 'node:test';
import type { JsonObject } from '../../../kernel/json.ts';
import { createLog } from '../../../observe/index.ts';
import { createRecord } from '../../../records/index.ts';
import { noFiles } from '../../../records/testing/context.ts';
import type { Store } from '../../../storage/port.ts';
import type { ActionRun, AutomationSystem } from '../../model/action.ts';
import type { Action, Trigger } from '../../model/model.ts';
import { type Job, jobRow, type RetryableKind, type RowValues } from '../../queue/index.ts';
import { LiveProcesses } from '../../queue/live-processes.ts';
import type { RetryableWork } from '../../queue/retryable-jobs.ts';
import { queued, rowsOf } from '../../schedule/testing/tables.ts';
import { CircuitBreaker } from '../circuit-breaker.ts';
import { Runner } from '../runner.ts';
import type { JobServices } from '../services.ts';

/** Parts that a test replaces; by default triggers neither fire nor act. */
export interface WorldOptions {
  readonly triggers?: readonly Trigger[];
  readonly fires?: JobServices['fires'];
  readonly perform?: (run: ActionRun) => Promise<void>;
  readonly later?: Partial<Record<RetryableKind, RetryableWork>>;
  readonly expand?: (system: AutomationSystem, job: Job) => Promise<void>;
  readonly runDue?: JobServices['runDue'];
}

/** A trigger on `Things`. */
export function trigger(id: string, actions: readonly Action[], more: Partial<Trigger> = {}): Trigger {
  return {
    ...{ id, name: id, table: 'Things', events: new Set(['create', 'update', 'delete'] as const) },
    ...{ criteria: null, changedFields: [], schedule: null, actions, isActive: true, author: null },
    ...more,
  };
}

/** An action that creates a record. */
export const makes = (id: string, isActive = true): Action => ({
  ...{ id, type: 'create-object', isActive, data: { table: 'Done', fields: {} } },
});

/** An action that calls a function directly, without the queue. */
export const calls = (id: string): Action => ({
  ...{ id, type: 'server-side-code', isActive: true, data: { functionName: 'f', useQueue: false } },
});

/** Completes an action without other writes. */
export async function finish({ system, done }: ActionRun): Promise<void> {
  await system.store.write({ plan: (schema) => ({ changes: [], mutations: done(schema) }) });
}

/** Creates a record that names the action and the record. */
export async function make({ context, action, record }: ActionRun): Promise<void> {
  await createRecord(context, 'Done', { action: action.id, of: record.objectId });
}

/** Returns what `make` has created, without the first record of its table. */
export const madeIn = async (store: Store): Promise<string[]> =>
  (await rowsOf(store, 'Done', ['action', 'of'])).slice(1).map(({ action, of }) => `${action} ${of}`);

/** Queues triggers for records. */
export const rowsIn = (store: Store, triggers: string, records: readonly string[]): Promise<void> =>
  queueRows(
    store,
    records.map((objectIdValue) => ({ triggers, objectIdValue })),
  );

/** Returns the services of a system. */
export function servicesOf({ triggers = [], later = {}, ...options }: WorldOptions): JobServices {
  const byId = new Map(triggers.map((one) => [one.id, one]));
  const unused = new Proxy({}, { get: (_, name) => (name === 'leave' ? () => {} : assertUnused(String(name))) });
  return {
    functions: unused as JobServices['functions'],
    mailer: unused as JobServices['mailer'],
    log: createLog('silent'),
    hooks: { observers: [], rules: new Map(), files: noFiles },
    triggers: { isReady: () => true, ready: async () => {}, of: () => [], byId: (_, id) => byId.get(id), sizes: () => new Map() },
    fires: options.fires ?? (async () => true),
    perform: options.perform ?? finish,
    retryable: new Map(Object.entries(later) as [RetryableKind, RetryableWork][]),
    expand: options.expand ?? (async () => {}),
    runDue: options.runDue ?? (async () => null),
    breaker: new CircuitBreaker(),
    conditions: { met: () => {}, over: () => {} },
  };
}

function assertUnused(name: string): never {
  throw new Error(`${name} is asked for`);
}

/** A runner of a system, and what it reports. */
export interface World {
  readonly runner: Runner;
  /** Wakes it, and waits until it has nothing to do. @returns when the next job is due */
  work(): Promise<number | null>;
  /** Number of holds on the system. */
  held(): number;
}

/** Runners that a test left running, as if their process had ended; they would retry for ever on a closed store. */
const runners = new Set<Runner>();
after(() => Promise.all([...runners].map((runner) => runner.close(0))));

/** A runner, as in a process of its own. */
export function worldOf(store: Store, options: WorldOptions, processes = new LiveProcesses()): World {
  let held = 0;
  let idle = (_: number | null): void => {};
  const runner = new Runner({
    system: { appId: 'app', name: 'System', store },
    services: servicesOf(options),
    processes,
    hold: () => {
      held++;
      return () => held--;
    },
    idle: (nextDue) => idle(nextDue),
  });
  runners.add(runner);
  const work = () =>
    new Promise<number | null>((resolve) => {
      idle = resolve;
      runner.wake();
    });
  return { runner, work, held: () => held };
}

/** Queues rows of the kind `write` for records of `Things`; by default the store's process owns them. */
export async function queueRows(store: Store, rows: readonly RowValues[]): Promise<void> {
  await store.write({
    plan: (schema) => ({
      changes: [],
      mutations: rows.flatMap((row) =>
        jobRow(schema, {
          ...{ kind: 'write', event: 'update', objectClass: 'Things', level: 1, owner: store.cluster.processId },
          ...{ fields: '["objectId","name"]', record: JSON.stringify([row.objectIdValue ?? 'thing', 'a name']) },
          ...row,
        }),
      ),
    }),
  });
}

/** Returns all rows of the queue. */
export async function left(store: Store): Promise<JsonObject[]> {
  const kinds = ['write', 'before', 'schedule', 'mail', 'code'];
  return (await Promise.all(kinds.map((kind) => queued(store, kind)))).flat();
}

/** Returns `_syslogTriggers` as `trigger action record error`, in order of creation. */
export async function logged(store: Store): Promise<string[]> {
  const rows = await rowsOf(store, '_syslogTriggers', ['triggerId', 'actionId', 'objectIdValue', 'error']);
  return rows.map(({ triggerId, actionId, objectIdValue, error }) =>
    [triggerId, actionId ?? '-', objectIdValue, error === undefined ? 'ok' : JSON.parse(error as string)].join(' '),
  );
}
