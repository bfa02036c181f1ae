/**
 * Writes what this process sends to databases in cluster mode to a file of the run, which holds it to the rules at its end
 * (test/support/statements.ts). Preloaded by services under test.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { STATEMENTS_VARIABLE } from './cluster-mode.ts';
import { recordStatements, shapeOf } from './recorder.ts';

// biome-ignore lint/style/noProcessEnv: this is how the runner tells its processes
const directory = process.env[STATEMENTS_VARIABLE];
// Preloads run in every thread, but only the main thread has connections.
if (isMainThread && directory !== undefined) {
  const file = join(directory, `${process.pid}`);
  const shapes = new Set<string>();
  recordStatements(({ text }) => {
    const shape = shapeOf(text);
    if (shapes.has(shape)) return;
    shapes.add(shape);
    appendFileSync(file, `${JSON.stringify(shape)}\n`);
  });
}
