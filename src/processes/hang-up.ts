import { isatty } from 'node:tty';

/** The standard streams that were a terminal when the process began. */
const terminals = [0, 1, 2].filter((stream) => isatty(stream));

/**
 * Whether a SIGHUP came because the terminal of the process is gone, and not because somebody sent it. Without a terminal (systemd, a container, `nohup`)
 * it never is.
 */
export function isHungUp(began: readonly number[] = terminals, isTerminal: (stream: number) => boolean = isatty): boolean {
  return began.length > 0 && !began.some((stream) => isTerminal(stream));
}
