import { serviceError } from '../../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { checkDefaults } from '../../../records/index.ts';
import { applyChanges, type SchemaChange, schemaOf } from '../../../schema/change.ts';
import { planTable, planTableChange } from '../../../schema/definition.ts';
import { hasOptions, type Schema } from '../../../schema/model.ts';
import { isSealed } from '../../../schema/system-tables.ts';
import type { Delta, Retyped, TableDelta } from '../diff/delta.ts';
import { inStep, named } from '../diff/step.ts';
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
  readonly late: readonly LateIndex[];
}

/**
 * Plans the changes of tables. Pure. Indexes of tables with records are built after the commit, one at a time: building one takes as long as reading
 * all records, and the commit would hold the table back meanwhile. Unique ones belong to the commit, because records may contradict them.
 * @throws ServiceError of the first table that cannot be changed, with its name; SnapshotFault for a Pointer to a table that neither side has
 */
export function planTables(schema: Schema, { tables, gone }: Delta, references: References): TablesPlan {
  const changes = gone.map((className): SchemaChange => ({ kind: 'dropTable', className, withRecords: true }));
  const late: LateIndex[] = [];
  for (const delta of tables) {
    const { className, isNew } = delta;
    if (isSealed(className)) throw named(className, serviceError('systemTable'));
    const planned = new TableSteps(schema, className);
    if (isNew) planned.add(className, (now) => planTable(now, className, additionsOf(delta, references)));
    else {
      // Step by step: what is defined anew is deleted first, and what does not fit another type goes before it.
      planned.add(className, (now) => planTableChange(now, className, removalsOf(delta)));
      planned.add(className, (now) => planTableChange(now, className, part('fields', delta.retyped.map(retypeOf))));
      planned.add(className, (now) => planTableChange(now, className, additionsOf(delta, references)));
    }
    changes.push(...planned.changes);
    if (isNew) continue;
    const indexes = lateIndexes(delta);
    // An index that is impossible is refused before anything is done.
    for (const { body, what } of indexes) planned.add(what, (now) => planTableChange(now, className, body));
    late.push(...indexes);
  }
  const after = applyChanges(schema, changes);
  for (const delta of tables) checkTargets(delta, after);
  return { changes, late };
}

/** Changes of one table. Its schema has no other table, which would be copied with each change: there may be thousands. */
class TableSteps {
  changes: readonly SchemaChange[] = [];
  #now: Schema;

  constructor({ version, tables }: Schema, className: string) {
    const table = tables.get(className);
    this.#now = schemaOf({ version, tables: new Map(table ? [[className, table]] : []) });
  }

  add(step: string, plan: (now: Schema) => readonly SchemaChange[]): void {
    inStep(step, () => {
      const planned = plan(this.#now);
      this.#now = applyChanges(this.#now, planned);
      checkDefaults(planned, this.#now);
      this.changes = [...this.changes, ...planned];
    });
  }
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
