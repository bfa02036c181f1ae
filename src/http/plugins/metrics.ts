import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { fail } from '../../errors/fail.ts';
import { answerScrape, METRICS_PATH, type Scrape } from '../../observe/metrics/listener.ts';

/** What the metrics on the main port need. */
export interface MetricsAccess {
  /** METRICS_TOKEN: a secret. */
  readonly token: string;
  readonly scrape: Scrape;
}

/** Registers `GET /metrics` for callers with the token. Without METRICS_TOKEN there is no such address. Reference: metrics.md#where-they-are-served. */
export function registerMetrics(server: FastifyInstance, access: MetricsAccess | undefined): void {
  if (!access) return;
  const isToken = equals(access.token);
  server.get(METRICS_PATH, async (request, reply) => {
    const [, sent] = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
    reply.header('cache-control', 'no-store');
    if (sent === undefined || !isToken(sent)) {
      reply.header('www-authenticate', 'Bearer realm="metrics"');
      return fail('metricsTokenRequired');
    }
    const { contentType, text } = await answerScrape(access.scrape, request.headers.accept).catch(() => fail('unavailable'));
    return reply.header('content-type', contentType).header('vary', 'Accept').send(text);
  });
}

/** Compares in constant time, whatever the lengths: hashes are compared. */
function equals(expected: string): (sent: string) => boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  const wanted = digest(expected);
  return (sent) => timingSafeEqual(digest(sent), wanted);
}
