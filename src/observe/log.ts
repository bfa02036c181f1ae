import { type Logger, pino, stdSerializers } from 'pino';
import { stderrLines } from './log-lines.ts';

export type { Logger };

/**
 * Creates the log of the process: JSON lines on stderr; stdout is for operators. Callers log paths without their query, never headers, bodies or
 * query strings, since all of them may carry credentials. Reference: operations.md#log-lines.
 */
export function createLog(level: string): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: plainError } };
  return pino(options, stderrLines);
}

/** Keeps only harmless properties of an error; databases put values of records into others. */
function plainError(error: Error): object {
  const { type, message, stack } = stdSerializers.err(error);
  const { code, constraint } = error as { readonly code?: unknown; readonly constraint?: unknown };
  return { type, message, stack, code, constraint };
}
