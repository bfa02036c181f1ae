import { destination, type Logger, pino } from 'pino';

export type { Logger };

/**
 * The log of the process: JSON lines on stderr, so that stdout stays for what an operator reads. Callers log paths without their query,
 * never headers, bodies or query strings, since all of them may carry credentials.
 */
export function createLog(level: string): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination({ fd: 2, sync: true }));
}
