import { words } from '../words/index.ts';
import { ApiFailure, NoConnection } from './failure.ts';

const BY_CODE = new Map<number, string>([
  [101, words.errors.notFound],
  [116, words.errors.tooLarge],
  [119, words.errors.forbidden],
  [124, words.errors.timeout],
  [130, words.errors.tooLarge],
  [137, words.errors.duplicate],
  [140, words.errors.tooLarge],
  [142, words.errors.required],
  [155, words.errors.tooManyRequests],
]);

/** Describes a failure in the user's language. `detail`: the service's own text, in English. */
export function describe(error: unknown): { readonly text: string; readonly detail: string | null } {
  if (error instanceof NoConnection) return { text: words.shell.offline, detail: null };
  if (!(error instanceof ApiFailure)) return { text: words.errors.brokenText, detail: String(error) };
  const isPointedAt = error.code === 119 && /point/i.test(error.message);
  const text = isPointedAt ? words.errors.pointedAt : (BY_CODE.get(error.code) ?? byStatus(error.status));
  return { text, detail: error.message || null };
}

function byStatus(status: number): string {
  if (status === 403) return words.errors.forbidden;
  if (status === 413) return words.errors.tooLarge;
  if (status === 429) return words.errors.tooManyRequests;
  if (status === 503) return words.errors.unavailable;
  return status >= 500 ? words.errors.internal : words.errors.invalid;
}

/** Describes a failed sign-in in the user's language. */
export function describeSignIn(error: unknown): string {
  if (!(error instanceof ApiFailure)) return describe(error).text;
  const { signIn } = words;
  if (error.code === 155 || error.status === 429) return signIn.tooMany(waitText(error.retryAfter ?? 60));
  const minutes = /(\d+) minute/.exec(error.message)?.[1];
  if (minutes) return signIn.locked(words.time.minutes(Number(minutes)));
  if (/not active/i.test(error.message)) return signIn.inactive;
  if (error.code === 101) return signIn.wrong;
  if (error.status === 403 || error.status === 404) return error.code === 119 ? describe(error).text : signIn.unknownSystem;
  return describe(error).text;
}

function waitText(seconds: number): string {
  return seconds < 60 ? words.time.seconds(Math.ceil(seconds)) : words.time.minutes(Math.ceil(seconds / 60));
}
