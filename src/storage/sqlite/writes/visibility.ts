import type { DurableReads } from '../reads/durable-reads.ts';
import type { SchemaCache } from '../schema/schema-cache.ts';
import type { GroupEvents } from './group-commit.ts';

/**
 * Returns the callbacks of commits that decide what reads see: the schema in memory, the versions of tables and the snapshot change at one moment, when
 * a transaction is durable.
 * @param endReads ends the reads on threads, which may have seen what is undone
 */
export function visibility(
  known: SchemaCache,
  reads: DurableReads,
  endReads: () => void,
): Pick<GroupEvents, 'began' | 'ended' | 'undone' | 'rolledBack'> {
  return {
    began(isAlone = false) {
      known.began(isAlone);
      if (!isAlone) reads.hold();
    },
    ended(hasNext = false) {
      known.ended();
      reads.advance(hasNext);
    },
    undone() {
      known.undone();
      reads.release();
      endReads();
    },
    rolledBack(isFlushing = false) {
      known.rolledBack();
      if (!isFlushing) reads.release();
    },
  };
}
