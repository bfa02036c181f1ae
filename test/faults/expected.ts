/** What clients, health addresses and the log show of a fault, and assertions on it. */
import assert from 'node:assert/strict';
import type { Probe, Tally } from './clients.ts';
import { assertBounded, conditionsOpen, conditionsThat, type Line } from './log.ts';

/** Everything works within two seconds of the end of a fault (faults.md#passing-faults). FAULT_SLACK_MS is added for a busy machine. */
export const WITHIN_MS = 2_000 + Number(process.env.FAULT_SLACK_MS ?? 2_000);

/** Expected effects of a fault. Those that are left out are not checked. */
export interface Expected {
  /** `fail`: some writes are refused or in doubt during the fault. `work`: all are done. */
  writes?: 'fail' | 'work';
  reads?: 'fail' | 'work';
  /** `unavailable`: 503 within two seconds, and 200 again within two seconds of the end. `ready`: 200 all the time. */
  ready?: 'ready' | 'unavailable';
  /** The condition that begins in the log; `null`: none. */
  condition?: string | RegExp | null;
  /** Connections break, as when a process ends: such writes are in doubt. */
  broken?: boolean;
}

export function assertTally(during: Tally, expect: Expected): void {
  for (const kind of ['writes', 'reads'] as const) {
    const { done, refused, inDoubt, late, wrong } = during[kind];
    const failed = refused + inDoubt + late + wrong;
    const tally = `${kind} meanwhile: ${JSON.stringify(during[kind])}`;
    if (expect[kind] === 'fail') assert.ok(failed > 0, `none failed; ${tally}`);
    if (expect[kind] === 'work') assert.ok(failed === 0 && done > 0, `not all were done; ${tally}`);
  }
}

/** @param before lines before the fault: a condition that ended less than five seconds ago continues and does not begin again */
export function assertLog(lines: readonly Line[], before: readonly Line[], { condition }: Expected): void {
  assertBounded(lines);
  if (condition === undefined) return;
  const isExpected = (name: string) => (typeof condition === 'string' ? name === condition : condition?.test(name) === true);
  const began = conditionsThat('began', lines);
  const others = began.filter((name) => !isExpected(name));
  assert.deepEqual(others, [], 'other conditions than expected');
  const isLogged = [...conditionsOpen(before), ...began].some(isExpected);
  assert.ok(condition === null || isLogged, `the log tells nothing of ${condition}`);
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
