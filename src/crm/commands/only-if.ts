import type { OnlyIf } from '../../records/index.ts';
import { fieldOf } from '../../schema/model.ts';

/** Condition that a record is unchanged. @param updatedAt as it was read, in milliseconds since 1970; `null` matches no record */
export const unchangedSince =
  (updatedAt: number | null): OnlyIf =>
  (table) => ({ kind: 'compare', field: fieldOf(table, 'updatedAt'), op: 'eq', value: updatedAt });
