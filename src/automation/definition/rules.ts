import { actsAsMaster, authorize, type Principal } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { newObjectId } from '../../kernel/ids.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { guardedFilter } from '../../query/index.ts';
import { type RuledFields, type RuledWrite, readRows, type TableRules } from '../../records/index.ts';
import { checkFieldName, fieldOf, rootOf, type TableSchema, tableOf } from '../../schema/model.ts';
import type { OwnValues } from '../../storage/column-values.ts';
import { isOperator } from '../../values/index.ts';
import type { Trigger } from '../model/model.ts';
import { at, refuse, shown } from './assertions.ts';
import { authorizeTrigger } from './authorize.ts';
import { authorField, parseTrigger, parts, readDefinition, readName } from './definition.ts';
import { checkRoom, leaveRoom } from './quota.ts';
import { checkRuns, nextRun } from './schedule.ts';
import { activeTriggers } from './trigger-cache.ts';
import { typecheck } from './typecheck.ts';

const isPart: ReadonlySet<string> = new Set(parts);
/** docs/decisions.md "Triggers": the service alone writes them. */
const ours: ReadonlySet<string> = new Set(['nextRun', 'lastRun']);
/** What may change in a definition that is or becomes switched off, whether or not it fits the tables any more. */
const harmless: ReadonlySet<string> = new Set(['Active', 'Name']);

/**
 * What `_Trigger` asks of its rows: that each is a definition which fits the tables (CONTRACT "Triggers"; docs/decisions.md "Triggers").
 * Throws invalidTrigger (107), invalidFieldName (105), and the errors of `where` for criteria.
 */
export const triggerRules: TableRules = {
  async create(write: RuledWrite): Promise<RuledFields> {
    const { store } = write.context;
    if (!activeTriggers.sizes(store)) await activeTriggers.ready(store);
    return ruledCreate(write);
  },

  async remove({ context, objectId }: RuledWrite): Promise<RuledFields> {
    leaveRoom(context.store, objectId);
    return { fields: {} };
  },

  async update({ context, objectId, fields: sent }: RuledWrite): Promise<RuledFields> {
    const { store, principal } = context;
    const [row] = await readRows<JsonObject>(store, {
      className: '_Trigger',
      fields: [...parts, 'updatedAt'],
      // A row that the caller cannot write is none.
      filter: (table) =>
        guardedFilter(authorize(principal, 'update', table), {
          kind: 'compare',
          field: fieldOf(table, 'objectId'),
          op: 'eq',
          value: objectId,
        }),
      limit: 1,
    });
    if (!row) return fail('objectNotFound');
    // The parts that are sent are judged together with those that are there.
    const version = Date.parse(row.updatedAt as string);
    const schema = store.schema();
    const fields = taken(sent, tableOf(schema, '_Trigger'), objectId);
    const before = parseTrigger({ ...row, objectId });
    const after = { ...definitionOf({ ...row, ...fields }), objectId };
    const written = Object.keys(fields).filter((name) => isPart.has(name));
    if (written.length === 0) return { fields, version };
    if (at(after, 'Active') === false && written.every((name) => harmless.has(name))) {
      readName(after);
      return { fields, set: { nextRun: null }, version };
    }
    const trigger = readDefinition(after);
    typecheck(trigger, schema, context.patterns);
    authorizeTrigger(trigger, schema, principal);
    checkRoom(store, objectId, after, row);
    const set = {
      ...timingOf(before, trigger),
      ...(beginsAnew(row, after) ? { _cursor: null } : {}),
      ...(takesOver(principal, row, after, written) ? { [authorField]: userIdOf(principal) } : {}),
    };
    if (!Object.hasOwn(fields, 'Active') || at(after, 'Active') !== null) return { fields, set, version };
    return { fields: without(fields, 'Active'), set: { ...set, Active: true }, version };
  },
};

function ruledCreate({ context, objectId, fields: sent }: RuledWrite): RuledFields {
  const schema = context.store.schema();
  const fields = taken(sent, schema.tables.get('_Trigger'), null);
  const trigger = readDefinition({ ...definitionOf(fields), objectId });
  typecheck(trigger, schema, context.patterns);
  authorizeTrigger(trigger, schema, context.principal);
  checkRoom(context.store, objectId, fields, null);
  const set = { nextRun: dueNext(trigger), [authorField]: userIdOf(context.principal) };
  if (at(fields, 'Active') !== null) return { fields, set };
  return { fields: without(fields, 'Active'), set: { ...set, Active: true } };
}

/**
 * The fields of a body: what the service keeps is left out, actions have their ids. Clients send definitions back as schema reads show them,
 * with `_id`: that is left out too.
 * @param objectId `null` for a definition to be, which gets its own
 * @throws invalidTrigger (107) for what no definition has, and for parts that are not written whole; invalidFieldName (105)
 */
function taken(sent: JsonObject, table: TableSchema | undefined, objectId: string | null): JsonObject {
  const fields: [string, JsonValue][] = [];
  for (const [name, value] of Object.entries(sent)) {
    const root = rootOf(name);
    if (ours.has(root)) continue;
    if (name === '_id') {
      if (objectId !== null && value !== objectId) refuse('_id is that of another definition');
      continue;
    }
    if (isPart.has(root)) fields.push([name, partOf(name, value, root)]);
    else {
      if (!table?.fields.has(root)) {
        checkFieldName(root);
        refuse(`${shown(name)} is unknown`);
      }
      fields.push([name, value]);
    }
  }
  return Object.fromEntries(fields);
}

/** @returns `null` for a part that is taken away */
function partOf(name: string, value: JsonValue, root: string): JsonValue {
  if (name !== root) refuse(`${shown(name)} is a part of ${root}, which is written whole`);
  if (isOperator(value)) return own(value, '__op') === 'Delete' ? null : refuse(`${name} is written whole, without operators`);
  if (name === 'actions' && Array.isArray(value)) return value.map(withId);
  return name === 'Name' && typeof value === 'number' ? String(value) : value;
}

/** SPEC "Limits": Trigger and action ids. */
const withId = (action: JsonValue): JsonValue =>
  isJsonObject(action) && at(action, '_id') === null ? { ...action, _id: newObjectId() } : action;

function definitionOf(row: JsonObject): JsonObject {
  return Object.fromEntries(parts.map((name) => [name, at(row, name)]));
}

function without(fields: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));
}

/** The objectId of a user; `null` for holders of keys, who are the master. */
const userIdOf = (principal: Principal): string | null => (principal.kind === 'user' ? principal.userId : null);

/**
 * Whether a definition is from now on its writer's (docs/adr/0015). A session's, where it changes more than the name or switches off: all of it
 * was judged as the user's. A key's, where it writes the actions: what others have written there does not get the master's rights by the way.
 * @param after the whole definition
 * @param written names of the parts that were sent
 */
function takesOver(principal: Principal, before: JsonObject, after: JsonObject, written: readonly string[]): boolean {
  if (actsAsMaster(principal)) return written.includes('actions');
  return written.some((name) => {
    if (name === 'Name' || isSame(before, after, name)) return false;
    return name !== 'Active' || at(after, 'Active') !== false;
  });
}

const isSame = (one: JsonObject, other: JsonObject, name: string): boolean =>
  canonicalJson(at(one, name)) === canonicalJson(at(other, name));

const scheduleOf = ({ schedule, isActive }: Trigger) => (isActive ? schedule : null);

/** @returns milliseconds since 1970; `null` where the clock does not run it. @throws invalidTrigger (107) where its schedule comes to no run */
function dueNext(trigger: Trigger): number | null {
  const now = Date.now();
  if (trigger.schedule) checkRuns(trigger.schedule, now);
  const schedule = scheduleOf(trigger);
  return schedule && nextRun(schedule, now);
}

/** Who changes something else does not put a run off that is due. */
function timingOf(before: Trigger, after: Trigger): OwnValues {
  const [earlier, later] = [scheduleOf(before), scheduleOf(after)];
  const isSame = earlier?.cron === later?.cron && earlier?.timezone === later?.timezone;
  return isSame && later !== null ? {} : { nextRun: dueNext(after) };
}

/** Whether a schedule's way through the records begins anew. */
function beginsAnew(before: JsonObject, after: JsonObject): boolean {
  return ['table', 'events', 'schedule'].some((name) => !isSame(before, after, name));
}
