import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { newSecret } from './ids.ts';

/** States of a process that has ended and that nobody has waited for. */
const ended: ReadonlySet<string> = new Set(['Z', 'X']);
/** Where the operating system says when a process began, by the words after its name. */
const [STATE, BEGAN] = [0, 19];

const form = /^([0-9a-f]{12})-([1-9]\d*)-(\d+)$/;

/**
 * Names this process for others that share a directory with it: the machine and the processes that see each other, its number, and when it
 * began. Where that cannot be told it is a name of which nothing is known. It is part of names of files.
 */
export function processMark(): string {
  own ??= ownMark();
  return own;
}

/** Read once: each upload is named by it. */
let own: string | undefined;

function ownMark(): string {
  const began = statusOf(process.pid)?.began;
  return view === null || began === undefined ? newSecret() : `${view}-${process.pid}-${began}`;
}

/** Whether a process has ended for certain. @param mark as `processMark` made it; of any other nothing is known */
export function hasEnded(mark: string): boolean {
  const [, of, pid, began] = form.exec(mark) ?? [];
  if (view === null || of !== view) return false;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    // Others may run under another user.
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  const status = statusOf(Number(pid));
  return status !== null && (status.began !== began || ended.has(status.state));
}

/** Names the machine since it was started, and which of its processes this one sees; `null` where that cannot be told. */
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
    // The name, in brackets, may hold anything.
    const words = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state, began] = [words[STATE], words[BEGAN]];
    return state !== undefined && began !== undefined ? { state, began } : null;
  } catch {
    return null;
  }
}
