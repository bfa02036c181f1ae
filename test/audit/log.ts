/** Reads the request log as an operator does: with the master key. Reference: audit.md#request-log. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { type Json, send, unique } from '../support/records.ts';
import type { Answer, Service } from '../support/service.ts';

export interface Sent {
  method?: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Requests with a User-Agent of their own, by which their rows are found. */
export class Marked {
  readonly mark = unique('client-');
  readonly #service: Service;

  constructor(service: Service) {
    this.#service = service;
  }

  /** Sends a request with the application id alone. A string is sent unchanged, anything else as JSON. */
  ask({ method = 'POST', path, body, headers = {} }: Sent): Promise<Answer> {
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    const sent = { 'X-Platform-Application-Id': this.#service.appId, 'User-Agent': this.mark, ...headers };
    return send(this.#service, { method, path, headers: sent, body: text });
  }

  /** The same with the master key. */
  asMaster(sent: Sent): Promise<Answer> {
    return this.ask({ ...sent, headers: { 'X-Platform-Master-Key': this.#service.masterKey, ...sent.headers } });
  }

  /** Returns the rows of all requests so far: those before the row of one more request, because rows are written in order. */
  async rows(): Promise<Json[]> {
    const last = `/platform/functions/${unique('last')}`;
    await this.ask({ path: last });
    for (let n = 0; n < 100; n++) {
      const found = await logOf(this.#service, { userAgent: this.mark });
      if (found.at(-1)?.path === last) return found.slice(0, -1);
      await wait(20);
    }
    return assert.fail('the log has no row of a write after two seconds');
  }

  /** Returns the row of the only request so far. */
  async row(): Promise<Json> {
    const rows = await this.rows();
    assert.equal(rows.length, 1, JSON.stringify(rows));
    return rows[0];
  }
}

/** Returns rows of the log in the order of creation. */
export async function logOf(service: Service, where: object = {}): Promise<Json[]> {
  const { status, body, text } = await service.call('GET', '/platform/classes/_RequestLog', { query: { where, limit: 100_000 } });
  assert.equal(status, 200, text);
  return body.results;
}
