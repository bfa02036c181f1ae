import { isJsonObject, type JsonObject } from '../../../kernel/json.ts';
import { readRows } from '../../../records/index.ts';
import type { Schema } from '../../../schema/model.ts';
import type { Store } from '../../../storage/port.ts';
import { isFlag, normalBody, type RowKind, rowKinds } from '../model/rows.ts';
import type { NamedRow } from '../model/snapshot.ts';

/** A record of a part as it is stored. */
export interface StoredRow extends NamedRow {
  readonly objectId: string;
  /** `updatedAt` in milliseconds since 1970, by which a change meanwhile is noticed. */
  readonly version: number;
  /** Its fields as they are stored. */
  readonly stored: JsonObject;
}

type Raw = JsonObject & { objectId: string; updatedAt: string };

/** Reads the records of a kind, in order of creation. References are still ids. */
export async function readStoredRows(store: Store, kind: RowKind): Promise<StoredRow[]> {
  const others = kind.part === 'reports' ? ['OwnerId'] : [];
  const rows = await readRows<Raw>(store, {
    className: kind.className,
    fields: ['objectId', 'updatedAt', kind.name, 'table', ...kind.fields, ...others],
    filter: () => ({ kind: 'always' }),
  });
  const included = kind.part === 'roles' ? await includedRoles(store, rows) : null;
  const seen = new Set<string>();
  return rows.flatMap((row): StoredRow[] => {
    const { objectId, updatedAt, [kind.name]: named, table } = row;
    const name = typeof named === 'string' ? named : '';
    if (isLeftOut(kind, row, name, seen, store.schema())) return [];
    seen.add(name);
    const stored: JsonObject = included ? { ...row, roles: included.get(objectId) ?? null } : row;
    const body = normalBody(kind, stored);
    return [{ table: typeof table === 'string' ? table : '', name, body, objectId, version: Date.parse(updatedAt), stored }];
  });
}

/**
 * What a part does not describe: rows that the service ignores, settings that are no flags, reports of one user alone, triggers of tables that were
 * deleted, which are off for good and could be made nowhere.
 */
function isLeftOut({ part }: RowKind, row: Raw, name: string, seen: ReadonlySet<string>, { tables }: Schema): boolean {
  if (part === 'config') return seen.has(name) || !isFlag(name, row.Value);
  if (part === 'roles') return name === '';
  if (typeof row.table !== 'string' || row.table === '') return true;
  if (part === 'triggers') return !tables.has(row.table);
  return part === 'reports' && isJsonObject(row.OwnerId) && row.Shared !== true;
}

/** Returns the names of the roles in `roles` of each role, sorted, by its id. */
async function includedRoles(store: Store, rows: readonly Raw[]): Promise<ReadonlyMap<string, string[]>> {
  const included = new Map<string, string[]>();
  for (const { objectId } of rows) {
    const members = await readRows<{ name?: string }>(store, {
      className: rowKinds.roles.className,
      fields: ['objectId', 'name'],
      filter(table) {
        const relation = table.fields.get('roles');
        const owner = { table, filter: { kind: 'always' } } as const;
        return relation?.type === 'Relation' ? { kind: 'relatedTo', relation, ownerId: objectId, owner } : null;
      },
    });
    const names = members.flatMap(({ name }) => name ?? []);
    if (names.length > 0) included.set(objectId, [...new Set(names)].sort());
  }
  return included;
}
