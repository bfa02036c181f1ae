import { readFileSync } from 'node:fs';

/** Clock ticks of /proc per second; 100 on every Linux machine that Node runs on. */
const TICKS_PER_SECOND = 100;
/** Indexes of user and system time in /proc/PID/stat, after the name, which may contain spaces. */
const [USER, SYSTEM] = [11, 12];

/** Returns the CPU time that a process and its threads have used, in seconds; `NaN` without /proc. */
export function cpuSecondsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[USER]) + Number(fields[SYSTEM])) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN;
  }
}
