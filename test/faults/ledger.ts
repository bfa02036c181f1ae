/** Records what writers sent and were answered, and compares it with the stored data. */
import assert from 'node:assert/strict';
import type { Json } from '../support/records.ts';
import type { Verdict } from './answers.ts';

/** Whether a write must be stored: `done` yes, `refused` no, `inDoubt` either. */
export type Outcome = Extract<Verdict, 'done' | 'refused' | 'inDoubt'>;

/** A record. Three of its fields hold one nonce, so that a half-written record is detected. */
export interface Stored {
  objectId: string;
  tag: string;
  a: string;
  b: string;
  c: { nonce: string };
}

export interface Change {
  nonce: string;
  outcome: Outcome;
}

export interface Entry {
  readonly tag: string;
  /** Known after the answer to the create. */
  objectId?: string;
  readonly created: Change;
  /** In the order of sending, each after the answer to the one before. */
  readonly updates: Change[];
}

/** The stored data. */
export interface Found {
  records: readonly Stored[];
  /** Rows about the table of the records. */
  timeline: readonly { event: string; objectIdValue: string; data: { a?: string } }[];
  /** Names of the Tasks that the trigger created, which are tags. */
  tasks: readonly string[];
  /** Rows of `_syslogTriggers` with an error. */
  failed: readonly Json[];
}

export class Ledger {
  readonly #entries = new Map<string, Entry>();

  begin(tag: string, nonce: string): Entry {
    const entry: Entry = { tag, created: { nonce, outcome: 'inDoubt' }, updates: [] };
    this.#entries.set(tag, entry);
    return entry;
  }

  /** Counts the creates and updates with an outcome. */
  count(outcome: Outcome): number {
    let count = 0;
    for (const { created, updates } of this.#entries.values())
      for (const change of [created, ...updates]) if (change.outcome === outcome) count++;
    return count;
  }

  /** Entries whose create must be stored. */
  get acknowledged(): Entry[] {
    return [...this.#entries.values()].filter(({ created }) => created.outcome === 'done');
  }

  /** Returns the values that a reader may see in a record. */
  seen(tag: string): ReadonlySet<string> {
    const entry = this.#entries.get(tag);
    return new Set(
      entry && [entry.created, ...entry.updates].filter(({ outcome }) => outcome !== 'refused').map(({ nonce }) => nonce),
    );
  }

  /** Whether each stored record has its Task. */
  hasAllTasks({ records, tasks }: Pick<Found, 'records' | 'tasks'>): boolean {
    const made = new Set(tasks);
    return records.every(({ tag }) => made.has(tag));
  }

  /** @throws AssertionError that lists what is lost, doubled, half done, or done although it was refused */
  verify({ records, timeline, tasks, failed }: Found): void {
    const wrong: string[] = [];
    const stored = Map.groupBy(records, ({ tag }) => tag);
    const rows = Map.groupBy(timeline, ({ objectIdValue }) => objectIdValue);
    const made = Map.groupBy(tasks, (tag) => tag);
    for (const tag of stored.keys()) if (!this.#entries.has(tag)) wrong.push(`a record that no client wrote: ${tag}`);
    for (const tag of made.keys()) if (!stored.has(tag)) wrong.push(`a Task of no record: ${tag}`);
    const ids = new Set(records.map(({ objectId }) => objectId));
    for (const id of rows.keys()) if (!ids.has(id)) wrong.push(`a timeline row of no record: ${id}`);
    for (const entry of this.#entries.values()) {
      const { tag, created, objectId } = entry;
      const [record, ...more] = stored.get(tag) ?? [];
      if (more.length > 0) wrong.push(`${tag}: ${1 + more.length} records`);
      if (created.outcome === 'done' && !record) wrong.push(`${tag}: acknowledged and not there`);
      if (created.outcome === 'refused' && record) wrong.push(`${tag}: refused and there`);
      if (!record) continue;
      if (objectId !== undefined && record.objectId !== objectId) wrong.push(`${tag}: another objectId than was answered`);
      if (record.a !== record.b || record.a !== record.c?.nonce) wrong.push(`${tag}: half written: ${JSON.stringify(record)}`);
      if (made.get(tag)?.length !== 1) wrong.push(`${tag}: ${made.get(tag)?.length ?? 0} Tasks`);
      wrong.push(...this.#history(entry, record, rows.get(record.objectId) ?? []));
    }
    for (const row of failed) wrong.push(`a trigger's action ended for good: ${JSON.stringify(row.error).slice(0, 200)}`);
    assert.deepEqual([wrong.length, wrong.slice(0, 20)], [0, []]);
  }

  /** Checks the timeline of a record and its final value. */
  #history({ tag, created, updates }: Entry, record: Stored, rows: Found['timeline']): string[] {
    const wrong: string[] = [];
    const creates = rows.filter(({ event }) => event === 'create');
    if (creates.length !== 1 || creates[0]?.data.a !== created.nonce)
      wrong.push(`${tag}: ${creates.length} timeline rows of its create`);
    const counts = new Map<string, number>();
    for (const { event, data } of rows) if (event === 'update' && data.a) counts.set(data.a, (counts.get(data.a) ?? 0) + 1);
    let last = created.nonce;
    for (const { nonce, outcome } of updates) {
      const times = counts.get(nonce) ?? 0;
      counts.delete(nonce);
      if (times > 1 || (outcome === 'done' && times !== 1) || (outcome === 'refused' && times !== 0))
        wrong.push(`${tag}: an update that is ${outcome} has ${times} timeline rows`);
      if (times > 0) last = nonce;
    }
    if (counts.size > 0) wrong.push(`${tag}: timeline rows of updates that no client sent`);
    if (record.a !== last) wrong.push(`${tag}: holds ${record.a}, not ${last}`);
    return wrong;
  }
}
