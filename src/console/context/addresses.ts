import type { Addresses } from '../../config/index.ts';
import { consolePath } from '../../kernel/prefix.ts';

/** Path of the console below the service's URL. */
export const CONSOLE = consolePath;

/** Paths of the API and of the program's files. `-` cannot be the application id of a system. */
export const apiPath = `${CONSOLE}/-/api`;
export const assetsPath = `${CONSOLE}/-/assets`;

/** The console's URLs as browsers see them; the service may have a path prefix. */
export class ConsoleAddresses {
  readonly #addresses: Pick<Addresses, 'base' | 'isConfigured'>;

  constructor(addresses: Pick<Addresses, 'base' | 'isConfigured'>) {
    this.#addresses = addresses;
  }

  /** Path prefix of the service; empty if there is none. */
  get basePath(): string {
    return new URL(this.#addresses.base).pathname.replace(/\/+$/, '');
  }

  /** Path of the console, without a trailing slash. */
  get root(): string {
    return `${this.basePath}${CONSOLE}`;
  }

  /** Returns the console's origin. Without BASE_URL, the service accepts every name that leads to it. @param host of the request */
  originFor(host: string | undefined): string {
    const { base, isConfigured } = this.#addresses;
    return isConfigured || !host ? new URL(base).origin : `http://${host}`;
  }

  /**
   * Whether cookies are `Secure`: always, except on a loopback address with plain http. Without BASE_URL, the service counts as local. Reference:
   * console.md#sign-in-to-the-console.
   */
  get isSecure(): boolean {
    const { base, isConfigured } = this.#addresses;
    if (!isConfigured) return false;
    const { protocol, hostname } = new URL(base);
    return protocol === 'https:' || !isLoopback(hostname);
  }
}

const isLoopback = (hostname: string): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
