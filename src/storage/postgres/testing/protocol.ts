/** Parses as much of PostgreSQL's protocol as is needed to detect commits (PostgreSQL manual, "Message Formats"). */

const SSL_REQUEST = 80_877_103;
const CANCEL_REQUEST = 80_877_102;

const WRITES = /\b(?:INSERT\s+INTO|(?<!\b(?:FOR|KEY)\s+)UPDATE|DELETE\s+FROM|MERGE\s+INTO|CREATE|ALTER|DROP)\b/i;
const COMMITS = /(?:^|;)\s*(?:COMMIT|END)\s*;?\s*$/i;

/** A complete message of a client. */
export interface Sent {
  readonly bytes: Buffer;
  /** The server answers it with ReadyForQuery. */
  readonly isSync: boolean;
  /** SQL of the transaction that this message commits, if it has written. */
  readonly commits?: readonly string[];
}

/** Splits a client's bytes into messages. */
export class ClientMessages {
  #rest: Buffer = Buffer.alloc(0);
  #isStarted = false;
  readonly #statements = new Map<string, string>();
  readonly #portals = new Map<string, string>();
  /** Statements of the open transaction, or since the last Sync. */
  #texts: string[] = [];
  #isOpen = false;
  #isCommitted = false;

  /** Adds bytes. @returns the messages that are now complete */
  *read(bytes: Buffer): Generator<Sent> {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const head = this.#isStarted ? 1 : 0;
      if (this.#rest.length < head + 4) return;
      const end = head + this.#rest.readInt32BE(head);
      if (this.#rest.length < end) return;
      const message = this.#rest.subarray(0, end);
      this.#rest = this.#rest.subarray(end);
      yield this.#isStarted ? this.#message(message) : this.#startup(message);
    }
  }

  #startup(bytes: Buffer): Sent {
    const code = bytes.readInt32BE(4);
    this.#isStarted = code !== SSL_REQUEST && code !== CANCEL_REQUEST;
    return { bytes, isSync: this.#isStarted };
  }

  #message(bytes: Buffer): Sent {
    const type = String.fromCharCode(bytes[0] ?? 0);
    const strings = () => bytes.toString('utf8', 5).split('\0');
    if (type === 'Q') {
      this.#runs(strings()[0] ?? '');
      return this.#synced(bytes);
    }
    if (type === 'S') return this.#synced(bytes);
    const [first = '', second = ''] = 'PBE'.includes(type) ? strings() : [];
    if (type === 'P') this.#statements.set(first, second);
    if (type === 'B') this.#portals.set(first, this.#statements.get(second) ?? '');
    if (type === 'E') this.#runs(this.#portals.get(first) ?? '');
    return { bytes, isSync: false };
  }

  #runs(text: string): void {
    if (/^\s*(?:BEGIN|START)\b/i.test(text)) this.#isOpen = true;
    this.#texts.push(text);
    if (COMMITS.test(text)) {
      this.#isOpen = false;
      this.#isCommitted = true;
    } else if (/^\s*ROLLBACK\s*;?\s*$/i.test(text)) {
      this.#isOpen = false;
      this.#texts = [];
    }
  }

  #synced(bytes: Buffer): Sent {
    if (this.#isOpen && !this.#isCommitted) return { bytes, isSync: true };
    const commits = this.#texts;
    this.#texts = [];
    this.#isCommitted = false;
    return commits.some((text) => WRITES.test(text)) ? { bytes, isSync: true, commits } : { bytes, isSync: true };
  }
}

/** Counts the server's ReadyForQuery messages; each answers one Sync or simple query. */
export class ServerAnswers {
  ready = 0;
  #head: Buffer = Buffer.alloc(0);
  #left = 0;
  #isStarted = false;

  read(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#left > 0) {
        const step = Math.min(this.#left, bytes.length - at);
        this.#left -= step;
        at += step;
        continue;
      }
      // The answer to a TLS request is a single byte; the first message is of type 'R' or 'E'.
      if (!this.#isStarted && this.#head.length === 0 && bytes[at] !== 'R'.charCodeAt(0) && bytes[at] !== 'E'.charCodeAt(0)) {
        at += 1;
        continue;
      }
      this.#isStarted = true;
      const part = bytes.subarray(at, at + 5 - this.#head.length);
      this.#head = Buffer.concat([this.#head, part]);
      at += part.length;
      if (this.#head.length < 5) return;
      if (this.#head[0] === 'Z'.charCodeAt(0)) this.ready += 1;
      this.#left = this.#head.readInt32BE(1) - 4;
      this.#head = Buffer.alloc(0);
    }
  }
}
