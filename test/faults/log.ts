/** What the log tells of conditions: when one began and when it ended, and not of each request that met it. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';

export type Line = Record<string, any>;

/** The lines of the log in what a service printed; one that is cut off is none. */
export const linesOf = (output: string): Line[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Line);

/** The conditions that began, or ended, in the order of the log. */
export const conditionsThat = (what: 'began' | 'ended', lines: readonly Line[]): string[] =>
  lines
    .filter(({ condition, msg }) => condition !== undefined && msg === `${condition}: ${what}`)
    .map(({ condition }) => condition);

/** Lines of a fault that lasts some seconds: more are told for each request. */
const MOST_LINES = 15;

export function assertBounded(lines: readonly Line[]): void {
  const sample = lines.slice(0, 5).map((line) => JSON.stringify(line).slice(0, 400));
  assert.ok(lines.length <= MOST_LINES, `${lines.length} lines in the log:\n${sample.join('\n')}`);
}

/** Conditions that began and have not ended. */
export function conditionsOpen(lines: readonly Line[]): string[] {
  const left = Map.groupBy(conditionsThat('began', lines), (name) => name);
  for (const name of conditionsThat('ended', lines)) left.get(name)?.pop();
  return [...left].filter(([, began]) => began.length > 0).map(([name]) => name);
}

/** What the log says of each condition that began. */
const told = (lines: readonly Line[]): string =>
  lines
    .filter(({ condition }) => condition !== undefined)
    .map((line) => JSON.stringify(line).slice(0, 1_000))
    .join('\n');

/** Waits until each condition that began has ended: five seconds after it was last met. */
export async function allEnded(output: () => string, withinMs = 12_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  const open = () => conditionsOpen(linesOf(output()));
  while (open().length > 0) {
    assert.ok(Date.now() < deadline, `conditions that never ended: ${open()}\n${told(linesOf(output()))}`);
    await wait(100);
  }
}
