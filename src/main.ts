import { constants } from 'node:os';
import { goBehind } from './background.ts';

// The system ignores signals to process 1 of a container that it does not handle. Until the service does, it ends as any other process would.
if (process.pid === 1)
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
    });

// Imported after lowering the priority, since loading is part of the work.
const args = process.argv.slice(2);
// `backup list` and `backup verify` only read backups, not the served stores.
const readsServed =
  args[0] === 'backup' ? args[1] !== 'list' && args[1] !== 'verify' : args[0] === 'system' && args[1] === 'clone';
if (readsServed) goBehind();
// A reader of the output, such as `head`, may leave before its end.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
const { run } = await import('./run.ts');
process.exitCode = await run(args);
