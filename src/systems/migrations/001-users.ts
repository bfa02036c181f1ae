import type { JsonObject } from '../../kernel/json.ts';
import { applyChange, type SchemaChange } from '../../schema/change.ts';
import { type Schema, tableOf } from '../../schema/model.ts';
import type { Mutation, Store, WritePlan } from '../../storage/port.ts';
import { readTemplate, type TemplateTable } from '../template/template.ts';
import { insertRow, planTemplateTable } from '../template/template-plan.ts';
import { nameRoles, nameUsers } from './001-names.ts';
import { definedField, planMissing, sameType } from './001-tables.ts';
import { nothing, readRecords, type SystemMigration } from './migration.ts';

/**
 * Systems from before there were users had six tables. They get what a new system has: its tables with their first rows, and missing fields of
 * the tables that they have. Permissions are set for new tables only: those of others are the operator's.
 */
export const users: SystemMigration = { number: 1, what: 'users and the tables of a new system', prepare };

/** Systems created later have everything, except what their operators deleted. */
const isNewer = (schema: Schema) => schema.tables.get('_User')?.fields.has('_username_key') === true;

/** Identity of the rows of these tables: missing ones are added. Other tables get first rows only if they have no rows. */
const keysOfRows: ReadonlyMap<string, readonly string[]> = new Map([
  ['Config', ['Name']],
  ['_Dictionary', ['tblName', 'field']],
  ['_Role', ['name']],
]);

/** The present content of the tables. */
interface Found {
  readonly users: readonly JsonObject[];
  readonly roles: readonly JsonObject[];
  /** Whether a first row exists already. */
  has(className: string, row: JsonObject): boolean;
}

async function prepare(store: Store): Promise<(schema: Schema) => WritePlan> {
  if (isNewer(store.schema())) return () => nothing;
  const template = await readTemplate();
  const found = await look(store, template);
  const at = Date.now();
  return (schema) => (isNewer(schema) ? nothing : plan(schema, template, found, at));
}

async function look(store: Store, template: readonly TemplateTable[]): Promise<Found> {
  const filled = new Set<string>();
  for (const { className } of template)
    if ((await readRecords(store, className, ['objectId'], 1)).length > 0) filled.add(className);
  const known = new Map<string, Set<string>>();
  for (const [className, names] of keysOfRows) {
    const rows = await readRecords(store, className, names);
    known.set(className, new Set(rows.map((row) => keyOf(row, names))));
  }
  return {
    users: await readRecords(store, '_User', ['objectId', 'username', 'email']),
    roles: await readRecords(store, '_Role', ['objectId', 'name']),
    has(className, row) {
      const names = keysOfRows.get(className);
      return names ? known.get(className)?.has(keyOf(row, names)) === true : filled.has(className);
    },
  };
}

const keyOf = (row: JsonObject, names: readonly string[]) => JSON.stringify(names.map((name) => row[name] ?? null));

function plan(schema: Schema, template: readonly TemplateTable[], found: Found, at: number): WritePlan {
  const changes: SchemaChange[] = [];
  let after = schema;
  for (const wanted of template) {
    const table = schema.tables.get(wanted.className);
    const steps = table ? planMissing(table, wanted.definition) : planTemplateTable(after, wanted);
    changes.push(...steps);
    after = steps.reduce(applyChange, after);
  }
  const mutations = [
    ...nameUsers(tableOf(after, '_User'), found.users),
    ...nameRoles(tableOf(after, '_Role'), found.roles),
    ...template.flatMap((wanted) => firstRows(after, wanted, found, at)),
  ];
  return { changes, mutations };
}

/** In an existing table a field may have another type: its first value is left out. */
function firstRows(schema: Schema, { className, definition, rows }: TemplateTable, found: Found, at: number): Mutation[] {
  const table = tableOf(schema, className);
  const fits = ([name]: [string, unknown]) => {
    const wanted = definedField(definition, name);
    return wanted === undefined || sameType(table.fields.get(name), wanted);
  };
  return rows
    .filter((row) => !found.has(className, row))
    .map((row) => insertRow(table, Object.fromEntries(Object.entries(row).filter(fits)), at));
}
