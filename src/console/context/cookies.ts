import { parseCookie, type SetCookie, stringifySetCookie } from 'cookie';
import { appIdPattern } from '../../kernel/credentials.ts';
import { prefix } from '../../kernel/prefix.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { isConsoleToken, MAX_CONSOLE_SESSION_MS } from '../../users/index.ts';
import type { ConsoleAddresses } from './addresses.ts';

const MAX_AGE_S = MAX_CONSOLE_SESSION_MS / SECOND_MS;
const YEAR_S = 365 * 86_400;
/** Characters of a `Cookie` header that are looked at; others of this host may have left a great many. */
const MAX_HEADER_LENGTH = 32 * 1024;

/** Systems that one browser is signed in to, of those that it brings: each costs a look, and each may have to be opened. */
const MAX_SYSTEMS = 20;

const SESSION = 'console.session.';
const FILES = 'console.files.';
const LANGUAGE = 'console.language';
const SYSTEM = 'console.system';

/** What a browser brought; names have no prototype. */
type Brought = Readonly<Record<string, string | undefined>>;

/** The cookies of the console (CONTRACT "Console"): by name for each system, so that one browser may be signed in to several. */
export class ConsoleCookies {
  readonly #addresses: ConsoleAddresses;

  constructor(addresses: ConsoleAddresses) {
    this.#addresses = addresses;
  }

  /** The token of a session; `undefined` where there is none, or what can be none. */
  sessionOf(header: string | undefined, appId: string): string | undefined {
    const token = this.#read(header)[this.#named(SESSION + appId)];
    return isConsoleToken(token) ? token : undefined;
  }

  /** The token that opens the private files of a system. */
  fileTokenOf(header: string | undefined, appId: string): string | undefined {
    return this.#read(header)[this.#named(FILES + appId)];
  }

  languageOf(header: string | undefined): string | undefined {
    return this.#read(header)[LANGUAGE];
  }

  /** The systems that the browser has sessions of, the one used last first. */
  systemsOf(header: string | undefined): string[] {
    const brought = this.#read(header);
    const start = this.#named(SESSION);
    const all = Object.keys(brought).filter((name) => name.startsWith(start) && isConsoleToken(brought[name]));
    const appIds = all.map((name) => name.slice(start.length)).filter((appId) => appIdPattern.test(appId));
    const last = brought[SYSTEM];
    const ordered = last !== undefined && appIds.includes(last) ? [last, ...appIds.filter((appId) => appId !== last)] : appIds;
    return ordered.slice(0, MAX_SYSTEMS);
  }

  /** `Set-Cookie` headers that sign in. */
  signedIn(appId: string, token: string, fileToken: string): string[] {
    return [
      this.#secret(SESSION + appId, token, MAX_AGE_S, this.#consolePath),
      this.#secret(FILES + appId, fileToken, MAX_AGE_S, this.#filesPath(appId)),
      this.#plain(SYSTEM, appId),
    ];
  }

  /** Those that sign out. */
  signedOut(appId: string): string[] {
    return [this.#secret(SESSION + appId, '', 0, this.#consolePath), this.#secret(FILES + appId, '', 0, this.#filesPath(appId))];
  }

  /** The one that keeps the choice of a language. */
  language(language: string): string {
    return this.#plain(LANGUAGE, language);
  }

  get #consolePath(): string {
    return `${this.#addresses.root}/`;
  }

  #filesPath(appId: string): string {
    return `${this.#addresses.basePath}${prefix}/files/${appId}/`;
  }

  #read(header: string | undefined): Brought {
    return header === undefined || header.length > MAX_HEADER_LENGTH ? {} : parseCookie(header);
  }

  /** A name that browsers take by https alone. */
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
