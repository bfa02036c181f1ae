import { type Logger, pino, stdSerializers } from 'pino';
import { stderrLines } from './log-lines.ts';

export type { Logger };

/**
 * The log of the process: JSON lines on stderr, so that stdout stays for what an operator reads. Callers log paths without their query,
 * never headers, bodies or query strings, since all of them may carry credentials.
 */
export function createLog(level: string): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: plainError } };
  return pino(options, stderrLines);
}

/** What tells of a fault; databases put values of records into other properties of their errors. */
function plainError(error: Error): object {
  const { type, message, stack } = stdSerializers.err(error);
  const { code, constraint } = error as { readonly code?: unknown; readonly constraint?: unknown };
  return { type, message, stack, code, constraint };
}
