/**
 * Models of the expected data: for every record the last acknowledged state, and the state that a write in flight may have left.
 * A state is a nonce that the record holds three times, so that a half-written record is detected.
 */
import assert from 'node:assert/strict';
import { soon } from '../support/soon.ts';

/** A nonce, or `null` if the record does not exist. */
export type State = string | null;

export interface Stored {
  tag: string;
  a: string;
  b: string;
  c: { nonce: string };
}

export class RecordModel {
  private readonly acknowledged = new Map<string, State>();
  private readonly inFlight = new Map<string, State>();

  /** Number of acknowledged writes of records. */
  confirmations = 0;

  /** Call before a write is sent. A writer sends no second write for a tag before the answer to the first. */
  began(tag: string, state: State): void {
    this.inFlight.set(tag, state);
  }

  /** Call after the answer: from now on the write must be stored. */
  confirmed(tag: string): void {
    const state = this.inFlight.get(tag);
    assert.notEqual(state, undefined, `no write in flight for ${tag}`);
    this.acknowledged.set(tag, state ?? null);
    this.inFlight.delete(tag);
    this.confirmations++;
  }

  /** Waits until a number of further writes are acknowledged, which may take long on a busy machine. */
  async confirms(more: number): Promise<void> {
    const enough = this.confirmations + more;
    await soon(async () => assert.ok(this.confirmations >= enough), 30_000);
  }

  /** Number of records that must be stored. */
  get size(): number {
    return [...this.acknowledged.values()].filter((state) => state !== null).length;
  }

  /** Compares with the stored records after a crash, then takes these as the acknowledged state. */
  verify(stored: Stored[]): void {
    const found = new Map<string, State>();
    for (const record of stored) {
      assert.ok(!found.has(record.tag), `two records have the tag ${record.tag}`);
      assert.ok(record.a === record.b && record.a === record.c?.nonce, `half written: ${JSON.stringify(record)}`);
      found.set(record.tag, record.a);
    }
    for (const tag of found.keys())
      assert.ok(this.acknowledged.has(tag) || this.inFlight.has(tag), `a record nobody wrote: ${tag}`);
    for (const tag of new Set([...this.acknowledged.keys(), ...this.inFlight.keys()])) {
      const actual = found.get(tag) ?? null;
      const allowed = [this.acknowledged.get(tag) ?? null];
      if (this.inFlight.has(tag)) allowed.push(this.inFlight.get(tag) ?? null);
      assert.ok(allowed.includes(actual), `${tag} holds ${actual}; acknowledged or in flight: ${allowed.join(', ')}`);
      this.acknowledged.set(tag, actual);
    }
    this.inFlight.clear();
  }
}

/** Model of two fields that every update increments together: they stay equal, and no acknowledged increment is lost. */
export class CounterModel {
  private sum = 0;
  private pending = 0;

  began(amount: number): void {
    this.pending += amount;
  }

  confirmed(amount: number): void {
    this.pending -= amount;
    this.sum += amount;
  }

  verify(n: number, m: number): void {
    assert.equal(n, m, `half of an update: n is ${n}, m is ${m}`);
    const [min, max] = [this.sum, this.sum + this.pending];
    assert.ok(n >= min && n <= max, `the counter is ${n}, not within ${min} and ${max}`);
    this.sum = n;
    this.pending = 0;
  }
}
