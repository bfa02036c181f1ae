import type { Field, Schema, TableSchema } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { chunkedRows, type RawReads, type StoredMember } from '../../storage/raw-access.ts';

/** Members of a piece: they are short. */
const MAX_MEMBERS = 5_000;

/** A table or a Relation of a store. */
export type Part =
  | { readonly kind: 'table'; readonly table: TableSchema }
  | { readonly kind: 'relation'; readonly table: TableSchema; readonly field: Field };

/** Everything that a store of this schema holds, part by part, in its order. */
export function partsOf(schema: Schema): Part[] {
  return [...schema.tables.values()].flatMap((table): Part[] => [
    { kind: 'table', table },
    ...[...table.fields.values()]
      .filter(({ type }) => type === 'Relation')
      .map((field): Part => ({ kind: 'relation', table, field })),
  ]);
}

/** The same part of another store. @throws Error where it has none */
export function partIn(store: Store, { kind, ...part }: Part): Part {
  const table = store.schema().tables.get(part.table.className);
  const field = 'field' in part && table?.fields.get(part.field.name);
  if (table && kind === 'table') return { kind, table };
  if (table && field) return { kind: 'relation', table, field };
  throw new Error(`the target has no ${part.table.className}`);
}

/** Pieces of a Relation after a member. */
export async function* memberPieces(
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
 * Copies what a part of one store has beyond the end of the same part of another, which is as far as an earlier copy came.
 * @param copied told of so many rows after each piece, which is durable then; and first of those that are there
 */
export async function copyPart(from: Store, to: Store, part: Part, copied: (rows: number) => void): Promise<void> {
  const target = partIn(to, part);
  if (part.kind === 'table') {
    const after = await to.raw.lastPlace(target.table);
    if (after > 0) copied(await to.raw.count(target.table));
    for await (const rows of chunkedRows(from.raw, part.table, after)) {
      await to.raw.addRows(target.table, rows);
      copied(rows.length);
    }
  } else if (target.kind === 'relation') {
    for await (const members of memberPieces(from.raw, part.field, await to.raw.lastMember(target.field)))
      await to.raw.addMembers(target.field, members);
  }
}
