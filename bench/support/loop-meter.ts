/**
 * Loaded into a service by `--import`: measures its event loop from inside. On SIGUSR2 it prints a line to standard error and starts anew.
 * A turn is what passes between two calls of a timer of one millisecond: by the clock, which other processes of the machine lengthen, and by the
 * processor time of the thread, which they do not.
 */
import { constants, PerformanceObserver, performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** What the line holds, in milliseconds: the longest turn, and the longest pause of the collector, for young objects and for all. */
export interface LoopFigures {
  readonly turn: number;
  readonly cpu: number;
  readonly young: number;
  readonly whole: number;
}

export const LINE = 'loop-meter ';

const threadMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

function measure(): void {
  let longest = { turn: 0, cpu: 0, young: 0, whole: 0 };
  let at = performance.now();
  let cpuAt = threadMs();
  const tick = () => {
    const now = performance.now();
    const cpuNow = threadMs();
    longest.turn = Math.max(longest.turn, now - at);
    longest.cpu = Math.max(longest.cpu, cpuNow - cpuAt);
    at = now;
    cpuAt = cpuNow;
  };
  setInterval(tick, 1).unref();
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration, detail } = entry as { readonly duration: number; readonly detail?: { readonly kind?: number } };
      const kind = detail?.kind === constants.NODE_PERFORMANCE_GC_MINOR ? 'young' : 'whole';
      longest[kind] = Math.max(longest[kind], duration);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  process.on('SIGUSR2', () => {
    tick();
    process.stderr.write(`${LINE}${JSON.stringify(longest)}\n`);
    longest = { turn: 0, cpu: 0, young: 0, whole: 0 };
  });
}

// Worker threads load it too.
if (isMainThread) measure();
