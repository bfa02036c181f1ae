import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { PresentNames } from '../../query/present-names.ts';
import { followRows, type NameHolder } from '../../records/index.ts';
import { REPORTS } from './saved-report.ts';

/** Saved reports and views of the console follow renames of fields. Reference: schemas.md#rename-a-field. */
export const reportNames: NameHolder = {
  className: REPORTS,
  rewrite: (row, { names }) => withPresentNames(row, names),
  follow: (store, { names, except }) =>
    followRows(store, {
      className: REPORTS,
      except,
      fields: ['objectId', 'Name', 'table', 'keys', 'where', 'order', 'groupBy', 'View'],
      rewrite: (row) => withPresentNames(row, names),
      describe: (rows) => ({ reports: rows.map(({ Name, objectId }) => Name ?? objectId ?? null) }),
    }),
};

function withPresentNames(row: JsonObject, names: PresentNames): JsonObject {
  const table = own(row, 'table');
  if (typeof table !== 'string') return {};
  const [where, order, view] = ['where', 'order', 'View'].map((name) => own(row, name));
  const nameOf = (name: JsonValue): JsonValue => (typeof name === 'string' ? names.dotted(table, name) : name);
  const lists = ['keys', 'groupBy'].flatMap((part): [string, JsonValue][] => {
    const list = own(row, part);
    return Array.isArray(list) ? [[part, list.map(nameOf)]] : [];
  });
  return {
    ...Object.fromEntries(lists),
    ...(isJsonObject(where) && { where: names.where(table, where) }),
    ...(typeof order === 'string' && { order: names.order(table, order) }),
    ...(isJsonObject(view) && { View: withColumns(view, nameOf) }),
  };
}

/** The columns of a view: `{columns: [{field, …}]}`. */
function withColumns(view: JsonObject, nameOf: (name: JsonValue) => JsonValue): JsonObject {
  const columns = own(view, 'columns');
  if (!Array.isArray(columns)) return view;
  const named = columns.map((column) => {
    const field = isJsonObject(column) ? own(column, 'field') : undefined;
    return isJsonObject(column) && field !== undefined ? { ...column, field: nameOf(field) } : column;
  });
  return { ...view, columns: named };
}
