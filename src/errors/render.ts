import { ServiceError, serviceError } from './fail.ts';

/** What the caller sees of an error: HTTP status and JSON text (SPEC "Errors"). Faults of ours show nothing of themselves. */
export function renderError(error: unknown): { status: number; json: string } {
  const shown = error instanceof ServiceError ? error : serviceError('internal');
  return { status: shown.status, json: JSON.stringify({ code: shown.code, error: shown.message || undefined }) };
}
