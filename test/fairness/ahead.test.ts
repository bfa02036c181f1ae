/** Pipelined requests on one connection: each is answered before the next is executed. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { unique } from '../support/records.ts';
import { anyEngine, startService } from '../support/service.ts';

for (const engine of anyEngine)
  test(`${engine}: a pipelined request sees the effects of those before it`, async () => {
    const service = await startService({ engine });
    try {
      const path = `/platform/classes/${unique('T')}`;
      await service.call('POST', path, { body: { n: 0 } });
      const message = (start: string, body: string, connection: string) =>
        [
          `${start} HTTP/1.1`,
          'Host: localhost',
          `X-Platform-Application-Id: ${service.appId}`,
          `X-Platform-API-Key: ${service.apiKey}`,
          `Connection: ${connection}`,
          `Content-Length: ${body.length}\r\n\r\n${body}`,
        ].join('\r\n');
      const sent = Array.from({ length: 40 }, (_, n) => {
        const next = n === 39 ? 'close' : 'keep-alive';
        return message(`POST ${path}`, `{"n":${n + 1}}`, 'keep-alive') + message(`GET ${path}?count=1&limit=0`, '', next);
      });
      const { hostname, port } = new URL(service.url);
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      socket.write(sent.join(''));
      await once(socket, 'close');
      const counts = [...text.matchAll(/"count":(\d+)/g)].map(([, count]) => Number(count));
      assert.deepEqual(
        counts,
        Array.from({ length: 40 }, (_, n) => n + 2),
      );
    } finally {
      await service.stop();
    }
  });
