import type { Row } from './rows.ts';

/**
 * Rows one by one, other work may come in between.
 * @param before done before each step
 * @param sorted the error of a step as it leaves the engine
 */
export function rowSteps(
  rows: IterableIterator<Row>,
  before: () => void,
  sorted: (error: unknown) => unknown,
): IterableIterator<Row> {
  const steps: IterableIterator<Row> = {
    [Symbol.iterator]: () => steps,
    next: () => {
      try {
        before();
        return rows.next();
      } catch (error) {
        throw sorted(error);
      }
    },
    return: (value) => {
      try {
        return rows.return?.(value) ?? { done: true, value };
      } catch {
        // The connection was opened anew: the rows went with the old one.
        return { done: true, value };
      }
    },
  };
  return steps;
}
