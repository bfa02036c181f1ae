/** What a fault is to look like from outside, and whether it did. */
import assert from 'node:assert/strict';
import type { Probe, Tally } from './clients.ts';
import { assertBounded, conditionsOpen, conditionsThat, type Line } from './log.ts';

/** CONTRACT: all works within two seconds of the end of a fault. As much again for a machine that others use too. */
export const WITHIN_MS = 2_000 + 2_000;

/** What a fault is to look like from outside. What is left out is not asked. */
export interface Expected {
  /** Whether some writes are refused (or in doubt) meanwhile, or all are done. */
  writes?: 'fail' | 'work';
  reads?: 'fail' | 'work';
  /** `unavailable`: 503 within two seconds, and 200 again within two seconds of the end. `ready`: 200 all the time. */
  ready?: 'ready' | 'unavailable';
  /** What the log says that began; `null`: nothing did. */
  condition?: string | RegExp | null;
  /** Connections break, as where a process ends: such writes are in doubt. */
  broken?: boolean;
}

export function assertTally(during: Tally, expect: Expected): void {
  for (const kind of ['writes', 'reads'] as const) {
    const { done, refused, inDoubt, late, wrong } = during[kind];
    const failed = refused + inDoubt + late + wrong;
    const told = `${kind} meanwhile: ${JSON.stringify(during[kind])}`;
    if (expect[kind] === 'fail') assert.ok(failed > 0, `none failed; ${told}`);
    if (expect[kind] === 'work') assert.ok(failed === 0 && done > 0, `not all were done; ${told}`);
  }
}

/** @param before the lines before the fault: what ended less than five seconds ago, and is met again, goes on */
export function assertLog(lines: readonly Line[], before: readonly Line[], { condition }: Expected): void {
  assertBounded(lines);
  if (condition === undefined) return;
  const isExpected = (name: string) => (typeof condition === 'string' ? name === condition : condition?.test(name) === true);
  const began = conditionsThat('began', lines);
  const others = began.filter((name) => !isExpected(name));
  assert.deepEqual(others, [], 'other conditions than expected');
  const isTold = [...conditionsOpen(before), ...began].some(isExpected);
  assert.ok(condition === null || isTold, `the log tells nothing of ${condition}`);
}

export function assertHealth(probes: readonly Probe[], began: number, ended: number, { ready, broken }: Expected): void {
  const shown = (probe: Probe) =>
    `${probe.address} at ${Math.round(probe.at - began)} ms: ${probe.status} after ${Math.round(probe.ms)} ms`;
  if (!broken) {
    const deaf = probes.filter(
      ({ address, status, ms }) => status === 0 || ms > WITHIN_MS || (address === 'live' && status !== 200),
    );
    assert.deepEqual(deaf.map(shown), [], 'health that is not answered');
  }
  const meanwhile = probes.filter(({ address, at }) => address === 'ready' && at >= began);
  const unready = meanwhile.filter(({ status }) => status === 503);
  if (ready === 'ready') assert.deepEqual(unready.map(shown), [], 'not ready');
  if (ready === 'unavailable') {
    const [first] = unready;
    assert.ok(first, 'readiness never says so');
    assert.ok(first.at + first.ms - began <= WITHIN_MS, `readiness says so late: ${shown(first)}`);
    assert.equal(first.text, '{"status":"unavailable","checks":{"store":"unreachable"}}');
    const stillUnready = unready.filter(({ at }) => at > ended + WITHIN_MS);
    assert.deepEqual(stillUnready.map(shown), [], 'not ready afterwards');
  }
}
