import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { PresentNames } from '../../query/present-names.ts';
import type { NameHolder } from '../../records/index.ts';
import { followRows } from '../../records/index.ts';
import { withPaths } from '../templates/parse.ts';

/** Triggers follow renames of fields: criteria, changed fields, and names and templates of actions. Reference: schemas.md#rename-a-field. */
export const triggerNames: NameHolder = {
  className: '_Trigger',
  rewrite: (row, { names }) => withPresentNames(row, names),
  follow: (store, { names, except }) =>
    followRows(store, {
      className: triggerNames.className,
      fields: ['objectId', 'Name', 'table', 'criteria', 'changedFields', 'actions'],
      except,
      rewrite: (row) => withPresentNames(row, names),
      describe: (rows) => ({ triggers: rows.map(({ Name, objectId }) => Name ?? objectId ?? null) }),
    }),
};

/** Returns the parts of a definition with present names. Rows that are no valid definitions are changed as far as they can be read. */
function withPresentNames(row: JsonObject, names: PresentNames): JsonObject {
  const table = own(row, 'table');
  if (typeof table !== 'string') return {};
  const [criteria, changedFields, actions] = ['criteria', 'changedFields', 'actions'].map((name) => own(row, name));
  return {
    ...(isJsonObject(criteria) && { criteria: names.where(table, criteria) }),
    ...(Array.isArray(changedFields) && {
      changedFields: changedFields.map((name) => (typeof name === 'string' ? names.dotted(table, name) : name)),
    }),
    ...(Array.isArray(actions) && { actions: actions.map((action) => inAction(action, table, names)) }),
  };
}

function inAction(action: JsonValue, table: string, names: PresentNames): JsonValue {
  const data = isJsonObject(action) ? own(action, 'actionData') : undefined;
  if (!isJsonObject(action) || !isJsonObject(data)) return action;
  const filled = inTemplates(data, (path) => names.path(table, path)) as JsonObject;
  const written = own(filled, 'fields');
  const target = own(filled, 'target');
  const className = writtenClass(action, filled, table, names);
  return {
    ...action,
    actionData: {
      ...filled,
      ...(isJsonObject(written) && className !== null && { fields: names.keys(className, written) }),
      ...(typeof target === 'string' && target !== 'self' && { target: names.dotted(table, target) }),
      ...(own(action, 'type') === 'notification' && userOf(filled, table, names)),
    },
  };
}

/** Returns the table that an action writes to; `null` if it names none. */
function writtenClass(action: JsonObject, data: JsonObject, table: string, names: PresentNames): string | null {
  const [created, target] = [own(data, 'table'), own(data, 'target')];
  if (own(action, 'type') === 'create-object') return typeof created === 'string' ? created : null;
  if (own(action, 'type') !== 'update-object' || typeof target !== 'string') return null;
  return target === 'self' ? table : names.targetOf(table, target);
}

/** The user to notify may be the name of a Pointer field. */
function userOf(data: JsonObject, table: string, names: PresentNames): JsonObject {
  const user = own(data, 'user');
  return typeof user === 'string' && !user.includes('{{') ? { user: names.path(table, [user])[0] ?? user } : {};
}

function inTemplates(value: JsonValue, change: (path: readonly string[]) => readonly string[]): JsonValue {
  if (typeof value === 'string') return withPaths(value, change);
  if (Array.isArray(value)) return value.map((inner) => inTemplates(inner, change));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inTemplates(inner, change)]));
}
