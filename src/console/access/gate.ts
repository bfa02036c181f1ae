import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../../errors/fail.ts';
import { readRow } from '../../records/index.ts';
import { withSystem } from '../../requests/index.ts';
import type { System } from '../../systems/index.ts';
import { consoleSession, fileTokenOf } from '../../users/index.ts';
import type { ConsoleAddresses } from '../context/addresses.ts';
import type { ConsoleCookies } from '../context/cookies.ts';
import type { ConsoleServices } from '../context/services.ts';
import { type PrivateFileAddress, readReturnTo } from './return-to.ts';

/** What a browser gets: the program's page, a redirect, or that its user may not open a file. */
export type Verdict =
  | { readonly kind: 'program' }
  | { readonly kind: 'goTo'; readonly path: string; readonly cookies?: readonly string[] }
  | { readonly kind: 'denied'; readonly name: string; readonly other: string };

const program: Verdict = { kind: 'program' };

/** The session of a system's user. */
type Session = Awaited<ReturnType<typeof consoleSession>>;

/** Decides what a browser gets at a page. Reference: console.md#the-gate. */
export class Gate {
  readonly #services: ConsoleServices;
  readonly #addresses: ConsoleAddresses;
  readonly #cookies: ConsoleCookies;

  constructor(services: ConsoleServices, addresses: ConsoleAddresses, cookies: ConsoleCookies) {
    this.#services = services;
    this.#addresses = addresses;
    this.#cookies = cookies;
  }

  /** `/console/`: redirects to the system with a valid session; otherwise shows the program, which asks to sign in. */
  async home({ headers }: FastifyRequest): Promise<Verdict> {
    for (const appId of this.#cookies.systemsOf(headers.cookie)) {
      const verdict = await this.#homeOf(appId, headers.cookie);
      if (verdict !== program) return verdict;
    }
    return program;
  }

  /** `/console/{app_id}/…`: requires a session. */
  async inside({ headers, params, url }: FastifyRequest): Promise<Verdict> {
    const { appId } = params as { readonly appId: string };
    if (await this.#isSignedIn(appId, headers.cookie)) return program;
    const returnTo = encodeURIComponent(this.#addresses.basePath + url);
    return { kind: 'goTo', path: `${this.#addresses.root}/sign-in?returnTo=${returnTo}&app=${encodeURIComponent(appId)}` };
  }

  /** `/console/sign-in?returnTo=…&app=…`: redirects users with a session, unless they want to sign in as another user. */
  async signIn(request: FastifyRequest): Promise<Verdict> {
    const { headers } = request;
    const query = request.query as ReadonlyMap<string, string>;
    if (query.get('as') === 'other') return program;
    const returnTo = query.get('returnTo');
    const target = readReturnTo(returnTo, {
      origin: this.#addresses.originFor(headers.host),
      basePath: this.#addresses.basePath,
    });
    if (!target) {
      const appId = query.get('app');
      return appId ? this.#homeOf(appId, headers.cookie) : this.home(request);
    }
    const { appId, file, path } = target;
    const found = await this.#withSession(appId, headers.cookie, async (system, session, token): Promise<Verdict> => {
      if (!file) return { kind: 'goTo', path };
      if (await this.#isClosed(system, session, file)) {
        const other = `${this.#addresses.root}/sign-in?as=other&returnTo=${encodeURIComponent(path)}`;
        return { kind: 'denied', name: await nameOf(system, session), other };
      }
      // Set again, because the browser may have lost it.
      const fileToken = fileTokenOf({ secret: this.#services.secret, appId }, session, token);
      return { kind: 'goTo', path, cookies: this.#cookies.signedIn(appId, token, fileToken) };
    });
    return found ?? program;
  }

  /** Redirects to the home page of a system if there is a session for it; otherwise the program. */
  async #homeOf(appId: string, cookie: string | undefined): Promise<Verdict> {
    const isIn = await this.#isSignedIn(appId, cookie);
    return isIn ? { kind: 'goTo', path: `${this.#addresses.root}/${encodeURIComponent(appId)}/` } : program;
  }

  async #isSignedIn(appId: string, cookie: string | undefined): Promise<boolean> {
    return (await this.#withSession(appId, cookie, async () => true)) ?? false;
  }

  async #isClosed(system: System, { principal }: Session, file: PrivateFileAddress): Promise<boolean> {
    const { hooks, files } = this.#services;
    const context = { appId: system.appId, store: system.store, principal, hooks, referer: null };
    return (await files.openPrivate(context, file)) === 'signIn';
  }

  /** @returns the result of `work`; `null` if there is no valid session or no such system */
  async #withSession<T>(
    appId: string,
    cookie: string | undefined,
    work: (system: System, session: Session, token: string) => Promise<T>,
  ): Promise<T | null> {
    const token = this.#cookies.sessionOf(cookie, appId);
    if (token === undefined) return null;
    try {
      const found = await withSystem(this.#services.systems, appId, async (system) =>
        work(system, await consoleSession(system.store, token), token),
      );
      return found ?? null;
    } catch (error) {
      if (error instanceof ServiceError && (error.key === 'invalidSession' || error.key === 'unauthorized')) return null;
      throw error;
    }
  }
}

async function nameOf({ store }: System, { principal }: Session): Promise<string> {
  const user = await readRow<{ name?: string; username?: string }>(store, '_User', ['name', 'username'], principal.userId);
  return user?.name || user?.username || '';
}
