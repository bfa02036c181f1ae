#!/usr/bin/env node
/** The operator's program: the TypeScript sources in a clone, the built JavaScript in the published package, which npm has installed. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { currentNode, flagsOf, launching, root, run } from '../scripts/runtime.mjs';

launching(async () => {
  const sources = join(root, 'src/main.ts');
  const args = process.argv.slice(2);
  if (!existsSync(sources)) return run(currentNode(), [...flagsOf(args[0]), join(root, 'dist/main.js'), ...args]);
  const { prepare } = await import('../scripts/install.mjs');
  run(await prepare({ production: true }), [...flagsOf(args[0]), sources, ...args]);
});
