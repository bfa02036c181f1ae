/** Conditions in the log: their begin and end, and not each request that meets them. Reference: faults.md#conditions-in-the-log. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';

export type Line = Record<string, any>;

/** Parses the log lines in the output of a service. Skips a line that is cut off. */
export const linesOf = (output: string): Line[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Line);

/** Returns the conditions that began, or ended, in the order of the log. */
export const conditionsThat = (what: 'began' | 'ended', lines: readonly Line[]): string[] =>
  lines
    .filter(({ condition, msg }) => condition !== undefined && msg === `${condition}: ${what}`)
    .map(({ condition }) => condition);

/** Log lines allowed for a fault of some seconds. One line for each request would be more. */
const MAX_LINES = 15;

export function assertBounded(lines: readonly Line[]): void {
  const sample = lines.slice(0, 5).map((line) => JSON.stringify(line).slice(0, 400));
  assert.ok(lines.length <= MAX_LINES, `${lines.length} lines in the log:\n${sample.join('\n')}`);
}

/** Returns the conditions that began and have not ended. */
export function conditionsOpen(lines: readonly Line[]): string[] {
  const left = Map.groupBy(conditionsThat('began', lines), (name) => name);
  for (const name of conditionsThat('ended', lines)) left.get(name)?.pop();
  return [...left].filter(([, began]) => began.length > 0).map(([name]) => name);
}

/** Returns the log lines about conditions. */
const describeConditions = (lines: readonly Line[]): string =>
  lines
    .filter(({ condition }) => condition !== undefined)
    .map((line) => JSON.stringify(line).slice(0, 1_000))
    .join('\n');

/** Waits until every condition has ended, which is five seconds after it was last met. */
export async function allEnded(output: () => string, withinMs = 12_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  const open = () => conditionsOpen(linesOf(output()));
  while (open().length > 0) {
    assert.ok(Date.now() < deadline, `conditions that never ended: ${open()}\n${describeConditions(linesOf(output()))}`);
    await wait(100);
  }
}
