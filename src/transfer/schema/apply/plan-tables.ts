import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { checkDefaults } from '../../../records/index.ts';
import { applyChanges, type SchemaChange } from '../../../schema/change.ts';
import { planTable, planTableChange } from '../../../schema/definition.ts';
import { hasOptions, type Schema } from '../../../schema/model.ts';
import type { Delta, Retyped, TableDelta } from '../diff/delta.ts';
import { inStep } from '../diff/step.ts';
import { SnapshotFault, type UniquePart } from '../model/snapshot.ts';
import type { References } from '../state/references.ts';

/** An index that is built after the commit, beside other writes. */
export interface LateIndex {
  readonly className: string;
  /** For the error. */
  readonly what: string;
  /** As in PUT schemas. */
  readonly body: JsonObject;
}

/** Schema changes of one commit, and what is built after it. */
export interface TablesPlan {
  readonly changes: readonly SchemaChange[];
  readonly after: Schema;
  readonly late: readonly LateIndex[];
}

/**
 * Plans the changes of tables. Pure. Indexes of tables with records are built after the commit, one at a time: building one takes as long as reading
 * all records, and the commit would hold the table back meanwhile. Unique ones belong to the commit, because records may contradict them.
 * @throws ServiceError of the first table that cannot be changed, with its name; SnapshotFault for a Pointer to a table that neither side has
 */
export function planTables(schema: Schema, { tables, gone }: Delta, references: References): TablesPlan {
  const changes: SchemaChange[] = [];
  const late: LateIndex[] = [];
  let after = schema;
  const add = (step: string, plan: (now: Schema) => readonly SchemaChange[]) => {
    after = inStep(step, () => {
      const planned = plan(after);
      const next = applyChanges(after, planned);
      checkDefaults(planned, next);
      changes.push(...planned);
      return next;
    });
  };
  for (const className of gone) add(className, () => [{ kind: 'dropTable', className, withRecords: true }]);
  for (const delta of tables) {
    const { className, isNew } = delta;
    if (isNew) add(className, (now) => planTable(now, className, additionsOf(delta, references)));
    else {
      // Step by step: what is defined anew is deleted first, and what does not fit another type goes before it.
      add(className, (now) => planTableChange(now, className, removalsOf(delta)));
      add(className, (now) => planTableChange(now, className, part('fields', delta.retyped.map(retypeOf))));
      add(className, (now) => planTableChange(now, className, additionsOf(delta, references)));
    }
    if (!isNew) late.push(...lateIndexes(delta));
  }
  for (const delta of tables) checkTargets(delta, after);
  // An index that is impossible is refused before anything is done.
  let last = after;
  for (const { className, body, what } of late)
    last = inStep(what, () => applyChanges(last, planTableChange(last, className, body)));
  return { changes, after, late };
}

/** Values that cannot be converted refuse the whole apply. */
function retypeOf({ name, to: { type, targetClass } }: Retyped): [string, JsonValue] {
  return [name, { __op: 'Retype', type, ...(targetClass !== undefined && { targetClass }), onError: 'refuse' }];
}

/** Returns what goes and what is renamed, as in PUT schemas. */
function removalsOf({ renamed, dropped, indexes, uniqueIndexes, ...delta }: TableDelta): JsonObject {
  const goes = { __op: 'Delete' };
  const renames = renamed.map(([from, to]): [string, JsonValue] => [from, { __op: 'Rename', to }]);
  const listed = (names: readonly string[]) => names.map((name): [string, JsonValue] => [name, goes]);
  return {
    ...part('fields', [...renames, ...listed(dropped)]),
    ...part('indexes', listed(indexes.dropped)),
    ...part('uniqueIndexes', listed(uniqueIndexes.dropped)),
    // The text index may have a field that will be no text.
    ...(delta.retyped.length > 0 && delta.hasNewTextIndex && { textIndex: [] }),
  };
}

/** Returns what is added or changed, as in PUT or POST schemas. Indexes of a table that is there are built later. */
function additionsOf(delta: TableDelta, references: References): JsonObject {
  const { isNew, wanted, permissions, uniqueIndexes, indexes } = delta;
  const retyped = delta.retyped.filter(({ from, to }) => hasOptions(from) || hasOptions(to)).map(({ name }) => name);
  const fields = [...delta.added, ...retyped, ...delta.options].map((name): [string, JsonValue] => [
    name,
    definitionOf(delta, name, references),
  ]);
  const unique = uniqueIndexes.made.map((name): [string, JsonValue] => [name, uniqueJson(wanted?.uniqueIndexes.get(name))]);
  const made = isNew ? indexes.made.map((name): [string, JsonValue] => [name, wanted?.indexes.get(name) ?? {}]) : [];
  const textIndex = delta.hasNewTextIndex && (isNew || wanted?.textIndex.length === 0);
  return {
    ...part('fields', fields),
    ...part('indexes', made),
    ...part('uniqueIndexes', unique),
    ...(textIndex && { textIndex: [...(wanted?.textIndex ?? [])] }),
    ...(delta.hasNewTimeline && { timeline: wanted?.timeline ?? null }),
    ...(permissions && { classLevelPermissions: permissions }),
  };
}

const part = (key: string, entries: readonly (readonly [string, JsonValue])[]): JsonObject =>
  entries.length > 0 ? { [key]: Object.fromEntries(entries) } : {};

const uniqueJson = (index: UniquePart | undefined): JsonObject => ({
  fields: [...(index?.fields ?? [])],
  ...(index?.as && { as: index.as }),
});

/** Options that are left out of a definition stay, so those of a field that is there are all said. */
function definitionOf({ wanted, added }: TableDelta, name: string, references: References): JsonObject {
  const { type = '', targetClass, required = false, defaultValue } = wanted?.fields.get(name) ?? {};
  const isThere = !added.includes(name);
  const value = defaultValue === undefined ? null : references.resolved(defaultValue);
  return {
    type,
    ...(targetClass !== undefined && { targetClass }),
    ...((required || isThere) && { required: required === true }),
    ...((value !== null || isThere) && { defaultValue: value }),
  };
}

function lateIndexes({ className, wanted, indexes, hasNewTextIndex }: TableDelta): LateIndex[] {
  const late = indexes.made.map((name): LateIndex => {
    return { className, what: `index ${className}.${name}`, body: { indexes: { [name]: wanted?.indexes.get(name) ?? {} } } };
  });
  if (hasNewTextIndex && wanted && wanted.textIndex.length > 0)
    late.push({ className, what: `text index of ${className}`, body: { textIndex: [...wanted.textIndex] } });
  return late;
}

function checkTargets({ className, added, wanted }: TableDelta, { tables }: Schema): void {
  for (const name of added) {
    const { targetClass, targetMissing } = wanted?.fields.get(name) ?? {};
    if (targetClass !== undefined && !targetMissing && !tables.has(targetClass))
      throw new SnapshotFault(
        ['tables', className, 'fields', name, 'targetClass'],
        `names ${targetClass}, a table that neither side has`,
      );
  }
}
