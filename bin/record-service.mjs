#!/usr/bin/env node
/** The operator's program: the TypeScript sources in a clone, the built JavaScript in the published package. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, findNode, flagsOf, launching, root, run } from '../scripts/runtime.mjs';

launching(() => {
  const sources = join(root, 'src/main.ts');
  const isClone = existsSync(sources);
  if (isClone) ensureInstalled({ production: true });
  const main = isClone ? sources : join(root, 'dist/main.js');
  const args = process.argv.slice(2);
  run(findNode(), [...flagsOf(args[0]), main, ...args]);
});
