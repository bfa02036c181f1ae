import type { OnlyIf } from '../../records/index.ts';
import { fieldOf } from '../../schema/model.ts';

/** That nobody has written to a record since. @param updatedAt as it was read, in milliseconds since 1970; `null` holds of none */
export const unchangedSince =
  (updatedAt: number | null): OnlyIf =>
  (table) => ({ kind: 'compare', field: fieldOf(table, 'updatedAt'), op: 'eq', value: updatedAt });
