/**
 * Requests of the suites, over connections that stay open. `fetch` takes three times the processor time of a request and asks for compressed
 * answers, which a run of a few hundred thousand requests cannot afford.
 */
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';

const agent = new Agent({ keepAlive: true, maxSockets: 200 });

/** What `fetch` sends with each request; some are columns of `_RequestLog`. */
const usual = { accept: '*/*', 'accept-language': '*', 'sec-fetch-mode': 'cors', 'user-agent': 'node' };

export interface Response {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Sends a request, as `fetch` does: a redirect is followed.
 * @throws TypeError if the connection fails before the whole answer has come
 */
export async function request(
  address: URL,
  method: string,
  headers: Record<string, string>,
  body: string | null,
): Promise<Response> {
  const response = await send(address, method, headers, body);
  const location = response.headers.get('location');
  if (location === null || response.status < 300 || response.status > 399) return response;
  const keepsMethod = response.status >= 307 || method === 'HEAD';
  const next = { method: keepsMethod ? method : 'GET', headers, body: keepsMethod ? body : null };
  const followed = await fetch(new URL(location, address), next);
  return { status: followed.status, headers: followed.headers, text: await followed.text() };
}

function send(address: URL, method: string, headers: Record<string, string>, body: string | null) {
  return new Promise<Response>((resolve, reject) => {
    const fail = (cause: unknown) => reject(new TypeError('the request failed', { cause }));
    const length: Record<string, string> = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const begin = () => {
      let isAnswered = false;
      const sent = httpRequest(address, { method, headers: { ...usual, ...length, ...headers }, agent }, (message) => {
        isAnswered = true;
        const chunks: Buffer[] = [];
        message.on('data', (chunk: Buffer) => chunks.push(chunk));
        message.on('error', fail);
        message.on('end', () => resolve({ status: message.statusCode ?? 0, headers: headersOf(message), text: textOf(chunks) }));
      });
      sent.on('error', (error: NodeJS.ErrnoException) => {
        // The service had closed a connection that was idle, before it could see the request.
        if (sent.reusedSocket && error.code === 'ECONNRESET' && !isAnswered) begin();
        else fail(error);
      });
      sent.end(body ?? undefined);
    };
    begin();
  });
}

const textOf = (chunks: readonly Buffer[]): string =>
  new TextDecoder().decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string);
  return headers;
}
