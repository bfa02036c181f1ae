import { parseCookie, type SetCookie, stringifySetCookie } from 'cookie';
import { appIdPattern } from '../../kernel/credentials.ts';
import { prefix } from '../../kernel/prefix.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { isConsoleToken, MAX_CONSOLE_SESSION_MS } from '../../users/index.ts';
import type { ConsoleAddresses } from './addresses.ts';

const MAX_AGE_S = MAX_CONSOLE_SESSION_MS / SECOND_MS;
const YEAR_S = 365 * 86_400;
/** Maximum length of a `Cookie` header that is parsed; other applications on the host may have set many cookies. */
const MAX_HEADER_LENGTH = 32 * 1024;

/** Maximum number of systems in cookies that are examined, because each may have to be opened. */
const MAX_SYSTEMS = 20;

const SESSION = 'console.session.';
const FILES = 'console.files.';
const LANGUAGE = 'console.language';
const SYSTEM = 'console.system';

/** Parsed cookies; the object has no prototype. */
type ParsedCookies = Readonly<Record<string, string | undefined>>;

/**
 * The cookies of the console. Their names contain the application id, so that one browser can be signed in to several systems. Reference:
 * console.md#sign-in-to-the-console.
 */
export class ConsoleCookies {
  readonly #addresses: ConsoleAddresses;

  constructor(addresses: ConsoleAddresses) {
    this.#addresses = addresses;
  }

  /** Returns the token of a session; `undefined` if there is none or it is malformed. */
  sessionOf(header: string | undefined, appId: string): string | undefined {
    const token = this.#read(header)[this.#named(SESSION + appId)];
    return isConsoleToken(token) ? token : undefined;
  }

  /** Returns the token that opens the private files of a system. */
  fileTokenOf(header: string | undefined, appId: string): string | undefined {
    return this.#read(header)[this.#named(FILES + appId)];
  }

  languageOf(header: string | undefined): string | undefined {
    return this.#read(header)[LANGUAGE];
  }

  /** Returns the systems for which the browser has session cookies, the last used first. */
  systemsOf(header: string | undefined): string[] {
    const brought = this.#read(header);
    const start = this.#named(SESSION);
    const all = Object.keys(brought).filter((name) => name.startsWith(start) && isConsoleToken(brought[name]));
    const appIds = all.map((name) => name.slice(start.length)).filter((appId) => appIdPattern.test(appId));
    const last = brought[SYSTEM];
    const ordered = last !== undefined && appIds.includes(last) ? [last, ...appIds.filter((appId) => appId !== last)] : appIds;
    return ordered.slice(0, MAX_SYSTEMS);
  }

  /** Returns the `Set-Cookie` headers of a sign-in. */
  signedIn(appId: string, token: string, fileToken: string): string[] {
    return [
      this.#secret(SESSION + appId, token, MAX_AGE_S, this.#consolePath),
      this.#secret(FILES + appId, fileToken, MAX_AGE_S, this.#filesPath(appId)),
      this.#plain(SYSTEM, appId),
    ];
  }

  /** Returns the `Set-Cookie` headers of a sign-out. */
  signedOut(appId: string): string[] {
    return [this.#secret(SESSION + appId, '', 0, this.#consolePath), this.#secret(FILES + appId, '', 0, this.#filesPath(appId))];
  }

  /** Returns the `Set-Cookie` header that stores the language. */
  language(language: string): string {
    return this.#plain(LANGUAGE, language);
  }

  get #consolePath(): string {
    return `${this.#addresses.root}/`;
  }

  #filesPath(appId: string): string {
    return `${this.#addresses.basePath}${prefix}/files/${appId}/`;
  }

  #read(header: string | undefined): ParsedCookies {
    return header === undefined || header.length > MAX_HEADER_LENGTH ? {} : parseCookie(header);
  }

  /** Returns the cookie name, with the prefix that browsers accept from https only. */
  #named(name: string): string {
    return this.#addresses.isSecure ? `__Secure-${name}` : name;
  }

  #secret(name: string, value: string, maxAge: number, path: string): string {
    return stringifySetCookie({ ...this.#shared, name: this.#named(name), value, maxAge, path });
  }

  #plain(name: string, value: string): string {
    return stringifySetCookie({ ...this.#shared, name, value, maxAge: YEAR_S, path: this.#consolePath });
  }

  get #shared(): Pick<SetCookie, 'httpOnly' | 'secure' | 'sameSite'> {
    return { httpOnly: true, secure: this.#addresses.isSecure, sameSite: 'lax' };
  }
}
