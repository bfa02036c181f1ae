import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { Connection, none } from './connection.ts';

/** A fixed number of large requests or answers. */
export interface Transfers {
  kind: 'transfers';
  host: string;
  port: number;
  /** Heads of requests as text, sent in turn. */
  heads: string[];
  /** Size of the body that follows each head: incompressible bytes that look like an image. 0 for no body. */
  body: number;
  /** Number of requests over all connections. */
  count: number;
  connections: number;
}

export interface TransfersResult {
  seconds: number;
  /** Answers by status, other than 200 and 201. */
  failures: Record<string, number>;
}

const image = Buffer.from([0xff, 0xd8, 0xff, 0xe0]);

/** Sends all requests; each connection takes the next one as soon as it has its answer. */
export async function runTransfers({ host, port, heads, body, count, connections }: Transfers): Promise<TransfersResult> {
  const bytes = body === 0 ? none : Buffer.concat([image, randomBytes(body - image.length)]);
  const failures: Record<string, number> = {};
  let sent = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      await new Promise<void>((resolve, reject) => {
        const connection = new Connection(host, port, reject);
        const next = () => {
          if (sent === count) {
            connection.close();
            resolve();
            return;
          }
          const head = Buffer.from(heads[sent++ % heads.length] ?? '');
          connection.send(head, bytes, (status) => {
            if (status !== 200 && status !== 201) failures[status] = (failures[status] ?? 0) + 1;
            next();
          });
        };
        next();
      });
    }),
  );
  return { seconds: (performance.now() - started) / 1000, failures };
}
