import type { Addresses } from '../../config/index.ts';
import { consolePath } from '../../kernel/prefix.ts';

/** Where the console stands below the service's address. */
export const CONSOLE = consolePath;

/** Its data addresses, and the files of its program: no system goes by this name in any address that a person sees. */
export const apiPath = `${CONSOLE}/-/api`;
export const assetsPath = `${CONSOLE}/-/assets`;

/** The console's addresses as a browser sees them: the service may stand below a path. */
export class ConsoleAddresses {
  readonly #addresses: Pick<Addresses, 'base' | 'isSettled'>;

  constructor(addresses: Pick<Addresses, 'base' | 'isSettled'>) {
    this.#addresses = addresses;
  }

  /** The path that the service stands at; empty at the root of its host. */
  get basePath(): string {
    return new URL(this.#addresses.base).pathname.replace(/\/+$/, '');
  }

  /** The path of the console, without a slash at its end. */
  get root(): string {
    return `${this.basePath}${CONSOLE}`;
  }

  /**
   * The origin that the console is of. Without BASE_URL a service goes by every name that leads to it.
   * @param host that the request was sent to
   */
  originFor(host: string | undefined): string {
    const { base, isSettled } = this.#addresses;
    return isSettled || !host ? new URL(base).origin : `http://${host}`;
  }

  /** CONTRACT "Console": cookies are for https alone, but on plain-http loopback; a service without BASE_URL is on the machine itself. */
  get isSecure(): boolean {
    const { base, isSettled } = this.#addresses;
    if (!isSettled) return false;
    const { protocol, hostname } = new URL(base);
    return protocol === 'https:' || !isLoopback(hostname);
  }
}

const isLoopback = (hostname: string): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
