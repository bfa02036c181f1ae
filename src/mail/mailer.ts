import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../observe/index.ts';
import type { MailBox } from './box.ts';
import { type ComposedMail, compose, type MailMessage } from './compose.ts';

/** Outgoing mail. A message is sent, or kept in the box: none is lost in silence. */
export interface Mailer {
  /**
   * Resolves when the message was handed to the mail server, or is kept in the box and the log says so.
   * @throws errors of the operating system where it could neither be sent nor kept
   */
  send(message: MailMessage): Promise<void>;
  /** Waits for the messages under way, for a bounded time, and keeps the rest in the box. */
  close(): Promise<void>;
}

/** Something that takes messages out of the house. */
export interface MailTransport {
  /** @throws whatever is in the way; `permanent: true` on it says that trying again is of no use */
  deliver(mail: ComposedMail, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** What a mailer works with. */
export interface MailerParts {
  readonly from: string;
  /** `null` where there is none: every message is kept. */
  readonly transport: MailTransport | null;
  readonly box: MailBox;
  readonly log: Logger;
  /** Milliseconds before each further attempt. */
  readonly pauses?: readonly number[];
  /** Milliseconds that messages under way are waited for at the end. */
  readonly patience?: number;
}

const PAUSES = [500, 2_000, 8_000];
const PATIENCE = 5_000;
/** Messages under way beyond which further ones are kept at once: they lie in memory meanwhile. */
const MOST_UNDER_WAY = 1_000;

/** Sends what it can, several times where the fault may pass, and keeps what it cannot. */
export class ReliableMailer implements Mailer {
  readonly #parts: MailerParts;
  readonly #underWay = new Set<Promise<void>>();
  /** The end has been announced: no more waiting for another attempt. */
  readonly #leaving = new AbortController();
  /** The end is here: no more attempts. */
  readonly #over = new AbortController();

  constructor(parts: MailerParts) {
    this.#parts = parts;
  }

  send(message: MailMessage): Promise<void> {
    const crowded = this.#underWay.size >= MOST_UNDER_WAY;
    const done = this.#send(message, crowded).finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
    return done;
  }

  async #send(message: MailMessage, crowded: boolean): Promise<void> {
    const { from, transport, box } = this.#parts;
    const mail = await compose(from, message);
    if (!transport) return this.#keep(mail, 'SMTP_URL is not set');
    if (crowded) return this.#keep(mail, 'too many messages are under way');
    if (this.#over.signal.aborted) return this.#keep(mail, 'the service has ended');
    // A full disk is no reason not to send.
    const name = await box.put(mail.raw, 'sending').catch((error: unknown) => {
      this.#parts.log.error({ err: error }, 'the mail box cannot be written');
      return null;
    });
    const fault = await this.#deliver(transport, mail);
    if (name === null) {
      if (fault) throw new Error('a message could neither be sent nor kept');
    } else if (fault) {
      await box.keep(name);
      this.#tellKept(name, { why: 'it could not be sent', ...fault });
    } else await box.drop(name);
  }

  async #keep({ raw }: ComposedMail, why: string): Promise<void> {
    this.#tellKept(await this.#parts.box.put(raw, 'kept'), { why });
  }

  /** @returns what was in the way at the last attempt; `null` where the message was sent */
  async #deliver(transport: MailTransport, mail: ComposedMail): Promise<Fault | null> {
    const { pauses = PAUSES } = this.#parts;
    for (let attempt = 0; ; attempt++)
      try {
        await transport.deliver(mail, this.#over.signal);
        return null;
      } catch (error) {
        const fault = faultOf(error);
        const wait = pauses[attempt];
        if (fault.permanent || wait === undefined || !(await this.#pause(wait))) return fault;
      }
  }

  /** @returns whether there is to be another attempt */
  #pause(milliseconds: number): Promise<boolean> {
    return pause(milliseconds, true, { signal: this.#leaving.signal }).catch(() => false);
  }

  #tellKept(file: string, about: object): void {
    this.#parts.log.warn({ file: `${file}.eml`, ...about }, 'a message is kept in the mail box');
  }

  async close(): Promise<void> {
    const { transport, patience = PATIENCE } = this.#parts;
    this.#leaving.abort();
    const timer = setTimeout(() => this.#over.abort(), patience);
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    clearTimeout(timer);
    this.#over.abort();
    await transport?.close();
  }
}

/** What the log tells of an error: the server's own words may hold the address. */
interface Fault {
  readonly code: unknown;
  readonly responseCode: unknown;
  readonly permanent: boolean;
}

function faultOf(error: unknown): Fault {
  const { code, responseCode, permanent } = error as { code?: unknown; responseCode?: unknown; permanent?: unknown };
  return { code, responseCode, permanent: permanent === true };
}
