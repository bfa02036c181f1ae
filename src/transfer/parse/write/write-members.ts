import { fieldOf, tableOf } from '../../../schema/model.ts';
import type { ParseMember } from '../source/source.ts';
import { batchesOf } from './batches.ts';
import type { Target } from './target.ts';
import type { BatchBounds } from './write-records.ts';

/** Adds members to a Relation; existing ones stay. @param progressed called with the number of members so far */
export async function writeMembers(
  { store }: Target,
  { className, field }: { readonly className: string; readonly field: string },
  members: AsyncIterable<ParseMember>,
  bounds: () => BatchBounds,
  progressed: (done: number) => void,
): Promise<void> {
  let done = 0;
  for await (const batch of batchesOf(members, ({ owner, member }) => owner.length + member.length, bounds)) {
    const owners = Map.groupBy(batch, ({ owner }) => owner);
    await store.bulkTransaction(async (within) => {
      await Promise.all(
        [...owners].map(([ownerId, some]) =>
          within.write({
            plan(schema) {
              const table = tableOf(schema, className);
              const memberIds = some.map(({ member }) => member);
              return { changes: [], mutations: [{ kind: 'link', table, relation: fieldOf(table, field), ownerId, memberIds }] };
            },
          }),
        ),
      );
    });
    done += batch.length;
    progressed(done);
  }
}
