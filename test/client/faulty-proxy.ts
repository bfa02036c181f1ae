/** A proxy in front of a service that spoils chosen answers. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What becomes of a request: an answer of the proxy, or what it does to the connection before or after the service has answered. */
export type Fault =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'cut before'
  | 'cut after'
  | 'cut inside'
  | 'hang'
  | 'pass';

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

export interface FaultyProxy {
  readonly url: string;
  /** All requests since the last `spoil`. */
  readonly seen: Seen[];
  /** Sets what becomes of the next requests; those after them pass. */
  spoil(...faults: Fault[]): void;
  close(): Promise<void>;
}

/** Starts a proxy. @param target URL of the service */
export async function startProxy(target: string): Promise<FaultyProxy> {
  const seen: Seen[] = [];
  let faults: Fault[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    seen.push({ method, url, headers });
    const fault = faults.shift() ?? 'pass';
    if (fault === 'hang') return;
    if (fault === 'cut before') incoming.socket.destroy();
    else if (typeof fault === 'object') outgoing.writeHead(fault.status, fault.headers).end(fault.body);
    else forward(target, incoming, outgoing, fault);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    spoil(...next) {
      faults = next;
      seen.length = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function forward(
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  fault: 'cut after' | 'cut inside' | 'pass',
) {
  const { method, headers, url = '' } = incoming;
  const sent = request(new URL(url, target), { method, headers, agent: false }, (answer) => {
    const chunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => chunks.push(chunk));
    answer.on('end', () => {
      const bytes = Buffer.concat(chunks);
      if (fault === 'cut after') {
        outgoing.destroy();
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 0, { ...answer.headers, 'content-length': bytes.length });
      if (fault === 'pass') outgoing.end(bytes);
      else outgoing.write(bytes.subarray(0, 10), () => outgoing.destroy());
    });
  });
  sent.on('error', () => outgoing.destroy());
  incoming.pipe(sent);
}
