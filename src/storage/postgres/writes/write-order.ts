import { deletesRecord } from '../../column-values.ts';
import { orderedBy } from './obstacles.ts';
import { changesSchema, type QueuedWrite } from './queued-write.ts';

/**
 * Skipped writes. Later writes may overtake them, except writes of the same turn or to the same records. Write-behind rows keep their order, and delay deletes,
 * since a pending row may point at a deleted record.
 */
export class WriteOrder {
  readonly entries: QueuedWrite[] = [];
  readonly #turns = new Set<number>();
  readonly #records = new Set<string>();
  /** State of the first write-behind row. */
  #behind: 'none' | 'waiting' | 'held' = 'none';
  /** Turns and tables of writes that wait for obstacles: within a table, the writes of a turn keep their order. */
  readonly #places = new Set<string>();

  skip(entry: QueuedWrite): void {
    this.entries.push(entry);
    if (entry.behind) {
      this.#behind = 'waiting';
      return;
    }
    this.#turns.add(entry.turn);
    for (const record of entry.records) this.#records.add(record);
  }

  /** Adds a write that others of its turn may overtake in other tables. Deletes that need the same obstacle wait for it themselves. */
  skipForObstacle(entry: QueuedWrite): void {
    this.entries.push(entry);
    if (entry.behind) {
      this.#behind = 'held';
      return;
    }
    for (const place of placesOf(entry)) this.#places.add(place);
    for (const record of entry.records) this.#records.add(record);
  }

  /** Adds a write-behind row after others. */
  skipBehind(entry: QueuedWrite): void {
    this.entries.push(entry);
    if (this.#behind === 'held') entry.heldSince ||= performance.now();
  }

  /** Whether there are write-behind rows among them. */
  get hasBehind(): boolean {
    return this.#behind !== 'none';
  }

  /** Whether a write must not overtake one of them, because of its record, or its turn and table. */
  blocksInTable(entry: QueuedWrite): boolean {
    if (entry.records.some((record) => this.#records.has(record))) return true;
    return this.#places.size > 0 && placesOf(entry).some((place) => this.#places.has(place));
  }

  blocksTurn({ turn }: QueuedWrite): boolean {
    return this.#turns.has(turn);
  }

  blocks(entry: QueuedWrite): boolean {
    if (this.#behind === 'waiting' && deletesRecord(entry.plan)) return true;
    return this.#turns.has(entry.turn) || entry.records.some((record) => this.#records.has(record));
  }
}

const placesOf = (entry: QueuedWrite): string[] => orderedBy(entry).map((table) => `${entry.turn} ${table}`);

/** A group that is being executed. */
export interface RunningGroup {
  /** Empty for a probe group: see `WriteOrder.hold`. */
  readonly turns: ReadonlySet<number>;
  /** Records it writes to. */
  readonly records: ReadonlySet<string>;
  readonly isChange: boolean;
  readonly isBehind: boolean;
  /** For a probe group: the obstacles it probes, and its writes, which later writes of the same turns must not overtake. */
  readonly probe: { readonly obstacles: readonly string[]; readonly held: WriteOrder } | undefined;
}

/** Returns whether a write must not run concurrently with a group. */
export function excludes(running: RunningGroup, entry: QueuedWrite): boolean {
  if (running.turns.has(entry.turn) || (running.isChange && changesSchema(entry))) return true;
  return entry.records.some((record) => running.records.has(record));
}
