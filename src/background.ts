import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

const LOW_PRIORITY = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * Lets all other processes go first: this one has a low priority, and keeps to one processor. A process that is short of a processor waits
 * for a moment even beside one of low priority; so it finds another one free. Threads that are made from now on inherit both.
 *
 * As far as the operating system lets it: without it the work is the same.
 */
export function goBehind(): void {
  // Who has given it a lower one already knows why.
  if (getPriority() >= LOW_PRIORITY) return;
  attempt(() => setPriority(LOW_PRIORITY));
  if (process.platform !== 'linux') return;
  // There a priority is that of a thread, and the engine has made some by now.
  attempt(() => {
    for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), LOW_PRIORITY);
  });
  attempt(() => {
    const processors = allowedProcessors(readFileSync('/proc/self/status', 'utf8'));
    if (processors.length < 2) return;
    // Several of them are spread.
    const one = processors[process.pid % processors.length];
    execFileSync('taskset', ['-a', '-c', '-p', String(one), String(process.pid)], { stdio: 'ignore' });
  });
}

/** The processors that a process may use. @param status of it, as Linux tells it: `Cpus_allowed_list: 0-3,8` among others */
function allowedProcessors(status: string): readonly number[] {
  const list = /^Cpus_allowed_list:\s*([\d,-]+)$/m.exec(status)?.[1] ?? '';
  return list.split(',').flatMap((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // It goes as fast as all others then.
  }
}
