/** The used parts of a package without types. */
declare module '@20minutes/s3rver' {
  import type { AddressInfo } from 'node:net';
  import type { Readable } from 'node:stream';

  interface StoredContent {
    content?: Readable & { path: string };
    range?: { start: number; end: number };
  }

  export default class S3rver {
    constructor(options: {
      address: string;
      port: number;
      silent: boolean;
      directory: string;
      vhostBuckets: boolean;
      allowMismatchedSignatures: boolean;
      configureBuckets: { name: string }[];
    });
    readonly logger: { close(): void };
    readonly httpServer: import('node:http').Server;
    readonly store: {
      getObject(bucket: string, key: string, range?: { start?: number; end?: number }): Promise<StoredContent | null>;
    };
    run(): Promise<AddressInfo>;
  }
}
