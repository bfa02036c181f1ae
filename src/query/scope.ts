import type { Principal } from '../access/index.ts';
import type { Schema } from '../schema/model.ts';
import type { SharedPatterns } from './regex/index.ts';

/** What the parts of a query beyond its own table are read against: sub-queries, included records, the present time. */
export interface QueryScope {
  readonly schema: Schema;
  readonly principal: Principal;
  /** Milliseconds since 1970 that `$relativeTime` counts from; the clock where it is left out. */
  readonly now?: number;
  /** What the patterns of the request may still cost; the query has a budget of its own where it is left out. */
  readonly patterns?: SharedPatterns | undefined;
}
