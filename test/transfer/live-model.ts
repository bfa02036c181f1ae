/** Writers beside a backup, and what they know: of every record each state that it was given, in order, and how many of them were acknowledged. */
import assert from 'node:assert/strict';
import { pointer } from '../support/query.ts';
import type { Service } from '../support/service.ts';

export const table = 'Live';
export const targets = ['one', 'two'];

/** A nonce that a record holds three times, so that a half-written one shows; `null`: it was deleted. */
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

/** How much was acknowledged of each record at some moment. */
export type Moment = ReadonlyMap<string, number>;

export class LiveModel {
  readonly #histories = new Map<string, History>();
  isOver = false;
  writes = 0;

  moment(): Moment {
    return new Map([...this.#histories].map(([tag, { acknowledged }]) => [tag, acknowledged]));
  }

  /** Holds a picture against what was acknowledged before it was asked for. @returns how many writes each record of it had had */
  verify(stored: readonly Stored[], before: Moment): Map<string, number> {
    const found = new Map(stored.map((record) => [record.tag, record]));
    assert.equal(found.size, stored.length, 'no record is there twice');
    const writes = new Map<string, number>();
    for (const [tag, { begun }] of this.#histories) {
      const record = found.get(tag);
      found.delete(tag);
      const least = before.get(tag) ?? 0;
      if (!record) {
        // Not made yet, or deleted already.
        assert.ok(least === 0 || begun.includes(null), `${tag} is missing: ${least} of ${begun.length} writes were acknowledged`);
        continue;
      }
      assert.ok(record.a === record.b && record.a === record.c.nonce, `half written: ${JSON.stringify(record)}`);
      const at = begun.indexOf(record.a);
      assert.ok(at + 1 >= least, `${tag} is as of its write ${at + 1}, and ${least} were acknowledged`);
      writes.set(record.objectId, at + 1);
    }
    assert.deepEqual([...found.keys()], [], 'records that nobody wrote');
    return writes;
  }

  /** One client that writes until it is over. @param rate writes a second, at the most */
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
