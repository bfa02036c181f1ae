import { prefix } from '../kernel/prefix.ts';
import type { Config } from './config.ts';

/** Where the files of a system are, as clients see it. No slash at the ends. */
export interface FileAddresses {
  /** Of files of `File` fields: `{static_url}/{app_id}`. */
  readonly public: string;
  /** Of uploads, and of files of `PrivateFile` fields: `{api_base}/files/{app_id}`. */
  readonly uploads: string;
}

/** The service's addresses as clients see them (SPEC "Conventions"). Those that no setting names follow from where it listens. */
export class Addresses {
  readonly #config: Pick<Config, 'baseUrl' | 'staticUrl'>;
  #listening = '';

  constructor(config: Pick<Config, 'baseUrl' | 'staticUrl'>) {
    this.#config = config;
  }

  /** @param address where the service listens, once it does */
  listenAt(address: string): void {
    this.#listening = address;
  }

  /** `{base_url}`. No slash at the end. */
  get base(): string {
    return this.#config.baseUrl ?? this.#listening;
  }

  /** Whether BASE_URL says by which name the service goes. */
  get isSettled(): boolean {
    return this.#config.baseUrl !== undefined;
  }

  /** Of a system's files. */
  filesOf(appId: string): FileAddresses {
    return {
      public: `${this.#config.staticUrl ?? `${this.base}/static`}/${appId}`,
      uploads: `${this.base}${prefix}/files/${appId}`,
    };
  }

  /** Of the form that takes a system's large uploads where its file store has none of its own. */
  uploadFormOf(appId: string): string {
    return `${this.base}${prefix}/files/signed-post/${appId}`;
  }
}
