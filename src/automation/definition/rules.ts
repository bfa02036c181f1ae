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
import { at, excerpt, refuse } from './assertions.ts';
import { authorizeTrigger } from './authorize.ts';
import { authorField, definitionFields, parseTrigger, readDefinition, readName } from './definition.ts';
import { checkQuota, releaseQuota } from './quota.ts';
import { checkRuns, nextRun } from './schedule.ts';
import { activeTriggers } from './trigger-cache.ts';
import { typecheck } from './typecheck.ts';

const isDefinitionField: ReadonlySet<string> = new Set(definitionFields);
/** Fields that only the service writes. */
const serviceFields: ReadonlySet<string> = new Set(['nextRun', 'lastRun']);
/** Fields that may change while a definition is or becomes inactive, even if it no longer fits the tables. */
const inactiveFields: ReadonlySet<string> = new Set(['Active', 'Name']);

/**
 * Rules of `_Trigger`: each row must be a valid definition that fits the tables (triggers.md#definition).
 * @throws invalidTrigger (107), invalidFieldName (105), and errors of `where` for criteria
 */
export const triggerRules: TableRules = {
  async create(write: RuledWrite): Promise<RuledFields> {
    const { store } = write.context;
    if (!activeTriggers.sizes(store)) await activeTriggers.ready(store);
    return ruledCreate(write);
  },

  async remove({ context, objectId }: RuledWrite): Promise<RuledFields> {
    releaseQuota(context.store, objectId);
    return { fields: {} };
  },

  async update({ context, objectId, fields: sent, earlier, schema: planned }: RuledWrite): Promise<RuledFields> {
    const { store, principal } = context;
    // The fields that are sent are checked together with the stored ones.
    if (earlier.some((one) => one.className === '_Trigger' && one.objectId === objectId))
      refuse('a definition is written once in a transaction');
    const [row] = await readRows<JsonObject>(store, {
      className: '_Trigger',
      fields: [...definitionFields, 'updatedAt'],
      // A row that the caller may not write counts as missing.
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
    const version = Date.parse(row.updatedAt as string);
    const schema = planned ?? store.schema();
    const fields = acceptedFields(sent, tableOf(schema, '_Trigger'), objectId);
    const before = parseTrigger({ ...row, objectId });
    const after = { ...definitionOf({ ...row, ...fields }), objectId };
    const written = Object.keys(fields).filter((name) => isDefinitionField.has(name));
    if (written.length === 0) return { fields, version };
    if (at(after, 'Active') === false && written.every((name) => inactiveFields.has(name))) {
      readName(after);
      return { fields, set: { nextRun: null }, version };
    }
    const trigger = readDefinition(after);
    typecheck(trigger, schema, context.patterns);
    authorizeTrigger(trigger, schema, principal);
    checkQuota(store, objectId, after, row);
    const set = {
      ...timingOf(before, trigger),
      ...(restartsCursor(row, after) ? { _cursor: null } : {}),
      ...(becomesAuthor(principal, row, after, written) ? { [authorField]: userIdOf(principal) } : {}),
    };
    if (!Object.hasOwn(fields, 'Active') || at(after, 'Active') !== null) return { fields, set, version };
    return { fields: without(fields, 'Active'), set: { ...set, Active: true }, version };
  },
};

function ruledCreate({ context, objectId, fields: sent, schema = context.store.schema() }: RuledWrite): RuledFields {
  const fields = acceptedFields(sent, schema.tables.get('_Trigger'), null);
  const trigger = readDefinition({ ...definitionOf(fields), objectId });
  typecheck(trigger, schema, context.patterns);
  authorizeTrigger(trigger, schema, context.principal);
  checkQuota(context.store, objectId, fields, null);
  const set = { nextRun: firstRun(trigger), [authorField]: userIdOf(context.principal) };
  if (at(fields, 'Active') !== null) return { fields, set };
  return { fields: without(fields, 'Active'), set: { ...set, Active: true } };
}

/**
 * Returns the accepted fields of a body: fields that the service maintains are removed, and actions get ids. Clients send definitions back as reads
 * return them, so `_id` is removed too.
 * @param objectId `null` for a new definition
 * @throws invalidTrigger (107) for unknown fields and partial writes of a field; invalidFieldName (105)
 */
function acceptedFields(sent: JsonObject, table: TableSchema | undefined, objectId: string | null): JsonObject {
  const fields: [string, JsonValue][] = [];
  for (const [name, value] of Object.entries(sent)) {
    const root = rootOf(name);
    if (serviceFields.has(root)) continue;
    if (name === '_id') {
      if (objectId !== null && value !== objectId) refuse('_id is that of another definition');
      continue;
    }
    if (isDefinitionField.has(root)) fields.push([name, acceptedValue(name, value, root)]);
    else {
      if (!table?.fields.has(root)) {
        checkFieldName(root);
        refuse(`${excerpt(name)} is unknown`);
      }
      fields.push([name, value]);
    }
  }
  return Object.fromEntries(fields);
}

/** @returns `null` if the field is deleted */
function acceptedValue(name: string, value: JsonValue, root: string): JsonValue {
  if (name !== root) refuse(`${excerpt(name)} is a part of ${root}, which is written whole`);
  if (isOperator(value)) return own(value, '__op') === 'Delete' ? null : refuse(`${name} is written whole, without operators`);
  if (name === 'actions' && Array.isArray(value)) return value.map(withId);
  return name === 'Name' && typeof value === 'number' ? String(value) : value;
}

/** Generates a missing action id. */
const withId = (action: JsonValue): JsonValue =>
  isJsonObject(action) && at(action, '_id') === null ? { ...action, _id: newObjectId() } : action;

function definitionOf(row: JsonObject): JsonObject {
  return Object.fromEntries(definitionFields.map((name) => [name, at(row, name)]));
}

function without(fields: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));
}

/** Returns the objectId of a user; `null` for holders of keys, who act as the master. */
const userIdOf = (principal: Principal): string | null => (principal.kind === 'user' ? principal.userId : null);

/**
 * Returns whether the caller becomes the author (adr/0015). With a session: if anything changes except the name or a deactivation, since the whole
 * definition was checked with the user's rights. With a key: only if the actions are written, so that actions written by others do not gain the
 * master's rights by accident.
 * @param after the whole definition
 * @param written names of the fields that were sent
 */
function becomesAuthor(principal: Principal, before: JsonObject, after: JsonObject, written: readonly string[]): boolean {
  if (actsAsMaster(principal)) return written.includes('actions');
  return written.some((name) => {
    if (name === 'Name' || isSame(before, after, name)) return false;
    return name !== 'Active' || at(after, 'Active') !== false;
  });
}

const isSame = (one: JsonObject, other: JsonObject, name: string): boolean =>
  canonicalJson(at(one, name)) === canonicalJson(at(other, name));

const scheduleOf = ({ schedule, isActive }: Trigger) => (isActive ? schedule : null);

/** @returns milliseconds since 1970; `null` if the trigger has no active schedule. @throws invalidTrigger (107) if its schedule never runs */
function firstRun(trigger: Trigger): number | null {
  const now = Date.now();
  if (trigger.schedule) checkRuns(trigger.schedule, now);
  const schedule = scheduleOf(trigger);
  return schedule && nextRun(schedule, now);
}

/** A change of other fields must not postpone a run that is due. */
function timingOf(before: Trigger, after: Trigger): OwnValues {
  const [earlier, later] = [scheduleOf(before), scheduleOf(after)];
  const isSame = earlier?.cron === later?.cron && earlier?.timezone === later?.timezone;
  return isSame && later !== null ? {} : { nextRun: firstRun(after) };
}

/** Returns whether the next scheduled run starts from the first record again. */
function restartsCursor(before: JsonObject, after: JsonObject): boolean {
  return ['table', 'events', 'schedule'].some((name) => !isSame(before, after, name));
}
