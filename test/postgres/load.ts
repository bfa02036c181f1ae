/** Clients that go on while the database is away: acknowledged writes must be there afterwards, and nothing twice. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { assertClean, path, unique } from '../support/records.ts';
import type { Answer, Service } from '../support/service.ts';
import { login, me, password, type User } from '../support/users.ts';

/** Every request is answered within this time, even if the database is away. */
const MAX_ANSWER_MS = 5_000;

const unavailable = { code: 1, error: 'server error: the service is not available now' };

const inDoubt = { code: 1, error: 'server error: the outcome of this write is unknown', inDoubt: true };

/** Asserts the refusal while the database is away, without internal details. A write that was under way may be in doubt. */
function assertUnavailable(answer: Answer, mayBeInDoubt = false): void {
  assert.equal(answer.status, 503, answer.text);
  assert.deepEqual(answer.body, mayBeInDoubt && answer.body.inDoubt ? inDoubt : unavailable);
  assertClean(answer);
}

/** Returns the answer and asserts that it did not take long. */
export async function inTime(request: Promise<Answer>): Promise<Answer> {
  const since = performance.now();
  const answer = await request;
  const took = performance.now() - since;
  assert.ok(took < MAX_ANSWER_MS, `answered after ${Math.round(took)} ms`);
  return answer;
}

/** Asserts that every kind of request is refused soon and that the process lives. */
export async function assertAway({ call }: Service, table: string, user: User): Promise<void> {
  const pipeline = [{ $count: 'n' }];
  const answers = await Promise.all(
    [
      call('GET', path(table, 'counter')),
      call('GET', path(table), { query: { where: { n: { $gte: 0 } }, order: '-n' } }),
      call('POST', path(table), { body: { tag: 'never' } }),
      call('PUT', path(table, 'counter'), { body: { tag: 'never' } }),
      call('DELETE', path(table, 'counter')),
      call('GET', `/platform/classes-aggregate/${table}`, { query: { pipeline } }),
      login({ call }, { username: user.username, password }),
      me({ call }, user.token),
    ].map(inTime),
  );
  for (const answer of answers) assertUnavailable(answer);
  const requests = [{ method: 'POST', path: path(table), body: { tag: 'never' } }];
  const batch = await inTime(call('POST', '/platform/batch', { body: { requests } }));
  // A batch that has begun reports it for each item.
  if (batch.status === 200) assert.deepEqual(batch.body, [{ error: unavailable }]);
  else assertUnavailable(batch);
  assert.equal((await inTime(call('GET', '/health/live'))).status, 200);
}

/** Writers and readers of a new table. */
export class Load {
  readonly table = unique('Load');
  /** Number of acknowledged writes. */
  acknowledged = 0;
  /** Number of requests that met no database. */
  unavailable = 0;
  readonly #services: readonly Service[];
  readonly #acknowledgedTags = new Set<string>();
  readonly #sentTags = new Set<string>();
  /** Increments that were acknowledged, and that were sent. */
  #min = 0;
  #max = 0;
  #isOver = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(services: readonly Service[]) {
    this.#services = services;
  }

  /** Creates the table and starts the clients. */
  async start(clients = 8): Promise<void> {
    const [service] = this.#services;
    const made = await service?.call('POST', path(this.table), { body: { objectId: 'counter', tag: 'counter', n: 0 } });
    assert.equal(made?.status, 201, made?.text);
    this.#isOver = false;
    this.#running = Promise.all(Array.from({ length: clients }, (_, n) => this.#client(n)));
    // Awaited in `stop`.
    this.#running.catch(() => {});
  }

  /** Waits for the clients to end. @throws the first failure of a client */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  /** Compares the stored records with the acknowledged ones. */
  async verify(): Promise<void> {
    const [service] = this.#services;
    const answer = await service?.call('GET', path(this.table), { query: { limit: 1_000_000 } });
    assert.equal(answer?.status, 200, answer?.text);
    const tags = new Map<string, number>();
    for (const { tag, n } of answer?.body.results ?? []) {
      if (tag === 'counter') assert.ok(n >= this.#min && n <= this.#max, `${n} is not within ${this.#min} and ${this.#max}`);
      else tags.set(tag, (tags.get(tag) ?? 0) + 1);
    }
    for (const [tag, count] of tags) assert.ok(count === 1 && this.#sentTags.has(tag), `${tag} is there ${count} times`);
    for (const tag of this.#acknowledgedTags) assert.ok(tags.has(tag), `${tag} was acknowledged and is not there`);
  }

  async #client(client: number): Promise<void> {
    const service = this.#services[client % this.#services.length];
    assert.ok(service);
    for (let n = 0; !this.#isOver; n++) {
      const tag = `${client}-${n}`;
      const create = () => service.call('POST', path(this.table), { body: { tag } });
      this.#sentTags.add(tag);
      if (await this.#ask(create(), 201)) {
        this.#acknowledgedTags.add(tag);
        this.acknowledged++;
      }
      this.#max++;
      const body = { n: { __op: 'Increment', amount: 1 } };
      if (await this.#ask(service.call('PUT', path(this.table, 'counter'), { body }), 200)) {
        this.#min++;
        this.acknowledged++;
      }
      await this.#ask(service.call('GET', path(this.table), { query: { where: { tag } } }), 200);
    }
  }

  /** Returns whether the request succeeded. Otherwise the database is away, and the client waits. */
  async #ask(request: Promise<Answer>, expected: number): Promise<boolean> {
    const answer = await inTime(request);
    if (answer.status === expected) return true;
    assertUnavailable(answer, true);
    this.unavailable++;
    await wait(20);
    return false;
  }
}
