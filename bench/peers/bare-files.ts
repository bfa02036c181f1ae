/**
 * Peer for file transfers: a bare node:http server without keys or checks. `POST /` pipes the body to a file and syncs it; `GET /disk/N` pipes the
 * Nth file;
 * `GET /memory` sends a buffer. Arguments: a directory, the size of that buffer. Prints `listening on <url>` when it is ready.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const [directory = '.', size = '0'] = process.argv.slice(2);
const buffer = Buffer.alloc(Number(size), 1);
let files = 0;

const server = createServer(async (request, response) => {
  const { method, url = '' } = request;
  if (method === 'POST') {
    await pipeline(request, createWriteStream(join(directory, String(files++)), { flush: true }));
    response.writeHead(201, { 'Content-Length': 2 }).end('{}');
    return;
  }
  response.writeHead(200, { 'Content-Type': 'image/jpeg', 'Content-Length': buffer.length });
  if (url === '/memory') response.end(buffer);
  // The client may close the connection before the stream has ended here.
  else await pipeline(createReadStream(join(directory, url.slice('/disk/'.length))), response).catch(() => {});
});

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
