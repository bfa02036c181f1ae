import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Functions } from '../../functions/index.ts';
import { newObjectId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Mailer } from '../../mail/index.ts';
import { createLog } from '../../observe/index.ts';
import { createRecord, findRecords, getRow, type RecordContext, type WriteEvent, type WriteHooks } from '../../records/index.ts';
import { masterContext, noFiles } from '../../records/testing/context.ts';
import type { Engine } from '../../storage/engine.ts';
import { type Store, wholeText } from '../../storage/port.ts';
import { openAnyway } from '../../storage/testing/open.ts';
import { provision } from '../../systems/provision.ts';
import { userTableRules } from '../../users/index.ts';
import type { ActionRun, ActionServices, AutomationSystem } from '../model/action.ts';
import type { Action, ActionData, ActionType, Trigger, TriggeringRecord } from '../model/model.ts';
import { Sources } from '../model/sources.ts';
import { dataOf, logRow } from '../model/trigger-log.ts';

/** A system on the embedded engine with functions, for unit tests of actions. */
export interface World {
  readonly system: AutomationSystem;
  readonly store: Store;
  readonly master: RecordContext;
  readonly services: ActionServices;
  /** All writes so far. */
  readonly writes: WriteEvent[];
  /** Adds a custom function. */
  addFunction(name: string, source: string): void;
  /** @returns its objectId */
  create(className: string, fields: JsonObject): Promise<string>;
  /** Returns the record as a trigger processes it. */
  read(className: string, objectId: string): Promise<TriggeringRecord>;
  all(className: string): Promise<JsonObject[]>;
  /** Returns a run of an action; its `done` adds the row to `_syslogTriggers`. */
  run<Type extends ActionType>(
    type: Type,
    data: ActionData[Type],
    record: TriggeringRecord,
    more?: Partial<ActionRun>,
  ): ActionRun<Type>;
  close(): Promise<void>;
}

export const cause = { triggerId: 'trigger001', level: 1, source: 'trigger001', chain: 'chain00001' } as const;

export const triggerOf = (more: Partial<Trigger> = {}): Trigger => ({
  id: cause.triggerId,
  name: 'One',
  table: 'Accounts',
  events: new Set(['create', 'update', 'delete'] as const),
  criteria: null,
  changedFields: [],
  schedule: null,
  actions: [],
  isActive: true,
  author: null,
  ...more,
});

/** @param open opens the engine; passed in, because fixtures may not import an engine */
export async function makeWorld(open: (directory: string) => Engine, files: WriteHooks['files'] = noFiles): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), 'rds-automation-'));
  const engine = open(directory);
  const store = await openAnyway(engine, 'app');
  await provision(store);
  const writes: WriteEvent[] = [];
  const hooks = { observers: [{ committed: (event: WriteEvent) => writes.push(event) }], rules: userTableRules, files };
  const log = createLog('silent');
  const functions = new Functions({ directory, timeLimit: 5_000, memoryMb: 512, env: {}, hooks, log });
  const master = { ...masterContext(store), hooks };
  const read = async (className: string, objectId: string): Promise<TriggeringRecord> => {
    const fields = await getRow(master, className, objectId);
    return { className, objectId, fields };
  };
  return {
    system: { appId: 'app', name: 'App', store },
    store,
    master,
    services: { functions, mailer: {} as Mailer, log, conditions: { met: () => {}, over: () => {} } },
    writes,
    addFunction: (name, source) => writeFileSync(join(directory, `${name}.mjs`), source),
    create: async (className, fields) => (await createRecord(master, className, fields)).objectId,
    read,
    async all(className) {
      const { results } = await findRecords(master, className, { limit: 10_000 });
      return JSON.parse(await wholeText(results));
    },
    run<Type extends ActionType>(type: Type, data: ActionData[Type], record: TriggeringRecord, more: Partial<ActionRun> = {}) {
      const action = { id: 'action0001', type, isActive: true, data } as unknown as Action;
      const trigger = triggerOf({ table: record.className, actions: [action] });
      const runId = newObjectId();
      const row = {
        id: runId,
        at: Date.now(),
        triggerId: trigger.id,
        actionId: action.id,
        event: 'update',
        objectId: record.objectId,
      } as const;
      const end = (error: string | null): ActionRun['done'] => {
        return (schema) => logRow(schema, { ...row, data: dataOf(record), error });
      };
      const done = end(null);
      const reading = { ...master, cause };
      const context = { ...reading, alongside: done };
      const system = { appId: 'app', name: 'App', store };
      const base = { system, trigger, action, event: 'update', record, cause, runId, attempt: 1, context, reading, done };
      const run = { ...base, sources: new Sources(), failed: end, ...more };
      return run as unknown as ActionRun<Type>;
    },
    async close() {
      await store.close();
      await engine.close();
      rmSync(directory, { recursive: true });
    },
  };
}
