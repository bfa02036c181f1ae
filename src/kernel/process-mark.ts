import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { newSecret } from './ids.ts';

/** States of a process that has ended but was not waited for. */
const ended: ReadonlySet<string> = new Set(['Z', 'X']);
/** Positions of state and start time in /proc/PID/stat, counted after the process name. */
const [STATE, BEGAN] = [0, 19];

const form = /^([0-9a-f]{12})-([1-9]\d*)-(\d+)$/;

/**
 * Identifies this process for others that share a directory with it: machine and process namespace, process id, and start time. If these are
 * unknown it is a random name. Used in names of files.
 */
export function processMark(): string {
  own ??= ownMark();
  return own;
}

/** Cached, since every upload uses it. */
let own: string | undefined;

function ownMark(): string {
  const began = statusOf(process.pid)?.began;
  return view === null || began === undefined ? newSecret() : `${view}-${process.pid}-${began}`;
}

/** Whether a process has certainly ended. @param mark as `processMark` returned it; false for any other */
export function hasEnded(mark: string): boolean {
  const [, of, pid, began] = form.exec(mark) ?? [];
  if (view === null || of !== view) return false;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    // EPERM means that the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  const status = statusOf(Number(pid));
  return status !== null && (status.began !== began || ended.has(status.state));
}

/** Identifies the boot of the machine and the process namespace; `null` if these are unknown. */
const view = viewOf();

function viewOf(): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const spaces = ['pid', 'time'].map((name) => readlinkSync(`/proc/self/ns/${name}`));
    return createHash('sha256')
      .update(JSON.stringify([hostname(), boot, ...spaces]))
      .digest('hex')
      .slice(0, 12);
  } catch {
    return null;
  }
}

function statusOf(pid: number): { state: string; began: string } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may hold anything.
    const words = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state, began] = [words[STATE], words[BEGAN]];
    return state !== undefined && began !== undefined ? { state, began } : null;
  } catch {
    return null;
  }
}
