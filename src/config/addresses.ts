import { prefix } from '../kernel/prefix.ts';
import type { Config } from './config.ts';

/** The URLs of a system's files, as clients see them. No slash at the ends. */
export interface FileAddresses {
  /** For files of `File` fields: `{static_url}/{app_id}`. */
  readonly public: string;
  /** For uploads, and for files of `PrivateFile` fields: `{api_base}/files/{app_id}`. */
  readonly uploads: string;
}

/** The service's addresses as clients see them (requests.md#addresses). Without settings they follow from the address it listens on. */
export class Addresses {
  readonly #config: Pick<Config, 'baseUrl' | 'staticUrl'>;
  #listening = '';

  constructor(config: Pick<Config, 'baseUrl' | 'staticUrl'>) {
    this.#config = config;
  }

  /** @param address on which the service listens */
  listenAt(address: string): void {
    this.#listening = address;
  }

  /** `{base_url}`. No slash at the end. */
  get base(): string {
    return this.#config.baseUrl ?? this.#listening;
  }

  /** Whether BASE_URL is set. */
  get isConfigured(): boolean {
    return this.#config.baseUrl !== undefined;
  }

  /** Returns the URLs of a system's files. */
  filesOf(appId: string): FileAddresses {
    return {
      public: `${this.#config.staticUrl ?? `${this.base}/static`}/${appId}`,
      uploads: `${this.base}${prefix}/files/${appId}`,
    };
  }

  /** Returns the URL of the service's own form for large uploads, used if the file store has none. */
  uploadFormOf(appId: string): string {
    return `${this.base}${prefix}/files/signed-post/${appId}`;
  }
}
