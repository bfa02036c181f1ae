import { isJsonObject, type JsonObject, own } from '../../kernel/json.ts';
import type { Filter } from '../../query/model/filter.ts';
import { fieldOf, type Schema, type TableSchema } from '../../schema/model.ts';
import type { Mutation } from '../../storage/port.ts';
import type { NameHolder, Renamed } from '../context/name-holder.ts';
import { followRows } from './follow-rows.ts';

const DICTIONARY = '_Dictionary';

/** Labels of fields: rows of `_Dictionary`. */
const labels: NameHolder = {
  className: DICTIONARY,
  rewrite({ tblName, field }, { className, renames }) {
    const name = tblName === className && typeof field === 'string' ? renames.get(field) : undefined;
    return name === undefined ? {} : { field: name };
  },
  async follow(store, renamed) {
    const { className } = renamed;
    const labelled = new Set<string>();
    const followed = await followRows(store, {
      className: DICTIONARY,
      filter: (table) => ofTable(table, className),
      fields: ['objectId', 'tblName', 'field'],
      except: renamed.except,
      rewrite(row) {
        const { field } = labels.rewrite(row, renamed);
        if (typeof field !== 'string') return {};
        labelled.add(field);
        return { field };
      },
      describe: (rows) => ({ labels: rows.length }),
    });
    return { ...followed, steps: (schema) => [...withoutLabels(schema, className, labelled), ...followed.steps(schema)] };
  },
};

const ofTable = (table: TableSchema, className: string): Filter => ({
  kind: 'compare',
  field: fieldOf(table, 'tblName'),
  op: 'eq',
  value: className,
});

/** Deletes what is left of labels of earlier fields: of several rows for a name the first counts. */
function withoutLabels({ tables }: Schema, className: string, fields: ReadonlySet<string>): Mutation[] {
  const table = tables.get(DICTIONARY);
  if (!table || fields.size === 0) return [];
  const ofFields: Filter = { kind: 'in', field: fieldOf(table, 'field'), values: [...fields] };
  return [{ kind: 'deleteAll', table, filter: { kind: 'and', items: [ofTable(table, className), ofFields] } }];
}

/** Values that forms give new records of a table: `DefaultValues.Account` in rows of `Config`. */
const DEFAULTS = new Map([['Accounts', 'Account']]);

const settings: NameHolder = {
  className: 'Config',
  rewrite: ({ Value }, renamed) => (isJsonObject(Value) ? { Value: withDefaults(Value, renamed) } : {}),
  follow: (store, renamed) =>
    followRows(store, {
      className: settings.className,
      fields: ['objectId', 'Name', 'Value'],
      except: renamed.except,
      rewrite: (row) => settings.rewrite(row, renamed),
      describe: (rows) => ({ config: rows.map(({ Name, objectId }) => Name ?? objectId ?? null) }),
    }),
};

function withDefaults(value: JsonObject, { className, names }: Renamed): JsonObject {
  const key = DEFAULTS.get(className);
  const defaults = own(value, 'DefaultValues');
  const values = key !== undefined && isJsonObject(defaults) ? own(defaults, key) : undefined;
  if (key === undefined || !isJsonObject(defaults) || !isJsonObject(values)) return value;
  return { ...value, DefaultValues: { ...defaults, [key]: names.keys(className, values) } };
}

/** Holders of names that belong to no other part of the service. */
export const ownNameHolders: readonly NameHolder[] = [labels, settings];
