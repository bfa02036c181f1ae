import { nextWriteOrder } from '../../../kernel/ids.ts';
import type { Schema } from '../../../schema/model.ts';
import { deletesRecord } from '../../column-values.ts';
import type { PreparedWrite, WriteOutcome, WritePlan } from '../../port.ts';
import { MAX_GROUP_TEXT, mayJoin, mayLock, textOf } from './group-limits.ts';
import { hasEdits } from './json-updates.ts';
import { lockSetOf, writtenAtOnce } from './lock-set.ts';
import { isTableObstacle, obstaclesOf } from './obstacles.ts';
import { addInOrder, changes, type Executor, type QueuedWrite } from './queued-write.ts';
import { excludes, type RunningGroup, WriteOrder } from './write-order.ts';

/** How a queue works. */
export interface QueueOptions {
  /** Writes that are carried out together. */
  readonly maxGroup: number;
  /** Groups under way at the same time. */
  readonly maxGroups: number;
  /** Milliseconds for which a write may be held up by others' locks. */
  readonly maxHeldMs: number;
  /** What it is rejected with then. */
  readonly tooLong: () => unknown;
}

/** Until what others hold is tried again: the first pause, doubled up to the longest, in milliseconds. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 400;

/** What others hold. */
interface Obstacle {
  /** By `performance.now()`. */
  tryAt: number;
  pause: number;
}

/**
 * Gathers the writes of a turn of the event loop into groups. While as many groups are under way as may be, further writes gather, so the
 * busier the service, the larger the groups. Writes of one turn keep their order, and no two groups write to one record: they would only
 * wait for each other.
 *
 * What somebody else holds, a table under a change by hand say, holds up those alone that need it: their group gives way after a moment, the
 * others of it go on, and one group beside all others tries now and then whether it can be had.
 */
export class WriteQueue {
  readonly #executor: Executor;
  readonly #options: QueueOptions;
  readonly #running = new Set<RunningGroup>();
  #waiting: QueuedWrite[] = [];
  #turn = 0;
  #rowsBehind = 0;
  #scheduled = false;
  #idle: (() => void)[] = [];
  readonly #obstacles = new Map<string, Obstacle>();
  #retry: NodeJS.Timeout | undefined;

  constructor(executor: Executor, options: QueueOptions) {
    this.#executor = executor;
    this.#options = options;
  }

  /** @returns what came of the write, once it is durable */
  add(write: PreparedWrite, plan: WritePlan, plannedUnder: Schema, behind = false): Promise<WriteOutcome> {
    return new Promise((resolve, reject) => {
      const entry: QueuedWrite = {
        write,
        order: write.order ?? nextWriteOrder(),
        // Each row that is written behind is a turn of its own.
        turn: behind ? -++this.#rowsBehind : this.#turn,
        behind,
        plan,
        ...lockSetOf(plan),
        plannedUnder,
        contention: undefined,
        heldSince: 0,
        isSuspect: false,
        isSettled: false,
        resolve(outcome) {
          entry.isSettled = true;
          resolve(outcome);
        },
        reject(error) {
          entry.isSettled = true;
          reject(error);
        },
      };
      addInOrder(entry, this.#waiting);
      this.#schedule();
    });
  }

  /** Resolves once nothing waits and nothing is under way. */
  whenIdle(): Promise<void> {
    if (this.#waiting.length === 0 && this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#turn++;
      this.#start();
    });
  }

  #start(): void {
    // First what is due: a delete is tried when no rows are being written behind, and the next ones begin at once.
    if (this.#obstacles.size > 0) this.#try();
    for (let group = this.#next(); group.length > 0; group = this.#next()) void this.#run(group);
    if (this.#waiting.length > 0 || this.#running.size > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #run(group: readonly QueuedWrite[], isTrial = false): Promise<void> {
    const [first] = group;
    const isChange = first !== undefined && changes(first);
    const running: RunningGroup = {
      turns: new Set(isTrial ? [] : group.map(({ turn }) => turn)),
      records: new Set(group.flatMap(({ records }) => records)),
      isChange,
      isBehind: group.some(({ behind }) => behind),
      trial: isTrial ? this.#trialOf(group) : undefined,
    };
    this.#running.add(running);
    const tried = running.trial?.obstacles ?? [];
    const patience = isTrial && !tried.some(isTableObstacle) ? 'long' : 'short';
    const { again, obstacles } = await (isChange ? this.#executor.executeChange(first) : this.#executor.execute(group, patience));
    this.#running.delete(running);
    for (const obstacle of tried) if (!obstacles.includes(obstacle)) this.#obstacles.delete(obstacle);
    for (const obstacle of obstacles) this.#met(obstacle);
    this.#waiting.unshift(...again);
    this.#start();
  }

  #trialOf(group: readonly QueuedWrite[]): RunningGroup['trial'] {
    const held = new WriteOrder();
    for (const entry of group) held.hold(entry);
    const obstacles = group.flatMap((entry) => obstaclesOf(entry).filter((obstacle) => this.#obstacles.has(obstacle)));
    return { obstacles: [...new Set(obstacles)], held };
  }

  #met(obstacle: string): void {
    const pause = Math.min(MAX_PAUSE_MS, 2 * (this.#obstacles.get(obstacle)?.pause ?? FIRST_PAUSE_MS / 2));
    this.#obstacles.set(obstacle, { pause, tryAt: performance.now() + pause });
  }

  /** Tries what others hold and is due, one group at a time, and rejects what has waited for too long. */
  #try(): void {
    clearTimeout(this.#retry);
    const now = performance.now();
    this.#waiting = this.#waiting.filter((entry) => {
      if (entry.heldSince === 0 || now - entry.heldSince < this.#options.maxHeldMs) return true;
      entry.reject(this.#options.tooLong());
      return false;
    });
    this.#tryDue(now);
    if (this.#obstacles.size === 0) return;
    const pauses = [...this.#obstacles.values()].map(({ tryAt }) => tryAt - now).filter((pause) => pause > 0);
    this.#retry = setTimeout(() => this.#start(), Math.min(MAX_PAUSE_MS, ...pauses));
  }

  #tryDue(now: number): void {
    for (const { trial } of this.#running) if (trial) return;
    const due = [...this.#obstacles].filter(([, { tryAt }]) => tryAt <= now).map(([obstacle]) => obstacle);
    if (due.length === 0) return;
    const group = this.#next(new Set(due));
    if (group.length > 0) {
      void this.#run(group, true);
      return;
    }
    // Nobody waits for it any more, or for something else first: then it is tried when that is done.
    for (const obstacle of due)
      if (!this.#waiting.some((entry) => obstaclesOf(entry).includes(obstacle))) this.#obstacles.delete(obstacle);
      else if (this.#running.size === 0) this.#met(obstacle);
  }

  /**
   * The writes to carry out next, in their order; none where they have to wait. What waits for a schema change, which may take its time
   * (schema-change.ts), or for what others hold, is passed over.
   * @param tried what others hold that is to be tried: only the writes that need some of it
   */
  #next(tried?: ReadonlySet<string>): QueuedWrite[] {
    const group: QueuedWrite[] = [];
    if (this.#waiting.length === 0 || (!tried && this.#isFull())) return group;
    const passed = new WriteOrder();
    const isBehind = this.#isBehind();
    const written = new Set<string>();
    const locked = new Set<string>();
    let edits = false;
    let taken = 0;
    let text = 0;
    for (const entry of this.#waiting) {
      if (group.length === this.#options.maxGroup || text > MAX_GROUP_TEXT) break;
      // There may be thousands of them.
      if (entry.behind && (isBehind || passed.hasBehind)) {
        passed.follow(entry);
        taken++;
        continue;
      }
      // Planned when its turn comes: a change that its turn waits for makes the plan a stale one.
      if (passed.holdsTurnOf(entry) || this.#hasChangeOf(entry)) {
        passed.add(entry);
        taken++;
        continue;
      }
      if (!this.#isPlanned(entry)) {
        taken++;
        continue;
      }
      if (this.#obstacles.size > 0 && (passed.holdsInOrder(entry) || this.#isHeld(entry, tried))) {
        if (entry.behind && entry.heldSince === 0) passed.add(entry);
        else passed.hold(entry);
        taken++;
        continue;
      }
      if (passed.holds(entry) || this.#waitsForChange(entry) || (isBehind && deletesRecord(entry.plan))) {
        passed.add(entry);
        taken++;
        continue;
      }
      if (this.#mustWait(entry)) break;
      if (group.length > 0 && (changes(entry) || !mayJoin(entry, written) || !mayLock(entry, locked))) break;
      if (group.length > 0 && (entry.isSuspect || group[0]?.isSuspect)) break;
      edits ||= hasEdits(entry.plan);
      // Of a group with edits the last writes may be left for another transaction (settle-updates.ts), conditions hold for one.
      if (edits && group.length > 0 && locked.size + entry.locks.length > 0) break;
      for (const lock of entry.locks) locked.add(lock);
      for (const record of writtenAtOnce(entry)) written.add(record);
      group.push(entry);
      text += textOf(entry.plan);
      taken++;
      if (changes(entry)) break;
    }
    this.#waiting.splice(0, taken, ...passed.entries);
    return group;
  }

  #isFull(): boolean {
    let groups = 0;
    for (const { isChange, trial } of this.#running) if (!trial && (!isChange || this.#options.maxGroups === 1)) groups++;
    return groups >= this.#options.maxGroups;
  }

  /**
   * Whether a write waits for what others hold.
   * @param tried what is to be tried of that: then all wait but those that need some of it. What they need besides may be free by now
   */
  #isHeld(entry: QueuedWrite, tried: ReadonlySet<string> | undefined): boolean {
    for (const { trial } of this.#running) if (trial?.held.holdsInOrder(entry)) return true;
    const needed = obstaclesOf(entry).filter((obstacle) => this.#obstacles.has(obstacle));
    const isHeld = tried ? !needed.some((obstacle) => tried.has(obstacle)) : needed.length > 0;
    if (needed.length > 0) entry.heldSince ||= performance.now();
    return isHeld;
  }

  /** Plans a write anew where the schema has changed since. @returns false where that rejected it */
  #isPlanned(entry: QueuedWrite): boolean {
    const schema = this.#executor.schema();
    if (entry.plannedUnder === schema) return true;
    try {
      entry.plan = entry.write.plan(schema);
      Object.assign(entry, lockSetOf(entry.plan));
      entry.plannedUnder = schema;
      return true;
    } catch (error) {
      entry.reject(error);
      return false;
    }
  }

  #hasChangeOf({ turn }: QueuedWrite): boolean {
    for (const running of this.#running) if (running.isChange && running.turns.has(turn)) return true;
    return false;
  }

  #waitsForChange(entry: QueuedWrite): boolean {
    for (const running of this.#running) if (running.isChange && excludes(running, entry)) return true;
    return false;
  }

  #mustWait(entry: QueuedWrite): boolean {
    for (const running of this.#running) if (excludes(running, entry)) return true;
    return false;
  }

  /** Whether rows are being written behind: one group at a time, since they keep the order in which they came. */
  #isBehind(): boolean {
    for (const { isBehind } of this.#running) if (isBehind) return true;
    return false;
  }
}
