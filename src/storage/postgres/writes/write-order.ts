import { deletesRecord } from '../../column-values.ts';
import { orderedBy } from './obstacles.ts';
import { changes, type QueuedWrite } from './queued-write.ts';

/**
 * Writes that others go on before: none of their turns, and none to their records. Rows that are written behind keep back each other, in the
 * order in which they came, and deletes, since a row that is about to be written may point at what a delete takes.
 */
export class WriteOrder {
  readonly entries: QueuedWrite[] = [];
  readonly #turns = new Set<number>();
  readonly #records = new Set<string>();
  /** Of the first row that is written behind. */
  #behind: 'none' | 'waiting' | 'held' = 'none';
  /** Turns and tables of those that wait for what others hold: the order of a turn's writes is kept within a table. */
  readonly #places = new Set<string>();

  add(entry: QueuedWrite): void {
    this.entries.push(entry);
    if (entry.behind) {
      this.#behind = 'waiting';
      return;
    }
    this.#turns.add(entry.turn);
    for (const record of entry.records) this.#records.add(record);
  }

  /** Adds one that others of its turn may go on before, in other tables. Deletes that need what it waits for wait for that themselves. */
  hold(entry: QueuedWrite): void {
    this.entries.push(entry);
    if (entry.behind) {
      this.#behind = 'held';
      return;
    }
    for (const place of placesOf(entry)) this.#places.add(place);
    for (const record of entry.records) this.#records.add(record);
  }

  /** Adds a row that is written behind, after others. */
  follow(entry: QueuedWrite): void {
    this.entries.push(entry);
    if (this.#behind === 'held') entry.heldSince ||= performance.now();
  }

  /** Whether rows that are written behind are among them. */
  get hasBehind(): boolean {
    return this.#behind !== 'none';
  }

  /** Whether a write must not come before one of them: by its record, or its turn and table. */
  holdsInOrder(entry: QueuedWrite): boolean {
    if (entry.records.some((record) => this.#records.has(record))) return true;
    return this.#places.size > 0 && placesOf(entry).some((place) => this.#places.has(place));
  }

  holdsTurnOf({ turn }: QueuedWrite): boolean {
    return this.#turns.has(turn);
  }

  holds(entry: QueuedWrite): boolean {
    if (this.#behind === 'waiting' && deletesRecord(entry.plan)) return true;
    return this.#turns.has(entry.turn) || entry.records.some((record) => this.#records.has(record));
  }
}

const placesOf = (entry: QueuedWrite): string[] => orderedBy(entry).map((table) => `${entry.turn} ${table}`);

/** Writes under way together. */
export interface RunningGroup {
  /** None of a group that tries what others hold: see `Passed.hold`. */
  readonly turns: ReadonlySet<number>;
  /** Records that they write to. */
  readonly records: ReadonlySet<string>;
  readonly isChange: boolean;
  readonly isBehind: boolean;
  /** Of a group that tries what others hold: what it needs of that, and what later writes of its turns must not come before it in. */
  readonly trial: { readonly obstacles: readonly string[]; readonly held: WriteOrder } | undefined;
}

/** Whether a write cannot be carried out beside others. */
export function excludes(running: RunningGroup, entry: QueuedWrite): boolean {
  if (running.turns.has(entry.turn) || (running.isChange && changes(entry))) return true;
  return entry.records.some((record) => running.records.has(record));
}
