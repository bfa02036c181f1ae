#!/usr/bin/env node
/** The operator's program: the TypeScript sources in a clone, the built JavaScript in the published package. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, findNode, launching, root, run } from '../scripts/runtime.mjs';

launching(() => {
  const sources = join(root, 'src/main.ts');
  const isClone = existsSync(sources);
  if (isClone) ensureInstalled({ production: true });
  const main = isClone ? sources : join(root, 'dist/main.js');
  const [command] = process.argv.slice(2);
  // Commands that go through many records make short-lived texts: a small young generation keeps memory low, at no cost in time.
  const memory = command === 'start' ? [] : ['--max-semi-space-size=8'];
  run(findNode(), [...memory, '--disable-warning=ExperimentalWarning', main, ...process.argv.slice(2)]);
});
