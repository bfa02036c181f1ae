/** Clients that go on while the database goes away: what they were promised has to be there afterwards, and nothing twice. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { assertClean, path, unique } from '../support/records.ts';
import type { Answer, Service } from '../support/service.ts';
import { login, me, password, type User } from '../support/users.ts';

/** Within this every request is answered, whatever the database does, in milliseconds. */
const ANSWERED = 5_000;

const unavailable = { code: 1, error: 'server error: the service is not available now' };

const inDoubt = { code: 1, error: 'server error: the outcome of this write is unknown', inDoubt: true };

/** The refusal while the database is away: the catalogue's, and nothing of the inside. A write that was under way may be in doubt. */
function assertUnavailable(answer: Answer, mayBeInDoubt = false): void {
  assert.equal(answer.status, 503, answer.text);
  assert.deepEqual(answer.body, mayBeInDoubt && answer.body.inDoubt ? inDoubt : unavailable);
  assertClean(answer);
}

/** The answer, which may not take long. */
export async function inTime(request: Promise<Answer>): Promise<Answer> {
  const since = performance.now();
  const answer = await request;
  const took = performance.now() - since;
  assert.ok(took < ANSWERED, `answered after ${Math.round(took)} ms`);
  return answer;
}

/** Every kind of request is refused, soon, while the process lives. */
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
  // A batch that has begun tells it of each of its items.
  if (batch.status === 200) assert.deepEqual(batch.body, [{ error: unavailable }]);
  else assertUnavailable(batch);
  assert.equal((await inTime(call('GET', '/health/live'))).status, 200);
}

/** Writers and readers of a table of their own. */
export class Load {
  readonly table = unique('Load');
  /** How many writes were answered with success. */
  acknowledged = 0;
  /** How many requests met no database. */
  unavailable = 0;
  readonly #services: readonly Service[];
  readonly #promised = new Set<string>();
  readonly #tried = new Set<string>();
  #least = 0;
  #most = 0;
  #over = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(services: readonly Service[]) {
    this.#services = services;
  }

  /** Makes the table and sets the clients to work. */
  async start(clients = 8): Promise<void> {
    const [service] = this.#services;
    const made = await service?.call('POST', path(this.table), { body: { objectId: 'counter', tag: 'counter', n: 0 } });
    assert.equal(made?.status, 201, made?.text);
    this.#over = false;
    this.#running = Promise.all(Array.from({ length: clients }, (_, n) => this.#client(n)));
    // It is awaited in stop.
    this.#running.catch(() => {});
  }

  /** Waits for the clients to end. @throws what one of them found */
  async stop(): Promise<void> {
    this.#over = true;
    await this.#running;
  }

  /** Holds what is stored against what was promised. */
  async verify(): Promise<void> {
    const [service] = this.#services;
    const answer = await service?.call('GET', path(this.table), { query: { limit: 1_000_000 } });
    assert.equal(answer?.status, 200, answer?.text);
    const tags = new Map<string, number>();
    for (const { tag, n } of answer?.body.results ?? []) {
      if (tag === 'counter')
        assert.ok(n >= this.#least && n <= this.#most, `${n} is not within ${this.#least} and ${this.#most}`);
      else tags.set(tag, (tags.get(tag) ?? 0) + 1);
    }
    for (const [tag, count] of tags) assert.ok(count === 1 && this.#tried.has(tag), `${tag} is there ${count} times`);
    for (const tag of this.#promised) assert.ok(tags.has(tag), `${tag} was promised and is not there`);
  }

  async #client(client: number): Promise<void> {
    const service = this.#services[client % this.#services.length];
    assert.ok(service);
    for (let n = 0; !this.#over; n++) {
      const tag = `${client}-${n}`;
      const create = () => service.call('POST', path(this.table), { body: { tag } });
      this.#tried.add(tag);
      if (await this.#ask(create(), 201)) {
        this.#promised.add(tag);
        this.acknowledged++;
      }
      this.#most++;
      const body = { n: { __op: 'Increment', amount: 1 } };
      if (await this.#ask(service.call('PUT', path(this.table, 'counter'), { body }), 200)) {
        this.#least++;
        this.acknowledged++;
      }
      await this.#ask(service.call('GET', path(this.table), { query: { where: { tag } } }), 200);
    }
  }

  /** Whether it succeeded; else the database is away, and the client takes its time. */
  async #ask(request: Promise<Answer>, expected: number): Promise<boolean> {
    const answer = await inTime(request);
    if (answer.status === expected) return true;
    assertUnavailable(answer, true);
    this.unavailable++;
    await wait(20);
    return false;
  }
}
