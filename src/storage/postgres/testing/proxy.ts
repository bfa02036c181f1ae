/** A line to PostgreSQL that a test can cut, silence, slow down, and break at a commit. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { ClientMessages, ServerAnswers } from './protocol.ts';

/**
 * Where the line breaks at a commit. `before`: the commit never arrives; the server rolls back. `sent`: right after it was passed on.
 * `done`: when the server has answered. `mute`: as `done`, but the connection stays and is silent for ever.
 */
export type BreakingPoint = 'before' | 'sent' | 'done' | 'mute';

/** What is broken. */
export interface Breaking {
  readonly point: BreakingPoint;
  /** How many commits. */
  readonly times: number;
  /** Only transactions of which a statement is like this. */
  readonly about?: RegExp;
}

/** One client's way to the server. */
interface Line {
  readonly near: Socket;
  far: Socket | undefined;
  readonly messages: ClientMessages;
  readonly answers: ServerAnswers;
  /** Syncs that were passed on. */
  asked: number;
  /** Cut when the server has answered so many; what it says until then is kept from the client. */
  breaksAt: number | undefined;
  isMute: boolean;
  /** Nothing passes until `speak`. */
  isSilent: boolean;
  /** Nothing passes any more. */
  isStranded: boolean;
}

/** In front of a server, on a port of its own that it keeps. */
export class TestProxy {
  /** Where clients connect to. */
  readonly url: string;
  /** How long each piece is under way, in milliseconds, either way. */
  delayMs = 0;
  /** Commits that were broken: the SQL of each transaction. */
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

  /** @param url of a database, with the server's host and port */
  static async before(url: string): Promise<TestProxy> {
    const server = createServer({ allowHalfOpen: false }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TestProxy(new URL(url), server);
  }

  /** How many clients are connected, as far as the proxy has heard. */
  get connections(): number {
    return this.#lines.size;
  }

  /** Resets all connections, on both sides. @returns how many */
  cut(): number {
    const lines = [...this.#lines];
    for (const line of lines) this.#drop(line);
    return lines.length;
  }

  /** New connections get ECONNREFUSED; those that are there go on. */
  refuse(): void {
    if (this.#server.listening) this.#server.close();
  }

  /** Takes connections again, after `refuse`. */
  async accept(): Promise<void> {
    if (this.#server.listening) return;
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** A black hole: nothing passes either way, and new connections are accepted and hear nothing. Bytes are kept, as TCP would. */
  silence(): void {
    this.#isSilent = true;
    for (const line of this.#lines) {
      line.isSilent = true;
      flow(line);
    }
  }

  /** The end of `silence`: what was kept arrives. */
  speak(): void {
    this.#isSilent = false;
    for (const line of this.#lines) {
      line.isSilent = false;
      if (!line.far && !line.isStranded) this.#reach(line);
      flow(line);
    }
  }

  /** The connections of this moment are silent for ever, the server hears of no end; new ones work. @returns how many */
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

  /** Breaks no more commits. @returns how many were left */
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
      asked: 0,
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

  /** Keeps pieces in order, each as late as it is to be; a side that takes no more holds up the other. */
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
        // What comes before the commit arrives, and then the end of the connection.
        if (passed.length > 0) line.far?.write(Buffer.concat(passed));
        this.#end(line);
        return undefined;
      }
      passed.push(message.bytes);
      if (message.isSync) line.asked += 1;
      if (point === undefined) continue;
      line.breaksAt = line.asked;
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

  /** The client's side breaks; the server reads what was sent, and then the end. */
  #end(line: Line): void {
    this.#lines.delete(line);
    line.near.destroy();
    line.far?.end();
    line.far?.resume();
  }

  #drop(line: Line): void {
    if (!this.#lines.delete(line)) return;
    if (!line.near.destroyed) line.near.resetAndDestroy();
    // What was passed on just before is read by the server before the end.
    line.far?.end();
    line.far?.destroySoon();
  }
}

function flow({ near, far, isSilent, isStranded }: Line): void {
  for (const socket of [near, far])
    if (isSilent || isStranded) socket?.pause();
    else socket?.resume();
}
