import type { Principal } from '../access/index.ts';
import type { Store } from '../storage/port.ts';
import type { WriteObserver } from './write/observer.ts';

/** What every operation on records needs: whose data, who asks, and who watches writes. */
export interface RecordContext {
  readonly store: Store;
  readonly principal: Principal;
  readonly observers: readonly WriteObserver[];
  /** The request's Referer, for the audit of writes by session users; `null` where there is none. */
  readonly referer: string | null;
}
