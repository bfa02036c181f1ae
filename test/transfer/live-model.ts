/** Clients that write during a backup, and a model of their writes: for each record every state in order, and how many were acknowledged. */
import assert from 'node:assert/strict';
import { pointer } from '../support/query.ts';
import type { Service } from '../support/service.ts';

export const table = 'Live';
export const targets = ['one', 'two'];

/** A nonce that a record holds three times, so that a partial write is detected; `null`: the record was deleted. */
type State = string | null;

interface History {
  objectId: string | undefined;
  begun: State[];
  acknowledged: number;
}

export interface Stored {
  objectId: string;
  tag: string;
  a: string;
  b: string;
  c: { nonce: string };
}

/** Number of acknowledged writes of each record at one moment. */
export type Moment = ReadonlyMap<string, number>;

export class LiveModel {
  readonly #histories = new Map<string, History>();
  isOver = false;
  writes = 0;

  moment(): Moment {
    return new Map([...this.#histories].map(([tag, { acknowledged }]) => [tag, acknowledged]));
  }

  /** Asserts that a snapshot contains everything acknowledged before it was requested. @returns the number of writes contained in each record */
  verify(stored: readonly Stored[], before: Moment): Map<string, number> {
    const found = new Map(stored.map((record) => [record.tag, record]));
    assert.equal(found.size, stored.length, 'no record is there twice');
    const writes = new Map<string, number>();
    for (const [tag, { begun }] of this.#histories) {
      const record = found.get(tag);
      found.delete(tag);
      const min = before.get(tag) ?? 0;
      if (!record) {
        // Not created yet, or already deleted.
        assert.ok(min === 0 || begun.includes(null), `${tag} is missing: ${min} of ${begun.length} writes were acknowledged`);
        continue;
      }
      assert.ok(record.a === record.b && record.a === record.c.nonce, `half written: ${JSON.stringify(record)}`);
      const at = begun.indexOf(record.a);
      assert.ok(at + 1 >= min, `${tag} is as of its write ${at + 1}, and ${min} were acknowledged`);
      writes.set(record.objectId, at + 1);
    }
    assert.deepEqual([...found.keys()], [], 'records that were never written');
    return writes;
  }

  /** Writes as one client until `isOver`. @param rate maximum of writes per second */
  async write(service: Service, name: string, rate = Number.POSITIVE_INFINITY): Promise<void> {
    const own: string[] = [];
    for (let turn = name.length; !this.isOver; turn++) {
      const due = performance.now() + 1_000 / rate;
      const tag = own[turn % Math.max(own.length, 1)];
      if (turn % 4 === 0 || tag === undefined) own.push(await this.#create(service, `${name}-${turn}`));
      else if (turn % 13 === 0) await this.#remove(service, own.splice(own.indexOf(tag), 1)[0] as string);
      else await this.#update(service, tag);
      this.writes++;
      const left = due - performance.now();
      if (left > 1) await new Promise((resume) => setTimeout(resume, left));
    }
  }

  #begin(tag: string, state: State): History {
    const history = this.#histories.get(tag) ?? { objectId: undefined, begun: [], acknowledged: 0 };
    this.#histories.set(tag, history);
    history.begun.push(state);
    return history;
  }

  async #create(service: Service, tag: string): Promise<string> {
    const state = `${tag}:0`;
    const history = this.#begin(tag, state);
    const pair = { __op: 'AddRelation', objects: targets.map((id) => pointer('Target', id)) };
    const { objectId } = await send(service, history, 'POST', { tag, ...fieldsOf(state), pair });
    history.objectId = String(objectId);
    return tag;
  }

  async #update(service: Service, tag: string): Promise<void> {
    const state = `${tag}:${this.#histories.get(tag)?.begun.length}`;
    await send(service, this.#begin(tag, state), 'PUT', fieldsOf(state));
  }

  async #remove(service: Service, tag: string): Promise<void> {
    await send(service, this.#begin(tag, null), 'DELETE');
  }
}

const fieldsOf = (nonce: string) => ({ a: nonce, b: nonce, c: { nonce }, filler: 'x'.repeat(nonce.length * 20) });

async function send(service: Service, history: History, method: string, body?: object): Promise<Record<string, unknown>> {
  const { objectId } = history;
  const path = `/platform/classes/${table}${objectId === undefined ? '' : `/${objectId}`}`;
  const answer = await service.call(method, path, body ? { body } : {});
  assert.ok(answer.status < 300, answer.text);
  history.acknowledged = history.begun.length;
  return answer.body;
}
