import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

const REFUSED = /statement_timeout|lock_timeout|idle_in_transaction_session_timeout/;

/**
 * A proxy between client and server. Like pgbouncer, it refuses session parameters and invents process ids; if `honest`, it only forwards bytes,
 * until it falls silent or breaks.
 */
export class Pooler {
  /** Discard all bytes. */
  silent = false;
  /** All that clients have sent. */
  sent = '';
  readonly #server: Server;
  readonly #target: URL;
  readonly #honest: boolean;
  readonly #sockets = new Set<Socket>();
  #url = '';

  private constructor(target: URL, honest: boolean) {
    this.#target = target;
    this.#honest = honest;
    this.#server = createServer((near) => this.#join(near));
  }

  static async before(url: string, { honest = false } = {}): Promise<Pooler> {
    const target = new URL(url);
    const pooler = new Pooler(target, honest);
    await new Promise<void>((resolve) => pooler.#server.listen(0, '127.0.0.1', resolve));
    const through = new URL(url);
    through.host = `127.0.0.1:${(pooler.#server.address() as AddressInfo).port}`;
    pooler.#url = through.href;
    return pooler;
  }

  get url(): string {
    return this.#url;
  }

  /** Breaks all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #join(near: Socket): void {
    const far = connect(Number(this.#target.port), this.#target.hostname);
    let starting = !this.#honest;
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => to.destroy());
      from.on('data', (bytes) => {
        if (this.silent) return;
        if (from === near) this.sent += bytes.toString('latin1');
        if (starting && from === near && REFUSED.test(bytes.toString('latin1'))) return void near.end(refusal());
        if (starting && from === far) starting = !renumbered(bytes);
        to.write(bytes);
      });
    }
  }
}

/** FATAL 08P01, worded as by pgbouncer. */
function refusal(): Buffer {
  const fields = Buffer.from('SFATAL\0VFATAL\0C08P01\0Munsupported startup parameter: statement_timeout\0\0');
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

/** Replaces the process id in the BackendKeyData message. @returns whether the message was found */
function renumbered(bytes: Buffer): boolean {
  for (let at = 0; at + 5 <= bytes.length; at += 1 + bytes.readInt32BE(at + 1)) {
    if (bytes[at] !== 'K'.charCodeAt(0)) continue;
    bytes.writeInt32BE(2_000_000_000, at + 5);
    return true;
  }
  return false;
}
