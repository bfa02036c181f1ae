/** The orders that a host takes: requests of test files, which several processes in turn send. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

/**
 * Serves the orders of a process that the run started with `fork`, reports the address to the run, and ends with it.
 * @param execute its answer is the body; an error is a 500 with the stack
 */
export function serveOrders(execute: (method: string, path: string, body: string) => Promise<string>): void {
  const server = createServer(async (request, response) => {
    try {
      response.end(await execute(request.method ?? '', request.url?.slice(1) ?? '', await text(request)));
    } catch (error) {
      response.writeHead(500).end(error instanceof Error ? error.stack : String(error));
    }
  });
  server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
  process.on('disconnect', () => process.exit());
}
