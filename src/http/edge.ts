import type { Logger } from '../observe/index.ts';
import type { WriteObserver } from '../records/index.ts';
import type { Systems } from '../systems/index.ts';

/** What the HTTP edge works with. */
export interface Edge {
  readonly systems: Systems;
  readonly observers: readonly WriteObserver[];
  readonly log: Logger;
  /** The service's address as clients see it, without a slash at the end. */
  readonly baseUrl: () => string;
}
