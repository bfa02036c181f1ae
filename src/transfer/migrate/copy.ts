import type { Field, Schema, TableSchema } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { chunkedRows, type RawReads, type StoredMember } from '../../storage/raw-access.ts';

/** Members per chunk. */
const MAX_MEMBERS = 5_000;

/** A table or a Relation of a store. */
export type Part =
  | { readonly kind: 'table'; readonly table: TableSchema }
  | { readonly kind: 'relation'; readonly table: TableSchema; readonly field: Field };

/** Returns all parts of a store, in schema order. */
export function partsOf(schema: Schema): Part[] {
  return [...schema.tables.values()].flatMap((table): Part[] => [
    { kind: 'table', table },
    ...[...table.fields.values()]
      .filter(({ type }) => type === 'Relation')
      .map((field): Part => ({ kind: 'relation', table, field })),
  ]);
}

/** Returns the same part of another store. @throws Error if it does not exist there */
export function partIn(store: Store, { kind, ...part }: Part): Part {
  const table = store.schema().tables.get(part.table.className);
  const field = 'field' in part && table?.fields.get(part.field.name);
  if (table && kind === 'table') return { kind, table };
  if (table && field) return { kind: 'relation', table, field };
  throw new Error(`the target has no ${part.table.className}`);
}

/** Returns the members of a Relation in chunks, after a given member. */
export async function* chunkedMembers(
  contents: RawReads,
  relation: Field,
  after: StoredMember | null,
): AsyncGenerator<readonly StoredMember[]> {
  let last = after;
  for (;;) {
    const members = await contents.members(relation, last, MAX_MEMBERS);
    if (members.length === 0) return;
    yield members;
    last = members.at(-1) ?? null;
  }
}

/**
 * Copies the rows of a part that come after the last row of the target, i.e. continues an earlier copy.
 * @param copied called with the number of rows after each chunk, which is durable then; first with the number already present
 */
export async function copyPart(from: Store, to: Store, part: Part, copied: (rows: number) => void): Promise<void> {
  const target = partIn(to, part);
  if (part.kind === 'table') {
    const after = await to.raw.lastPosition(target.table);
    if (after > 0) copied(await to.raw.count(target.table));
    for await (const rows of chunkedRows(from.raw, part.table, after)) {
      await to.raw.addRows(target.table, rows);
      copied(rows.length);
    }
  } else if (target.kind === 'relation') {
    for await (const members of chunkedMembers(from.raw, part.field, await to.raw.lastMember(target.field)))
      await to.raw.addMembers(target.field, members);
  }
}
