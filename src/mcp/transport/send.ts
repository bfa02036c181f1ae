import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { FastifyReply } from 'fastify';
import type { JsonValue } from '../../kernel/json.ts';
import { errorJson, type RpcError } from './messages.ts';

/** Sends what the protocol answers. @param response a text is JSON */
export async function sendResponse(reply: FastifyReply, response: Response | string): Promise<void> {
  if (typeof response === 'string') {
    reply.headers({ 'cache-control': 'no-store', 'content-type': 'application/json' }).send(response);
    return;
  }
  reply.code(response.status).header('cache-control', 'no-store');
  // Whether the connection stays is the server's to say.
  for (const [name, value] of response.headers) if (name !== 'connection') reply.header(name, value);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (isStream && response.body) reply.send(Readable.fromWeb(response.body as ReadableStream));
  else reply.send((await response.text()) || undefined);
}

/** Sends an error of the protocol. @param id of the request that it answers */
export function sendRpcError(reply: FastifyReply, error: RpcError, id: JsonValue = null): void {
  const { status, headers = {} } = error;
  reply.code(status).headers({ 'cache-control': 'no-store', 'content-type': 'application/json', ...headers });
  reply.send(errorJson(error, id));
}
