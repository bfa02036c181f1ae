import type { Service } from '../support/service.ts';
import type { CounterModel, RecordModel } from './model.ts';

export const table = 'Crash';
export const counterPath = '/platform/classes/CrashCounter/counter';

interface Known {
  tag: string;
  objectId: string;
}

let nonces = 0;

function fields(tag: string): { state: string; body: Record<string, unknown> } {
  const state = `n${++nonces}`;
  // Long enough that a record does not fit into the free rest of most pages.
  return { state, body: { tag, a: state, b: state, c: { nonce: state }, filler: 'x'.repeat(nonces % 700) } };
}

/**
 * Writes until the service is gone: creates, updates, deletes, batches, and increments of a shared counter. Each is recorded in the model
 * before it is sent and after its answer.
 * @returns the number of acknowledged writes
 * @throws on any answer except success
 */
export async function writeUntilGone(
  service: Service,
  name: string,
  records: RecordModel,
  counter: CounterModel,
): Promise<number> {
  const own: Known[] = [];
  let acknowledged = 0;
  const steps = [create, increment, update, batch, update, increment, remove];
  for (let turn = name.length; ; turn++) {
    const step = steps[turn % steps.length] ?? create;
    try {
      acknowledged += await step();
    } catch (error) {
      // `fetch` throws a TypeError if the kill cuts a request off; any other error is a failure.
      if (error instanceof TypeError) return acknowledged;
      throw error;
    }
  }

  async function create(): Promise<number> {
    const tag = `${name}-${++nonces}`;
    const { state, body } = fields(tag);
    records.began(tag, state);
    const answer = await service.call('POST', `/platform/classes/${table}`, { body });
    if (answer.status !== 201) throw new Error(`create answered ${answer.status} ${answer.text}`);
    records.confirmed(tag);
    own.push({ tag, objectId: answer.body.objectId });
    return 1;
  }

  async function update(): Promise<number> {
    const known = own[nonces % Math.max(own.length, 1)];
    if (!known) return create();
    const { state, body } = fields(known.tag);
    records.began(known.tag, state);
    const answer = await service.call('PUT', `/platform/classes/${table}/${known.objectId}`, { body });
    if (answer.status !== 200) throw new Error(`update answered ${answer.status} ${answer.text}`);
    records.confirmed(known.tag);
    return 1;
  }

  async function remove(): Promise<number> {
    const known = own.shift();
    if (!known) return create();
    records.began(known.tag, null);
    const answer = await service.call('DELETE', `/platform/classes/${table}/${known.objectId}`);
    if (answer.status !== 200) throw new Error(`delete answered ${answer.status} ${answer.text}`);
    records.confirmed(known.tag);
    return 1;
  }

  async function increment(): Promise<number> {
    const amount = 1 + (nonces % 3);
    const by = { __op: 'Increment', amount };
    counter.began(amount);
    const answer = await service.call('PUT', counterPath, { body: { n: by, m: by } });
    if (answer.status !== 200) throw new Error(`increment answered ${answer.status} ${answer.text}`);
    counter.confirmed(amount);
    return 1;
  }

  async function batch(): Promise<number> {
    const items = Array.from({ length: 10 }, () => {
      const tag = `${name}-${++nonces}`;
      return { tag, ...fields(tag) };
    });
    for (const { tag, state } of items) records.began(tag, state);
    const requests = items.map(({ body }) => ({ method: 'POST', path: `/platform/classes/${table}`, body }));
    const answer = await service.call('POST', '/platform/batch', { body: { requests } });
    if (answer.status !== 200) throw new Error(`batch answered ${answer.status} ${answer.text}`);
    for (const [index, { tag }] of items.entries()) {
      const { success } = answer.body[index] ?? {};
      if (!success) throw new Error(`a batch item answered ${JSON.stringify(answer.body[index])}`);
      records.confirmed(tag);
      own.push({ tag, objectId: success.objectId });
    }
    return items.length;
  }
}
