/** Eight writers, four readers and a prober of the health addresses. They go on after any answer, and record those that are not allowed. */
import assert from 'node:assert/strict';
import { Agent, get } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { path } from '../support/records.ts';
import type { Answer, Service } from '../support/service.ts';
import { judge, judgeItem, type Verdict } from './answers.ts';
import type { Change, Entry, Ledger, Outcome } from './ledger.ts';

export const TABLE = 'Faulted';
const [WRITERS, READERS] = [8, 4];
/** Pause between two requests of a client: short enough that every fault meets writes, long enough to leave the processor to other suites. */
const PACE_MS = Number(process.env.FAULT_PACE_MS ?? 30);
/** Pause after a request that failed. */
const RETRY_DELAY_MS = 60;

/** Requests by outcome, of those that ended since the tally before. */
export interface Tally {
  writes: Record<Verdict | 'unanswered', number>;
  reads: Record<Verdict | 'unanswered', number>;
}

/** An answer of a health address. */
export interface Probe {
  address: 'ready' | 'live';
  /** When it was sent, by `performance.now()`. */
  at: number;
  ms: number;
  /** 0: no answer. */
  status: number;
  text: string;
}

const none = () => ({ done: 0, refused: 0, inDoubt: 0, late: 0, wrong: 0, unanswered: 0 });
export const emptyTally = (): Tally => ({ writes: none(), reads: none() });

export interface Clients {
  /** The first answers that are not allowed. */
  readonly violations: string[];
  readonly probes: Probe[];
  /** Waits until a read and a write of the tally so far are done. */
  areServed(withinMs: number): Promise<void>;
  /** Returns the tally so far and starts the next. */
  tally(): Tally;
  stop(): Promise<void>;
}

let nonces = 0;

/** @param at returns the service for each request, since it may be restarted */
export function startClients(at: () => Service, ledger: Ledger, name: string): Clients {
  const stopping = new AbortController();
  const violations: string[] = [];
  const probes: Probe[] = [];
  let current = emptyTally();

  const complain = (what: string, { status, text, headers }: Answer) => {
    if (violations.length < 50)
      violations.push(`${what}: ${status} ${text.slice(0, 300)} (Retry-After: ${headers.get('retry-after')})`);
  };

  /** Sends a request. Returns `undefined` if the connection broke. */
  async function send(kind: 'reads' | 'writes', method: string, address: string, body?: unknown): Promise<Answer | undefined> {
    try {
      return await at().call(method, address, { ...(body !== undefined && { body }) });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      current[kind].unanswered++;
      await wait(RETRY_DELAY_MS);
      return undefined;
    }
  }

  async function conclude(kind: 'reads' | 'writes', verdict: Verdict, what: string, answer: Answer): Promise<Verdict> {
    current[kind][verdict]++;
    if (verdict === 'wrong') complain(what, answer);
    if (verdict !== 'done') await wait(RETRY_DELAY_MS);
    return verdict;
  }

  function fieldsOf(nonce: string) {
    return { a: nonce, b: nonce, c: { nonce }, filler: 'x'.repeat(++nonces % 900) };
  }

  async function writer(number: number): Promise<void> {
    const own: Entry[] = [];
    const outcomeOf = (verdict: Verdict | undefined): Outcome =>
      verdict === 'done' || verdict === 'refused' ? verdict : 'inDoubt';
    const start = () => {
      const nonce = `n${++nonces}`;
      const entry = ledger.begin(`${name}w${number}-${nonces}`, nonce);
      return { entry, body: { tag: entry.tag, ...fieldsOf(nonce) } };
    };
    const created = (entry: Entry, verdict: Verdict | undefined, objectId?: string) => {
      entry.created.outcome = outcomeOf(verdict);
      if (objectId === undefined) return;
      entry.objectId = objectId;
      own.push(entry);
    };

    async function create() {
      const { entry, body } = start();
      const answer = await send('writes', 'POST', path(TABLE), body);
      if (!answer) return;
      const verdict = await conclude('writes', judge(answer, 'write', 201), 'create', answer);
      created(entry, verdict, answer.body?.objectId);
    }

    async function update() {
      const entry = own[Math.floor(Math.random() * own.length)];
      if (!entry?.objectId) return create();
      const change: Change = { nonce: `n${++nonces}`, outcome: 'inDoubt' };
      entry.updates.push(change);
      const answer = await send('writes', 'PUT', path(TABLE, entry.objectId), fieldsOf(change.nonce));
      if (!answer) return;
      change.outcome = outcomeOf(await conclude('writes', judge(answer, 'write', 200), 'update', answer));
    }

    async function batch() {
      const parts = Array.from({ length: 5 }, start);
      const [changed] = own;
      const change: Change = { nonce: `n${++nonces}`, outcome: 'inDoubt' };
      changed?.updates.push(change);
      const requests = [
        ...parts.map(({ body }) => ({ method: 'POST', path: path(TABLE), body })),
        ...(changed?.objectId ? [{ method: 'PUT', path: path(TABLE, changed.objectId), body: fieldsOf(change.nonce) }] : []),
      ];
      const answer = await send('writes', 'POST', '/platform/batch', { requests });
      if (!answer) return;
      const whole = judge(answer, 'write', 200);
      if (whole !== 'done' || !Array.isArray(answer.body)) {
        await conclude('writes', whole === 'done' ? 'wrong' : whole, 'batch', answer);
        for (const { entry } of parts) created(entry, whole);
        change.outcome = outcomeOf(whole);
        return;
      }
      const verdicts = requests.map((_, index) => judgeItem(answer.body[index]));
      for (const [index, { entry }] of parts.entries()) created(entry, verdicts[index], answer.body[index]?.success?.objectId);
      if (changed?.objectId) change.outcome = outcomeOf(verdicts[parts.length]);
      // If no item was done, the answer as a whole must be a refusal.
      const isWhollyRefused = verdicts.every((verdict) => verdict === 'refused');
      const worst = verdicts.find((verdict) => verdict !== 'done') ?? 'done';
      await conclude('writes', isWhollyRefused || verdicts.includes('wrong') ? 'wrong' : worst, 'batch', answer);
    }

    const steps = [create, update, batch, update, create, update];
    for (let turn = number; !stopping.signal.aborted; turn++) {
      await (steps[turn % steps.length] ?? create)();
      await wait(PACE_MS);
    }
  }

  async function reader(number: number): Promise<void> {
    const all = { where: { tag: { $exists: true } }, order: '-createdAt', limit: 20 };
    const pipeline = [{ $group: { _id: null, n: { $sum: 1 } } }];
    for (let turn = number; !stopping.signal.aborted; turn++, await wait(PACE_MS)) {
      const known = ledger.acknowledged;
      const entry = known[Math.floor(Math.random() * known.length)];
      if (turn % 3 === 0 && entry?.objectId) {
        const answer = await send('reads', 'GET', path(TABLE, entry.objectId));
        if (!answer) continue;
        const verdict = judge(answer, 'read', 200);
        const isKnown = verdict !== 'done' || ledger.seen(entry.tag).has(answer.body?.a);
        await conclude('reads', isKnown ? verdict : 'wrong', 'read of an acknowledged record', answer);
        continue;
      }
      const address = new URL(turn % 3 === 1 ? path(TABLE) : `/platform/classes-aggregate/${TABLE}`, 'http://all');
      for (const [field, value] of Object.entries(turn % 3 === 1 ? all : { pipeline }))
        address.searchParams.set(field, typeof value === 'object' ? JSON.stringify(value) : String(value));
      const answer = await send('reads', 'GET', address.pathname + address.search);
      if (answer) await conclude('reads', judge(answer, 'read', 200), 'read', answer);
    }
  }

  async function prober(): Promise<void> {
    // On connections that exist before the fault.
    const agents = { ready: new Agent({ keepAlive: true }), live: new Agent({ keepAlive: true }) };
    const probe = async (address: 'ready' | 'live') => {
      while (!stopping.signal.aborted) {
        probes.push(await ask(at().url, address, agents[address]));
        await wait(100);
      }
    };
    await Promise.all([probe('ready'), probe('live')]);
    for (const agent of Object.values(agents)) agent.destroy();
  }

  const running = [
    ...Array.from({ length: WRITERS }, (_, number) => writer(number)),
    ...Array.from({ length: READERS }, (_, number) => reader(number)),
    prober(),
  ];
  const all = Promise.all(running);
  all.catch(() => stopping.abort());
  return {
    violations,
    probes,
    async areServed(withinMs) {
      const deadline = performance.now() + withinMs;
      while (current.writes.done === 0 || current.reads.done === 0) {
        assert.ok(performance.now() < deadline, `clients are not served: ${JSON.stringify(current)}`);
        await wait(20);
      }
    },
    tally() {
      const ended = current;
      current = emptyTally();
      return ended;
    },
    async stop() {
      stopping.abort();
      await all;
    },
  };
}

function ask(url: string, address: Probe['address'], agent: Agent): Promise<Probe> {
  const at = performance.now();
  return new Promise((resolve) => {
    const end = (status: number, text: string) => resolve({ address, at, ms: performance.now() - at, status, text });
    const request = get(`${url}/health/${address}`, { agent }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part) => {
        text += part;
      });
      answer.once('end', () => end(answer.statusCode ?? 0, text));
      answer.once('error', () => end(0, text));
    });
    request.once('error', () => end(0, ''));
  });
}
