import { nextWriteOrder } from '../../../kernel/ids.ts';
import type { Schema } from '../../../schema/model.ts';
import { deletesRecord, hasEdits, textLength } from '../../column-values.ts';
import type { PreparedWrite, WriteOutcome, WritePlan } from '../../port.ts';
import { MAX_GROUP_TEXT, mayJoin, mayLock } from './group-limits.ts';
import { lockSetOf, recordsWithoutEdits } from './lock-set.ts';
import { isTableObstacle, obstaclesOf } from './obstacles.ts';
import { addInOrder, changesSchema, type Executor, type QueuedWrite } from './queued-write.ts';
import { excludes, type RunningGroup, WriteOrder } from './write-order.ts';

/** Options of a queue. */
export interface QueueOptions {
  /** Maximum writes of a group. */
  readonly maxGroupSize: number;
  /** Maximum concurrent groups. */
  readonly maxConcurrentGroups: number;
  /** Milliseconds for which other sessions' locks may delay a write. */
  readonly maxHeldMs: number;
  /** Returns the error of a write that was delayed longer. */
  readonly timeoutError: () => unknown;
  /** Called when writes of a group are durable. @param ms from their turn on */
  readonly onCommit?: (writes: number, ms: number) => void;
}

/** Delay before obstacles are probed again, doubled up to the maximum, in milliseconds. */
const MIN_RETRY_DELAY_MS = 100;
const MAX_RETRY_DELAY_MS = 400;

/** A lock held by another session. */
interface Obstacle {
  /** Time of the next probe, by `performance.now()`. */
  tryAt: number;
  delayMs: number;
}

/**
 * Collects the writes of a turn of the event loop into groups. While the maximum number of groups is running, further writes accumulate, so groups
 * grow with load. Writes of one turn keep their order, and no two groups write to the same record: they would only wait for each other.
 * A lock held by another session, such as a manual change of a table, delays only the writes that need it: their group gives up after a short time,
 * its other writes continue, and a probe group, beside all others, tries periodically whether the lock is free.
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

  /** Adds a write. @returns its outcome, once it is durable */
  add(write: PreparedWrite, plan: WritePlan, plannedUnder: Schema, behind = false): Promise<WriteOutcome> {
    return new Promise((resolve, reject) => {
      const entry: QueuedWrite = {
        write,
        order: write.order ?? nextWriteOrder(),
        // Each write-behind row counts as a turn of its own.
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
          entry.isCommitted = true;
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

  /** Resolves once nothing is waiting or running. */
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
    // Probe first: a delete can be probed only while no write-behind rows are running, and the next ones would start at once.
    if (this.#obstacles.size > 0) this.#probeObstacles();
    for (let group = this.#next(); group.length > 0; group = this.#next()) void this.#run(group);
    if (this.#waiting.length > 0 || this.#running.size > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #run(group: readonly QueuedWrite[], isProbe = false): Promise<void> {
    const [first] = group;
    const isChange = first !== undefined && changesSchema(first);
    const running: RunningGroup = {
      turns: new Set(isProbe ? [] : group.map(({ turn }) => turn)),
      records: new Set(group.flatMap(({ records }) => records)),
      isChange,
      isBehind: group.some(({ behind }) => behind),
      probe: isProbe ? this.#probeOf(group) : undefined,
    };
    this.#running.add(running);
    const began = performance.now();
    const probed = running.probe?.obstacles ?? [];
    const lockWait = isProbe && !probed.some(isTableObstacle) ? 'long' : 'short';
    const { retry, obstacles } = await (isChange ? this.#executor.executeChange(first) : this.#executor.execute(group, lockWait));
    this.#running.delete(running);
    const writes = group.filter(({ isCommitted }) => isCommitted).length;
    if (writes > 0) this.#options.onCommit?.(writes, performance.now() - began);
    for (const obstacle of probed) if (!obstacles.includes(obstacle)) this.#obstacles.delete(obstacle);
    for (const obstacle of obstacles) this.#recordObstacle(obstacle);
    this.#waiting.unshift(...retry);
    this.#start();
  }

  #probeOf(group: readonly QueuedWrite[]): RunningGroup['probe'] {
    const held = new WriteOrder();
    for (const entry of group) held.skipForObstacle(entry);
    const obstacles = group.flatMap((entry) => obstaclesOf(entry).filter((obstacle) => this.#obstacles.has(obstacle)));
    return { obstacles: [...new Set(obstacles)], held };
  }

  #recordObstacle(obstacle: string): void {
    const delayMs = Math.min(MAX_RETRY_DELAY_MS, 2 * (this.#obstacles.get(obstacle)?.delayMs ?? MIN_RETRY_DELAY_MS / 2));
    this.#obstacles.set(obstacle, { delayMs, tryAt: performance.now() + delayMs });
  }

  /** Probes obstacles that are due, one group at a time, and rejects writes that have waited too long. */
  #probeObstacles(): void {
    clearTimeout(this.#retry);
    const now = performance.now();
    this.#waiting = this.#waiting.filter((entry) => {
      if (entry.heldSince === 0 || now - entry.heldSince < this.#options.maxHeldMs) return true;
      entry.reject(this.#options.timeoutError());
      return false;
    });
    this.#probeDue(now);
    if (this.#obstacles.size === 0) return;
    const delays = [...this.#obstacles.values()].map(({ tryAt }) => tryAt - now).filter((delayMs) => delayMs > 0);
    this.#retry = setTimeout(() => this.#start(), Math.min(MAX_RETRY_DELAY_MS, ...delays));
  }

  #probeDue(now: number): void {
    for (const { probe } of this.#running) if (probe) return;
    const due = [...this.#obstacles].filter(([, { tryAt }]) => tryAt <= now).map(([obstacle]) => obstacle);
    if (due.length === 0) return;
    const group = this.#next(new Set(due));
    if (group.length > 0) {
      void this.#run(group, true);
      return;
    }
    // Forget obstacles that no waiting write needs. For the rest, if nothing is running, schedule another probe.
    for (const obstacle of due)
      if (!this.#waiting.some((entry) => obstaclesOf(entry).includes(obstacle))) this.#obstacles.delete(obstacle);
      else if (this.#running.size === 0) this.#recordObstacle(obstacle);
  }

  /**
   * Takes the writes to execute next, in their order; none if they must wait. Skips what waits for a schema change, which may take long
   * (schema-change.ts), or for an obstacle.
   * @param probed obstacles to probe: only writes that need one of them are taken
   */
  #next(probed?: ReadonlySet<string>): QueuedWrite[] {
    const group: QueuedWrite[] = [];
    if (this.#waiting.length === 0 || (!probed && this.#isFull())) return group;
    const skipped = new WriteOrder();
    const isBehind = this.#isBehind();
    const written = new Set<string>();
    const locked = new Set<string>();
    let edits = false;
    let taken = 0;
    let text = 0;
    for (const entry of this.#waiting) {
      if (group.length === this.#options.maxGroupSize || text > MAX_GROUP_TEXT) break;
      // Handled first, because there may be thousands of them.
      if (entry.behind && (isBehind || skipped.hasBehind)) {
        skipped.skipBehind(entry);
        taken++;
        continue;
      }
      // Do not replan yet: a schema change still pending in the same event-loop turn would outdate the plan.
      if (skipped.blocksTurn(entry) || this.#hasChangeOf(entry)) {
        skipped.skip(entry);
        taken++;
        continue;
      }
      if (!this.#isPlanned(entry)) {
        taken++;
        continue;
      }
      if (this.#obstacles.size > 0 && (skipped.blocksInTable(entry) || this.#isHeld(entry, probed))) {
        if (entry.behind && entry.heldSince === 0) skipped.skip(entry);
        else skipped.skipForObstacle(entry);
        taken++;
        continue;
      }
      if (skipped.blocks(entry) || this.#waitsForChange(entry) || (isBehind && deletesRecord(entry.plan))) {
        skipped.skip(entry);
        taken++;
        continue;
      }
      if (this.#mustWait(entry)) break;
      if (group.length > 0 && (changesSchema(entry) || !mayJoin(entry, written) || !mayLock(entry, locked))) break;
      if (group.length > 0 && (entry.isSuspect || group[0]?.isSuspect)) break;
      edits ||= hasEdits(entry.plan);
      // A group with JSON edits may be split into two transactions (resolve-edits.ts); a write with locks must not be, since its conditions are
      // checked in one transaction only.
      if (edits && group.length > 0 && locked.size + entry.locks.length > 0) break;
      for (const lock of entry.locks) locked.add(lock);
      for (const record of recordsWithoutEdits(entry)) written.add(record);
      group.push(entry);
      text += textLength(entry.plan);
      taken++;
      if (changesSchema(entry)) break;
    }
    this.#waiting.splice(0, taken, ...skipped.entries);
    return group;
  }

  #isFull(): boolean {
    let groups = 0;
    for (const { isChange, probe } of this.#running)
      if (!probe && (!isChange || this.#options.maxConcurrentGroups === 1)) groups++;
    return groups >= this.#options.maxConcurrentGroups;
  }

  /**
   * Returns whether a write must wait for an obstacle.
   * @param probed obstacles being probed: then all writes wait except those that need one of them, even if they need other obstacles as well, which
   * may be free by now
   */
  #isHeld(entry: QueuedWrite, probed: ReadonlySet<string> | undefined): boolean {
    for (const { probe } of this.#running) if (probe?.held.blocksInTable(entry)) return true;
    const needed = obstaclesOf(entry).filter((obstacle) => this.#obstacles.has(obstacle));
    const isHeld = probed ? !needed.some((obstacle) => probed.has(obstacle)) : needed.length > 0;
    if (needed.length > 0) entry.heldSince ||= performance.now();
    return isHeld;
  }

  /** Plans a write again if the schema has changed since. @returns false if that rejected it */
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

  /** Whether write-behind rows are running: only one group at a time, so that they keep their order. */
  #isBehind(): boolean {
    for (const { isBehind } of this.#running) if (isBehind) return true;
    return false;
  }
}
