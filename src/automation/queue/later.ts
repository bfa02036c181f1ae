import type { JsonObject } from '../../kernel/json.ts';
import type { Schema } from '../../schema/model.ts';
import type { Mutation } from '../../storage/port.ts';
import type { ActionParts, AutomationSystem } from '../actions/action.ts';

/** Work that is tried until it succeeds, or for long enough: a row of the queue of the kind `mail` or `code`. */
export interface LaterJob {
  /** objectId of its row. */
  readonly id: string;
  /** As whoever queued it wrote it. */
  readonly state: JsonObject;
  /** How often it was tried before. */
  readonly attempts: number;
  /** When it was queued, in milliseconds since 1970. */
  readonly queuedAt: number;
}

/** What came of an attempt. `steps` are those of the commit that notes it. */
export type Attempt = { readonly steps?: (schema: Schema) => readonly Mutation[] } & (
  | { readonly kind: 'done' }
  /** Its row goes, too. */
  | { readonly kind: 'failed' }
  /** Milliseconds until the next. */
  | { readonly kind: 'again'; readonly pause: number }
);

/** One kind of such work. It never throws but for faults, which count as `again` after a minute. */
export type LaterWork = (system: AutomationSystem, job: LaterJob, parts: ActionParts) => Promise<Attempt>;
