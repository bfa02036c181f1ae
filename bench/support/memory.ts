import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Memory of a process in bytes. `own` excludes file pages, which the system can drop (0 if unknown). */
export interface Memory {
  resident: number;
  own: number;
}

/** Reads /proc, or runs `ps` without it; `undefined` if the process has ended. */
export function memoryOf(pid: number): Memory | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
    return { resident: field('VmRSS'), own: field('RssAnon') };
  } catch {
    return process.platform === 'linux' ? undefined : fromPs(pid);
  }
}

function fromPs(pid: number): Memory | undefined {
  try {
    return { resident: Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]).toString()) * 1024, own: 0 };
  } catch {
    return undefined;
  }
}

/** Samples a process every 10 ms until stopped. */
export class MemoryWatch {
  readonly start: Memory;
  readonly peak: Memory;
  readonly samples: number[] = [];
  private readonly timer: NodeJS.Timeout;

  constructor(pid: number) {
    this.start = memoryOf(pid) ?? { resident: 0, own: 0 };
    this.peak = { ...this.start };
    this.timer = setInterval(() => {
      const now = memoryOf(pid);
      if (!now || now.resident === 0) return;
      this.samples.push(now.resident);
      this.peak.resident = Math.max(this.peak.resident, now.resident);
      this.peak.own = Math.max(this.peak.own, now.own);
    }, 10);
  }

  stop(): void {
    clearInterval(this.timer);
  }
}
