import type { FileAddresses } from '../../../config/index.ts';

/** Where the files of every system are, in unit tests. */
const files: FileAddresses = { public: 'http://static.test/app', uploads: 'http://api.test/files/app' };

/** What an engine asks for. */
export const addressesOf = (): FileAddresses => files;

/** What a store asks for. */
export const rowContext = { addresses: addressesOf } as const;
