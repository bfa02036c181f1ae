import { goBehind } from './background.ts';

// The program is loaded afterwards: that is a part of the work that goes behind.
const args = process.argv.slice(2);
if (args[0] === 'backup') goBehind();
const { run } = await import('./run.ts');
process.exitCode = await run(args);
