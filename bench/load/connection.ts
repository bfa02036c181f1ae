import { connect, type Socket } from 'node:net';

type Finished = (status: number) => void;
const headEnd = Buffer.from('\r\n\r\n');
/** An empty body. */
export const none = Buffer.alloc(0);

/**
 * A keep-alive HTTP/1.1 connection that sends prepared bytes and only counts the answers: on two cores the client must cost far less than the server
 * it
 * measures.
 */
export class Connection {
  private readonly socket: Socket;
  private rest: Buffer = none;
  private finished: Finished | undefined;
  private status = 0;
  /** Bytes of the body or chunk still to come; undefined while the head is incomplete. */
  private remaining: number | undefined;
  private chunked = false;

  constructor(host: string, port: number, failed: (error: Error) => void) {
    this.socket = connect({ host, port, noDelay: true });
    this.socket.on('data', (data) => this.read(data));
    this.socket.on('error', failed);
    this.socket.on('close', () => {
      if (this.finished) failed(new Error('the server closed a connection in the middle of an answer'));
    });
  }

  /** Sends a request, in two parts if many requests share the body. `finished` is called with the status when the answer is complete. */
  send(request: Buffer, body: Buffer, finished: Finished): void {
    this.finished = finished;
    this.socket.write(request);
    if (body.length > 0) this.socket.write(body);
  }

  close(): void {
    this.finished = undefined;
    this.socket.destroy();
  }

  private read(data: Buffer): void {
    let input = this.rest.length > 0 ? Buffer.concat([this.rest, data]) : data;
    this.rest = none;
    while (input.length > 0) {
      const used = this.remaining === undefined ? this.readHead(input) : this.readBody(input);
      if (used === 0) {
        this.rest = input;
        return;
      }
      input = input.subarray(used);
    }
  }

  private readHead(input: Buffer): number {
    const end = input.indexOf(headEnd);
    if (end === -1) return 0;
    const head = input.toString('latin1', 0, end);
    this.status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.chunked = length === undefined;
    this.remaining = Number(length ?? 0);
    if (!this.chunked && this.remaining === 0) this.end();
    return end + headEnd.length;
  }

  private readBody(input: Buffer): number {
    const remaining = this.remaining ?? 0;
    if (remaining === 0) return this.readChunkSize(input);
    const used = Math.min(remaining, input.length);
    this.remaining = remaining - used;
    if (this.remaining === 0 && !this.chunked) this.end();
    return used;
  }

  /** The line end after a chunk counts as part of it; the last, empty chunk ends with an empty line of trailers. */
  private readChunkSize(input: Buffer): number {
    const end = input.indexOf('\r\n');
    if (end === -1) return 0;
    const size = Number.parseInt(input.toString('latin1', 0, end), 16);
    if (size > 0) {
      this.remaining = size + 2;
      return end + 2;
    }
    if (input.length < end + 4) return 0;
    this.end();
    return end + 4;
  }

  private end(): void {
    this.remaining = undefined;
    const finished = this.finished;
    this.finished = undefined;
    finished?.(this.status);
  }
}
