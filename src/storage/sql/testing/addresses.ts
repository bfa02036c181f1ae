import type { FileAddresses } from '../../../config/index.ts';

/** Addresses of the files of every system, in unit tests. */
const files: FileAddresses = { public: 'http://static.test/app', uploads: 'http://api.test/files/app' };

/** What an engine requires. */
export const addressesOf = (): FileAddresses => files;

/** What a store requires. */
export const rowContext = { addresses: addressesOf } as const;
