import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OperatorError } from '../../kernel/operator-error.ts';
import { type Format, formatFor, formats } from './format.ts';

/** Path of the metrics, on every listener. */
export const METRICS_PATH = '/metrics';

/** Time limits in milliseconds: scrapers send a short request at once. */
const TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_CONNECTIONS = 100;

/** Returns the text of a scrape. */
export type Scrape = (format: Format) => Promise<string>;

/** A scrape's answer. */
export interface ScrapeAnswer {
  readonly contentType: string;
  readonly text: string;
}

/** @param accept header of the request @throws what `scrape` throws */
export async function answerScrape(scrape: Scrape, accept: string | undefined): Promise<ScrapeAnswer> {
  const format = formatFor(accept);
  return { contentType: formats[format], text: await scrape(format) };
}

/** The listener of METRICS_PORT: it serves the metrics to anything that reaches it, and nothing else. Reference: metrics.md#where-they-are-served. */
export class MetricsListener {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /**
   * Starts listening.
   * @param failed called with an error of a scrape
   * @throws OperatorError if the address cannot be used
   */
  static async listen(
    { host, port }: { readonly host: string; readonly port: number },
    scrape: Scrape,
    failed: (error: unknown) => void,
  ): Promise<MetricsListener> {
    const server = createServer({ requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS, maxHeaderSize: MAX_HEADER_BYTES });
    server.maxConnections = MAX_CONNECTIONS;
    server.on('request', (request, response) => {
      request.resume();
      const [path] = (request.url ?? '').split('?', 1);
      if (path !== METRICS_PATH || (request.method !== 'GET' && request.method !== 'HEAD')) {
        answer(response, 404, 'text/plain; charset=utf-8', 'Not found.\n');
        return;
      }
      answerScrape(scrape, request.headers.accept).then(
        ({ contentType, text }) => answer(response, 200, contentType, text),
        (error) => {
          failed(error);
          answer(response, 503, 'text/plain; charset=utf-8', 'The metrics are not available now.\n');
        },
      );
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) =>
        reject(new OperatorError(`METRICS_PORT: cannot listen on ${host}:${port}: ${error.code}; check METRICS_HOST`)),
      );
      server.listen({ host, port }, resolve);
    });
    server.on('error', failed);
    return new MetricsListener(server);
  }

  /** URL of the metrics. */
  get address(): string {
    const { address, port, family } = this.#server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}${METRICS_PATH}`;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

function answer(response: ServerResponse, status: number, contentType: string, text: string): void {
  response.on('error', () => {});
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    vary: 'Accept',
  });
  response.end(response.req.method === 'HEAD' ? undefined : text);
}
