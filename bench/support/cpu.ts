import { readFileSync } from 'node:fs';

/** Ticks of /proc in a second; Linux has this number on every machine that Node runs on. */
const TICKS_PER_SECOND = 100;
/** Fields of /proc/PID/stat behind the name, which may hold spaces: user and system time. */
const [USER, SYSTEM] = [11, 12];

/** CPU time that a process and its threads have used, in seconds; `NaN` where /proc does not tell. */
export function cpuSecondsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[USER]) + Number(fields[SYSTEM])) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN;
  }
}
