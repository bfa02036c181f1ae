import { anonymous, type Principal } from '../access/index.ts';
import { factsOf, type HttpRequest, type LoggedRequest, logRequest } from '../audit/index.ts';
import { fail, isPassing } from '../errors/fail.ts';
import { type Conditions, faultPlace } from '../observe/index.ts';
import type { SharedPatterns } from '../query/regex/index.ts';
import { endOf, type Progress, type RecordContext, tellsOfFunction, type WriteHooks } from '../records/index.ts';
import type { Credentials, System, Systems } from '../systems/index.ts';
import { principalOfSession, rememberedPrincipal } from '../users/index.ts';

/** What requests of callers are carried out with. */
export interface RequestServices {
  readonly systems: Pick<Systems, 'acquire' | 'tryAcquire'>;
  readonly hooks: WriteHooks;
  readonly conditions: Pick<Conditions, 'met'>;
  /** The proxies whose headers count (CONTRACT "Running": TRUST_PROXY). */
  readonly trustProxy: boolean | string[];
}

/** What the row of `_RequestLog` says beside what the request itself does. */
export type LogEntry = Pick<LoggedRequest, 'method' | 'url' | 'statusCode'> & {
  /** As of `LoggedRequest`. */
  readonly service?: 'mcp' | 'console';
  /** `null` where the row names nobody; left out: the caller. */
  readonly principal?: Principal | null;
  /** `performance.now()` at the beginning; left out: of the request. */
  readonly startedAt?: number;
};

/**
 * One request of a caller to one system, whatever protocol it comes by: acquire → authenticate → run → log → release
 * (docs/ARCHITECTURE.md "The way of a request").
 */
export class CallerRequest {
  /** By `performance.now()`. */
  readonly startedAt: number;
  /** Of its writes. */
  readonly progress: Progress = { hasWritten: false };
  /** `null` until it is known. */
  principal: Principal | null = null;
  /** What its patterns may cost, all its queries together. */
  readonly #patterns: SharedPatterns = {};
  readonly #services: RequestServices;
  readonly #http: HttpRequest;
  #system: System | undefined;
  #credentials: object = {};
  #installationId: string | null = null;

  /** @param startedAt left out: now */
  constructor(services: RequestServices, http: HttpRequest, startedAt: number = performance.now()) {
    this.#services = services;
    this.#http = http;
    this.startedAt = startedAt;
    // The framework looks it up once; of a connection that is gone it has none.
    void http.ip;
  }

  /** The system that was acquired; `undefined` until then. */
  get system(): System | undefined {
    return this.#system;
  }

  /** The address that it came from; empty where the connection is gone. */
  get address(): string {
    return this.#http.ip ?? '';
  }

  /**
   * Acquires the system, once.
   * @param appId as it was sent; what is not the application id of a system names none
   * @throws unauthorized (403) where there is none; unavailable
   */
  async acquire(appId: unknown): Promise<System> {
    if (!this.tryAcquire(appId) && typeof appId === 'string') this.#system = await this.#services.systems.acquire(appId);
    return this.#system ?? fail('unauthorized');
  }

  /** As `acquire`, where nothing has to be waited for; `undefined` else. */
  tryAcquire(appId: unknown): System | undefined {
    if (!this.#system && typeof appId === 'string') this.#system = this.#services.systems.tryAcquire(appId);
    return this.#system;
  }

  /** Notes what was sent for credentials, so that the log does not repeat it. */
  sent(credentials: object, installationId: string | null = null): void {
    this.#credentials = credentials;
    this.#installationId = installationId;
  }

  /**
   * Finds out who the caller is (SPEC "Credentials").
   * @throws invalidSession (209); TooManyRequests (155) where keys are tried out from the address
   */
  async authenticate(credentials: Credentials): Promise<Principal> {
    return this.tryAuthenticate(credentials) ?? this.authenticateSession(credentials.sessionToken);
  }

  /** As `authenticate`, where a session token is what tells. @throws invalidSession (209) */
  async authenticateSession(token: unknown): Promise<Principal> {
    return this.known(await principalOfSession(this.#acquired.store, token));
  }

  /** As `authenticate`, where nothing has to be read for it; `null` else. */
  tryAuthenticate(credentials: Credentials): Principal | null {
    const system = this.#acquired;
    const principal =
      system.principalFor(credentials, this.address) ?? rememberedPrincipal(system.store, credentials.sessionToken);
    return principal && this.known(principal);
  }

  /** As `authenticate`, for the work of the request alone: the log does not name the caller. */
  callerOf(credentials: Credentials): Promise<Principal> {
    return callerOf(this.#acquired, credentials, this.address);
  }

  /** Notes a caller who is known without credentials. */
  known(principal: Principal): Principal {
    this.principal = principal;
    return principal;
  }

  /** SPEC "`_Timeline` fields": the page of a session user; keys have none, and what names a function is for functions alone. */
  pageOf({ kind }: Principal): string | null {
    const { referer } = this.#http.headers;
    return kind === 'user' && referer !== undefined && !tellsOfFunction(referer) ? referer : null;
  }

  /** The context of its reads and writes. @param referer as of `RecordContext` */
  contextOf(principal: Principal, referer: string | null = null): RecordContext {
    const { appId, store } = this.#acquired;
    return { appId, store, principal, hooks: this.#services.hooks, patterns: this.#patterns, referer, progress: this.progress };
  }

  /**
   * Adds its row to the log of its system, soon; where no system was acquired, none. Nobody waits for it, and its faults do not come back to the
   * caller.
   */
  log({ method, url, statusCode, service, principal = this.principal, startedAt = this.startedAt }: LogEntry): void {
    const system = this.#system;
    if (!system) return;
    try {
      logRequest(system.store, {
        method,
        url,
        ...(service && { service }),
        ...factsOf(this.#http, this.#services.trustProxy),
        installationId: this.#installationId ?? undefined,
        credentials: Object.values(this.#credentials).filter((one) => typeof one === 'string'),
        principal,
        statusCode,
        duration: performance.now() - startedAt,
      });
    } catch (error) {
      // A store that does not work is reported where it is met.
      if (!isPassing(error)) this.#services.conditions.met('a request was not logged', faultPlace(error), error);
    }
  }

  /** Releases the system. To be called once. */
  release(): void {
    this.#system?.release();
  }

  get #acquired(): System {
    if (!this.#system) throw new Error('the system of the request was not acquired');
    return this.#system;
  }
}

/**
 * Finds out who a caller is (SPEC "Credentials").
 * @param address where the request came from
 * @throws invalidSession (209); TooManyRequests (155) where keys are tried out from there
 */
export async function callerOf(system: System, credentials: Credentials, address: string): Promise<Principal> {
  return system.principalFor(credentials, address) ?? principalOfSession(system.store, credentials.sessionToken);
}

/** How a request ends. */
export interface RequestEnding {
  /** Answers with an error. @param error as its client is told (`endOf`) */
  refuse(error: unknown): void;
  /** Logs the request, which has its answer. */
  log?(): void;
  /** Whether it may write: an error tells then whether it has. */
  readonly mayWrite: boolean;
}

/** The steps of a request whose transport has read it. */
export interface RequestSteps extends RequestEnding {
  /** Acquires, authenticates, carries out and answers. */
  run(): Promise<void>;
}

/** Carries a request out from its beginning to its end. Never rejects but for what `refuse` throws. */
export const carryOutRequest = (request: CallerRequest, steps: RequestSteps): Promise<void> =>
  carryOut(request, steps, () => steps.run());

async function carryOut(request: CallerRequest, ending: RequestEnding, run: () => Promise<void>): Promise<void> {
  try {
    try {
      await run();
    } catch (error) {
      ending.refuse(endOf(error, request.progress, ending.mayWrite));
    }
    ending.log?.();
  } finally {
    request.release();
  }
}

/** As `carryOutRequest`, of a request whose system is acquired before its work begins. @param steps `appId` as of `CallerRequest.acquire` */
export const carryOutOnSystem = (
  request: CallerRequest,
  steps: RequestEnding & { readonly appId: unknown; run(system: System): Promise<void> },
): Promise<void> => carryOut(request, steps, async () => steps.run(await request.acquire(steps.appId)));

/** A request whose caller is known before its work begins. */
export interface CallerSteps<Answer> extends RequestEnding {
  /** As of `CallerRequest.acquire`. */
  readonly appId: unknown;
  readonly credentials: Credentials;
  /** `null` where none was sent. */
  readonly installationId: string | null;
  /** Whether the caller is anonymous, whatever was sent. */
  readonly isOpen: boolean;
  /** Carries out. */
  run(scope: CallerScope): Promise<Answer>;
  /** Answers. @returns resolves when the answer no longer needs the system */
  send(answer: Answer): Promise<void>;
}

/** A request whose system and caller are known. */
export interface CallerScope {
  readonly system: System;
  readonly principal: Principal;
  /** Of its reads and writes. */
  readonly context: RecordContext;
}

/** As `carryOutRequest`. */
export const carryOutAsCaller = <Answer>(request: CallerRequest, steps: CallerSteps<Answer>): Promise<void> =>
  carryOut(request, steps, () => answerCaller(request, steps));

/** Without a promise where nothing has to be waited for: short reads spend much of their time on these (adr/0023). */
async function answerCaller<Answer>(request: CallerRequest, steps: CallerSteps<Answer>): Promise<void> {
  const { credentials, appId } = steps;
  request.sent(credentials, steps.installationId);
  const system = request.tryAcquire(appId) ?? (await request.acquire(appId));
  const principal = steps.isOpen
    ? request.known(anonymous)
    : (request.tryAuthenticate(credentials) ?? (await request.authenticateSession(credentials.sessionToken)));
  const context = request.contextOf(principal, request.pageOf(principal));
  await steps.send(await steps.run({ system, principal, context }));
}
