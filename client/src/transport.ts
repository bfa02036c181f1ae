import { RecordServiceError } from './error.ts';
import {
  DEFAULT_RETRIES,
  delayBefore,
  isDefinite,
  isOutcomeUnknown,
  isTransient,
  pause,
  type RetryPolicy,
  retryAfter,
} from './retry.ts';
import { newId, toJson } from './wire.ts';

/** `fetch`, or a function that stands in its place. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** What every request may be given. */
export interface CallOptions {
  /** Ends the request; the call then throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Timeout of each attempt in milliseconds; 0: none. */
  readonly timeoutMs?: number | undefined;
  /** Repetitions, or their number. */
  readonly retries?: RetryPolicy | number | undefined;
}

/** What every write may be given. */
export interface WriteOptions extends CallOptions {
  /** The name of this write: a repetition with it has one effect, for 24 hours. Made by the client otherwise; `false`: none, and no repetition. */
  readonly idempotencyKey?: string | false | undefined;
}

export interface Settings extends CallOptions {
  /** Without a slash at its end. */
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
}

/** A request below the base of the service. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly bytes?: NonNullable<RequestInit['body']>;
  readonly headers?: Readonly<Record<string, string>>;
  /** `read`: may be repeated. `keyed`: may be repeated with an idempotency key. `once`: never repeated. */
  readonly effect: 'read' | 'keyed' | 'once';
  /** Whether a success has no text. */
  readonly isAnsweredEmpty?: boolean;
}

export interface Answer<T> {
  readonly body: T;
  readonly requestId: string | undefined;
}

/** Timeout of an attempt: longer than the time limits of the service. */
const DEFAULT_TIMEOUT_MS = 90_000;

/** Characters of a query string. A longer query travels in a body, because servers and proxies bound addresses. */
const MAX_QUERY_LENGTH = 4_000;

/** Sends requests, and repeats those that may be repeated. */
export class Transport {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Returns a transport with other headers. */
  with(headers: Settings['headers']): Transport {
    return new Transport({ ...this.#settings, headers });
  }

  /** Reads; parameters that are `undefined` are not sent. @throws RecordServiceError */
  async read<T>(path: string, query: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<T> {
    const text = queryText(query);
    const isLong = text.length > MAX_QUERY_LENGTH;
    const call: Call = isLong
      ? { method: 'POST', path, json: { ...query, _method: 'GET' }, effect: 'read' }
      : { method: 'GET', path, query, effect: 'read' };
    return (await this.send<T>(call, options)).body;
  }

  /** @throws RecordServiceError; the reason of an aborted signal; TypeError for what cannot be sent */
  async send<T>(call: Call, options: WriteOptions = {}): Promise<Answer<T>> {
    const { base, retries, fetch: _, ...settings } = this.#settings;
    const key = call.effect === 'keyed' && options.idempotencyKey !== false ? (options.idempotencyKey ?? newId()) : undefined;
    const limits: CallOptions = { ...settings, ...defined(options) };
    const policy = { ...DEFAULT_RETRIES, ...given(retries), ...given(options.retries) } as typeof DEFAULT_RETRIES;
    const repeats = call.effect === 'read' || key !== undefined ? policy.count : 0;
    const url = `${base}${call.path}${call.query ? queryText(call.query, '?') : ''}`;
    const body = call.json === undefined ? call.bytes : toJson(call.json);
    const headers = new Headers({ ...settings.headers, ...call.headers });
    if (call.json !== undefined) headers.set('Content-Type', 'application/json');
    if (key !== undefined) headers.set('Idempotency-Key', key);

    let inDoubt = false;
    for (let attempt = 0; ; attempt++) {
      headers.set('X-Request-Id', newId());
      // A redirect would carry the credential to another address.
      const init: RequestInit = { method: call.method, headers, redirect: 'manual', ...(body !== undefined && { body }) };
      const answer = await this.#attempt<T>(url, init, limits, call.isAnsweredEmpty);
      if (!(answer instanceof RecordServiceError)) return answer;
      inDoubt ||= answer.inDoubt || (call.effect !== 'read' && isOutcomeUnknown(answer));
      answer.inDoubt = inDoubt && !isDefinite(answer);
      const delayMs = attempt < repeats && isTransient(answer) ? delayBefore(attempt, answer, policy) : undefined;
      if (delayMs === undefined) throw answer;
      await pause(delayMs, limits.signal);
    }
  }

  /** Sends a request once. @throws the reason of an aborted signal */
  async #attempt<T>(
    url: string,
    init: RequestInit,
    options: CallOptions,
    isAnsweredEmpty = false,
  ): Promise<Answer<T> | RecordServiceError> {
    const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    const requestId = (init.headers as Headers).get('X-Request-Id') ?? undefined;
    const controller = new AbortController();
    const abort = () => controller.abort(signal?.reason);
    if (signal?.aborted) throw signal.reason;
    signal?.addEventListener('abort', abort);
    let isLate = false;
    const late = () => {
      isLate = true;
      controller.abort();
    };
    // A longer timer than this would end at once.
    const timer = timeoutMs > 0 && timeoutMs < 2 ** 31 ? setTimeout(late, timeoutMs) : undefined;
    try {
      const response = await this.#settings.fetch(url, { ...init, signal: controller.signal });
      const text = await response.text();
      if (isAnsweredEmpty && response.ok && text === '') return { body: undefined as T, requestId };
      return answerOf<T>(response, text, requestId);
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      if (isLate)
        return new RecordServiceError(`The service did not answer within ${timeoutMs} ms.`, {
          kind: 'timeout',
          requestId,
          cause,
        });
      const code = (cause as { cause?: { code?: unknown } } | null)?.cause?.code;
      const why = typeof code === 'string' ? `: ${code}` : '';
      return new RecordServiceError(`The service did not answer${why}.`, { kind: 'network', requestId, cause });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }
}

function answerOf<T>({ status, headers }: Response, text: string, sentId: string | undefined): Answer<T> | RecordServiceError {
  const requestId = headers.get('X-Request-Id') ?? sentId;
  const body = parsed(text);
  const isError = status < 200 || status > 299;
  if (!isError && body !== undefined) return { body: body as T, requestId };
  const failure = { status, requestId, retryAfterMs: retryAfter(headers.get('Retry-After')) };
  // Browsers hide the status of a redirect that they do not follow.
  if (status === 0 || (status > 299 && status < 400))
    return new RecordServiceError('The service redirects: give its final address as url.', { ...failure, kind: 'answer' });
  if (typeof body !== 'object' || body === null)
    return new RecordServiceError(`An answer with status ${status} that is not the service's: check url.`, {
      ...failure,
      kind: 'answer',
    });
  const { code, error } = body as { code?: unknown; error?: unknown };
  const words = typeof error === 'string' ? error : `The service refused the request (status ${status}, code ${String(code)}).`;
  return new RecordServiceError(words, { ...failure, kind: 'refused', body: body as Record<string, unknown> });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns parameters as a query string, objects as JSON text. */
function queryText(query: Readonly<Record<string, unknown>>, start = ''): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    parameters.set(name, typeof value === 'object' ? toJson(value) : String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : start + text;
}

const given = (retries: RetryPolicy | number | undefined): RetryPolicy =>
  typeof retries === 'number' ? { count: retries } : defined(retries ?? {});

/** Returns an object without members that are `undefined`, which would replace defaults. */
function defined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
