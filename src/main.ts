import { goBehind } from './background.ts';

// The program is loaded afterwards: that is a part of the work that goes behind.
const args = process.argv.slice(2);
// `backup list` and `backup verify` read what is not served.
if (args[0] === 'backup' && args[1] !== 'list' && args[1] !== 'verify') goBehind();
const { run } = await import('./run.ts');
process.exitCode = await run(args);
