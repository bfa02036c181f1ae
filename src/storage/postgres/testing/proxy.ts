/** A TCP proxy to PostgreSQL that a test can cut, silence, slow down, and break at a commit. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { ClientMessages, ServerAnswers } from './protocol.ts';

/**
 * Where the connection breaks at a commit. `before`: the commit never arrives, so the server rolls back. `sent`: immediately after it was
 * forwarded. `done`: when the server has answered. `mute`: as `done`, but the connection stays open and silent for ever.
 */
export type BreakingPoint = 'before' | 'sent' | 'done' | 'mute';

/** Which commits to break. */
export interface Breaking {
  readonly point: BreakingPoint;
  /** Number of commits. */
  readonly times: number;
  /** Only transactions with a statement that matches. */
  readonly about?: RegExp;
}

/** One client's connection through the proxy. */
interface Line {
  readonly near: Socket;
  far: Socket | undefined;
  readonly messages: ClientMessages;
  readonly answers: ServerAnswers;
  /** Number of forwarded messages that the server answers with ReadyForQuery. */
  sentSyncs: number;
  /** Break when the server has answered so many; its answers until then are withheld from the client. */
  breaksAt: number | undefined;
  isMute: boolean;
  /** Nothing is forwarded until `speak`. */
  isSilent: boolean;
  /** Nothing is forwarded any more. */
  isStranded: boolean;
}

/** A proxy in front of a server, on a fixed port of its own. */
export class TestProxy {
  /** URL for clients. */
  readonly url: string;
  /** Delay of each chunk, in both directions, in milliseconds. */
  delayMs = 0;
  /** SQL of each transaction whose commit was broken. */
  readonly broken: (readonly string[])[] = [];
  readonly #target: URL;
  readonly #server: Server;
  readonly #port: number;
  readonly #lines = new Set<Line>();
  #isSilent = false;
  #breaking: (Breaking & { left: number }) | undefined;

  private constructor(target: URL, server: Server) {
    this.#target = target;
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
    server.on('connection', (near) => this.#join(near));
    const through = new URL(target);
    through.host = `127.0.0.1:${this.#port}`;
    this.url = through.href;
  }

  /** Starts a proxy. @param url of a database, with the server's host and port */
  static async before(url: string): Promise<TestProxy> {
    const server = createServer({ allowHalfOpen: false }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TestProxy(new URL(url), server);
  }

  /** Number of clients that the proxy counts as connected. */
  get connections(): number {
    return this.#lines.size;
  }

  /** Resets all connections, on both sides. @returns their number */
  cut(): number {
    const lines = [...this.#lines];
    for (const line of lines) this.#drop(line);
    return lines.length;
  }

  /** Refuses new connections (ECONNREFUSED); existing ones continue. */
  refuse(): void {
    if (this.#server.listening) this.#server.close();
  }

  /** Accepts connections again, after `refuse`. */
  async accept(): Promise<void> {
    if (this.#server.listening) return;
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /**
   * Acts as a black hole: nothing is forwarded in either direction, and new connections are accepted but get no answer. Bytes are kept, as TCP
   * would.
   */
  silence(): void {
    this.#isSilent = true;
    for (const line of this.#lines) {
      line.isSilent = true;
      flow(line);
    }
  }

  /** Ends `silence`: withheld bytes are forwarded. */
  speak(): void {
    this.#isSilent = false;
    for (const line of this.#lines) {
      line.isSilent = false;
      if (!line.far && !line.isStranded) this.#reach(line);
      flow(line);
    }
  }

  /** Silences the current connections for ever, without closing them; new ones work. @returns their number */
  strand(): number {
    this.#isSilent = false;
    for (const line of this.#lines) {
      line.isStranded = true;
      flow(line);
    }
    return this.#lines.size;
  }

  /** Breaks the next commits of transactions that have written, and of single statements that write. */
  breakCommits(breaking: Breaking): void {
    this.#breaking = { ...breaking, left: breaking.times };
  }

  /** Stops breaking commits. @returns how many were left */
  mend(): number {
    const left = this.#breaking?.left ?? 0;
    this.#breaking = undefined;
    return left;
  }

  close(): void {
    this.refuse();
    this.cut();
  }

  #join(near: Socket): void {
    const line: Line = {
      near,
      far: undefined,
      messages: new ClientMessages(),
      answers: new ServerAnswers(),
      sentSyncs: 0,
      breaksAt: undefined,
      isMute: false,
      isSilent: this.#isSilent,
      isStranded: false,
    };
    this.#lines.add(line);
    near.setNoDelay(true);
    near.on('error', () => {});
    near.on('close', () => this.#drop(line));
    if (this.#isSilent) near.pause();
    else this.#reach(line);
  }

  #reach(line: Line): void {
    const { near } = line;
    const far = connect(Number(this.#target.port), this.#target.hostname);
    line.far = far;
    far.setNoDelay(true);
    far.on('error', () => {});
    far.on('close', () => this.#drop(line));
    this.#carry(line, near, far, (bytes) => this.#passOn(line, bytes));
    this.#carry(line, far, near, (bytes) => this.#passBack(line, bytes));
  }

  /** Forwards chunks in order with the set delay, and with back-pressure. */
  #carry(line: Line, from: Socket, to: Socket, pass: (bytes: Buffer) => Buffer | undefined): void {
    let last = Promise.resolve();
    let waiting = 0;
    const write = (bytes: Buffer) => {
      const passed = pass(bytes);
      if (!passed || to.destroyed || to.write(passed)) return;
      from.pause();
      to.once('drain', () => flow(line));
    };
    from.on('data', (bytes) => {
      if (this.delayMs === 0 && waiting === 0) return write(bytes);
      waiting += 1;
      const due = performance.now() + this.delayMs;
      last = last
        .then(() => new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now()))))
        .then(() => {
          waiting -= 1;
          write(bytes);
        });
    });
  }

  #passOn(line: Line, bytes: Buffer): Buffer | undefined {
    const passed: Buffer[] = [];
    for (const message of line.messages.read(bytes)) {
      if (line.breaksAt !== undefined) break;
      const point = this.#breakingPoint(message.commits);
      if (point === 'before') {
        // Forward what precedes the commit, then close the connection.
        if (passed.length > 0) line.far?.write(Buffer.concat(passed));
        this.#end(line);
        return undefined;
      }
      passed.push(message.bytes);
      if (message.isSync) line.sentSyncs += 1;
      if (point === undefined) continue;
      line.breaksAt = line.sentSyncs;
      line.isMute = point === 'mute';
      if (point !== 'sent') continue;
      line.far?.write(Buffer.concat(passed));
      this.#end(line);
      return undefined;
    }
    return passed.length > 0 ? Buffer.concat(passed) : undefined;
  }

  #passBack(line: Line, bytes: Buffer): Buffer | undefined {
    line.answers.read(bytes);
    if (line.breaksAt === undefined) return bytes;
    if (line.answers.ready < line.breaksAt || line.isStranded) return undefined;
    if (!line.isMute) this.#drop(line);
    else {
      line.isStranded = true;
      flow(line);
    }
    return undefined;
  }

  #breakingPoint(commits: readonly string[] | undefined): BreakingPoint | undefined {
    const breaking = this.#breaking;
    if (!commits || !breaking || breaking.left === 0) return undefined;
    const { about } = breaking;
    if (about && !commits.some((text) => about.test(text))) return undefined;
    breaking.left -= 1;
    this.broken.push(commits);
    return breaking.point;
  }

  /** Closes the client's side at once; the server reads what was sent, and then the end. */
  #end(line: Line): void {
    this.#lines.delete(line);
    line.near.destroy();
    line.far?.end();
    line.far?.resume();
  }

  #drop(line: Line): void {
    if (!this.#lines.delete(line)) return;
    if (!line.near.destroyed) line.near.resetAndDestroy();
    // The server reads what was forwarded just before, and then the end.
    line.far?.end();
    line.far?.destroySoon();
  }
}

function flow({ near, far, isSilent, isStranded }: Line): void {
  for (const socket of [near, far])
    if (isSilent || isStranded) socket?.pause();
    else socket?.resume();
}
