import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

const LOW_PRIORITY = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * Gives other processes precedence: lowers the priority of this process and binds it to one processor. On a fully loaded machine a process waits
 * briefly
 * even for one of low priority, so the others need free processors. Threads created later inherit both.
 *
 * Best effort: if the operating system refuses, the work runs normally.
 */
export function goBehind(): void {
  // Already lowered by the caller of the process.
  if (getPriority() >= LOW_PRIORITY) return;
  attempt(() => setPriority(LOW_PRIORITY));
  if (process.platform !== 'linux') return;
  // Linux sets priorities per thread, and Node has started threads by now.
  attempt(() => {
    for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), LOW_PRIORITY);
  });
  attempt(() => {
    const processors = allowedProcessors(readFileSync('/proc/self/status', 'utf8'));
    if (processors.length < 2) return;
    // Several such processes are spread over the processors.
    const one = processors[process.pid % processors.length];
    execFileSync('taskset', ['-a', '-c', '-p', String(one), String(process.pid)], { stdio: 'ignore' });
  });
}

/** Returns the processors that a process may use. @param status content of `/proc/…/status`, with `Cpus_allowed_list: 0-3,8` */
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
    // The process then runs at normal priority.
  }
}
