/** A client without a program: it keeps cookies by path and sends any headers. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { Service } from './service.ts';
import { password } from './users.ts';

export interface ConsoleAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  readonly body: any;
}

export interface Sent {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

interface Kept {
  readonly value: string;
  readonly path: string;
  /** The `Set-Cookie` header. */
  readonly line: string;
}

export class Visitor {
  readonly #service: Pick<Service, 'url' | 'appId'>;
  readonly cookies = new Map<string, Kept>();

  constructor(service: Pick<Service, 'url' | 'appId'>) {
    this.#service = service;
  }

  /** Sends a request to an address below the service's. Redirects are not followed. */
  async send(method: string, path: string, { body, headers = {} }: Sent = {}): Promise<ConsoleAnswer> {
    const url = new URL(path, this.#service.url);
    const cookie = [...this.cookies].filter(([, { path: of }]) => url.pathname.startsWith(of));
    const sent: Record<string, string> = {
      ...(cookie.length > 0 && { cookie: cookie.map(([name, { value }]) => `${name}=${value}`).join('; ') }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    };
    const answer = await raw(url, method, sent, body);
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) this.#keep(line);
    return answer;
  }

  /** Calls the API of the service's first system, as the program does. */
  api(method: string, path: string, sent: Sent = {}): Promise<ConsoleAnswer> {
    const headers = { 'x-console': '1', 'sec-fetch-site': 'same-origin', ...sent.headers };
    return this.send(method, `/console/-/api/${this.#service.appId}/${path}`, { ...sent, headers });
  }

  /** Signs in, which must succeed. */
  async signIn(username: string, secret: string = password): Promise<void> {
    const answer = await this.api('POST', 'session', { body: { username, password: secret } });
    assert.equal(answer.status, 200, answer.text);
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const [name = '', value = ''] = pair.split('=');
    const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? '/';
    if (/; max-age=0(?:;|$)/i.test(line)) this.cookies.delete(name);
    else this.cookies.set(name, { value, path, line });
  }
}

function raw(url: URL, method: string, headers: Record<string, string>, body: unknown): Promise<ConsoleAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      response.once('error', reject);
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parsed(text) }),
      );
    });
    outgoing.once('error', reject);
    outgoing.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
