import { actorId, anonymous, type Principal } from '../access/index.ts';
import { mayBeLong } from '../admission/body-share.ts';
import { factsOf, type HttpRequest } from '../audit/index.ts';
import { fail } from '../errors/fail.ts';
import { annotateRequest, type CallObservation, type Observations, traced } from '../observe/index.ts';
import type { SharedPatterns } from '../query/regex/index.ts';
import { claimsFunction, errorToReport, type Progress, type RecordContext, type WriteHooks } from '../records/index.ts';
import type { Credentials, System, Systems } from '../systems/index.ts';
import { cachedPrincipal, principalOfSession } from '../users/index.ts';

/** Services that a caller's request needs. */
export interface RequestServices {
  readonly systems: Pick<Systems, 'acquire' | 'tryAcquire'>;
  readonly hooks: WriteHooks;
  /** The request log subscribes to it. */
  readonly observations: Pick<Observations, 'observe'>;
  /** The proxies whose forwarding headers are trusted. Reference: settings.md#trust_proxy. */
  readonly trustProxy: boolean | string[];
}

/** What the row of `_RequestLog` needs beyond what the request itself knows. */
export type LogEntry = Pick<CallObservation, 'method' | 'url'> & {
  readonly statusCode: number;
  /** See `CallObservation`. */
  readonly service?: 'mcp' | 'console';
  /** `null` if the row names no user; if omitted, the caller of the request. */
  readonly principal?: Principal | null;
  /** Start of the measured duration, by `performance.now()`; if omitted, the start of the request. */
  readonly startedAt?: number;
};

/**
 * One request of a caller to one system, for any protocol: acquire → authenticate → run → log → release (docs/ARCHITECTURE.md "The way of a
 * request").
 */
export class CallerRequest {
  /** By `performance.now()`. */
  readonly startedAt: number;
  /** Progress of the request's writes: an error reports whether any was committed. */
  readonly progress: Progress = { hasWritten: false };
  /** `null` until the caller is authenticated. */
  principal: Principal | null = null;
  /** Budget for regular expressions, shared by all queries of the request. */
  readonly #patterns: SharedPatterns = {};
  readonly #services: RequestServices;
  readonly #http: HttpRequest;
  #system: System | undefined;
  #credentials: object = {};
  #installationId: string | null = null;

  /** @param startedAt by `performance.now()`; if omitted, now */
  constructor(services: RequestServices, http: HttpRequest, startedAt: number = performance.now()) {
    this.#services = services;
    this.#http = http;
    this.startedAt = startedAt;
    // Read the address now: Fastify caches it, and a closed connection no longer has one.
    void http.ip;
  }

  /** The acquired system; `undefined` before `acquire`. */
  get system(): System | undefined {
    return this.#system;
  }

  /** The client's address; empty if the connection was closed. */
  get address(): string {
    return this.#http.ip ?? '';
  }

  /**
   * Acquires the system, once.
   * @param appId as sent by the client; a value that is no application id names no system
   * @throws unauthorized (403) if there is no such system; unavailable
   */
  async acquire(appId: unknown): Promise<System> {
    if (!this.tryAcquire(appId) && typeof appId === 'string') this.#system = await this.#services.systems.acquire(appId);
    return this.#system ?? fail('unauthorized');
  }

  /** Like `acquire`, but returns `undefined` if it would have to wait. */
  tryAcquire(appId: unknown): System | undefined {
    if (!this.#system && typeof appId === 'string') this.#system = this.#services.systems.tryAcquire(appId);
    return this.#system;
  }

  /** Records the credentials that were sent, so that the log can redact them. */
  recordCredentials(credentials: object, installationId: string | null = null): void {
    this.#credentials = credentials;
    this.#installationId = installationId;
  }

  /**
   * Authenticates the caller. Reference: authentication.md#credentials.
   * @throws invalidSession (209); TooManyRequests (155) after too many wrong keys from the address
   */
  async authenticate(credentials: Credentials): Promise<Principal> {
    return this.tryAuthenticate(credentials) ?? this.authenticateSession(credentials.sessionToken);
  }

  /** Like `authenticate`, for a session token only. @throws invalidSession (209) */
  async authenticateSession(token: unknown): Promise<Principal> {
    return this.setCaller(await principalOfSession(this.#acquired.store, token));
  }

  /** Like `authenticate`, but returns `null` if a session would have to be read. */
  tryAuthenticate(credentials: Credentials): Principal | null {
    const system = this.#acquired;
    const principal = system.principalFor(credentials, this.address) ?? cachedPrincipal(system.store, credentials.sessionToken);
    return principal && this.setCaller(principal);
  }

  /** Like `authenticate`, for the work of the request only: the log does not name this caller. */
  callerOf(credentials: Credentials): Promise<Principal> {
    return callerOf(this.#acquired, credentials, this.address);
  }

  /** Sets a caller that is known without credentials. */
  setCaller(principal: Principal): Principal {
    this.principal = principal;
    return principal;
  }

  /**
   * Returns the page that a write is attributed to in `_Timeline` (audit.md#timeline). Only session users have one; a `Referer` that names a function
   * is reserved for functions.
   */
  pageOf({ kind }: Principal): string | null {
    const { referer } = this.#http.headers;
    return kind === 'user' && referer !== undefined && !claimsFunction(referer) ? referer : null;
  }

  /** Returns the context of the request's reads and writes. @param referer see `RecordContext` */
  contextOf(principal: Principal, referer: string | null = null): RecordContext {
    const { appId, store } = this.#acquired;
    const { hooks } = this.#services;
    const { id: requestId, headers } = this.#http;
    const context = { appId, store, principal, hooks, patterns: this.#patterns, referer, progress: this.progress, requestId };
    return mayBeLong(headers) ? { ...context, hasLongBody: true } : context;
  }

  /**
   * Reports the request for its row of `_RequestLog`; does nothing if no system was acquired. The row is written later, and its failure does not
   * reach the caller.
   */
  log({ method, url, statusCode, service, principal = this.principal, startedAt = this.startedAt }: LogEntry): void {
    if (!this.#system) return;
    this.#services.observations.observe({
      kind: 'call',
      system: this.#system.appId,
      method,
      url,
      ...(service && { service }),
      ...factsOf(this.#http, this.#services.trustProxy),
      installationId: this.#installationId ?? undefined,
      credentials: Object.values(this.#credentials).filter((one) => typeof one === 'string'),
      user: principal && actorId(principal),
      keyName: principal?.kind === 'apiKey' ? principal.name : null,
      status: statusCode,
      ms: performance.now() - startedAt,
    });
  }

  /** Releases the system. Must be called exactly once. */
  release(): void {
    this.#system?.release();
  }

  get #acquired(): System {
    if (!this.#system) throw new Error('the system of the request was not acquired');
    return this.#system;
  }
}

/**
 * Authenticates a caller. Reference: authentication.md#credentials.
 * @param address the client's address, for counting wrong keys
 * @throws invalidSession (209); TooManyRequests (155) after too many wrong keys from the address
 */
export async function callerOf(system: System, credentials: Credentials, address: string): Promise<Principal> {
  return system.principalFor(credentials, address) ?? principalOfSession(system.store, credentials.sessionToken);
}

/** How a request ends. */
export interface RequestEnding {
  /** Answers with an error. @param error in the form for clients (see `errorToReport`) */
  refuse(error: unknown): void;
  /** Logs the request after it was answered. */
  log?(): void;
  /** Whether the request may write; its errors then report whether it has written. */
  readonly mayWrite: boolean;
}

/** The steps of a request whose transport has read it. */
export interface RequestSteps extends RequestEnding {
  /** Acquires, authenticates, executes and answers. */
  run(): Promise<void>;
}

/** Executes a request from beginning to end. Rejects only if `refuse` throws. */
export const executeRequest = (request: CallerRequest, steps: RequestSteps): Promise<void> =>
  execute(request, steps, () => steps.run());

async function execute(request: CallerRequest, ending: RequestEnding, run: () => Promise<void>): Promise<void> {
  try {
    try {
      await run();
    } catch (error) {
      ending.refuse(errorToReport(error, request.progress, ending.mayWrite));
    }
    ending.log?.();
  } finally {
    request.release();
  }
}

/** Like `executeRequest`, but acquires the system first. @param steps `appId`: see `CallerRequest.acquire` */
export const executeOnSystem = (
  request: CallerRequest,
  steps: RequestEnding & { readonly appId: unknown; run(system: System): Promise<void> },
): Promise<void> =>
  execute(request, steps, () => {
    const system = request.tryAcquire(steps.appId);
    return system ? steps.run(system) : request.acquire(steps.appId).then((acquired) => steps.run(acquired));
  });

/** The steps of a request whose caller is authenticated before its work begins. */
export interface CallerSteps<Answer> extends RequestEnding {
  /** See `CallerRequest.acquire`. */
  readonly appId: unknown;
  readonly credentials: Credentials;
  /** `null` if none was sent. */
  readonly installationId: string | null;
  /** Whether the caller is treated as anonymous, regardless of what was sent. */
  readonly isOpen: boolean;
  run(scope: CallerScope): Promise<Answer>;
  /** Answers. @returns resolves when the answer no longer needs the system */
  send(answer: Answer): Promise<void>;
}

/** A request whose system and caller are known. */
export interface CallerScope {
  readonly system: System;
  readonly principal: Principal;
  /** Context of the request's reads and writes. */
  readonly context: RecordContext;
}

/** Like `executeRequest`, for an authenticated caller. */
export const executeAsCaller = <Answer>(request: CallerRequest, steps: CallerSteps<Answer>): Promise<void> =>
  execute(request, steps, () => answerCaller(request, steps));

/** Awaits only what is not available synchronously: these promises cost short reads a large part of their time (adr/0023). */
async function answerCaller<Answer>(request: CallerRequest, steps: CallerSteps<Answer>): Promise<void> {
  request.recordCredentials(steps.credentials, steps.installationId);
  const known = traced('authorise', {}, () => identify(request, steps));
  const { system, principal } = known instanceof Promise ? await known : known;
  annotateRequest('rds.system', system.appId);
  const context = request.contextOf(principal, request.pageOf(principal));
  const answer = await steps.run({ system, principal, context });
  await traced('encode', {}, () => steps.send(answer));
}

type Identified = Pick<CallerScope, 'system' | 'principal'>;

/** Acquires the system and authenticates the caller; without a promise if both are known. */
function identify<Answer>(request: CallerRequest, steps: CallerSteps<Answer>): Identified | Promise<Identified> {
  const system = request.tryAcquire(steps.appId);
  if (!system) return request.acquire(steps.appId).then((acquired) => authenticateOn(acquired, request, steps));
  return authenticateOn(system, request, steps);
}

function authenticateOn<Answer>(
  system: System,
  request: CallerRequest,
  { isOpen, credentials }: CallerSteps<Answer>,
): Identified | Promise<Identified> {
  const principal = isOpen ? request.setCaller(anonymous) : request.tryAuthenticate(credentials);
  if (principal) return { system, principal };
  return request.authenticateSession(credentials.sessionToken).then((found) => ({ system, principal: found }));
}
