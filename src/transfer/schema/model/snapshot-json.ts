import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import {
  type FieldPart,
  FORMAT,
  type LabelsPart,
  type NamedRow,
  type Part,
  parts,
  type Snapshot,
  TABLE_ITSELF,
  type TablePart,
} from './snapshot.ts';

/** The parts of a snapshot as JSON: what its files hold. */
export type SnapshotParts = { readonly [P in Part]?: JsonValue };

/** Returns a snapshot as JSON, its keys in a fixed order. `readSnapshot` reads it. */
export function snapshotJson(snapshot: Snapshot): JsonObject {
  const json = partsJson(snapshot);
  const given = parts.flatMap((part): [string, JsonValue][] => {
    const value = json[part];
    return value === undefined ? [] : [[part, value]];
  });
  return { ...manifestJson(snapshot), ...Object.fromEntries(given) };
}

/** Returns what a snapshot says of itself. */
export const manifestJson = ({ isComplete }: Snapshot): JsonObject => ({ format: FORMAT, complete: isComplete });

/** Returns the parts of a snapshot. Labels of fields stand beside the fields, if the tables are there. */
export function partsJson(snapshot: Snapshot): SnapshotParts {
  const { tables, permissions, roles, labels, triggers, reports, config } = snapshot;
  return {
    ...(tables && { tables: tablesJson(tables, labels) }),
    ...(permissions && { permissions: Object.fromEntries(permissions) }),
    ...(roles && { roles: byNameJson(roles, (body) => body) }),
    ...(triggers && { triggers: triggers.map(rowJson) }),
    ...(labels && { labels: labelsJson(labels, tables) }),
    ...(reports && { reports: reports.map(rowJson) }),
    ...(config && { config: byNameJson(config, ({ Value }) => Value as JsonValue) }),
  };
}

const tablesJson = (tables: ReadonlyMap<string, TablePart>, labels: Snapshot['labels']): JsonObject =>
  Object.fromEntries([...tables].map(([className, table]) => [className, tableJson(table, labels?.get(className))]));

function tableJson(
  { fields, timeline, indexes, uniqueIndexes, textIndex }: TablePart,
  labels: LabelsPart | undefined,
): JsonObject {
  const unique = [...uniqueIndexes].map(([name, { fields: of, as }]): [string, JsonObject] => {
    return [name, { fields: [...of], ...(as && { as }) }];
  });
  return {
    fields: Object.fromEntries([...fields].map(([name, field]) => [name, fieldJson(field, labels?.get(name))])),
    ...(timeline && { timeline }),
    ...(indexes.size > 0 && { indexes: Object.fromEntries(indexes) }),
    ...(unique.length > 0 && { uniqueIndexes: Object.fromEntries(unique) }),
    ...(textIndex.length > 0 && { textIndex: [...textIndex] }),
  };
}

function fieldJson(
  { type, targetClass, targetMissing, required, defaultValue, was }: FieldPart,
  label: string | undefined,
): JsonObject {
  return {
    type,
    ...(targetClass !== undefined && { targetClass }),
    ...(targetMissing && { targetMissing }),
    ...(required && { required }),
    ...(defaultValue !== undefined && { defaultValue }),
    ...(was !== undefined && { was }),
    ...(label !== undefined && { dictionary: label }),
  };
}

/** Returns the labels that stand beside no field. */
function labelsJson(labels: ReadonlyMap<string, LabelsPart>, tables: Snapshot['tables']): JsonObject {
  const listed = [...labels].flatMap(([className, ofTable]): [string, JsonValue][] => {
    const described = tables?.get(className)?.fields;
    const fields = [...ofTable].filter(([field]) => field !== TABLE_ITSELF && !described?.has(field));
    const label = ofTable.get(TABLE_ITSELF);
    if (fields.length === 0 && label === undefined) return [];
    return [
      [className, { ...(label !== undefined && { label }), ...(fields.length > 0 && { fields: Object.fromEntries(fields) }) }],
    ];
  });
  return Object.fromEntries(listed);
}

const byNameJson = (rows: readonly NamedRow[], value: (body: JsonObject) => JsonValue): JsonObject =>
  Object.fromEntries(rows.map(({ name, body }) => [name, value(body)]));

const rowJson = ({ table, name, body }: NamedRow): JsonObject => ({ ...(name !== '' && { Name: name }), table, ...body });
