import type { RecordWatch } from '../../records/index.ts';
import type { RoutedItem } from './batch-items.ts';

/** How an item runs beside the others of its batch. */
interface Link {
  readonly chain: string;
  /** Whether later items of the chain wait for it; else it only waits for earlier ones. */
  readonly isAwaited: boolean;
}

/** Tables of the addresses that name none. */
const tables: ReadonlyMap<string, string> = new Map([
  ['users', '_User'],
  ['roles', '_Role'],
]);

/** Sign-ins and requests for a password reset. */
const OPEN = 'open';

/**
 * Returns the chain of an item; `null` if it runs at once, as most do: their writes share a commit, in the order of the request. Those that need only
 * the application id run one at a time, because comparing a password is slow. So do changes and deletes in tables that are watched: the record is read
 * first, which would let later items overtake them. Reference: batch.md#order-of-items.
 */
export function linkOf({ endpoint, params }: RoutedItem, watch: Pick<RecordWatch, 'watches'> | undefined): Link | null {
  if (endpoint.open) return { chain: OPEN, isAwaited: true };
  const table = params.className ?? tables.get(endpoint.path.split('/')[1] ?? '');
  if (table === undefined || endpoint.method === 'GET' || !watch?.watches(table)) return null;
  return { chain: `table ${table}`, isAwaited: endpoint.method !== 'POST' };
}

/** The items of a batch that wait for each other. */
export class Chains {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs work after the earlier work of its chain, at once if there is none. @param work never rejects */
  run<T>(link: Link | null, work: () => Promise<T>): Promise<T> {
    if (!link) return work();
    const before = this.#last.get(link.chain);
    const done = before ? before.then(work) : work();
    if (link.isAwaited) this.#last.set(link.chain, done);
    return done;
  }
}
