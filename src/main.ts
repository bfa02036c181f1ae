import { goBehind } from './background.ts';

// Imported after lowering the priority, since loading is part of the work.
const args = process.argv.slice(2);
// `backup list` and `backup verify` only read backups, not the served stores.
if (args[0] === 'backup' && args[1] !== 'list' && args[1] !== 'verify') goBehind();
const { run } = await import('./run.ts');
process.exitCode = await run(args);
